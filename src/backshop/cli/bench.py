"""Workbenches from the terminal: files in, review, publish or discard, checkpoints, files out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from backshop.base.acting import who
from backshop.base.codec import encode
from backshop.base.labels import FOLDERS, RECOVERY

from .door import Door, DoorGroup, clean, pass_door, remember_bench, table, word, write_lines
from .folder_text import state_lines

if TYPE_CHECKING:
    from backshop.app import Backshop
    from backshop.bench.answers import (
        Added,
        AddResult,
        AuditEntry,
        BenchList,
        FileEntry,
        Opened,
        PathResult,
        WroteBack,
    )

Facade = TypeVar("Facade")
Asked = TypeVar("Asked")
Answered = TypeVar("Answered")


BENCH = click.argument("bench", metavar="BENCH", callback=remember_bench)
FLOWS = ("auto", "rpi", "compat")
_SHOWN = 20  # paths of edited files in one line
_WHY = {
    "changed": "it is not what was copied in any more",
    "missing": "it is gone",
    "not_a_file": "it is no plain file",
    "open": "another program has it open",
}
LOST = {"missing_blob": "MISSING", "altered_blob": "ALTERED"}
"""What a list says of a file whose content cannot be had."""


def bench_of(shop: Backshop, text: str) -> str:
    """Return the id that an id, a unique prefix of one, or a unique name stands for (S4.3)."""
    return shop.bench_id(text)


def ask(
    door: Door,
    bench: str,
    method: Callable[[Facade, Asked], Answered],
    request: Callable[..., Asked],
) -> Answered:
    """Run a command about one bench; `request` makes the request, given its id."""
    with door.shop() as shop:
        return shop.ask(method, request(workbench_id=bench_of(shop, bench)))


@click.group(
    "bench",
    cls=DoorGroup,
    lazy={
        "share": ("people:share", "Say who may do what with one."),
        "usage": ("usage:usage", "Show what models used for one."),
    },
)
def bench_group() -> None:
    """Make, fill and look after workbenches."""


@bench_group.command()
@click.argument("name", default="")
@click.option("--profile", default="standard", help="classic, standard or large.")
@click.option("--reuse", is_flag=True, help="Take the one of that name, if there is one.")
@pass_door
def create(door: Door, name: str, profile: str, reuse: bool) -> None:
    """Make an empty workbench called NAME."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wish = requests.WorkbenchCreate(name=name, profile=profile, reuse=reuse)
    with door.shop() as shop:
        made = shop.ask(Bench.create, wish)
        door.show(made, lambda one: one.workbench_id)
        if name and not reuse:
            _tell_namesakes(door, shop, name)


def _tell_namesakes(door: Door, shop: Backshop, name: str) -> None:
    """Say that a name alone stands for nothing any more where another workbench has it too."""
    from backshop.app import every_bench  # loaded when needed (S2.4)

    others = sum(one.name == name for one in every_bench(shop.ask, include_trash=False)) - 1
    if others > 0:
        door.tell(
            f"{others} other workbench(es) are called {word(name)} too: name this one by its id;"
            f" `backshop bench create {word(name)} --reuse` takes the one that is there"
        )


@bench_group.command("list")
@click.option("--trash", is_flag=True, help="Show deleted workbenches too.")
@pass_door
def list_(door: Door, trash: bool) -> None:
    """List workbenches, newest change first."""
    from backshop.app import every_bench  # loaded when needed
    from backshop.bench import BenchList as Listed

    with door.shop() as shop:
        found = every_bench(shop.ask, include_trash=trash)
    door.show(Listed(workbenches=tuple(found)), _benches)


@bench_group.command()
@BENCH
@pass_door
def show(door: Door, bench: str) -> None:
    """Show one workbench: its files, Draft and health."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    opened = ask(door, bench, Bench.open, requests.BenchRequest)
    door.show(opened, lambda found: "\n".join(_opened(found, bench)))


def _opened(found: Opened, bench: str) -> list[str]:
    info = found.workbench
    return [
        f"{clean(info.name)}  {info.workbench_id}",
        f"files    {info.file_count} ({info.total_bytes} bytes), "
        f"generation {info.published_generation}",
        f"draft    {found.draft.state}",
        f"health   {found.health}",
        *(_recovered(one) for one in found.recovery),
        *edited("Published", found.outside_changes, bench),
        *edited("Draft", found.draft.outside_changes, bench),
        *([] if found.folder is None else state_lines(found.folder, info.workbench_id)),
    ]


def _recovered(code: str) -> str:
    """Say what opening did; a warning among it is nothing that was put right."""
    return f"{'note' if code in FOLDERS else 'put right'}: {RECOVERY.get(code, clean(code))}"


def edited(name: str, paths: Sequence[str], bench: str) -> list[str]:
    """Say which files of one folder another program edited, and what to do about it."""
    if not paths:
        return []
    ways = {
        "Published": f"bench repair {word(bench)} --published adopt|restore",
        "Draft": f"draft rescan {word(bench)} --adopt|--revert",
    }
    shown = ", ".join(clean(path) for path in paths[:_SHOWN])
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return [
        f"edited   {name}'s folder, by another program: {shown}{more}",
        f"         nothing is lost; `backshop {ways[name]}` takes it over or puts it back",
    ]


@bench_group.command()
@BENCH
@pass_door
def size(door: Door, bench: str) -> None:
    """Show what a workbench takes on disk: contents, and folders beside them."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    found = ask(door, bench, Bench.get_size, requests.BenchRequest)
    rows = {
        "files of Published": found.file_bytes,
        "contents of every version kept, each once": found.content_bytes,
        "folders on this machine": found.folder_bytes,
        "  Published's": found.published_bytes,
        "  the Draft's": found.draft_bytes,
        "  rescued from other programs": found.salvage_bytes,
    }
    shown = [(what, str(size)) for what, size in rows.items()]
    door.show(found, lambda _: table(shown, ("", "bytes")))


@bench_group.command()
@BENCH
@click.argument("name")
@pass_door
def rename(door: Door, bench: str, name: str) -> None:
    """Give a workbench another NAME."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wish = partial(requests.WorkbenchRename, new_name=name)
    door.show(ask(door, bench, Bench.rename, wish), lambda _: "renamed")


@bench_group.command()
@BENCH
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_door
def delete(door: Door, bench: str, yes: bool) -> None:
    """Throw a workbench away; `bench undelete` takes it back."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        bench_id = bench_of(shop, bench)
        if not yes:
            door.confirm(f"Delete {_called(shop, bench_id)}?", "deleting a workbench")
        wish = requests.WorkbenchDelete(workbench_id=bench_id, confirm=bench_id)
        done = shop.ask(Bench.delete, wish)
    door.show(done, lambda _: f"deleted; `backshop bench undelete {bench_id}` takes it back")


def _called(shop: Backshop, bench_id: str) -> str:
    """Return the name of a workbench with its id, however it was named."""
    from backshop.app import every_bench  # loaded when needed (S2.4)

    found = every_bench(shop.ask, include_trash=True)
    name = next((one.name for one in found if one.workbench_id == bench_id), None)
    return f"{clean(name)} ({bench_id})" if name else bench_id


@bench_group.command()
@BENCH
@pass_door
def undelete(door: Door, bench: str) -> None:
    """Take a workbench out of the trash."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    done = ask(door, bench, Bench.undelete, requests.BenchRequest)
    door.show(done, lambda _: "it is back")


@bench_group.command()
@BENCH
@click.option("--name", help="Name of the new workbench.")
@click.option("--with-context", is_flag=True, help="Take the context items along.")
@click.option("--with-chat", is_flag=True, help="Take context items and conversation along.")
@click.option("--from", "message", metavar="MESSAGE", help="End at this message, files of then.")
@pass_door
def fork(
    door: Door,
    bench: str,
    name: str | None,
    with_context: bool,
    with_chat: bool,
    message: str | None,
) -> None:
    """Make another workbench from this one's Published files."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    mode = "clone_files_and_context_no_chat" if with_context else "clone_files_only"
    mode = "clone_all" if with_chat or message else mode
    wish = partial(
        requests.WorkbenchFork, mode=mode, name=name or None, from_message_id=message or None
    )
    door.show(ask(door, bench, Bench.fork, wish), lambda made: made.workbench_id)


@bench_group.command()
@BENCH
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--to", "dest_dir", help="Folder inside the workbench.")
@click.option("--recursive", "-r", is_flag=True, help="Take folders with all they hold.")
@click.option(
    "--on-conflict", type=click.Choice(["reject", "skip", "keep_both", "replace"]), default="reject"
)
@pass_door
def add(
    door: Door,
    bench: str,
    sources: tuple[Path, ...],
    dest_dir: str | None,
    recursive: bool,
    on_conflict: str,
) -> None:
    """Copy SOURCES into the workbench; the originals are never touched."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    named = tuple(str(path.expanduser().absolute()) for path in sources)
    wish = partial(
        requests.WorkbenchFilesAdd,
        source_paths=named,
        dest_dir=dest_dir,
        recursive=recursive,
        on_conflict=on_conflict,
    )
    done = ask(door, bench, Bench.files_add, wish)
    door.show(done, _added)
    if any(_is_refused(one) for one in done.add_results if one.source_path in named):
        raise click.exceptions.Exit(1)


@bench_group.command()
@BENCH
@click.argument("paths", nargs=-1, required=True)
@pass_door
def remove(door: Door, bench: str, paths: tuple[str, ...]) -> None:
    """Take PATHS out of Published; a checkpoint is kept."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wish = partial(requests.WorkbenchFilesRemove, workbench_paths=paths)
    done = ask(door, bench, Bench.files_remove, wish)
    door.show(done, lambda value: _results(value.remove_results))


@bench_group.command("rename-file")
@BENCH
@click.argument("path")
@click.argument("new_path")
@pass_door
def rename_file(door: Door, bench: str, path: str, new_path: str) -> None:
    """Give a Published file another path."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wish = partial(requests.WorkbenchFileRename, path=path, new_path=new_path)
    done = ask(door, bench, Bench.file_rename, wish)
    door.show(done, lambda value: f"now {clean(value.path)}")


@bench_group.command()
@BENCH
@click.option("--published", "view", flag_value="published", help="Published, even with a Draft.")
@pass_door
def files(door: Door, bench: str, view: str | None) -> None:
    """List the files of a workbench."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    done = ask(door, bench, Bench.files_list, partial(requests.WorkbenchFilesList, view=view))
    lost = [one for one in done.files if one.unreadable_reason in LOST]
    headings: tuple[str, ...] = ("file", "kind", "bytes", "draft", *(["content"] if lost else []))

    def row(one: FileEntry) -> tuple[str, ...]:
        plain = (one.path, one.kind, str(one.size), one.draft_status or "")
        return (*plain, LOST.get(one.unreadable_reason or "", "")) if lost else plain

    door.show(done, lambda value: table([row(one) for one in value.files], headings))
    if lost:
        raise click.exceptions.Exit(1)


@bench_group.command()
@BENCH
@click.argument("destination", type=click.Path(path_type=Path))
@click.argument("paths", nargs=-1)
@pass_door
def extract(door: Door, bench: str, destination: Path, paths: tuple[str, ...]) -> None:
    """Copy Published files (all, or PATHS) to the folder DESTINATION."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    target = str(destination.expanduser().absolute())
    wish = partial(
        requests.WorkbenchFilesExtract, destination_dir=target, workbench_paths=paths or None
    )
    done = ask(door, bench, Bench.files_extract, wish)
    door.show(done, lambda value: _results(value.extract_results))
    if any(one.status == "failed" for one in done.extract_results):
        raise click.exceptions.Exit(1)


@bench_group.command("write-back")
@BENCH
@pass_door
def write_back(door: Door, bench: str) -> None:
    """Let the files that `backshop do` copied hold what is Published.

    Each only if it is still what was copied in; what is not written stays in the workbench.
    """
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        own = requests.BenchRequest(workbench_id=bench_of(shop, bench))
        done = shop.ask(Bench.write_back, own)
        has_draft = shop.ask(Bench.draft_get_state, own).has_draft
    lines = list(written_lines(done.files)) or ["every file is as Published has it"]
    if has_draft and not done.files:
        lines = ["nothing was written back"]
    lines += [f"kept: {clean(one)}" for one in done.salvaged]
    door.show(done, lambda _: "\n".join(lines))
    if has_draft:
        way = f"`backshop publish {own.workbench_id}`"
        door.tell(f"a Draft waits, and nothing of it is written back before {way}")
    if not all(one.is_done for one in done.files) or (has_draft and not done.files):
        raise click.exceptions.Exit(1)


def written_lines(files: tuple[WroteBack, ...]) -> Iterator[str]:
    """Yield what became of the person's own files."""
    for one in files:
        if one.is_done:
            yield f"written: {clean(one.target)}"
        else:
            why = _WHY.get(one.became) or clean(one.detail or one.became)
            yield f"NOT written: {clean(one.target)}: {why}; the result is {clean(one.path)}"


@bench_group.command()
@BENCH
@click.argument("profile", required=False)
@pass_door
def limits(door: Door, bench: str, profile: str | None) -> None:
    """Show the limits of a workbench, or choose a PROFILE."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    if profile:
        wish = partial(requests.WorkbenchSetLimits, profile=profile)
        scope = ask(door, bench, Bench.set_limits, wish)
    else:
        scope = ask(door, bench, Bench.get_scope, requests.BenchRequest)
    rows = [(name, str(value)) for name, value in asdict(scope.limits).items()]
    door.show(scope, lambda v: table(rows, (v.profile, "")))


@bench_group.command()
@BENCH
@click.argument("value", metavar="[auto|rpi|compat]", required=False, type=click.Choice(FLOWS))
@pass_door
def flow(door: Door, bench: str, value: str | None) -> None:
    """Show how turns of a workbench are executed, or choose it for its next turn.

    auto: the agent works directly, and plans where the request needs it.
    rpi: research, a plan, its items one by one with tools, a summary.
    compat: a plain answer, then one set of changes; for models that cannot use tools.
    """
    from backshop.workshop import Workshop, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        at = shop.workshop(bench)
        if value is not None:
            shop.ask(Workshop.set_flow, requests.SetFlow(workbench_id=at.id, flow=value))
        door.show({"flow": at.state().flow}, lambda one: one["flow"])


@bench_group.command()
@BENCH
@click.option("--export", "target", type=click.Path(path_type=Path), help="Write JSON Lines here.")
@pass_door
def audit(door: Door, bench: str, target: Path | None) -> None:
    """Show everything that happened to a workbench."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    entries: list[AuditEntry] = []
    after: int | None = 0
    with door.shop() as shop:
        bench_id = bench_of(shop, bench)
        while after is not None:
            wish = requests.AuditList(workbench_id=bench_id, after_seq=after, limit=1000)
            page = shop.ask(Bench.audit_list, wish)
            entries += page.entries
            after = page.next_after_seq
    if target is not None:
        lines = (json.dumps(encode(one), ensure_ascii=False) + "\n" for one in entries)
        write_lines(target, lines, is_new=True)
    rows = [(e.at, e.kind, _who(e), ", ".join(e.paths[:3])) for e in entries]
    whole = replace(page, entries=tuple(entries))
    door.show(whole, lambda _: table(rows, ("when", "what", "who", "files")))


def _who(entry: AuditEntry) -> str:
    """Return who did it and how it came in; what 0.1.0 recorded says the kind alone."""
    by, actor = entry.by, entry.actor
    name = actor if actor == "system" else who(by) or actor
    ways = [way for way in (by.door, by.worker) if way] if by else []
    return f"{name} ({' '.join(ways)})" if ways else name


@bench_group.command()
@BENCH
@click.option("--published", type=click.Choice(["restore", "adopt"]), default="restore")
@pass_door
def repair(door: Door, bench: str, published: str) -> None:
    """Put Published's own files back, or take over edits made there by other programs."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wish = partial(requests.RepairMode, mode=published)
    done = ask(door, bench, Bench.published_repair, wish)
    door.show(done, lambda v: "\n".join(["repaired", *(f"kept: {p}" for p in v.salvaged)]))


def _benches(found: BenchList) -> str:
    rows = [
        (
            one.workbench_id,
            one.name,
            str(one.file_count),
            "Draft waits" if one.has_draft else "",
            one.health if one.health != "ok" else "",
            "" if one.deleted_at is None else "in the trash",
        )
        for one in found.workbenches
    ]
    if not rows:
        return "no workbenches yet; `backshop bench create NAME` makes one"
    return table(rows, ("id", "name", "files", "", "", ""))


NOT_ADDED = {  # why a file was not taken, for people (B6.7)
    "directory": "a folder; --recursive takes it with all it holds",
    "inside_home": "inside Backshop's own folder",
    "not_regular": "no regular file",
    "symlink": "a symbolic link",
    "unreadable": "not there, or not readable",
}

NOT_DONE = {  # why a file was not copied out, removed or renamed, for people (B6.13, B6.15)
    "altered_blob": "its content is damaged; `backshop doctor --repair` looks for it",
    "copy_failed": "it could not be written there",
    "disk_full": "no room left on the disk",
    "duplicate_request": "named twice",
    "invalid_path": "no path of a file in a workbench",
    "missing_blob": "its content is missing; `backshop doctor --repair` looks for it",
    "not_found": "no such file in this workbench; `backshop bench files` lists them",
    "symlink": "a symbolic link is in the way",
}


def _is_refused(one: AddResult) -> bool:
    """Say whether a file was not taken, other than by the person's own `--on-conflict skip`."""
    return one.status == "skipped" and one.reason != "duplicate"


def _added(done: Added) -> str:
    rows = []
    for one in done.add_results:
        reason = one.reason or ""
        why = one.detail or NOT_ADDED.get(reason, reason)
        rows.append((one.status, one.source_path if one.path is None else one.path, why))
    return table(rows, ("", "file", ""))


def _results(results: Sequence[PathResult]) -> str:
    rows = [(one.status, _named(one), _why(one.reason or "")) for one in results]
    return table(rows, ("", "file", ""))


def _why(reason: str) -> str:
    return NOT_DONE.get(reason, reason)


def _named(one: PathResult) -> str:
    """Return a path, and the name it got where that is another one."""
    is_other = one.final_path and Path(one.final_path).name != Path(one.path).name
    return f"{one.path} as {Path(str(one.final_path)).name}" if is_other else one.path
