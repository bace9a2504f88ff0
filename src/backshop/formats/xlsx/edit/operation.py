"""The operations of a workbook: their fields, and what carries them out (F17)."""

from __future__ import annotations

from collections.abc import Callable

from backshop.formats.protocol import Op
from backshop.formats.write.operation import Arg, OpSpec

from . import cell_operation, line_operation, sheet_operation
from .annotation import link_operation, name_operation, note_operation
from .arrangement.duplicate import remove_duplicates
from .arrangement.range_copy import copy_range
from .arrangement.range_move import move_range
from .arrangement.sheet_copy import copy_sheet
from .arrangement.sheet_order import move_sheet, set_sheet_state
from .arrangement.sort import sort_range
from .drawing import chart_operation, picture_operation
from .formula_fill import fill_formula
from .replacement import replace_text
from .rule import condition_operation, validation_operation
from .session import Session
from .summary import summarize_by_category
from .table import table_operation

_SHEET = Arg("sheet", str, required=True)
_RANGE = Arg("range", str, required=True)
_TYPES = Arg("types", list)
_STYLE = Arg("style", object)
_NULLS = Arg("null_cells", str, default="clear")
_LINES = "rows and columns"
_VALUES = Arg("values", list, required=True, aliases=("data",))
_ARRANGING = "order and copies"
_DRAWINGS = "charts and pictures"
_TABLES = "tables"
_LAYOUT = "layout"
_RULES = "rules of cells"
_ANNOTATIONS = "names, notes, links"

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
            _TYPES,
            _NULLS,
            _STYLE,
        ),
    ),
    OpSpec("fill_formula", (_SHEET, _RANGE, Arg("formula", str, required=True), _STYLE)),
    OpSpec("append_rows", (_SHEET, _VALUES, _TYPES, _NULLS, _STYLE)),
    OpSpec(
        "replace_text",
        (
            Arg("sheet", str),
            Arg("range", str),
            Arg("search", str, required=True, aliases=("find", "text_to_find")),
            Arg("replace", str, required=True),
            Arg("match_case", bool, default=False),
            Arg("whole_word", bool, default=False),
            Arg("whole_cell", bool, default=False),
            Arg("in_formulas", bool, default=False),
            Arg("expect", int),
        ),
    ),
    OpSpec("clear_range", (_SHEET, _RANGE, Arg("what", str, default="values"))),
    OpSpec("set_style", (_SHEET, _RANGE, Arg("style", object, required=True))),
    OpSpec("merge_cells", (_SHEET, _RANGE), topic=_LAYOUT),
    OpSpec("unmerge_cells", (_SHEET, _RANGE), topic=_LAYOUT),
    OpSpec("set_column_widths", (_SHEET, Arg("columns", list, required=True))),
    OpSpec("set_row_heights", (_SHEET, Arg("rows", list, required=True)), topic=_LAYOUT),
    OpSpec("freeze_panes", (_SHEET, Arg("row", int), Arg("column", int))),
    OpSpec(
        "insert_rows",
        (
            _SHEET,
            Arg("row", int, required=True),
            Arg("count", int),
            Arg("copy_format", str, default="above"),
            Arg("values", list, aliases=("data",)),
            _TYPES,
        ),
        topic=_LINES,
    ),
    OpSpec(
        "delete_rows",
        (_SHEET, Arg("from", int, required=True), Arg("to", int)),
        topic=_LINES,
    ),
    OpSpec(
        "insert_columns",
        (
            _SHEET,
            Arg("column", object, required=True),
            Arg("count", int),
            Arg("copy_format", str, default="left"),
            Arg("values", list, aliases=("data",)),
            _TYPES,
        ),
        topic=_LINES,
    ),
    OpSpec(
        "delete_columns",
        (_SHEET, Arg("from", object, required=True), Arg("to", object)),
        topic=_LINES,
    ),
    OpSpec("set_autofilter", (_SHEET, Arg("range", str)), topic=_LAYOUT),
    OpSpec("add_chart", chart_operation.ADD_ARGS, topic=_DRAWINGS),
    OpSpec("change_chart", chart_operation.CHANGE_ARGS, topic=_DRAWINGS),
    OpSpec("add_image", picture_operation.ADD_ARGS, topic=_DRAWINGS),
    OpSpec("delete_drawing", picture_operation.DELETE_ARGS, topic=_DRAWINGS),
    OpSpec("add_table", table_operation.ADD_ARGS, topic=_TABLES),
    OpSpec("change_table", table_operation.CHANGE_ARGS, topic=_TABLES),
    OpSpec("delete_table", table_operation.DELETE_ARGS, topic=_TABLES),
    OpSpec(
        "sort_range",
        (
            _SHEET,
            _RANGE,
            Arg("by", list, required=True),
            Arg("header", bool),
            Arg("match_case", bool, default=False),
        ),
        topic=_ARRANGING,
    ),
    OpSpec(
        "remove_duplicates",
        (
            _SHEET,
            _RANGE,
            Arg("columns", list),
            Arg("header", bool),
            Arg("keep", str, default="first"),
        ),
        topic=_ARRANGING,
    ),
    OpSpec(
        "copy_range",
        (
            _SHEET,
            _RANGE,
            Arg("to_sheet", str),
            Arg("to", str, required=True),
            Arg("what", str, default="all"),
            Arg("transpose", bool, default=False),
        ),
        topic=_ARRANGING,
    ),
    OpSpec(
        "move_range",
        (_SHEET, _RANGE, Arg("to_sheet", str), Arg("to", str, required=True)),
        topic=_ARRANGING,
    ),
    OpSpec(
        "copy_sheet",
        (_SHEET, Arg("new_name", str, required=True), Arg("position", int)),
        topic=_ARRANGING,
    ),
    OpSpec("move_sheet", (_SHEET, Arg("position", int, required=True)), topic=_ARRANGING),
    OpSpec(
        "set_sheet_state",
        (_SHEET, Arg("state", str), Arg("tab_color", str)),
        topic=_ARRANGING,
    ),
    OpSpec("add_conditional_format", condition_operation.ADD_ARGS, topic=_RULES),
    OpSpec("delete_conditional_format", condition_operation.DELETE_ARGS, topic=_RULES),
    OpSpec("set_validation", validation_operation.SET_ARGS, topic=_RULES),
    OpSpec("delete_validation", condition_operation.DELETE_ARGS, topic=_RULES),
    OpSpec("set_name", name_operation.SET_ARGS, topic=_ANNOTATIONS),
    OpSpec("delete_name", name_operation.DELETE_ARGS, topic=_ANNOTATIONS),
    OpSpec("set_note", note_operation.SET_ARGS, topic=_ANNOTATIONS),
    OpSpec("delete_note", note_operation.DELETE_ARGS, topic=_ANNOTATIONS),
    OpSpec("set_link", link_operation.SET_ARGS, topic=_ANNOTATIONS),
    OpSpec("delete_link", link_operation.DELETE_ARGS, topic=_ANNOTATIONS),
    OpSpec(
        "summarize_by_category",
        (
            _SHEET,
            Arg("source_sheets", list, required=True),
            Arg("category_col", object, default="B"),
            Arg("amount_col", object, default="C"),
            Arg("category_header", str, default="Category"),
        ),
        topic=_ARRANGING,
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
    "insert_rows": line_operation.insert_rows,
    "delete_rows": line_operation.delete_rows,
    "insert_columns": line_operation.insert_columns,
    "delete_columns": line_operation.delete_columns,
    "set_autofilter": sheet_operation.set_autofilter,
    "sort_range": sort_range,
    "remove_duplicates": remove_duplicates,
    "add_chart": chart_operation.add_chart,
    "change_chart": chart_operation.change_chart,
    "add_image": picture_operation.add_image,
    "delete_drawing": picture_operation.delete_drawing,
    "add_table": table_operation.add_table,
    "change_table": table_operation.change_table,
    "delete_table": table_operation.delete_table,
    "copy_range": copy_range,
    "move_range": move_range,
    "copy_sheet": copy_sheet,
    "move_sheet": move_sheet,
    "set_sheet_state": set_sheet_state,
    "add_conditional_format": condition_operation.add_conditional_format,
    "delete_conditional_format": condition_operation.delete_conditional_format,
    "set_validation": validation_operation.set_validation,
    "delete_validation": validation_operation.delete_validation,
    "set_name": name_operation.set_name,
    "delete_name": name_operation.delete_name,
    "set_note": note_operation.set_note,
    "delete_note": note_operation.delete_note,
    "set_link": link_operation.set_link,
    "delete_link": link_operation.delete_link,
    "summarize_by_category": summarize_by_category,
}
