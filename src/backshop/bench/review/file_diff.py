"""What differs inside one file, in the way its kind has (B12).

No model, no network. Nothing here can fail a review: a file that cannot be compared by structure is
compared by text, else by its size and hash (B12.19). Differences are kept under the two contents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

from backshop.base import paths, tree
from backshop.base.codec import OwnJson
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId, TreeId
from backshop.base.paths import BenchPath
from backshop.formats import (
    FormatError,
    Formats,
    Hunk,
    Source,
    TableDiff,
    TextDiff,
    in_pages,
    told_sheets,
    told_slides,
    uncompared,
    unsaid,
    without_facts,
)

from .. import decide
from ..repository import BenchRepository
from ..tree.difference import Change, Kept
from . import focus, view_request
from .change_set import kind_and_access, offset_of
from .reference import reference_of

CELLS_PAGE = 500  # B12.9
_CELLS_LOT = 20 * CELLS_PAGE  # found in one comparison, which goes through the whole workbook
_KEPT_LOTS = 4
_KEPT_DIFFS = 32
_KEPT_LINES = 20_000  # a larger difference is made again when asked for
_HEX_BYTES = 256  # B12.10
_IN_PARTS = frozenset({"docx", "xlsx", "pptx", "odt"})
_NOTHING: dict[str, Any] = {"rest": (), "described": ()}
Found = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """A page of the cells of a workbook that differ; `sheets` names every changed sheet (B12.9)."""

    sheets: Sequence[Found] = ()
    cell_count: int | None = None
    counts: Mapping[str, int] | None = None
    """How many changed in which way; None where it took too long to find out."""
    more: int | None = None
    too_large: bool = False
    cursor: int | None = None
    lines: Sequence[Found] = ()
    """Rows and columns that came or went, as `{sheet, kind, axis, at, count, …}` (F42)."""
    following: Mapping[str, Any] | None = None
    """How many formulas and names only follow them; None without such lines."""

    def to_json(self) -> Found:
        """Return what was found; of what was not, only that it was not."""
        unknown = ("counts", "cursor") if self.counts is None else ()
        names = (one.name for one in fields(self) if one.name not in unknown)
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Sections of a document or slides of a deck, paired, and one of them whole (B12.5, B12.8)."""

    name: str
    listed: Sequence[Found]
    index: int
    chosen: Found | None

    def to_json(self) -> Found:
        """Return them under the names that their kind has."""
        count = {f"{self.name}_count": len(self.listed), f"{self.name}_index": self.index}
        return {f"{self.name}s": self.listed, **count, self.name: self.chosen}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of both contents of a file that is not compared inside; `reason` says why."""

    before: Found | None
    after: Found | None
    reason: str | None = None

    def to_json(self) -> Found:
        """Return both sides, and the reason where there is one."""
        said = {} if self.reason is None else {"reason": self.reason}
        return {"before": self.before, "after": self.after, **said}


Body = TextDiff | TableDiff | Cells | Parts | Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """A diff of one file in the shape of its kind; `body` is of its strategy."""

    path: str
    strategy: str
    reference_source: str
    baseline_missing: bool
    body: Annotated[Body, OwnJson()]
    file_kind: str = "binary"
    old_path: str | None = None
    reference_warning: str | None = None
    focus_hint: focus.Hint | None = None
    also: tuple[dict[str, Any], ...] = ()  # what changed beyond `body` (B12.22)
    notes: tuple[str, ...] = ()  # what is so on both sides and should be known (F40.5)


@dataclass(frozen=True, slots=True)
class Sides:
    """The two contents of a path that are compared, and where the first is from (B12.16)."""

    path: BenchPath
    kind: str
    before: Source | None
    after: Source | None
    reference: str = "draft_start_snapshot"
    warning: str | None = None
    old_path: BenchPath | None = None

    @property
    def contents(self) -> tuple[str, str]:
        """The names a difference is kept under."""
        return (
            self.before.sha256 if self.before else "",
            self.after.sha256 if self.after else "",
        )


class Differ:
    """Diffs of single files, each in the way its kind has."""

    def __init__(self, desk: BenchRepository, formats: Formats) -> None:
        self._desk = desk
        self._formats = formats
        self._kept: Kept[tuple[str, str, str], Any] = Kept(_KEPT_DIFFS)
        self._lots: Kept[tuple[str, str, int], Any] = Kept(_KEPT_LOTS)
        self._hints: Kept[tuple[str, str], focus.Hint] = Kept(1000)

    # ------------------------------------------------------------ commands

    def diff(self, request: view_request.ReviewPath) -> Diff:
        """Return the best diff there is for a path: by structure, else text, else facts."""
        return self.best(self.sides(request), request)

    def best(self, sides: Sides, request: view_request.ReviewPath) -> Diff:
        """Return the best diff of two sides."""
        cursor = offset_of(request.cursor)
        try:
            if sides.kind == "xlsx" and sides.before and sides.after:
                return self._cells(sides, request.sheet, cursor)
            if sides.kind == "csv" and sides.before and sides.after:
                table = self._rows(sides)
                columns = table.columns_added or table.columns_removed or table.columns_reordered
                if table.rows or columns:
                    return self._table(sides, cursor)
                # else lines say more: too large, or the same rows in other bytes
            if sides.kind not in ("image", "binary"):
                return self._lines(sides, cursor)
            return self._answer(sides, "metadata", self._facts(sides))
        except FormatError as error:
            return self._fallback(sides, error)

    def text_diff(self, request: view_request.ReviewPath) -> Diff:
        """Return the line diff of text, or of an office file's stable lines (B12.1, B12.6)."""
        sides = self.sides(request)
        if sides.kind in ("image", "binary"):
            raise ValidationFailed("pictures and binary files have no text", reason="no_text_diff")
        return self._lines(sides, offset_of(request.cursor))

    def table_diff(self, request: view_request.ReviewPath) -> Diff:
        """Return the rows of a delimited file that differ (B12.4)."""
        sides = self._of_kind(request, "csv")
        if sides.before is None or sides.after is None:
            return self._lines(sides, offset_of(request.cursor))
        return self._table(sides, offset_of(request.cursor))

    def cell_diff(self, request: view_request.ReviewPath) -> Diff:
        """Return the cells of a workbook that differ, a page of them (B12.9)."""
        sides = self._of_kind(request, "xlsx")
        if sides.before is None or sides.after is None:
            return self._lines(sides, offset_of(request.cursor))
        return self._cells(sides, request.sheet, offset_of(request.cursor))

    def document_diff(self, request: view_request.ReviewPath) -> Diff:
        """Return the sections of a document, paired, and the blocks of one (B12.5)."""
        sides = self._of_kind(request, "docx", "odt")
        sections = self._keep("document", sides, self._formats.diff_document)
        self._hint(sides, focus.of_sections(sections))
        body = _one_of(sections, "section", ("blocks",), request.section_index)
        is_told = any(one["kind"] != "same" for one in sections)
        return self._answer(sides, "document", body, self._unsaid(sides, (), is_told))

    def deck_diff(self, request: view_request.ReviewPath) -> Diff:
        """Return the slides of a presentation, paired, and one of them with its shapes (B12.8)."""
        sides = self._of_kind(request, "pptx")
        slides = self._slides(sides)
        self._hint(sides, focus.of_slides(slides))
        heavy = ("shapes", "notes", "before", "after")
        body = _one_of(slides, "slide", heavy, request.slide_index)
        is_told = any(one["kind"] != "same" for one in slides)
        also = self._unsaid(sides, told_slides(slides), is_told)
        return self._answer(sides, "deck", body, without_facts(also))

    def focus_between(self, before: TreeId, after: TreeId, path: BenchPath) -> focus.Hint | None:
        """Return where a workbook or a deck differs first in two trees; None where that is all.

        Nothing either where they cannot be compared: this only chooses what is looked at.
        """
        sides = self.between(before, after, path)
        if sides.before is None or sides.after is None:
            return None
        try:
            if sides.kind == "pptx":
                return focus.of_slides(self._slides(sides))
            if sides.kind == "xlsx":
                counted = self._lot(sides, 0)
                return focus.of_cells(counted["sheets"], counted["lines"])
        except FormatError:
            return None
        return None

    def hint_of(self, change: Change) -> focus.Hint | None:
        """Return where to look first, if the file has been compared before."""
        before = change.before.sha256 if change.before else ""
        return self._hints.peek((before, change.after.sha256 if change.after else ""))

    # ------------------------------------------------------------ the two sides

    def sides(self, request: view_request.ReviewPath) -> Sides:
        """Return what a path was when the Draft began, or at the last look, and what it is now."""
        path = paths.bench_path(request.path)
        state = self._desk.state(request.workbench_id)
        draft = decide.require_draft(state)
        reference = reference_of(draft, request.since)
        found = self.between(reference.tree, draft.tree, path)
        if found.before is not None:
            found = replace(found, reference=reference.source)
        before = None if found.before is None else found.before.sha256
        if before is None or self._desk.store.blobs.is_sound(BlobId(before)):
            return found
        now = tree.lookup(state.published, found.old_path or path, self._desk.store.load_tree)
        if now is not None and now.sha256 != before and self._desk.store.blobs.is_sound(now.sha256):
            return replace(
                found,
                before=self._source(path, now),
                reference="published_current_fallback",
                warning=f"the file as it was {reference.moment} is lost; this is Published",
            )
        return replace(
            found,
            before=None,
            reference="none",
            warning=f"the file as it was {reference.moment} is lost",
        )

    def between(self, before: TreeId, after: TreeId, path: BenchPath) -> Sides:
        """Return a path's two contents in two trees."""
        change = self._desk.compare.find(before, after, path)
        if change is None:
            same = tree.lookup(after, path, self._desk.store.load_tree)
            if same is None:
                raise NotFound("neither side has this path", reason="not_found")
            change = Change(path, "MODIFIED", same, same)
        kind, _ = kind_and_access(self._desk, change)
        old_path = change.old_path or change.path
        return Sides(
            path=change.path,
            kind=kind,
            before=self._source(old_path, change.before),
            after=self._source(change.path, change.after),
            reference="none" if change.before is None else "draft_start_snapshot",
            old_path=change.old_path,
        )

    def _of_kind(self, request: view_request.ReviewPath, *kinds: str) -> Sides:
        sides = self.sides(request)
        if sides.kind not in kinds:
            raise ValidationFailed(
                f"this is a {sides.kind} file", reason="bad_params", detail=f"kind: {sides.kind}"
            )
        return sides

    def _source(self, path: str, file: tree.File | None) -> Source | None:
        if file is None:
            return None
        blobs = self._desk.store.blobs
        if not blobs.has(file.sha256):  # `sides` puts something else in its place, or says so
            return Source(
                self._desk.store.home / "missing", file.sha256, path, self._formats.limits
            )
        return self._formats.source(blobs.path(file.sha256), path, file.sha256)

    # ------------------------------------------------------------ one way each

    def _cells(self, sides: Sides, sheet: str | None, cursor: int) -> Diff:
        """Return a page of changed cells; the counts are of all of them, whatever is listed."""
        try:
            counted = self._lot(sides, 0)
            before = _cells_before(counted["sheets"], sheet)
            found = self._lot(sides, (before + cursor) // _CELLS_LOT)
        except FormatError as error:
            if error.reason not in ("timeout", "too_large", "memory_limit"):
                raise
            also = self._unsaid(sides, (), True)
            return self._answer(sides, "cells", Cells(too_large=True), also)
        self._hint(sides, focus.of_cells(counted["sheets"], counted["lines"]))
        told = told_sheets(counted["sheets"], counted["lines"])
        also = self._unsaid(sides, told, bool(counted["sheets"]))
        page = _page_of_cells(found, sheet, before + cursor)
        return self._answer(sides, "cells", page, also)

    def _lot(self, sides: Sides, number: int) -> Any:
        """Return the counts of all changed cells, and one lot of them in their order."""
        assert sides.before is not None
        assert sides.after is not None
        before, after, first = sides.before, sides.after, number * _CELLS_LOT
        return self._lots.get(
            (*sides.contents, number),
            lambda: self._formats.diff_cells(before, after, first, _CELLS_LOT),
        )

    def _rows(self, sides: Sides) -> TableDiff:
        found: TableDiff = self._keep("table", sides, self._formats.diff_table)
        return found

    def _table(self, sides: Sides, cursor: int) -> Diff:
        body = self._rows(sides).page(cursor)
        if not cursor:
            self._hint(sides, focus.of_rows([(one.before_row, one.after_row) for one in body.rows]))
        return self._answer(sides, "table", body)

    def _lines(self, sides: Sides, cursor: int) -> Diff:
        found: TextDiff = self._keep(
            "text", sides, self._formats.diff_text, worth=lambda one: _lines_of(one) <= _KEPT_LINES
        )
        body = found.page(cursor)
        if not cursor:
            self._hint(sides, self._hint_of_lines(sides, body.hunks))
        is_told = bool(found.hunks or found.flags or found.too_large)
        if sides.kind == "pdf":
            return self._of_pages(sides, body, is_told)
        return self._answer(sides, "text", body, self._beside_lines(sides, is_told))

    def _of_pages(self, sides: Sides, body: TextDiff, is_told: bool) -> Diff:
        """Return lines with the pages of both versions, paired, and those that look otherwise."""
        if sides.before is None or sides.after is None or len(set(sides.contents)) == 1:
            return self._answer(sides, "text", body)
        try:
            pages = self._keep("pages", sides, self._formats.diff_pages)
        except FormatError as error:
            return self._answer(sides, "text", body, [uncompared(error.reason)])
        also = in_pages(pages, is_anything_told=is_told)
        return self._answer(sides, "text", replace(body, pages=pages), also)

    # ------------------------------------------------------------ what else changed (B12.22)

    def _rest(self, sides: Sides) -> Any:
        """Return what differs in the parts of a file that its diff does not describe."""
        if sides.before is None or sides.after is None or sides.kind not in _IN_PARTS:
            return _NOTHING
        if sides.before.sha256 == sides.after.sha256:
            return _NOTHING
        try:
            return self._keep("rest", sides, self._formats.diff_rest)
        except FormatError as error:
            return {"rest": [uncompared(error.reason)], "described": []}

    def _unsaid(self, sides: Sides, told: Collection[str], is_told: bool) -> list[dict[str, Any]]:
        rest = self._rest(sides)
        return [] if rest is _NOTHING else unsaid(rest, told, is_anything_told=is_told)

    def _slides(self, sides: Sides) -> Any:
        rest = self._rest(sides)["rest"]
        return self._keep("deck", sides, lambda a, b: self._formats.diff_deck(a, b, rest))

    def _beside_lines(self, sides: Sides, is_told: bool) -> list[dict[str, Any]]:
        """Return what lines do not show: looks, pictures, and all that stands in other parts."""
        if self._rest(sides) is _NOTHING:
            return []

        def beside(before: Source, after: Source) -> Any:
            return self._formats.diff_beside(before, after, is_told=is_told)

        try:
            return list(self._keep("beside", sides, beside))
        except FormatError as error:
            return [uncompared(error.reason)]

    def _hint_of_lines(self, sides: Sides, hunks: Sequence[Hunk]) -> focus.Hint | None:
        if not hunks:
            return None
        start = hunks[0].new_start
        if sides.kind == "pdf" and sides.after is not None:
            return focus.of_pages(start, self._formats.extract_lines(sides.after))
        added = [line.new_line or 0 for line in hunks[0].lines if line.type == "added"]
        return focus.of_lines(start, added) if sides.kind in ("text", "csv") else None

    def _fallback(self, sides: Sides, error: FormatError) -> Diff:
        try:
            return self._lines(sides, 0)
        except FormatError:
            return self._answer(sides, "metadata", self._facts(sides, error.reason))

    def _facts(self, sides: Sides, reason: str | None = None) -> Facts:
        """Return what is known of both contents: metadata, and the first bytes of opaque ones."""
        before, after = (self._fact(side, sides.kind) for side in (sides.before, sides.after))
        return Facts(before=before, after=after, reason=reason)

    def _fact(self, side: Source | None, kind: str) -> Found | None:
        if side is None:
            return None
        found = dict(self._formats.get_info(side))
        if kind == "binary":
            with side.path.open("rb") as file:
                found["head_hex"] = file.read(_HEX_BYTES).hex(" ")
        return found

    def _keep(
        self,
        what: str,
        sides: Sides,
        make: Callable[[Any, Any], Any],
        worth: Callable[[Any], bool] | None = None,
    ) -> Any:
        key = (what, *sides.contents)
        return self._kept.get(key, lambda: make(sides.before, sides.after), worth=worth)

    def _hint(self, sides: Sides, hint: focus.Hint | None) -> None:
        if hint is not None:
            self._hints.get(sides.contents, lambda: hint)

    def _answer(
        self,
        sides: Sides,
        strategy: str,
        body: Body,
        also: Sequence[dict[str, Any]] = (),
    ) -> Diff:
        return Diff(
            path=sides.path,
            strategy=strategy,
            file_kind=sides.kind,
            old_path=sides.old_path,
            reference_source=sides.reference,
            baseline_missing=sides.before is None,
            reference_warning=sides.warning,
            focus_hint=self._hints.peek(sides.contents),
            body=body,
            also=tuple(also),
            notes=self._notes(sides),
        )

    def _notes(self, sides: Sides) -> tuple[str, ...]:
        try:
            return tuple(self._keep("notes", sides, self._formats.review_notes))
        except FormatError:  # a file that cannot be read is told as one
            return ()


def _lines_of(diff: TextDiff) -> int:
    return sum(len(hunk.lines) for hunk in diff.hunks)


def _cells_before(sheets: Any, sheet: str | None) -> int:
    """Return how many changed cells stand before those of a sheet."""
    names = [one["sheet"] for one in sheets]
    if sheet is not None and sheet not in names:
        raise NotFound("nothing changed on such a sheet", reason="not_found")
    place = 0 if sheet is None else names.index(sheet)
    return sum(one["cell_count"] for one in sheets[:place])


def _page_of_cells(found: Any, sheet: str | None, start: int) -> Cells:
    wanted = [one for one in found["sheets"] if sheet is None or one["sheet"] == sheet]
    before = _cells_before(found["sheets"], sheet)
    total = sum(one["cell_count"] for one in wanted)
    room = min(CELLS_PAGE, _CELLS_LOT - start % _CELLS_LOT)
    at, shown, listed = before, [], 0
    for one in wanted:
        first = max(start, at)  # of this sheet, where the page begins
        lot = max(at, start - start % _CELLS_LOT)  # and where what was found of it begins
        page = one["cells"][first - lot : first - lot + room - listed] if first >= lot else []
        at += one["cell_count"]
        listed += len(page)
        shown.append({**one, "cells": page})
    after = start - before + listed
    return Cells(
        sheets=shown,
        cell_count=total,
        counts=_added_up(one["counts"] for one in wanted),
        more=max(0, total - after),
        cursor=after if after < total else None,
        lines=[one for one in found["lines"] if sheet is None or one["sheet"] == sheet],
        following=found["following"],
    )


def _added_up(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def _one_of(entries: Any, name: str, heavy: tuple[str, ...], index: int | None) -> Parts:
    """Return the list of all without what weighs, and the one asked for, else the first changed."""
    listed = [{k: v for k, v in one.items() if k not in heavy} for one in entries]
    if index is None:
        index = next((one["index"] for one in entries if one["kind"] != "same"), 0)
    if not 0 <= index < max(len(listed), 1):
        raise ValidationFailed(
            f"there is no {name} {index}", reason="bad_params", hints=(f"0 to {len(listed) - 1}",)
        )
    chosen = entries[index] if entries else None
    return Parts(name=name, listed=listed, index=index, chosen=chosen)
