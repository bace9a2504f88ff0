"""Workbenches from the terminal: files in, review, publish or discard, checkpoints, files out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backshop.base.acting import who

from .door import Door, DoorGroup, clean, pass_door, table, write_lines

if TYPE_CHECKING:
    from backshop.app import Backshop
    from backshop.bench import BenchList

BENCH = click.argument("bench", metavar="BENCH")
FLOWS = ("rpi", "compat")
_SHOWN = 20  # paths of edited files in one line
LOST = {"missing_blob": "MISSING", "altered_blob": "ALTERED"}
"""What a list says of a file whose content cannot be had."""


def bench_of(shop: Backshop, text: str) -> str:
    """Return the id that an id, a unique prefix of one, or a unique name stands for (S4.3)."""
    return shop.bench_id(text)


def ask(door: Door, name: str, bench: str, **request: Any) -> Any:
    """Run a command about one bench."""
    with door.shop() as shop:
        return shop.call(name, {"workbench_id": bench_of(shop, bench), **request})


@click.group(
    "bench",
    cls=DoorGroup,
    lazy={
        "share": ("people:share", "Say who may do what with one."),
        "usage": ("models:usage", "Show the tokens that models used for one."),
    },
)
def bench_group() -> None:
    """Make, fill and look after workbenches."""


@bench_group.command()
@click.argument("name", default="")
@click.option("--profile", default="standard", help="classic, standard or large.")
@pass_door
def create(door: Door, name: str, profile: str) -> None:
    """Make an empty workbench called NAME."""
    door.call(
        "WorkbenchCreate", {"name": name, "profile": profile}, lambda v: str(v["workbench_id"])
    )


@bench_group.command("list")
@click.option("--trash", is_flag=True, help="Show deleted workbenches too.")
@pass_door
def list_(door: Door, trash: bool) -> None:
    """List workbenches, newest change first."""
    from backshop.app import every_bench  # loaded when needed
    from backshop.bench import BenchList as Listed

    with door.shop() as shop:
        found = every_bench(shop.commands.run, include_trash=trash)
    door.show(Listed(workbenches=tuple(found)), _benches)


@bench_group.command()
@BENCH
@pass_door
def show(door: Door, bench: str) -> None:
    """Show one workbench: its files, Draft and health."""
    opened = ask(door, "WorkbenchOpen", bench)

    def human(value: dict[str, Any]) -> str:
        info, draft = value["workbench"], value["draft"]
        lines = [
            f"{clean(info['name'])}  {info['workbench_id']}",
            f"files    {info['file_count']} ({info['total_bytes']} bytes), "
            f"generation {info['published_generation']}",
            f"draft    {draft['state']}",
            f"health   {value['health']}",
            *outside_lines(value, bench),
        ]
        return "\n".join(lines)

    door.show(opened, human)


def outside_lines(opened: dict[str, Any], bench: str) -> list[str]:
    """Say which files of the folders are not as Backshop put them there, and what to do."""
    return [
        *edited("Published", opened["outside_changes"], bench),
        *edited("Draft", opened["draft"]["outside_changes"], bench),
    ]


def edited(name: str, paths: Sequence[str], bench: str) -> list[str]:
    """Say which files of one folder another program edited, and what to do about it."""
    if not paths:
        return []
    ways = {
        "Published": f"bench repair {bench} --published adopt|restore",
        "Draft": f"draft rescan {bench} --adopt|--revert",
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
    rows = (
        ("files of Published", "file_bytes"),
        ("contents of every version kept, each once", "content_bytes"),
        ("folders on this machine", "folder_bytes"),
        ("  Published's", "published_bytes"),
        ("  the Draft's", "draft_bytes"),
        ("  rescued from other programs", "salvage_bytes"),
    )
    door.show(
        ask(door, "WorkbenchGetSize", bench),
        lambda v: table([(what, str(v[key])) for what, key in rows], ("", "bytes")),
    )


@bench_group.command()
@BENCH
@click.argument("name")
@pass_door
def rename(door: Door, bench: str, name: str) -> None:
    """Give a workbench another NAME."""
    door.show(ask(door, "WorkbenchRename", bench, new_name=name), lambda _: "renamed")


@bench_group.command()
@BENCH
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_door
def delete(door: Door, bench: str, yes: bool) -> None:
    """Throw a workbench away; `bench undelete` takes it back."""
    with door.shop() as shop:
        bench_id = bench_of(shop, bench)
        if not yes:
            door.confirm(f"Delete {bench_id}?")
        done = shop.call("WorkbenchDelete", {"workbench_id": bench_id, "confirm": bench_id})
    door.show(done, lambda _: f"deleted; `backshop bench undelete {bench_id}` takes it back")


@bench_group.command()
@BENCH
@pass_door
def undelete(door: Door, bench: str) -> None:
    """Take a workbench out of the trash."""
    door.show(ask(door, "WorkbenchUndelete", bench), lambda _: "it is back")


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
    mode = "clone_files_and_context_no_chat" if with_context else "clone_files_only"
    mode = "clone_all" if with_chat or message else mode
    request = {"mode": mode, **({"name": name} if name else {})}
    request |= {"from_message_id": message} if message else {}
    door.show(ask(door, "WorkbenchFork", bench, **request), lambda v: str(v["workbench_id"]))


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
    request: dict[str, Any] = {
        "source_paths": [str(path.expanduser().absolute()) for path in sources],
        "recursive": recursive,
        "on_conflict": on_conflict,
    }
    if dest_dir is not None:
        request["dest_dir"] = dest_dir
    done = ask(door, "WorkbenchFilesAdd", bench, **request)
    door.show(done, _added)
    named = set(request["source_paths"])
    if any(_is_refused(one) for one in done["add_results"] if one["source_path"] in named):
        raise click.exceptions.Exit(1)


@bench_group.command()
@BENCH
@click.argument("paths", nargs=-1, required=True)
@pass_door
def remove(door: Door, bench: str, paths: tuple[str, ...]) -> None:
    """Take PATHS out of Published; a checkpoint is kept."""
    door.show(
        ask(door, "WorkbenchFilesRemove", bench, workbench_paths=list(paths)),
        lambda value: _results(value["remove_results"]),
    )


@bench_group.command("rename-file")
@BENCH
@click.argument("path")
@click.argument("new_path")
@pass_door
def rename_file(door: Door, bench: str, path: str, new_path: str) -> None:
    """Give a Published file another path."""
    done = ask(door, "WorkbenchFileRename", bench, path=path, new_path=new_path)
    door.show(done, lambda value: f"now {clean(value['path'])}")


@bench_group.command()
@BENCH
@click.option("--published", "view", flag_value="published", help="Published, even with a Draft.")
@pass_door
def files(door: Door, bench: str, view: str | None) -> None:
    """List the files of a workbench."""
    request = {"view": view} if view else {}
    done = ask(door, "WorkbenchFilesList", bench, **request)
    lost = [one for one in done["files"] if one.get("unreadable_reason") in LOST]
    headings: tuple[str, ...] = ("file", "kind", "bytes", "draft", *(["content"] if lost else []))

    def row(one: dict[str, Any]) -> tuple[str, ...]:
        plain = (one["path"], one["kind"], str(one["size"]), one.get("draft_status", ""))
        return (*plain, LOST.get(one.get("unreadable_reason", ""), "")) if lost else plain

    door.show(done, lambda value: table([row(one) for one in value["files"]], headings))
    if lost:
        raise click.exceptions.Exit(1)


@bench_group.command()
@BENCH
@click.argument("destination", type=click.Path(path_type=Path))
@click.argument("paths", nargs=-1)
@pass_door
def extract(door: Door, bench: str, destination: Path, paths: tuple[str, ...]) -> None:
    """Copy Published files (all, or PATHS) to the folder DESTINATION."""
    request: dict[str, Any] = {"destination_dir": str(destination.expanduser().absolute())}
    if paths:
        request["workbench_paths"] = list(paths)
    done = ask(door, "WorkbenchFilesExtract", bench, **request)
    door.show(done, lambda value: _results(value["extract_results"]))
    if any(one["status"] == "failed" for one in done["extract_results"]):
        raise click.exceptions.Exit(1)


@bench_group.command()
@BENCH
@click.argument("profile", required=False)
@pass_door
def limits(door: Door, bench: str, profile: str | None) -> None:
    """Show the limits of a workbench, or choose a PROFILE."""
    scope = (
        ask(door, "WorkbenchSetLimits", bench, profile=profile)
        if profile
        else ask(door, "WorkbenchGetScope", bench)
    )
    door.show(
        scope,
        lambda v: table(
            [(name, str(value)) for name, value in v["limits"].items()], (v["profile"], "")
        ),
    )


@bench_group.command()
@BENCH
@click.argument("value", metavar="[rpi|compat]", required=False, type=click.Choice(FLOWS))
@pass_door
def flow(door: Door, bench: str, value: str | None) -> None:
    """Show how turns of a workbench are executed, or choose it for its next turn.

    rpi: research, a plan, its items one by one with tools, a summary.
    compat: a plain answer, then one set of changes; for models that cannot use tools.
    """
    with door.shop() as shop:
        request = {"workbench_id": bench_of(shop, bench)}
        if value is not None:
            shop.call("WorkshopSetFlow", {**request, "flow": value})
        found = shop.call("WorkshopGetState", request)
    door.show({"flow": found["flow"]}, lambda one: str(one["flow"]))


@bench_group.command()
@BENCH
@click.option("--export", "target", type=click.Path(path_type=Path), help="Write JSON Lines here.")
@pass_door
def audit(door: Door, bench: str, target: Path | None) -> None:
    """Show everything that happened to a workbench."""
    entries: list[dict[str, Any]] = []
    after = 0
    with door.shop() as shop:
        bench_id = bench_of(shop, bench)
        while True:
            request = {"workbench_id": bench_id, "after_seq": after, "limit": 1000}
            page = shop.call("AuditList", request)
            entries += page["entries"]
            after = page.get("next_after_seq")
            if after is None:
                break
    if target is not None:
        _export(target, entries)
    rows = [(e["at"], e["kind"], _who(e), ", ".join(e["paths"][:3])) for e in entries]
    door.show({"entries": entries}, lambda _: table(rows, ("when", "what", "who", "files")))


def _who(entry: dict[str, Any]) -> str:
    """Return who did it and how it came in; what 0.1.0 recorded says the kind alone."""
    by, actor = entry.get("by"), str(entry["actor"])
    name = actor if actor == "system" else who(by) or actor
    ways = [by[key] for key in ("door", "worker") if key in by] if by else []
    return f"{name} ({' '.join(ways)})" if ways else name


@bench_group.command()
@BENCH
@click.option("--published", type=click.Choice(["restore", "adopt"]), default="restore")
@pass_door
def repair(door: Door, bench: str, published: str) -> None:
    """Put Published's own files back, or take over edits made there by other programs."""
    done = ask(door, "PublishedRepair", bench, mode=published)
    door.show(
        done,
        lambda value: "\n".join(["repaired", *(f"kept: {p}" for p in value["salvaged"])]),
    )


def _export(target: Path, entries: list[dict[str, Any]]) -> None:
    import json

    lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    write_lines(target, lines, is_new=True)


def _benches(found: BenchList) -> str:
    rows = [
        (
            one.workbench_id,
            one.name,
            str(one.file_count),
            "Draft waits" if one.has_draft else "",
            one.health if one.health != "ok" else "",
        )
        for one in found.workbenches
    ]
    if not rows:
        return "no workbenches yet; `backshop bench create NAME` makes one"
    return table(rows, ("id", "name", "files", "", ""))


NOT_ADDED = {  # why a file was not taken, for people (B6.7)
    "directory": "a folder; --recursive takes it with all it holds",
    "inside_home": "inside Backshop's own folder",
    "symlink": "a symbolic link",
    "unreadable": "not there, or not readable",
}


def _is_refused(one: dict[str, Any]) -> bool:
    """Say whether a file was not taken, other than by the person's own `--on-conflict skip`."""
    return one["status"] == "skipped" and one.get("reason") != "duplicate"


def _added(value: dict[str, Any]) -> str:
    rows = []
    for one in value["add_results"]:
        reason = one.get("reason", "")
        why = one.get("detail") or NOT_ADDED.get(reason, reason)
        rows.append((one["status"], one.get("path", one["source_path"]), why))
    return table(rows, ("", "file", ""))


def _results(results: list[dict[str, Any]]) -> str:
    return table(
        [(one["status"], one["path"], one.get("reason", "")) for one in results], ("", "file", "")
    )
