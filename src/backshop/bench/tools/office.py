"""Operations on workbooks, documents and presentations; their styles; assets between them.

The schema of an operation names the operations and is open: which fields one has is looked up
(`describe_operations`) and checked by the format itself, whose refusal says how it is written
(W7.4, W7.13).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from backshop.base.canon import canonical
from backshop.base.codec import encode, told
from backshop.formats import Applied, FormatError, OpsRequest, Source, explained, operation_sheet
from backshop.prompts import Tool, ToolContext, ToolResult

from .files import NOTE, described
from .workspace import Workspace, answered

KINDS = ("xlsx", "docx", "pptx")
XLSX_OPS = (
    *("ensure_sheet", "rename_sheet", "delete_sheet", "set_cells", "set_range"),
    *("fill_formula", "append_rows", "replace_text", "clear_range", "set_style"),
    *("merge_cells", "unmerge_cells", "set_column_widths", "set_row_heights", "freeze_panes"),
    *("insert_rows", "delete_rows", "insert_columns", "delete_columns", "set_autofilter"),
    *("add_chart", "change_chart", "add_image", "delete_drawing", "add_table"),
    *("change_table", "delete_table", "sort_range"),
    *("remove_duplicates", "copy_range", "move_range", "copy_sheet", "move_sheet"),
    *("set_sheet_state", "add_conditional_format", "delete_conditional_format"),
    *("set_validation", "delete_validation", "set_name", "delete_name", "set_note"),
    *("delete_note", "set_link", "delete_link", "summarize_by_category"),
)
DOCX_OPS = (
    *("set_paragraphs", "append_paragraph", "insert_paragraphs", "replace_section"),
    *("delete_paragraphs", "replace_text", "append_table", "set_table_cells", "add_table_rows"),
    "delete_table_rows",
)
PPTX_OPS = (
    *("add_slide", "set_slide_text", "append_bullets", "replace_text", "set_table_cells"),
    *("set_notes", "move_slide", "delete_slide", "set_hidden"),
)


def _listed(operations: Sequence[str]) -> Any:
    """Return the annotation of a list of open objects, each with the name of an operation."""
    op = {"type": "string", "enum": list(operations)}
    one = {
        "type": "object",
        "properties": {"op": op},
        "required": ["op"],
        "additionalProperties": True,
    }
    return told({"type": "array", "items": one})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operations:
    path: str
    create_new: bool | None = field(default=None, metadata=described("Begin empty"))
    create_if_missing: bool | None = None
    copy_from: str | None = None
    change_note: str | None = field(default=None, metadata=NOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class XlsxOperations(_Operations):
    """Arguments of xlsx_operations."""

    operations: Annotated[object, _listed(XLSX_OPS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocxOperations(_Operations):
    """Arguments of docx_operations."""

    operations: Annotated[object, _listed(DOCX_OPS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PptxOperations(_Operations):
    """Arguments of pptx_operations."""

    operations: Annotated[object, _listed(PPTX_OPS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeOperations:
    """Arguments of describe_operations."""

    kind: str
    op: str | None = field(default=None, metadata=described("One, or several with commas"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GetStyles:
    """Arguments of get_styles."""

    path: str
    sheet: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One asset to copy, and where to."""

    asset_id: str
    target_sheet: str | None = None
    target: str | None = field(default=None, metadata=described("Range; docx: body index or text"))
    target_slide: int | None = None
    target_shape: int | None = None
    overwrite: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyAssets:
    """Arguments of copy_assets."""

    source_path: str
    target_path: str
    assets: list[Asset]
    change_note: str | None = field(default=None, metadata=NOTE)


def _operate(
    params: XlsxOperations | DocxOperations | PptxOperations, *, context: ToolContext
) -> ToolResult:
    room = context.resource(Workspace)
    operations: Any = params.operations

    def make(existing: Source | None, out: Path) -> Applied:
        request = OpsRequest(
            name=room.path(params.path)[0],
            operations=operations,
            create_new=params.create_new,
            create_if_missing=params.create_if_missing,
            copy_from=room.source(params.copy_from) if params.copy_from else None,
            files=room.named(operations),
            recalculate=room.bench.desk.settings.recalculate,
        )
        return room.bench.formats.apply_ops(existing, request, out)

    def work() -> dict[str, Any]:
        canonical(operations)  # what nothing can store is refused before the bench is held
        try:
            return room.write(params.path, make, params.change_note)
        except FormatError as error:
            raise explained(error, params.path, operations) from error

    return answered(work)


def _describe(params: DescribeOperations, *, context: ToolContext) -> ToolResult:
    asked = params.kind.lower().removesuffix("_operations")
    kind = asked.rpartition(".")[2]  # a path, or an ending, says the kind as well
    return answered(lambda: {"kind": kind, "sheet": operation_sheet(kind, params.op)})


def _styles(params: GetStyles, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)
    formats = room.bench.formats
    return answered(
        lambda: room.look(params.path, lambda source: formats.get_styles(source, params.sheet))
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


def _operations(kind: str, what: str, params: type) -> Tool:
    return Tool(
        f"{kind}_operations",
        f"Change {what} in the Draft, all operations or none. Fields: describe_operations.",
        params,
        _operate,
        effects="write",
    )


OFFICE_TOOLS: tuple[Tool, ...] = (
    Tool(
        "describe_operations",
        "Say how the operations of xlsx, docx or pptx are written: fields, units, an example.",
        DescribeOperations,
        _describe,
        effects="read",
    ),
    _operations("xlsx", "a workbook", XlsxOperations),
    _operations("docx", "a document", DocxOperations),
    _operations("pptx", "a presentation", PptxOperations),
    Tool(
        "get_styles",
        "Return the styles in use and the assets of an office file.",
        GetStyles,
        _styles,
        effects="read",
        aliases=tuple(f"{kind}_get_styles" for kind in KINDS),
    ),
    Tool(
        "copy_assets",
        "Copy styles or pictures between two office files of a kind, by ids that get_styles lists.",
        CopyAssets,
        _copy_assets,
        effects="write",
        aliases=tuple(f"{kind}_copy_assets" for kind in KINDS),
    ),
)
