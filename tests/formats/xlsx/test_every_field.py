"""Every operation with every field missing, doubled by an alias, foreign, or of a wrong type."""

from __future__ import annotations

from typing import Any

import pytest
from PIL import Image

from backshop.formats.errors import REASONS, FormatError
from backshop.formats.xlsx.edit.operation import SPECS

from .books import book, edit, source

GOOD: dict[str, dict[str, Any]] = {
    "ensure_sheet": {"sheet": "New", "position": 0},
    "rename_sheet": {"sheet": "S", "new_name": "T"},
    "delete_sheet": {"sheet": "Other"},
    "set_cells": {"sheet": "S", "cells": [{"cell": "A1", "value": 1, "type": "number"}]},
    "set_range": {"sheet": "S", "start": "B2", "values": [[1, "x"]], "types": ["number"],
                  "style": {"font_bold": True}},
    "append_rows": {"sheet": "S", "values": [[1]], "style": {"font_bold": True}},
    "fill_formula": {"sheet": "S", "range": "D1:D2", "formula": "=B1",
                     "style": {"font_bold": True}},
    "replace_text": {"sheet": "S", "search": "a", "replace": "z", "match_case": True,
                     "whole_word": True, "whole_cell": True, "range": "A1:B9", "in_formulas": True,
                     "expect": 1},
    "clear_range": {"sheet": "S", "range": "A1:B1", "what": "values"},
    "set_style": {"sheet": "S", "range": "A1", "style": {"font_bold": True}},
    "merge_cells": {"sheet": "S", "range": "D1:E1"},
    "unmerge_cells": {"sheet": "S", "range": "F1:G1"},
    "set_column_widths": {"sheet": "S", "columns": [{"column": "A", "width": 9}]},
    "set_row_heights": {"sheet": "S", "rows": [{"row": 1, "height": 9}]},
    "freeze_panes": {"sheet": "S", "row": 1, "column": 0},
    "insert_rows": {"sheet": "S", "row": 2, "count": 2, "copy_format": "below",
                    "values": [["x", 1]]},
    "delete_rows": {"sheet": "S", "from": 1, "to": 2},
    "insert_columns": {"sheet": "S", "column": "B", "count": 2, "copy_format": "right",
                       "values": [["x", 1]]},
    "delete_columns": {"sheet": "S", "from": "A", "to": 1},
    "set_autofilter": {"sheet": "S", "range": "A1:B2"},
    "sort_range": {"sheet": "S", "range": "A1:B2", "header": False, "match_case": True,
                   "by": [{"column": "B", "order": "descending", "values": [1, "x"]}]},
    "remove_duplicates": {"sheet": "S", "range": "A1:B2", "header": False, "columns": ["B"],
                          "keep": "last"},
    "copy_range": {"sheet": "S", "range": "A1:B2", "to_sheet": "Other", "to": "C5:D6",
                   "what": "all", "transpose": False},
    "move_range": {"sheet": "S", "range": "A1:B2", "to_sheet": "Other", "to": "C5"},
    "copy_sheet": {"sheet": "S", "new_name": "T", "position": 0},
    "move_sheet": {"sheet": "S", "position": 1},
    "set_sheet_state": {"sheet": "S", "state": "hidden", "tab_color": "none"},
    "summarize_by_category": {"sheet": "S", "source_sheets": ["Other"], "category_col": "A",
                              "amount_col": 2, "category_header": "Kind"},
    "add_chart": {"sheet": "S", "cell": "H2", "kind": "column", "data": "A1:B2",
                  "series_by": "columns", "stacking": "stacked", "title": "T", "x_title": "X",
                  "y_title": "Y", "legend": "top", "number_format": "0.0", "y_min": 0, "y_max": 9,
                  "name": "Mine", "width": 200, "height": 100},
    "change_chart": {"sheet": "S", "chart": "Chart 1", "kind": "bar", "data": "A1:B2",
                     "series_by": "columns", "stacking": "percent", "title": "T", "x_title": "X",
                     "y_title": "Y", "legend": "none", "number_format": "0.0", "y_min": "auto",
                     "y_max": 9},
    "add_image": {"sheet": "S", "cell": "H2", "image": "dot.png", "name": "Mine", "width": 20,
                  "height": 10, "description": "A dot"},
    "delete_drawing": {"sheet": "S", "name": "Chart 1"},
    "add_table": {"sheet": "S", "range": "A1:B2", "name": "Mine", "header": True,
                  "columns": ["k", "n"], "style": "TableStyleLight1", "first_column": True,
                  "last_column": True, "banded_rows": False, "banded_columns": True,
                  "totals": [{"column": "n", "function": "sum"}]},
    "change_table": {"sheet": "Other", "table": "Known", "new_name": "Mine", "range": "A1:B3",
                     "columns": [{"column": "n", "name": "m"}], "style": "none",
                     "first_column": True, "last_column": True, "banded_rows": False,
                     "banded_columns": True, "totals": True},
    "delete_table": {"sheet": "Other", "table": "Known"},
    "add_conditional_format": {"sheet": "S", "range": "A1:B2", "kind": "between", "value": 1,
                               "value2": "=$B$2", "style": {"font_bold": True},
                               "stop_if_true": True, "priority": 1},
    "delete_conditional_format": {"sheet": "S", "range": "A1:B1", "number": 1},
    "set_validation": {"sheet": "S", "range": "A1:B2", "kind": "whole", "operator": "between",
                       "value": 1, "value2": 9, "prompt_title": "T", "prompt": "P",
                       "error_title": "E", "error": "F", "error_style": "warning",
                       "allow_blank": False},
    "delete_validation": {"sheet": "S", "range": "B1", "number": [1]},
    "set_name": {"name": "Total", "refers_to": "S!A1:B2", "scope": "S", "new_name": "Sum_",
                 "comment": "of all"},
    "delete_name": {"name": "Total", "scope": "S", "break_formulas": True},
    "set_note": {"sheet": "S", "cell": "E9", "text": "new", "author": "Ann"},
    "delete_note": {"sheet": "S", "cell": "E9"},
    "set_link": {"sheet": "S", "range": "A1:B1", "target": "https://example.org/", "text": "x",
                 "tooltip": "there", "style": {"font_bold": True}},
    "delete_link": {"sheet": "S", "range": "E9"},
}  # fmt: skip
WRONG: list[Any] = [
    *(True, 7, -1, 2.5, 10**400, "", "x", "A0", "ZZZZ9", "\0", [], [[]], [None], [{}], {}),
    *({"op": "set_cells"}, [{"cell": 5}], [{"cell": "A1", "value": []}], [["=WEBSERVICE(1)"]]),
]


@pytest.fixture
def made(tmp_path):
    bare = tmp_path / "bare.xlsx"
    book(bare, ("S", [["a", 1], ["b", 2]]), ("Other", [["k", "n"], ["x", 2]]))
    chart = {"op": "add_chart", "sheet": "S", "cell": "H20", "kind": "line", "data": "A1:B2"}
    table = {"op": "add_table", "sheet": "Other", "range": "A1:B2", "name": "Known"}
    rules = {"sheet": "S", "range": "A1:B2"}
    condition = {"op": "add_conditional_format", "kind": "data_bar", **rules}
    validation = {"op": "set_validation", "kind": "list", "values": ["a", 1], **rules}
    name = {"op": "set_name", "name": "Total", "refers_to": "S!B1", "scope": "S"}
    note = {"op": "set_note", "sheet": "S", "cell": "E9", "text": "old"}
    link = {"op": "set_link", "sheet": "S", "range": "E9:E10", "target": "Other!A1"}
    given = (chart, table, condition, validation, name, note, link)
    edit(source(bare), tmp_path / "a.xlsx", *given)
    Image.new("1", (2, 2)).save(tmp_path / "dot.png")
    return source(tmp_path / "a.xlsx")


def attempt(made, out, op) -> FormatError | None:
    """Try an operation: it is carried out, or refused with its place and nothing written."""
    try:
        edit(made, out, op, files={"dot.png": source(out.with_name("dot.png"))})
    except FormatError as error:
        assert error.reason in REASONS, op
        assert error.detail is not None, op
        assert error.detail.startswith("operations[0]"), (op, error.detail)
        assert not out.exists(), op
        return error
    out.unlink()
    return None


def test_there_is_an_example_of_every_operation():
    assert GOOD.keys() == {spec.name for spec in SPECS}


@pytest.mark.rule("F16.4", "F16.6", "F17")
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_fields_that_are_missing_extra_or_foreign(made, tmp_path, spec):
    out, good = tmp_path / "out.xlsx", {"op": spec.name, **GOOD[spec.name]}
    assert attempt(made, out, good) is None
    for arg in spec.args:
        rest = {key: value for key, value in good.items() if key != arg.name}
        error = attempt(made, out, rest)
        null = attempt(made, out, {**good, arg.name: None})
        if arg.required:
            assert error is not None
            assert error.reason == "missing_field"
            assert str(error.detail).startswith(f"operations[0].{arg.name}")
        assert (error and error.reason) == (null and null.reason), arg.name
    mine = {name for arg in spec.args for name in (arg.name, *arg.aliases)}
    foreign = {arg.name for other in SPECS for arg in other.args} - mine
    for name in sorted(foreign):
        error = attempt(made, out, {**good, name: 1})
        assert error is not None
        assert error.reason == "unknown_field"
        assert set(error.hints) <= mine
    surprise = attempt(made, out, {**good, "surprise": 1})
    assert surprise is not None
    assert (surprise.reason, set(surprise.hints) <= mine) == ("unknown_field", True)


@pytest.mark.rule("F16.4", "F17", "F1.6")
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_fields_of_a_wrong_type_or_value(made, tmp_path, spec):
    out, good = tmp_path / "out.xlsx", {"op": spec.name, **GOOD[spec.name]}
    for arg in spec.args:
        for wrong in WRONG:
            error = attempt(made, out, {**good, arg.name: wrong})
            kinds = (int, float) if arg.kind is float else arg.kind
            matching = arg.kind is object or (
                isinstance(wrong, kinds) and not (arg.kind in (int, float) and wrong is True)
            )
            if not matching:
                assert error is not None, (arg.name, wrong)
                assert error.reason == "bad_type", (arg.name, wrong)
