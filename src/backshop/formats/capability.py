"""What the write tools of office files can do, in words, from the tables they validate with.

The style skills of the bench quote this text, so that what a model is told it may ask for and
what the formats accept cannot drift apart (B15.3, B15.10).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .docx.edit import schema as docx
from .pptx import schema as pptx
from .write import style as words
from .write.operation import Arg, OpSpec
from .xlsx.book.stylesheet import LOOK_FIELDS
from .xlsx.edit import operation as xlsx

_COLOUR = "`#RRGGBB`"
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
    "hyperlink": "an address beginning http, https or mailto",
}
_PARAGRAPH: Mapping[str, str] = {
    "style": "name of a paragraph style, such as `Heading 2`",
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
_EDGE = f"`{{style, color}}`; style {' '.join(words.BORDER_STYLES)}; color {_COLOUR}"
_CELL: Mapping[str, str] = {
    "font_name": "text",
    "font_size": "points, 1 to 409",
    "font_bold": _SWITCH,
    "font_italic": _SWITCH,
    "font_underline": _SWITCH,
    "font_color": _COLOUR,
    "fill_color": f"{_COLOUR}; without a pattern it means solid",
    "fill_pattern": " ".join(words.FILL_PATTERNS),
    "number_format": "an Excel format code, 1 to 255 characters",
    "h_align": " ".join(words.CELL_H_ALIGN),
    "v_align": " ".join(words.CELL_V_ALIGN),
    "wrap_text": _SWITCH,
    **{f"border_{side}": _EDGE for side in ("top", "bottom", "left", "right")},
}
_RUNS = "list of runs"
_PARAGRAPHS = "list of paragraphs"
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "xlsx": {
        "cells": "list of `{cell, value?, type?, style?}`; type string number boolean date "
        "datetime time formula array_formula blank; an array formula may fill a range",
        "values": "rows of cell values",
        "null_cells": "what null in `values` does to its cell, clear or keep",
        "start": "top left cell, such as `B3`",
        "range": "cells, such as `A1:C9`",
        "formula": "as it stands in the first cell of `range`; references move with each cell as "
        "in Excel's fill, those with `$` stay",
        "replace_text.sheet": "one sheet; all without it",
        "types": "list with a type for each column",
        "style": "a cell style",
        "columns": "list of `{column, width}`; width in characters, 0 to 255",
        "rows": "list of `{row, height}`; row from 1, height in points, 0 to 409",
        "freeze_panes.row": "first row that scrolls, from 0",
        "freeze_panes.column": "first column that scrolls, from 0",
        "what": "values styles all",
        "position": "place among the sheets, from 0; null is the end",
        "source_sheets": "list of sheet names",
        "category_col": "column letter or number from 1",
        "amount_col": "column letter or number from 1",
        "set_autofilter.range": "a range; null takes the filter away",
    },
    "docx": {
        **_PARAGRAPH,
        "append_table.style": "name of a table style, `Table Grid` when absent",
        "runs": _RUNS,
        "paragraphs": _PARAGRAPHS,
        "anchor": "`{paragraph | section | text, at?}`; at before after, for a section start end",
        "rows": "rows of text",
        "column_widths": "list of inches",
        "cells": "list of `{row, column, text | runs}`, from 0",
        "scope": " ".join(docx.SCOPES),
        "delete_paragraphs.from": "body index, from 0",
        "delete_paragraphs.to": "body index, from 0",
        "delete_table_rows.from": "row, from 0",
        "delete_table_rows.to": "row, from 0",
        "table": "table, from 0",
        "at": "row, from 0; null is the end",
    },
    "pptx": {
        **{name: _PARAGRAPH[name] for name in pptx.PARAGRAPH_STYLE},
        "title_runs": _RUNS,
        "body_runs": _RUNS,
        "bullets": "list of text or `{text, level?}`, level 0 to 8",
        "slides": "list of slide numbers from 0",
        "cells": "list of `{row, column, text}`, from 0",
        "index": "slide, from 0",
        "to": "slide, from 0",
        "layout": "name of a layout of the file, or title_slide title_and_content section_header "
        "two_content comparison title_only blank",
    },
}
_SPECS: Mapping[str, Sequence[OpSpec]] = {
    "xlsx": xlsx.SPECS,
    "docx": docx.SPECS,
    "pptx": pptx.SPECS,
}
_STYLES: Mapping[str, tuple[tuple[str, Sequence[str], Mapping[str, str]], ...]] = {
    "xlsx": (("Cell style (`style`)", LOOK_FIELDS, _CELL),),
    "docx": (
        ("Run, beside its `text`", docx.RUN_STYLE, _RUN),
        ("Paragraph, beside its `text` or `runs`", docx.PARAGRAPH_STYLE, _PARAGRAPH),
    ),
    "pptx": (
        ("Run, beside its `text`", pptx.RUN_STYLE, _RUN),
        ("Paragraph, beside the texts of an operation", pptx.PARAGRAPH_STYLE, _PARAGRAPH),
    ),
}


def capability_catalog(kind: str) -> str:
    """Return the operations and style fields of `xlsx`, `docx` or `pptx`, as Markdown."""
    parts = [
        f"Operations of `{kind}_operations`. Fields marked `?` may be left out. Every style field "
        "may be left out; a value that is not listed here is skipped with a warning.",
        "\n".join(_operation(kind, spec) for spec in _SPECS[kind]),
    ]
    for title, names, meanings in _STYLES[kind]:
        parts.append(f"{title}:\n\n" + "\n".join(_styles(names, meanings)))
    return "\n\n".join(parts) + "\n"


def _styles(names: Iterable[str], meanings: Mapping[str, str]) -> Iterable[str]:
    """One line for each meaning, the fields that share it together."""
    same: dict[str, list[str]] = {}
    for name in names:
        same.setdefault(meanings[name], []).append(f"`{name}`")
    return (f"- {' '.join(fields)}: {meaning}" for meaning, fields in same.items())


def _operation(kind: str, spec: OpSpec) -> str:
    style = {name for _, names, _ in _STYLES[kind] for name in names} if kind != "xlsx" else set()
    shown = [_field(kind, spec, arg) for arg in spec.args if _is_own(kind, spec, arg, style)]
    if len(shown) < len(spec.args):
        shown.append("the paragraph's style fields")
    return f"- `{spec.name}`: {'; '.join(shown)}"


def _is_own(kind: str, spec: OpSpec, arg: Arg, style: set[str]) -> bool:
    """Whether a field belongs to the operation alone; those of a paragraph are listed once."""
    return arg.name not in style or f"{spec.name}.{arg.name}" in _FIELDS[kind]


def _field(kind: str, spec: OpSpec, arg: Arg) -> str:
    known = _FIELDS[kind]
    meaning = known.get(f"{spec.name}.{arg.name}") or known.get(arg.name) or _TYPES[arg.kind]
    mark = "" if arg.required else "?"
    default = "" if arg.default in (None, False) else f", default {_shown(arg.default)}"
    return f"`{arg.name}{mark}` {meaning}{default}"


def _shown(value: object) -> str:
    return "true" if value is True else str(value)
