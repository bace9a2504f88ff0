"""A text in the place of another: in a range, as all that a cell holds, never inside numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backshop.formats.errors import FormatError

from .books import book, edit, opened

DATA = [["Net 2024", "net", 2024], ["Net", "network", "=A1&2024|0"]]


def replaced(tmp_path: Path, **fields: Any) -> Any:
    base = book(tmp_path / "in.xlsx", ("S", DATA), ("T", DATA))
    op = {"op": "replace_text", "search": "net", "replace": "gross", **fields}
    return edit(base, tmp_path / "out.xlsx", op)


def shown(tmp_path: Path, sheet: str = "S") -> list[list[Any]]:
    rows = opened(tmp_path / "out.xlsx")[sheet]["A1:C2"]
    return [[cell.value for cell in row] for row in rows]


@pytest.mark.rule("F17.15")
def test_only_cells_of_a_range_are_searched(tmp_path):
    done = replaced(tmp_path, sheet="S", range="B:B")

    assert shown(tmp_path) == [["Net 2024", "gross", 2024], ["Net", "grosswork", "=A1&2024"]]
    assert shown(tmp_path, "T") == [["Net 2024", "net", 2024], ["Net", "network", "=A1&2024"]]
    assert done.effects.collateral == ()
    with pytest.raises(FormatError) as caught:
        replaced(tmp_path, range="B:B")
    assert caught.value.reason == "missing_field"


@pytest.mark.rule("F17.15")
def test_whole_cells_alone_match(tmp_path):
    replaced(tmp_path, sheet="S", whole_cell=True)

    assert shown(tmp_path) == [["Net 2024", "gross", 2024], ["gross", "network", "=A1&2024"]]


@pytest.mark.rule("F17.15")
def test_matches_in_numbers_stay_and_are_counted(tmp_path):
    done = replaced(tmp_path, sheet="S", search="2024", replace="2025")

    assert shown(tmp_path)[0] == ["Net 2025", "net", 2024]
    left = {one.where: one.count for one in done.warnings if one.code == "occurrences_left"}
    assert sorted(left.values()) == [1, 1]
    with pytest.raises(FormatError) as caught:
        replaced(tmp_path, sheet="S", range="C1", search="2024", replace="2025")
    assert (caught.value.reason, len(caught.value.hints)) == ("no_match", 1)
    assert "occurs only where it stays" in caught.value.message
