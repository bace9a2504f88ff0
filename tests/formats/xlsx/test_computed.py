"""What formulas see beside values: hidden rows, other subtotals, the date system, each other."""

from __future__ import annotations

import pytest
import xlsxwriter
from tests.effort import work

from backshop.formats.package.package import Package
from backshop.formats.xlsx.book.workbook import Book
from backshop.formats.xlsx.calculation.circle import circular
from backshop.formats.xlsx.calculation.graph import build

from .books import book, counts, edit, lines, sheet_of, source


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.xlsx"


def write(base, out, *formulas, sheet="S"):
    cells = [{"cell": f"E{row}", "value": text} for row, text in enumerate(formulas, 1)]
    done = edit(base, out, {"op": "set_cells", "sheet": sheet, "cells": cells})
    shown = [line.split("\t")[1:] for line in lines(out, range=f"E1:E{len(formulas)}")]
    return done, ["".join(cells) for cells in shown]


@pytest.mark.rule("F24.9")
@pytest.mark.parametrize("way", ["by hand", "by a filter"])
def test_subtotals_pass_over_rows_as_they_are_hidden(tmp_path, out, way):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write_column(0, 0, ["n", 1, 2, 4, 8])
        sheet.set_row(2, None, None, {"hidden": True})
        if way == "by a filter":
            sheet.autofilter("A1:A5")
            sheet.filter_column("A", "x != 2")

    _, shown = write(
        source(path), out, "=SUBTOTAL(9,A2:A5)", "=SUBTOTAL(109,A2:A5)", "=SUBTOTAL(3,A2:A5)",
        "=AGGREGATE(9,5,A2:A5)", "=AGGREGATE(9,4,A2:A5)", "=SUM(A2:A5)",
    )  # fmt: skip

    if way == "by hand":
        assert shown == ["15", "13", "4", "13", "15", "15"]
    else:
        assert shown == ["13", "13", "3", "13", "{=_xlfn.AGGREGATE(9,4,A2:A5)}", "15"]


@pytest.mark.rule("F24.9")
def test_a_subtotal_passes_over_other_subtotals_and_not_over_sums(tmp_path, out):
    rows = [[1], [2], ["=SUBTOTAL(9,A1:A2)|3"], [4], ["=SUM(A4)|4"], ["=1+SUBTOTAL(9,A1:A2)|4"]]
    made = book(tmp_path / "a.xlsx", ("S", rows))

    _, shown = write(made, out, "=SUBTOTAL(9,A1:A5)", "=AGGREGATE(9,4,A1:A5)", "=SUBTOTAL(9,A1:A6)")

    assert shown == ["11", "14", "{=SUBTOTAL(9,A1:A6)}"]


@pytest.mark.rule("F24.9")
def test_only_what_is_needed_has_to_be_known(tmp_path, out):
    made = book(tmp_path / "a.xlsx", ("S", [[1, "=BAHTTEXT(A1)"]]))

    done, shown = write(
        made, out, "=IF(A1=1,5,B1)", "=IF(A1=2,5,B1)", '=IFERROR(1/0,"x")', "=CHOOSE(2,B1,7)"
    )

    assert shown == ["5", "{=IF(A1=2,5,B1)}", "x", "7"]
    assert counts(done)["reasons"] == {"depends_on_not_computed": 1}


@pytest.mark.rule("F24.9", "F24.2")
def test_formulas_without_a_stored_result_are_computed_for_those_that_read_them(tmp_path, out):
    cells = "".join(
        f'<row r="{n}"><c r="A{n}"><f>{"1" if n == 1 else f"A{n - 1}+1"}</f></c></row>'
        for n in range(1, 1501)
    )
    made = sheet_of(tmp_path / "a.xlsx", cells)

    _, shown = write(made, out, "=A1500*2", "=SUM(A1:A100)")

    assert shown == ["3000", "5050"]


@pytest.mark.rule("F24.9")
def test_days_are_counted_as_the_workbook_counts_them(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path), {"date_1904": True}) as file:
        file.add_worksheet("S").write(0, 0, 43890)  # 2024-03-01

    _, shown = write(
        source(path), out, '=TEXT(A1,"yyyy-mm-dd")', "=DATE(2024,3,1)", "=YEAR(A1)", "=WEEKDAY(A1)"
    )

    assert shown == ["2024-03-01", "43890", "2024", "6"]


@pytest.mark.rule("F24.9")
def test_a_workbook_that_computes_with_shown_numbers_is_left_to_excel(tmp_path, out):
    book(tmp_path / "a.xlsx", ("S", [[1, "=A1*2|2"]]))
    package = Package.open(source(tmp_path / "a.xlsx"))
    xml = package.read("xl/workbook.xml").replace(b"<calcPr ", b'<calcPr fullPrecision="0" ')
    package.put("xl/workbook.xml", xml)
    package.save(tmp_path / "b.xlsx")

    done, shown = write(source(tmp_path / "b.xlsx"), out, "=A1/3")

    assert shown == ["{=A1/3}"]
    assert counts(done)["reasons"] == {"rounded_as_shown": 1}


def _walked(tmp_path, size):
    """How much work it is to look for circles among formulas that read whole columns of others."""
    rows = [[n, "=A1|1", f"=SUM(B$1:B${size})|1", f"=SUM(C$1:C${size})|1"] for n in range(size)]
    opened = Book(Package.open(book(tmp_path / f"{size}.xlsx", ("S", rows))))
    graph = build(opened)
    graph.load(graph.places())
    nodes = list(graph.nodes.values())
    assert circular(nodes) == set()
    return work(lambda: circular(nodes))


@pytest.mark.rule("F24.18")
def test_looking_for_circles_costs_with_the_formulas_and_not_with_what_they_read(tmp_path):
    small, large = _walked(tmp_path, 40), _walked(tmp_path, 320)

    assert large < 12 * small  # eight times the formulas, 64 times the pairs


@pytest.mark.rule("F24.18", "F24.9")
def test_every_formula_of_a_circle_is_found_and_no_other(tmp_path):
    rows = [["=B1", "=C1", "=A1", "=A1+1", 5], ["=SUM(A2:A3)", "=E1", "=SUM(C1:C3)", "=ROW(D2)"]]
    opened = Book(Package.open(book(tmp_path / "a.xlsx", ("S", rows))))
    graph = build(opened)
    graph.load(graph.places())

    found = circular(list(graph.nodes.values()))

    assert {(p.row, p.col) for p in found} == {(1, 1), (1, 2), (1, 3), (2, 1), (2, 3)}
