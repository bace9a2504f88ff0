"""The operations of a workbook: their fields, and what carries them out (F17)."""

from __future__ import annotations

from collections.abc import Callable

from backshop.formats.protocol import Op
from backshop.formats.write.operation import Arg, OpSpec

from . import cell_operation, sheet_operation
from .formula_fill import fill_formula
from .replacement import replace_text
from .session import Session
from .summary import summarize_by_category

_SHEET = Arg("sheet", str, required=True)
_RANGE = Arg("range", str, required=True)
_STYLE = Arg("style", object)
_NULLS = Arg("null_cells", str, default="clear")
_VALUES = Arg("values", list, required=True, aliases=("data",))

SPECS = (
    OpSpec("ensure_sheet", (_SHEET, Arg("position", int))),
    OpSpec("rename_sheet", (_SHEET, Arg("new_name", str, required=True))),
    OpSpec("delete_sheet", (_SHEET,)),
    OpSpec("set_cells", (_SHEET, Arg("cells", list, required=True))),
    OpSpec(
        "set_range",
        (
            _SHEET,
            Arg("start", str, required=True, aliases=("range",)),
            _VALUES,
            Arg("types", list),
            _NULLS,
            _STYLE,
        ),
    ),
    OpSpec("fill_formula", (_SHEET, _RANGE, Arg("formula", str, required=True), _STYLE)),
    OpSpec("append_rows", (_SHEET, _VALUES, _NULLS, _STYLE)),
    OpSpec(
        "replace_text",
        (
            Arg("sheet", str),
            Arg("search", str, required=True, aliases=("find", "text_to_find")),
            Arg("replace", str, required=True),
            Arg("match_case", bool, default=False),
            Arg("whole_word", bool, default=False),
            Arg("in_formulas", bool, default=False),
            Arg("expect", int),
        ),
    ),
    OpSpec("clear_range", (_SHEET, _RANGE, Arg("what", str, default="values"))),
    OpSpec("set_style", (_SHEET, _RANGE, Arg("style", object, required=True))),
    OpSpec("merge_cells", (_SHEET, _RANGE)),
    OpSpec("unmerge_cells", (_SHEET, _RANGE)),
    OpSpec("set_column_widths", (_SHEET, Arg("columns", list, required=True))),
    OpSpec("set_row_heights", (_SHEET, Arg("rows", list, required=True))),
    OpSpec("freeze_panes", (_SHEET, Arg("row", int), Arg("column", int))),
    OpSpec("set_autofilter", (_SHEET, Arg("range", str))),
    OpSpec(
        "summarize_by_category",
        (
            _SHEET,
            Arg("source_sheets", list, required=True),
            Arg("category_col", object, default="B"),
            Arg("amount_col", object, default="C"),
            Arg("category_header", str, default="Category"),
        ),
    ),
)
RUN: dict[str, Callable[[Session, Op], str]] = {
    "ensure_sheet": sheet_operation.ensure_sheet,
    "rename_sheet": sheet_operation.rename_sheet,
    "delete_sheet": sheet_operation.delete_sheet,
    "set_cells": cell_operation.set_cells,
    "set_range": cell_operation.set_range,
    "fill_formula": fill_formula,
    "append_rows": cell_operation.append_rows,
    "replace_text": replace_text,
    "clear_range": cell_operation.clear_range,
    "set_style": cell_operation.set_style,
    "merge_cells": sheet_operation.merge_cells,
    "unmerge_cells": sheet_operation.unmerge_cells,
    "set_column_widths": sheet_operation.set_column_widths,
    "set_row_heights": sheet_operation.set_row_heights,
    "freeze_panes": sheet_operation.freeze_panes,
    "set_autofilter": sheet_operation.set_autofilter,
    "summarize_by_category": summarize_by_category,
}
