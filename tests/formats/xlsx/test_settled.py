"""Operations of one call see what those before them did: results they read are no old ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backshop.formats.errors import FormatError
from backshop.formats.protocol import Source

from .books import book, edit, lines, members, source, text

SET = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "B2", "value": 100}]}
COUNT: list[list[Any]] = [
    ["n", "v", "d"],
    ["a", 1, "=B2*2|2"],
    ["b", 5, "=B3*2|10"],
    ["c", 3, "=B4*2|6"],
]


@pytest.fixture
def made(tmp_path: Path) -> Source:
    rows = [[*row, None, None] for row in COUNT]
    rows[1][4] = "=COUNTBLANK(B1:B4)|0"
    rows[2][4] = "=E2+1|1"
    return book(tmp_path / "a.xlsx", ("S", rows), ("Other", [[1, "=SUM(S!C2:C4)|18"]]))


def both_ways(made: Source, folder: Path, *operations: Any) -> tuple[Path, Path]:
    """Do the operations in one call, and each in a call of its own."""
    at_once, one_by_one = folder / "once.xlsx", made.path
    edit(made, at_once, *operations)
    for number, operation in enumerate(operations):
        edit(source(one_by_one), folder / f"step{number}.xlsx", operation)
        one_by_one = folder / f"step{number}.xlsx"
    return at_once, one_by_one


READERS: dict[str, list[dict[str, Any]]] = {
    "copied values": [
        SET,
        {"op": "copy_range", "sheet": "S", "range": "C2:C4", "to": "G2", "what": "values"},
    ],
    "copied values of a formula just written": [
        {"op": "set_cells", "sheet": "S", "cells": [{"cell": "F2", "value": "=SUM(B2:B4)"}]},
        {"op": "copy_range", "sheet": "S", "range": "F2", "to": "G2", "what": "values"},
    ],
    "sorted": [
        SET,
        {"op": "sort_range", "sheet": "S", "range": "A1:C4", "by": [{"column": "d"}]},
    ],
    "sorted, then copied": [
        SET,
        {"op": "sort_range", "sheet": "S", "range": "A1:C4", "by": [{"column": "v"}]},
        {"op": "copy_range", "sheet": "S", "range": "A2:C4", "to": "A10", "what": "values"},
    ],
    "without repeated rows": [
        {"op": "set_cells", "sheet": "S", "cells": [{"cell": "B2", "value": 5}]},
        {"op": "remove_duplicates", "sheet": "S", "range": "A1:C4", "columns": ["d"]},
    ],
    "summed": [
        SET,
        {"op": "ensure_sheet", "sheet": "T"},
        {
            "op": "summarize_by_category",
            "sheet": "T",
            "source_sheets": ["S"],
            "category_col": "A",
            "amount_col": "C",
        },
    ],
    "a copied sheet": [SET, {"op": "copy_sheet", "sheet": "S", "new_name": "K"}],
    "a copied sheet without another": [
        {"op": "copy_sheet", "sheet": "Other", "new_name": "K"},
        {"op": "delete_sheet", "sheet": "S"},
    ],
    "a copied sheet after another went": [
        {"op": "delete_sheet", "sheet": "S"},
        {"op": "copy_sheet", "sheet": "Other", "new_name": "K"},
    ],
    "a table with a computed header": [
        {"op": "set_cells", "sheet": "S", "cells": [{"cell": "D1", "value": '="y"&B2'}]},
        SET,
        {"op": "add_table", "sheet": "S", "range": "A1:D4", "name": "List"},
    ],
    "moved after lines came": [
        {"op": "insert_rows", "sheet": "S", "row": 3},
        {"op": "move_range", "sheet": "S", "range": "A1", "to": "H9"},
    ],
    "sorted after lines came": [
        {"op": "insert_rows", "sheet": "S", "row": 3},
        {"op": "sort_range", "sheet": "S", "range": "A1:C5", "by": [{"column": "v"}]},
    ],
    "moved before a name means something else": [
        {"op": "set_name", "name": "Rate", "refers_to": "2"},
        {"op": "set_cells", "sheet": "Other", "cells": [{"cell": "A3", "value": "=Rate*A1"}]},
        {"op": "move_range", "sheet": "Other", "range": "A3", "to": "D9"},
        {"op": "set_name", "name": "Rate", "refers_to": "3"},
    ],
}


@pytest.mark.rule("F24.2", "F24.23")
@pytest.mark.parametrize("name", READERS)
def test_one_call_gives_what_call_after_call_gives(made: Source, tmp_path: Path, name: str) -> None:
    at_once, one_by_one = both_ways(made, tmp_path, *READERS[name])
    sheets = ("S", "Other", "T", "K")
    shown = [one for one in sheets if f'name="{one}"' in names(at_once)]
    assert shown == [one for one in sheets if f'name="{one}"' in names(one_by_one)]
    for sheet in shown:
        for cells in ("values", "formulas"):
            wanted = text(one_by_one, sheet=sheet, cells=cells)
            assert text(at_once, sheet=sheet, cells=cells) == wanted, sheet


def names(path: Path) -> str:
    return members(path)["xl/workbook.xml"][0].decode()


@pytest.mark.rule("F24.23")
def test_a_rename_of_a_name_after_a_move_reaches_what_was_moved(
    made: Source, tmp_path: Path
) -> None:
    base, out = tmp_path / "named.xlsx", tmp_path / "out.xlsx"
    wishes = [
        {"op": "set_name", "name": "Rate", "refers_to": "2"},
        {"op": "set_cells", "sheet": "Other", "cells": [{"cell": "A3", "value": "=Rate*A1"}]},
    ]
    edit(made, base, *wishes)
    move = {"op": "move_range", "sheet": "Other", "range": "A3", "to": "A9"}
    edit(source(base), out, move, {"op": "set_name", "name": "Rate", "refers_to": "3"})
    assert lines(out, sheet="Other", range="A9") == ["9\t3"]


@pytest.mark.rule("F24.23", "F38.9")
def test_values_that_break_a_validation_are_those_of_now(made: Source, tmp_path: Path) -> None:
    rule = {"op": "set_validation", "sheet": "S", "range": "C2:C4", "kind": "whole"}
    limit = {**rule, "operator": "less_than", "value": 50}
    said = edit(made, tmp_path / "out.xlsx", SET, limit).warnings
    assert [(one.code, one.where) for one in said] == [("breaks_validation", "S!C2")]


@pytest.mark.rule("F24.23", "F24.11")
def test_without_computing_no_old_result_is_copied(made: Source, tmp_path: Path) -> None:
    copy = {"op": "copy_range", "sheet": "S", "range": "C2", "to": "G2", "what": "values"}
    with pytest.raises(FormatError, match="result of a formula is not stored"):
        edit(made, tmp_path / "out.xlsx", SET, copy, recalculate=False)
