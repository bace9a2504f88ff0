"""What a Draft changes: the list, and for each file the diff its kind has (B11–B13).

Reads two trees and asks the formats; no model, no network. Nothing here can fail a review: a file
that cannot be compared by structure is compared by text, else by its size and hash (B12.19).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from backshop.base import paths, tree
from backshop.base.canon import parse
from backshop.base.errors import BackshopError, NotFound, ValidationFailed
from backshop.base.ids import BlobId, TreeId
from backshop.base.paths import BenchPath
from backshop.formats import FormatError, Formats, Source, classify

from . import decide, requests
from .desk import Desk
from .state import Draft

PAGE_MAX = 5000
_KINDS = ("ADDED", "MODIFIED", "RENAMED", "DELETED")
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
_HEAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEntry:
    """One changed file (B11.2)."""

    path: str
    kind: str
    type: str
    file_kind: str
    preview_kind: str
    summary_expected: bool
    old_path: str | None = None
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
    """Cells that show an error since this change."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many files are touched in which way."""

    added: int
    modified: int
    renamed: int
    deleted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """All a Draft changes; `tree` is what to name when publishing what was reviewed."""

    draft_id: str
    tree: str
    entries: tuple[ChangeEntry, ...]
    counts: Counts
    reference_source: str = "draft_start_snapshot"
    outside_changes: tuple[str, ...] = ()
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """A diff of one file in the shape of its kind; `body` is what B12 says for it."""

    path: str
    strategy: str
    reference_source: str
    baseline_missing: bool
    body: dict[str, Any]
    reference_warning: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One changed path with renames found."""

    path: BenchPath
    kind: str
    before: tree.File | None
    after: tree.File | None
    old_path: BenchPath | None = None


def changes(desk: Desk, before: TreeId, after: TreeId) -> list[Change]:
    """Return what differs between two trees, exact renames found, in the order of B11.3."""
    found = list(tree.diff(before, after, desk.store.load_tree))
    gone = {c.path: c.before for c in found if c.after is None and c.before is not None}
    come = {c.path: c.after for c in found if c.before is None and c.after is not None}
    moved = _renames(gone, come)
    result = [Change(new, "RENAMED", gone[old], come[new], old) for new, old in moved.items()]
    for change in found:
        if change.path in moved or change.path in moved.values():
            continue
        kind = "ADDED" if change.before is None else "DELETED"
        kind = "MODIFIED" if change.before is not None and change.after is not None else kind
        result.append(Change(change.path, kind, change.before, change.after))
    return sorted(result, key=lambda c: (_KINDS.index(c.kind), c.path.encode()))


def statuses(desk: Desk, before: TreeId, after: TreeId) -> dict[BenchPath, tuple[str, tree.File]]:
    """Return path → status word and file, for lists of files."""
    found = {}
    for change in changes(desk, before, after):
        file = change.after or change.before
        assert file is not None
        found[change.path] = (change.kind, file)
    return found


def change_set(desk: Desk, request: requests.ReviewGetChangeSet) -> ChangeSet:
    """Return the list of what the Draft changes; collateral comes first."""
    if not 1 <= request.limit <= PAGE_MAX:
        raise ValidationFailed("a page has 1 to 5000 entries", reason="bad_params")
    state = desk.state(request.workbench_id)
    draft = decide.require_draft(state)
    assert state.bench_id is not None
    found = changes(desk, draft.base_tree, draft.tree)
    entries = [_entry(desk, draft, change) for change in found]
    entries.sort(key=lambda one: one.collateral == 0)  # stable: kinds stay in their order
    start = int(request.cursor) if request.cursor and request.cursor.isdecimal() else 0
    more = start + request.limit < len(entries)
    outside = desk.views.outside(state.bench_id, "draft", draft.tree)
    return ChangeSet(
        draft_id=draft.draft_id,
        tree=draft.tree,
        entries=tuple(entries[start : start + request.limit]),
        counts=counts(found),
        outside_changes=tuple(one.path for one in outside),
        next_cursor=str(start + request.limit) if more else None,
    )


def counts(found: list[Change]) -> Counts:
    """Count changes by kind."""
    number = {kind: sum(change.kind == kind for change in found) for kind in _KINDS}
    return Counts(
        added=number["ADDED"],
        modified=number["MODIFIED"],
        renamed=number["RENAMED"],
        deleted=number["DELETED"],
    )


def confirm(desk: Desk, request: requests.ReviewSetDeletionConfirmations) -> None:
    """Record that the person agrees to deletions (B13.4)."""
    wanted = [paths.bench_path(raw) for raw in request.paths]
    with desk.locked(request.workbench_id) as state:
        draft = decide.require_draft(state)
        deleted = deletions(desk, draft)
        desk.commit(
            request.workbench_id,
            lambda now: decide.confirm_deletions(now, wanted, deleted, request.confirmed),
        )


def deletions(desk: Desk, draft: Draft) -> dict[BenchPath, BlobId]:
    """Return what the Draft deletes: path → content that goes."""
    return {
        change.path: change.before.sha256
        for change in changes(desk, draft.base_tree, draft.tree)
        if change.kind == "DELETED" and change.before is not None
    }


def _renames(
    gone: Mapping[BenchPath, tree.File], come: Mapping[BenchPath, tree.File]
) -> dict[BenchPath, BenchPath]:
    """Pair deleted and added files of equal content: new path → old path (B11.5)."""
    by_content: dict[BlobId, list[BenchPath]] = {}
    for path, file in gone.items():
        if file.size > 0:
            by_content.setdefault(file.sha256, []).append(path)
    found: dict[BenchPath, BenchPath] = {}
    for new in sorted(come, key=str.encode):
        candidates = by_content.get(come[new].sha256, [])
        if candidates:
            best = min(candidates, key=partial(_unlikeness, new))
            candidates.remove(best)
            found[new] = best
    return found


def _unlikeness(new: str, old: str) -> tuple[bool, bool, bytes]:
    return _name(old) != _name(new), _folder(old) != _folder(new), old.encode()


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _entry(desk: Desk, draft: Draft, change: Change) -> ChangeEntry:
    kind = file_kind(desk, change.path, (change.after or change.before))
    type_ = _TYPES.get(kind, "binary")
    written = draft.changes.get(change.path)
    effects = _effects(desk, written.effects_ref) if written and change.after else {}
    sized = type_ != "text"
    before, after = change.before, change.after
    summary = written.note if written and change.after else None
    return ChangeEntry(
        path=change.path,
        old_path=change.old_path,
        kind=change.kind,
        type=type_,
        file_kind=kind,
        preview_kind=_PREVIEWS.get(kind, "metadata"),
        summary_expected=sized,
        bytes_before=before.size if before and sized else None,
        bytes_after=after.size if after and sized else None,
        sha256_before=before.sha256 if before else None,
        sha256_after=after.sha256 if after else None,
        summary=summary,
        deletion_confirmed=(
            draft.confirmed.get(change.path) == before.sha256
            if change.kind == "DELETED" and before
            else None
        ),
        mode_changed=True if before and after and before.mode != after.mode else None,
        collateral=int(effects.get("totals", {}).get("collateral", 0)),
        new_errors=tuple(effects.get("new_errors", ())),
        warnings=("summary_missing",) if sized and summary is None and after else (),
    )


def _effects(desk: Desk, ref: BlobId | None) -> dict[str, Any]:
    if ref is None:
        return {}
    try:
        value = parse(desk.store.blobs.read(ref))
    except BackshopError:
        return {}  # a lost report costs a hint, never the review (B12.19)
    return value if isinstance(value, dict) else {}


def file_kind(desk: Desk, path: str, file: tree.File | None) -> str:
    """Return the kind of a file in a tree; what cannot be told is binary."""
    if file is None:
        return "binary"
    try:
        with desk.store.blobs.open(file.sha256) as content:
            return classify(path, content.read(_HEAD_BYTES)).kind.value
    except (FormatError, BackshopError):
        return "binary"


# ---------------------------------------------------------------- diffs


class Differ:
    """Diffs of single files, each in the way its kind has."""

    def __init__(self, desk: Desk, formats: Formats) -> None:
        self._desk = desk
        self._formats = formats

    def diff(self, request: requests.ReviewPath) -> Diff:
        """Return the best diff there is for a path: by structure, else text, else facts."""
        before, after, kind, path = self._sides(request)
        try:
            strategy, body = self._structured(kind, before, after, request)
        except FormatError as error:
            strategy, body = self._fallback(before, after, error)
        return Diff(
            path=path,
            strategy=strategy,
            reference_source="none" if before is None else "draft_start_snapshot",
            baseline_missing=before is None,
            body=body,
        )

    def text_diff(self, request: requests.ReviewPath) -> Diff:
        """Return the line diff of text, or of an office file's stable lines (B12.1, B12.6)."""
        before, after, kind, path = self._sides(request)
        if kind in ("image", "binary"):
            raise ValidationFailed("pictures and binary files have no text", reason="no_text_diff")
        body = self._lines(before, after, _cursor(request.cursor))
        return Diff(
            path=path,
            strategy="text",
            reference_source="none" if before is None else "draft_start_snapshot",
            baseline_missing=before is None,
            body=body,
        )

    def _sides(
        self, request: requests.ReviewPath
    ) -> tuple[Source | None, Source | None, str, BenchPath]:
        state = self._desk.state(request.workbench_id)
        draft = decide.require_draft(state)
        path = paths.bench_path(request.path)
        after = tree.lookup(draft.tree, path, self._desk.store.load_tree)
        old_path = path
        if after is not None:
            for change in changes(self._desk, draft.base_tree, draft.tree):
                if change.path == path and change.old_path is not None:
                    old_path = change.old_path
        before = tree.lookup(draft.base_tree, old_path, self._desk.store.load_tree)
        if before is None and after is None:
            raise NotFound("neither side has this path", reason="not_found")
        kind = file_kind(self._desk, path, after or before)
        return self._source(old_path, before), self._source(path, after), kind, path

    def _source(self, path: str, file: tree.File | None) -> Source | None:
        if file is None:
            return None
        return self._formats.source(self._desk.store.blobs.path(file.sha256), path, file.sha256)

    def _structured(
        self, kind: str, before: Source | None, after: Source | None, request: requests.ReviewPath
    ) -> tuple[str, dict[str, Any]]:
        if kind == "xlsx" and before is not None and after is not None:
            return "cells", dict(self._formats.diff_cells(before, after))
        if kind == "csv" and before is not None and after is not None:
            table = self._formats.diff_table(before, after)
            if not table.too_large:
                return "table", dict(table.page(_cursor(request.cursor)))
        if kind in ("image", "binary"):
            return "metadata", self._facts(before, after)
        return "text", self._lines(before, after, _cursor(request.cursor))

    def _fallback(
        self, before: Source | None, after: Source | None, error: FormatError
    ) -> tuple[str, dict[str, Any]]:
        try:
            return "text", self._lines(before, after, 0)
        except FormatError:
            return "metadata", {**self._facts(before, after), "reason": error.reason}

    def _lines(self, before: Source | None, after: Source | None, cursor: int) -> dict[str, Any]:
        return dict(self._formats.diff_text(before, after).page(cursor))

    def _facts(self, before: Source | None, after: Source | None) -> dict[str, Any]:
        return {
            "before": dict(self._formats.get_info(before)) if before else None,
            "after": dict(self._formats.get_info(after)) if after else None,
        }


def _cursor(text: str | None) -> int:
    if text is None:
        return 0
    if not text.isdecimal():
        raise ValidationFailed("the cursor is not one of ours", reason="bad_params")
    return int(text)
