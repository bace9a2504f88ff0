from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from backshop.base.limits import OPS_MAX_CELLS
from backshop.formats import xlsx
from backshop.formats.errors import FormatError
from backshop.formats.package.package import Package
from backshop.formats.protocol import Selector, Source
from backshop.formats.warning import Warnings
from backshop.formats.xlsx.book.blank import blank_workbook
from backshop.formats.xlsx.book.cell_xml import EMPTY, Content
from backshop.formats.xlsx.book.workbook import Book
from backshop.formats.xlsx.edit.application import finish
from backshop.formats.xlsx.edit.session import Session

from .books import book, differing, edit, lines, members, opened, source


def without_results(made, path: Path):
    """The same workbook with every formula's stored result taken out."""
    with zipfile.ZipFile(made.path) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if "worksheets/" in info.filename:
                data = re.sub(rb"(</f>)<v>[^<]*</v>|(</f>)<v/>", rb"</f>", data)
            new.writestr(info, data)
    return source(path)


def cells(*items, sheet="S", **more):
    return {"op": "set_cells", "sheet": sheet, "cells": list(items), **more}


def refused(base, out, *operations, **options):
    with pytest.raises(FormatError) as caught:
        edit(base, out, *operations, **options)
    assert not out.exists()
    return caught.value


@pytest.fixture
def made(tmp_path):
    rows = [["Item", "Price"], ["a", 1], ["b", 2], ["c", 3], ["sum", "=SUM(B2:B4)|6"]]
    return book(tmp_path / "base.xlsx", ("S", rows), ("Other", [["=S!B2|1", 5]]))


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.xlsx"


@pytest.mark.rule("F16.9", "F16.11", "F17.1", "F17.6")
def test_every_type_of_value_is_written_and_reads_back_in_another_reader(made, out):
    wishes = [
        ("D1", 12, None, 12),
        ("D2", "12", "number", 12),
        ("D3", -0.25, None, -0.25),
        ("D4", True, None, True),
        ("D5", "yes", "string", "yes"),
        ("D6", "=1+1", "string", "=1+1"),
        ("D7", "=B2*2", None, "=B2*2"),
        ("D8", "0012", None, "0012"),
        ("D9", " <&> \n x", None, " <&> \n x"),
        ("D10", "false", "boolean", False),
        ("D11", "_x0041_", None, "_x0041_"),
    ]
    items = [{"cell": c, "value": v, "type": t} for c, v, t, _ in wishes]

    result = edit(made, out, cells(*items))

    sheet = opened(out)["S"]
    back = [sheet[c].value for c, *_ in wishes]
    assert back[:-1] == [w for *_, w in wishes][:-1]
    assert lines(out, range="D11")[-1] == "11\t_x0041_"
    assert sheet["D6"].data_type == "s"
    assert result.focus == {
        "sheet": "S",
        "row_start": 0,
        "row_end": 10,
        "col_start": 3,
        "col_end": 3,
    }
    assert result.changes == ((0, "S: 11 cells set"),)
    assert result.effects.collateral == ()


@pytest.mark.rule("F17.3", "F32.18")
def test_dates_become_real_dates_in_the_workbooks_system(tmp_path, out):
    for system in (False, True):
        path = tmp_path / f"{system}.xlsx"
        with xlsxwriter.Workbook(str(path), {"date_1904": system}) as file:
            sheet = file.add_worksheet("S")
            sheet.write(0, 3, 1, file.add_format({"num_format": "dd.mm.yy"}))

        edit(
            source(path),
            out,
            cells(
                {"cell": "A1", "value": "2024-03-01", "type": "date"},
                {"cell": "B1", "value": "2024-03-01T13:05:00", "type": "datetime"},
                {"cell": "C1", "value": "13:05:00", "type": "time"},
                {"cell": "D1", "value": "2024-03-01", "type": "date"},
            ),
        )

        assert lines(out) == ["1\t2024-03-01\t2024-03-01T13:05:00\t13:05:00\t2024-03-01"]
        sheet = opened(out)["S"]
        formats = [sheet.cell(1, c).number_format for c in range(1, 5)]
        assert formats == ["yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "hh:mm:ss", "dd.mm.yy"]
        assert str(sheet["A1"].value) == "2024-03-01 00:00:00"


@pytest.mark.rule("F23.7", "F32.15")
def test_writing_what_is_there_already_changes_no_byte(made, out):
    edit(
        made,
        out,
        cells(
            {"cell": "B2", "value": 1},
            {"cell": "A1", "value": "Item"},
            {"cell": "Z9", "value": None},
        ),
        cells({"cell": "B5", "value": "=SUM(B2:B4)"}),
        {"op": "set_range", "sheet": "S", "start": "A2", "values": [["a", 1], ["b", 2]]},
        {
            "op": "set_range",
            "sheet": "S",
            "start": "A2",
            "values": [[None, 1, None]],
            "null_cells": "keep",
        },
        {"op": "freeze_panes", "sheet": "S", "row": 0, "column": 0},
        {"op": "set_autofilter", "sheet": "S", "range": None},
        {"op": "clear_range", "sheet": "S", "range": "G1:H9"},
        {"op": "ensure_sheet", "sheet": "other"},
    )

    assert out.read_bytes() == made.path.read_bytes()


@pytest.mark.rule("F23.1", "F23.4", "F32.14")
def test_everything_else_in_the_package_stays_to_the_bit(tmp_path, out):
    path = tmp_path / "rich.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write_column(0, 0, [1, 2, 3])
        chart = file.add_chart({"type": "line"})
        chart.add_series({"values": "=S!$A$1:$A$3"})
        sheet.insert_chart("D1", chart)
        sheet.insert_textbox("D20", "box")
        sheet.add_sparkline("B1", {"range": "S!A1:A3"})
        sheet.conditional_format("A1:A3", {"type": "data_bar", "data_bar_2010": True})
        sheet.write_comment("A1", "note")
        sheet.write_rich_string("C1", file.add_format({"bold": True}), "bold", " and not")

    edit(source(path), out, cells({"cell": "A9", "value": "new"}))

    assert differing(path, out) == {"xl/worksheets/sheet1.xml"}
    before = members(path)["xl/worksheets/sheet1.xml"][0]
    after = members(out)["xl/worksheets/sheet1.xml"][0]
    cut = after.replace(
        b'<row r="9"><c r="A9" t="inlineStr"><is><t>new</t></is></c></row>', b""
    ).replace(b'<dimension ref="A1:C9"/>', b'<dimension ref="A1:C3"/>')
    assert cut == before


@pytest.mark.rule("F17.4", "F17.5", "F32.27", "F32.28")
def test_writing_into_a_merge(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        file.add_worksheet("S").merge_range("A1:C1", "wide")

    result = edit(
        source(path),
        out,
        cells({"cell": "B1", "value": "redirected"}),
        {"op": "set_range", "sheet": "S", "start": "A2", "values": [[1, 2]]},
        {"op": "set_range", "sheet": "S", "start": "B1", "values": [["skipped", None, "d"]]},
    )

    assert lines(out) == ["1\tredirected\t\t\td", "2\t1\t2"]
    assert [(w.code, w.where) for w in result.warnings] == [
        ("merged_redirect", "B1"),
        ("merged_skipped", "B1"),
    ]


@pytest.mark.rule("F17.2", "F32.17")
def test_numeric_text_among_numbers_is_said(made, out):
    result = edit(
        made,
        out,
        {"op": "set_range", "sheet": "S", "start": "A6", "values": [["x", "12"], ["y", 13]]},
    )

    assert [(w.code, w.count) for w in result.warnings] == [("numeric_text", 1)]
    assert opened(out)["S"]["B6"].value == "12"
    assert opened(out)["S"]["B7"].value == 13


@pytest.mark.rule("F17.4")
def test_append_rows_goes_below_the_last_used_row_also_after_a_clear(tmp_path, out):
    made = book(tmp_path / "a.xlsx", ("S", [[], [None, "h"], [None, 1]]))

    edit(
        made,
        out,
        {"op": "append_rows", "sheet": "S", "values": [[2, "x"], [3]]},
        {"op": "clear_range", "sheet": "S", "range": "B5:C5"},
        {"op": "append_rows", "sheet": "S", "values": [[4]], "style": {"font_bold": True}},
        {"op": "ensure_sheet", "sheet": "New"},
        {"op": "append_rows", "sheet": "New", "values": [["first"]]},
    )

    assert lines(out, sheet="S") == ["2\th", "3\t1", "4\t2\tx", "5\t4"]
    assert lines(out, sheet="New") == ["1\tfirst"]
    assert opened(out)["S"]["B5"].font.bold


@pytest.mark.rule("F17.6")
def test_clearing_keeps_or_takes_the_look(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        file.add_worksheet("S").write_row(0, 0, [1, 2, 3], file.add_format({"bold": True}))

    edit(
        source(path),
        out,
        {"op": "clear_range", "sheet": "S", "range": "A1"},
        {"op": "clear_range", "sheet": "S", "range": "B1", "what": "styles"},
        {"op": "clear_range", "sheet": "S", "range": "C1", "what": "all"},
    )

    row = next(iter(opened(out)["S"].iter_rows()))
    assert [(cell.value, cell.font.bold) for cell in row] == [(None, True), (2, False)]


@pytest.mark.rule("F17.7", "F17.9", "F32.24", "F32.25")
def test_sheet_names_and_structure_are_guarded(made, out):
    for name in ("A/B", "", "x" * 32, "'q", "q'", "History", "a[b", "\x01"):
        error = refused(made, out, {"op": "ensure_sheet", "sheet": name})
        assert error.reason in {"bad_sheet_name", "missing_field"}, name
    rename = {"op": "rename_sheet", "sheet": "S", "new_name": "other"}
    assert refused(made, out, rename).reason == "name_conflict"
    both = [{"op": "delete_sheet", "sheet": "Other"}, {"op": "delete_sheet", "sheet": "S"}]
    assert refused(made, out, *both).reason == "last_sheet"
    far = {"op": "set_range", "sheet": "S", "start": "XFD1048576", "values": [[1, 2]]}
    assert refused(made, out, far).reason == "bad_range"


@pytest.mark.rule("F17.7")
def test_a_workbook_keeps_a_sheet_that_can_be_seen(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        file.add_worksheet("S")
        file.add_worksheet("Hidden").hide()

    assert refused(source(path), out, {"op": "delete_sheet", "sheet": "S"}).reason == "last_sheet"
    edit(source(path), out, {"op": "delete_sheet", "sheet": "Hidden"})
    assert opened(out).sheetnames == ["S"]


@pytest.mark.rule("F23.10")
def test_a_workbook_with_a_locked_structure_keeps_its_sheets(made, tmp_path, out):
    path = tmp_path / "locked.xlsx"
    with zipfile.ZipFile(made.path) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            lock = b'<workbookProtection lockStructure="1"/><bookViews>'
            new.writestr(info, old.read(info).replace(b"<bookViews>", lock))

    for op in (
        {"op": "ensure_sheet", "sheet": "New"},
        {"op": "rename_sheet", "sheet": "S", "new_name": "T"},
        {"op": "delete_sheet", "sheet": "Other"},
    ):
        assert refused(source(path), out, op).reason == "sheet_protected", op
    edit(source(path), out, {"op": "ensure_sheet", "sheet": "S"}, cells({"cell": "A1", "value": 1}))
    assert opened(out).sheetnames == ["S", "Other"]


@pytest.mark.rule("F2.5")
def test_the_cells_of_all_operations_of_a_call_are_counted_together():
    session = Session(Book(Package.from_bytes(blank_workbook())), Warnings())

    session.count(OPS_MAX_CELLS - 1, "operations[0]")
    session.count(1, "operations[1]")

    with pytest.raises(FormatError) as caught:
        session.count(1, "operations[2]")
    assert caught.value.reason == "too_large"


@pytest.mark.rule("F23.8")
@pytest.mark.parametrize("meant", [Content("string", "x"), Content("formula", "A1"), EMPTY])
def test_a_cell_that_reads_back_as_something_else_is_not_written(made, out, meant):
    session = Session(Book(Package.open(made)), Warnings())
    session.edit("S", "a").set_content(1, 1, Content("string", "meant"))
    session.flush()
    session.expected["S"][1, 1] = meant

    with pytest.raises(FormatError) as caught:
        finish(session, out, name="a.xlsx", created=False, changes=(), recalculate=True)

    assert caught.value.reason == "verify_failed"
    assert not out.exists()


@pytest.mark.rule("F17", "F32.26")
def test_a_renamed_sheet_is_followed_by_formulas_names_charts_and_links(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        one, two = file.add_worksheet("Q1"), file.add_worksheet("B")
        one.write_row(0, 0, [1, 2])
        two.write_formula(0, 0, "=Q1!A1+SUM('Q1'!A1:B1)", None, 4)
        two.write_formula(1, 0, '="Q1!A1"', None, "Q1!A1")
        two.write_url(2, 0, "internal:Q1!A1")
        chart = file.add_chart({"type": "bar"})
        chart.add_series({"values": "=Q1!$A$1:$B$1"})
        two.insert_chart("D1", chart)
        file.define_name("Both", "=Q1!$A$1:$B$1")

    result = edit(
        source(path), out, {"op": "rename_sheet", "sheet": "Q1", "new_name": "It's first"}
    )

    book_ = opened(out)
    assert book_.sheetnames == ["It's first", "B"]
    assert book_["B"]["A1"].value == "='It''s first'!A1+SUM('It''s first'!A1:B1)"
    assert book_["B"]["A2"].value == '="Q1!A1"'
    assert book_["B"]["A3"].hyperlink.location == "'It''s first'!A1"
    assert book_.defined_names["Both"].attr_text == "'It''s first'!$A$1:$B$1"
    assert b"'It''s first'!$A$1:$B$1" in members(out)["xl/charts/chart1.xml"][0]
    assert lines(out, sheet="B", range="A1") == ["1\t4"]
    assert result.effects.collateral == ()


@pytest.mark.rule("F17", "F24.10", "F32.25")
def test_deleting_a_sheet_breaks_references_and_says_so(made, out):
    result = edit(made, out, {"op": "delete_sheet", "sheet": "S"})

    assert opened(out).sheetnames == ["Other"]
    assert lines(out, cells="both") == ["1\t#REF! {=#REF!}\t5"]
    assert [(w.code, w.count) for w in result.warnings] == [("broken_references", 1)]
    assert result.extra["new_errors"] == [
        {"sheet": "Other", "cell": "A1", "error": "#REF!", "formula": "=#REF!"}
    ]
    assert "xl/worksheets/sheet1.xml" not in members(out)
    assert result.effects.collateral == ()


@pytest.mark.rule("F17", "F24.3")
@pytest.mark.parametrize(
    ("before", "gone", "after"),
    [
        ("Jan:Mar!A1", ["Jan"], "'Feb ''24:Mar'!A1"),
        ("Jan:Mar!A1", ["Mar"], "'Jan:Feb ''24'!A1"),
        ("JAN:mar!$A$1:B2", ["jan"], "'Feb ''24:mar'!$A$1:B2"),
        ("Mar:Jan!A1", ["Mar"], "'Feb ''24:Jan'!A1"),
        ("Jan:Mar!A1", ["Jan", "Mar"], "'Feb ''24'!A1"),
        ("'Jan:Feb ''24'!A1", ["Feb '24"], "Jan!A1"),
        ("Jan:Mar!A1", ["Mar", "Jan", "Feb '24"], "#REF!"),
        ("Jan:Jan!A1", ["Jan"], "#REF!"),
        ("Jan:Else!A1", ["Jan"], "#REF!"),
    ],
)
def test_the_end_of_a_range_of_sheets_moves_inwards_when_its_sheet_is_deleted(
    tmp_path, out, before, gone, after
):
    months = [(name, [[1, 2], [3, 4]]) for name in ("Jan", "Feb '24", "Mar")]
    made = book(tmp_path / "a.xlsx", *months, ("Sum", [[f"=SUM({before})|3", "=1+1|2"]]))

    result = edit(made, out, *({"op": "delete_sheet", "sheet": name} for name in gone))

    first, second = next(iter(opened(out)["Sum"].iter_rows()))
    assert (first.value, second.value) == (f"=SUM({after})", "=1+1")
    assert [(w.code, w.count) for w in result.warnings] == [("broken_references", 1)] * len(gone)
    assert result.effects.collateral == ()
    assert not lines(out, sheet="Sum")[0].startswith("1\t3")


@pytest.mark.rule("F24.2", "F24.3")
def test_deleting_a_sheet_leaves_no_stale_result_of_formulas_that_do_not_name_it(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        for name in ("Jan", "Feb", "Mar"):
            file.add_worksheet(name).write(0, 0, 1)
        file.define_name("Short", "=Feb!$A$1")
        formulas = ["=SUM(Jan:Mar!A1)", '=INDIRECT("Feb!A1")', "=Short+1", "=Jan!A1"]
        file.add_worksheet("Sum").write_column(0, 0, formulas)

    result = edit(source(path), out, {"op": "delete_sheet", "sheet": "Feb"})

    assert lines(out, sheet="Sum", cells="both") == [
        "1\t2 {=SUM(Jan:Mar!A1)}",
        '2\t#REF! {=INDIRECT("Feb!A1")}',
        "3\t#REF! {=Short+1}",
        "4\t0 {=Jan!A1}",
    ]
    assert [(w.code, w.count) for w in result.warnings] == [("broken_references", 1)]


@pytest.mark.rule("F16.3", "F32.22")
def test_a_new_workbook_has_exactly_the_sheets_that_were_named(out):
    result = edit(
        None,
        out,
        cells({"cell": "A1", "value": 1}, sheet="Summary"),
        {"op": "ensure_sheet", "sheet": "First", "position": 0},
        cells({"cell": "A1", "value": "=Summary!A1+1"}, sheet="First"),
    )

    assert opened(out).sheetnames == ["First", "Summary"]
    assert lines(out, sheet="First") == ["1\t2"]
    assert (result.created, result.effects.collateral) == (True, ())


@pytest.mark.rule("F16.3")
def test_a_new_workbook_keeps_sheet1_when_it_is_used(out):
    edit(
        None,
        out,
        cells({"cell": "A1", "value": 1}, sheet="Sheet1"),
        {"op": "ensure_sheet", "sheet": "B"},
    )

    assert opened(out).sheetnames == ["Sheet1", "B"]


@pytest.mark.rule("F17", "F32.31")
def test_panes_widths_heights_merges_and_filters(made, out):
    edit(
        made,
        out,
        {"op": "freeze_panes", "sheet": "S", "row": 1, "column": 2},
        {
            "op": "set_column_widths",
            "sheet": "S",
            "columns": [{"column": "B", "width": 20}, {"column": 3, "width": 0}],
        },
        {
            "op": "set_row_heights",
            "sheet": "S",
            "rows": [{"row": 2, "height": 30.5}, {"row": 40, "height": 12}],
        },
        {"op": "merge_cells", "sheet": "S", "range": "A10:B11"},
        {"op": "set_autofilter", "sheet": "S", "range": "A1:B5"},
    )

    sheet = opened(out)["S"]
    assert sheet.freeze_panes == "C2"
    assert (sheet.column_dimensions["B"].width, sheet.column_dimensions["C"].hidden) == (20, True)
    assert (sheet.row_dimensions[2].height, sheet.row_dimensions[40].height) == (30.5, 12)
    assert [str(r) for r in sheet.merged_cells.ranges] == ["A10:B11"]
    assert sheet.auto_filter.ref == "A1:B5"

    again = out.with_name("again.xlsx")
    edit(
        source(out),
        again,
        {"op": "freeze_panes", "sheet": "S", "row": 0, "column": None},
        {"op": "unmerge_cells", "sheet": "S", "range": "A1:Z99"},
        {"op": "set_autofilter", "sheet": "S", "range": None},
    )
    sheet = opened(again)["S"]
    assert (sheet.freeze_panes, sheet.merged_cells.ranges, sheet.auto_filter.ref) == (
        None,
        set(),
        None,
    )


@pytest.mark.rule("F17")
def test_merging_full_cells_or_overlaps_is_refused(made, out):
    merge = {"op": "merge_cells", "sheet": "S"}
    assert refused(made, out, {**merge, "range": "A1:B1"}).reason == "op_conflict"
    assert refused(made, out, {**merge, "range": "A9"}).reason == "bad_range"
    twice = [{**merge, "range": "D1:E2"}, {**merge, "range": "E2:F3"}]
    assert refused(made, out, *twice).reason == "op_conflict"


@pytest.mark.rule("F17.8", "F32.32")
def test_categories_are_summed_exactly(tmp_path, out):
    head = ["Day", "Category", "Amount"]
    made = book(
        tmp_path / "a.xlsx",
        ("Jan", [head, ["d", " food ", 0.1], ["d", "rent", 10], ["d", "", 5]]),
        ("Feb", [head, ["d", "food", 0.2], ["d", "food", "n/a"], ["d", "art", 1.005]]),
        ("Sum", [["old", "content", "here", "and", "more"]]),
    )

    result = edit(
        made,
        out,
        {"op": "summarize_by_category", "sheet": "Sum", "source_sheets": ["Jan", "Feb"]},
    )

    assert lines(out, sheet="Sum") == [
        "1\tCategory\tJan_Total\tFeb_Total\tGrand_Total",
        "2\tart\t0\t1.01\t1.01",
        "3\tfood\t0.1\t0.2\t0.3",
        "4\trent\t10\t0\t10",
    ]
    assert [(w.code, w.count) for w in result.warnings] == [("non_numeric_amounts", 1)]
    missing = {"op": "summarize_by_category", "sheet": "Sum", "source_sheets": ["Mar"]}
    assert refused(made, out.with_name("x"), missing).reason == "unknown_sheet"


@pytest.mark.rule("F17.8")
def test_sums_refuse_results_that_are_not_stored(tmp_path, out):
    rows = [["a", "b", "c"], ["d", "x", "=1+1"]]
    made = without_results(book(tmp_path / "a.xlsx", ("Jan", rows)), tmp_path / "b.xlsx")

    error = refused(
        made, out, {"op": "summarize_by_category", "sheet": "T", "source_sheets": ["Jan"]}
    )

    assert (error.reason, error.hints) == ("uncached_formula", ("C2",))


@pytest.mark.rule("F17.8")
def test_sums_are_exact_however_far_apart_the_amounts_are(tmp_path, out):
    amounts = [
        *(("far", amount) for amount in (1e20, 0.004, 1e-10, 0.0009999999)),
        *(("big", amount) for amount in (1e300, 1e27)),
        *(("out", amount) for amount in (1e300, 0.25, -1e300)),
    ]
    rows = [["", "Category", "Amount"], *(["", *pair] for pair in amounts)]
    made = book(tmp_path / "a.xlsx", ("Jan", rows))

    target = {"op": "ensure_sheet", "sheet": "Sum"}
    op = {"op": "summarize_by_category", "sheet": "Sum", "source_sheets": ["Jan"]}
    edit(made, out, target, op)

    sheet = members(out)["xl/worksheets/sheet2.xml"][0].decode()
    more = book(tmp_path / "b.xlsx", ("Jan", [*rows, *[["", "big", 1e308]] * 2]))
    assert refused(more, out.with_name("x"), target, op).reason == "bad_value"
    big = "1" + "0" * 272 + "1" + "0" * 27
    assert re.findall(r"<v>([0-9]{2,}[.][0-9]+|0[.][0-9]+)</v>", sheet) == [
        *[f"{big}.00"] * 2,
        *["100000000000000000000.01"] * 2,
        *["0.25"] * 2,
    ]


@pytest.mark.rule("F17.5", "F17.8")
def test_sums_stand_in_cells_that_are_seen_where_the_sheet_was_merged(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("Jan")
        for row, cells_ in enumerate([["", "Category", "Amount"], ["", "food", 2]]):
            sheet.write_row(row, 0, cells_)
        target = file.add_worksheet("Sum")
        target.merge_range("A1:D1", "Sums of the year")
        target.merge_range("A5:B9", "")

    result = edit(
        source(path), out, {"op": "summarize_by_category", "sheet": "Sum", "source_sheets": ["Jan"]}
    )

    assert opened(out)["Sum"].merged_cells.ranges == set()
    assert lines(out, sheet="Sum") == ["1\tCategory\tJan_Total\tGrand_Total", "2\tfood\t2\t2"]
    assert result.effects.collateral == ()


@pytest.mark.rule("F16.4", "F16.5", "F16.6", "F17.10", "F32.23")
def test_a_bad_operation_names_its_place_and_nothing_is_written(made, out):
    good = cells({"cell": "A1", "value": 1})
    cases = [
        ({"op": "insert_row", "sheet": "S"}, "unknown_op", "operations[1].op"),
        ({"op": "set_cells", "sheet": "S"}, "missing_field", "operations[1].cells"),
        ({"op": "set_cells", "sheet": 5, "cells": []}, "bad_type", "operations[1].sheet"),
        (cells({"cell": "A0", "value": 1}), "bad_range", "operations[1].cells[0].cell"),
        (cells({"cell": "A1", "value": [1]}), "bad_type", "operations[1].cells[0].value"),
        (
            cells({"cell": "A1", "value": "x", "type": "number"}),
            "bad_value",
            "operations[1].cells[0].value",
        ),
        (
            cells({"cell": "A1", "value": "x", "type": "colour"}),
            "bad_value",
            "operations[1].cells[0].type",
        ),
        (cells({"value": 1}), "missing_field", "operations[1].cells[0].cell"),
        (cells("A1"), "bad_type", "operations[1].cells[0]"),
        (
            {"op": "set_style", "sheet": "Nope", "range": "A1", "style": {}},
            "unknown_sheet",
            "operations[1].sheet",
        ),
        ({"op": "clear_range", "sheet": "S", "range": "??"}, "bad_range", "operations[1].range"),
        (
            {"op": "clear_range", "sheet": "S", "range": "A1", "what": "x"},
            "bad_value",
            "operations[1].what",
        ),
        (
            {"op": "merge_cells", "sheet": "S", "range": "A1:B2", "style": {}},
            "unknown_field",
            "operations[1].style",
        ),
        (
            {"op": "set_range", "sheet": "S", "start": "A1", "range": "B1", "values": [[1]]},
            "op_conflict",
            "operations[1].range",
        ),
        (
            {"op": "set_range", "sheet": "S", "start": "A1", "values": ["x"]},
            "bad_type",
            "operations[1].values[0]",
        ),
        (
            {"op": "set_column_widths", "sheet": "S", "columns": [{"column": "A", "width": 256}]},
            "bad_value",
            "operations[1].columns[0].width",
        ),
        (
            {"op": "set_row_heights", "sheet": "S", "rows": [{"row": 0, "height": 1}]},
            "bad_range",
            "operations[1].rows[0].row",
        ),
        ({"op": "freeze_panes", "sheet": "S", "row": -1}, "bad_value", "operations[1].row"),
        (cells({"cell": "A1", "value": "x" * 32768}), "too_large", "operations[1].cells[0].value"),
    ]
    for bad, reason, place in cases:
        error = refused(made, out, good, bad)
        assert (error.reason, (error.detail or "").partition(":")[0]) == (reason, place), bad


@pytest.mark.rule("F16.10", "F16.13")
def test_hiding_rows_and_columns_is_said_as_such(made, out):
    hide = [
        {"op": "set_row_heights", "sheet": "S", "rows": [{"row": 2, "height": 0}]},
        {
            "op": "set_column_widths",
            "sheet": "S",
            "columns": [{"column": "A", "width": 20}, {"column": "B", "width": 0}],
        },
    ]

    result = edit(made, out, *hide)

    assert [said for _, said in result.changes] == [
        "S: row 2 hidden",
        "S: width of A set; column B hidden",
    ]
    now = {one.where: one.now for one in result.effects.changed if one.kind != "part"}
    assert now == {"S!2:2": "hidden", "S!A:A": "", "S!B:B": "hidden"}

    show = {"op": "set_row_heights", "sheet": "S", "rows": [{"row": 2, "height": 15}]}
    shown = edit(source(out), out.with_name("again.xlsx"), show)
    assert [one.now for one in shown.effects.changed if one.kind == "row"] == ["shown"]


@pytest.mark.rule("F16.5")
def test_aliases_are_taken_and_said(made, out):
    result = edit(made, out, {"op": "set_range", "sheet": "S", "range": "D1:E1", "data": [[1, 2]]})

    assert opened(out)["S"]["E1"].value == 2
    assert [w.code for w in result.warnings] == ["alias_used", "alias_used"]


@pytest.mark.rule("F24.4", "F24.5", "F32.19", "F32.20")
def test_dangerous_and_broken_formulas_are_refused(made, out):
    unsafe = [
        '=WEBSERVICE("http://x")',
        "=cmd|'/C calc'!A0",
        "=[1]Sheet!A1",
        "='[other.xlsx]S'!A1",
        '=HYPERLINK("file:///etc/passwd")',
        "=HYPERLINK(A1)",
        '=1+_xlfn.IMAGE("http://x")',
        "=[book]!Name",
        "=[Book2.xlsx]A1",
        '=hyperlink("javascript:1")',
        '=RTD("a",,"b")',
    ]
    broken = [
        "=SUM(A1",
        "=1+",
        '="x',
        "=)",
        "=A1 2",
        "=" + "(" * 65 + "1" + ")" * 65,
        "=1;2",
    ]
    for text in unsafe:
        assert (
            refused(made, out, cells({"cell": "A1", "value": text})).reason == "unsafe_formula"
        ), text
    for text in broken:
        assert refused(made, out, cells({"cell": "A1", "value": text})).reason == "bad_value", text
    edit(made, out, cells({"cell": "A1", "value": '=HYPERLINK("https://x.org","x")'}))
    edit(made, out, cells({"cell": "A1", "value": "=cmd|'/C calc'!A0", "type": "string"}))
    assert opened(out)["S"]["A1"].value == "=cmd|'/C calc'!A0"


@pytest.mark.rule("F24.1")
def test_younger_functions_are_stored_with_their_prefix(made, out):
    texts = [
        '=textjoin(",",TRUE,A1:A3)',
        "=LET(x,2,x*3)",
        "=_xlfn.XLOOKUP(1,B2:B4,A2:A4)",
        "=FILTER(A1:A3,B1:B3)",
    ]
    edit(made, out, cells(*[{"cell": f"D{i}", "value": t} for i, t in enumerate(texts, 1)]))

    stored = re.findall(rb"<f[^>]*>([^<]*)</f>", members(out)["xl/worksheets/sheet1.xml"][0])
    assert stored[:4] == [
        b'_xlfn.TEXTJOIN(",",TRUE,A1:A3)',
        b"_xlfn.LET(_xlpm.x,2,_xlpm.x*3)",
        b"_xlfn.XLOOKUP(1,B2:B4,A2:A4)",
        b"_xlfn._xlws.FILTER(A1:A3,B1:B3)",
    ]


@pytest.mark.rule("F23.10", "F32.60")
def test_locked_cells_stay_and_unlocked_ones_can_be_written(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.protect()
        sheet.write(0, 0, 1)
        sheet.write(0, 1, 1, file.add_format({"locked": False}))

    for op in (
        cells({"cell": "A1", "value": 2}),
        {"op": "set_style", "sheet": "S", "range": "A1", "style": {"font_bold": True}},
        {"op": "clear_range", "sheet": "S", "range": "A1"},
        {"op": "set_column_widths", "sheet": "S", "columns": [{"column": "A", "width": 5}]},
    ):
        assert refused(source(path), out, op).reason == "sheet_protected"
    edit(source(path), out, cells({"cell": "B1", "value": 2}))
    assert lines(out) == ["1\t1\t2"]


@pytest.mark.rule("F16.2", "F23.9")
def test_where_a_write_starts_from(made, out, tmp_path):
    op = cells({"cell": "A1", "value": "new"})

    assert refused(None, out, op, create_new=False).reason == "not_found"
    copied = edit(None, out, op, copy_from=made)
    assert (copied.created, lines(out, sheet="S")[0]) == (True, "1\tnew\tPrice")
    fresh = edit(made, out, op, create_new=True)
    assert (opened(out).sheetnames, [w.code for w in fresh.warnings]) == (
        ["S"],
        ["replaced_existing"],
    )


@pytest.mark.rule("F23.3")
def test_a_shared_formula_survives_the_loss_of_its_first_cell(tmp_path, out):
    made = book(tmp_path / "a.xlsx", ("S", [[1, 0], [2, 0], [3, 0]]))
    shared = tmp_path / "b.xlsx"
    with zipfile.ZipFile(made.path) as old, zipfile.ZipFile(shared, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            for row, cell in enumerate(
                [b'<f t="shared" ref="B1:B3" si="0">A1*2</f>', b'<f t="shared" si="0"/>'] * 2, 1
            ):
                use = cell if row < 3 else b'<f t="shared" si="0"/>'
                find = b'<c r="B%d"><v>0</v></c>' % row
                data = data.replace(find, b'<c r="B%d">%s<v>%d</v></c>' % (row, use, row * 2))
            new.writestr(info, data)

    edit(source(shared), out, cells({"cell": "B1", "value": "gone"}))

    assert lines(out, cells="both") == ["1\t1\tgone", "2\t2\t4 {=A2*2}", "3\t3\t6 {=A3*2}"]
    assert opened(out)["S"]["B3"].value == "=A3*2"


@pytest.mark.rule("F1.3")
def test_the_same_operations_give_the_same_bytes(made, out, tmp_path):
    ops = [
        cells({"cell": "A1", "value": "x", "style": {"font_bold": True, "fill_color": "FF0000"}}),
        {"op": "ensure_sheet", "sheet": "N"},
        {"op": "append_rows", "sheet": "N", "values": [[1, 2]]},
    ]
    edit(made, out, *ops)
    edit(made, tmp_path / "two.xlsx", *ops)

    assert out.read_bytes() == (tmp_path / "two.xlsx").read_bytes()


@pytest.mark.rule("F17.11")
def test_a_part_of_an_array_formula_is_not_changed(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write_column(0, 0, [1, 2, 3])
        sheet.write_array_formula("B1:B3", "{=A1:A3*2}", None, 2)

    assert refused(source(path), out, cells({"cell": "B2", "value": 1})).reason == "op_conflict"
    edit(
        source(path),
        out,
        {"op": "set_range", "sheet": "S", "start": "B1", "values": [[7], [8], [9]]},
    )
    assert lines(out) == ["1\t1\t7", "2\t2\t8", "3\t3\t9"]


def test_reading_after_writing_gives_the_same_map_as_a_second_reader(made, out):
    edit(made, out, cells({"cell": "F20", "value": "far"}))

    assert xlsx.read(source(out), Selector(range="F20", sheet="S")).text.endswith("20\tfar")
    assert opened(out)["S"].dimensions == "A1:F20"


@pytest.mark.rule("F16.8", "F17.3")
def test_within_an_operation_content_comes_before_looks(tmp_path, out):
    made = book(tmp_path / "a.xlsx", ("S", [[1]]))
    day = {"cell": "A1", "value": "2024-03-01", "type": "date", "style": {"number_format": "0.0"}}
    plain = {"cell": "A2", "value": "2024-03-01", "type": "date"}

    edit(made, out, cells(day, plain))

    sheet = opened(out)["S"]
    assert (sheet["A1"].value, sheet["A1"].number_format) == (45352, "0.0")
    assert sheet["A2"].number_format == "yyyy-mm-dd"


@pytest.mark.rule("F24.7", "F29.4")
@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [(0.25, "0%", "25%"), (1234.5, "$#,##0.00", "$1,234.50"), (1234567, "#,##0", "1,234,567")],
)
def test_percent_currency_and_grouping_are_for_the_eye_only(tmp_path, value, code, shown):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        file.add_worksheet("S").write(0, 0, value, file.add_format({"num_format": code}))

    grid: Any = xlsx.extract_grid(source(path), "S", 0, 0, 1, 1)
    cell = grid["cells"][0][0]

    assert lines(path) == [f"1\t{value}"]
    assert (cell["value"], cell["display"]) == (value, shown)


def rewritten(of: Source, change: Callable[[str, bytes], bytes]) -> Source:
    """Return the workbook with its parts changed letter by letter."""
    with zipfile.ZipFile(of.path) as old:
        parts = {name: change(name, old.read(name)) for name in old.namelist()}
    with zipfile.ZipFile(of.path, "w") as new:
        for name, data in parts.items():
            new.writestr(name, data)
    return source(of.path)


@pytest.mark.rule("F23.3", "F16.14")
@pytest.mark.parametrize("root", [b"<workbook ", b"<worksheet ", b"<styleSheet "])
def test_a_namespace_without_scheme_hinders_no_edit(tmp_path, out, root):
    plain = book(tmp_path / "a.xlsx", ("S", [[1, 2]]))
    made = rewritten(plain, lambda _, data: data.replace(root, root + b'xmlns:odd="own" '))
    bold = [{"cell": "B3", "value": "x", "style": {"font_bold": True}}]

    result = edit(
        made,
        out,
        {"op": "set_cells", "sheet": "S", "cells": bold},
        {"op": "rename_sheet", "sheet": "S", "new_name": "T"},
    )

    assert result.effects.collateral == ()
    assert opened(out)["T"]["B3"].font.b is True
    assert sum(data.count(b'xmlns:odd="own"') for data, _ in members(out).values()) == 1


@pytest.mark.rule("F23.1", "F16.14")
def test_a_part_nothing_leads_to_is_not_written_over(tmp_path, out):
    def unlink(name: str, data: bytes) -> bytes:
        return re.sub(rb"<Relationship [^>]*/styles[^>]*/>", b"", data) if "rels" in name else data

    made = rewritten(book(tmp_path / "a.xlsx", ("S", [[1]])), unlink)
    bold = [{"cell": "A1", "value": 1, "style": {"font_bold": True}}]

    result = edit(made, out, {"op": "set_cells", "sheet": "S", "cells": bold})

    assert result.effects.collateral == ()
    styles: Any = xlsx.get_styles(source(out), "S")  # openpyxl goes by the name of the part
    assert styles["cell_styles"][0]["style"]["font_bold"] is True
    assert members(out)["xl/styles.xml"] == members(made.path)["xl/styles.xml"]


# --- dialect ------------------------------------------------------------------------------------

DIALECTS = (
    rb"http://schemas\.openxmlformats\.org/(spreadsheetml|drawingml|officeDocument)/2006/",
    rb"http://purl.oclc.org/ooxml/\1/",
)


@pytest.mark.rule("F23.11")
@pytest.mark.parametrize("strict", [True, False])
def test_a_workbook_keeps_its_dialect_whatever_its_words_mention(tmp_path, out, strict):
    def prepared(name: str, data: bytes) -> bytes:
        data = re.sub(rb'<Relationship [^>]*/styles"[^>]*/>', b"", data)
        most = 1 if "sharedStrings" in name else 0  # its words stay
        return re.sub(*DIALECTS, data, count=most) if strict else data

    said = [
        "see http://purl.oclc.org/ooxml/spreadsheetml/main",
        "see http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    ]
    made = rewritten(book(tmp_path / "a.xlsx", ("S", [[words] for words in said])), prepared)

    edit(
        made,
        out,
        cells({"cell": "A4", "value": said[0]}, {"cell": "B1", "value": "=UNIQUE(A1:A2)"}),
        {"op": "set_style", "sheet": "S", "range": "A1", "style": {"font_bold": True}},
        {"op": "ensure_sheet", "sheet": "T"},
    )

    read = [line.split("\t")[1:2] for line in lines(out, sheet="S")]
    assert read == [[said[0]], [said[1]], [], [said[0]]]
    other = DIALECTS[0] if strict else rb"http://purl\.oclc\.org/"
    for name, (data, _) in members(out).items():
        unsaid = data.replace(said[0].encode(), b"").replace(said[1].encode(), b"")
        assert (name, re.findall(other, unsaid)) == (name, [])
