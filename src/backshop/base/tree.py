"""Tree objects: a folder as a value (B2.4). Build, change, look up, walk and compare, all pure.

A node is canonical JSON: a `dir` with at most 256 entries, or a `shard` that splits a larger
directory by hex digits of sha256(name). The same set of files always gives the same id.
Functions take `load` to read nodes by id and return new nodes for the caller to store; a change
of one file makes new nodes only along its path.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from .canon import canonical, sha256_hex
from .errors import ValidationFailed
from .ids import BlobId, TreeId
from .limits import TREE_NODE_MAX_ENTRIES
from .paths import BenchPath, collision_key

Mode = Literal["644", "755"]
Load = Callable[[TreeId], bytes]
_decoded = lru_cache(128)(json.loads)  # one value for all who ask, never changed by them


@dataclass(frozen=True, slots=True)
class File:
    """A file in a tree: its content by hash. mtime is not part of a tree."""

    sha256: BlobId
    size: int
    mode: Mode = "644"


@dataclass(frozen=True, slots=True)
class Dir:
    """A directory entry that names another tree object."""

    tree: TreeId


Entry = File | Dir


@dataclass(frozen=True, slots=True)
class Built:
    """A tree and the nodes that are new with it, for the caller to store."""

    id: TreeId
    nodes: Mapping[TreeId, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs between two trees; `before` or `after` is None if absent there."""

    path: BenchPath
    before: File | None
    after: File | None


def build(files: Mapping[BenchPath, File]) -> Built:
    """Return the tree of a set of files.

    Raises:
        ValidationFailed: `path_collision`, two paths that cannot coexist (B4.4).
    """
    nothing: dict[TreeId, bytes] = {}
    return change(EMPTY, dict(files), nothing.__getitem__)


def change(tree: TreeId, changes: Mapping[BenchPath, File | None], load: Load) -> Built:
    """Return `tree` with files set, or removed where the value is None.

    Only directories on the changed paths are read and rewritten. Directories left empty vanish.
    """
    nodes: dict[TreeId, bytes] = {}
    root = _change_dir(tree, _grouped(changes), load, nodes, "")
    if root is None:
        root = _store_dir({}, nodes)
    return Built(root, nodes)


def lookup(tree: TreeId, path: BenchPath, load: Load) -> File | None:
    """Return the file at exactly this path, or None."""
    *folders, name = path.split("/")
    for folder in folders:
        entry = _find(tree, folder, load)
        if not isinstance(entry, Dir):
            return None
        tree = entry.tree
    entry = _find(tree, name, load)
    return entry if isinstance(entry, File) else None


def similar(tree: TreeId, path: BenchPath, load: Load) -> list[BenchPath]:
    """Return the paths whose collision key equals that of `path` (B4.5)."""
    found = [("", tree)]
    *folders, name = path.split("/")
    for folder in folders:
        found = [
            (f"{prefix}{other}/", entry.tree)
            for prefix, node in found
            for other, entry in _entries(node, load).items()
            if isinstance(entry, Dir) and collision_key(other) == collision_key(folder)
        ]
    return [
        BenchPath(prefix + other)
        for prefix, node in found
        for other, entry in _entries(node, load).items()
        if isinstance(entry, File) and collision_key(other) == collision_key(name)
    ]


def walk(tree: TreeId, load: Load, prefix: str = "") -> Iterator[tuple[BenchPath, File]]:
    """Yield every file, sorted by the bytes of the names, directory by directory."""
    for name, entry in _entries(tree, load).items():
        if isinstance(entry, File):
            yield BenchPath(prefix + name), entry
        else:
            yield from walk(entry.tree, load, f"{prefix}{name}/")


def nodes(tree: TreeId, load: Load) -> Iterator[TreeId]:
    """Yield the id of every tree object reachable from `tree`, itself first."""
    yield tree
    for child in children(EMPTY_NODE if tree == EMPTY else load(tree)):
        yield from nodes(child, load)


def children(node: bytes) -> list[TreeId]:
    """Return the tree objects one node names."""
    body = json.loads(node)
    if body["kind"] == "shard":
        return [TreeId(child) for child in body["children"].values()]
    return [TreeId(entry["tree"]) for entry in body["entries"] if entry["kind"] == "dir"]


def blobs(node: bytes) -> list[BlobId]:
    """Return the file contents one node names."""
    body = json.loads(node)
    return [BlobId(entry["sha256"]) for entry in body.get("entries", ()) if "sha256" in entry]


def sizes(node: bytes) -> dict[BlobId, int]:
    """Return how long the file contents are that one node names."""
    rows = json.loads(node).get("entries", ())
    return {BlobId(row["sha256"]): int(row["size"]) for row in rows if "sha256" in row}


def diff(before: TreeId, after: TreeId, load: Load, prefix: str = "") -> Iterator[Change]:
    """Yield the paths that differ. Equal subtrees are skipped unread: cost follows the change."""
    if before == after:
        return
    for name, old, new in _differing(before, after, load):
        yield from _entry_diff(prefix + name, old, new, load)


# ---------------------------------------------------------------- nodes

Entries = dict[str, Entry]


def _dir_bytes(entries: Entries) -> bytes:
    rows: list[dict[str, str | int]] = []
    for name in sorted(entries, key=str.encode):
        entry = entries[name]
        if isinstance(entry, File):
            rows.append(
                {
                    "name": name,
                    "kind": "file",
                    "sha256": entry.sha256,
                    "size": entry.size,
                    "mode": entry.mode,
                }
            )
        else:
            rows.append({"name": name, "kind": "dir", "tree": entry.tree})
    return canonical({"v": 1, "kind": "dir", "entries": rows})


def _parse_entries(rows: list[dict[str, str | int]]) -> Entries:
    found: Entries = {}
    for row in rows:
        if row["kind"] == "file":
            mode: Mode = "755" if row["mode"] == "755" else "644"
            found[str(row["name"])] = File(BlobId(str(row["sha256"])), int(row["size"]), mode)
        else:
            found[str(row["name"])] = Dir(TreeId(str(row["tree"])))
    return found


def _entries(tree: TreeId, load: Load) -> Entries:
    """Return a whole directory, shards joined, sorted by the bytes of the names."""
    body = _body(tree, load)
    if body["kind"] == "dir":
        return _parse_entries(body["entries"])
    joined: Entries = {}
    for child in body["children"].values():
        joined.update(_entries(TreeId(child), load))
    return {name: joined[name] for name in sorted(joined, key=str.encode)}


def _find(tree: TreeId, name: str, load: Load) -> Entry | None:
    """Return one entry, reading only the shard it would be in."""
    digits = iter(_digits(name))
    while True:
        body = _body(tree, load)
        if body["kind"] == "dir":
            return _parse_entries([row for row in body["entries"] if row["name"] == name]).get(name)
        child = body["children"].get(next(digits))
        if child is None:
            return None
        tree = TreeId(child)


def _digits(name: str) -> str:
    return sha256_hex(name.encode())


def _store_dir(entries: Entries, nodes: dict[TreeId, bytes], depth: int = 0) -> TreeId:
    """Store entries as one node, or split by the hex digit at `depth` when there are too many."""
    if len(entries) <= TREE_NODE_MAX_ENTRIES:
        return _store(_dir_bytes(entries), nodes)
    groups: dict[str, Entries] = {}
    for name, entry in entries.items():
        groups.setdefault(_digits(name)[depth], {})[name] = entry
    shards = {digit: _store_dir(group, nodes, depth + 1) for digit, group in groups.items()}
    return _store_shard(shards, nodes)


def _store_shard(shards: Mapping[str, TreeId], nodes: dict[TreeId, bytes]) -> TreeId:
    return _store(canonical({"v": 1, "kind": "shard", "children": dict(shards)}), nodes)


def _store(node: bytes, nodes: dict[TreeId, bytes]) -> TreeId:
    tree = TreeId(sha256_hex(node))
    nodes[tree] = node
    return tree


EMPTY_NODE = _dir_bytes({})
EMPTY = TreeId(sha256_hex(EMPTY_NODE))
"""The tree without files."""


def _body(tree: TreeId, load: Load) -> Any:
    return _decoded(EMPTY_NODE if tree == EMPTY else load(tree))


# ---------------------------------------------------------------- change


@dataclass(slots=True)
class _Wish:
    """What is wanted below one name: a file set or removed, or changes inside a directory."""

    sets_file: bool = False
    file: File | None = None
    inside: dict[str, _Wish] = field(default_factory=dict)


def _grouped(changes: Mapping[BenchPath, File | None]) -> dict[str, _Wish]:
    root: dict[str, _Wish] = {}
    for path, file in changes.items():
        level = root
        *folders, name = path.split("/")
        for folder in folders:
            level = level.setdefault(folder, _Wish()).inside
        wish = level.setdefault(name, _Wish())
        wish.sets_file, wish.file = True, file
    return root


def _change_dir(
    tree: TreeId, wishes: dict[str, _Wish], load: Load, nodes: dict[TreeId, bytes], prefix: str
) -> TreeId | None:
    """Return the changed directory, or None if nothing is left in it."""
    updates = {
        name: _changed_entry(_find(tree, name, load), wish, load, nodes, prefix + name)
        for name, wish in wishes.items()
    }
    _check_collisions(tree, updates, load, prefix)
    return _update_node(tree, updates, load, nodes, 0)


def _changed_entry(
    old: Entry | None, wish: _Wish, load: Load, nodes: dict[TreeId, bytes], path: str
) -> Entry | None:
    if wish.sets_file and wish.file is not None:
        if any(_leaves_something(inner) for inner in wish.inside.values()):
            raise _collision(path)
        if isinstance(old, Dir):
            emptied = _change_dir(old.tree, wish.inside, load, nodes, f"{path}/")
            if emptied is not None:
                raise _collision(path)
        return wish.file
    if not wish.inside:
        return old if isinstance(old, Dir) else None
    if isinstance(old, File) and not wish.sets_file:
        raise _collision(path)
    inner = old.tree if isinstance(old, Dir) else EMPTY
    changed = _change_dir(inner, wish.inside, load, nodes, f"{path}/")
    return None if changed is None else Dir(changed)


def _leaves_something(wish: _Wish) -> bool:
    return wish.file is not None or any(_leaves_something(w) for w in wish.inside.values())


def _check_collisions(
    tree: TreeId, updates: Mapping[str, Entry | None], load: Load, prefix: str
) -> None:
    """Refuse new names that differ from another only by case or normal form.

    Reads the directory's names only when a name is new; an overwrite cannot collide.
    """
    fresh = [
        name
        for name, entry in updates.items()
        if entry is not None and _find(tree, name, load) is None
    ]
    if not fresh:
        return
    removed = {name for name, entry in updates.items() if entry is None}
    taken = {collision_key(name): name for name in _entries(tree, load) if name not in removed}
    for name in fresh:
        other = taken.setdefault(collision_key(name), name)
        if other != name:
            raise _collision(prefix + other)


def _collision(path: str) -> ValidationFailed:
    return ValidationFailed(
        "a path of this name already exists", reason="path_collision", detail=path
    )


def _update_node(
    tree: TreeId,
    updates: Mapping[str, Entry | None],
    load: Load,
    nodes: dict[TreeId, bytes],
    depth: int,
) -> TreeId | None:
    """Apply entry updates to a node at shard depth `depth`; split and join by B2.4."""
    body = _body(tree, load)
    if body["kind"] == "dir":
        entries = _parse_entries(body["entries"])
        for name, entry in updates.items():
            if entry is None:
                entries.pop(name, None)
            else:
                entries[name] = entry
        return _store_dir(entries, nodes, depth) if entries else None
    return _update_shard(body["children"], updates, load, nodes, depth)


def _update_shard(
    shards: dict[str, str],
    updates: Mapping[str, Entry | None],
    load: Load,
    nodes: dict[TreeId, bytes],
    depth: int,
) -> TreeId | None:
    groups: dict[str, dict[str, Entry | None]] = {}
    for name, entry in updates.items():
        groups.setdefault(_digits(name)[depth], {})[name] = entry
    result = {digit: TreeId(child) for digit, child in shards.items()}

    def load_new(wanted: TreeId) -> bytes:
        return nodes[wanted] if wanted in nodes else load(wanted)

    for digit, group in groups.items():
        child = result.pop(digit, None)
        changed = _update_node(child or EMPTY, group, load, nodes, depth + 1)
        if changed is not None:
            result[digit] = changed
    shrank = any(entry is None for entry in updates.values())
    joined = _joined_if_small(result, load_new) if shrank else None
    if joined is not None:
        return _store_dir(joined, nodes, depth) if joined else None
    return _store_shard({digit: result[digit] for digit in sorted(result)}, nodes)


def _joined_if_small(shards: Mapping[str, TreeId], load: Load) -> Entries | None:
    """Return all entries if they fit one node again, else None."""
    joined: Entries = {}
    for child in shards.values():
        body = _body(child, load)
        if body["kind"] == "shard":
            return None  # a shard holds more than one node's worth by itself
        joined.update(_parse_entries(body["entries"]))
        if len(joined) > TREE_NODE_MAX_ENTRIES:
            return None
    return joined


# ---------------------------------------------------------------- diff


def _differing(
    before: TreeId, after: TreeId, load: Load
) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    """Yield names whose entries differ, sorted; equal shards are skipped unread."""
    old, new = _differing_entries(before, after, load)
    for name in sorted(old.keys() | new.keys(), key=str.encode):
        if old.get(name) != new.get(name):
            yield name, old.get(name), new.get(name)


def _differing_entries(before: TreeId, after: TreeId, load: Load) -> tuple[Entries, Entries]:
    first, second = _body(before, load), _body(after, load)
    if first["kind"] != "shard" or second["kind"] != "shard":
        return _entries(before, load), _entries(after, load)
    old: Entries = {}
    new: Entries = {}
    for digit in sorted(first["children"].keys() | second["children"].keys()):
        one, two = first["children"].get(digit), second["children"].get(digit)
        if one == two:
            continue
        if one is None or two is None:
            old.update(_entries(TreeId(one), load) if one else {})
            new.update(_entries(TreeId(two), load) if two else {})
            continue
        more_old, more_new = _differing_entries(TreeId(one), TreeId(two), load)
        old.update(more_old)
        new.update(more_new)
    return old, new


def _entry_diff(path: str, old: Entry | None, new: Entry | None, load: Load) -> Iterator[Change]:
    if isinstance(old, Dir) and isinstance(new, Dir):
        yield from diff(old.tree, new.tree, load, f"{path}/")
        return
    if isinstance(old, File) or isinstance(new, File):
        before = old if isinstance(old, File) else None
        after = new if isinstance(new, File) else None
        yield Change(BenchPath(path), before, after)
    if isinstance(old, Dir):
        for below, file in walk(old.tree, load, f"{path}/"):
            yield Change(below, file, None)
    if isinstance(new, Dir):
        for below, file in walk(new.tree, load, f"{path}/"):
            yield Change(below, None, file)
