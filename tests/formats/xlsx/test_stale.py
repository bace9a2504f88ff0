"""No result stays stale: after edits every stored result is what LibreOffice computes anew."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from backshop.formats import xlsx
from backshop.formats.errors import FormatError
from backshop.formats.tables import Cache, Region, tools

from .. import second_reader
from .books import book, counts, edit, lines, mapped, sheet_of, source

SHEETS = ("One", "Two", "It's 3")
ROWS = 24


def _ref(rng: random.Random, row: int, sheet: str) -> str:
    """A reference to something above: in this sheet, another, a name, or a column of the table."""
    at = rng.randint(1, max(1, row - 1))
    other = rng.choice(SHEETS)
    quoted = "'" + other.replace("'", "''") + "'"
    prefix = "" if other == sheet else f"{quoted}!"
    dollar = rng.choice(("", "$"))
    col = "A" if row < 3 else rng.choice("AAB")
    return rng.choice(
        (
            f"{prefix}{dollar}{col}{dollar}{at}",
            f"{prefix}{dollar}{col}{at}",
            f"SUM({prefix}A1:B{at})",
            f"MAX({prefix}$A$1:{dollar}A{at})",
            f'COUNTIF({prefix}A1:A{at},">3")',
            "Rate",
            "SUM(Sales[Amount])",
            f"INDEX({prefix}A1:A{max(2, at)},{rng.randint(1, 2)})",
        )
    )


def _formula(rng: random.Random, row: int, sheet: str) -> str:
    one, two = _ref(rng, row, sheet), _ref(rng, row, sheet)
    return rng.choice(
        (
            f"={one}+{two}",
            f"={one}*2-{two}",
            f"=IF({one}>{two},{one},{two}+1)",
            f"=ROUND({one}/3,2)",
            f'={one}&"-"&{two}',
            f"=SUM({one},{two})",
            f"=MIN({one},{two},7)",
            f"=({one}+{two})%",
        )
    )


def build(path: Path, seed: int, results: dict[tuple[str, int, int], object]) -> None:
    """Write the workbook of a seed; formulas in column B read column A and each other."""
    rng = random.Random(seed)
    with xlsxwriter.Workbook(str(path)) as file:
        for name in SHEETS:
            sheet = file.add_worksheet(name)
            for row in range(1, ROWS + 1):
                sheet.write_number(row - 1, 0, rng.randint(0, 9))
                for col in (1, 2):
                    text = _formula(rng, row, name)
                    value = results.get((name, row, col + 1), 0)
                    sheet.write_formula(row - 1, col, text, None, value)
        table = file.get_worksheet_by_name("Two")
        data = [[n, n * 1.5] for n in range(4)]
        columns = [{"header": "Id"}, {"header": "Amount"}]
        table.add_table("F1:G5", {"name": "Sales", "data": data, "columns": columns})
        file.define_name("Rate", "='It''s 3'!$A$2")


def results(path: Path) -> dict[tuple[str, int, int], object]:
    book = openpyxl.load_workbook(path, data_only=True)
    return {
        (sheet.title, cell.row, cell.column): cell.value
        for sheet in book
        for row in sheet.iter_rows(min_col=2, max_col=3, max_row=ROWS)
        for cell in row
        if cell.value is not None
    }


def _same(one: object, two: object) -> bool:
    if isinstance(one, int | float) and isinstance(two, int | float):
        return abs(one - two) <= 1e-9 * max(1.0, abs(one))
    return str(one) == str(two) or (str(one)[:1] == str(two)[:1] == "#")


@pytest.mark.rule("F24.2", "F24.3", "F24.8")
@pytest.mark.needs("libreoffice")
def test_after_edits_no_stored_result_is_stale(tmp_path, scaled):
    seeds = range(scaled(3, 40))
    first = [tmp_path / f"first{seed}.xlsx" for seed in seeds]
    for seed, path in enumerate(first):
        build(path, seed, {})
    fresh = second_reader.convert(first, tmp_path, "xlsx")
    edited: list[Path] = []
    kept = 0
    for seed, path in enumerate(fresh):
        base, out = tmp_path / f"base{seed}.xlsx", tmp_path / f"edited{seed}.xlsx"
        build(base, seed, results(path))
        rng = random.Random(-seed)
        cells: list[Any] = [{"cell": f"A{rng.randint(1, ROWS)}", "value": rng.randint(0, 99)}]
        if seed % 3 == 0:
            cells = [{"cell": "G3", "value": 100}]
        sheet = "Two" if seed % 3 == 0 else rng.choice(SHEETS)
        operations: list[Any] = [{"op": "set_cells", "sheet": sheet, "cells": cells}]
        if seed % 4 == 1:
            operations.append({"op": "rename_sheet", "sheet": "One", "new_name": "First one"})
        edit(source(base), out, *operations)
        edited.append(out)

    theirs = second_reader.convert(edited, tmp_path, "xlsx")

    assert len(theirs) == len(edited)
    for mine, other in zip(edited, theirs, strict=True):
        computed, wanted = results(mine), results(other)
        kept += len(computed)
        stale = {
            place: (value, wanted.get(place))
            for place, value in computed.items()
            if not _same(value, wanted.get(place))
        }
        assert stale == {}, mine.name
    assert kept > 0.7 * len(edited) * len(SHEETS) * ROWS * 2


SPREAD = (
    '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>'
    '<row r="2"><c r="A2"><v>10</v></c></row>'
    '<row r="3"><c r="A3"><f t="array" ref="A3:C3">A1:B1*RAND()</f><v>2</v></c>'
    '<c r="B3"><v>4</v></c></row>'
    '<row r="4"><c r="A4"><f>B3+1</f><v>5</v></c><c r="B4"><f>A2*2</f><v>20</v></c></row>'
    '<row r="5"><c r="A5"><v>7</v></c><c r="B5">'
    '<f t="dataTable" ref="B5:B6" dt2D="0" dtr="0" r1="A2"/><v>14</v></c></row>'
    '<row r="6"><c r="A6"><v>8</v></c><c r="B6"><v>16</v></c></row>'
    '<row r="7"><c r="A7"><f>B6+1</f><v>17</v></c><c r="B7"><f>5*5</f><v>99</v></c></row>'
)


@pytest.mark.rule("F24.2", "F24.3", "F24.10", "F16.14", "F17.8", "F25.6")
def test_cells_that_show_the_values_of_another_formula_change_with_it(tmp_path):
    book(tmp_path / "a.xlsx", ("S", [[1]]))
    name = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(tmp_path / "a.xlsx") as old:
        parts = {one: old.read(one) for one in old.namelist()}
    head, _, rest = parts[name].partition(b"<sheetData>")
    tail = rest.partition(b"</sheetData>")[2]
    parts[name] = head + b"<sheetData>" + SPREAD.encode() + b"</sheetData>" + tail
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as new:
        for one, data in parts.items():
            new.writestr(one, data)

    change = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "B1", "value": 50}]}
    result = edit(source(tmp_path / "a.xlsx"), tmp_path / "b.xlsx", change)

    assert lines(tmp_path / "b.xlsx") == [
        "1\t1\t50",
        "2\t10",
        "3\t{=A1:B1*RAND()}\t{=A1:B1*RAND()}",
        "4\t{=B3+1}\t20",
        "5\t7\t{=}",
        "6\t8\t{=}",
        "7\t{=B6+1}\t99",
    ]
    told = {"data_table": 2, "depends_on_not_computed": 1, "volatile": 3}
    assert counts(result) == {"computed": 0, "not_computed": 6, "reasons": told}
    assert result.effects.collateral == ()

    after = source(tmp_path / "b.xlsx")
    region = Region(sheet="S", range="A5:B6", header_row=0)
    table: Any = tools.table_get_map(after, Cache(tmp_path / "cache"), region).to_json(after)
    assert [w["code"] for w in table["warnings"]] == ["uncached_formula"]
    assert [w["count"] for w in table["warnings"]] == [2]
    total = {"op": "summarize_by_category", "sheet": "T", "source_sheets": ["S"]}
    with pytest.raises(FormatError) as refused:
        edit(after, tmp_path / "c.xlsx", {**total, "category_col": "A", "amount_col": "B"})
    assert (refused.value.reason, refused.value.hints) == ("uncached_formula", ("B5", "B6"))


@pytest.mark.rule("F24.3", "F8.3", "F29.1", "F29.4", "F29.5", "F25.6")
def test_map_grid_lines_diff_and_table_agree_on_cells_that_wait_for_a_value(tmp_path):
    before = sheet_of(
        tmp_path / "a.xlsx",
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>'
        '<row r="4"><c r="D4"><f t="array" ref="D4:E5">A1:B1*RAND()</f><v>2</v></c>'
        '<c r="E4"><v>4</v></c></row><row r="5"><c r="D5"><v>2</v></c><c r="E5"><v>4</v></c></row>',
    )
    change = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "B1", "value": 50}]}
    edit(before, tmp_path / "b.xlsx", change)
    after = source(tmp_path / "b.xlsx")

    sheet = mapped(after)["sheets"][0]
    assert sheet["used_range"] == {"min_row": 1, "max_row": 5, "min_col": 1, "max_col": 5}
    assert [island["range"] for island in sheet["islands"]] == ["A1:B1", "D4:E5"]
    assert lines(tmp_path / "b.xlsx")[3:] == [
        "4\t\t\t\t{=A1:B1*RAND()}\t{=A1:B1*RAND()}",
        "5\t\t\t\t{=A1:B1*RAND()}\t{=A1:B1*RAND()}",
    ]
    grid: Any = xlsx.extract_grid(after, "S")
    assert (grid["row_count"], grid["col_count"]) == (5, 5)
    waiting = {
        "value": None,
        "type": "blank",
        "formula": "=A1:B1*RAND()",
        "display": "{=A1:B1*RAND()}",
    }
    assert [grid["cells"][row][col] for row in (3, 4) for col in (3, 4)] == [waiting] * 4
    assert xlsx.extract_lines(after)[1:] == [
        "[S] 4 | {=A1:B1*RAND()} | {=A1:B1*RAND()}",
        "[S] 5 | {=A1:B1*RAND()} | {=A1:B1*RAND()}",
    ]
    found: Any = xlsx.diff_cells(before, after)
    told = {cell["cell"]: (cell["before"], cell["after"]) for cell in found["sheets"][0]["cells"]}
    assert told.pop("B1") == ("2", "50")
    assert told == {"D4": ("2", None), "E4": ("4", None), "D5": ("2", None), "E5": ("4", None)}
    kinds = {cell["kind"]: cell.get("formula") for cell in found["sheets"][0]["cells"]}
    assert kinds == {"value": None, "result": "=A1:B1*RAND()"}  # the formula is what it was
    info: Any = xlsx.get_info(after)
    assert info["sheets"][0]["row_count"] == 5

    below = edit(after, tmp_path / "c.xlsx", {"op": "append_rows", "sheet": "S", "values": [[7]]})
    assert below.changes[0][1].startswith("S!A6")
