"""`/bench/{id}/checkpoints`: the history of Published, compared and brought back (U5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from backshop.base.labels import count_text, headline
from backshop.bench import Bench, Cells, Diff
from backshop.bench.answers import (
    ChangedFile,
    CheckpointInfo,
    Compared,
    FolderState,
    Restored,
)
from backshop.bench.requests import (
    CheckpointCompare,
    CheckpointGetDiff,
    CheckpointId_,
    CheckpointRestore,
    CheckpointsList,
)
from backshop.formats import TableDiff, TextDiff

from ..render import kind_by_name
from . import diffs
from .kit import Page, Visit, bench_context, route, tried
from .review import any_view

LISTED = 60
ON_ENTRY = 6  # files that an entry names
COMPARED = 500
COUNTED = 20  # files of a comparison whose differences are counted on its page
TITLE_CHARS = 110
NOW = "now"
_BY_HAND = {  # what the engine kept a checkpoint before, once it was done
    "before_remove": "Removed {} by hand",
    "before_replace": "Replaced {} by hand",
    "before_rename": "Renamed a file by hand",
    "before_adopt": "Took in what another program changed",
}
_PICTURED = ("xlsx", "docx", "pptx", "pdf", "image", "odt")
_BEFORE = "Before "
_BEFORE_RESTORE = "Before restoring "


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A state of Published: what led to it, what it changed, and how it is brought back."""

    info: CheckpointInfo | None
    """The checkpoint that holds it; None: it is Published now."""
    title: str
    led: str | None
    """What led to it, where its title is the name that a person gave it."""
    kept: str | None
    """When it was kept by hand, or otherwise where nothing is known of what led to it."""
    keeper: str | None
    at: str | None
    who: str | None
    before: str | None
    """The checkpoint it came after, for what changed with it."""
    changes: Compared | None
    has_more: bool
    """Whether more happened than its title says before the next one that is kept."""
    kept_as: tuple[str, ...]
    """Every checkpoint that holds it."""

    @property
    def key(self) -> str:
        """How addresses of this page name it."""
        return NOW if self.info is None else self.info.checkpoint_id

    @property
    def pictured(self) -> str | None:
        """The first file that changed with it and can be drawn (U5.24)."""
        found = (
            (one.path for one in self.changes.entries if one.sha256_after) if self.changes else ()
        )
        return next((path for path in found if kind_by_name(path) in _PICTURED), None)

    @property
    def picture(self) -> str:
        """Where the picture of what changed in that file is to be had."""
        entries = self.changes.entries if self.changes else ()
        content = next((one.sha256_after for one in entries if one.path == self.pictured), None)
        version = "PUBLISHED" if self.info is None else self.info.checkpoint_id
        since = f"&since={self.before}" if self.before else ""
        return f"{version}/{quote(self.pictured or '')}?content={(content or '')[:16]}{since}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A state as it was kept, beside the one before it; `held` is None for what is there now."""

    held: CheckpointInfo | None
    older: CheckpointInfo | None
    changes: Compared | None

    @property
    def is_same(self) -> bool:
        """Whether it holds the very files of the one before it."""
        return self.changes is not None and not self.changes.total


def checkpoints(visit: Visit) -> Page:
    """Show the history; compare two versions or preview a restore when asked to."""
    context = bench_context(visit, "checkpoints")
    compared = _compared(visit)
    begins = visit.query.get("cursor") or None
    listed, more, titles = _versions(visit, context["bench"], begins)
    context |= {
        "versions": [] if compared else listed,
        "titles": titles,
        "times": {one_id: one.at or one.kept for one in listed for one_id in one.kept_as},
        "next_cursor": more,
        "compared": compared,
        "restoring": _restoring(visit, context["folder"]),
        "from_talk": visit.query.get("from") == "talk",
        "now": NOW,
        "a": visit.query.get("a"),
        "b": visit.query.get("b"),
        "on_entry": ON_ENTRY,
    }
    return Page(template="checkpoints.html", title="History", context=context)


# ---------------------------------------------------------------- the versions


def _versions(
    visit: Visit, bench: Any, more: str | None
) -> tuple[list[Version], str | None, dict[str, str]]:
    """Return versions from a cursor on, newest first, where the next begins, and their names.

    Every checkpoint of the page is called by its version, whichever of several holds it.
    """
    wish = CheckpointsList(workbench_id=visit.params["bench_id"], limit=LISTED + 1, cursor=more)
    found = list(visit.ask(Bench.checkpoints_list, wish).checkpoints)
    if not found and not more:
        return [], None, {}
    is_cut = len(found) > LISTED  # the last one only says what came before the others
    held: list[CheckpointInfo | None] = [*([] if more else [None]), *found[:LISTED]]
    steps = [
        _step(visit, one, found[at] if at < len(found) else None)
        for at, one in enumerate(held, 1 if more else 0)
    ]
    titles: dict[str, str] = {}
    versions: list[Version] = []
    for group in reversed(_grouped(steps)):  # a version that was brought back is called by its name
        one = _version(visit, group, titles, bench)
        titles |= {step.held.checkpoint_id: one.title for step in group if step.held}
        versions.insert(0, one)
    return versions, found[LISTED - 1].checkpoint_id if is_cut else None, titles


def _step(visit: Visit, held: CheckpointInfo | None, older: CheckpointInfo | None) -> _Step:
    if older is None:
        return _Step(held=held, older=None, changes=None)
    wish = CheckpointCompare(
        workbench_id=visit.params["bench_id"],
        checkpoint_id=older.checkpoint_id,
        other_id=held.checkpoint_id if held else None,
        limit=ON_ENTRY,
    )
    answer, _ = tried(visit, Bench.checkpoint_compare, wish)
    return _Step(held=held, older=older, changes=answer)


def _grouped(steps: Sequence[_Step]) -> list[list[_Step]]:
    """Put together what holds the same files: before and after of a publish are shown once."""
    groups: list[list[_Step]] = []
    for step in steps:
        if groups and groups[-1][-1].is_same:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def _version(
    visit: Visit, group: Sequence[_Step], titles: Mapping[str, str], bench: Any
) -> Version:
    kept = [step.held for step in group if step.held is not None]
    by_hand = next((one for one in kept if one.reason == "manual"), None)
    first = group[-1]  # the oldest: what came before it led here
    is_now = group[0].held is None
    info = None if is_now else by_hand or kept[0]
    led, older = _led(first, titles), first.older
    shown = by_hand or (kept[-1] if older is None and kept else None)
    generation = bench.published_generation if is_now else kept[0].published_generation
    return Version(
        info=info,
        title=by_hand.description if by_hand else led,
        led=led if by_hand and first.older else None,
        kept=shown.created_at if shown else None,
        keeper=visit.who(shown.by) if shown else None,
        at=older.created_at if older else None,
        who=visit.who(older.by) if older else None,
        before=older.checkpoint_id if older else None,
        changes=first.changes,
        has_more=_has_more(older, generation),
        kept_as=tuple(one.checkpoint_id for one in kept),
    )


def _has_more(older: CheckpointInfo | None, generation: int) -> bool:
    """Say whether more happened to Published than what the older one was kept before."""
    if older is None or older.reason == "manual":
        return False
    return generation - older.published_generation > 1


def _led(step: _Step, titles: Mapping[str, str]) -> str:
    """Return what made Published what it is in a version, in words."""
    older, number = step.older, step.changes.total if step.changes else 0
    if older is None:
        return _first(step.held)
    files = count_text(number, "file")
    match older.reason:
        case "publish":
            return headline(older.request, TITLE_CHARS) if older.request else f"Published {files}"
        case "pre_restore":
            return _went_back(older, titles)
        case "manual":  # adding keeps nothing by itself
            is_added = step.changes is not None and step.changes.counts.added == number
            return f"Added {files} by hand" if is_added else f"Changed {files}"
    if older.trigger == "before_restore":
        return f"Restored {older.description.removeprefix(_BEFORE_RESTORE)} from an earlier version"
    return _BY_HAND.get(older.trigger or "", "Changed {} by hand").format(files)


def _first(held: CheckpointInfo | None) -> str:
    """Return what the oldest version that is kept is called: nobody knows what led to it."""
    if held is None:
        return "Published now"
    if held.request:
        return f"As it was before: {headline(held.request, TITLE_CHARS)}"
    if held.description.startswith(_BEFORE):
        return f"As it was before {held.description.removeprefix(_BEFORE)}"
    return "The first version that is kept"


def _went_back(older: CheckpointInfo, titles: Mapping[str, str]) -> str:
    if older.restored_id is None:
        return "Went back with the conversation"
    known = titles.get(older.restored_id)
    return f"Went back to: {known}" if known else "Went back to an earlier version"


# ---------------------------------------------------------------- compared, restored


def _pair(visit: Visit) -> tuple[str, str | None] | None:
    """Return the two states that were chosen: the older one first, Published without a name."""
    a, b = visit.query.get("a"), visit.query.get("b")
    if not a or not b or a == b:
        return None
    if a == NOW:
        a, b = b, a
    return a, None if b == NOW else b


def _compared(visit: Visit) -> dict[str, Any] | None:
    """Return what differs between two versions, file by file, with what that comes to."""
    pair = _pair(visit)
    if pair is None:
        return None
    bench_id = visit.params["bench_id"]
    wish = CheckpointCompare(
        workbench_id=bench_id, checkpoint_id=pair[0], other_id=pair[1], limit=COMPARED
    )
    found, error = tried(visit, Bench.checkpoint_compare, wish)
    entries = found.entries if found else ()
    told = {one.path: _told(visit, pair, one) for one in entries[:COUNTED]}
    about = {"from": _about(visit, pair[0]), "to": pair[1] and _about(visit, pair[1])}
    return {"found": found, "error": error, "told": told, **about}


def _about(visit: Visit, checkpoint_id: str) -> CheckpointInfo | None:
    wish = CheckpointId_(workbench_id=visit.params["bench_id"], checkpoint_id=checkpoint_id)
    return tried(visit, Bench.checkpoint_get, wish)[0]


def _told(visit: Visit, pair: tuple[str, str | None], one: ChangedFile) -> list[str]:
    """Return how much of a file differs, in words; nothing where it came or went as a whole."""
    if one.kind not in ("MODIFIED", "RENAMED"):
        return []
    wish = CheckpointGetDiff(
        workbench_id=visit.params["bench_id"],
        checkpoint_id=pair[0],
        other_id=pair[1],
        path=one.path,
    )
    found, _ = tried(visit, Bench.checkpoint_get_diff, wish)
    return _amount(found) if found else []


def _amount(found: Diff) -> list[str]:
    match found.body:
        case Cells(too_large=False) as body:
            return [_sheet_told(sheet) for sheet in body.sheets]
        case TextDiff(too_large=False) as body:
            lines = ((body.added, "added"), (body.removed, "removed"))
            return [f"{count_text(number, 'line')} {word}" for number, word in lines if number]
        case TableDiff() as body if body.row_count is not None:
            return [f"{count_text(body.row_count, 'row')} changed"]
    return []


def _sheet_told(sheet: Mapping[str, Any]) -> str:
    became = "new" if sheet["added"] else "gone" if sheet["removed"] else ""
    cells = count_text(sheet["cell_count"], "cell") if sheet["cell_count"] else ""
    return f"{sheet['sheet']}: {', '.join(filter(None, (became, cells))) or 'changed'}"


def _restoring(visit: Visit, folder: FolderState | None) -> dict[str, Any] | None:
    wanted, path = visit.query.get("restore"), visit.query.get("file") or None
    if not wanted:
        return None
    found, error = tried(visit, Bench.checkpoint_restore, _wish(visit, wanted, path))
    return {
        "found": found,
        "error": error,
        "info": _about(visit, wanted),
        "path": path,
        "folder_too": bool(found and folder and _is_as_written(folder, found)),
    }


def _is_as_written(folder: FolderState, found: Restored) -> bool:
    """Say whether nobody else changed in the folder what a restore would write there (B23.19)."""
    theirs = {one.path for one in folder.outside} | {one.path for one in folder.conflicts}
    is_known = folder.is_there and folder.outside_count <= len(folder.outside)
    return is_known and theirs.isdisjoint(one.path for one in found.changed)


def _wish(visit: Visit, checkpoint_id: str, path: str | None) -> CheckpointRestore:
    """Return the question what a restore would change."""
    return CheckpointRestore(
        workbench_id=visit.params["bench_id"], checkpoint_id=checkpoint_id, path=path, dry_run=True
    )


def one_file(visit: Visit) -> Page:
    """Show what differs in one file between two versions."""
    context = bench_context(visit, "checkpoints")
    checkpoint_id, other_id = _pair(visit) or ("", None)
    path = visit.query.get("file", "")
    wish = CheckpointGetDiff(
        workbench_id=visit.params["bench_id"],
        checkpoint_id=checkpoint_id,
        other_id=other_id,
        path=path,
        cursor=visit.query.get("cursor") or None,
    )
    found = visit.ask(Bench.checkpoint_get_diff, wish)
    context |= {
        "file_path": path,
        "view": any_view(visit, found),
        "parts": _by_sheet(visit, found),
        "offers": _offers(visit, path, checkpoint_id, other_id),
        "since": _about(visit, checkpoint_id),
        "until": other_id and _about(visit, other_id),
        "titles": _versions(visit, context["bench"], None)[2],
        "a": visit.query.get("a"),
        "b": visit.query.get("b"),
        "column": diffs.column_name,
    }
    return Page(template="checkpoint_file.html", title=path, context=context)


def _offers(visit: Visit, path: str, *versions: str | None) -> list[tuple[str, str]]:
    """Return which versions of a file can be brought back and would change it, in words."""
    words = ("Restore this file as it was before…", "Restore this file as it was then…")
    found = []
    for checkpoint_id, text in zip(versions, words, strict=True):
        if checkpoint_id is None:
            continue
        told, _ = tried(visit, Bench.checkpoint_restore, _wish(visit, checkpoint_id, path))
        found += [(checkpoint_id, text)] if told and told.changed else []
    return found


def _by_sheet(visit: Visit, found: Diff) -> list[dict[str, Any]]:
    """Return the difference of a workbook sheet by sheet; nothing of other files."""
    body = found.body
    if not isinstance(body, Cells) or body.too_large:
        return []
    last = len(body.sheets) - 1
    parts = []
    for at, sheet in enumerate(body.sheets):
        own = replace(
            body,
            sheets=(sheet,),
            cell_count=sheet["cell_count"],
            counts=None,
            lines=[one for one in body.lines if one["sheet"] == sheet["sheet"]],
            cursor=body.cursor if at == last else None,
        )
        part = replace(found, body=own, notes=(), also=())
        parts.append({"words": _sheet_told(sheet), "view": any_view(visit, part)})
    return parts


ROUTES = (
    route("/bench/{bench_id}/checkpoints", checkpoints),
    route("/bench/{bench_id}/checkpoints/file", one_file),
)
