"""What the write tools of office files can do, in words, from the tables they validate with.

An operation sheet is what a model or a person is told before a call, and what a refusal carries
after a wrong one (W7.11); the style skills of the bench quote it. So what may be asked for and what
the formats accept cannot drift apart (B15.3, B15.10).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .chart.vocabulary import AUTOMATIC, KINDS, LEGENDS, NO_LEGEND, STACKINGS
from .docx.edit import schema as docx
from .errors import fail
from .operation_example import EXAMPLES
from .pptx import schema as pptx
from .write import style as words
from .write.operation import Arg, OpSpec, nearest_op
from .write.unoffered import of_documents, of_slides
from .xlsx.book.stylesheet import LOOK_FIELDS
from .xlsx.edit import operation as xlsx
from .xlsx.edit.arrangement.range_copy import WHAT as COPIED
from .xlsx.edit.arrangement.sheet_order import STATES
from .xlsx.edit.arrangement.sort_key import KEY_ARGS
from .xlsx.edit.cell_operation import CELL_ARGS
from .xlsx.edit.cell_value import TYPES
from .xlsx.edit.drawing.chart_data import SERIES_ARGS
from .xlsx.edit.rule import condition_xml, validation_operation
from .xlsx.edit.sheet_operation import COLUMN_ARGS, ROW_ARGS
from .xlsx.edit.table.table_operation import COLUMN_NAME_ARGS
from .xlsx.edit.table.totals import FUNCTIONS, NOTHING, TOTAL_ARGS
from .xlsx.edit.unoffered import SAID, instead_of

_NAME = re.compile(r"[^\s,;]+")
_COLOUR = "#RRGGBB"
_SWITCH = "true or false"
_TYPES: Mapping[type, str] = {str: "text", int: "whole number", float: "number", bool: _SWITCH}
_SPACE = "points, 0 or more"
_RUN: Mapping[str, str] = {
    "font_name": "text",
    "font_size": "points, above 0",
    "bold": _SWITCH,
    "italic": _SWITCH,
    "underline": _SWITCH,
    "font_color": _COLOUR,
    "highlight_color": " ".join(words.HIGHLIGHTS),
    "hyperlink": "address beginning http, https or mailto",
}
_PARAGRAPH: Mapping[str, str] = {
    "style": "name of a paragraph style, such as Heading 2",
    "alignment": " ".join(words.PARAGRAPH_ALIGN),
    "space_before": _SPACE,
    "space_after": _SPACE,
    "line_spacing": "multiple of a line, above 0",
    "indent_left": "inches",
    "indent_right": "inches",
    "indent_first_line": "inches; below 0 hangs",
    "list": "bullet number",
    "level": "0 to 8, of a list",
    "page_break_before": _SWITCH,
}
_EDGE = f"{{style, color}}; style {' '.join(words.BORDER_STYLES)}"
_SHADES = ("light", "dark")


def _patterns() -> str:
    """Return the fill patterns, those that are there light and dark once."""
    both = [name for name in words.FILL_PATTERNS if name.startswith(_SHADES[0])]
    kinds = [name.removeprefix(_SHADES[0]) for name in both]
    others = [name for name in words.FILL_PATTERNS if not name.startswith(_SHADES)]
    return f"{' '.join(others)}, or {' or '.join(_SHADES)} followed by {' '.join(kinds)}"


_CELL: Mapping[str, str] = {
    "font_name": "text",
    "font_size": "points, 1 to 409",
    "font_bold": _SWITCH,
    "font_italic": _SWITCH,
    "font_underline": _SWITCH,
    "font_color": _COLOUR,
    "fill_color": _COLOUR,
    "fill_pattern": f"{_patterns()}; solid with fill_color alone",
    "number_format": "code such as #,##0.00 or name such as percent1 currency_eur date",
    "h_align": " ".join(words.CELL_H_ALIGN),
    "v_align": " ".join(words.CELL_V_ALIGN),
    "wrap_text": _SWITCH,
    **{f"border_{side}": _EDGE for side in ("top", "bottom", "left", "right")},
}


def _items(args: Sequence[Arg]) -> str:
    """Return how an object inside a list is written, such as {cell, value?}."""
    return f"{{{', '.join(arg.name + ('' if arg.required else '?') for arg in args)}}}"


_RUNS = "list of {text, run style}"
_PARAGRAPHS = "list of texts or of {text | runs, paragraph style}"
_VALUE = "text, number, true, false, null or a formula (=…)"
_SCROLLS = "first one that scrolls, from 0"
_TABLE_STYLE = "TableStyleLight1 to 21, Medium1 to 28, Dark1 to 11, one of the file, or none"
_ANCHOR = (
    "{paragraph | section | text, at?}: paragraph is a body index from 0, section a heading, text "
    "stands in one paragraph; at before after, of a section start end"
)
_COMPARED = " ".join(condition_xml.COMPARISONS)
_RULE_CELLS = "such as A1:C9, or several with commas"
_RULE_NUMBER = "of the rule in read_file with cells rules, or a list of them"
_RULE_FIELDS: Mapping[str, str] = {
    "add_conditional_format.range": _RULE_CELLS,
    "set_validation.range": _RULE_CELLS,
    "delete_conditional_format.range": _RULE_CELLS,
    "delete_validation.range": _RULE_CELLS,
    "number": _RULE_NUMBER,
    "add_conditional_format.kind": " ".join(condition_xml.KINDS),
    "add_conditional_format.value": "what cells are compared with: number, text, date or "
    f"=formula; of top and bottom how many; of date {' '.join(condition_xml.PERIODS)}; of an "
    "average how many standard deviations",
    "value2": "the end of between, not_between",
    "add_conditional_format.formula": "true where the style is shown; of the first cell of range, "
    "$ as in Excel",
    "percent": "of top and bottom: value is a percentage",
    "add_conditional_format.style": "a cell style without font name, size and alignment; light "
    "red fill if left out",
    "colors": "of color_scale 2 or 3 colors from low to high, of data_bar one",
    "add_conditional_format.min": f"of a scale or bars: {condition_xml.POINT}",
    "add_conditional_format.mid": f"of a scale or bars: {condition_xml.POINT}",
    "add_conditional_format.max": f"of a scale or bars: {condition_xml.POINT}",
    "solid": "bars without a gradient; true if left out",
    "icons": " ".join(condition_xml.ICONS),
    "thresholds": f"where each icon but the lowest begins: {condition_xml.POINT}",
    "reverse": "icons the other way round",
    "show_value": "false: bars or icons alone",
    "stop_if_true": "rules after it are not applied",
    "priority": "1 is applied first; else it comes last",
    "set_validation.kind": " ".join(validation_operation.KINDS),
    "set_validation.values": "of list: 255 characters in all, without commas",
    "source": "of list: cells in one row or column such as Lists!A1:A9, or a name",
    "operator": _COMPARED,
    "set_validation.value": "number, text length, date as 2026-03-31, time as 13:30 or =formula",
    "set_validation.formula": "of custom: true where a value is taken; of the first cell of range",
    "error_style": " ".join(validation_operation.ERROR_STYLES),
}
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "xlsx": {
        "sheet": "its name; cell, start and range never carry it",
        "cells": f"list of {_items(CELL_ARGS)}; cell such as C7, for an array_formula also C7:C9; "
        f"value {_VALUE}; type {' '.join(TYPES)}; dates as 2026-03-31; "
        "style a cell style",
        "values": f"list of rows, each a list of values: {_VALUE}",
        "null_cells": "what null in values does, clear or keep",
        "start": "top left cell, such as B3",
        "range": "such as A1:C9",
        "formula": "of the first cell; references move as in a fill",
        "replace_text.sheet": "one sheet, else all",
        "types": "list with a type for each column",
        "style": "a cell style",
        "columns": f"list of {_items(COLUMN_ARGS)}; letter or number from 1; width in characters, "
        "0 to 255",
        "rows": f"list of {_items(ROW_ARGS)}; row from 1; height in points, 0 to 409",
        "insert_rows.row": "from 1; the new rows come before it",
        "insert_columns.column": "letter or number from 1; the new columns come before it",
        "count": "how many; else as many as values has, or 1",
        "insert_rows.copy_format": "look like the row above, below or none",
        "insert_columns.copy_format": "look like the column left, right or none",
        "insert_rows.values": "list of rows for them, from the first used column or that of the "
        "table around them on",
        "insert_columns.values": "list of rows for them, from the first used row or that of the "
        "table around them on",
        "delete_rows.from": "first row, from 1",
        "delete_columns.from": "first column, letter or number from 1",
        "delete_rows.to": "last one, counted too; else only the first",
        "delete_columns.to": "last one, counted too; else only the first",
        "row": _SCROLLS,
        "column": _SCROLLS,
        "what": "values styles all",
        "position": "place from 0, else the end",
        "sort_range.range": "such as A1:C9, or the name of a table",
        "remove_duplicates.range": "such as A1:C9, or the name of a table",
        "remove_duplicates.columns": "list of those that are compared, by header, letter or "
        "number from 1; else all",
        "keep": "first last, of equal rows",
        "to_sheet": "else the same",
        "copy_range.to": "top left cell of the copy; a range of several times the size is filled",
        "move_range.to": "top left cell of the new place",
        "copy_sheet.position": "place from 0, else right behind it",
        "move_sheet.position": "place from 0",
        "state": " ".join(STATES),
        "tab_color": f"{_COLOUR}, or none",
        "copy_range.what": " ".join(COPIED),
        "transpose": "rows become columns",
        **_RULE_FIELDS,
        "by": f"list of {_items(KEY_ARGS)}, the most important first; column by header, letter or "
        "number from 1; order ascending descending; values come first in this order",
        "header": "whether the first row is one and stays; else it is seen",
        "source_sheets": "list of sheet names",
        "cell": "top left cell such as E2, or a range such as E2:L18 that it covers",
        "add_image.cell": "top left cell, such as E2",
        "kind": " ".join(KINDS),
        "data": "range with names in its first row and categories in its first column, such "
        "as A1:C9 or Costs!A1:C9, or the name of a table",
        "data_sheet": "sheet of ranges that name none, else sheet",
        "series_by": "columns rows, else the way the range is longer",
        "series": f"list of {_items(SERIES_ARGS)} in place of data; values a row or column of "
        "numbers, categories their labels or x values, name a text or =B1",
        "categories": "of every series",
        "stacking": " ".join(STACKINGS),
        "legend": f"{' '.join(LEGENDS)} {NO_LEGEND}",
        "number_format": "of the values on their axis, such as #,##0 or percent",
        **dict.fromkeys(
            ("title", "x_title", "y_title"),
            "text, empty takes it away; x is the axis of categories, y that of values",
        ),
        **dict.fromkeys(("y_min", "y_max"), f"number, or {AUTOMATIC}"),
        **dict.fromkeys(("x_min", "x_max"), f"number, or {AUTOMATIC}; of a scatter"),
        **dict.fromkeys(("width", "height"), "pixels, else 480 x 288"),
        **dict.fromkeys(
            ("add_image.width", "add_image.height"), "pixels; of one side the other follows"
        ),
        "chart": "its name, or its number in the map",
        "image": "path of a png, jpg or gif file",
        "description": "what it shows, for those who do not see it",
        "add_table.range": "with the header row, without totals, such as A1:C9",
        "add_table.name": "letters, digits and _, else Table1, Table2 …",
        "add_table.header": "false for a range without header row",
        "add_table.columns": "list of names for all columns, written into the header; else what "
        "the header cells say",
        "add_table.style": _TABLE_STYLE,
        "table": "its name",
        "change_table.range": "all of it, with header and totals row; the header stays in its row",
        "change_table.columns": f"list of names for all columns, or of {_items(COLUMN_NAME_ARGS)}; "
        "references follow",
        "change_table.style": _TABLE_STYLE,
        "totals": f"true, false, or list of {_items(TOTAL_ARGS)}; column by header or letter; "
        f"function {' '.join(FUNCTIONS)} {NOTHING}; formula =…; label a text",
        "delete_drawing.name": "its name, or its number in the map",
        "set_name.name": "letters, digits, . and _; one that is there is changed",
        "refers_to": "range such as Sales!A1:C9 (fixed cells), number, or formula (=…)",
        "scope": "sheet the name counts on, else the workbook",
        "set_name.new_name": "what it is to be called; formulas follow",
        "comment": "what the name is for",
        "break_formulas": "delete it though formulas use it, which show #NAME? then",
        "set_note.cell": "such as C7",
        "delete_note.cell": "such as C7",
        "author": "else Backshop",
        "set_link.range": "cell or range",
        "target": "https://…, http://…, mailto:…, a place such as Costs!A1, or a name",
        "set_link.text": "what the first cell shows; else it stays, an empty one shows the target",
        "tooltip": "said when the pointer is over it",
        "category_col": "column letter or number from 1",
        "amount_col": "column letter or number from 1",
    },
    "docx": {
        **_PARAGRAPH,
        "append_table.style": "name of a table style, Table Grid when absent",
        "runs": _RUNS,
        "paragraphs": _PARAGRAPHS,
        "anchor": _ANCHOR,
        "rows": "list of rows, each a list of texts",
        "column_widths": "list of inches",
        "cells": f"list of {_items(docx.CELL)}, from 0; text or runs",
        "section": "heading, or its index in the map as text",
        "scope": " ".join(docx.SCOPES),
        "expect": "how many matches there must be",
        "from": "first one, from 0: body index, or row of the table",
        "to": "last one, counted too",
        "table": "table, from 0",
        "at": "row, from 0; else the end",
    },
    "pptx": {
        **{name: _PARAGRAPH[name] for name in pptx.PARAGRAPH_STYLE},
        "title_runs": _RUNS,
        "body_runs": _RUNS,
        "body": "text, a line for each paragraph; two spaces before it raise its level",
        "bullets": f"list of texts or of {_items(pptx.BULLET)}, level 0 to {pptx.MAX_LEVEL}",
        "slides": "list of slide_index, from 0",
        "cells": f"list of {_items(pptx.CELL)}, from 0",
        "expect": "how many matches there must be",
        "index": "slide, from 0; may be called slide_index",
        "add_slide.index": "place from 0, else the end",
        "to": "new place, from 0",
        "shape": "of the table, as the map lists it under tables",
        "placeholder": "idx as in the map, else the largest of the body",
        "layout": "of the file by name, or title_slide title_and_content section_header "
        "two_content comparison title_only blank",
    },
}
_PURPOSES: Mapping[str, Mapping[str, str]] = {
    "xlsx": {
        "ensure_sheet": "add it unless it is there; nothing else adds one",
        "rename_sheet": "formulas follow",
        "delete_sheet": "",
        "set_range": "a block of values",
        "fill_formula": "one formula for all of range",
        "replace_text": "in texts of cells",
        "append_rows": "below the last used row; a table there grows; ISO dates below dates "
        "become dates",
        "clear_range": "",
        "set_style": "values stay",
        "merge_cells": "only one of them may hold a value",
        "unmerge_cells": "",
        "set_column_widths": "",
        "set_row_heights": "",
        "freeze_panes": "without both it unfreezes",
        "insert_rows": "all references follow; a table around them grows",
        "delete_rows": "all references follow; those to deleted cells become #REF!",
        "insert_columns": "all references follow; a table around them gets new columns",
        "delete_columns": "all references follow; those to deleted cells become #REF!",
        "set_autofilter": "without range the filter goes",
        "sort_range": "whole rows of range; formulas, looks, notes and links go along",
        "remove_duplicates": "rows of range that repeat others; those below move up inside it",
        "copy_range": "formulas move as in Excel's copy; what was there is replaced",
        "copy_sheet": "with charts, pictures, tables and names; they mean the copy",
        "move_sheet": "another place among the tabs",
        "set_sheet_state": "hide or show it, colour its tab",
        "move_range": "cut and paste: references to the cells follow",
        "add_conditional_format": "read_file with cells rules lists those that are there",
        "delete_conditional_format": "from range, or the whole rule of that number",
        "set_validation": "in the place of what held for these cells",
        "delete_validation": "from range, or the whole rule of that number",
        "summarize_by_category": "sheet becomes the totals",
        "add_table": "the cells stay where they are; headers become unique texts",
        "change_table": "only what is given; references follow",
        "delete_table": "becomes a plain range; cells stay, references to it become ordinary",
        "set_name": "a new one, or what one means or is called",
        "delete_name": "refused where formulas use it",
        "set_note": "a new one, or another text",
        "delete_note": "",
        "set_link": "in the place of the one there",
        "delete_link": "the cells keep what they show",
        "add_chart": "of cells",
        "change_chart": "only what is given",
        "add_image": "from a file",
        "delete_drawing": "a chart or a picture",
    },
    "docx": {
        "set_paragraphs": "replace the whole body",
        "append_paragraph": "at the end; text or runs",
        "insert_paragraphs": "copy_format: look like the neighbour",
        "replace_section": "what follows the heading; the heading stays",
        "delete_paragraphs": "body blocks, tables too",
        "replace_text": "everywhere but in comments, formats stay",
        "append_table": "at the end or the anchor; header: first row is one",
        "set_table_cells": "",
        "add_table_rows": "look like the row above",
        "delete_table_rows": "",
    },
    "pptx": {
        "add_slide": "",
        "set_slide_text": "what is not given stays",
        "append_bullets": "",
        "replace_text": "notes, tables and diagrams too",
        "set_table_cells": "of a table that is there",
        "set_notes": "",
        "move_slide": "",
        "delete_slide": "",
        "set_hidden": "",
    },
}
_COUNTING: Mapping[str, str] = {
    "xlsx": f"Rows count from 1. {SAID}",
    "docx": "Numbers mean the document as it was before the call.",
    "pptx": "Slides mean the deck as it was before the call.",
}
_INSTEAD = {"xlsx": instead_of, "docx": of_documents, "pptx": of_slides}
SPECS: Mapping[str, Sequence[OpSpec]] = {
    "xlsx": xlsx.SPECS,
    "docx": docx.SPECS,
    "pptx": pptx.SPECS,
}
_STYLES: Mapping[str, tuple[tuple[str, Sequence[str], Mapping[str, str]], ...]] = {
    "xlsx": (("Cell style", LOOK_FIELDS, _CELL),),
    "docx": (
        ("Run style", docx.RUN_STYLE, _RUN),
        ("Paragraph style", docx.PARAGRAPH_STYLE, _PARAGRAPH),
    ),
    "pptx": (
        ("Run style", pptx.RUN_STYLE, _RUN),
        ("Paragraph style", pptx.PARAGRAPH_STYLE, _PARAGRAPH),
    ),
}


def sheet(kind: str, op: str | None) -> str:
    """Return the sheet of a kind, or of one operation, as `operation_sheet` promises."""
    if kind not in SPECS:
        raise fail("unsupported_format", f"{kind!r} has no operations", hints=SPECS)
    names = list(dict.fromkeys(_NAME.findall(op or "")))
    return _some(kind, [_named(kind, name) for name in names]) if names else _whole(kind)


def _named(kind: str, op: str) -> OpSpec:
    found = next((spec for spec in SPECS[kind] if spec.name == op), None)
    if found is None:
        instead = _INSTEAD[kind](op)
        if instead is not None:
            raise fail("unknown_op", f"{op[:60]!r} is not offered", hints=[instead])
        known = nearest_op(op, (spec.name for spec in SPECS[kind]))
        what = f"{kind}_operations has no operation {op[:60]!r}; did you mean {known[0]}?"
        raise fail("unknown_op", what, hints=known)
    return found


def _whole(kind: str) -> str:
    specs = [spec for spec in SPECS[kind] if not spec.topic]
    parts = [
        f"Operations of {kind}_operations, each {{op, its fields}}; ? may be left out, = is the "
        f"default. {_COUNTING[kind]}",
        "\n".join((*(_operation(kind, spec) for spec in specs), *_further(kind))),
        "Fields, text where nothing is said:\n" + "\n".join(_meanings(kind, specs)),
        *(_style_lines(title, names, meanings) for title, names, meanings in _STYLES[kind]),
        f"Example: {_example(kind, specs[_SHOWN[kind]].name)}",
    ]
    return "\n\n".join(parts) + "\n"


def _further(kind: str) -> Iterator[str]:
    """Yield the operations that are told when they are asked for, a line for each topic."""
    topics: dict[str, list[str]] = {}
    for spec in SPECS[kind]:
        if spec.topic:
            topics.setdefault(spec.topic, []).append(spec.name)
    if topics:
        yield "Further ones, told by describe_operations with op (one, or several with commas):"
    for topic, names in topics.items():
        yield f"- {topic}: {' '.join(names)}"


def _some(kind: str, specs: Sequence[OpSpec]) -> str:
    parts = [*(_operation(kind, spec) for spec in specs), *_meanings(kind, specs)]
    told = " ".join(parts)
    for title, names, meanings in _STYLES[kind]:
        if title.lower() in told:
            parts.append(_style_lines(title, names, meanings))
    examples = (f"Example: {_example(kind, spec.name)}" for spec in specs)
    return "\n".join((*parts, *examples)) + "\n"


def _example(kind: str, op: str) -> str:
    call = {"path": f"{_FILES[kind]}.{kind}", "operations": [{"op": op, **EXAMPLES[kind][op]}]}
    shown = json.dumps(call, ensure_ascii=False, separators=(",", ":"))
    return f"{kind}_operations {shown}"


_FILES: Mapping[str, str] = {"xlsx": "book", "docx": "report", "pptx": "deck"}
_SHOWN: Mapping[str, int] = {"xlsx": 3, "docx": 2, "pptx": 0}  # the operation of the example


def _style_lines(title: str, names: Iterable[str], meanings: Mapping[str, str]) -> str:
    lines = _grouped((name, meanings[name]) for name in names)
    return "\n".join((f"{title}, all optional:", *lines))


def _grouped(fields: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield one line for each meaning, the fields that share it together."""
    same: dict[str, list[str]] = {}
    for name, meaning in fields:
        names = same.setdefault(meaning, [])
        if name not in names:
            names.append(name)
    return (f"- {' '.join(names)}: {meaning}" for meaning, names in same.items())


def _operation(kind: str, spec: OpSpec) -> str:
    own = [arg for arg in spec.args if _is_own(kind, spec, arg)]
    shown = [_marked(arg) for arg in own]
    if len(own) < len(spec.args):
        shown.append("paragraph style")
    purpose = _PURPOSES[kind].get(spec.name)
    return f"- {spec.name}({', '.join(shown)})" + (f": {purpose}" if purpose else "")


def _meanings(kind: str, specs: Iterable[OpSpec]) -> Iterator[str]:
    """Yield what the fields of operations mean; where one differs, for which operation."""
    known, several = _FIELDS[kind], len(tuple(specs)) > 1
    found: list[tuple[str, str]] = []
    for spec in specs:
        for arg in (arg for arg in spec.args if _is_own(kind, spec, arg)):
            special = known.get(f"{spec.name}.{arg.name}")
            meaning = special or known.get(arg.name) or _TYPES[arg.kind]
            name = f"{arg.name} of {spec.name}" if special and several else arg.name
            if meaning != _TYPES[str]:
                found.append((name, meaning))
    return _grouped(found)


def _is_own(kind: str, spec: OpSpec, arg: Arg) -> bool:
    """Whether a field belongs to the operation alone; those of a paragraph are listed once."""
    shared = _STYLES[kind][-1][1] if kind != "xlsx" else ()
    return arg.name not in shared or f"{spec.name}.{arg.name}" in _FIELDS[kind]


def _marked(arg: Arg) -> str:
    if arg.required:
        return arg.name
    default = "" if arg.default is None else f"={_shown(arg.default)}"
    return f"{arg.name}?{default}"


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
