"""Operations on workbooks, documents and presentations; their styles; assets between them.

An operation is one flat object with the fields of all operations of its kind: every provider
accepts that, and which fields an operation needs is checked by the format itself (W7.4).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from backshop.base.codec import encode, renamed
from backshop.formats import Applied, OpsRequest, Source
from backshop.prompts import Tool, ToolContext, ToolResult

from .files import NOTE, PATH, OnePath, described
from .workspace import Workspace, answered

Value = str | int | float | bool | None
Number = float  # JSON integers are numbers too


@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """One border of a cell."""

    style: str | None = None
    color: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStyle:
    """How a cell looks (F18)."""

    font_name: str | None = None
    font_size: Number | None = None
    font_bold: bool | None = None
    font_italic: bool | None = None
    font_underline: bool | None = None
    font_color: str | None = None
    fill_color: str | None = None
    fill_pattern: str | None = None
    number_format: str | None = None
    h_align: str | None = None
    v_align: str | None = None
    wrap_text: bool | None = None
    border_top: Border | None = None
    border_bottom: Border | None = None
    border_left: Border | None = None
    border_right: Border | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell to set."""

    cell: str = field(metadata=described("Such as C7; C7:C9 for an array formula"))
    value: Value = None
    type: str | None = field(
        default=None,
        metadata=described("string number boolean date datetime time formula array_formula"),
    )
    style: CellStyle | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnWidth:
    """A column and its width."""

    column: str
    width: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class RowHeight:
    """A row and its height."""

    row: int
    height: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class XlsxOp:
    """One operation on a workbook: `op` and the fields it needs."""

    op: str = field(
        metadata=described(
            "ensure_sheet rename_sheet delete_sheet set_cells set_range fill_formula append_rows "
            "clear_range set_style merge_cells unmerge_cells set_column_widths set_row_heights "
            "freeze_panes set_autofilter summarize_by_category"
        )
    )
    sheet: str | None = None
    new_name: str | None = None
    position: int | None = None
    cells: list[Cell] | None = None
    start: str | None = field(default=None, metadata=described("Top left cell of set_range"))
    values: list[list[Value]] | None = field(default=None, metadata=described("Rows of cells"))
    formula: str | None = field(
        default=None, metadata=described("fill_formula: as in the first cell of range")
    )
    types: list[str] | None = None
    range: str | None = None
    null_cells: str | None = field(
        default=None, metadata=described("What null in values does: clear (default) or keep")
    )
    what: str | None = field(default=None, metadata=described("clear_range: values, styles, all"))
    style: CellStyle | None = None
    columns: list[ColumnWidth] | None = None
    rows: list[RowHeight] | None = None
    row: int | None = None
    column: int | None = None
    source_sheets: list[str] | None = None
    category_col: str | None = None
    amount_col: str | None = None
    category_header: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A piece of text with its look."""

    text: str
    font_name: str | None = None
    font_size: Number | None = None
    bold: bool | None = None
    italic: bool | None = None
    underline: bool | None = None
    font_color: str | None = None
    highlight_color: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRun(Run):
    """A piece of text of a document, perhaps a link."""

    hyperlink: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph to write."""

    text: str | None = None
    runs: list[LinkRun] | None = None
    style: str | None = None
    alignment: str | None = None
    space_before: Number | None = None
    space_after: Number | None = None
    line_spacing: Number | None = None
    indent_left: Number | None = None
    indent_right: Number | None = None
    indent_first_line: Number | None = None
    list_: Annotated[str | None, renamed("list")] = field(
        default=None, metadata=described("bullet or number")
    )
    level: int | None = None
    page_break_before: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A place in a document."""

    paragraph: int | None = field(default=None, metadata=described("Body index, from 0"))
    section: str | None = None
    text: str | None = None
    at: str | None = field(default=None, metadata=described("before, after, start or end"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell:
    """One cell of a table in a document or on a slide."""

    row: int
    column: int
    text: str | None = None
    runs: list[LinkRun] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocxOp:
    """One operation on a document: `op` and the fields it needs."""

    # those of a paragraph are not inherited: models write fields in order, and `op` comes first

    op: str = field(
        metadata=described(
            "set_paragraphs append_paragraph insert_paragraphs replace_section delete_paragraphs "
            "replace_text append_table set_table_cells add_table_rows delete_table_rows"
        )
    )
    paragraphs: list[Paragraph] | None = None
    text: str | None = None
    runs: list[LinkRun] | None = None
    style: str | None = None
    alignment: str | None = None
    space_before: Number | None = None
    space_after: Number | None = None
    line_spacing: Number | None = None
    indent_left: Number | None = None
    indent_right: Number | None = None
    indent_first_line: Number | None = None
    list_: Annotated[str | None, renamed("list")] = field(
        default=None, metadata=described("bullet or number")
    )
    level: int | None = None
    page_break_before: bool | None = None
    anchor: Anchor | None = None
    copy_format: bool | None = None
    section: str | None = None
    from_: Annotated[int | None, renamed("from")] = field(
        default=None, metadata=described("First body index, or row, from 0")
    )
    to: int | None = field(default=None, metadata=described("Last one"))
    search: str | None = None
    replace: str | None = None
    match_case: bool | None = None
    whole_word: bool | None = None
    scope: str | None = field(default=None, metadata=described("all, body, tables or headers"))
    expect: int | None = None
    rows: list[list[str]] | None = None
    header: bool | None = None
    column_widths: list[Number] | None = None
    table: int | None = None
    cells: list[TableCell] | None = None
    at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullet:
    """One bullet of a slide."""

    text: str
    level: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PptxOp:
    """One operation on a presentation: `op` and the fields it needs."""

    op: str = field(
        metadata=described(
            "add_slide set_slide_text append_bullets replace_text set_table_cells set_notes "
            "move_slide delete_slide set_hidden"
        )
    )
    layout: str | None = None
    title: str | None = None
    title_runs: list[Run] | None = None
    body: str | None = None
    body_runs: list[Run] | None = None
    alignment: str | None = None
    space_before: Number | None = None
    space_after: Number | None = None
    line_spacing: Number | None = None
    index: int | None = field(default=None, metadata=described("Slide, counted from 0"))
    placeholder: int | None = None
    bullets: list[Bullet] | None = None
    notes: str | None = None
    search: str | None = None
    replace: str | None = None
    match_case: bool | None = None
    slides: list[int] | None = None
    expect: int | None = None
    shape: int | None = None
    cells: list[TableCell] | None = None
    to: int | None = None
    hidden: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operations:
    path: str = field(metadata=PATH)
    create_new: bool | None = field(
        default=None, metadata=described("Begin anew, with an empty file")
    )
    create_if_missing: bool | None = field(default=None, metadata=described("Make a missing file"))
    copy_from: str | None = field(default=None, metadata=described("Begin with a copy of this"))
    change_note: str | None = field(default=None, metadata=NOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class XlsxOperations(_Operations):
    """Arguments of xlsx_operations."""

    operations: list[XlsxOp]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocxOperations(_Operations):
    """Arguments of docx_operations."""

    operations: list[DocxOp]


@dataclass(frozen=True, slots=True, kw_only=True)
class PptxOperations(_Operations):
    """Arguments of pptx_operations."""

    operations: list[PptxOp]


@dataclass(frozen=True, slots=True, kw_only=True)
class XlsxStyles:
    """Arguments of xlsx_get_styles."""

    path: str = field(metadata=PATH)
    sheet: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One asset to copy, and where to."""

    asset_id: str
    target_sheet: str | None = None
    target: str | None = None
    target_slide: int | None = None
    target_shape: int | None = None
    overwrite: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyAssets:
    """Arguments of the tools that copy assets."""

    source_path: str = field(metadata=PATH)
    target_path: str = field(metadata=PATH)
    assets: list[Asset]
    change_note: str | None = field(default=None, metadata=NOTE)


def _operate(
    params: XlsxOperations | DocxOperations | PptxOperations, *, context: ToolContext
) -> ToolResult:
    room = context.resource(Workspace)

    def make(existing: Source | None, out: Path) -> Applied:
        request = OpsRequest(
            name=room.path(params.path)[0],
            operations=[encode(one) for one in params.operations],
            create_new=params.create_new,
            create_if_missing=params.create_if_missing,
            copy_from=room.source(params.copy_from) if params.copy_from else None,
            recalculate=room.bench.desk.settings.recalculate,
        )
        return room.bench.formats.apply_ops(existing, request, out)

    return answered(lambda: room.write(params.path, make, params.change_note))


def _styles(params: XlsxStyles | OnePath, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)
    sheet = params.sheet if isinstance(params, XlsxStyles) else None
    formats = room.bench.formats
    return answered(
        lambda: room.look(params.path, lambda source: formats.get_styles(source, sheet))
    )


def _copy_assets(params: CopyAssets, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)
    assets = [encode(one) for one in params.assets]

    def work() -> dict[str, Any]:
        room.path(params.source_path)  # refused before the bench is held
        return room.write(params.target_path, make, params.change_note)

    def make(existing: Source | None, out: Path) -> Applied:
        target = existing or room.source(params.target_path)
        source = room.source(params.source_path)
        return room.bench.formats.copy_assets(source, target, assets, out)

    return answered(work)


def _tools(
    kind: str, what: str, operations: type, styles: type, advice: str
) -> tuple[Tool, Tool, Tool]:
    return (
        Tool(
            f"{kind}_operations",
            f"Change {what} in the Draft by operations; everything else in it stays byte for "
            "byte. All operations of a call take effect or none. The answer lists what really "
            f"changed; anything beyond the target is listed as collateral. {advice}",
            operations,
            _operate,
            effects="write",
        ),
        Tool(
            f"{kind}_get_styles",
            f"Return the styles {what} uses, so that new content looks like the old.",
            styles,
            _styles,
            effects="read",
        ),
        Tool(
            f"{kind}_copy_assets",
            f"Copy styles or pictures from one file to another ({what}), by asset id.",
            CopyAssets,
            _copy_assets,
            effects="write",
        ),
    )


OFFICE_TOOLS: tuple[Tool, ...] = (
    *_tools(
        "xlsx",
        "a workbook",
        XlsxOperations,
        XlsxStyles,
        "Only ensure_sheet adds a sheet.",
    ),
    *_tools(
        "docx",
        "a document",
        DocxOperations,
        OnePath,
        "Paragraphs, tables and rows count from 0, as the map had them before the call.",
    ),
    *_tools(
        "pptx",
        "a presentation",
        PptxOperations,
        OnePath,
        "Slides count from 0, as they were before the call.",
    ),
)
