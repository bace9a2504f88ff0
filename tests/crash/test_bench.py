"""Kill a workbench's commands at every system call: the old state or the new one, no other."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.conftest import PROOF
from tests.crash import bench_scenarios as scenarios
from tests.crash.bench_scenarios import THEIRS, Bench
from tests.crash.harness import CALLS, Outcome
from tests.postgres import fresh_database, twin

pytestmark = [pytest.mark.needs("strace"), pytest.mark.timeout(3600)]
SCENARIOS = "tests.crash.bench_scenarios"
Files = dict[str, str]
WITHOUT_DRAFT = ("add", "batch", "restore", "remove", "replace", "repair", "context", "trash")
COMMANDS = (
    *("add", "batch", "publish", "discard", "restore", "recover", "remove", "replace", "repair"),
    *("reconcile", "rescan", "correct", "context", "publish_changes", "correct_changes"),
    *("rewind", "complete", "take_over", "bring_back"),
)
CHANGES = ("publish_changes", "correct_changes", "complete", "take_over")
"""Where the Draft's folder holds its changes, as it does when nobody asks for more."""
TALK = f"{CALLS},sendto"  # what a client of a server writes goes out through a socket


class Snapshot(NamedTuple):
    """All heads of a bench, by content."""

    published: Files
    draft: Files | None
    checkpoints: list[tuple[str, Files]]
    context: Files
    generation: int
    said: list[str]


def snapshot(bench: Bench) -> Snapshot:
    desk = bench.shop.benches.desk
    state = desk.state(bench.id)

    def files(tree_id) -> Files:
        entries = desk.entries(tree_id).items()
        return {path: desk.store.blobs.read(file.sha256).decode() for path, file in entries}

    return Snapshot(
        published=files(state.published),
        draft=None if state.draft is None else files(state.draft.tree),
        checkpoints=[(one.reason, files(one.tree)) for one in state.checkpoints],
        context={path: text for path, text in files(state.context_tree).items() if _told(path)},
        generation=state.generation,
        said=[
            one.get("event_kind") or one["text"]
            for one in bench.call("WorkshopGetConversation")["messages"]
            if one["advances_head"]
        ],
    )


def _told(path: str) -> bool:
    """Whether a file of a context item is the same in every run."""
    return not path.endswith("source.json")


def begun(tmp_path: Path, name: str, url: str | None = None) -> Path:
    folder = tmp_path / "start"
    folder.mkdir()
    if url is not None:
        (folder / "home-url").write_text(url, encoding="utf-8")
    if name == "rewind":
        scenarios.start_told(folder)
    elif name in WITHOUT_DRAFT:
        scenarios.start(folder)
    else:
        scenarios.start_draft(folder, full_view_max=0 if name in CHANGES else 10_000)
    return folder


def stages(name: str, start: Path) -> list[Snapshot]:
    """Return the states a whole run goes through, each once it was acknowledged."""
    folder = start.with_name("whole")
    with twin(start, folder), Bench(folder) as bench:
        seen = [snapshot(bench)]
        getattr(scenarios, name)(
            folder, lambda text: seen.append(snapshot(bench)) if text == "done" else None
        )
    shutil.rmtree(folder)
    return seen


def on_disk(folder: Path) -> Files | None:
    if not folder.exists():
        return None
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def is_part(bench: Bench) -> bool:
    """Whether the Draft's folder shows its changes only."""
    return not bench.call("DraftFolder")["whole"]


def check(outcome: Outcome, wanted: list[Snapshot]) -> None:
    """After the next open: one of the allowed states, folders like it, nothing of theirs lost."""
    done = sum(text.startswith("done") for text in outcome.said)
    theirs = [text.split()[1] for text in outcome.said if text.startswith("theirs")]
    with Bench(outcome.folder) as bench:
        bench.call("WorkbenchOpen")
        found = snapshot(bench)
        again = bench.call("WorkbenchOpen")
        views = {view: on_disk(bench.place / view) for view in ("published", "draft")}
        shown = {"published": found.published, "draft": found.draft}
        assert all(p.stat().st_nlink == 1 for p in bench.place.rglob("*") if p.is_file())
        if found.draft is not None and is_part(bench):
            base = wanted[0].published.items()
            shown["draft"] = dict(found.draft.items() - base)

        assert found in wanted[done : done + 2]
        assert (again["health"], again["recovery"]) == ("ok", [])
        kept = on_disk(bench.place / "meta" / "salvage") or {}
        for place in theirs:
            view, _, name = place.partition("/")
            text = (views[view] or {}).pop(name, None)
            assert text == THEIRS or THEIRS in kept.values()
        for view, files in (("published", found.published), ("draft", found.draft)):
            if files is not None and "adopted.txt" not in files:
                (views[view] or {}).pop("adopted.txt", None)  # still an edit of somebody else's
        assert views == shown
        assert not any((bench.place / "meta").glob("tmp/*"))


@pytest.mark.rule(
    "B3.2",
    "B3.3",
    "B3.4",
    "B9.13",
    "B9.16",
    "B9.14",
    "B10.12",
    "B8.19",
    "B22.23",
    "B22.24",
    "B22.39",
    "B22.49",
    "B22.79",
    "B22.31",
    "B22.83",
)
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_anywhere_it_is_before_or_after(harness, tmp_path, scaled, name):
    start = begun(tmp_path, name)
    wanted = stages(name, start)

    for kill in harness.kills(f"{SCENARIOS}:{name}", start, sample=scaled(4, 10_000)):
        assert kill.ended == "killed" or kill.ended.startswith("done")
        check(kill, wanted)


@pytest.mark.needs("postgres")
@pytest.mark.rule("B3.2", "B3.3", "B3.4", "B9.13", "B10.12", "T8.17")
@pytest.mark.parametrize("name", COMMANDS if PROOF else ("batch", "publish", "restore"))
def test_a_client_of_a_server_killed_anywhere(harness, tmp_path, scaled, name):
    story = f"{SCENARIOS}:{name}"
    with fresh_database() as url:
        start = begun(tmp_path, name, url)
        wanted = stages(name, start)
        with twin(start, tmp_path / "counted") as folder:
            total = harness.count(story, folder, TALK)
        for point in range(1, total + 1, max(1, total // scaled(2, total))):
            with twin(start, tmp_path / "killed") as folder:
                kill = harness.run(story, folder, f"signal=KILL:when={point}", TALK)
                assert kill.ended == "killed" or kill.ended.startswith("done")
                check(kill, wanted)
            shutil.rmtree(folder)


@pytest.mark.rule("B3.6", "B3.10", "B22.32", "B22.33")
@pytest.mark.parametrize(
    "calls",
    ["write,pwrite64,fsync,fdatasync,ftruncate", "copy_file_range", "mkdir,rename,link,symlink"],
)
def test_a_full_disk_while_publishing_changes_nothing_or_only_folders(
    harness, tmp_path, scaled, calls
):
    start = begun(tmp_path, "publish")
    wanted = stages("publish", start)

    runs = harness.failures(
        f"{SCENARIOS}:publish", start, "ENOSPC", sample=scaled(4, 10_000), calls=calls
    )
    for run in runs:
        kinds = ("DiskFull", "WriteFailed", "StoreUnavailable", "done")
        assert run.ended.startswith(kinds), run.ended
        check(run, wanted)


@pytest.mark.rule("B5.6", "B22.76")
def test_a_bench_killed_on_its_way_to_the_trash_is_here_or_there_unchanged(
    harness, tmp_path, scaled
):
    start = begun(tmp_path, "trash")
    with Bench(start) as bench:
        before = snapshot(bench)

    for kill in harness.kills(f"{SCENARIOS}:trash", start, sample=scaled(4, 10_000)):
        with Bench(kill.folder) as bench:
            if (
                "deleted_at"
                in bench.shop.call("WorkbenchList", {"include_trash": True})["workbenches"][0]
            ):
                bench.call("WorkbenchUndelete")
            bench.call("WorkbenchOpen")
            assert snapshot(bench) == before
            assert bench.call("WorkbenchOpen")["health"] == "ok"
            assert on_disk(bench.place / "published") == before.published
