"""The index of who reads whom, compared with every formula read by itself."""

from __future__ import annotations

import re
import zipfile

import pytest
import xlsxwriter

from backshop.formats.package.package import Package
from backshop.formats.xlsx.book.workbook import Book
from backshop.formats.xlsx.calculation import graph as graph_module
from backshop.formats.xlsx.calculation import recalculation
from backshop.formats.xlsx.calculation.graph import build
from backshop.formats.xlsx.calculation.precedent import Place

from .books import book, counts, edit, lines, source

ROWS = 20


def written(path):
    """A workbook of columns that were filled down, in all the ways references can move."""
    with xlsxwriter.Workbook(str(path)) as file:
        sheet, other = file.add_worksheet("S1"), file.add_worksheet("T")
        file.define_name("Rate2", "=S1!$B$2:$B$3")
        for r in range(ROWS):
            n = r + 1
            sheet.write(r, 0, n)
            texts = [
                f"=A{n}*2+1.5E3",
                f"=SUM(A$1:A{n})",
                f"=SUM(A{n}:A{ROWS})",
                f"=SUM(A{n + 3}:A5)",  # written from its end, in some rows
                f"=$A$2+A{ROWS - r}",  # moves against the rows
                f"=SUM($A$1:$C$4)+{n}",
                f"=SUM(A:B)+LOG10(A{n})",
                f"=T!A{n}+Rate2",
                f"=SUM(5:6)+A{n}",
                f'=A{n}&"A1{n}"',
                f"=A{n}" if n % 3 else "=1+1",
                f"=A{n + 1_048_570}",  # leaves the sheet half-way down
                f"=INDIRECT(A{n})",
            ]
            for c, text in enumerate(texts, start=2):
                sheet.write_formula(r, c, text, None, 1)
            other.write_formula(r, 0, f"=S1!C{n}+S1!D$1", None, 1)
        other.add_table("D1:F9", {"name": "Table1", "columns": [{"header": h} for h in "xyz"]})
        for r in range(1, 9):
            other.write_formula(r, 5, "=Table1[[#This Row],[x]]+SUM(Table1[y])", None, 1)
    return path


def shared(path):
    """The same with shared formulas, some of them in two columns, and one that wraps around."""
    rows = []
    for n in range(1, ROWS + 1):
        first = n == 1
        own = '<f t="shared" ref="B1:C20" si="0">SUM(A1,$A$3,A$2)</f>' if first else ""
        own = own or '<f t="shared" si="0"/>'
        up = '<f t="shared" ref="D1:D20" si="1">A1048576</f>' if first else '<f t="shared" si="1"/>'
        cells = f'<c r="A{n}"><v>{n}</v></c><c r="B{n}">{own}<v>1</v></c>'
        cells += f'<c r="C{n}"><f t="shared" si="0"/><v>1</v></c><c r="D{n}">{up}<v>1</v></c>'
        rows.append(f'<row r="{n}">{cells}</row>')
    book(path, ("S1", [[1]]))
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    name = "xl/worksheets/sheet1.xml"
    data = "".join(rows).encode()
    parts[name] = re.sub(rb"(<sheetData>).*(</sheetData>)", rb"\1" + data + rb"\2", parts[name])
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return path


def opened(path):
    return Book(Package.open(source(path)))


def spaced(path):
    """The same sheet as other programs may write it, so that it is read the slow way."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            if name.startswith("xl/worksheets/"):
                content = content.replace(b"<f", b"\n <f")
            file.writestr(name, content)
    return path


def disagreements(path):
    """Return the cells about which the index and the formulas themselves do not agree."""
    graph = build(opened(path))
    graph.load(graph.places())
    nodes = list(graph.nodes.values())
    assert nodes
    assert all(graph.holds(node.place) for node in nodes)
    found = []
    sheets = sorted({node.place.sheet for node in nodes} | {s for n in nodes for s, _ in n.areas})
    for sheet in sheets:
        for row in (*range(1, 35), 1_048_570, 1_048_571, 1_048_576):
            for col in range(1, 18):
                place = Place(sheet, row, col)
                real = {
                    node.place
                    for node in nodes
                    if any(s == sheet and area.has(row, col) for s, area in node.areas)
                }
                if set(graph.readers(place)) != real:
                    found.append(place)
    return found


@pytest.mark.rule("F24.2")
@pytest.mark.parametrize("make", [written, shared])
def test_formulas_filled_down_are_found_by_what_each_of_them_reads(tmp_path, make):
    path = make(tmp_path / "a.xlsx")

    assert disagreements(path) == []
    assert disagreements(spaced(path)) == []


@pytest.mark.rule("F24.2")
def test_formulas_filled_down_are_one_entry(tmp_path):
    graph = build(opened(written(tmp_path / "a.xlsx")))

    runs = {col: len(runs) for (sheet, col), runs in graph._runs.items() if sheet == "S1"}
    assert [runs[col] for col in (3, 4, 5, 8, 9, 10, 11, 12)] == [1] * 8


@pytest.mark.rule("F24.2")
def test_what_is_reached_is_found_once_however_often_it_is_read(tmp_path):
    rows = [[1, f"=A{n}", f"=SUM(B$1:B{n})"] for n in range(1, 301)]
    graph = build(opened_book(tmp_path, rows))

    reached = graph.reached([Place("S", n, 1) for n in range(2, 301)])

    assert len(reached) == 2 * 299
    assert Place("S", 1, 3) not in reached


def opened_book(tmp_path, rows):
    book(tmp_path / "b.xlsx", ("S", rows))
    return opened(tmp_path / "b.xlsx")


@pytest.mark.rule("F24.2", "F24.10")
def test_beyond_the_limit_every_formula_counts_as_reached(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_module, "MAX_FORMULAS", 2)
    made = book(tmp_path / "a.xlsx", ("S", [[1, "=A1|1", "=5|5", "=6|6", "=7|7"]]))

    out = tmp_path / "out.xlsx"
    change = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": 3}]}
    result = edit(made, out, change)

    assert lines(out) == ["1\t3\t3\t5\t{=6}\t{=7}"]
    told = {"computed": 1, "not_computed": 2, "reasons": {"too_many_formulas": 2}}
    assert counts(result) == told


@pytest.mark.rule("F24.2", "F24.10")
def test_more_formulas_than_a_write_has_time_for_lose_their_results(tmp_path, monkeypatch):
    monkeypatch.setattr(recalculation, "MAX_COMPUTED", 2)
    made = book(tmp_path / "a.xlsx", ("S", [[1, "=A1|1", "=B1|1", "=C1|1", "=7|7"]]))

    out = tmp_path / "out.xlsx"
    change = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": 3}]}
    result = edit(made, out, change)

    assert lines(out) == ["1\t3\t{=A1}\t{=B1}\t{=C1}\t7"]
    told = {"computed": 0, "not_computed": 3, "reasons": {"too_many_formulas": 3}}
    assert counts(result) == told


@pytest.mark.rule("F24.2", "F24.11")
@pytest.mark.parametrize("shape", [lambda path: path, spaced], ids=["usual", "spaced"])
def test_giving_up_takes_out_just_the_results_that_count_as_reached(tmp_path, monkeypatch, shape):
    base = source(shape(written(tmp_path / "a.xlsx")))
    change = {"op": "set_cells", "sheet": "S1", "cells": [{"cell": "A7", "value": 99}]}
    off = edit(base, tmp_path / "off.xlsx", change, recalculate=False)
    monkeypatch.setattr(recalculation, "MAX_COMPUTED", 0)

    result = edit(base, tmp_path / "many.xlsx", change)

    parts = (
        Package.open(source(tmp_path / "many.xlsx")),
        Package.open(source(tmp_path / "off.xlsx")),
    )
    sheets = [name for name in parts[0].names if "worksheets" in name]
    assert [parts[0].read(name) for name in sheets] == [parts[1].read(name) for name in sheets]
    assert result.effects == off.effects
    assert result.effects.collateral == ()
    without = counts(off)
    reached = without["not_computed"]
    assert 100 < reached < ROWS * 14
    reasons = {"too_many_formulas": reached}
    assert counts(result) == {**without, "reasons": reasons}


@pytest.mark.rule("F24.8", "F24.9")
def test_a_write_that_took_long_leaves_the_engine_less_time_and_never_fails(tmp_path, monkeypatch):
    made = book(tmp_path / "a.xlsx", ("S", [[1, "=A1|1", "=7|7"]]))
    times = [recalculation.engine_time(spent) for spent in (0.0, 3.0, 6.0, 12.0, 13.0, 40.0)]
    monkeypatch.setattr(recalculation, "WRITE_TIMEOUT_S", 0.0)

    out = tmp_path / "out.xlsx"
    change = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": 3}]}
    result = edit(made, out, change)

    assert times == [20.0, 20.0, 14.0, 2.0, 0.0, 0.0]
    assert lines(out) == ["1\t3\t{=A1}\t7"]
    told = {"computed": 0, "not_computed": 1, "reasons": {"timeout": 1}}
    assert counts(result) == told
    assert b'fullCalcOnLoad="1"' in Package.open(source(out)).read("xl/workbook.xml")
