"""Review in the terminal: what a Draft changes, and what becomes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import click

from backshop.base.acting import who
from backshop.base.codec import encode
from backshop.base.errors import NotFound
from backshop.base.labels import headline
from backshop.bench import (
    Bench,
    BenchBusy,
    Body,
    Cells,
    ChangedFile,
    ChangeEntry,
    ChangesAsked,
    ChangeSet,
    Diff,
    Differ,
    DraftFolder,
    Published,
    answers,
    requests,
    views,
)
from backshop.formats import TableDiff, TextDiff

from ..bench import BENCH, ask, bench_of, edited
from ..door import Door, DoorCommand, DoorGroup, clean, clean_lines, fact_lines, pass_door, table
from ..folder_text import written_lines
from .also import also_lines, cell_text, line_texts, moved_from
from .reviewed import recall, remember

if TYPE_CHECKING:
    from backshop.app import Backshop, BenchWorkshop

Facade = TypeVar("Facade")
Asked = TypeVar("Asked")
Answered = TypeVar("Answered")
Paged = TextDiff | TableDiff | Cells
_ASKED_CHARS = 160
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
@click.option(
    "--since",
    type=click.Choice(["start", "last"]),
    default="start",
    help="All of it, or what changed since changes were asked for last.",
)
@pass_door
def review(door: Door, bench: str, path: str | None, confirm_deletions: bool, since: str) -> None:
    """Show what the Draft changes, or the difference of one PATH."""
    looked = "last_look" if since == "last" else None
    with door.shop() as shop:
        at = shop.workshop(bench)
        if path is not None:
            about = views.ReviewPath(workbench_id=at.id, path=path, since=looked)
            whole, notes = whole_diff(shop, about)
            gaps = _without_result(shop, about)
            said = [*(f"# {clean(note)}" for note in notes), diff_text(whole), *gap_lines(gaps)]
            value = {**encode(whole), "notes": notes, "uncomputed": gaps}
            door.show(value, lambda _: "\n".join(said))
            return
        found = at.review(confirm_deletions=confirm_deletions, since=looked)
        draft = shop.ask(Bench.draft_get_state, requests.BenchRequest(workbench_id=at.id))
        is_round = bool(draft.rounds)
        door.show(found, lambda value: change_set_text(value, at.id, is_round=is_round))
        if looked is None or _has_seen_the_rest(shop, at.id, found):
            remember(shop.config.home, at.id, found)


def _has_seen_the_rest(shop: Backshop, bench_id: str, found: ChangeSet) -> bool:
    """Whether all that is not in a list since the last look was shown here before (B9.15)."""
    draft = shop.ask(Bench.draft_get_state, requests.BenchRequest(workbench_id=bench_id))
    seen = recall(shop.config.home, bench_id, found.draft_id)
    return draft.last_round is not None and seen in (draft.last_round.tree, found.tree)


@click.command(cls=DoorCommand)
@BENCH
@click.option("--tree", help="The tree that was reviewed; refused if the Draft changed since.")
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_door
def publish(door: Door, bench: str, tree: str | None, dry_run: bool, yes: bool) -> None:
    """Make the Draft Published; a checkpoint of what it replaces is kept.

    Without --tree: what `backshop review` showed last, if this Draft was reviewed. A person is
    shown the files and asked; where there is no terminal, --yes says that it is meant.
    """
    if tree is not None and not re.fullmatch("[0-9a-f]{64}", tree):
        raise click.UsageError("--tree takes the id that `backshop review BENCH` ends with")
    with door.shop() as shop:
        bench_id = bench_of(shop, bench)
        draft = shop.ask(Bench.draft_get_state, requests.BenchRequest(workbench_id=bench_id))
        if tree is None:
            tree = recall(shop.config.home, bench_id, draft.draft_id)
        if draft.last_round is not None:
            asked = requests.ReviewGetChangeSet(workbench_id=bench_id, limit=1)
            for line in request_lines(shop.ask(Bench.review_get_change_set, asked)):
                click.echo(line, err=True)
        wish = requests.DraftPublish(workbench_id=bench_id, reviewed_tree=tree, dry_run=dry_run)
        if not (yes or dry_run):
            shown = shop.ask(Bench.draft_publish, replace(wish, dry_run=True))
            door.require_person("publishing")  # what is wrong with the Draft is said first (S4.5)
            click.echo("\n".join(changed_lines(shown.changed)), err=True)
            door.confirm("Publish this?", "publishing")
            wish = replace(wish, reviewed_tree=shown.tree)  # what was shown, or nothing
        door.show(shop.ask(Bench.draft_publish, wish), published_text)


def published_text(done: Published) -> str:
    """Return for people what was published, or would be."""
    lines = changed_lines(done.changed)
    if done.no_changes and done.dry_run:
        return "there is nothing to publish; publishing ends the Draft"
    if done.dry_run:
        return "\n".join([*lines, "would be published; nothing was changed"])
    if done.no_changes:
        lines = ["there was nothing to publish; the Draft is gone"]
    else:
        lines.append(f"published: generation {done.published_generation}")
    if done.damaged:
        lines.append(f"still damaged: the contents of {', '.join(map(clean, done.damaged))}")
    lines += proof_lines(done.changed)
    if done.checkpoint_id:
        lines.append(f"what was there before is kept as {done.checkpoint_id}")
    if done.folder is not None:
        lines += written_lines(done.folder)
    return "\n".join(lines)


@click.command(cls=DoorCommand)
@BENCH
@click.argument("paths", nargs=-1)
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_door
def discard(door: Door, bench: str, paths: tuple[str, ...], yes: bool) -> None:
    """Throw the Draft away, or only what it did to PATHS."""
    with door.shop() as shop:
        at = shop.workshop(bench)
        if not paths:
            own = requests.BenchRequest(workbench_id=at.id)
            if not yes and shop.ask(Bench.draft_get_state, own).has_draft:
                door.confirm("Throw the Draft away?", "discarding")
            thrown = shop.ask(Bench.draft_discard, own)
            back = f"\nundo: backshop draft undo {at.id}" if thrown.discarded_draft_id else ""
            door.show(thrown, lambda _: f"discarded; Published is as it was{back}")
            return
        files = _changed(at, paths)
        for path in files:
            wish = requests.DraftPath(workbench_id=at.id, path=path)
            done = shop.ask(Bench.draft_revert_path, wish)
    said = f"{len(files)} file(s) are as they were when the Draft began"
    again = "" if len(files) == 1 else ", once for each file"
    door.show(done, lambda _: f"{said}\nundo: backshop draft undo {at.id}{again}")


def whole_diff(shop: Backshop, about: views.ReviewPath) -> tuple[Diff, tuple[str, ...]]:
    """Return the difference of one file with all its pages, and the notes of its writes (B12.2).

    Begun anew where the Draft changes meanwhile, so that no two pages are of different contents.
    """
    for _ in range(_TRIES):
        shown = _content(shop, about)
        found = shop.ask(Differ.diff, about)
        body = found.body
        while isinstance(body, Paged) and body.cursor is not None:
            page = shop.ask(Differ.diff, replace(about, cursor=str(body.cursor))).body
            body = _joined(body, page)
        if _content(shop, about) == shown:
            notes = shop.ask(Bench.review_get_summary, about).notes if shown else ()
            return replace(found, body=body), notes
    raise BenchBusy("the Draft changes faster than it can be shown", reason="draft_changed")


def _without_result(shop: Backshop, about: views.ReviewPath) -> tuple[str, ...]:
    """Return the formulas of a file that have no result since the Draft changed it (F24.15)."""
    try:
        return shop.ask(Bench.review_get_entry, about).uncomputed
    except NotFound as error:
        if error.reason != "not_found":
            raise
        return ()


def gap_lines(gaps: Sequence[str]) -> list[str]:
    """Return for people where formulas have no result, and why."""
    return [f"no result: {clean(gap)}" for gap in gaps]


def _content(shop: Backshop, about: views.ReviewPath) -> tuple[str | None, str | None] | None:
    """Return what is compared; None where the Draft does not change the path."""
    try:
        entry = shop.ask(Bench.review_get_entry, about)
    except NotFound as error:
        if error.reason != "not_found":
            raise
        return None
    return entry.sha256_before, entry.sha256_after


def _joined(body: Paged, page: Body) -> Body:
    """Return a difference with its next page behind what is there, if that was found in time."""
    match body, page:
        case TextDiff(), TextDiff(too_large=False):
            return replace(body, hunks=(*body.hunks, *page.hunks), cursor=page.cursor)
        case TableDiff(), TableDiff(too_large=False):
            return replace(body, rows=(*body.rows, *page.rows), cursor=page.cursor)
        case Cells(), Cells(too_large=False):
            sheets = [
                {**sheet, "cells": [*sheet["cells"], *more["cells"]]}
                for sheet, more in zip(body.sheets, page.sheets, strict=True)
            ]
            return replace(body, sheets=sheets, more=page.more, cursor=page.cursor)
    return replace(body, cursor=None, too_large=True)


def changed_lines(changed: Sequence[ChangedFile]) -> list[str]:
    """Return changed files for people: sign, path, sizes."""
    return [f"{SIGNS[c.kind]} {clean(c.path)}{_sizes(c)}" for c in changed]


def _sizes(change: ChangedFile) -> str:
    before, after = change.bytes_before, change.bytes_after
    if before is None or after is None:
        return f"  ({after if before is None else before} bytes)"
    return f"  ({before} → {after} bytes)"


def proof_lines(changed: Sequence[ChangedFile], now: str = "as published") -> list[str]:
    """Say what was read back from the folder after a change."""
    wrong = [clean(c.path) for c in changed if c.verified is False]
    proved = sum(c.verified is True for c in changed)
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


@click.group(
    cls=DoorGroup,
    lazy={
        "changes": ("draft.selection:changes", "List the changes of a file one by one."),
        "leave": ("draft.selection:leave", "Leave changes out of the Draft."),
        "take": ("draft.selection:take", "Take changes in again that were left out."),
    },
)
def draft() -> None:
    """Look at a Draft, or correct it by hand."""


@draft.command("show")
@BENCH
@pass_door
def draft_show(door: Door, bench: str) -> None:
    """Say whether there is a Draft and how old it is."""
    found = ask(door, bench, Bench.draft_get_state, requests.BenchRequest)
    rows = [(name, str(value)) for name, value in encode(found).items()]
    back = "; the one discarded last comes back with `backshop draft undo`"
    none = f"there is no Draft{back if found.discarded_draft_id else ''}"
    shown = table(rows, ("draft", "")) if found.has_draft else none
    door.show(found, lambda _: shown)


@draft.command("delete")
@BENCH
@click.argument("path")
@pass_door
def draft_delete(door: Door, bench: str, path: str) -> None:
    """Delete PATH in the Draft."""
    done = ask(door, bench, Bench.draft_delete_path, partial(requests.DraftPath, path=path))
    door.show(done, lambda _: "deleted in the Draft")


@draft.command("rename")
@BENCH
@click.argument("path")
@click.argument("new_path")
@pass_door
def draft_rename(door: Door, bench: str, path: str, new_path: str) -> None:
    """Rename PATH in the Draft."""
    wish = partial(requests.DraftPath, path=path, new_path=new_path)
    door.show(ask(door, bench, Bench.draft_rename_path, wish), lambda _: "renamed in the Draft")


@draft.command("undo")
@BENCH
@pass_door
def draft_undo(door: Door, bench: str) -> None:
    """Take back what was last done to the Draft by hand: that it was discarded, a path reverted,
    deleted or renamed, changes left out or taken."""
    with door.shop() as shop:
        own = requests.BenchRequest(workbench_id=shop.workshop(bench).id)
        if shop.ask(Bench.draft_get_state, own).discarded_draft_id:
            back = shop.ask(Bench.draft_bring_back, own)
            again = f"review it: backshop review {own.workbench_id}"
            door.show(back, lambda _: f"the discarded Draft is back\n{again}")
            return
        done = shop.ask(Bench.draft_undo, requests.DraftUndo(workbench_id=own.workbench_id))
    door.show(done, lambda v: f"again as the Draft had it: {', '.join(map(clean, v.paths))}")


@draft.command("rescan")
@BENCH
@click.option("--adopt", "mode", flag_value="adopt", help="Take outside edits into the Draft.")
@click.option("--revert", "mode", flag_value="revert", help="Put the Draft's own files back.")
@pass_door
def draft_rescan(door: Door, bench: str, mode: str | None) -> None:
    """Deal with edits that other programs made in the Draft's folder."""
    if mode is None:
        raise click.UsageError("say --adopt or --revert")
    done = ask(door, bench, Bench.draft_rescan, partial(requests.RepairMode, mode=mode))
    door.show(done, lambda v: "\n".join(["done", *(f"kept: {p}" for p in v.salvaged)]))


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
    wish = partial(requests.DraftFolderChoice, whole=whole)
    door.show(ask(door, bench, Bench.draft_folder, wish), _folder_lines)


def _folder_lines(found: DraftFolder) -> str:
    held = "every file of the Draft" if found.whole else "the files that the Draft changes"
    outside = found.outside_changes
    return "\n".join(
        [
            *([found.folder] if found.folder else ()),
            f"{found.files} file(s): {held}",
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
    choices = (
        requests.PathChoice(path=p, keep=word) for word, paths in groups.items() for p in paths
    )
    wish = partial(requests.PublishedReconcile, keep=keep, choices=tuple(choices), dry_run=dry_run)

    def human(done: answers.Reconciled) -> str:
        lines = [
            f"{clean(one.path)}: {one.keep}"
            + (f", ours as {clean(one.copy_path)}" if one.copy_path else "")
            for one in done.resolved
        ]
        end = "nothing was changed" if dry_run else "the Draft begins from what is there now"
        return "\n".join([*(lines or ["nobody else changed anything"]), end])

    door.show(ask(door, bench, Bench.published_reconcile, wish), human)


def change_set_text(found: ChangeSet, bench_id: str, *, is_round: bool = False) -> str:
    """Return a change set for people, and how to publish it."""
    lines = change_lines(found, is_round=is_round)
    outside = edited("Draft", found.outside_changes, bench_id)
    if outside:  # publishing is refused until that is settled
        return "\n".join([*lines, *outside])
    if found.open_comments:
        lines.append(f"{found.open_comments} open comment(s): backshop comment list {bench_id}")
    lines += request_lines(found)
    lines.append(f"publish exactly this: backshop publish {bench_id} --tree {found.tree}")
    return "\n".join(lines)


def request_lines(found: ChangeSet) -> list[str]:
    """Return the requests for changes that nobody took up, and whether files were written since."""
    return [
        f"you asked for this and nobody took it up: {headline(clean(one.text), _ASKED_CHARS)}"
        + (f" ({_written_text(one)})" if one.written_since else "")
        for one in found.requests
    ]


def _written_text(one: ChangesAsked) -> str:
    names = ", ".join(sorted({clean(each.agent) for each in one.written_since if each.agent}))
    paths = list(dict.fromkeys(clean(each.path) for each in one.written_since))
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return f"written since: {', '.join(paths[:3])}{more}" + (f", by {names}" if names else "")


def change_lines(found: ChangeSet, *, is_round: bool = False) -> list[str]:
    """Return a change set for people: the files, how many, what is true of the turn.

    After a round what is true of the turn is true of the round alone, which is said.
    """
    facts = fact_lines(found.draft_facts, found.draft_facts_first)
    ahead = found.draft_facts_first or 0
    partly = ["since changes were asked for last:"] * (found.reference_source == "last_look")
    lines = [*partly, *facts[:ahead], *(_entry_text(one) for one in found.entries)]
    number = found.counts
    lines.append(
        f"{number.added} added, {number.modified} modified, {number.renamed} renamed, "
        f"{number.deleted} deleted"
    )
    if is_round and facts[ahead:]:
        lines.append("in the last round:")
    lines += facts[ahead:]
    lines += [f"nothing of {clean(path)} is left in" for path in found.left_whole]
    writers = [told for one in found.writers if (told := who(one))]
    if writers:
        lines.append(f"written by {clean(', '.join(writers))}")
    return lines


def _entry_text(one: ChangeEntry) -> str:
    line = f"{SIGNS[one.kind]} {clean(one.path)}"
    if one.old_path:
        line += f"  (was {clean(one.old_path)})"
    if one.collateral:
        line += f"  ! {one.collateral} change(s) beyond the places its writes name"
    if one.new_errors:
        first = ", ".join(map(clean, one.new_errors[:3]))
        more = one.new_error_count - len(one.new_errors[:3])
        line += f"  ! new errors: {first}" + (f" and {more} more" if more else "")
    if one.uncomputed_count:
        line += f"  ! {one.uncomputed_count} formula cell(s) without a result"
    if one.left_out:
        line += f"  ({one.left_out} change(s) left out)"
    if one.kind == "DELETED" and not one.deletion_confirmed:
        line += "  (not confirmed)"
    for note in (one.summary or "").splitlines():
        line += f"\n    {clean(note)}"
    for gap in gap_lines(one.uncomputed):
        line += f"\n    {gap}"
    return line


def diff_text(found: Diff) -> str:
    """Return one file's difference for people, and what changed beside it."""
    notes = (f"note: {clean(one)}" for one in found.notes)
    return "\n".join([_body_text(found), *also_lines(found.also), *notes])


def _body_text(found: Diff) -> str:
    match found.body:
        case TextDiff() as body:
            return "\n".join(_text_lines(body)) or "no difference in the text"
        case Cells() as body:
            return "\n".join(_cell_lines(body)) or "no difference in the cells"
        case TableDiff() as body:
            return "\n".join(_row_lines(body)) or "no difference in the rows"
    return json.dumps(encode(found)["body"], ensure_ascii=False, indent=1)


def _text_lines(body: TextDiff) -> Iterator[str]:
    signs = {"context": " ", "added": "+", "removed": "-"}
    yield from (_FLAGS[flag] for flag in body.flags)
    if body.too_large:
        came = f"about {body.added} line(s) came and {body.removed} went"
        yield f"too large to compare line by line: {came}"
    for hunk in body.hunks:
        yield f"@@ -{hunk.old_start} +{hunk.new_start} @@"
        yield from (f"{signs[line.type]}{clean_lines(line.text)}" for line in hunk.lines)


def _cell_lines(body: Cells) -> Iterator[str]:
    if body.too_large:
        yield "this workbook is too large to compare cell by cell"
    yield from line_texts(body.lines, body.following)
    for sheet in body.sheets:
        name = clean(sheet["sheet"])
        if sheet["added"] or sheet["removed"]:
            yield f"{'+' if sheet['added'] else '-'} sheet {name}"
        if sheet.get("renamed_from"):
            yield f"> sheet {name}  (was {clean(sheet['renamed_from'])})"
        for cell in sheet["cells"]:
            yield f"~ {name}!{cell['cell']}{moved_from(cell)}  {cell_text(cell)}"
    for sheet in body.sheets:
        if sheet["cell_count"]:
            yield f"{clean(sheet['sheet'])}: {sheet['cell_count']} changed cell(s)"
    if body.more:
        yield f"and {body.more} more cells"


def _row_lines(body: TableDiff) -> Iterator[str]:
    signs = {"added": "+", "removed": "-", "changed": "~"}
    for row in body.rows:
        if row.kind == "changed":
            words = [f"{clean(c)}: {clean(b or '')} → {clean(a or '')}" for c, b, a in row.cells]
        else:
            words = [clean(a if a is not None else b or "") for _, b, a in row.cells]
        yield f"{signs[row.kind]} row {row.after_row or row.before_row}  {', '.join(words)}"
    if body.cursor:
        yield f"and more of {body.row_count} rows"
