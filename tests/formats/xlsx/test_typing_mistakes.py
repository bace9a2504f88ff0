"""Nothing comes into being by a typing mistake: sheets, files, values."""

from __future__ import annotations

import pytest
from tests.formats.xlsx.books import book, edit, lines, opened

from backshop.formats.errors import FormatError


@pytest.fixture
def made(tmp_path):
    rows = [["id", "name"], [1, "a"], [2, "b"]]
    return book(tmp_path / "a.xlsx", ("Customers", rows), ("Orders", [["x", "y", "z"]]))


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.xlsx"


@pytest.mark.rule("F17", "F3.1")
@pytest.mark.parametrize(
    "op",
    [
        {"op": "set_cells", "cells": [{"cell": "A1", "value": 1}]},
        {"op": "set_range", "start": "A1", "values": [[1]]},
        {"op": "append_rows", "values": [[1]]},
        {"op": "summarize_by_category", "source_sheets": ["Orders"]},
    ],
)
def test_a_mistyped_sheet_is_refused_with_the_nearest_name_and_the_call_that_makes_one(
    made, out, op
):
    with pytest.raises(FormatError) as caught:
        edit(made, out, {"sheet": "Custmers", **op})

    assert caught.value.reason == "unknown_sheet"
    assert caught.value.hints[0] == "Customers"
    assert '{"op": "ensure_sheet", "sheet": "Custmers"}' in caught.value.hints[-1]
    assert not out.exists()


@pytest.mark.rule("F17", "F16.3")
def test_ensure_sheet_and_a_new_workbook_make_sheets(made, out):
    write = {"op": "set_cells", "sheet": "New", "cells": [{"cell": "A1", "value": 1}]}

    edit(made, out, {"op": "ensure_sheet", "sheet": "New"}, write)
    assert opened(out).sheetnames == ["Customers", "Orders", "New"]

    edit(None, out, write)
    assert opened(out).sheetnames == ["New"]

    with pytest.raises(FormatError) as caught:
        edit(None, out, write, {**write, "sheet": "Nwe"})
    assert caught.value.reason == "unknown_sheet"


@pytest.mark.rule("F17.4")
def test_a_null_in_a_block_empties_its_cell_unless_it_is_to_be_kept(made, out):
    block = {"op": "set_range", "sheet": "Customers", "start": "A2", "values": [[7, None], [None]]}

    done = edit(made, out, block)
    assert lines(out, sheet="Customers") == ["1\tid\tname", "2\t7", "3\t\tb"]
    assert done.effects.collateral == ()

    edit(made, out, {**block, "null_cells": "keep"})
    assert lines(out, sheet="Customers") == ["1\tid\tname", "2\t7\ta", "3\t2\tb"]

    with pytest.raises(FormatError) as caught:
        edit(made, out, {**block, "null_cells": "skip"})
    assert (caught.value.reason, caught.value.hints) == ("bad_value", ("clear", "keep"))
