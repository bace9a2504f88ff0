"""What the write tools of office files can do, in words, from the tables they validate with.

An operation sheet is what a model or a person is told before a call, and what a refusal carries
after a wrong one (W7.11); the style skills of the bench quote it. So what may be asked for and what
the formats accept cannot drift apart (B15.3, B15.10).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .docx.edit import schema as docx
from .errors import fail
from .operation_example import EXAMPLES
from .pptx import schema as pptx
from .write import style as words
from .write.operation import Arg, OpSpec, nearest_op
from .xlsx.book.stylesheet import LOOK_FIELDS
from .xlsx.edit import operation as xlsx
from .xlsx.edit.cell_operation import CELL_ARGS
from .xlsx.edit.cell_value import TYPES
from .xlsx.edit.sheet_operation import COLUMN_ARGS, ROW_ARGS

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
    "fill_pattern": f"{_patterns()}; solid when only fill_color is given",
    "number_format": "Excel format code such as #,##0.00",
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
_VALUE = "text, number, true, false, null or a formula (text that begins with =)"
_SCROLLS = "first one that scrolls, from 0"
_ANCHOR = (
    "{paragraph | section | text, at?}: paragraph is a body index from 0, section a heading, text "
    "stands in one paragraph; at before after, of a section start end"
)
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "xlsx": {
        "sheet": "its name; cell, start and range never carry it",
        "cells": f"list of {_items(CELL_ARGS)}; cell such as C7, for an array_formula also C7:C9; "
        f"value {_VALUE}; type {' '.join(TYPES)}; dates as 2026-03-31",
        "values": f"list of rows, each a list of values: {_VALUE}",
        "null_cells": "what null in values does, clear or keep",
        "start": "top left cell, such as B3",
        "range": "such as A1:C9",
        "formula": "of the first cell; references move as in Excel's fill",
        "replace_text.sheet": "one sheet, else all",
        "types": "list with a type for each column",
        "style": "a cell style",
        "columns": f"list of {_items(COLUMN_ARGS)}; letter or number from 1; width in characters, "
        "0 to 255",
        "rows": f"list of {_items(ROW_ARGS)}; row from 1; height in points, 0 to 409",
        "row": _SCROLLS,
        "column": _SCROLLS,
        "what": "values styles all",
        "position": "place from 0, else the end",
        "source_sheets": "list of sheet names",
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
        "slides": "list of slides, from 0",
        "cells": f"list of {_items(pptx.CELL)}, from 0",
        "expect": "how many matches there must be",
        "index": "slide, from 0",
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
        "set_cells": "single cells",
        "set_range": "a block of values",
        "fill_formula": "one formula for all of range",
        "replace_text": "in texts of cells, not in formulas",
        "append_rows": "below the last used row; a table there grows",
        "clear_range": "",
        "set_style": "values stay",
        "merge_cells": "only one of them may hold a value",
        "unmerge_cells": "",
        "set_column_widths": "",
        "set_row_heights": "",
        "freeze_panes": "without both it unfreezes",
        "set_autofilter": "without range the filter goes",
        "summarize_by_category": "sheet becomes a table of totals",
    },
    "docx": {
        "set_paragraphs": "replace the whole body",
        "append_paragraph": "at the end; text or runs",
        "insert_paragraphs": "copy_format: look like the neighbour",
        "replace_section": "what follows the heading; the heading stays",
        "delete_paragraphs": "body blocks, tables too",
        "replace_text": "everywhere, formats stay",
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
    "xlsx": "Rows of cells count from 1.",
    "docx": "Numbers mean the document as it was before the call.",
    "pptx": "Slides mean the deck as it was before the call.",
}
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
    if op is None:
        return _whole(kind)
    found = next((spec for spec in SPECS[kind] if spec.name == op), None)
    if found is None:
        known = nearest_op(op, (spec.name for spec in SPECS[kind]))
        what = f"{kind}_operations has no operation {op[:60]!r}; did you mean {known[0]}?"
        raise fail("unknown_op", what, hints=known)
    return _single(kind, found)


def _whole(kind: str) -> str:
    specs = SPECS[kind]
    parts = [
        f"Operations of {kind}_operations, each {{op, its fields}}; ? may be left out, = is the "
        f"default. {_COUNTING[kind]}",
        "\n".join(_operation(kind, spec) for spec in specs),
        "Fields, text where nothing is said:\n" + "\n".join(_meanings(kind, specs)),
        *(_style_lines(title, names, meanings) for title, names, meanings in _STYLES[kind]),
        f"Example: {_example(kind, specs[_SHOWN[kind]].name)}",
    ]
    return "\n\n".join(parts) + "\n"


def _single(kind: str, spec: OpSpec) -> str:
    parts = [_operation(kind, spec), *_meanings(kind, (spec,))]
    told = " ".join(parts)
    for title, names, meanings in _STYLES[kind]:
        if title.lower() in told:
            parts.append(_style_lines(title, names, meanings))
    return "\n".join((*parts, f"Example: {_example(kind, spec.name)}")) + "\n"


def _example(kind: str, op: str) -> str:
    call = {"path": f"{_FILES[kind]}.{kind}", "operations": [{"op": op, **EXAMPLES[kind][op]}]}
    return f"{kind}_operations {json.dumps(call, ensure_ascii=False)}"


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
