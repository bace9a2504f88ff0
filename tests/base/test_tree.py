"""Trees against a plain dictionary: same files, same id, whatever way they came about."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backshop.base import tree
from backshop.base.errors import ValidationFailed
from backshop.base.ids import BlobId, TreeId
from backshop.base.paths import BenchPath

NAMES = st.sampled_from([f"n{number}" for number in range(600)])
PATHS = st.builds(
    lambda folder, name: BenchPath(f"{folder}/{name}" if folder else name),
    st.sampled_from(["", "", "big", "a", "a-b", "deep/er"]),
    NAMES.map(lambda name: f"f{name}"),
)


def file(text: str) -> tree.File:
    return tree.File(BlobId(hashlib.sha256(text.encode()).hexdigest()), len(text))


class Nodes(dict[TreeId, bytes]):
    """Stores nodes and counts how many were read."""

    reads = 0

    def load(self, node: TreeId) -> bytes:
        self.reads += 1
        return self[node]

    def keep(self, built: tree.Built) -> TreeId:
        self.update(built.nodes)
        return built.id


FILES = st.dictionaries(PATHS, st.sampled_from("abc").map(file), max_size=40)
MANY = {BenchPath(f"big/f{number:05}"): file(str(number)) for number in range(1200)}


@pytest.mark.rule("B2.4")
@settings(max_examples=40)
@given(FILES, FILES, st.booleans())
def test_changing_a_tree_equals_building_the_result(before, wish, with_many):
    before = before | MANY if with_many else before
    nodes = Nodes()
    start = nodes.keep(tree.build(before))
    changes: dict[BenchPath, tree.File | None] = dict(wish)
    changes |= dict.fromkeys(list(before)[: len(before) // 2])
    after = {path: f for path, f in (before | changes).items() if f is not None}

    changed = nodes.keep(tree.change(start, changes, nodes.load))

    assert changed == tree.build(after).id
    assert dict(tree.walk(changed, nodes.load)) == after
    assert {c.path: (c.before, c.after) for c in tree.diff(start, changed, nodes.load)} == {
        path: (before.get(path), after.get(path))
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }
    for path in list(before)[:5] + list(after)[:5]:
        assert tree.lookup(changed, path, nodes.load) == after.get(path)


@pytest.mark.rule("B2.4")
def test_a_node_is_split_above_256_entries_and_joined_again_below():
    nodes = Nodes()
    paths = [BenchPath(f"f{number}") for number in range(257)]
    full = nodes.keep(tree.build({path: file("x") for path in paths}))
    one_less = nodes.keep(tree.change(full, {paths[0]: None}, nodes.load))

    assert json.loads(nodes[full])["kind"] == "shard"
    assert json.loads(nodes[one_less])["kind"] == "dir"
    assert one_less == tree.build({path: file("x") for path in paths[1:]}).id


FOLDER_MAX_BYTES = 52 * 1024


def named(number: int, *, under: str = "") -> BenchPath:
    """Return a path whose last name has 64 characters."""
    return BenchPath(f"{under}{number:06}{'-' * 54}.txt")


FULL = [f"{number:03}{'-' * 61}/" for number in range(256)]
LAYOUTS = {
    "one folder, as large as a node": [named(n) for n in range(256)],
    "one folder, many nodes": [named(n) for n in range(20_000)],
    "many folders": [named(n, under=f"{n // 100:04}/") for n in range(20_000)],
    "two full folders": [named(n, under=FULL[0] if n < 256 else FULL[n - 256]) for n in range(512)],
}


@pytest.mark.rule("B2.5", "B22.50")
@pytest.mark.parametrize("paths", LAYOUTS.values(), ids=LAYOUTS)
def test_one_changed_file_among_many_costs_its_folders_and_nothing_else(paths):
    nodes = Nodes()
    start = nodes.keep(tree.build({path: file(str(n)) for n, path in enumerate(paths)}))
    nodes.reads = 0

    built = tree.change(start, {paths[0]: file("new")}, nodes.load)

    folders = paths[0].count("/") + 1
    assert sum(map(len, built.nodes.values())) <= folders * FOLDER_MAX_BYTES
    assert nodes.reads <= folders * 20


@pytest.mark.rule("B4.4")
@pytest.mark.parametrize(
    ("have", "add"),
    [("Readme.md", "README.md"), ("a", "a/b"), ("a/b", "a"), ("A/x", "a/y"), ("ß", "SS")],
)
def test_paths_that_cannot_coexist_are_refused(have, add):
    nodes = Nodes()
    start = nodes.keep(tree.build({BenchPath(have): file("x")}))

    with pytest.raises(ValidationFailed) as refused:
        tree.change(start, {BenchPath(add): file("y")}, nodes.load)

    assert refused.value.reason == "path_collision"
    with pytest.raises(ValidationFailed):
        tree.build({BenchPath(have): file("x"), BenchPath(add): file("y")})


def test_a_rename_that_changes_only_case_is_no_collision():
    nodes = Nodes()
    start = nodes.keep(tree.build({BenchPath("readme.md"): file("x")}))

    built = tree.change(
        start, {BenchPath("readme.md"): None, BenchPath("README.md"): file("x")}, nodes.load
    )

    assert built.id == tree.build({BenchPath("README.md"): file("x")}).id


def test_a_folder_may_become_a_file_when_it_is_emptied():
    nodes = Nodes()
    start = nodes.keep(tree.build({BenchPath("a/b"): file("x")}))

    built = tree.change(start, {BenchPath("a/b"): None, BenchPath("a"): file("y")}, nodes.load)

    assert built.id == tree.build({BenchPath("a"): file("y")}).id


@pytest.mark.rule("B4.5")
def test_a_near_miss_finds_the_path_that_was_meant():
    nodes = Nodes()
    start = nodes.keep(tree.build({BenchPath("Docs/Plan.md"): file("x")}))

    assert tree.similar(start, BenchPath("docs/PLAN.md"), nodes.load) == ["Docs/Plan.md"]
    assert tree.similar(start, BenchPath("docs/other.md"), nodes.load) == []


@pytest.mark.rule("B2.4")
def test_golden_ids():
    built = tree.build(
        {
            BenchPath("b.txt"): tree.File(BlobId("00" * 32), 5),
            BenchPath("a/run.sh"): tree.File(BlobId("11" * 32), 7, "755"),
        }
    )

    assert built.nodes[built.id] == (
        b'{"entries":[{"kind":"dir","name":"a","tree":"'
        + next(node for node in built.nodes if node != built.id).encode()
        + b'"},{"kind":"file","mode":"644","name":"b.txt","sha256":"'
        + b"00" * 32
        + b'","size":5}],"kind":"dir","v":1}'
    )
    assert hashlib.sha256(b'{"entries":[],"kind":"dir","v":1}').hexdigest() == tree.EMPTY
