"""`Formats`: map, read, edit, compare all kinds of file; `dispatch` knows the kinds (F1.4)."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from backshop.base import limits as numbers
from backshop.base.place import Place

from .diff import remainder
from .diff.line_diff import TableDiff, TextDiff
from .diff.remainder import Entry
from .dispatch import BUILTIN, HERE, OFFICE, Dispatcher, discover
from .errors import FormatError, fail
from .find import Needle
from .kind import OTHER_WORKBOOKS, FileKind, kind_has_notes, kind_of_name, require_text_name
from .map_cache import MapCache
from .open_table import OpenTable
from .package.guard import check_size
from .picture import page_view
from .picture.rendering import MAX_SCALE, MIN_SCALE, PageView, Preview, Renderer
from .protocol import (
    MAP_VERSION,
    Applied,
    Found,
    Json,
    JsonObject,
    Kind,
    Limits,
    Map,
    OpsRequest,
    Read,
    Selector,
    Source,
    TextQuery,
    as_object,
)
from .selection.change_unit import ChangeUnit, Relocated
from .separation import Separation
from .text.dialect_wish import DialectWish
from .window import shorten

T = TypeVar("T")

_LEVELS = {"prompt": numbers.MAP_PROMPT_MAX_BYTES, "full": numbers.MAP_FULL_MAX_BYTES}

_INVENTORY = "inventory-2"  # the number counts on when what is looked for does
_NO_FILE: JsonObject = {"hosts": (), "hosts_left_out": 0, "units": {}, "named": ()}
_IN_PARTS = frozenset({Kind.DOCX, Kind.XLSX, Kind.PPTX, Kind.ODT})
_DOCUMENTS, _DECKS = frozenset({Kind.DOCX, Kind.ODT}), frozenset({Kind.PPTX})
_PAPER = _DOCUMENTS | _DECKS
_WORD = frozenset({Kind.DOCX})
_EXTRACTED = {"extract_document": _DOCUMENTS, "extract_deck": _DECKS}


class Formats:
    """The door to what is inside files: every call runs in a worker under its limits.

    `cache` is a folder for maps, tables and page pictures that may be deleted at any time; without
    one, maps are kept in memory only. Close it, or use it with `with`, to end its workers.
    """

    def __init__(
        self,
        *,
        cache: Path | None = None,
        limits: Limits | None = None,
        workers: int = 2,
        plugins: Mapping[str, str] | None = None,
        renderer: str | None = None,
    ) -> None:
        self._do = Dispatcher(
            cache=cache,
            limits=limits or Limits(),
            workers=workers,
            plugins=discover() if plugins is None else plugins,
        )
        self.limits = self._do.limits
        self._renderer = Renderer(self._do, cache, renderer)
        self._separation = Separation(self._do)
        self._maps = MapCache(None if cache is None else cache / "maps")

    def __enter__(self) -> Formats:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""
        self._do.close()

    # --- what a file is ------------------------------------------------------------------------

    def source(self, path: Path, name: str | None = None, sha256: str | None = None) -> Source:
        """Return the source of a file on disk; its hash is computed unless it is known.

        Raises:
            FormatError: `not_found`, `unsupported_format` for what is no plain file (a pipe, a
                device), `corrupt_file` when the system does not let it be read.
        """
        return Source(path, sha256 or _hash(path, name), name or path.name, self.limits)

    def classify(self, source: Source) -> FileKind:
        """Return the kind of a file from its name and first bytes (F2.1)."""
        return self._do.classify(source)

    def get_info(self, source: Source) -> JsonObject:
        """Return kind, size and the few facts of F15.1; a damaged file still has those it can."""
        try:
            kind = self._do.classify(source)
        except FormatError as error:
            if error.reason == "not_found":
                raise
            promised = kind_of_name(source.name)
            common = _common(source, promised, "application/octet-stream", writable=False)
            return {**common, "warnings": [_as_warning(error)]}
        common = _common(source, kind.kind, kind.mime, writable=kind.writable)
        module = self._do.module(source, kind)
        if module is None:
            return {**common, "warnings": []}
        try:
            check_size(source, kind.kind, self.limits)
            extra = self._do.map_call(module, "get_info", source)
        except FormatError as error:
            return {**common, "warnings": [_as_warning(error)]}
        assert isinstance(extra, Mapping)
        return {**common, "warnings": [], **extra}

    # --- looking inside ------------------------------------------------------------------------

    def get_map(self, source: Source, level: str = "full") -> dict[str, Json]:
        """Return the structure of a file; `level` is `full` or `prompt`, the shorter one (F5.9)."""
        if level not in _LEVELS:
            raise fail("bad_value", f"there is no map level {level!r}", hints=_LEVELS)
        known = self._maps.get(source, level)
        if known is not None:
            return known
        module, kind = self._do.readable(source)
        if kind is Kind.CSV:
            drawn: object = self.open_table(source).draw()
        else:
            drawn = self._do.map_call(module, "get_map", source)
        assert isinstance(drawn, Map)
        full = drawn.to_json(source)
        for name, most in _LEVELS.items():
            self._maps.put(source, name, shorten(full, most))
        return shorten(full, _LEVELS[level])

    def read(self, source: Source, selector: Selector | None = None) -> Read:
        """Return a part of a file as text (F5.2)."""
        module, _ = self._do.readable(source)
        is_slow = source.size_bytes >= numbers.LARGE_CONTENT_BYTES // 4
        is_slow = is_slow or source.extension in OTHER_WORKBOOKS  # all of it is gone through
        most = self.limits.map_timeout_s if is_slow else self.limits.read_timeout_s
        call = (module, "read", source, selector or Selector())
        return _a(Read, self._do.read_call(*call, timeout_s=most))

    def search(self, source: Source, query: TextQuery, timeout_s: float | None = None) -> Found:
        """Return where a file has a text (F33), in at most the time of a map."""
        module, kind = self._do.readable(source)
        if kind is Kind.IMAGE:
            raise fail("unsupported_format", f"{source.name!r} has no text")
        most = min(timeout_s or self.limits.map_timeout_s, self.limits.map_timeout_s)
        call = (HERE + "passage_search", "search", module, source, query)
        return _a(Found, self._do.read_call(*call, timeout_s=most))

    def get_inventory(self, source: Source | None) -> JsonObject:
        """Return what a file holds, counted, and which hosts it names (F29.10); None holds nothing.

        Raises:
            FormatError: it cannot be read, or is of a kind that is not looked into.
        """
        if source is None:
            return _NO_FILE
        known = self._maps.get(source, _INVENTORY)
        if known is not None:
            return known
        kind = self._do.readable(source)[1]
        made = as_object(self._do.map_call(HERE + "inventory", "get_inventory", source, kind.value))
        self._maps.put(source, _INVENTORY, {"map_version": MAP_VERSION, **made})
        return made

    def get_styles(self, source: Source, sheet: str | None = None) -> JsonObject:
        """Return the styles and assets of an office file (F21)."""
        module = self._do.office(source)
        args = (source,) if sheet is None else (source, sheet)
        return as_object(self._do.read_call(module, "get_styles", *args))

    def extract_lines(self, source: Source) -> list[str]:
        """Return stable lines for review (F29.1)."""
        module, _ = self._do.readable(source)
        return _a(list, self._do.map_call(module, "extract_lines", source))

    def extract_section(self, source: Source, section_index: int) -> JsonObject:
        """Return one section of a document (F29.2)."""
        module, _ = self._do.readable(source)
        return as_object(self._do.read_call(module, "extract_section", source, section_index))

    def extract_slide(
        self, source: Source, slide_index: int, detail: str = "positioned"
    ) -> JsonObject:
        """Return one slide of a presentation (F29.3)."""
        module, _ = self._do.readable(source)
        return as_object(self._do.read_call(module, "extract_slide", source, slide_index, detail))

    def extract_grid(
        self,
        source: Source,
        sheet: str | None = None,
        row_start: int = 0,
        col_start: int = 0,
        row_count: int = numbers.GRID_MAX_ROWS,
        col_count: int = numbers.GRID_MAX_COLUMNS,
    ) -> JsonObject:
        """Return a window of a sheet with values, formulas and looks (F29.4)."""
        module, _ = self._do.readable(source)
        window = (sheet, row_start, col_start, row_count, col_count)
        # a sheet that is not written as usual is surveyed, which takes the time of a map
        return as_object(self._do.map_call(module, "extract_grid", source, *window))

    def draw_sheet(
        self,
        source: Source,
        sheet: str | None = None,
        row_start: int = 0,
        col_start: int = 0,
        row_count: int = numbers.GRID_MAX_ROWS,
        col_count: int = numbers.GRID_MAX_COLUMNS,
    ) -> JsonObject:
        """Return a window of a sheet drawn as SVG, and what stands where in it (F43.15).

        Raises:
            FormatError: `bad_range`, `unknown_sheet`, `unsupported_format`, and those of reads.
        """
        self._workbook(source)
        window = (sheet, row_start, col_start, row_count, col_count)
        return self._renderer.drawing(source, "draw_sheet", *window)

    def draw_sheet_picture(
        self,
        source: Source,
        sheet: str | None = None,
        row_start: int = 0,
        col_start: int = 0,
        row_count: int = numbers.GRID_MAX_ROWS,
        col_count: int = numbers.GRID_MAX_COLUMNS,
        scale: float = 1.0,
    ) -> Preview:
        """Return the same drawing as PNG; `page_count` is the number of sheets (F43.15)."""
        self._workbook(source)
        if not MIN_SCALE <= scale <= MAX_SCALE:
            raise fail("bad_value", f"a scale is from {MIN_SCALE} to {MAX_SCALE}")
        window = (sheet, row_start, col_start, row_count, col_count)
        return self._renderer.drawing_picture(source, "draw_sheet_png", *window, scale)

    def _workbook(self, source: Source) -> None:
        if self._do.readable(source)[1] is not Kind.XLSX:
            raise fail("unsupported_format", f"{source.name!r} has no sheets")

    def diff_cells(
        self,
        before: Source,
        after: Source,
        skip: int = 0,
        limit: int = numbers.CELLS_DIFFERING_LISTED,
    ) -> JsonObject:
        """Return how many cells differ between two workbooks, and some of them (F29.5)."""
        module, _ = self._do.readable(after)
        self._do.readable(before)
        return as_object(self._do.map_call(module, "diff_cells", before, after, skip, limit))

    def diff_window(
        self,
        before: Source,
        after: Source,
        sheet: str | None = None,
        row_start: int = 0,
        col_start: int = 0,
        row_count: int = numbers.GRID_MAX_ROWS,
        col_count: int = numbers.GRID_MAX_COLUMNS,
        is_before: bool = False,
    ) -> list[JsonObject]:
        """Return the cells that differ in a window of a sheet, of either version (F29.5)."""
        module, _ = self._do.readable(after)
        self._do.readable(before)
        window = (sheet, row_start, col_start, row_count, col_count, is_before)
        found = self._do.map_call(module, "diff_window", before, after, *window)
        return [as_object(one) for one in _a(list, found)]

    def diff_rest(self, before: Source, after: Source) -> JsonObject:
        """Return what differs between two versions beyond what their diff tells (B12.22).

        `rest` names every such place; `described` are the parts whose changes the diff tells.
        """
        module, kind = self._do.readable(after)
        if kind not in _IN_PARTS or self._do.readable(before)[1] is not kind:
            raise fail("unsupported_format", f"{after.name!r} does not consist of parts")
        return as_object(self._do.map_call(module, "diff_rest", before, after))

    def review_notes(self, before: Source | None, after: Source | None) -> list[str]:
        """Return what a reviewer should know of a file beside its changes: macros (F40.5)."""
        sides = [side for side in (before, after) if side is not None]
        if not any(kind_has_notes(side.name) for side in sides):
            return []
        found = [self._do.readable(side) for side in sides]
        if any(kind is not Kind.XLSX for _, kind in found):
            return []
        return _a(list, self._do.map_call(found[0][0], "review_notes", before, after))

    def diff_beside(self, before: Source, after: Source, *, is_told: bool) -> list[Entry]:
        """Return what the lines of `diff_text` do not show: looks, pictures, all else (B12.22).

        `is_told` says whether they show anything. Files whose lines are all there is have nothing.
        """
        kind = self._do.readable(after)[1]
        is_pair = kind in _IN_PARTS and self._do.readable(before)[1] is kind
        if not is_pair or before.sha256 == after.sha256:
            return []
        found = self.diff_rest(before, after)
        beyond: list[Entry] = []
        told: tuple[str, ...] = ()
        if kind in _EXTRACTED["extract_document"]:
            beyond = remainder.in_sections(self.diff_document(before, after))
        elif kind is Kind.PPTX:
            slides = self.diff_deck(before, after, _a(list, found["rest"]))
            beyond, told = remainder.in_slides(slides), remainder.told_slides(slides)
        else:
            cells = self.diff_cells(before, after)
            sheets, lines = _a(list, cells["sheets"]), _a(list, cells["lines"])
            beyond = remainder.in_cells(sheets, lines)
            told = remainder.told_sheets(sheets, lines)
        left = remainder.unsaid(found, told, is_anything_told=is_told or bool(beyond))
        return [*beyond, *remainder.without_facts(left)]

    def diff_text(self, before: Source | None, after: Source | None) -> TextDiff:
        """Return the line diff of two versions of a file; None is a version that is not there.

        Text and csv compare their own lines, everything else the lines of F29.1 (B12.1, B12.6).
        """
        sides = [side for side in (before, after) if side is not None]
        kinds = {self._do.readable(side)[1] for side in sides}
        if kinds <= {Kind.TEXT, Kind.CSV}:
            found = self._do.map_call(HERE + "text.plain", "text_diff", before, after)
            return _a(TextDiff, found)
        old, new = ([] if side is None else self.extract_lines(side) for side in (before, after))
        return _a(TextDiff, self._do.map_call(HERE + "diff.line_diff", "diff_lines", old, new))

    def diff_table(self, before: Source, after: Source) -> TableDiff:
        """Return the row diff of two delimited files (B12.4)."""
        if {self._do.readable(side)[1] for side in (before, after)} != {Kind.CSV}:
            raise fail("unsupported_format", "only delimited files have rows")
        found = self._do.map_call(HERE + "text.delimited", "table_diff", before, after)
        return _a(TableDiff, found)

    def diff_document(self, before: Source | None, after: Source | None) -> list[JsonObject]:
        """Return the sections of two versions of a document, paired, with their blocks (B12.5)."""
        sides = [self._extracted(side, "extract_document") for side in (before, after)]
        lines = [[] if side is None else self.extract_lines(side) for side in (before, after)]
        return _a(list, self._do.map_call(HERE + "diff.prose", "diff_documents", *sides, *lines))

    def diff_deck(
        self, before: Source | None, after: Source | None, rest: Sequence[JsonObject] = ()
    ) -> list[JsonObject]:
        """Return the slides of two versions of a presentation, paired (B12.8).

        `rest` is that of `diff_rest`: what belongs to a slide becomes a fact of it.
        """
        sides = [self._extracted(side, "extract_deck") for side in (before, after)]
        return _a(list, self._do.map_call(HERE + "diff.deck_diff", "diff_decks", *sides, rest))

    def diff_pages(self, before: Source, after: Source) -> list[JsonObject]:
        """Return the pages of two versions of a PDF, paired by what stands on them (B12.10)."""
        if {self._do.readable(side)[1] for side in (before, after)} != {Kind.PDF}:
            raise fail("unsupported_format", f"{after.name!r} has no pages of its own")
        module, _ = self._do.readable(after)
        return _a(list, self._do.map_call(module, "diff_pages", before, after))

    def _extracted(self, source: Source | None, how: str) -> JsonObject | None:
        if source is None:
            return None
        module, kind = self._do.readable(source)
        if kind not in _EXTRACTED[how]:
            raise fail("unsupported_format", f"{source.name!r} has no sections or slides")
        return as_object(self._do.map_call(module, how, source))

    def open_table(
        self,
        source: Source,
        sheet: str | None = None,
        range: str | None = None,
        header_row: int | None = None,
        dialect: DialectWish | Json = None,
    ) -> OpenTable:
        """Return a handle to ask the table of a file with (F25.1); nothing is read yet.

        `dialect` says how a delimited file is written, as far as that is known (F25.10).
        """
        return OpenTable(self._do, source, sheet, range, header_row, dialect)

    def render_page(
        self, source: Source, page_index: int, scale: float = 1.0, piece_index: int = 0
    ) -> Preview:
        """Return a picture of a page, slide or image, of a sheet one piece (F29.7), from 0."""
        return self._renderer.page(source, page_index, scale, piece_index)

    def has_office(self) -> bool:
        """Whether there is a LibreOffice that draws pages of office files (F29.7)."""
        return self._renderer.has_office()

    def page_layout(self, source: Source, page_index: int) -> JsonObject | None:
        """Return where text stands on LibreOffice's page of a file (F29.12), pages from 0.

        None where there is no LibreOffice, or it draws none.

        Raises:
            FormatError: `bad_index`, `unsupported_format`, and those of reads.
        """
        self._require(source, _PAPER, "pages of LibreOffice")
        return self._renderer.office_layout(source, page_index)

    def landmarks(self, source: Source) -> JsonObject | None:
        """Return where the blocks of a Word document stand on LibreOffice's pages (F29.13).

        None where there is no LibreOffice, or it draws none.

        Raises:
            FormatError: `unsupported_format`, and those of reads.
        """
        self._require(source, _WORD, "blocks on pages of LibreOffice")
        return self._renderer.office_landmarks(source)

    def view_page(
        self,
        source: Source,
        page: int | None = None,
        sheet: str | None = None,
        range: str | None = None,
    ) -> PageView:
        """Return a part of a file as a picture for who takes pictures, and its facts (F43.70).

        Pages, slides and frames count from 1; a workbook has sheets and ranges instead.

        Raises:
            FormatError: `bad_range`, `bad_selector`, `unsupported_format`, and those of reads.
        """
        kind = self._do.readable(source)[1]
        return page_view.view(self._renderer, kind, source, page, sheet, range)

    def draw_slide(self, source: Source, slide_index: int) -> JsonObject:
        """Return a slide drawn as SVG, with the frames of its shapes (F43.30).

        Raises:
            FormatError: `unknown_slide`, `unsupported_format`, and those of reads.
        """
        self._require(source, _DECKS, "slides")
        return self._renderer.drawing(source, "draw_slide", slide_index)

    def draw_slide_picture(self, source: Source, slide_index: int, scale: float = 1.0) -> Preview:
        """Return the same drawing as PNG; `page_count` is the number of slides (F43.30)."""
        self._require(source, _DECKS, "slides")
        if not MIN_SCALE <= scale <= MAX_SCALE:
            raise fail("bad_value", f"a scale is from {MIN_SCALE} to {MAX_SCALE}")
        return self._renderer.drawing_picture(source, "draw_slide_png", slide_index, scale)

    def draw_document(
        self,
        source: Source,
        first_block: int = 0,
        block_count: int = numbers.DRAWN_BLOCKS_MAX,
    ) -> JsonObject:
        """Return a window of a document as it flows, as typed blocks (F43.50).

        Raises:
            FormatError: `unsupported_format`, and those of reads.
        """
        self._require(source, _DOCUMENTS, "text that flows")
        return self._renderer.drawing(source, "draw_document", first_block, block_count)

    def _require(self, source: Source, kinds: frozenset[Kind], what: str) -> None:
        if self._do.readable(source)[1] not in kinds:
            raise fail("unsupported_format", f"{source.name!r} has no {what}")

    def render_part(self, source: Source, part: str) -> Preview:
        """Return a picture inside an office file, by the name it has there (U4.2)."""
        return self._renderer.part(source, part)

    def picture_parts(self, source: Source) -> dict[str, str]:
        """Return the pictures inside an office file: their names there, and their hashes."""
        self._do.readable(source)
        return _a(dict, self._do.read_call(HERE + "picture.image", "picture_parts", source))

    # --- changes one by one ---------------------------------------------------------------------

    def separate(self, before: Source, after: Source) -> list[ChangeUnit]:
        """Return the changes between two contents of a file, each to be taken or left (F34).

        What cannot be told apart is one change of the whole file; equal contents have none.
        """
        return self._separation.separate(before, after)

    def compose(self, before: Source, after: Source, left_out: frozenset[str], out: Path) -> None:
        """Write the file before with all changes but those left out to `out` (F34).

        Raises:
            FormatError: `not_found` for a change that there is not, `verify_failed`.
        """
        self._separation.compose(before, after, left_out, out)

    def relocate(self, before: Source, after: Source, places: Sequence[Place]) -> list[Relocated]:
        """Return where places of one version of a file are in another, and whether they differ.

        Raises:
            FormatError: a place that the first version does not have, as a read fails.
        """
        return self._separation.relocate(before, after, places)

    def require_place(self, source: Source, place: Place) -> Place:
        """Return a place as it is counted in the file, or fail as a read of it would."""
        return self._separation.require_place(source, place)

    # --- writing -------------------------------------------------------------------------------

    def apply_ops(self, existing: Source | None, request: OpsRequest, out: Path) -> Applied:
        """Write the edited office file to `out`; `existing` is what the target holds now (F16)."""
        kind = self._do.writable(existing, request.name)
        if kind not in OFFICE:
            raise fail("unsupported_format", f"{request.name!r} has no operations")
        if request.copy_from is not None:
            self._do.writable(request.copy_from, request.copy_from.name)
        return self._do.write_call(BUILTIN[kind], "apply_ops", out, existing, request, out)

    def write_text(self, existing: Source | None, name: str, content: str, out: Path) -> Applied:
        """Write a whole text file to `out` (F6.7)."""
        require_text_name(name)
        return self._do.write_call(
            HERE + "text.plain", "write_text", out, existing, name, content, out
        )

    def edit_text(self, source: Source, edits: Json, out: Path) -> Applied:
        """Replace exact pieces of a text file (F6.9)."""
        require_text_name(source.name)
        check_size(source, Kind.TEXT, self.limits)
        return self._do.write_call(HERE + "text.plain", "edit_text", out, source, edits, out)

    def replace_text(
        self,
        source: Source,
        needle: Needle,
        by: str,
        out: Path,
        *,
        recalculate: bool = True,
    ) -> Applied:
        """Put a text in the place of another, wherever it stands in a file (F33.5).

        Raises:
            FormatError: `no_match` when nothing would change, `read_only_format`.
        """
        kind = self._do.writable(source, source.name)
        if kind not in OFFICE:
            return self._do.write_call(
                HERE + "text.plain", "replace_text", out, source, needle, by, out
            )
        wish: dict[str, Json] = {
            "op": "replace_text",
            "search": needle.search,
            "replace": by,
            "match_case": needle.match_case,
            "whole_word": needle.whole_word,
        }
        request = OpsRequest(name=source.name, operations=[wish], recalculate=recalculate)
        return self._do.write_call(BUILTIN[kind], "apply_ops", out, source, request, out)

    def copy_assets(self, source: Source, target: Source, assets: Json, out: Path) -> Applied:
        """Write `target` with styles or pictures of `source` to `out` (F22)."""
        module = self._do.office(source)
        kind = self._do.writable(target, target.name)
        if kind not in OFFICE or BUILTIN[kind] != module:
            raise fail("unsupported_format", "both files must be of the same kind")
        return self._do.write_call(module, "copy_assets", out, source, target, assets, out)


def _hash(path: Path, name: str | None) -> str:
    shown = repr(name or path.name)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise fail("not_found", f"there is no file {shown}")
        if not stat.S_ISREG(mode):  # it may never end, and would not be the same when read again
            raise fail("unsupported_format", f"{shown} is no plain file")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise fail("not_found", f"there is no file {shown}") from error
    except OSError as error:
        cause = type(error).__name__
        raise fail("corrupt_file", f"{shown} cannot be read", detail=cause) from error


def _common(source: Source, kind: Kind | None, mime: str, *, writable: bool) -> dict[str, Json]:
    return {
        "path": source.name,
        "kind": str(kind or Kind.BINARY),
        "mime": mime,
        "size_bytes": source.size_bytes,
        "sha256": source.sha256,
        "writable": writable,
    }


def _as_warning(error: FormatError) -> JsonObject:
    return {"code": error.reason, "count": 1, "where": None}


def _a(cls: type[T], value: object) -> T:
    assert isinstance(value, cls)
    return value
