from __future__ import annotations

import os
import time
from typing import Any

import pytest

from backshop.base.limits import WRITE_TIMEOUT_S
from backshop.formats.package.package import Package
from backshop.formats.protocol import Effect
from backshop.formats.xlsx.book.workbook import Book
from backshop.formats.xlsx.edit import effect
from backshop.formats.xlsx.edit.session import Target
from backshop.formats.xlsx.syntax.address import Area

from .books import book, counts, edit

SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def made(tmp_path):
    rows = [["a", 1, "=B1|1"], ["b", 2], ["c", 3]]
    return book(tmp_path / "a.xlsx", ("S", rows), ("Other", [[5]]))


def planted(made, part, old, new, *targets, recalculated=None):
    """What the report says when `old` became `new` behind the operations' back."""
    package = Package.open(made)
    data = package.read(part)
    assert old in data
    package.put(part, data.replace(old, new, 1))
    expected = effect.Expected(targets, [], recalculated or {}, False)
    return effect.report(Book(package.fresh()), Book(package), expected)


@pytest.mark.rule("F16.13", "F16.14")
@pytest.mark.parametrize(
    ("part", "old", "new", "found"),
    [
        (SHEET, b"<v>2</v>", b"<v>9</v>", Effect(kind="cell", where="S!B2", aspect="value")),
        (SHEET, b"<f>B1</f>", b"<f>B2</f>", Effect(kind="cell", where="S!C1", aspect="formula")),
        (SHEET, b"<v>2</v>", b"", Effect(kind="cell", where="S!B2", aspect="value")),
        (SHEET, b"<v>1.0</v></c></row>", b"</c></row>",
         Effect(kind="cell", where="S!C1", aspect="value")),
        (SHEET, b'<c r="B3">', b'<c r="B3" s="1">',
         Effect(kind="cell", where="S!B3", aspect="style")),
        (SHEET, b'<row r="3"', b'<row ht="9" r="3"',
         Effect(kind="row", where="S!3:3", aspect="structure")),
        (SHEET, b"</sheetData>", b'</sheetData><mergeCells><mergeCell ref="D1:E1"/></mergeCells>',
         Effect(kind="cell", where="S!D1:E1", aspect="structure")),
        (SHEET, b"<sheetData>", b'<cols><col min="2" max="2" width="9"/></cols><sheetData>',
         Effect(kind="column", where="S!B:B", aspect="structure")),
        (SHEET, b"<pageMargins", b"<printOptions/><pageMargins",
         Effect(kind="sheet", where="S", aspect="printOptions")),
        ("xl/worksheets/sheet2.xml", b"<v>5</v>", b"<v>6</v>",
         Effect(kind="cell", where="Other!A1", aspect="value")),
        ("xl/workbook.xml", b"<workbookPr", b"<workbookPr date1904=\"1\"",
         Effect(kind="part", where="xl/workbook.xml", aspect="content")),
        ("xl/styles.xml", b'val="11"', b'val="12"',
         Effect(kind="part", where="xl/styles.xml", aspect="content")),
        ("xl/theme/theme1.xml", b"Office", b"Offize",
         Effect(kind="part", where="xl/theme/theme1.xml", aspect="content")),
        ("docProps/app.xml", b"Microsoft Excel", b"Somebody",
         Effect(kind="part", where="docProps/app.xml", aspect="content")),
    ],
)  # fmt: skip
def test_a_planted_change_is_collateral(made, part, old, new, found):
    aimed = Target("S", Area(1, 1, 1, 1))

    report = planted(made, part, old, new, aimed)

    assert found in report.collateral
    assert report.collateral == tuple(e for e in report.changed if e in report.collateral)


@pytest.mark.rule("F16.13")
def test_changes_inside_the_targets_and_recalculated_results_are_not_collateral(made):
    inside = planted(made, SHEET, b"<v>2</v>", b"<v>9</v>", Target("S", Area(2, 2, 2, 2)))
    derived = planted(
        made, SHEET, b"<f>B1</f><v>1.0</v>", b"<f>B1</f><v>4</v>", recalculated={"S": {(1, 3)}}
    )

    assert inside.collateral == ()
    assert derived.collateral == ()
    assert derived.recalculated == (Effect(kind="cell", where="S!C1", aspect="value"),)


@pytest.mark.rule("F16.13")
def test_long_reports_are_cut_but_counted(made, tmp_path):
    values = [[n] for n in range(300)]

    report = edit(
        made,
        tmp_path / "o.xlsx",
        {"op": "set_range", "sheet": "S", "start": "F1", "values": values},
    ).effects

    assert len(report.changed) == 200
    assert report.totals == {
        "targets": 1,
        "changed": 301,
        "collateral": 0,
        "recalculated": 0,
        "cells": 300,
    }


@pytest.mark.rule("F16.13")
def test_the_report_of_a_call_names_targets_and_changes(made, tmp_path):
    op = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "B1", "value": 7}]}

    report = edit(made, tmp_path / "o.xlsx", op).effects

    assert report.to_json() == {
        "targets": ("S!B1",),
        "changed": [
            {"kind": "cell", "where": "S!B1", "aspect": "value"},
            {"kind": "cell", "where": "S!C1", "aspect": "value"},
            {"kind": "part", "where": SHEET, "aspect": "content"},
        ],
        "collateral": [],
        "recalculated": [{"kind": "cell", "where": "S!C1", "aspect": "value"}],
        "totals": {"targets": 1, "changed": 3, "collateral": 0, "recalculated": 1, "cells": 1},
    }


@pytest.mark.rule("F16.13", "F2.5")
def test_thousands_of_cells_in_one_call_are_told_apart_in_time(tmp_path):
    base = book(tmp_path / "a.xlsx", ("S", [[1]]))
    cells: list[Any] = [{"cell": f"B{n}", "value": f"=A1+{n}"} for n in range(1, 8001)]
    cells += [{"cell": f"C{n}", "value": n} for n in range(1, 8001)]

    wall, used = time.monotonic(), _processor_time()
    result = edit(base, tmp_path / "b.xlsx", {"op": "set_cells", "sheet": "S", "cells": cells})
    wall, used = time.monotonic() - wall, _processor_time() - used

    assert result.effects.totals["targets"] == 16_000
    assert result.effects.collateral == ()
    assert used < WRITE_TIMEOUT_S / 3
    # the limits of a write are by the clock: results may be missing where others had the machine
    had_no_turn = wall - used > WRITE_TIMEOUT_S / 3
    done = counts(result)
    assert done["computed"] == 8000 or (had_no_turn and set(done["reasons"]) == {"timeout"})


def _processor_time() -> float:
    """What this process and the children it has ended used, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
