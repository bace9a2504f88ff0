"""Overrides in files, in the event store and in layers."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest
from tests.postgres import fresh_database

from backshop.prompts import (
    LayeredOverridesStore,
    LocalPromptOverridesStore,
    MarkdownSection,
    OverridesError,
    Prompt,
    Reason,
    StorePromptOverridesStore,
)
from backshop.prompts.overrides import find_root
from backshop.store import Store
from backshop.testing.conformance.overrides import KEY, NS, OverridesConformance, sample


class TestFiles(OverridesConformance):
    @pytest.fixture
    def open_store(self, tmp_path):
        return lambda: LocalPromptOverridesStore(tmp_path / "overrides")

    @pytest.fixture
    def empty_store(self, tmp_path):
        return LocalPromptOverridesStore(tmp_path / "empty")


class TestEventStore(OverridesConformance):
    @pytest.fixture
    def open_store(self, tmp_path):
        with Store.open(tmp_path / "home") as store:
            yield lambda: StorePromptOverridesStore(store)

    @pytest.fixture
    def empty_store(self, tmp_path):
        with Store.open(tmp_path / "empty") as store:
            yield StorePromptOverridesStore(store)


@pytest.mark.needs("postgres")
class TestPostgres(OverridesConformance):
    @pytest.fixture
    def open_store(self, tmp_path):
        with (
            fresh_database() as url,
            Store.open(tmp_path / "home", database_url=url) as store,
        ):
            yield lambda: StorePromptOverridesStore(store)

    @pytest.fixture
    def empty_store(self, tmp_path):
        with Store.open(tmp_path / "empty") as store:
            yield StorePromptOverridesStore(store)


class TestLayers(OverridesConformance):
    @pytest.fixture
    def open_store(self, tmp_path):
        return lambda: LayeredOverridesStore(
            [LocalPromptOverridesStore(tmp_path / one) for one in ("project", "person")]
        )

    @pytest.fixture
    def empty_store(self, tmp_path):
        return LayeredOverridesStore([LocalPromptOverridesStore(tmp_path / "empty")])


def files(tmp_path: Path) -> LocalPromptOverridesStore:
    return LocalPromptOverridesStore(tmp_path / "o")


def write(store, section: str = "tone", body: str = "x", prompt: Prompt[None] | None = None) -> int:
    descriptor = (prompt or sample()).descriptor
    revision: int = store.set_override(NS, KEY, "latest", section, body, descriptor=descriptor)
    return revision


class Overtaken(LocalPromptOverridesStore):
    """Somebody else writes between its looking and its writing."""

    def _change(self, place, change, if_revision):
        write(LocalPromptOverridesStore(self.root), body="theirs")
        return super()._change(place, change, if_revision)


@pytest.mark.rule("P3.16")
@pytest.mark.parametrize(
    ("choice", "kept"), [("fail", "theirs"), ("skip", "theirs"), ("replace", "imported")]
)
def test_an_import_leaves_what_was_written_meanwhile_and_says_so(tmp_path, choice, kept):
    write(files(tmp_path), body="imported")
    bundle, store = files(tmp_path).export(), Overtaken(tmp_path / "other")

    if choice == "fail":
        with pytest.raises(OverridesError) as caught:
            store.import_(bundle)
        assert caught.value.code == "CONFLICT"
    else:
        wanted = (f"{NS}/{KEY}@latest",) if choice == "replace" else ()
        assert store.import_(bundle, on_conflict=choice) == wanted

    stored = store.load(NS, KEY, "latest")
    assert stored is not None
    assert stored["sections"]["tone"]["body"] == kept


@pytest.mark.rule("P3.10")
def test_a_file_reads_well_in_version_control(tmp_path):
    store = files(tmp_path)
    store.set_override(
        NS,
        KEY,
        "latest",
        "workspace-digest",
        "ü\n",
        descriptor=sample().descriptor,
        provenance={"source": "model", "model_id": "scripted:x"},
    )

    path = tmp_path / "o" / "tests" / "overrides" / "prompt" / "latest.json"

    assert store.path(NS, KEY, "latest") == path
    assert path.read_text() == (
        "{\n"
        '  "format": 1,\n'
        '  "namespace": "tests/overrides",\n'
        '  "prompt_key": "prompt",\n'
        '  "revision": 1,\n'
        '  "sections": {\n'
        '    "workspace-digest": {\n'
        '      "body": "ü\\n",\n'
        '      "expected_hash": '
        '"2b3149875a07da3a54f7f40de44e8eafde1c5332a35aedf1571d85bc42c8df6b",\n'
        '      "mode": "literal",\n'
        '      "provenance": {\n'
        '        "model_id": "scripted:x",\n'
        '        "source": "model"\n'
        "      }\n"
        "    }\n"
        "  },\n"
        '  "tag": "latest",\n'
        '  "tools": {}\n'
        "}\n"
    )


@pytest.mark.rule("P3.7", "P11.41")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda text: text[:-20], "MALFORMED_JSON"),
        (lambda text: "[]", "MALFORMED_JSON"),
        (lambda text: text.replace('"format": 1', '"format": 2'), "UNSUPPORTED_VERSION"),
        (lambda text: text.replace('"tag": "latest"', '"tag": "other"'), "HEADER_MISMATCH"),
        (lambda text: text.replace('"mode"', '"moed"'), "BAD_FIELD"),
        (lambda text: text.replace('"template"', '"magic"'), "BAD_FIELD"),
        (lambda text: text.replace('"revision": 1', '"revision": 0'), "BAD_FIELD"),
        (lambda text: text.replace('"body": "x"', '"body": 5'), "BAD_FIELD"),
        (lambda text: text.replace('"tone": {', '"../tone": {'), "BAD_IDENTIFIER"),
        (lambda text: text.replace('"body": "x"', '"body": "x", "body": "y"'), "MALFORMED_JSON"),
        (lambda text: " " * (1024 * 1024) + text, "TOO_LARGE"),
    ],
)
def test_a_damaged_file_stops_the_work(tmp_path, change, code):
    store = files(tmp_path)
    write(store)
    path = store.path(NS, KEY, "latest")
    path.write_text(change(path.read_text()))

    for act in (
        lambda: sample().preview(overrides_store=store),
        lambda: write(store),
    ):
        with pytest.raises(OverridesError) as caught:
            act()
        assert caught.value.code == code


@pytest.mark.rule("P3.6", "P3.8", "P11.40")
def test_entries_that_cannot_apply_are_named_with_their_reason(tmp_path):
    store = files(tmp_path)
    write(store)
    path = store.path(NS, KEY, "latest")
    document = json.loads(path.read_text())
    hashes = {one.path: one.content_hash for one in sample().descriptor.sections}
    entry = {"body": "x", "expected_hash": "0" * 64}
    document["sections"] = {
        "greeting": {"body": "$nobody", "expected_hash": hashes["greeting"]},
        "group": {"body": "x", "expected_hash": "0" * 64},
        "group/tone": {"body": "y" * 70_000, "expected_hash": hashes["group/tone"]},
        "fixed": entry,
        "gone": entry,
        "workspace-digest": {"body": "x", "expected_hash": hashes["workspace-digest"]},
    }
    document["tools"] = {
        "look": {"expected_contract_hash": "0" * 64},
        "fly": {"expected_contract_hash": "0" * 64},
    }
    path.write_text(json.dumps(document))

    resolved = store.resolve(sample().descriptor, "latest")

    assert {one.entry: one.reason for one in resolved.ignored} == {
        "fixed": Reason.NOT_OVERRIDABLE,
        "gone": Reason.UNKNOWN_PATH,
        "greeting": Reason.BAD_PLACEHOLDER,
        "group": Reason.STALE_HASH,
        "group/tone": Reason.TOO_LARGE,
        "tool:fly": Reason.UNKNOWN_TOOL,
        "tool:look": Reason.STALE_TOOL,
        "workspace-digest": Reason.MODE_MISMATCH,
    }
    assert resolved.sections == {}
    assert sample().preview(overrides_store=store).text == sample().preview().text


@pytest.mark.rule("P3.10", "P11.45")
def test_links_inside_the_tree_are_refused(tmp_path):
    store = files(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "o" / "tests").mkdir(parents=True)
    (tmp_path / "o" / "tests" / "overrides").symlink_to(outside)

    with pytest.raises(OverridesError) as caught:
        write(store)

    assert caught.value.code == "SYMLINK_REFUSED"
    assert list(outside.iterdir()) == []
    with pytest.raises(OverridesError):
        store.resolve(sample().descriptor, "latest")


@pytest.mark.rule("P3.10")
def test_a_linked_file_is_not_read(tmp_path):
    store = files(tmp_path)
    write(store)
    path = store.path(NS, KEY, "latest")
    secret = tmp_path / "secret.json"
    path.rename(secret)
    path.symlink_to(secret)

    with pytest.raises(OverridesError) as caught:
        store.load(NS, KEY, "latest")

    assert caught.value.code == "SYMLINK_REFUSED"


@pytest.mark.rule("P3.10")
def test_the_root_is_found_from_the_nearest_project(tmp_path, monkeypatch):
    inner = tmp_path / "project" / "deep" / "er"
    inner.mkdir(parents=True)
    (tmp_path / "project" / ".backshop").mkdir()

    assert find_root(inner) == tmp_path / "project" / ".backshop" / "prompts" / "overrides"
    monkeypatch.setenv("BACKSHOP_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert LocalPromptOverridesStore().root == tmp_path / "home" / "prompts" / "overrides"


STEPS = ("open", "fchmod", "write", "fsync", "close", "replace", "unlink")


def _die_at(step: int, root: Path) -> None:
    """Write one entry and leave the process at the step-th call to the operating system."""
    count = 0

    def dying(real):
        def call(*args, **kwargs):
            nonlocal count
            count += 1
            if count == step:
                os._exit(9)
            return real(*args, **kwargs)

        return call

    descriptor = sample().descriptor
    store = LocalPromptOverridesStore(root)
    for name in STEPS:
        setattr(os, name, dying(getattr(os, name)))
    store.set_override(NS, KEY, "latest", "tone", "new" * 5000, descriptor=descriptor)
    os._exit(0)


@pytest.mark.rule("P3.12", "P11.43")
def test_killing_the_writer_at_every_step_leaves_a_whole_file(tmp_path):
    context = multiprocessing.get_context("fork")
    seen = set()
    for step in range(1, 60):
        root = tmp_path / f"s{step}"
        store = LocalPromptOverridesStore(root)
        write(store, body="old")
        store.path(NS, KEY, "latest").chmod(0o640)
        child = context.Process(target=_die_at, args=(step, root))
        child.start()
        child.join(30)
        document = store.load(NS, KEY, "latest")
        assert document is not None
        body = document["sections"]["tone"]["body"]
        assert body in ("old", "new" * 5000)
        assert store.path(NS, KEY, "latest").stat().st_mode & 0o777 == 0o640
        seen.add(body)
        assert write(store, body="after") == document["revision"] + 1
        if child.exitcode == 0:
            break

    assert seen == {"old", "new" * 5000}
    assert child.exitcode == 0


@pytest.mark.rule("P3.12")
def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path, monkeypatch):
    store = files(tmp_path)
    write(store, body="old")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OverridesError) as caught:
            write(store, body="new")

    assert caught.value.info("workshop").error_code == "DISK_FULL"
    assert sample().preview(overrides_store=store).parts[4].text == "## 4. Tone\n\nold"
    names = sorted(one.name for one in store.path(NS, KEY, "latest").parent.iterdir())
    assert names == ["latest.json", "latest.json.lock"]


def _add_many(root: Path, start: int, count: int) -> None:
    from backshop.prompts import MarkdownSection

    sections = [MarkdownSection("S", "s", key=f"s{number}") for number in range(100)]
    prompt = Prompt(NS, KEY, sections=sections)
    store = LocalPromptOverridesStore(root)
    for number in range(start, start + count):
        store.set_override(
            NS, KEY, "latest", f"s{number}", f"{number}", descriptor=prompt.descriptor
        )


@pytest.mark.rule("P3.13", "P11.44")
def test_two_processes_adding_entries_lose_none(tmp_path):
    context = multiprocessing.get_context("fork")
    workers = [
        context.Process(target=_add_many, args=(tmp_path / "o", start, 50)) for start in (0, 50)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)

    document = files(tmp_path).load(NS, KEY, "latest")

    assert document is not None
    assert len(document["sections"]) == 100
    assert document["revision"] == 100


@pytest.mark.rule("P3.17")
def test_the_first_layer_that_applies_wins(tmp_path):
    project = LocalPromptOverridesStore(tmp_path / "project")
    person = LocalPromptOverridesStore(tmp_path / "person")
    layers = LayeredOverridesStore([project, person])
    write(project, "tone", "project")
    write(project, "greeting", "stale", sample("old wording"))
    write(person, "tone", "person")
    write(person, "greeting", "person hi")

    resolved = layers.resolve(sample().descriptor, "latest")

    assert {path: one.body for path, one in resolved.sections.items()} == {
        "tone": "project",
        "greeting": "person hi",
    }
    assert [one.entry for one in resolved.ignored] == ["greeting"]


@pytest.mark.rule("P3.16", "P3.18")
def test_the_doctor_names_every_entry_and_rebase_binds_it_anew(tmp_path):
    store = files(tmp_path)
    old, new = sample(), sample("Good day $name")
    write(store, "greeting", "Hi", old)
    store.set_override(
        NS, KEY, "latest", "tone", "x", descriptor=old.descriptor, provenance={"source": "user"}
    )

    found = store.doctor(new.descriptor, "latest")
    assert [(one.entry, one.state, dict(one.provenance)) for one in found] == [
        ("greeting", "STALE_HASH", {}),
        ("tone", "ok", {"source": "user"}),
    ]

    store.rebase(new.descriptor, "latest", "greeting")

    assert {one.state for one in store.doctor(new.descriptor, "latest")} == {"ok"}
    assert new.preview(overrides_store=store).parts[0].text == "## 1. Greeting\n\nHi"


@pytest.mark.rule("P1.22", "P3.6")
def test_a_clone_finds_overrides_where_its_sections_came_from(tmp_path):
    store = files(tmp_path)
    prompt = sample()
    write(store, "group/tone", "soft", prompt)

    clone = prompt.clone_with(restricted_sections=["tone", "group"], key="clone")

    texts = [part.text for part in clone.preview(overrides_store=store).parts]
    assert "### 1.1. Tone\n\nsoft" in texts


@pytest.fixture(params=["files", "stored"])
def any_store(request, tmp_path):
    if request.param == "files":
        yield files(tmp_path)
        return
    with Store.open(tmp_path / "home") as store:
        yield StorePromptOverridesStore(store)


@pytest.mark.rule("P3.11", "P3.14")
def test_texts_fit_their_bounds_and_not_a_byte_more(any_store):
    prompt = sample()
    given = {"descriptor": prompt.descriptor}

    def section(body: str = "x", **more: object) -> Any:
        return any_store.set_override(NS, KEY, "latest", "tone", body, **given, **more)

    def tool(text: str = "x", **more: object) -> Any:
        return any_store.set_tool_override(
            NS, KEY, "latest", "look", description=text, **given, **more
        )

    long, most = "é" * 32_768, {"note": "é" * 1_018}  # 2 KiB with the braces and the name
    for write_one in (section, tool):
        before = write_one(long, provenance=most)
        for body, provenance, code in (
            (f"{long}x", most, Reason.TOO_LARGE),
            ("x", {"note": "é" * 1_019}, "BAD_FIELD"),
        ):
            with pytest.raises(OverridesError) as caught:
                write_one(body, provenance=provenance)
            assert caught.value.code == code
        assert any_store.load(NS, KEY, "latest")["revision"] == before
    with pytest.raises(OverridesError) as caught:
        any_store.set_tool_override(NS, KEY, "latest", "look", params={"path": f"{long}x"}, **given)
    assert caught.value.code == Reason.TOO_LARGE


@pytest.mark.rule("P3.11")
def test_a_file_has_so_many_entries_and_bytes(any_store):
    def prompt(count: int) -> Prompt[None]:
        many = [MarkdownSection(f"S{n}", "x", key=f"s{n}") for n in range(count)]
        return Prompt(NS, KEY, sections=many)

    def put(number: int, body: str) -> None:
        any_store.set_override(
            NS, KEY, "latest", f"s{number}", body, descriptor=prompt(257).descriptor
        )

    with pytest.raises(OverridesError) as many:
        any_store.seed(prompt(257), "latest")
    assert any_store.load(NS, KEY, "latest") is None
    any_store.seed(prompt(256), "latest")
    with pytest.raises(OverridesError) as more:
        put(256, "x")
    for number in range(15):
        put(number, "x" * 65_000)
    with pytest.raises(OverridesError) as full:
        put(15, "x" * 65_000)

    assert {one.value.code for one in (many, more, full)} == {"TOO_LARGE"}
    assert len(any_store.load(NS, KEY, "latest")["sections"]) == 256


@pytest.mark.rule("P3.13")
def test_a_lock_held_by_another_program_is_waited_for_and_then_named(tmp_path, monkeypatch):
    import fcntl

    store = files(tmp_path)
    write(store)
    monkeypatch.setattr("backshop.prompts.overrides.files.OVERRIDE_LOCK_WAIT_S", 0.05)
    lock = store.path(NS, KEY, "latest").with_name("latest.json.lock")

    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OverridesError) as caught:
            write(store)

    assert caught.value.code == "LOCKED"
    assert caught.value.info("workshop").error_code == "BENCH_BUSY"
    assert write(store) == 2


@pytest.mark.rule("P3.14", "P5.11")
def test_a_root_that_is_no_folder_is_named_before_anything_is_paid_for(tmp_path):
    (tmp_path / "o").write_text("a file")
    store = files(tmp_path)

    for act in (
        lambda: store.check_writable(sample().descriptor, "latest", "tone"),
        lambda: store.resolve(sample().descriptor, "latest"),
        lambda: write(store),
    ):
        with pytest.raises(OverridesError) as caught:
            act()
        assert caught.value.product_code in {
            "VALIDATION_FAILED",
            "FILE_READ_FAILED",
            "FILE_WRITE_FAILED",
        }
    assert (tmp_path / "o").read_text() == "a file"
