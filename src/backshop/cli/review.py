"""Review in the terminal: what a Draft changes, and what becomes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from backshop.base.acting import who
from backshop.base.codec import encode
from backshop.base.errors import NotFound

from .also import also_lines
from .bench import BENCH, ask, bench_of, edited
from .door import Door, DoorCommand, DoorGroup, clean, clean_lines, pass_door, table
from .reviewed import recall, remember

if TYPE_CHECKING:
    from backshop.app import Backshop, BenchWorkshop

_TRIES = 5  # at showing a Draft that others write to
_FLAGS = {
    "eol_changed": "the ends of the lines changed",
    "no_newline_old": "there was no newline at the end",
    "no_newline_new": "there is no newline at the end",
    "encoding_changed": "the encoding changed",
    "bom_changed": "the byte order mark changed",
}
SIGNS = {"ADDED": "+", "MODIFIED": "~", "DELETED": "-", "RENAMED": ">"}


@click.command(cls=DoorCommand)
@BENCH
@click.argument("path", required=False)
@click.option("--confirm-deletions", is_flag=True, help="Agree to every deletion of the Draft.")
@pass_door
def review(door: Door, bench: str, path: str | None, confirm_deletions: bool) -> None:
    """Show what the Draft changes, or the difference of one PATH."""
    with door.shop() as shop:
        at = shop.workshop(bench)
        if path is not None:
            found = _whole_diff(shop, {"workbench_id": at.id, "path": path})
            door.show(found, lambda value: "\n".join([*_note_lines(value), diff_text(value)]))
            return
        found = encode(at.review(confirm_deletions=confirm_deletions))
        door.show(found, lambda value: change_set_text(value, at.id))
        remember(shop.config.home, at.id, found)


@click.command(cls=DoorCommand)
@BENCH
@click.option("--tree", help="The tree that was reviewed; refused if the Draft changed since.")
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@pass_door
def publish(door: Door, bench: str, tree: str | None, dry_run: bool) -> None:
    """Make the Draft Published; a checkpoint of what it replaces is kept.

    Without --tree: what `backshop review` showed last, if this Draft was reviewed.
    """

    def human(value: dict[str, Any]) -> str:
        lines = changed_lines(value["changed"])
        if value["dry_run"]:
            return "\n".join([*lines, "would be published; nothing was changed"])
        lines.append(f"published: generation {value['published_generation']}")
        if lost := value.get("damaged"):
            lines.append(f"still damaged: the contents of {', '.join(map(clean, lost))}")
        lines += proof_lines(value["changed"])
        if value.get("checkpoint_id"):
            lines.append(f"what was there before is kept as {value['checkpoint_id']}")
        return "\n".join(lines)

    if tree is not None and not re.fullmatch("[0-9a-f]{64}", tree):
        raise click.UsageError("--tree takes the id that `backshop review BENCH` ends with")
    with door.shop() as shop:
        bench_id = bench_of(shop, bench)
        if tree is None:
            draft = shop.call("DraftGetState", {"workbench_id": bench_id})
            tree = recall(shop.config.home, bench_id, draft.get("draft_id"))
        request = {"workbench_id": bench_id, "dry_run": dry_run}
        done = shop.call("DraftPublish", request | ({"reviewed_tree": tree} if tree else {}))
    door.show(done, human)


@click.command(cls=DoorCommand)
@BENCH
@click.argument("paths", nargs=-1)
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_door
def discard(door: Door, bench: str, paths: tuple[str, ...], yes: bool) -> None:
    """Throw the Draft away, or only what it did to PATHS."""
    with door.shop() as shop:
        at = shop.workshop(bench)
        own = {"workbench_id": at.id}
        if not paths:
            if not yes and shop.call("DraftGetState", own)["has_draft"]:
                door.confirm("Throw the Draft away? It does not come back.")
            thrown = shop.call("DraftDiscard", own)
            door.show(thrown, lambda _: "discarded; Published is as it was")
            return
        files = _changed(at, paths)
        for path in files:
            done = shop.call("DraftRevertPath", {**own, "path": path})
    said = f"{len(files)} file(s) are as they were when the Draft began"
    again = "" if len(files) == 1 else ", once for each file"
    door.show(done, lambda _: f"{said}\nundo: backshop draft undo {at.id}{again}")


def _whole_diff(shop: Backshop, about: dict[str, Any]) -> dict[str, Any]:
    """Return the difference of one file with all its pages, and the notes of its writes (B12.2).

    Begun anew where the Draft changes meanwhile, so that no two pages are of different contents.
    """
    for _ in range(_TRIES):
        shown = _content(shop, about)
        found = shop.call("ReviewGetDiff", about)
        body = found["body"]
        while (cursor := body.get("cursor")) is not None:
            page = shop.call("ReviewGetDiff", {**about, "cursor": str(cursor)})["body"]
            if page.get("too_large") and not body.get("too_large"):  # not found in time
                body |= {"cursor": None, "too_large": True}
                break
            _append(body, page)
        if _content(shop, about) == shown:
            notes = shop.call("ReviewGetSummary", about)["notes"] if shown else []
            return {**found, "notes": notes}
    from backshop.bench import BenchBusy  # loaded by now

    raise BenchBusy("the Draft changes faster than it can be shown", reason="draft_changed")


def _content(shop: Backshop, about: dict[str, Any]) -> tuple[Any, ...] | None:
    """Return what is compared; None where the Draft does not change the path."""
    try:
        entry = shop.call("ReviewGetEntry", about)
    except NotFound as error:
        if error.reason != "not_found":
            raise
        return None
    return entry.get("sha256_before"), entry.get("sha256_after")


def _append(body: dict[str, Any], page: dict[str, Any]) -> None:
    """Put the next page of a difference behind what is there."""
    for key in ("hunks", "rows"):
        if key in body:
            body[key] = [*body[key], *page[key]]
    for sheet, more in zip(body.get("sheets", ()), page.get("sheets", ()), strict=True):
        sheet["cells"] = [*sheet["cells"], *more["cells"]]
    body |= {key: page.get(key) for key in ("cursor", "more") if key in body}


def _note_lines(value: dict[str, Any]) -> list[str]:
    return [f"# {clean(note)}" for note in value["notes"]]


def changed_lines(changed: list[dict[str, Any]]) -> list[str]:
    """Return changed files for people: sign, path, sizes."""
    return [f"{SIGNS[c['kind']]} {clean(c['path'])}{_sizes(c)}" for c in changed]


def _sizes(change: dict[str, Any]) -> str:
    before, after = change.get("bytes_before"), change.get("bytes_after")
    if before is None or after is None:
        return f"  ({after if before is None else before} bytes)"
    return f"  ({before} → {after} bytes)"


def proof_lines(changed: list[dict[str, Any]], now: str = "as published") -> list[str]:
    """Say what was read back from the folder after a change."""
    wrong = [clean(c["path"]) for c in changed if c.get("verified") is False]
    proved = sum(c.get("verified") is True for c in changed)
    said = [f"{proved} file(s) read back, each {now}"] if proved else []
    return [*said, *(f"not {now} in the folder: {path}" for path in wrong)]


def _changed(at: BenchWorkshop, paths: tuple[str, ...]) -> list[str]:
    """Return the names these have in the review, each file once; refuse what did not change."""
    entries = at.review().entries
    names = {one.old_path: one.path for one in entries} | {one.path: one.path for one in entries}
    for path in paths:
        if path not in names:
            raise NotFound(f"the Draft does not change {path!r}", reason="not_found")
    return list(dict.fromkeys(names[path] for path in paths))


@click.group(cls=DoorGroup)
def draft() -> None:
    """Look at a Draft, or correct it by hand."""


@draft.command("show")
@BENCH
@pass_door
def draft_show(door: Door, bench: str) -> None:
    """Say whether there is a Draft and how old it is."""
    door.show(
        ask(door, "DraftGetState", bench),
        lambda value: table([(k, str(v)) for k, v in value.items()], ("draft", "")),
    )


@draft.command("delete")
@BENCH
@click.argument("path")
@pass_door
def draft_delete(door: Door, bench: str, path: str) -> None:
    """Delete PATH in the Draft."""
    door.show(ask(door, "DraftDeletePath", bench, path=path), lambda _: "deleted in the Draft")


@draft.command("rename")
@BENCH
@click.argument("path")
@click.argument("new_path")
@pass_door
def draft_rename(door: Door, bench: str, path: str, new_path: str) -> None:
    """Rename PATH in the Draft."""
    done = ask(door, "DraftRenamePath", bench, path=path, new_path=new_path)
    door.show(done, lambda _: "renamed in the Draft")


@draft.command("undo")
@BENCH
@pass_door
def draft_undo(door: Door, bench: str) -> None:
    """Take back the last path that was reverted, deleted or renamed in the Draft by hand."""
    done = ask(door, "DraftUndo", bench)
    door.show(done, lambda v: f"again as the Draft had it: {', '.join(map(clean, v['paths']))}")


@draft.command("rescan")
@BENCH
@click.option("--adopt", "mode", flag_value="adopt", help="Take outside edits into the Draft.")
@click.option("--revert", "mode", flag_value="revert", help="Put the Draft's own files back.")
@pass_door
def draft_rescan(door: Door, bench: str, mode: str | None) -> None:
    """Deal with edits that other programs made in the Draft's folder."""
    if mode is None:
        raise click.UsageError("say --adopt or --revert")
    done = ask(door, "DraftRescan", bench, mode=mode)
    door.show(done, lambda v: "\n".join(["done", *(f"kept: {p}" for p in v["salvaged"])]))


@draft.command("folder")
@BENCH
@click.option("--all", "whole", flag_value=True, type=bool, help="Let it hold every file.")
@click.option("--changes", "whole", flag_value=False, type=bool, help="Only what changed again.")
@pass_door
def draft_folder(door: Door, bench: str, whole: bool | None) -> None:
    """Say where the Draft's folder is and what it holds.

    It holds the files that the Draft changes. The others are as in Published's folder; with --all
    they are copied here as well, until the Draft ends.
    """
    request = {} if whole is None else {"whole": whole}
    door.show(ask(door, "DraftFolder", bench, **request), _folder_lines)


def _folder_lines(value: dict[str, Any]) -> str:
    held = "every file of the Draft" if value["whole"] else "the files that the Draft changes"
    outside = value["outside_changes"]
    return "\n".join(
        [
            *([str(value["folder"])] if value.get("folder") else ()),
            f"{value['files']} file(s): {held}",
            *(f"changed by another program: {clean(path)}" for path in outside),
            *(["`backshop draft rescan` takes that over or puts it back"] if outside else ()),
        ]
    )


@draft.command("reconcile")
@BENCH
@click.option(
    "--keep",
    type=click.Choice(["theirs", "ours", "both"]),
    required=True,
    help="Whose version the Draft goes on with.",
)
@click.option("--theirs", multiple=True, metavar="PATH", help="Keep theirs of this path.")
@click.option("--ours", multiple=True, metavar="PATH", help="Keep ours of this path.")
@click.option("--both", multiple=True, metavar="PATH", help="Keep both of this path.")
@click.option("--dry-run", is_flag=True, help="Only say what would be kept.")
@pass_door
def draft_reconcile(
    door: Door,
    bench: str,
    keep: str,
    theirs: tuple[str, ...],
    ours: tuple[str, ...],
    both: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Bring the Draft onto what other programs made of Published, and go on."""
    groups = {"theirs": theirs, "ours": ours, "both": both}
    choices = [{"path": p, "keep": word} for word, paths in groups.items() for p in paths]
    request = {"keep": keep, "choices": choices, "dry_run": dry_run}

    def human(value: dict[str, Any]) -> str:
        lines = [
            f"{clean(one['path'])}: {one['keep']}"
            + (f", ours as {clean(one['copy_path'])}" if one.get("copy_path") else "")
            for one in value["resolved"]
        ]
        end = "nothing was changed" if dry_run else "the Draft begins from what is there now"
        return "\n".join([*(lines or ["nobody else changed anything"]), end])

    door.show(ask(door, "PublishedReconcile", bench, **request), human)


def change_set_text(value: dict[str, Any], bench_id: str) -> str:
    """Return a change set for people."""
    lines = []
    for one in value["entries"]:
        line = f"{SIGNS[one['kind']]} {clean(one['path'])}"
        if one.get("old_path"):
            line += f"  (was {clean(one['old_path'])})"
        if one.get("collateral"):
            line += f"  ! {one['collateral']} change(s) beyond what was asked"
        if one.get("new_errors"):
            first = ", ".join(map(clean, one["new_errors"][:3]))
            more = one["new_error_count"] - len(one["new_errors"][:3])
            line += f"  ! new errors: {first}" + (f" and {more} more" if more else "")
        if one["kind"] == "DELETED" and not one.get("deletion_confirmed"):
            line += "  (not confirmed)"
        for note in (one.get("summary") or "").splitlines():
            line += f"\n    {clean(note)}"
        lines.append(line)
    number = value["counts"]
    lines.append(
        f"{number['added']} added, {number['modified']} modified, {number['renamed']} renamed, "
        f"{number['deleted']} deleted"
    )
    lines += [f"| {clean(line)}" for line in value.get("draft_facts") or ()]
    writers = [told for one in value.get("writers", ()) if (told := who(one))]
    if writers:
        lines.append(f"written by {clean(', '.join(writers))}")
    outside = edited("Draft", value.get("outside_changes") or (), bench_id)
    if outside:  # publishing is refused until that is settled
        return "\n".join([*lines, *outside])
    lines.append(f"publish exactly this: backshop publish {bench_id} --tree {value['tree']}")
    return "\n".join(lines)


def diff_text(value: dict[str, Any]) -> str:
    """Return one file's difference for people, and what changed beside it."""
    return "\n".join([_body_text(value), *also_lines(value.get("also") or ())])


def _body_text(value: dict[str, Any]) -> str:
    body = value["body"]
    if value["strategy"] == "text":
        signs = {"context": " ", "added": "+", "removed": "-"}
        lines = [_FLAGS[flag] for flag in body["flags"]]
        if body["too_large"]:
            stats = body["stats"]
            lines.append(
                f"too large to compare line by line: about {stats['added']} line(s) came and "
                f"{stats['removed']} went"
            )
        for hunk in body["hunks"]:
            lines.append(f"@@ -{hunk['old_start']} +{hunk['new_start']} @@")
            lines += [f"{signs[row['type']]}{clean_lines(row['text'])}" for row in hunk["lines"]]
        return "\n".join(lines) or "no difference in the text"
    if value["strategy"] == "cells":
        return "\n".join(_cell_lines(body)) or "no difference in the cells"
    if value["strategy"] == "table":
        return "\n".join(_row_lines(body)) or "no difference in the rows"
    return json.dumps(body, ensure_ascii=False, indent=1)


def _cell_lines(body: dict[str, Any]) -> Iterator[str]:
    if body["too_large"]:
        yield "this workbook is too large to compare cell by cell"
    for sheet in body["sheets"]:
        name = clean(sheet["sheet"])
        if sheet["added"] or sheet["removed"]:
            yield f"{'+' if sheet['added'] else '-'} sheet {name}"
        if sheet.get("renamed_from"):
            yield f"> sheet {name}  (was {clean(sheet['renamed_from'])})"
        for cell in sheet["cells"]:
            yield f"~ {name}!{cell['cell']}  {cell_text(cell)}"
    for sheet in body["sheets"]:
        if sheet["cell_count"]:
            yield f"{clean(sheet['sheet'])}: {sheet['cell_count']} changed cell(s)"
    if body["more"]:
        yield f"and {body['more']} more cells"


def cell_text(cell: Mapping[str, Any]) -> str:
    """Return what changed in a cell for people."""
    formats = clean("; ".join(cell.get("formats") or ()))
    if cell["kind"] == "style":
        return f"{cell['what']}: {formats}"
    absent = "(not stored)" if cell["kind"] == "result" else "(empty)"
    said = f"{cell['what']}: {_pair(cell, absent)}"
    if cell.get("formula"):
        said += f"  {clean(cell['formula'])}"
    if cell.get("results"):
        said += f"  (result {_pair(cell['results'], '(none)')})"
    return f"{said}  [{formats}]" if formats else said


def _pair(sides: Mapping[str, Any], absent: str) -> str:
    texts = (sides.get(side) for side in ("before", "after"))
    return " → ".join(absent if one is None else clean(str(one)) for one in texts)


def _row_lines(body: dict[str, Any]) -> Iterator[str]:
    signs = {"added": "+", "removed": "-", "changed": "~"}
    for row in body["rows"]:
        pairs = [(one["column"], one.get("before"), one.get("after")) for one in row["cells"]]
        if row["kind"] == "changed":
            words = [f"{clean(c)}: {clean(b or '')} → {clean(a or '')}" for c, b, a in pairs]
        else:
            words = [clean(a if a is not None else b or "") for _, b, a in pairs]
        number = row.get("after_row") or row.get("before_row")
        yield f"{signs[row['kind']]} row {number}  {', '.join(words)}"
    if body.get("cursor"):
        yield f"and more of {body['row_count']} rows"
