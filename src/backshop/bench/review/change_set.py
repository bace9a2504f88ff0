"""What a Draft changes, as `backshop review --json` has it: list, summaries, deletions (B11, B13).

Reads two trees; no model, no network. Files are opened for the first bytes that tell their kind;
what is inside them is compared when somebody looks (`diffing`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backshop.base import paths, tree
from backshop.base.acting import Acted
from backshop.base.canon import parse
from backshop.base.errors import BackshopError, NotFound, ValidationFailed
from backshop.base.ids import BlobId, TreeId
from backshop.base.paths import BenchPath
from backshop.formats import why_uncomputed

from .. import decide, requests
from ..answers import ChangesAsked, Counts, acted
from ..errors import BenchDamaged
from ..repository import BenchRepository
from ..revision import Draft
from ..state import BenchState
from ..tree.difference import KINDS, Change
from ..tree.soundness import UNREADABLE
from ..values import Selection
from . import view_request
from .effect import as_spelled, error_count, uncomputed_count
from .reference import reference_of

PAGE_MAX = 5000
CURSOR_MAX_DIGITS = 9  # no list is longer
SUMMARY_MAX_BYTES = 4096  # B13.2
SUMMARY_UNAVAILABLE = "Summary unavailable."
Hint = dict[str, Any]
Hints = Callable[[Change], Hint | None]
Summarise = Callable[[BenchState], str | None]
_TYPES = {
    "text": "text",
    "csv": "text",
    "docx": "office_text",
    "odt": "office_text",
    "pdf": "pdf",
    "pptx": "pptx",
    "xlsx": "xlsx",
    "image": "image",
}
_PREVIEWS = {
    "text": "text",
    "csv": "table",
    "docx": "pages",
    "odt": "pages",
    "pdf": "pages",
    "pptx": "slides",
    "xlsx": "grid",
    "image": "image",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEntry:
    """One changed file (B11.2)."""

    path: str
    kind: str
    type: str
    file_kind: str
    access: str
    preview_kind: str
    summary_expected: bool
    old_path: str | None = None
    similarity: int | None = None
    """Of a renamed file, in percent."""
    bytes_before: int | None = None
    bytes_after: int | None = None
    sha256_before: str | None = None
    sha256_after: str | None = None
    summary: str | None = None
    deletion_confirmed: bool | None = None
    mode_changed: bool | None = None
    collateral: int = 0
    """Changes outside what the writer named as its target (F16.14); shown first."""
    new_errors: tuple[str, ...] = ()
    """Cells that show an error since this change, the first of them."""
    new_error_count: int = 0
    uncomputed: tuple[str, ...] = ()
    """Where formulas have no result since this change, and why, in words (F24.15)."""
    uncomputed_count: int = 0
    focus_hint: Hint | None = None
    """Where to look first, once the file has been compared (B12.18)."""
    left_out: int = 0
    """How many of its changes the person left out (B25)."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """All a Draft changes; `tree` is what to name when publishing what was reviewed."""

    draft_id: str
    tree: str
    entries: tuple[ChangeEntry, ...]
    counts: Counts
    total: int
    unconfirmed: tuple[str, ...] = ()
    """Deletions that nobody agreed to yet; the first twenty."""
    unconfirmed_count: int = 0
    draft_summary: str | None = None
    draft_facts: tuple[str, ...] = ()
    """What is true of the turn that made the Draft, whatever its summary says (W11.20); before it,
    whoever wrote it, new hosts and what is gone (B13.10)."""
    draft_facts_first: int | None = None
    """How many of these lines stand first because they want a look before all else."""
    reference_source: str = "draft_start_snapshot"
    outside_changes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    next_cursor: str | None = None
    writers: tuple[Acted, ...] = ()
    """Whose writes are in the Draft, as far as that was recorded (T1.6)."""
    left_whole: tuple[str, ...] = ()
    """Files of which every change is left out: they are what they were, and can be taken again."""
    open_comments: int = 0
    """Comments that nobody called done yet (B24)."""
    subject: str | None = None
    """The message that the Draft came of, in the person's words (B27.6)."""
    request: ChangesAsked | None = None
    """What the person asked for about the Draft last that nobody has taken up (W24.10)."""
    requests: tuple[ChangesAsked, ...] = ()
    """All of these, oldest first (W24.12)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a file's change is about, and who says so: `file`, `draft` or `none`."""

    summary_markdown: str
    source: str
    notes: tuple[str, ...] = ()
    """What each write to the file says it did, in their order; one note said again counts once."""
    effects: dict[str, Any] | None = None
    """What the write was aimed at and what it did beyond (F16.13)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """Deletions the person agreed to."""

    confirmed_paths: tuple[str, ...]


def statuses(desk: BenchRepository, draft: Draft) -> dict[BenchPath, tuple[str, tree.File]]:
    """Return path → status word and file, for lists of files."""
    found = {}
    for change in desk.compare.changes(draft.base_tree, draft.tree):
        file = change.after or change.before
        assert file is not None
        found[change.path] = (change.kind, file)
    return found


def change_set(
    desk: BenchRepository, request: requests.ReviewGetChangeSet, hints: Hints, summarise: Summarise
) -> ChangeSet:
    """Return the list of what the Draft changes; collateral and new errors come first."""
    if not 1 <= request.limit <= PAGE_MAX:
        raise ValidationFailed("a page has 1 to 5000 entries", reason="bad_params")
    state = desk.state(request.workbench_id)
    draft = decide.require_draft(state)
    assert state.bench_id is not None
    reference = reference_of(draft, request.since)
    found = _changes(desk, reference.tree, draft)
    overall = _changes(desk, draft.base_tree, draft)
    gone = _deleted(overall)
    entries = [_entry(desk, draft, gone, change, hints) for change in found]
    entries.sort(key=lambda one: not (one.collateral or one.new_errors))  # stable: kinds as before
    start = offset_of(request.cursor)
    more = start + request.limit < len(entries)
    outside = desk.views.outside(state, "draft")
    open_ = [path for path, sha256 in gone.items() if draft.confirmed.get(path) != sha256]
    return ChangeSet(
        draft_id=draft.draft_id,
        tree=draft.tree,
        entries=tuple(entries[start : start + request.limit]),
        counts=counts(found),
        total=len(entries),
        unconfirmed=tuple(open_[: decide.LISTED_PATHS]),
        unconfirmed_count=len(open_),
        draft_summary=summarise(state),
        reference_source=reference.source,
        outside_changes=tuple(one.path for one in outside),
        warnings=_warnings(state, entries, has_open=bool(open_)),
        next_cursor=str(start + request.limit) if more else None,
        writers=tuple(one for by in draft.writers if (one := acted(by, desk.names()))),
        left_whole=_left_whole(desk, draft, {change.path for change in overall}),
        open_comments=sum(not one.is_resolved for one in draft.comments.by_id.values()),
    )


def standing(desk: BenchRepository, draft: Draft, path: BenchPath) -> Selection | None:
    """Return what was left out of a file, if the file is what that led to (B25)."""
    chosen = draft.selections.get(path)
    if chosen is None:
        return None
    now = tree.lookup(draft.tree, path, desk.store.load_tree)
    is_so = (None if now is None else now.sha256) == chosen.result
    return chosen if is_so else None


def _left_whole(
    desk: BenchRepository, draft: Draft, changed: Collection[BenchPath]
) -> tuple[str, ...]:
    """Return the files that are what they were because every change of them is left out."""
    every = (BenchPath(path) for path in sorted(draft.selections))
    return tuple(
        path for path in every if path not in changed and standing(desk, draft, path) is not None
    )


def _changes(desk: BenchRepository, began: TreeId, draft: Draft) -> tuple[Change, ...]:
    try:
        return desk.compare.changes(began, draft.tree)
    except UNREADABLE as error:
        raise BenchDamaged(
            "the list of the Draft's files cannot be read", reason="missing_tree"
        ) from error


def _warnings(
    state: BenchState, entries: Sequence[ChangeEntry], *, has_open: bool
) -> tuple[str, ...]:
    """Say what concerns the Draft as a whole."""
    said = {
        "published_changed": state.is_draft_left_behind,
        "collateral_changes": any(one.collateral for one in entries),
        "new_errors": any(one.new_errors for one in entries),
        "deletions_unconfirmed": has_open,
    }
    return tuple(word for word, holds in said.items() if holds)


def counts(found: Sequence[Change]) -> Counts:
    """Return how many files are touched in which way."""
    number = {kind: sum(change.kind == kind for change in found) for kind in KINDS}
    return Counts(
        added=number["ADDED"],
        modified=number["MODIFIED"],
        renamed=number["RENAMED"],
        deleted=number["DELETED"],
    )


def summary(
    desk: BenchRepository, request: view_request.ReviewPath, summarise: Summarise
) -> Summary:
    """Return what is known about a file's change in words (B13.1)."""
    state = desk.state(request.workbench_id)
    draft = decide.require_draft(state)
    path = paths.bench_path(request.path)
    change = _found(desk, draft, path, request.since)
    written = draft.changes.get(change.path) if change.after is not None else None
    effects = (_effects(desk, written.effects_ref) or None) if written else None
    notes = _notes(draft, change)
    if notes:
        told = (
            notes[0]
            if len(notes) == 1
            else "\n".join(f"- {' '.join(note.split())}" for note in notes)
        )
        return Summary(summary_markdown=told, source="file", notes=notes, effects=effects)
    whole = summarise(state)
    if whole:
        return Summary(summary_markdown=whole, source="draft", effects=effects)
    return Summary(summary_markdown=SUMMARY_UNAVAILABLE, source="none", effects=effects)


def _notes(draft: Draft, change: Change) -> tuple[str, ...]:
    """Return the notes of all writes that made a file what it is (B13.2).

    What was written before the file was last as it had been is not part of that.
    """
    if change.after is None:
        return ()
    writes = draft.writes.get(change.path, ())
    first = writes[0].before_sha256 if writes else None
    then = change.before.sha256 if change.before else first  # of a name it did not have then
    places = [n for n, one in enumerate(writes) if then is not None and one.after_sha256 == then]
    since = writes[places[-1] + 1 :] if places else writes
    return tuple(dict.fromkeys(one.note for one in since if one.note))


def _joined(notes: Sequence[str]) -> str | None:
    """Return notes as lines, the first ones where not all fit (B13.2)."""
    lines: list[str] = []
    room = SUMMARY_MAX_BYTES
    for place, note in enumerate(notes):
        room -= len(note.encode()) + 1
        if room < 0:
            return "\n".join([*lines, f"and {len(notes) - place} more notes"])
        lines.append(note)
    return "\n".join(lines) or None


def one_entry(desk: BenchRepository, request: view_request.ReviewPath, hints: Hints) -> ChangeEntry:
    """Return the entry of one changed file, by the path it has or had."""
    draft = decide.require_draft(desk.state(request.workbench_id))
    path = paths.bench_path(request.path)
    change = _found(desk, draft, path, request.since)
    return _entry(desk, draft, deletions(desk, draft), change, hints)


def _found(desk: BenchRepository, draft: Draft, path: BenchPath, since: str | None) -> Change:
    """Return what became of a path, or refuse one that is as it was."""
    change = desk.compare.find(reference_of(draft, since).tree, draft.tree, path)
    if change is None:
        raise NotFound("the Draft does not change this path", reason="not_found")
    return change


def confirm(desk: BenchRepository, request: requests.ReviewSetDeletionConfirmations) -> None:
    """Record that the person agrees to deletions (B13.4)."""
    wanted = [paths.bench_path(raw) for raw in request.paths]
    with desk.locked(request.workbench_id) as state:
        draft = decide.require_draft(state)
        deleted = deletions(desk, draft)
        desk.commit(
            request.workbench_id,
            lambda now: decide.confirm_deletions(now, wanted, deleted, request.confirmed),
        )


def deletions(desk: BenchRepository, draft: Draft) -> dict[BenchPath, BlobId]:
    """Return what the Draft deletes: path → content that goes."""
    return _deleted(desk.compare.changes(draft.base_tree, draft.tree))


def _deleted(changes: Sequence[Change]) -> dict[BenchPath, BlobId]:
    return {
        change.path: change.before.sha256
        for change in changes
        if change.kind == "DELETED" and change.before is not None
    }


def confirmations(desk: BenchRepository, request: requests.BenchRequest) -> Confirmed:
    """Return the deletions the person agreed to and that still hold (B13.4, B13.5)."""
    draft = decide.require_draft(desk.state(request.workbench_id))
    agreed = [
        path
        for path, sha256 in deletions(desk, draft).items()
        if draft.confirmed.get(path) == sha256
    ]
    return Confirmed(confirmed_paths=tuple(agreed))


def _entry(
    desk: BenchRepository,
    draft: Draft,
    gone: Mapping[BenchPath, BlobId],
    change: Change,
    hints: Hints,
) -> ChangeEntry:
    """Return one changed file; `gone` is what publishing would delete, whatever it is since."""
    kind, access = kind_and_access(desk, change)
    type_ = _TYPES.get(kind, "binary")
    written = draft.changes.get(change.path)
    effects = _effects(desk, written.effects_ref) if written and change.after else {}
    sized = type_ != "text"
    before, after = change.before, change.after
    summary = _joined(_notes(draft, change))
    chosen = standing(desk, draft, change.path)
    return ChangeEntry(
        path=change.path,
        old_path=change.old_path,
        kind=change.kind,
        type=type_,
        file_kind=kind,
        access=access,
        similarity=change.similarity,
        preview_kind=_PREVIEWS.get(kind, "metadata"),
        summary_expected=sized,
        bytes_before=before.size if before and sized else None,
        bytes_after=after.size if after and sized else None,
        sha256_before=before.sha256 if before else None,
        sha256_after=after.sha256 if after else None,
        summary=summary,
        deletion_confirmed=(
            draft.confirmed.get(change.path) == gone[change.path]
            if change.kind == "DELETED" and change.path in gone
            else None
        ),
        mode_changed=True if before and after and before.mode != after.mode else None,
        collateral=int(effects.get("totals", {}).get("collateral", 0)),
        new_errors=tuple(effects.get("new_errors", ())),
        new_error_count=error_count(effects),
        uncomputed=tuple(_without_result(one) for one in effects.get("uncomputed", ())),
        uncomputed_count=uncomputed_count(effects),
        focus_hint=hints(change),
        left_out=0 if chosen is None else len(chosen.left_out),
        warnings=("summary_missing",) if sized and summary is None and after else (),
    )


def _without_result(one: Mapping[str, Any]) -> str:
    return why_uncomputed(
        str(one.get("where")), str(one.get("reason")), str(one.get("function") or "")
    )


def _effects(desk: BenchRepository, ref: BlobId | None) -> dict[str, Any]:
    if ref is None:
        return {}
    try:
        value = parse(desk.store.blobs.read(ref))
    except BackshopError:
        return {}  # a lost report costs a hint, never the review (B12.19)
    return as_spelled(value) if isinstance(value, dict) else {}


def kind_and_access(desk: BenchRepository, change: Change) -> tuple[str, str]:
    """Return the kind both sides are compared as, and what may be done with the file.

    The Draft's side decides; a file that became something else is compared as bytes (B11.7).
    """
    sides = [
        desk.compare.kind(path, file)
        for path, file in (
            (change.path, change.after),
            (change.old_path or change.path, change.before),
        )
        if file is not None
    ]
    shown = sides[0]
    if shown is None:
        return "binary", "opaque"
    access = "read_write" if shown.writable else "read_only"
    access = "opaque" if shown.opaque else access
    same = all(side is None or side.kind is shown.kind for side in sides)
    return (shown.kind.value if same else "binary"), access


def offset_of(cursor: str | None) -> int:
    """Return the place a cursor of a review list stands for."""
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= CURSOR_MAX_DIGITS):
        raise ValidationFailed("the cursor is not one of ours", reason="bad_params")
    return int(cursor)
