"""Tables in every workbook others made: all else stays, other programs read them (F37)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from backshop.formats import xlsx
from backshop.formats.errors import REASONS, FormatError
from backshop.formats.package.package import Package
from backshop.formats.protocol import Source
from backshop.formats.xlsx.book.workbook import Book
from backshop.formats.xlsx.syntax.address import Area, cell_name, parse_area

from .. import second_reader
from ..rates import Rate
from .books import differing, edit, mapped, opened, source
from .test_corpora import STRICT, workbooks

pytestmark = pytest.mark.needs("corpora")
NAME = "Backshop_Table"


def wishes(sheet: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Calls one after another: a table of what is there comes, changes, and goes again."""
    used = sheet["used_range"]
    last = min(used["max_row"], used["min_row"] + 60) if used else 0
    if used is None or last <= used["min_row"]:
        return []
    area = Area(used["min_row"], used["min_col"], last, min(used["max_col"], used["min_col"] + 20))
    less = Area(area.row1, area.col1, max(area.row1 + 1, area.row2 - 1), area.col2)
    place = cell_name(used["max_row"] + 5, used["min_col"])
    name = {"table": NAME}
    total = {"cell": place, "value": f"=ROWS({NAME})", "type": "formula"}
    calls: list[dict[str, Any]] = [
        {"op": "add_table", "sheet": sheet["name"], "range": str(area), "name": NAME},
        {"op": "set_cells", "sheet": sheet["name"], "cells": [total]},
        {"op": "change_table", **name, "totals": True, "style": "dark 3"},
        {"op": "change_table", **name, "new_name": f"{NAME}2"},
        {"op": "change_table", "table": f"{NAME}2", "totals": False},
        {"op": "change_table", "table": f"{NAME}2", "range": str(less)},
        {"op": "delete_table", "table": f"{NAME}2"},
    ]
    return [[call] for call in calls]


@pytest.mark.rule("F37.1", "F37.7", "F37.9", "F37.10", "F37.12", "F23.1", "F23.4", "F16.14")
def test_a_table_comes_changes_and_goes_in_every_workbook_and_nothing_else_changes(
    corpora, tmp_path, scaled, record_property
):
    rate, chosen = Rate("changes of tables"), random.Random(11)
    for path in workbooks(corpora, scaled(60, 1)):
        made = source(path)
        try:
            sheets = [one for one in mapped(made)["sheets"] if one["kind"] == "worksheet"]
        except FormatError:
            continue
        for call in wishes(sheets[0]) if sheets else ():
            out = tmp_path / f"out{rate.edited}{path.suffix}"
            try:
                done = edit(made, out, *call)
            except FormatError as error:
                assert error.reason in REASONS, (path.name, call)
                rate.refuse(error)
                continue
            assert differing(made.path, out) == set(done.changed_parts), (path.name, call)
            assert done.effects.collateral == (), (path.name, call, done.effects.collateral[:3])
            _second_opinion(path, out)
            _one_by_one(made, source(out), tmp_path / f"some{path.suffix}", chosen)
            rate.edited += 1
            made = source(out)

    rate.record(record_property)
    assert rate.edited > 400 // scaled(60, 1)


def _second_opinion(path: Path, out: Path) -> None:
    """Let openpyxl read the tables: names of columns equal the texts of their header cells."""
    if path.name in STRICT:
        return
    try:
        opened(path)
    except Exception:  # the second reader fails on some of these files in its own ways
        return
    for sheet in opened(out).worksheets:
        for table in sheet.tables.values():
            if table.name not in (NAME, f"{NAME}2"):
                continue
            area = parse_area(table.ref)
            assert area is not None
            columns = range(area.col1, area.col2 + 1)
            heads = [sheet.cell(area.row1, col).value for col in columns]
            assert [_plain(one.name) for one in table.tableColumns] == [
                _plain(str(head)) for head in heads
            ], path.name
            end = area.row2 - (table.totalsRowCount or 0)
            assert table.autoFilter.ref == Area(area.row1, area.col1, end, area.col2).span


def _plain(text: str) -> str:
    return " ".join(text.replace("_x000a_", " ").replace("_x000d_", " ").split())


def _one_by_one(before: Source, after: Source, out: Path, chosen: random.Random) -> None:
    """Leave some of the changes out: the others are all there (F34.2 is verified by compose)."""
    units = xlsx.separate(before, after)
    if [unit.kind for unit in units] == ["file"] or len(units) < 2:
        return
    left = frozenset(unit.id for unit in chosen.sample(units, len(units) // 2))
    xlsx.compose(before, after, left, out)


# --- another program ------------------------------------------------------------------------------

ROWS: list[list[Any]] = [["Key", "n"], ["a", 2], ["b", 3], ["c", 4], ["d", 5]]


def below(sheet: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
    """Operations that write a table with totals below all else, and formulas that name it."""
    row = (sheet["used_range"] or {"max_row": 0})["max_row"] + 3
    formulas = [f"SUM({NAME}[n])", f"{NAME}[[#Totals],[n]]", f"ROWS({NAME}[[#All],[n]])"]
    name = sheet["name"]
    return row, [
        {"op": "set_range", "sheet": name, "start": f"A{row}", "values": ROWS},
        {"op": "add_table", "sheet": name, "range": f"A{row}:B{row + 3}", "name": NAME},
        {"op": "change_table", "table": NAME, "range": f"A{row}:B{row + 4}"},
        {"op": "change_table", "table": NAME, "totals": [{"column": "n", "function": "average"}]},
        {"op": "set_range", "sheet": name, "start": f"D{row}",
         "values": [[f"={one}"] for one in formulas]},
    ]  # fmt: skip


@pytest.mark.rule("F37.1", "F37.7", "F37.8", "F37.9")
@pytest.mark.needs("libreoffice")
def test_libreoffice_computes_what_names_a_table_alike(corpora, tmp_path, scaled):
    edited = tmp_path / "edited"
    edited.mkdir()
    names: dict[str, tuple[Path, str, int]] = {}
    for number, path in enumerate(workbooks(corpora, scaled(60, 4))):
        try:
            sheet = next(s for s in mapped(source(path))["sheets"] if s["kind"] == "worksheet")
            row, ops = below(sheet)
            with_table = edited / f"{number}t.xlsx"
            edit(source(path), with_table, *ops)
            plain = {"op": "delete_table", "table": NAME}
            edit(source(with_table), edited / f"{number}p.xlsx", plain)
        except FormatError:
            continue
        for kind in "tp":
            names[f"{number}{kind}"] = (path, sheet["name"], row)
    files = [edited / f"{stem}.xlsx" for stem in names]
    for start in range(0, len(files), 40):
        second_reader.convert(files[start : start + 40], tmp_path / "lo", "xlsx", timeout_s=1800)

    wrong = {}
    for stem, (path, name, row) in names.items():
        saved = tmp_path / "lo" / "converted" / f"{stem}.xlsx"
        shown = _shown(saved, name, row) if saved.exists() else None
        if shown != [3.5, 14, 3.5, 6]:
            wrong[path.name, stem] = shown

    assert names
    assert len(wrong) <= 0.05 * len(names), wrong


def _shown(path: Path, sheet: str, row: int) -> list[Any]:
    """What the total and the formulas beside the table show."""
    book = Book(Package.open(source(path)))
    xml = book.xml(book.sheet(sheet))
    cells = [cell for one in xml.iter_rows() for cell in xml.cells(one)] if xml else []
    found = {(cell.row, cell.col): book.value(cell).number for cell in cells}
    return [found.get((row + 5, 2)), *(found.get((row + at, 4)) for at in range(3))]
