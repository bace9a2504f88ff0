"""Requests to look into a file or into what the Draft did to it."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.formats import DialectWish


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRequest:
    """A look at one file; `view` is `published` or `draft`, the Draft if there is one."""

    workbench_id: str
    path: str
    view: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead(FileRequest):
    """Read part of a file: a selector of its kind that the map lists (F5.2)."""

    sheet: str | None = None
    range: str | None = None
    cells: str | None = None
    section: str | None = None
    paragraphs: str | None = None
    slide_index: int | None = None
    pages: str | None = None
    line_start: int | None = None
    line_count: int | None = None
    chunk_index: int | None = None
    char_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGrid(FileRequest):
    """A window of a sheet, counted from 0; larger windows than 200 × 50 are cut."""

    sheet: str | None = None
    row_start: int = 0
    row_count: int = 200
    col_start: int = 0
    col_count: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSection(FileRequest):
    """One section of a document, counted from 0; without one as much of it as fits."""

    section_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSlide(FileRequest):
    """One slide of a presentation, counted from 0."""

    slide_index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDocument(FileRequest):
    """A window of a drawn document, its blocks counted from 0."""

    first_block: int = 0
    block_count: int = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePage(FileRequest):
    """A picture of one page, of a sheet's one piece, counted from 0."""

    page_index: int = 0
    scale: float = 1.0
    piece_index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRequest(FileRequest):
    """Which table of which file; `dialect` says how a delimited one is written."""

    sheet: str | None = None
    range: str | None = None
    dialect: DialectWish | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStats(TableRequest):
    """Statistics of some columns, or of all."""

    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReadRows(TableRequest):
    """Rows in the order of the file, the first counted 1."""

    row_start: int = 1
    row_count: int = 200
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuery(TableRequest):
    """One SELECT over `data`."""

    query: str
    window_rows: int = 200
    window_offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPath:
    """A diff of one path of the Draft; `since` is `draft_start` or `last_look` (W24.6)."""

    workbench_id: str
    path: str
    cursor: str | None = None
    sheet: str | None = None
    section_index: int | None = None
    slide_index: int | None = None
    since: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewVersion:
    """One version of a path: `PUBLISHED`, `DRAFT`, `REFERENCE` or `LAST_LOOK`.

    With `since` `last_look` the reference is what was looked at last (W24.6).
    """

    workbench_id: str
    path: str
    version: str = "DRAFT"
    since: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage(ReviewVersion):
    """A picture of a page of one version, counted from 0."""

    page_index: int = 0
    scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSheetPage(ReviewPage):
    """A picture of a piece of a sheet's page, both counted from 0."""

    piece_index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSlide(ReviewVersion):
    """A picture of a slide of one version, counted from 0."""

    slide_index: int = 0
    scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDrawnSlide(ReviewVersion):
    """A drawn slide of one version, counted from 0."""

    slide_index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDrawnDocument(ReviewVersion):
    """A window of a drawn document of one version, its blocks counted from 0."""

    first_block: int = 0
    block_count: int = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewGrid(ReviewVersion):
    """A window of a sheet of one version."""

    sheet: str | None = None
    row_start: int = 0
    row_count: int = 200
    col_start: int = 0
    col_count: int = 50
