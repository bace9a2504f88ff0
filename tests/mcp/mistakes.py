"""Calls that agents typically get wrong: what the answer has to say, and the call it leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BOOK, REPORT, DECK = "budget-2025.xlsx", "annual-report.docx", "board-deck.pptx"
BOLD = {"font_bold": True}


@dataclass(frozen=True)
class Mistake:
    """A wrong call; what only the answer can tell somebody who knows no more than the schema."""

    name: str
    tool: str
    wrong: dict[str, Any]
    says: tuple[str, ...]
    right: dict[str, Any]


def office(
    name: str, path: str, wrong: Any, says: tuple[str, ...], right: dict[str, Any]
) -> Mistake:
    """Return a mistake in one operation on an office file; a good one may stand before it."""
    listed = wrong if isinstance(wrong, list) else [wrong]
    tool = f"{path.rpartition('.')[2]}_operations"
    return Mistake(
        name,
        tool,
        {"path": path, "operations": listed},
        says,
        {"path": path, "operations": [right]},
    )


MISTAKES = [
    office(
        "cells as an object",
        BOOK,
        {"op": "set_cells", "sheet": "Plan", "cells": {"H1": 5}},
        ("operations[0].cells: must be a list", "{cell, value?, type?, style?}", '"cell":"D1"'),
        {"op": "set_cells", "sheet": "Plan", "cells": [{"cell": "H1", "value": 5}]},
    ),
    office(
        "a style key of another program",
        BOOK,
        [
            {"op": "ensure_sheet", "sheet": "New"},
            {"op": "set_style", "sheet": "Plan", "range": "A1:B1", "style": {"bold": True}},
        ],
        ("operations[1].style.bold", "did you mean font_bold?", "font_bold font_italic"),
        {"op": "set_style", "sheet": "Plan", "range": "A1:B1", "style": BOLD},
    ),
    office(
        "a style that is a word",
        BOOK,
        {"op": "set_style", "sheet": "Plan", "range": "A1:B1", "style": "bold"},
        ("operations[0].style", "an object of style fields", "font_bold"),
        {"op": "set_style", "sheet": "Plan", "range": "A1:B1", "style": BOLD},
    ),
    office(
        "a range that carries its sheet",
        BOOK,
        {"op": "set_style", "sheet": "Plan", "range": "Costs!A1:B3", "style": BOLD},
        ("operations[0].range", "give sheet 'Costs', and 'A1:B3' in this field"),
        {"op": "set_style", "sheet": "Costs", "range": "A1:B3", "style": BOLD},
    ),
    office(
        "a cell that carries its sheet",
        BOOK,
        {"op": "set_cells", "sheet": "Plan", "cells": [{"cell": "'Costs'!H2", "value": 1}]},
        ("operations[0].cells[0].cell", "give sheet 'Costs', and 'H2' in this field"),
        {"op": "set_cells", "sheet": "Costs", "cells": [{"cell": "H2", "value": 1}]},
    ),
    office(
        "a sheet that is left out",
        BOOK,
        {"op": "append_rows", "values": [["a", 1]]},
        ("operations[0].sheet: this field is needed", "append_rows(sheet, values,"),
        {"op": "append_rows", "sheet": "Costs", "values": [["a", 1]]},
    ),
    office(
        "one row where rows are meant",
        BOOK,
        {"op": "append_rows", "sheet": "Costs", "values": ["a", 1]},
        ("operations[0].values[0]", "a row is a list", '"values":[["East",12,9.5]]'),
        {"op": "append_rows", "sheet": "Costs", "values": [["a", 1]]},
    ),
    office(
        "fields of another operation",
        BOOK,
        {"op": "set_cells", "sheet": "Plan", "range": "H1", "values": [[1]]},
        ("operations[0].range: there is no field range", "set_cells(sheet, cells)"),
        {"op": "set_cells", "sheet": "Plan", "cells": [{"cell": "H1", "value": 1}]},
    ),
    office(
        "an operation of another name",
        BOOK,
        {"op": "write_cells", "sheet": "Plan", "cells": [{"cell": "H1", "value": 1}]},
        ("operations[0].op", "did you mean set_cells?", "set_cells(sheet, cells)"),
        {"op": "set_cells", "sheet": "Plan", "cells": [{"cell": "H1", "value": 1}]},
    ),
    office(
        "a chart taken away by another name",
        BOOK,
        {"op": "delete_chart", "sheet": "Plan", "chart": "Chart 1"},
        ("did you mean delete_drawing?", "delete_drawing(sheet, "),
        {"op": "set_cells", "sheet": "Plan", "cells": [{"cell": "H1", "value": 1}]},
    ),
    office(
        "a new sheet by another name",
        BOOK,
        {"op": "add_sheet", "name": "Added"},
        ("did you mean ensure_sheet?", '{"op":"ensure_sheet","sheet":"Summary"}'),
        {"op": "ensure_sheet", "sheet": "Added"},
    ),
    office(
        "widths as an object",
        BOOK,
        {"op": "set_column_widths", "sheet": "Plan", "columns": {"A": 20}},
        ("operations[0].columns: must be a list", "{column, width}", "width in characters"),
        {"op": "set_column_widths", "sheet": "Plan", "columns": [{"column": "A", "width": 20}]},
    ),
    office(
        "panes by a cell",
        BOOK,
        {"op": "freeze_panes", "sheet": "Plan", "cell": "A2"},
        ("freeze_panes(sheet, row?, column?)", "first one that scrolls, from 0"),
        {"op": "freeze_panes", "sheet": "Plan", "row": 1},
    ),
    office(
        "the operation as a key",
        BOOK,
        {"set_cells": {"sheet": "Plan", "cells": [{"cell": "H1", "value": 1}]}},
        ('write {"op": "set_cells", …} with its fields beside it', "set_cells(sheet, cells)"),
        {"op": "set_cells", "sheet": "Plan", "cells": [{"cell": "H1", "value": 1}]},
    ),
    Mistake(
        "one operation that is no list",
        "xlsx_operations",
        {"path": BOOK, "operations": {"op": "ensure_sheet", "sheet": "One"}},
        ("operations: must be a list of objects, not an object",),
        {"path": BOOK, "operations": [{"op": "ensure_sheet", "sheet": "One"}]},
    ),
    office(
        "a table on a slide",
        DECK,
        {"op": "add_table", "index": 1, "rows": [["a"]]},
        (
            "'add_table' is not offered",
            "append_bullets",
            "set_table_cells fills those that are there",
        ),
        {"op": "append_bullets", "index": 1, "bullets": ["a"]},
    ),
    office(
        "a slide in words",
        DECK,
        {"op": "set_notes", "index": "slide 2", "notes": "x"},
        ("operations[0].index: must be a whole number, not text", "slide, from 0"),
        {"op": "set_notes", "index": 1, "notes": "x"},
    ),
    office(
        "a slide by another name",
        DECK,
        {"op": "set_slide_text", "slide": 1, "title": "x"},
        ("operations[0].slide: there is no field slide", "index", '"index":1'),
        {"op": "set_slide_text", "index": 1, "title": "x"},
    ),
    office(
        "one paragraph to insert",
        REPORT,
        {"op": "insert_paragraph", "after": "Summary", "text": "x"},
        ("did you mean insert_paragraphs?", "{paragraph | section | text, at?}", '"anchor":{'),
        {"op": "insert_paragraphs", "anchor": {"paragraph": 0}, "paragraphs": ["x"]},
    ),
    office(
        "an anchor that is a text",
        REPORT,
        {"op": "insert_paragraphs", "anchor": "Summary", "paragraphs": ["x"]},
        ("operations[0].anchor: must be an object", "{paragraph | section | text, at?}"),
        {"op": "insert_paragraphs", "anchor": {"paragraph": 1}, "paragraphs": ["x"]},
    ),
    office(
        "old and new for a replacement",
        REPORT,
        {"op": "replace_text", "old": "the", "new": "THE"},
        ("there is no field new here, nor old", "replace_text(search, replace,"),
        {"op": "replace_text", "search": "the", "replace": "THE"},
    ),
    office(
        "numbers in a table of texts",
        REPORT,
        {"op": "append_table", "rows": [["a", 1]]},
        ("operations[0].rows[0][1]: must be text", "each a list of texts"),
        {"op": "append_table", "rows": [["a", "1"]]},
    ),
    Mistake(
        "another word for the operations",
        "docx_operations",
        {"path": REPORT, "ops": [{"op": "append_paragraph", "text": "x"}]},
        ("ops: there is no such argument", "operations: [{op, …}]"),
        {"path": REPORT, "operations": [{"op": "append_paragraph", "text": "x"}]},
    ),
    Mistake(
        "another word for the path",
        "read_file",
        {"file": "README.md"},
        ("file: there is no such argument", "read_file(path, sheet?"),
        {"path": "README.md"},
    ),
    Mistake(
        "another word for the text that is sought",
        "edit_text_file",
        {"path": "README.md", "edits": [{"find": "Tarn", "replace": "Torn"}]},
        ("edits[0].find: there is no such argument", "edits: [{search, replace, expect?}]"),
        {"path": "README.md", "edits": [{"search": "Tarn", "replace": "Torn"}]},
    ),
    Mistake(
        "an argument in the plural",
        "get_styles",
        {"path": BOOK, "sheets": "Plan"},
        ("sheets: there is no such argument; did you mean sheet?",),
        {"path": BOOK, "sheet": "Plan"},
    ),
    Mistake(
        "a kind that is no kind",
        "describe_operations",
        {"kind": "excel"},
        ("'excel' has no operations", "xlsx"),
        {"kind": "xlsx"},
    ),
    Mistake(
        "an operation that is not there",
        "describe_operations",
        {"kind": "pptx", "op": "add_bullets"},
        ("did you mean append_bullets?",),
        {"kind": "pptx", "op": "append_bullets"},
    ),
]
FORGIVEN: list[tuple[str, dict[str, Any]]] = [  # said otherwise than the schema has it, and taken
    ("describe_operations", {"kind": "xlsx_operations", "op": "set_cells"}),
    ("describe_operations", {"kind": REPORT}),
    ("xlsx_get_styles", {"path": BOOK}),
    ("docx_get_styles", {"path": REPORT}),
    ("pptx_get_styles", {"path": DECK}),
    ("pptx_operations", {"path": DECK, "operations": [{"op": "set_notes", "slide_index": "1",
                                                       "notes": "x"}]}),
    ("docx_operations", {"path": REPORT, "operations": [{"op": "replace_text", "find": "of",
                                                         "replace": "OF", "match_case": "true"}]}),
    ("xlsx_operations", {"path": BOOK, "operations": '[{"op": "ensure_sheet", "sheet": "Text"}]'}),
    ("xlsx_operations", {"path": BOOK, "operations": [
        {"operation": "set_range", "sheet": "Costs", "range": "J1:J1", "data": [[1]],
         "start": None, "cells": None}]}),
    ("xlsx_operations", {"path": BOOK, "operations": [
        {"op": "set_column_widths", "sheet": "Plan", "columns": [{"column": "A", "width": "9"}]}]}),
    ("table_read_rows", {"path": "orders.csv", "row_start": "1", "row_count": "2"}),
]  # fmt: skip
JARGON = (
    *("pydantic", "validation error", "Input should", "is not of type", "keyword argument"),
    *("Traceback", "NoneType", "must be str", "must be int", "jsonschema", "is a required"),
)
