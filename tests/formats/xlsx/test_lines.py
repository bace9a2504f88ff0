"""Rows and columns inserted and deleted: cells, formulas, results, tables, and what is refused."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from backshop.formats import FormatError
from backshop.formats.package.package import Package
from backshop.formats.protocol import Source
from backshop.formats.xlsx.book.sheet_xml import SheetXml
from backshop.formats.xlsx.book.workbook import Book
from backshop.formats.xlsx.edit import effect, structure
from backshop.formats.xlsx.edit.session import Target
from backshop.formats.xlsx.lines.line_move import LineMove
from backshop.formats.xlsx.lines.seat import seats
from backshop.formats.xlsx.lines.verification import check_lines
from backshop.formats.xlsx.syntax.line_shift import LineShift

from ...effort import work
from .books import book, edit, lines, members, opened, source

SHEET = "xl/worksheets/sheet1.xml"
SALES = [
    ["Item", "Price", "Sum"],
    ["a", 1, "=B2*2|2"],
    ["b", 2, "=B3*2|4"],
    ["c", 3, "=B4*2|6"],
    ["all", "=SUM(B2:B4)|6", "=ROW()|5"],
]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.xlsx"


@pytest.fixture
def sales(tmp_path):
    return book(tmp_path / "a.xlsx", ("Sales", SALES), ("Other", [["=Sales!B3|2", "=Sales!C4|6"]]))


def do(base: Source, out: Path, op: str, **fields: Any) -> Any:
    sheet = fields.pop("sheet", "Sales")
    return edit(base, out, {"op": op, "sheet": sheet, **fields})


def refused(base: Source, out: Path, op: str, **fields: Any) -> FormatError:
    with pytest.raises(FormatError) as caught:
        do(base, out, op, **fields)
    assert not out.exists()
    return caught.value


def rewritten(path: Path, part: str, *changes: tuple[str, str]) -> Source:
    """A workbook with a part of it written by hand."""
    with zipfile.ZipFile(path) as file:
        held = {info.filename: file.read(info) for info in file.infolist()}
    text = held[part].decode()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    held[part] = text.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in held.items():
            file.writestr(name, data)
    return source(path)


def part(path: Path, name: str) -> str:
    return members(path)[name][0].decode()


def told(done: Any) -> list[tuple[str, str, str]]:
    return [(one.kind, one.where, one.aspect) for one in done.effects.changed if one.kind != "part"]


# --- cells and formulas -----------------------------------------------------------------------


@pytest.mark.rule("F35.1", "F35.2", "F35.10", "F24.2", "F16.13")
def test_inserted_rows_move_what_stands_below_and_every_reference_to_it(sales, out):
    done = do(sales, out, "insert_rows", row=3, count=2)

    assert lines(out, sheet="Sales", cells="both") == [
        "1\tItem\tPrice\tSum",
        "2\ta\t1\t2 {=B2*2}",
        "3",
        "4",
        "5\tb\t2\t4 {=B5*2}",
        "6\tc\t3\t6 {=B6*2}",
        "7\tall\t6 {=SUM(B2:B6)}\t7 {=ROW()}",
    ]
    assert lines(out, sheet="Other", cells="both") == ["1\t2 {=Sales!B5}\t6 {=Sales!C6}"]
    assert told(done) == [
        ("cell", "Sales!C7", "value"),
        ("row", "Sales!3:3", "inserted"),
        ("row", "Sales!4:4", "inserted"),
    ]
    assert done.effects.collateral == ()
    assert done.changes == ((0, "Sales: rows 3 to 4 inserted"),)
    assert (done.focus["row_start"], done.focus["row_end"]) == (2, 3)


@pytest.mark.rule("F35.1", "F35.2", "F35.10", "F35.12", "F24.10")
def test_references_to_deleted_rows_break_and_ranges_shrink(sales, out):
    done = do(sales, out, "delete_rows", **{"from": 3})

    assert lines(out, sheet="Sales", cells="both") == [
        "1\tItem\tPrice\tSum",
        "2\ta\t1\t2 {=B2*2}",
        "3\tc\t3\t6 {=B3*2}",
        "4\tall\t4 {=SUM(B2:B3)}\t4 {=ROW()}",
    ]
    assert lines(out, sheet="Other", cells="both") == ["1\t#REF! {=#REF!}\t6 {=Sales!C3}"]
    assert [(w.code, w.count, w.where) for w in done.warnings] == [
        ("broken_references", 1, "Sales")
    ]
    assert [one["cell"] for one in done.extra["new_errors"]] == ["A1"]
    assert ("row", "Sales!3:3", "removed") in told(done)
    assert done.effects.collateral == ()


@pytest.mark.rule("F35.1", "F35.2", "F35.10")
def test_columns_come_and_go_likewise(sales, out, tmp_path):
    done = do(sales, out, "insert_columns", column="B", count=2)

    assert lines(out, sheet="Sales", cells="formulas")[1] == "2\ta\t\t\t1\t=D2*2"
    assert lines(out, sheet="Other", cells="formulas") == ["1\t=Sales!D3\t=Sales!E4"]
    assert ("column", "Sales!C:C", "inserted") in told(done)
    again = do(source(out), tmp_path / "b.xlsx", "delete_columns", **{"from": 2, "to": "C"})
    assert lines(tmp_path / "b.xlsx", sheet="Sales", cells="both") == lines(
        sales.path, sheet="Sales", cells="both"
    )
    assert (done.effects.collateral, again.effects.collateral) == ((), ())
    assert again.changes == ((0, "Sales: columns B to C deleted"),)


@pytest.mark.rule("F35.10")
def test_results_that_cannot_have_changed_stay_and_others_do_not(tmp_path, out):
    rows = [
        [1, "=A1|11", "=SUM(A1:A2)|12", "=COUNTBLANK(A:A)|13"],
        [2, '=INDIRECT("A3")|14', "=OFFSET(A3,0,0)|15", "=MATCH(3,A1:A3,0)|16"],
        [3, "=A3|17", "=ROW(A3)|18", "=COLUMN(A3)|19"],
    ]
    made = book(tmp_path / "a.xlsx", ("S", rows))

    done = do(made, out, "insert_rows", sheet="S", row=3)

    read = lines(out, sheet="S", cells="both")
    assert read[0].split("\t")[2:4] == ["11 {=A1}", "12 {=SUM(A1:A2)}"]
    assert read[3].split("\t")[2:] == ["17 {=A4}", "4 {=ROW(A4)}", "19 {=COLUMN(A4)}"]
    assert read[1].split("\t")[2] != '14 {=INDIRECT("A3")}'
    assert read[1].split("\t")[4] == "4 {=MATCH(3,A1:A4,0)}"
    assert "13 {" not in read[0]
    assert done.effects.collateral == ()


@pytest.mark.rule("F35.3")
def test_a_shared_formula_that_an_insertion_cuts_means_what_it_meant(tmp_path, out):
    made = book(
        tmp_path / "a.xlsx", ("S", [[n, f"=A{n}+A{n + 1}|{2 * n + 1}"] for n in range(1, 7)])
    )
    cells = {f'<c r="B{n}"><f>A{n}+A{n + 1}</f>': n for n in range(1, 7)}
    changes = [
        (
            old,
            f'<c r="B{n}"><f t="shared" si="0"/>'
            if n > 1
            else '<c r="B1"><f t="shared" ref="B1:B6" si="0">A1+A2</f>',
        )
        for old, n in cells.items()
    ]
    made = rewritten(made.path, "xl/worksheets/sheet1.xml", *changes)
    before = lines(made.path, cells="formulas")

    do(made, out, "insert_rows", sheet="S", row=4)

    read = [line.split("\t")[-1] for line in lines(out, cells="formulas")]
    assert read == ["=A1+A2", "=A2+A3", "=A3+A5", "4", "=A5+A6", "=A6+A7", "=A7+A8"]
    xml = part(out, "xl/worksheets/sheet1.xml")
    assert '<f t="shared" ref="B1:B7" si="0">A1+A2</f>' in xml
    assert "<f>A3+A5</f>" in xml  # the one that means something else now
    back = out.with_name("back.xlsx")
    do(source(out), back, "delete_rows", sheet="S", **{"from": 4})
    assert lines(back, cells="formulas") == before


@pytest.mark.rule("F35.3")
def test_a_shared_formula_whose_first_cell_is_deleted_goes_on(tmp_path, out):
    made = book(tmp_path / "a.xlsx", ("S", [[n, f"=A{n}*2|{2 * n}"] for n in range(1, 5)]))
    changes = [(f"<f>A{n}*2</f>", '<f t="shared" si="7"/>') for n in range(2, 5)]
    master = ("<f>A1*2</f>", '<f t="shared" ref="B1:B4" si="7">A1*2</f>')
    made = rewritten(made.path, "xl/worksheets/sheet1.xml", *changes, master)

    do(made, out, "delete_rows", sheet="S", **{"from": 1, "to": 2})

    assert lines(out, cells="both") == ["1\t3\t6 {=A1*2}", "2\t4\t8 {=A2*2}"]
    assert 'ref="B1:B2" si="7">A1*2' in part(out, "xl/worksheets/sheet1.xml")


@pytest.mark.rule("F35.3")
@pytest.mark.parametrize(
    ("op", "fields"),
    [
        ("insert_rows", {"row": 3}),
        ("delete_rows", {"from": 2}),
        ("delete_rows", {"from": 3, "to": 9}),
    ],
)
def test_a_formula_over_several_cells_is_not_torn(tmp_path, out, op, fields):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write_array_formula("B2:B4", "{=A2:A4*2}", None, 0)

    error = refused(source(path), out, op, sheet="S", **fields)

    assert (error.reason, "S!B2:B4" in error.message) == ("op_conflict", True)


@pytest.mark.rule("F35.3")
def test_a_formula_over_several_cells_moves_or_goes_as_a_whole(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write_array_formula("B2:B4", "{=A2:A4*2}", None, 5)
        sheet.write_formula("D9", "=SUM(B2:B4)", None, 5)

    do(source(path), out, "insert_rows", sheet="S", row=2)
    assert opened(out)["S"]["B3"].value.ref == "B3:B5"
    assert opened(out)["S"]["B3"].value.text == "=A3:A5*2"
    out.unlink()
    do(source(path), out, "delete_rows", sheet="S", **{"from": 2, "to": 4})

    assert lines(out, cells="formulas")[-1].endswith("=SUM(#REF!)")


@pytest.mark.rule("F35.2", "F35.12")
def test_references_that_stay_as_in_excel_are_told(tmp_path, out):
    sheets = [
        (name, [[1], [2], ["=SUM(Jan:Mar!A2)|6", '=INDIRECT("A2")|2']])
        for name in ("Jan", "Feb", "Mar")
    ]
    made = book(tmp_path / "a.xlsx", *sheets)

    done = do(made, out, "insert_rows", sheet="Feb", row=1)

    assert lines(out, sheet="Feb", cells="formulas")[-1] == '4\t=SUM(Jan:Mar!A2)\t=INDIRECT("A2")'
    (warning,) = [one for one in done.warnings if one.code == "references_kept"]
    assert (warning.count, warning.where) == (3, "SUM(Jan:Mar!A2)")
    assert lines(out, sheet="Jan", cells="values")[2] == "3\t5\t2"


# --- looks and values ------------------------------------------------------------------------


@pytest.mark.rule("F35.4")
def test_inserted_rows_look_like_the_one_above_unless_asked_otherwise(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.set_row(1, 33)
        sheet.write("A2", 1, file.add_format({"bold": True}))
        sheet.write("A3", 1, file.add_format({"italic": True}))
        sheet.set_row(2, None, None, {"hidden": True})

    def looks(**fields: Any) -> tuple[bool, bool, Any, Any]:
        do(source(path), out, "insert_rows", sheet="S", row=3, **fields)
        cell = opened(out)["S"]["A3"]
        row = opened(out)["S"].row_dimensions[3]
        return cell.font.b, cell.font.i, row.height, row.hidden

    assert looks() == (True, False, 33, False)
    assert looks(copy_format="below") == (False, True, None, False)
    assert looks(copy_format="none") == (False, False, None, False)


@pytest.mark.rule("F35.4")
def test_inserted_columns_get_width_and_looks_of_the_one_beside(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.set_column("B:C", 30)
        sheet.write("B2", 1, file.add_format({"bold": True}))
        sheet.write("C2", 2)

    do(source(path), out, "insert_columns", sheet="S", column=3, count=2)

    sheet = opened(out)["S"]
    assert [sheet[f"{col}2"].font.b for col in "BCDE"] == [True, True, True, False]
    xml = part(out, "xl/worksheets/sheet1.xml")
    runs = re.findall(r'<col min="(\d+)" max="(\d+)" width="([\d.]+)"', xml)
    assert runs == [("2", "2", "30.7109375"), ("3", "4", "30.7109375"), ("5", "5", "30.7109375")]


@pytest.mark.rule("F35.5")
def test_values_go_into_the_inserted_lines(sales, out):
    done = do(sales, out, "insert_rows", row=3, values=[["new", 5, "=B3*2"], ["more"]])

    assert lines(out, sheet="Sales", cells="both")[2:5] == [
        "3\tnew\t5\t10 {=B3*2}",
        "4\tmore",
        "5\tb\t2\t4 {=B5*2}",
    ]
    assert lines(out, sheet="Sales")[6].split("\t")[2] == "11"  # the sum above has them
    assert done.changes == ((0, "Sales: rows 3 to 4 inserted, 4 cells written"),)
    assert done.effects.collateral == ()
    out.unlink()
    do(sales, out, "insert_columns", column="B", values=[["Unit"], ["kg"]])
    assert lines(out, sheet="Sales")[:2] == ["1\tItem\tUnit\tPrice\tSum", "2\ta\tkg\t1\t2"]


@pytest.mark.rule("F35.5", "F24.4")
@pytest.mark.parametrize(
    ("fields", "reason", "place"),
    [
        ({"row": 0}, "bad_range", "row"),
        ({"row": 2, "count": 0}, "bad_value", "count"),
        ({"row": 1_048_577}, "bad_range", "row"),
        ({"row": 1_048_000, "count": 1000}, "bad_range", "count"),
        ({"row": 2, "count": 1, "values": [[1], [2]]}, "bad_value", "values"),
        ({"row": 2, "values": ["x"]}, "bad_type", "values[0]"),
        ({"row": 2, "copy_format": "left"}, "bad_value", "copy_format"),
        ({"row": 2, "values": [["=WEBSERVICE(A1)"]]}, "unsafe_formula", "values[0][0]"),
        ({"row": 2, "sheet": "Nope"}, "unknown_sheet", "sheet"),
    ],
)
def test_a_bad_insertion_names_its_place(sales, out, fields, reason, place):
    error = refused(sales, out, "insert_rows", **fields)

    assert (error.reason, (error.detail or "").partition(":")[0]) == (
        reason,
        f"operations[0].{place}",
    )


@pytest.mark.rule("F35.1")
@pytest.mark.parametrize(
    ("op", "fields"),
    [
        ("delete_rows", {"from": 5, "to": 4}),
        ("delete_rows", {"from": 0}),
        ("delete_columns", {"from": "AAAA"}),
        ("delete_columns", {"from": 3, "to": "B"}),
        ("insert_columns", {"column": "XFE"}),
    ],
)
def test_lines_that_are_none_are_refused(sales, out, op, fields):
    assert refused(sales, out, op, **fields).reason == "bad_range"


@pytest.mark.rule("F35.8")
def test_content_is_not_pushed_off_the_sheet(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write("A1048575", 1)
        sheet.write("XFD2", 1)

    row = refused(source(path), out, "insert_rows", sheet="S", row=2, count=2)
    column = refused(source(path), out, "insert_columns", sheet="S", column=2)
    do(source(path), out, "insert_rows", sheet="S", row=2)

    assert (row.reason, "A1048575" in row.message) == ("bad_range", True)
    assert (column.reason, "XFD2" in column.message) == ("bad_range", True)
    assert lines(out, sheet="S", range="A1048576:A1048576") == ["1048576\t1"]


@pytest.mark.rule("F35.9", "F23.10")
def test_a_protected_sheet_says_what_may_come_and_go(tmp_path, out):
    def protected(**options: Any) -> Source:
        path = tmp_path / "p.xlsx"
        with xlsxwriter.Workbook(str(path)) as file:
            sheet = file.add_worksheet("S")
            sheet.write("A2", 1, file.add_format({"locked": False}))
            sheet.write("B3", 1)
            sheet.protect("", options)
        return source(path)

    assert refused(protected(), out, "insert_rows", sheet="S", row=2).reason == "sheet_protected"
    allowed = protected(insert_rows=True, delete_rows=True)
    assert refused(allowed, out, "insert_columns", sheet="S", column=1).reason == "sheet_protected"
    locked = refused(allowed, out, "delete_rows", sheet="S", **{"from": 3})
    assert locked.reason == "sheet_protected"
    do(allowed, out, "insert_rows", sheet="S", row=2)
    do(allowed, out, "delete_rows", sheet="S", **{"from": 2})
    assert lines(out, sheet="S") == ["2\t1"]  # what was B3


# --- several operations of one call -----------------------------------------------------------


@pytest.mark.rule("F35.1", "F16.13", "F16.14", "F23.8")
def test_operations_of_one_call_see_the_lines_as_they_are_by_then(sales, out):
    done = edit(
        sales,
        out,
        {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "D5", "value": "=B5+1"}]},
        {"op": "insert_rows", "sheet": "Sales", "row": 2, "values": [["first", 10]]},
        {"op": "rename_sheet", "sheet": "Sales", "new_name": "Turnover"},
        {"op": "insert_columns", "sheet": "Turnover", "column": "A"},
        {"op": "delete_rows", "sheet": "Turnover", "from": 4},
        {"op": "set_cells", "sheet": "Turnover", "cells": [{"cell": "A1", "value": "x"}]},
    )

    assert lines(out, sheet="Turnover", cells="both") == [
        "1\tx\tItem\tPrice\tSum",
        "2\t\tfirst\t10",
        "3\t\ta\t1\t2 {=C3*2}",
        "4\t\tc\t3\t6 {=C4*2}",
        "5\t\tall\t4 {=SUM(C3:C4)}\t5 {=ROW()}\t5 {=C5+1}",
    ]
    assert done.effects.collateral == ()
    assert ("row", "Turnover!2:2", "inserted") in told(done)
    assert ("column", "Turnover!A:A", "inserted") in told(done)


@pytest.mark.rule("F23.7", "F35.1")
def test_inserted_rows_that_are_deleted_again_leave_everything_as_it_was(sales, out):
    done = edit(
        sales,
        out,
        {"op": "insert_rows", "sheet": "Sales", "row": 3, "count": 4, "copy_format": "none"},
        {"op": "delete_rows", "sheet": "Sales", "from": 3, "to": 6},
    )

    assert lines(out, sheet="Sales", cells="both") == lines(sales.path, sheet="Sales", cells="both")
    assert done.effects.collateral == ()


@pytest.mark.rule("F16.14", "F35.10")
@pytest.mark.parametrize(
    ("name", "old", "new", "where", "aspect"),
    [
        (SHEET, b'<c r="B6"><v>3</v>', b'<c r="B6"><v>4</v>', "Sales!B6", "value"),
        (SHEET, b"<f>B6*2</f>", b"<f>B4*2</f>", "Sales!C6", "formula"),
        (SHEET, b'<row r="5"', b'<row ht="9" r="5"', "Sales!5:5", "structure"),
        ("xl/worksheets/sheet2.xml", b"Sales!C6", b"Sales!C9", "Other!B1", "formula"),
        ("xl/workbook.xml", b"$B$6", b"$B$9", "xl/workbook.xml", "content"),
    ],
)
def test_a_change_planted_beside_moved_lines_is_told(sales, name, old, new, where, aspect):
    base = rewritten(
        sales.path,
        "xl/workbook.xml",
        (
            "<calcPr",
            '<definedNames><definedName name="n">Sales!$B$4</definedName></definedNames><calcPr',
        ),
    )
    package = Package.open(base)
    before = Book(package)
    shift = LineShift("row", 3, 2)
    move = LineMove.of(before, before.sheet("Sales"), shift, None, seats(before))
    structure.follow(before, move)
    target = Target("Sales", shift.band, frozenset({"inserted"}))
    expected = effect.Expected([target], [move], {}, False)
    clean = effect.report(Book(package.fresh()), Book(package), expected)
    assert old in package.read(name)
    package.put(name, package.read(name).replace(old, new))

    report = effect.report(Book(package.fresh()), Book(package), expected)

    assert clean.collateral == ()
    assert [(one.where, one.aspect) for one in report.collateral] == [(where, aspect)]


@pytest.mark.rule("F23.8")
@pytest.mark.parametrize(
    ("old", "new"),
    [(b"<v>3</v>", b"<v>8</v>"), (b"<v>3</v>", b""), (b'"B4"><v>', b'"D4"><v>')],
)
def test_a_sheet_that_reads_back_otherwise_is_not_taken(sales, old, new):
    data = members(sales.path)[SHEET][0]
    before, after = SheetXml(data, SHEET), SheetXml(data.replace(old, new), SHEET)
    assert after.data != before.data

    with pytest.raises(FormatError) as caught:
        check_lines(before, after, LineShift("row", 99, 1))

    check_lines(before, before, LineShift("row", 99, 1))
    assert caught.value.reason == "verify_failed"


# --- odd files --------------------------------------------------------------------------------


@pytest.mark.rule("F35.2", "F23.3")
def test_cells_that_do_not_say_where_they_are_get_their_place(tmp_path, out):
    made = book(tmp_path / "a.xlsx", ("S", [[1, 2, 3], [4, 5, "=A2+B2|9"], [7, 8, 9]]))
    xml = part(made.path, "xl/worksheets/sheet1.xml")
    bare = re.sub(r' (?:r="[A-Z]+\d+"|spans="[^"]*")', "", re.sub(r'<row r="\d"', "<row", xml))
    made = rewritten(made.path, "xl/worksheets/sheet1.xml", (xml, bare))

    do(made, out, "insert_rows", sheet="S", row=2)
    assert lines(out, cells="both") == ["1\t1\t2\t3", "2", "3\t4\t5\t9 {=A3+B3}", "4\t7\t8\t9"]
    do(made, out, "delete_columns", sheet="S", **{"from": "B"})
    assert lines(out, cells="formulas") == ["1\t1\t3", "2\t4\t=A2+#REF!", "3\t7\t9"]
    do(made, out, "insert_columns", sheet="S", column="C")
    assert lines(out, cells="formulas") == ["1\t1\t2\t\t3", "2\t4\t5\t\t=A2+B2", "3\t7\t8\t\t9"]


@pytest.mark.rule("F35.2", "F23.3", "F23.11")
def test_elements_with_a_prefix_follow_too(tmp_path, out):
    made = book(tmp_path / "a.xlsx", ("S", [[1, "=A1|1"], [2, "=A2|2"], ["=SUM(A1:A2)|3"]]))
    xml = part(made.path, "xl/worksheets/sheet1.xml")
    prefixed = re.sub(r"<(/?)(?=[A-Za-z])", r"<\1x:", xml).replace("xmlns=", "xmlns:x=")
    made = rewritten(made.path, "xl/worksheets/sheet1.xml", (xml, prefixed))

    done = do(made, out, "insert_rows", sheet="S", row=2, values=[[5]])

    assert lines(out, cells="both") == [
        "1\t1\t1 {=A1}",
        "2\t5",
        "3\t2\t2 {=A3}",
        "4\t8 {=SUM(A1:A3)}",
    ]
    assert done.effects.collateral == ()


@pytest.mark.rule("F35.7")
def test_a_place_nobody_knows_is_named_and_refused(tmp_path, out):
    made = book(tmp_path / "a.xlsx", ("S", [[1], [2]]))
    made = rewritten(
        made.path,
        "xl/worksheets/sheet1.xml",
        (
            "</worksheet>",
            '<extLst><ext uri="{1}" xmlns:v="urn:vendor"><v:watch ref="A2:B3"/></ext></extLst>'
            "</worksheet>",
        ),
    )

    error = refused(made, out, "insert_rows", sheet="S", row=2)

    assert (error.reason, "watch" in error.message, "A2:B3" in error.message) == (
        "op_conflict",
        True,
        True,
    )


# --- cost -------------------------------------------------------------------------------------


@pytest.mark.rule("F35.4", "F2.5")
def test_more_cells_than_a_call_may_bring_are_refused(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        for col in range(20):
            sheet.write(1, col, 1, file.add_format({"bold": True}))

    error = refused(source(path), out, "insert_rows", sheet="S", row=3, count=50_000)
    do(source(path), out, "insert_rows", sheet="S", row=3, count=50_000, copy_format="none")

    assert error.reason == "too_large"


@pytest.mark.rule("F35.2")
@pytest.mark.parametrize("op", ["insert_rows", "insert_columns", "delete_rows", "delete_columns"])
def test_twice_the_rows_cost_twice_the_work(tmp_path, out, op):
    fields = {"insert_rows": {"row": 5}, "insert_columns": {"column": 2}}.get(op, {"from": 2})

    def cost(rows: int) -> int:
        cells = [[n, f"=A{n}*2|{2 * n}", f"=SUM(A$1:A{n})|1"] for n in range(1, rows + 1)]
        base = book(tmp_path / f"{rows}.xlsx", ("S", cells))
        call = {"op": op, "sheet": "S", **fields}
        return work(lambda: edit(base, out, call, recalculate=False))

    assert cost(300) < 2.4 * cost(150)
