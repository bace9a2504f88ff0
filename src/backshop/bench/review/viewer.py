"""Looking into files: for viewers and the command line, not logged as anybody's work (B12, B19).

A *view* is Published or the Draft, and the Draft where there is one; a *version* of a review is
also what a file was when the Draft began. Pictures of pages are named by an `image_ref`, the path
under which the web app gives their bytes (S7.5).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any
from urllib.parse import quote

from backshop.base import limits, paths, tree
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import CheckpointId, TreeId, check_id
from backshop.base.paths import BenchPath
from backshop.formats import FormatError, Formats, OpenTable, Selector, Source, column_name

from .. import decide
from ..repository import BenchRepository
from ..revision import Draft
from ..state import BenchState
from ..tree.difference import Kept
from . import focus, view_request
from .reference import LAST_LOOK, SINCE, Reference, reference_of

VERSIONS = ("PUBLISHED", "DRAFT", "REFERENCE", "LAST_LOOK")
BLOCKS_MAX = 600  # of a document in one answer
_KEPT_DOCUMENTS = 4
VIEWS = {"published": "PUBLISHED", "draft": "DRAFT"}
_SCALE_STEP, _SCALE_MIN, _SCALE_MAX = 0.25, 0.25, 2.0
_ROWS_AT_GLANCE, _COLUMNS_AT_GLANCE = 16, 8
_ABSENT = ("bad_index", "unknown_sheet")
Found = dict[str, Any]
Window = view_request.FileGrid | view_request.ReviewGrid


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePreview:
    """A picture of a page, slide or image, or why there is none (B12.11–B12.14)."""

    path: str
    version: str
    page_index: int
    scale: float
    image_ref: str | None = None
    mime_type: str | None = None
    page_count: int | None = None
    piece_index: int = 0
    piece_count: int = 1
    """How many pieces the page of a sheet is cut into, so that it can be read."""
    is_cut_short: bool = False
    """LibreOffice left the end of the sheet empty."""
    width: int | None = None
    height: int | None = None
    """Of the picture, in its own pixels."""
    scaled_down: bool = False
    missing: bool = False
    """This version has no such page, or not this file."""
    preview_unavailable: bool = False
    reason: str | None = None
    metadata: Found | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """The bytes behind an `image_ref`."""

    data: bytes
    mime_type: str
    sha256: str


@dataclass(frozen=True, slots=True)
class _Place:
    """One file of one version; `file` None where that version does not have it."""

    state: BenchState
    version: str
    path: BenchPath
    file: tree.File | None


class Viewer:
    """Reads files of benches through the formats."""

    def __init__(self, desk: BenchRepository, formats: Formats) -> None:
        self._desk = desk
        self._formats = formats
        self._documents: Kept[str, Any] = Kept(_KEPT_DOCUMENTS)

    # ------------------------------------------------------------ files of a view

    def info(self, request: view_request.FileRequest) -> Found:
        """Return kind, size and a few facts of one file."""
        return dict(self._formats.get_info(self._viewed(request)))

    def map(self, request: view_request.FileRequest) -> Found:
        """Return the structure of a file."""
        return dict(self._formats.get_map(self._viewed(request), "full"))

    def read(self, request: view_request.FileRead) -> Found:
        """Return a part of a file as text."""
        source = self._viewed(request)
        selector = Selector(
            sheet=request.sheet,
            range=request.range,
            cells=request.cells,
            section=request.section,
            paragraphs=request.paragraphs,
            slide_index=request.slide_index,
            pages=request.pages,
            line_start=request.line_start,
            line_count=request.line_count,
            chunk_index=request.chunk_index,
            char_offset=request.char_offset,
        )
        return dict(self._formats.read(source, selector).to_json(source.name))

    def grid(self, request: view_request.FileGrid) -> Found:
        """Return a window of a sheet."""
        return self._grid(self._viewed(request), request)

    def drawn_sheet(self, request: view_request.FileGrid) -> Found:
        """Return a window of a sheet, drawn (F43.15)."""
        return self._drawn(self._viewed(request), request)

    def section(self, request: view_request.FileSection) -> Found:
        """Return the outline of a document and the blocks of one section, as they stand."""
        source = self._viewed(request)
        sections = self._documents.get(  # compared with itself: all of it is the same
            source.sha256, lambda: self._formats.diff_document(source, source)
        )
        index = request.section_index
        if index is not None and not 0 <= index < max(len(sections), 1):
            raise _no_such("section", index, len(sections))
        wanted = sections if index is None else sections[index : index + 1]
        blocks = [block for one in wanted for block in one["blocks"]]
        return {
            "sections": [{k: one[k] for k in ("index", "heading", "level")} for one in sections],
            "section_count": len(sections),
            "section_index": index,
            "blocks": blocks[:BLOCKS_MAX],
            "has_more": len(blocks) > BLOCKS_MAX,
        }

    def slide(self, request: view_request.FileSlide) -> Found:
        """Return one slide with the places of its shapes."""
        return dict(self._formats.extract_slide(self._viewed(request), request.slide_index))

    def drawn_slide(self, request: view_request.FileSlide) -> Found:
        """Return one slide as Backshop draws it, with the frames of its shapes (F43.30)."""
        return dict(self._formats.draw_slide(self._viewed(request), request.slide_index))

    def drawn_document(self, request: view_request.FileDocument) -> Found:
        """Return a window of a document as it flows, as blocks (F43.50)."""
        window = (request.first_block, request.block_count)
        return dict(self._formats.draw_document(self._viewed(request), *window))

    def page(self, request: view_request.FilePage) -> PagePreview:
        """Return a picture of one page of a file."""
        about = (request.page_index, request.scale, request.piece_index)
        return self._preview(self._in_view(request), *about)

    def describe(self, request: view_request.TableRequest) -> Found:
        """Return what each column of a table holds."""
        return dict(self._table(request).describe())

    def stats(self, request: view_request.TableStats) -> Found:
        """Return statistics of columns."""
        return dict(self._table(request).stats(request.columns))

    def rows(self, request: view_request.TableReadRows) -> Found:
        """Return rows in the order of the file."""
        table = self._table(request)
        return dict(table.read_rows(request.row_start, request.row_count, request.columns))

    def query(self, request: view_request.TableQuery) -> Found:
        """Return a window of the result of one SELECT."""
        table = self._table(request)
        return dict(table.query(request.query, request.window_rows, request.window_offset))

    # ------------------------------------------------------------ versions of a review

    def pdf_page(self, request: view_request.ReviewPage) -> PagePreview:
        """Return a picture of a page of one version of a PDF."""
        return self._page_of(request, request.page_index, request.scale, "pdf")

    def docx_page(self, request: view_request.ReviewPage) -> PagePreview:
        """Return a picture of a page of one version of a Word document."""
        return self._page_of(request, request.page_index, request.scale, "docx")

    def odt_page(self, request: view_request.ReviewPage) -> PagePreview:
        """Return a picture of a page of one version of an OpenDocument text."""
        return self._page_of(request, request.page_index, request.scale, "odt")

    def xlsx_page(self, request: view_request.ReviewSheetPage) -> PagePreview:
        """Return a picture of a sheet of one version of a workbook, by its place among them."""
        about = (request.page_index, request.scale, "xlsx", request.piece_index)
        return self._page_of(request, *about)

    def image(self, request: view_request.ReviewPage) -> PagePreview:
        """Return a picture of one version of an image."""
        return self._page_of(request, request.page_index, request.scale, "image")

    def _page_of(
        self,
        request: view_request.ReviewVersion,
        index: int,
        scale: float,
        kind: str,
        piece: int = 0,
    ) -> PagePreview:
        place, other = self._both(request)
        self._require_kind(place, other, kind)
        if index < 0 or piece < 0:
            raise ValidationFailed("pages count from 0", reason="bad_params")
        if place.file is None:
            return _missing(place, index, scale)
        found = self._preview(place, index, scale, piece)
        if found.missing and (
            other.file is None or self._preview(other, index, scale, piece).missing
        ):
            raise ValidationFailed(f"neither side has page_index {index}", reason="bad_params")
        return found

    def slide_preview(self, request: view_request.ReviewSlide) -> PagePreview:
        """Return a picture of a slide."""
        return self._page_of(request, request.slide_index, request.scale, "pptx")

    def preview_drawn_slide(self, request: view_request.ReviewDrawnSlide) -> Found:
        """Return one slide of one version, drawn; `missing` where that version has none."""
        place, other = self._both(request)
        self._require_kind(place, other, "pptx")
        index = request.slide_index
        drawing = self._slide_or_none(place, index)
        if drawing is None and self._slide_or_none(other, index) is None:
            raise ValidationFailed(f"neither side has slide_index {index}", reason="bad_params")
        return {"drawing": drawing, "missing": drawing is None}

    def _slide_or_none(self, place: _Place, index: int) -> Found | None:
        if place.file is None:
            return None
        try:
            return dict(self._formats.draw_slide(self._source(place), index))
        except FormatError as error:
            if error.reason == "unknown_slide":
                return None
            raise

    def preview_drawn_document(self, request: view_request.ReviewDrawnDocument) -> Found:
        """Return a window of a document of one version, as it flows; `missing` where it is none."""
        place, other = self._both(request)
        if place.file is None and other.file is None:
            raise NotFound("neither side has this path", reason="not_found")
        if place.file is None:
            return {"drawing": None, "missing": True}
        window = (request.first_block, request.block_count)
        drawing = self._formats.draw_document(self._source(place), *window)
        return {"drawing": dict(drawing), "missing": False}

    def preview_grid(self, request: view_request.ReviewGrid) -> Found:
        """Return a window of a sheet of one version, and what changed in it (B12.9, B12.13)."""
        place, other = self._both(request)
        self._require_kind(place, other, "xlsx")
        found = self._grid_or_none(place, request)
        if found is not None:
            changes = self._changes_in(place, other, found["sheet"], request)
            return {**found, "changes": changes, "missing": False}
        if self._grid_or_none(other, request) is None:
            raise ValidationFailed("neither side has this sheet", reason="bad_params")
        return {"missing": True, "sheets": [], "cells": [], "row_count": 0, "col_count": 0}

    def preview_drawn_sheet(self, request: view_request.ReviewGrid) -> Found:
        """Return a window of a sheet of one version, drawn, and what changed in it (B12.23)."""
        place, other = self._both(request)
        self._require_kind(place, other, "xlsx")
        drawing = self._drawn_or_none(place, request)
        if drawing is not None:
            changes = self._changes_in(place, other, drawing["sheet"], request)
            return {"drawing": drawing, "changes": changes, "missing": False}
        if self._drawn_or_none(other, request) is None:
            raise ValidationFailed("neither side has this sheet", reason="bad_params")
        return {"drawing": None, "changes": [], "missing": True}

    def picture(
        self,
        bench_id: str,
        version: str,
        raw_path: str,
        page_index: int,
        scale: float,
        part: str | None = None,
        piece_index: int = 0,
    ) -> Picture:
        """Return the bytes an `image_ref` names; with `part`, of a picture inside the file.

        Raises:
            NotFound: there is no such file, page or picture.
        """
        place = self._there(bench_id, version, raw_path)
        assert place.file is not None, "it is there"
        source = self._source(place)
        if part is None and self._is_svg(source):
            return Picture(source.path.read_bytes(), "image/svg+xml", place.file.sha256)
        if part is None:
            drawn = self._formats.render_page(source, page_index, _bucket(scale), piece_index)
        else:
            drawn = self._formats.render_part(source, part)
        if drawn.image is None or drawn.mime_type is None:
            raise NotFound("there is no picture of this", reason=drawn.reason or "not_found")
        return Picture(drawn.image, drawn.mime_type, place.file.sha256)

    def content(self, bench_id: str, version: str, raw_path: str) -> str | None:
        """Return the hash of a file in one version; None where that version does not have it."""
        place = self._place(bench_id, raw_path, version)
        return None if place.file is None else place.file.sha256

    def has_office(self) -> bool:
        """Whether there is a LibreOffice that draws pages (F29.7)."""
        return self._formats.has_office()

    def page_layout_of(self, bench_id: str, version: str, raw_path: str, index: int) -> Found:
        """Return where text stands on LibreOffice's page of one version (F29.12); else nothing.

        Raises:
            NotFound: there is no such file.
        """
        source = self._source(self._there(bench_id, version, raw_path))
        try:
            return dict(self._formats.page_layout(source, index) or {})
        except FormatError:
            return {}  # its picture is shown all the same

    def landmarks_of(self, bench_id: str, version: str, raw_path: str) -> Found:
        """Return where blocks stand on LibreOffice's pages of one version (F29.13); else nothing.

        Raises:
            NotFound: there is no such file.
        """
        source = self._source(self._there(bench_id, version, raw_path))
        try:
            return dict(self._formats.landmarks(source) or {})
        except FormatError:
            return {}  # its pages are shown all the same

    def drawn_slide_of(self, bench_id: str, version: str, raw_path: str, index: int) -> Picture:
        """Return a slide of one version as SVG, to be named by its content (U8.4).

        Raises:
            NotFound: there is no such file.
        """
        place = self._there(bench_id, version, raw_path)
        return _svg(place, self._formats.draw_slide(self._source(place), index))

    def drawn_sheet_of(
        self,
        bench_id: str,
        version: str,
        raw_path: str,
        sheet: str | None,
        window: tuple[int, int, int, int],
    ) -> Picture:
        """Return a window of a sheet of one version as SVG: first row, column, how many of each.

        Raises:
            NotFound: there is no such file.
        """
        place = self._there(bench_id, version, raw_path)
        return _svg(place, self._formats.draw_sheet(self._source(place), sheet, *window))

    def glance(
        self, bench_id: str, version: str, raw_path: str, hint: focus.Hint | None = None
    ) -> Picture:
        """Return one page, slide or sheet of a file as a small picture: the first, or of a hint.

        `version` may also be a checkpoint, which pictures of reviews know nothing of.

        Raises:
            NotFound: there is no such version or file, or it has no picture.
        """
        path = paths.bench_path(raw_path)
        state = self._desk.state(bench_id)
        if version == "PUBLISHED":
            head = state.published
        else:
            held = decide.require_checkpoint(state, CheckpointId(check_id(version, "cp")))
            head = held.tree
        file = tree.lookup(head, path, self._desk.store.load_tree)
        if file is None:
            raise NotFound("this version does not have the file", reason="not_found")
        source, looked_at = self._source(_Place(state, version, path, file)), _looked_at(hint or {})
        try:
            return Picture(self._page_or_first(source, looked_at), "image/png", file.sha256)
        except FormatError as error:
            raise NotFound("this file has no picture", reason="not_found") from error

    def _page_or_first(self, source: Source, looked_at: dict[str, Any]) -> bytes:
        """Return the part that is looked at, else the first: what changed may be that it went."""
        try:
            return self._formats.view_page(source, **looked_at).image
        except FormatError:
            if not looked_at:
                raise
        return self._formats.view_page(source).image

    def _there(self, bench_id: str, version: str, raw_path: str) -> _Place:
        place = self._place(bench_id, raw_path, version)
        if place.file is None:
            raise NotFound("this version does not have the file", reason="not_found")
        return place

    def pictures_inside(self, bench_id: str, version: str, raw_path: str) -> dict[str, str]:
        """Return the pictures inside an office file of one version: names and hashes (U4.2)."""
        place = self._place(bench_id, raw_path, version)
        return {} if place.file is None else self._formats.picture_parts(self._source(place))

    # ------------------------------------------------------------ inside

    def _viewed(self, request: view_request.FileRequest) -> Source:
        return self._source(self._in_view(request))

    def _in_view(self, request: view_request.FileRequest) -> _Place:
        state = self._desk.state(request.workbench_id)
        version = _version_of_view(state, request.view)
        path = paths.bench_path(request.path)
        file = self._desk.find(_tree_of(state, version), path)
        return _Place(state, version, path, file)

    def _source(self, place: _Place) -> Source:
        assert place.file is not None
        blob = self._desk.store.blobs.path(place.file.sha256)
        return self._formats.source(blob, place.path, place.file.sha256)

    def _table(self, request: view_request.TableRequest) -> OpenTable:
        source, dialect = self._viewed(request), request.dialect
        return self._formats.open_table(source, request.sheet, request.range, dialect=dialect)

    def _both(self, request: view_request.ReviewVersion) -> tuple[_Place, _Place]:
        """Return a file in the version asked for, and in the one it is compared with."""
        version, other = _versions(request)
        return (
            self._place(request.workbench_id, request.path, version),
            self._place(request.workbench_id, request.path, other),
        )

    def _place(self, bench_id: str, raw_path: str, version: str) -> _Place:
        """Return a file by the path it has in the Draft, or the one it had before."""
        if version not in VERSIONS:
            raise ValidationFailed("there is no such version", reason="bad_params", hints=VERSIONS)
        state = self._desk.state(bench_id)
        path = paths.bench_path(raw_path)
        head = _tree_of(state, version)
        file = tree.lookup(head, path, self._desk.store.load_tree)
        if file is None and state.draft is not None:
            draft = state.draft
            began = _reference(draft, version).tree
            change = self._desk.compare.find(began, draft.tree, path)
            twin = None if change is None else (change.path, change.old_path)
            for name in twin or ():
                found = name and tree.lookup(head, name, self._desk.store.load_tree)
                if name and found:
                    path, file = name, found
        return _Place(state, version, path, file)

    def _require_kind(self, place: _Place, other: _Place, wanted: str) -> None:
        shown = place if place.file is not None else other
        if shown.file is None:
            raise NotFound("neither side has this path", reason="not_found")
        kind = self._desk.compare.kind(shown.path, shown.file)
        found = "unreadable" if kind is None else kind.kind.value
        if found != wanted:
            raise ValidationFailed(
                f"this is a file of kind {found}", reason="bad_params", detail=f"kind: {found}"
            )

    def _preview(self, place: _Place, index: int, scale: float, piece: int = 0) -> PagePreview:
        assert place.file is not None
        source, bucket = self._source(place), _bucket(scale)
        answer = _answering(place, index, bucket, piece)
        if self._is_svg(source):
            if index:
                return _missing(place, index, scale)
            return answer(mime_type="image/svg+xml", page_count=1, image=True)
        try:
            drawn = self._formats.render_page(source, index, bucket, piece)
        except FormatError as error:
            if error.reason == "bad_index":
                return _missing(place, index, scale)
            return answer(preview_unavailable=True, reason=error.reason)
        if not drawn.available:
            return answer(preview_unavailable=True, reason=drawn.reason)
        kind = self._desk.compare.kind(place.path, place.file)
        is_image = kind is not None and kind.kind.value == "image"
        return answer(
            image=True,
            mime_type=drawn.mime_type,
            page_count=drawn.page_count,
            piece_count=drawn.piece_count,
            is_cut_short=drawn.is_cut_short,
            **_size(drawn.image),
            scaled_down=drawn.scaled_down,
            metadata=dict(self._formats.get_info(source)) if is_image else None,
        )

    def _is_svg(self, source: Source) -> bool:
        return source.extension == ".svg"

    def _grid_or_none(self, place: _Place, request: Window) -> Found | None:
        if place.file is None:
            return None
        try:
            return self._grid(self._source(place), request)
        except FormatError as error:
            if error.reason in _ABSENT:
                return None
            raise

    def _drawn_or_none(self, place: _Place, request: Window) -> Found | None:
        if place.file is None:
            return None
        try:
            return self._drawn(self._source(place), request)
        except FormatError as error:
            if error.reason in _ABSENT:
                return None
            raise

    def _drawn(self, source: Source, request: Window) -> Found:
        return dict(self._formats.draw_sheet(source, request.sheet, *_window(request)))

    def _changes_in(
        self, place: _Place, other: _Place, sheet: str, request: view_request.ReviewGrid
    ) -> list[Any] | None:
        """Return the changed cells of a window; None where it is not known (B12.9)."""
        is_before = place.version != "DRAFT"
        before, after = (place, other) if is_before else (other, place)
        if place.version == "PUBLISHED" or before.file is None or after.file is None:
            return []
        try:
            return [
                *self._formats.diff_window(
                    self._source(before), self._source(after), sheet, *_window(request), is_before
                )
            ]
        except FormatError:
            return None  # the cells are shown all the same, and that nothing is known of them

    def _grid(self, source: Source, request: Window) -> Found:
        """Return a window; what is asked beyond the largest one is left off (B12.12)."""
        return dict(self._formats.extract_grid(source, request.sheet, *_window(request)))


def _window(request: Window) -> tuple[int, int, int, int]:
    """Return first row and column, and how many of each; not more than a grid has."""
    return (
        request.row_start,
        request.col_start,
        min(request.row_count, limits.GRID_MAX_ROWS),
        min(request.col_count, limits.GRID_MAX_COLUMNS),
    )


def _version_of_view(state: BenchState, view: str | None) -> str:
    if view is None:
        return "PUBLISHED" if state.draft is None else "DRAFT"
    if view not in VIEWS:
        raise ValidationFailed(
            "a view is published or draft", reason="bad_params", hints=tuple(VIEWS)
        )
    return VIEWS[view]


def _tree_of(state: BenchState, version: str) -> TreeId:
    if version == "PUBLISHED":
        return state.published
    draft = decide.require_draft(state)
    return draft.tree if version == "DRAFT" else _reference(draft, version).tree


def _reference(draft: Draft, version: str) -> Reference:
    """Return what a version that is not the Draft itself is compared by."""
    return reference_of(draft, LAST_LOOK if version == "LAST_LOOK" else None)


def _versions(request: view_request.ReviewVersion) -> tuple[str, str]:
    """Return the version that is asked for, and the one it is compared with."""
    if request.since not in (None, *SINCE):
        raise ValidationFailed(
            "a review is since draft_start or last_look", reason="bad_params", hints=SINCE
        )
    reference = "LAST_LOOK" if request.since == LAST_LOOK else "REFERENCE"
    version = reference if request.version == "REFERENCE" else request.version
    return version, reference if version == "DRAFT" else "DRAFT"


def _bucket(scale: float) -> float:
    if not isfinite(scale):
        raise ValidationFailed("a scale is a number", reason="bad_params")
    return min(max(round(scale / _SCALE_STEP) * _SCALE_STEP, _SCALE_MIN), _SCALE_MAX)


def _missing(place: _Place, index: int, scale: float) -> PagePreview:
    return _answering(place, index, _bucket(scale))(missing=True)


def _size(png: bytes | None) -> dict[str, int]:
    """Return how large a picture is, by its head."""
    sides = png[16:24] if png else b""
    return dict(zip(("width", "height"), struct.unpack(">II", sides), strict=True)) if sides else {}


def _answering(
    place: _Place, index: int, scale: float, piece: int = 0
) -> Callable[..., PagePreview]:
    def answer(*, image: bool = False, **facts: Any) -> PagePreview:
        ref = _image_ref(place, index, scale, piece) if image else None
        return PagePreview(
            path=place.path,
            version=place.version,
            page_index=index,
            piece_index=piece,
            scale=scale,
            image_ref=ref,
            **facts,
        )

    return answer


def _looked_at(hint: focus.Hint) -> dict[str, Any]:
    """Return which part of a file a picture shows, so that what a hint names is seen in it."""
    if "slide_index" in hint:
        return {"page": hint["slide_index"] + 1}
    if "sheet" not in hint:
        return {}
    row, col = hint.get("row_start", 0), hint.get("col_start", 0)
    if row < _ROWS_AT_GLANCE and col < _COLUMNS_AT_GLANCE:
        return {"sheet": hint["sheet"]}
    top, left = max(1, row - 1), max(1, col - 1)
    end = f"{column_name(left + _COLUMNS_AT_GLANCE)}{top + _ROWS_AT_GLANCE}"
    return {"sheet": hint["sheet"], "range": f"{column_name(left)}{top}:{end}"}


def _svg(place: _Place, drawing: Mapping[str, Any]) -> Picture:
    assert place.file is not None, "what is drawn is there"
    return Picture(str(drawing["svg"]).encode(), "image/svg+xml", place.file.sha256)


def _image_ref(place: _Place, index: int, scale: float, piece: int) -> str:
    assert place.file is not None
    cut = f"&piece={piece}" if piece else ""
    return (
        f"/bench/{place.state.bench_id}/preview/{place.version}/{index}/{scale:.2f}/"
        f"{quote(place.path)}?content={place.file.sha256[:16]}{cut}"
    )


def _no_such(what: str, index: int, count: int) -> ValidationFailed:
    return ValidationFailed(
        f"there is no {what} {index}", reason="bad_params", hints=(f"0 to {max(count - 1, 0)}",)
    )
