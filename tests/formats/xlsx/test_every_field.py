"""Every operation with every field missing, doubled by an alias, foreign, or of a wrong type."""

from __future__ import annotations

from typing import Any

import pytest

from backshop.formats.errors import REASONS, FormatError
from backshop.formats.xlsx.edit.operation import SPECS

from .books import book, edit

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
                     "whole_word": True, "in_formulas": True, "expect": 1},
    "clear_range": {"sheet": "S", "range": "A1:B1", "what": "values"},
    "set_style": {"sheet": "S", "range": "A1", "style": {"font_bold": True}},
    "merge_cells": {"sheet": "S", "range": "D1:E1"},
    "unmerge_cells": {"sheet": "S", "range": "F1:G1"},
    "set_column_widths": {"sheet": "S", "columns": [{"column": "A", "width": 9}]},
    "set_row_heights": {"sheet": "S", "rows": [{"row": 1, "height": 9}]},
    "freeze_panes": {"sheet": "S", "row": 1, "column": 0},
    "set_autofilter": {"sheet": "S", "range": "A1:B2"},
    "summarize_by_category": {"sheet": "S", "source_sheets": ["Other"], "category_col": "A",
                              "amount_col": 2, "category_header": "Kind"},
}  # fmt: skip
WRONG: list[Any] = [
    *(True, 7, -1, 2.5, 10**400, "", "x", "A0", "ZZZZ9", "\0", [], [[]], [None], [{}], {}),
    *({"op": "set_cells"}, [{"cell": 5}], [{"cell": "A1", "value": []}], [["=WEBSERVICE(1)"]]),
]


@pytest.fixture
def made(tmp_path):
    return book(tmp_path / "a.xlsx", ("S", [["a", 1], ["b", 2]]), ("Other", [["k", "n"], ["x", 2]]))


def attempt(made, out, op) -> FormatError | None:
    """Try an operation: it is carried out, or refused with its place and nothing written."""
    try:
        edit(made, out, op)
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
            matching = arg.kind is object or (
                isinstance(wrong, arg.kind) and not (arg.kind is int and wrong is True)
            )
            if not matching:
                assert error is not None, (arg.name, wrong)
                assert error.reason == "bad_type", (arg.name, wrong)
