"""Charts of workbooks: added with true caches, changed without touching what was not asked for."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
import xlsxwriter
from lxml import etree

from backshop.formats.errors import FormatError
from backshop.formats.warning import Warn
from backshop.formats.xlsx.edit import application
from backshop.formats.xlsx.edit.session import Session

from .books import book, differing, edit, mapped, sheet_of, source
from .drawn import (
    MONTHS,
    C,
    cached,
    change,
    chart,
    charts,
    misplaced,
    orphans,
    parts,
    rewrite,
    root_of,
    seen,
)

KINDS = ("column", "bar", "line", "area", "pie", "scatter")
NUMBERS = [["t", "y", "z"], [1, 3, 4.5], [2, 5, 5], [4, 8, 1]]
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


@pytest.fixture
def sales(tmp_path):
    return book(tmp_path / "a.xlsx", ("Sales", MONTHS), ("O'Neil & Co", NUMBERS))


@pytest.fixture
def charted(sales, tmp_path):
    """A workbook whose chart Excel or another program might have made: it has looks of its own."""
    path = tmp_path / "charted.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("Sales")
        for at, row in enumerate(MONTHS):
            sheet.write_row(at, 0, row)
        made = file.add_chart({"type": "column"})
        for col, colour in ((1, "#112233"), (2, "#445566")):
            made.add_series(
                {
                    "name": ["Sales", 0, col],
                    "categories": ["Sales", 1, 0, 3, 0],
                    "values": ["Sales", 1, col, 3, col],
                    "fill": {"color": colour},
                    "data_labels": {"value": True, "position": "outside_end"},
                }
            )
        made.set_title({"name": "Before", "name_font": {"size": 20, "color": "#FF0000"}})
        made.set_y_axis({"name": "Pieces", "max": 40})
        sheet.insert_chart("F2", made)
        sheet.insert_textbox("F30", "a note")
    return source(path)


def reason(base, out, *operations: Any) -> FormatError:
    with pytest.raises(FormatError) as caught:
        edit(base, out, *operations)
    assert not out.exists()
    return caught.value


# --- adding -------------------------------------------------------------------------------------


@pytest.mark.rule("F36.1", "F36.2", "F23.1", "F16.14")
@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_of_each_kind_shows_the_cells_and_a_second_reader_agrees(sales, tmp_path, kind):
    out = tmp_path / "out.xlsx"
    data = {"scatter": "'O''Neil & Co'!A1:C4", "pie": "A1:B4"}.get(kind, "A1:C4")

    done = edit(sales, out, chart(kind, data=data, title="Half <year> & ß"))

    added = {"xl/charts/chart1.xml", "xl/drawings/drawing1.xml"}
    added |= {"xl/drawings/_rels/drawing1.xml.rels", "xl/worksheets/_rels/sheet1.xml.rels"}
    changed = added | {"xl/worksheets/sheet1.xml", "[Content_Types].xml"}
    assert differing(sales.path, out) == changed == set(done.changed_parts)
    assert (done.effects.collateral, done.warnings) == ((), ())
    (told,) = charts(out)
    assert (told["type"], told["title"], told["at"]) == (kind, "Half <year> & ß", "F2:M16")
    (shown,) = seen(out, "Sales")
    refs = [getattr(s, "yVal", None) or s.val for s in shown.series]
    assert [ref.numRef.f for ref in refs] == [one["values"] for one in told["series"]]
    assert misplaced(root_of(out)) == []
    assert orphans(out) <= orphans(sales.path)


@pytest.mark.rule("F36.2", "F36.9")
def test_every_cache_is_filled_names_too(sales, tmp_path):
    out = tmp_path / "out.xlsx"

    edit(sales, out, chart())

    months = ("Sales!$A$2:$A$4", "Jan", "Feb", "Mar")
    assert cached(root_of(out)) == [
        {"tx": ("Sales!$B$1", "North"), "cat": months, "val": ("Sales!$B$2:$B$4", "10", "15", "7")},
        {
            "tx": ("Sales!$C$1", "South"),
            "cat": months,
            "val": ("Sales!$C$2:$C$4", "20", "18", "25"),
        },
    ]


@pytest.mark.rule("F36.9", "F24.8")
def test_caches_hold_what_formulas_give_at_the_end_of_the_call(sales, tmp_path):
    out = tmp_path / "out.xlsx"

    edit(
        sales,
        out,
        {"op": "fill_formula", "sheet": "Sales", "range": "D2:D4", "formula": "=B2+C2"},
        {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "D1", "value": '="To"&"tal"'}]},
        chart(data="A1:D4"),
        {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "B2", "value": 100}]},
    )

    found = cached(root_of(out))
    assert found[0]["val"] == ("Sales!$B$2:$B$4", "100", "15", "7")
    assert found[2] | {"cat": ()} == {
        "tx": ("Sales!$D$1", "Total"),
        "cat": (),
        "val": ("Sales!$D$2:$D$4", "120", "33", "32"),
    }


@pytest.mark.rule("F36.9")
def test_a_result_that_is_not_computed_is_a_gap_and_is_said(sales, tmp_path):
    out = tmp_path / "out.xlsx"
    waiting = [{"cell": "B2", "value": "=RAND()"}]

    done = edit(sales, out, {"op": "set_cells", "sheet": "Sales", "cells": waiting}, chart())

    assert cached(root_of(out))[0]["val"] == ("Sales!$B$2:$B$4", "15", "7")
    assert Warn("uncached_formula", 1, "Sales!B2:B4") in done.warnings


@pytest.mark.rule("F36.9", "F23.4")
def test_a_chart_nobody_named_keeps_its_bytes_when_its_cells_change(charted, tmp_path):
    out = tmp_path / "out.xlsx"

    done = edit(charted, out, {"op": "set_cells", "sheet": "Sales", "cells": [
        {"cell": "B2", "value": 99}]})  # fmt: skip

    assert done.changed_parts == ("xl/worksheets/sheet1.xml",)


@pytest.mark.rule("F36.3")
@pytest.mark.parametrize(
    ("rows", "data", "more", "names", "categories", "values"),
    [
        ([["", 2023, 2024], ["a", 1, 2], ["b", 3, 4]], "A1:C3", {},
         ["$B$1", "$C$1"], "$A$2:$A$3", ["$B$2:$B$3", "$C$2:$C$3"]),
        ([["x", 2023, 2024], ["a", 1, 2], ["b", 3, 4]], "A1:C3", {},
         ["$B$1", "$C$1"], "$A$2:$A$3", ["$B$2:$B$3", "$C$2:$C$3"]),
        ([["Year", "n"], [2023, 7], [2024, 9]], "A1:B3", {},
         ["$B$1"], "$A$2:$A$3", ["$B$2:$B$3"]),
        ([["n", "m"], [7, 3], [9, 9], [1, 1]], "A1:B4", {},
         ["$A$1", "$B$1"], None, ["$A$2:$A$4", "$B$2:$B$4"]),
        ([[7], [9]], "A1:A2", {}, [None], None, ["$A$1:$A$2"]),
        ([["", "a", "b", "c"], ["n", 1, 2, 3], ["m", 4, 5, 6]], "A1:D3", {},
         ["$A$2", "$A$3"], "$B$1:$D$1", ["$B$2:$D$2", "$B$3:$D$3"]),
        ([["", "a", "b", "c"], ["n", 1, 2, 3], ["m", 4, 5, 6]], "A1:D3", {"series_by": "columns"},
         ["$B$1", "$C$1", "$D$1"], "$A$2:$A$3", ["$B$2:$B$3", "$C$2:$C$3", "$D$2:$D$3"]),
        ([["", "Plan", ""], ["", "Q1", "Q2"], ["a", 1, 2], ["b", 3, 4]], "A1:C4", {},
         ["$B$1:$B$2", "$C$1:$C$2"], "$A$3:$A$4", ["$B$3:$B$4", "$C$3:$C$4"]),
        ([["Land", "City", "n"], ["DE", "Ulm", 1], ["", "Bonn", 2]], "A:C", {},
         ["$C$1"], "$A$2:$B$3", ["$C$2:$C$3"]),
        ([["k", "n", "note"], ["a", 1, "x"], ["b", 2, "y"]], "A1:C3", {},
         ["$B$1"], "$A$2:$A$3", ["$B$2:$B$3"]),
    ],
)  # fmt: skip
def test_names_and_categories_are_found_in_the_data(
    tmp_path, rows, data, more, names, categories, values
):
    out = tmp_path / "out.xlsx"
    base = book(tmp_path / "a.xlsx", ("S", rows))

    edit(base, out, chart(sheet="S", data=data, **more))

    found = cached(root_of(out))
    assert [one.get("tx", (None,))[0] for one in found] == [n and f"S!{n}" for n in names]
    assert {one.get("cat", (None,))[0] for one in found} == {categories and f"S!{categories}"}
    assert [one["val"][0] for one in found] == [f"S!{one}" for one in values]


@pytest.mark.rule("F36.3")
def test_several_columns_of_categories_are_levels_the_inner_one_first(tmp_path):
    out = tmp_path / "out.xlsx"
    rows = [["Land", "City", "n"], ["DE", "Ulm", 1], ["", "Bonn", 2], ["FR", "Lyon", 3]]

    edit(book(tmp_path / "a.xlsx", ("S", rows)), out, chart(sheet="S", data="A1:C4"))

    levels = list(root_of(out).iter(f"{C}lvl"))
    texts = [[(p.get("idx"), p.findtext(f"{C}v")) for p in lvl] for lvl in levels]
    assert texts == [
        [("0", "Ulm"), ("1", "Bonn"), ("2", "Lyon")],
        [("0", "DE"), ("2", "FR")],
    ]
    (shown,) = seen(out, "S")
    assert shown.series[0].cat.multiLvlStrRef.f == "S!$A$2:$B$4"


@pytest.mark.rule("F36.3")
@pytest.mark.parametrize("is_1904", [False, True])
def test_days_as_categories_keep_their_format_on_an_axis_of_time(tmp_path, is_1904):
    path, out = tmp_path / "a.xlsx", tmp_path / "out.xlsx"
    with xlsxwriter.Workbook(str(path), {"date_1904": is_1904}) as file:
        sheet = file.add_worksheet("S")
        look = file.add_format({"num_format": "dd/mm/yy"})
        sheet.write_row(0, 0, ["Day", "n"])
        for at in (1, 2, 3):
            sheet.write_datetime(at, 0, datetime.datetime(2026, 1, at * 5), look)
            sheet.write_number(at, 1, at)

    edit(source(path), out, chart("line", sheet="S", data="A1:B4"))

    root = root_of(out)
    serial = 44561 if is_1904 else 46027 - 4
    days = [str(serial + 4 + step) for step in (0, 5, 10)] if not is_1904 else None
    held = cached(root)[0]["cat"]
    assert next(root.iter(f"{C}cat")).find(f".//{C}formatCode").text == "dd/mm/yy"
    assert len(list(root.iter(f"{C}dateAx"))) == 1
    assert [flag.get("val") for flag in root.iter(f"{C}date1904")] == (["1"] if is_1904 else [])
    assert days is None or held[1:] == tuple(days)
    assert float(held[2]) - float(held[1]) == 5


@pytest.mark.rule("F36.4")
def test_series_are_named_one_by_one_with_texts_and_cells(sales, tmp_path):
    out = tmp_path / "out.xlsx"
    series = [
        {"name": "Own & name", "values": "B2:B4"},
        {"name": "='O''Neil & Co'!B1", "values": "'O''Neil & Co'!B2:B4", "x_values": "A2:A4"},
    ]

    edit(sales, out, chart(data=None, series=series, categories="A2:A4"))

    first, second = cached(root_of(out))
    assert root_of(out).find(f".//{C}tx/{C}v").text == "Own & name"
    assert (first["cat"][0], second["cat"][0]) == ("Sales!$A$2:$A$4",) * 2
    assert second["tx"] == ("'O''Neil & Co'!$B$1", "y")
    assert second["val"] == ("'O''Neil & Co'!$B$2:$B$4", "3", "5", "8")


@pytest.mark.rule("F36.3")
def test_a_table_is_data_by_its_name_without_its_totals(tmp_path):
    path, out = tmp_path / "a.xlsx", tmp_path / "out.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        columns = [{"header": "Who"}, {"header": "n", "total_function": "sum"}]
        rows = [["a", 1], ["b", 2]]
        options = {"name": "Deals", "columns": columns, "data": rows, "total_row": True}
        sheet.add_table("B2:C5", options)

    edit(source(path), out, chart("pie", sheet="S", data="deals"))

    assert cached(root_of(out))[0]["val"] == ("S!$C$3:$C$4", "1", "2")


@pytest.mark.rule("F36.5")
@pytest.mark.parametrize(
    ("kind", "stacking", "grouping", "overlap"),
    [
        ("column", "stacked", "stacked", "100"),
        ("bar", "percent", "percentStacked", "100"),
        ("line", "stacked", "stacked", None),
        ("area", "percent", "percentStacked", None),
    ],
)
def test_series_stand_on_one_another(sales, tmp_path, kind, stacking, grouping, overlap):
    out = tmp_path / "out.xlsx"

    edit(sales, out, chart(kind, stacking=stacking))

    root = root_of(out)
    assert next(root.iter(f"{C}grouping")).get("val") == grouping
    assert [one.get("val") for one in root.iter(f"{C}overlap")] == ([overlap] if overlap else [])
    assert charts(out)[0]["stacking"] == stacking


@pytest.mark.rule("F36.5")
def test_titles_legend_axes_and_format_are_as_asked(sales, tmp_path):
    out = tmp_path / "out.xlsx"

    edit(sales, out, chart(
        "bar", title="Two\nlines", x_title="Month", y_title="Pieces", legend="left", y_min=-1.5,
        y_max=50, number_format="#,##0.0", name="Mine", cell="F2:K20"))  # fmt: skip

    (shown,) = seen(out, "Sales")
    assert [p.r[0].t for p in shown.title.tx.rich.p] == ["Two", "lines"]
    assert shown.x_axis.title.tx.rich.p[0].r[0].t == "Month"
    assert (shown.y_axis.scaling.min, shown.y_axis.scaling.max) == (-1.5, 50)
    assert (shown.y_axis.numFmt.formatCode, shown.y_axis.numFmt.sourceLinked) == ("#,##0.0", False)
    assert (shown.legend.position, shown.x_axis.delete, shown.y_axis.delete) == ("l", False, False)
    (told,) = charts(out)
    assert (told["name"], told["at"]) == ("Mine", "F2:K20")


@pytest.mark.rule("F36.6")
@pytest.mark.parametrize(
    ("fields", "why", "place"),
    [
        ({"data": "H1:J9"}, "bad_range", "data"),
        ({"data": "A1:A4"}, "bad_range", "data"),
        ({"data": "Nowhere!A1:B2"}, "unknown_sheet", "data"),
        ({"data": "[other.xlsx]Sales!A1:B2"}, "unsafe_formula", "data"),
        ({"data": "B1:"}, "bad_range", "data"),
        ({"data": "1:200000"}, "too_large", "data"),
        ({"data": None}, "missing_field", "data"),
        ({"kind": "donut"}, "bad_value", "kind"),
        ({"kind": "pie"}, "op_conflict", "data"),
        ({"kind": "scatter"}, "bad_value", "data"),
        ({"kind": "pie", "data": "A1:B4", "stacking": "stacked"}, "op_conflict", "stacking"),
        ({"kind": "pie", "data": "A1:B4", "x_title": "x"}, "op_conflict", "x_title"),
        ({"x_min": 1}, "op_conflict", "x_min"),
        ({"y_min": 5, "y_max": 2}, "bad_value", "y_max"),
        ({"legend": "middle"}, "bad_value", "legend"),
        ({"cell": "F2:G9", "width": 100}, "op_conflict", "cell"),
        ({"cell": "here"}, "bad_range", "cell"),
        ({"width": 0}, "bad_value", "width"),
        ({"series": [{"values": "B2:C4"}], "data": None}, "bad_range", "series[0].values"),
        ({"series": [{"values": "A2:A4"}], "data": None}, "bad_range", "series[0].values"),
        ({"series": [{"values": "B2:B4"}]}, "op_conflict", "series"),
        ({"series": [], "data": None}, "missing_field", "series"),
        ({"categories": "A2:A4"}, "op_conflict", "categories"),
        ({"name": "12"}, "bad_value", "name"),
        ({"sheet": "Sale"}, "unknown_sheet", "sheet"),
        ({"title": "x" * 1001}, "bad_value", "title"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused_with_its_place(sales, tmp_path, fields, why, place):
    error = reason(sales, tmp_path / "out.xlsx", chart(**fields))

    assert error.reason == why
    assert str(error.detail).startswith(f"operations[0].{place}")


@pytest.mark.rule("F36.6", "F3.1")
def test_a_chart_of_empty_cells_is_answered_with_the_used_range(sales, tmp_path):
    error = reason(sales, tmp_path / "out.xlsx", chart(data="H1:J9"))

    assert error.hints == ("Sales!A1:C4",)


@pytest.mark.rule("F36.7")
def test_texts_errors_and_hidden_rows_among_values_are_said(tmp_path):
    path, out = tmp_path / "a.xlsx", tmp_path / "out.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write_column(0, 0, ["k", "a", "b", "c", "d"])
        sheet.write_column(0, 1, ["n", 1, "none", 3])
        sheet.write_formula(4, 1, "=1/0", None, "#DIV/0!")
        sheet.set_row(1, None, None, {"hidden": True})

    done = edit(source(path), out, chart(sheet="S", data="A1:B5"))

    assert {(w.code, w.count, w.where) for w in done.warnings} == {
        ("non_numeric_amounts", 1, "S!B2:B5"),
        ("error_cells", 1, "S!B2:B5"),
        ("hidden_cells", 1, "S!B2:B5"),
        ("hidden_cells", 1, "S!A2:A5"),
    }
    assert cached(root_of(out))[0]["val"] == ("S!$B$2:$B$5", "0", "3")


@pytest.mark.rule("F36.7")
def test_a_chart_over_filled_cells_says_so(sales, tmp_path):
    done = edit(sales, tmp_path / "out.xlsx", chart(cell="C3", width=100, height=30))

    assert done.warnings == (Warn("covers_cells", 2, "Sales!C3:D4"),)


@pytest.mark.rule("F36.1")
def test_charts_on_a_drawing_that_is_there_leave_every_other_byte_of_it(charted, tmp_path):
    out = tmp_path / "out.xlsx"
    name = "xl/drawings/drawing1.xml"
    before = parts(charted.path)[name]

    done = edit(charted, out, chart("line", cell="F40"), chart("area", cell="F60"))

    after = parts(out)[name]
    close = before.rindex(b"</xdr:wsDr>")
    assert after.startswith(before[:close])
    assert after.endswith(before[close:])
    assert after[close : -len(before[close:])].count(b"<xdr:oneCellAnchor") == 2
    assert "xl/worksheets/sheet1.xml" not in done.changed_parts
    assert [one["name"] for one in charts(out)] == ["Chart 1", "Chart 2", "Chart 3"]
    ids = [e.get("id") for e in etree.fromstring(after).iter("{*}cNvPr")]
    assert len(ids) == len(set(ids))


@pytest.mark.rule("F16.13")
def test_a_chart_put_in_the_place_of_another_is_what_was_asked_for(charted, tmp_path):
    out = tmp_path / "out.xlsx"
    (was,) = charts(charted.path)
    away = {"op": "delete_drawing", "sheet": "Sales", "name": was["name"]}

    done = edit(charted, out, away, chart("bar", name=was["name"], title="After"))

    assert charts(out)[0]["title"] == "After"
    assert done.effects.collateral == ()
    assert [one.aspect for one in done.effects.changed if one.kind == "chart"] == ["changed"]


@pytest.mark.rule("F36.1", "F23.11")
def test_a_strict_workbook_gets_a_strict_chart(corpora, tmp_path):
    base, out = source(corpora / "ooxml-odd" / "SampleSS.strict.xlsx"), tmp_path / "out.xlsx"
    sheet = mapped(base)["sheets"][0]
    used = sheet["used_range"]
    first = used["max_row"] + 2
    cells = [{"cell": f"A{first + at}", "value": at} for at in (0, 1)]
    data = f"A{first}:A{first + 1}"

    done = edit(base, out, {"op": "set_cells", "sheet": sheet["name"], "cells": cells},
                chart(sheet=sheet["name"], data=data, stacking="stacked"))  # fmt: skip

    held = parts(out)
    new = [name for name in held if name not in parts(base.path)]
    assert done.effects.collateral == ()
    assert not any(b"schemas.openxmlformats.org/drawingml" in held[name] for name in new)
    assert not any(b"2006/relationships/" in held[name] for name in new)
    assert b'overlap val="100%"' in held["xl/charts/chart1.xml"]
    edit(source(out), tmp_path / "bar.xlsx", change(sheet=sheet["name"], stacking="percent"))
    assert b'overlap val="100%"' in parts(tmp_path / "bar.xlsx")["xl/charts/chart1.xml"]
    assert charts(out)[0]["series"] == [{"values": f"'{sheet['name']}'!$A${first}:$A${first + 1}"}]


@pytest.mark.rule("F36.1")
def test_a_sheet_with_prefixes_gets_its_drawing_in_its_own_words(tmp_path):
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2"><v>2</v></c></row>'
    base, out = sheet_of(tmp_path / "a.xlsx", rows), tmp_path / "out.xlsx"
    held = parts(base.path)
    name = "xl/worksheets/sheet1.xml"
    data = held[name].decode()
    for word in ("worksheet", "dimension", "sheetViews", "sheetView", "sheetFormatPr", "sheetData",
                 "row", "c", "v", "pageMargins"):  # fmt: skip
        data = data.replace(f"<{word} ", f"<x:{word} ").replace(f"<{word}>", f"<x:{word}>")
        data = data.replace(f"</{word}>", f"</x:{word}>").replace(f"<{word}/>", f"<x:{word}/>")
    data = data.replace('xmlns="', 'xmlns:x="')
    rewrite(base.path, {**held, name: data.encode()})

    done = edit(source(base.path), out, chart(sheet="S", data="A1:A2"))

    assert done.effects.collateral == ()
    assert b"<x:drawing " in parts(out)[name]
    assert cached(root_of(out))[0]["val"] == ("S!$A$1:$A$2", "1", "2")
    assert len(seen(out, "S")) == 1


@pytest.mark.rule("F36.1", "F23.10")
def test_the_drawings_of_a_protected_sheet_stay(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        for name, options in (("Closed", {}), ("Open", {"objects": True})):
            sheet = file.add_worksheet(name)
            sheet.write_row(0, 0, [1, 2])
            sheet.protect("", options)
        alone = file.add_chartsheet("Alone")
        made = file.add_chart({"type": "line"})
        made.add_series({"values": "=Open!$A$1:$B$1"})
        alone.set_chart(made)
        alone.protect()

    error = reason(source(path), tmp_path / "no.xlsx", chart(sheet="Closed", data="A1:B1"))
    held = reason(source(path), tmp_path / "no.xlsx", change(sheet="Alone", title="x"))
    done = edit(source(path), tmp_path / "out.xlsx", chart(sheet="Open", data="A1:B1"))

    assert {error.reason, held.reason} == {"sheet_protected"}
    assert done.ops_applied == 1


@pytest.mark.rule("F36.1", "F16.14")
def test_a_planted_change_beside_a_chart_is_collateral(charted, tmp_path, monkeypatch):
    def planted(session: Session) -> None:
        package = session.book.package
        data = package.read("xl/drawings/drawing1.xml")
        package.put("xl/drawings/drawing1.xml", data.replace(b"a note", b"a lie"))
        data = package.read("xl/charts/chart1.xml")
        package.put("xl/charts/chart1.xml", data.replace(b"445566", b"665544"))

    monkeypatch.setattr(application, "fill_charts", planted)

    done = edit(charted, tmp_path / "out.xlsx", chart(cell="F40"), change(title="x"))

    told = {(one.kind, one.where) for one in done.effects.collateral}
    assert told == {("part", "xl/drawings/drawing1.xml"), ("part", "xl/charts/chart1.xml")}


@pytest.mark.rule("F36.1")
def test_a_chart_follows_what_later_operations_of_the_call_do(sales, tmp_path):
    out = tmp_path / "out.xlsx"

    done = edit(
        sales,
        out,
        chart(),
        {"op": "rename_sheet", "sheet": "Sales", "new_name": "My Sales"},
        {"op": "insert_rows", "sheet": "My Sales", "row": 1, "count": 2},
    )

    assert cached(root_of(out))[0]["val"] == ("'My Sales'!$B$4:$B$6", "10", "15", "7")
    assert charts(out)[0]["at"] == "F4:M18"
    assert done.effects.collateral == ()


# --- changing -----------------------------------------------------------------------------------


@pytest.mark.rule("F36.8", "F23.3")
def test_a_new_title_keeps_its_look_and_all_else_stays(charted, tmp_path):
    out = tmp_path / "out.xlsx"

    done = edit(charted, out, change(title="After & co"))

    assert done.changed_parts == ("xl/charts/chart1.xml",)
    old, new = parts(charted.path)["xl/charts/chart1.xml"], parts(out)["xl/charts/chart1.xml"]
    assert new.replace(b"After &amp; co", b"Before") == old
    assert done.changes[0][1] == "Sales: Chart 1 changed (title “After & co”)"
    assert [e.to_json() for e in done.effects.changed if e.kind == "chart"] == [
        {"kind": "chart", "where": "Sales!Chart 1", "aspect": "changed"}
    ]


@pytest.mark.rule("F36.8")
def test_other_data_keeps_the_looks_of_series_and_new_ones_look_alike(charted, tmp_path):
    more, out = tmp_path / "more.xlsx", tmp_path / "out.xlsx"
    edit(charted, more, {"op": "set_range", "sheet": "Sales", "start": "D1",
                         "values": [["East"], [1], [2], [3]]})  # fmt: skip

    edit(source(more), out, change(data="A1:D3"))

    root = root_of(out)
    sers = list(root.iter(f"{C}ser"))
    fills = [[c.get("val") for c in ser.findall(f"{C}spPr//{A}srgbClr")] for ser in sers]
    assert fills == [["112233"], ["445566"], []]
    assert [ser.find(f"{C}dLbls") is not None for ser in sers] == [True, True, True]
    assert [ser.find(f"{C}idx").get("val") for ser in sers] == ["0", "1", "2"]
    assert cached(root)[2] == {
        "tx": ("Sales!$D$1", "East"),
        "cat": ("Sales!$A$2:$A$3", "Jan", "Feb"),
        "val": ("Sales!$D$2:$D$3", "1", "2"),
    }
    assert misplaced(root) == []
    assert root.find(f".//{C}title") is not None


@pytest.mark.rule("F36.8")
def test_fewer_series_than_before_take_the_last_ones_off(charted, tmp_path):
    out = tmp_path / "out.xlsx"

    edit(charted, out, change(data="A1:B4"))

    assert [one["values"] for one in charts(out)[0]["series"]] == ["Sales!$B$2:$B$4"]


@pytest.mark.rule("F36.8", "F36.10")
@pytest.mark.parametrize("kind", [one for one in KINDS if one != "scatter"])
def test_another_kind_keeps_colours_labels_and_words(charted, tmp_path, kind):
    out, first = tmp_path / "out.xlsx", tmp_path / "first.xlsx"
    edit(charted, first, change(data="A1:B4"))

    done = edit(source(first), out, change(kind=kind))

    root = root_of(out)
    (told,) = charts(out)
    assert (told["type"], told["title"]) == (kind, "Before")
    assert done.effects.collateral == ()
    assert "112233" in [c.get("val") for c in root.find(f".//{C}ser").iter(f"{A}srgbClr")]
    assert root.find(f".//{C}ser/{C}dLbls") is not None
    places = {one.get("val") for one in root.iter(f"{C}dLblPos")}
    assert places <= ({"outEnd"} if kind in ("column", "bar", "pie") else set())
    assert misplaced(root) == []
    assert len(seen(out, "Sales")) == 1
    titles = [t.text for t in root.iter(f"{A}t")]
    assert titles == (["Before"] if kind == "pie" else ["Before", "Pieces"])


@pytest.mark.rule("F36.10")
def test_a_bar_chart_lies_on_its_side_with_its_axes(charted, tmp_path):
    out, back = tmp_path / "out.xlsx", tmp_path / "back.xlsx"

    edit(charted, out, change(kind="bar"))
    edit(source(out), back, change(kind="column"))

    def axes(path):
        return {e.tag[len(C) :]: e.find(f"{C}axPos").get("val") for e in root_of(path).iter()
                if e.find(f"{C}axPos") is not None}  # fmt: skip

    assert axes(out) == {"catAx": "l", "valAx": "b"}
    assert axes(back) == {"catAx": "b", "valAx": "l"}
    assert root_of(out).find(f".//{C}valAx//{A}bodyPr").get("rot") is None
    assert root_of(back).find(f".//{C}valAx//{A}bodyPr").get("rot") == "-5400000"
    assert root_of(back).find(f".//{C}valAx/{C}scaling/{C}max").get("val") == "40"


@pytest.mark.rule("F36.10")
def test_a_pie_gets_axes_when_it_becomes_columns_and_columns_lose_them(sales, tmp_path):
    pie, out = tmp_path / "pie.xlsx", tmp_path / "out.xlsx"
    edit(sales, pie, chart("pie", data="A1:B4"))

    edit(source(pie), out, change(kind="column", y_title="n"))

    root = root_of(out)
    links = [one.get("val") for one in root.find(f".//{C}barChart").findall(f"{C}axId")]
    axes = [one.get("val") for one in root.iter(f"{C}axId")][-2:]
    assert links == axes
    assert next(root.iter(f"{C}varyColors")).get("val") == "0"
    assert seen(out, "Sales")[0].y_axis.title.tx.rich.p[0].r[0].t == "n"


@pytest.mark.rule("F36.8")
def test_words_taken_away_and_ends_left_to_programs(charted, tmp_path):
    out = tmp_path / "out.xlsx"

    edit(charted, out, change(title="", y_title="", y_max="auto", legend="none"))

    root = root_of(out)
    assert root.find(f".//{C}title") is None
    assert root.find(f".//{C}autoTitleDeleted").get("val") == "1"
    assert root.find(f".//{C}valAx/{C}scaling/{C}max") is None
    assert root.find(f".//{C}legend") is None


@pytest.mark.rule("F36.8", "F36.10")
def test_what_a_chart_cannot_become_without_loss_is_refused(corpora, tmp_path):
    folder, out = corpora / "xlsx-features", tmp_path / "out.xlsx"

    def why(name: str, **fields: Any) -> tuple[str, str]:
        base = source(folder / name)
        sheet = next(s for s in mapped(base)["sheets"] if s["charts"])
        number = sheet["charts"][0]["number"]
        op = {"op": "change_chart", "sheet": sheet["name"], "chart": number, **fields}
        error = reason(base, out, op)
        return error.reason, error.message

    assert why("chart_combined03.xlsx", kind="line") == (
        "op_conflict", "it draws its series in several ways")  # fmt: skip
    assert why("chart_combined03.xlsx", data="A1:A5")[0] == "op_conflict"
    assert why("chart_errorbars01.xlsx", kind="pie")[0] == "op_conflict"
    assert why("chart_stock02.xlsx", kind="line")[0] == "op_conflict"
    assert why("chart_stock02.xlsx", data="A1:D5")[0] == "op_conflict"
    assert why("chart_pie03.xlsx", x_title="x")[0] == "op_conflict"


@pytest.mark.rule("F36.8", "F36.16")
def test_a_chart_is_named_by_its_name_or_its_number(charted, tmp_path):
    out = tmp_path / "out.xlsx"
    edit(charted, tmp_path / "two.xlsx", chart("line", cell="F40", name="Trend"))
    two = source(tmp_path / "two.xlsx")

    edit(two, out, change(chart="trend", title="a"), change(chart="1", title="b"))

    assert [one["title"] for one in charts(out)] == ["b", "a"]
    error = reason(two, tmp_path / "no.xlsx", change(chart="Trends", title="x"))
    assert (error.reason, error.hints[0]) == ("no_match", "2: chart Trend")
    assert reason(two, tmp_path / "no.xlsx", change(chart=3, title="x")).reason == "no_match"
    error = reason(two, tmp_path / "no.xlsx", chart(name="TREND"))
    assert error.reason == "name_conflict"


@pytest.mark.rule("F36.8")
def test_the_chart_of_a_chart_sheet_is_changed_and_stays_there(corpora, tmp_path):
    base, out = source(corpora / "xlsx-features" / "chartsheet02.xlsx"), tmp_path / "out.xlsx"
    sheet = next(s for s in mapped(base)["sheets"] if s["kind"] == "chartsheet")
    wish = {"sheet": sheet["name"], "chart": sheet["charts"][0]["number"]}

    done = edit(base, out, change(**wish, title="Whole", data="A1:A5", data_sheet="Sheet1"))
    gone = reason(base, tmp_path / "no.xlsx", {"op": "delete_drawing", "sheet": sheet["name"],
                                               "name": 1})  # fmt: skip
    new = reason(base, tmp_path / "no.xlsx", chart(sheet=sheet["name"], data="Sheet1!A1:A5"))

    assert done.effects.collateral == ()
    told = next(s for s in mapped(source(out))["sheets"] if s["kind"] == "chartsheet")["charts"]
    assert (told[0]["title"], told[0]["at"]) == ("Whole", None)
    assert {gone.reason, new.reason} == {"unsupported_format"}


@pytest.mark.rule("F36.8")
def test_an_empty_wish_is_answered_with_what_can_be_changed(charted, tmp_path):
    assert reason(charted, tmp_path / "no.xlsx", change()).reason == "missing_field"


# --- going --------------------------------------------------------------------------------------


@pytest.mark.rule("F36.13", "F23.1")
def test_a_deleted_chart_takes_its_parts_along_and_leaves_the_rest(charted, tmp_path):
    out = tmp_path / "out.xlsx"

    done = edit(charted, out, {"op": "delete_drawing", "sheet": "Sales", "name": "Chart 1"})

    held = parts(out)
    assert charts(out) == []
    assert not any("/charts/" in name for name in held)
    assert b"a note" in held["xl/drawings/drawing1.xml"]
    assert b"chart1.xml" not in held["[Content_Types].xml"]
    assert done.effects.collateral == ()
    assert done.changes[0][1] == "Sales: Chart 1 deleted"


@pytest.mark.rule("F36.13", "F23.7")
def test_a_chart_that_comes_and_goes_leaves_the_workbook_as_it_was(sales, tmp_path):
    once, out = tmp_path / "once.xlsx", tmp_path / "out.xlsx"
    edit(sales, once, chart(), chart("line", cell="F30"))
    gone = [{"op": "delete_drawing", "sheet": "Sales", "name": one} for one in ("Chart 2", 1)]

    edit(source(once), out, *gone)
    same = edit(sales, tmp_path / "same.xlsx", chart(), gone[1])

    assert orphans(out) == orphans(sales.path)
    assert set(parts(out)) == set(parts(sales.path))
    assert b"<drawing" not in parts(out)["xl/worksheets/sheet1.xml"]
    assert same.effects.collateral == ()
    assert set(parts(tmp_path / "same.xlsx")) == set(parts(sales.path))


@pytest.mark.rule("F23.8")
def test_a_chart_that_reads_back_differently_is_not_written(sales, tmp_path, monkeypatch):
    def broken(session: Session) -> None:
        package = session.book.package
        data = package.read("xl/charts/chart1.xml")
        package.put("xl/charts/chart1.xml", data.replace(b"barChart", b"lineChart"))

    monkeypatch.setattr(application, "fill_charts", broken)

    assert reason(sales, tmp_path / "no.xlsx", chart()).reason == "verify_failed"


@pytest.mark.rule("F5.9", "F8.2")
def test_a_chart_with_a_hostile_cache_is_listed(charted, tmp_path):
    held = parts(charted.path)
    name = "xl/charts/chart1.xml"
    data = held[name].replace(b'<c:ptCount val="1"/>', b'<c:ptCount val="999999999"/>')
    data = data.replace(b'<c:pt idx="0">', b'<c:pt idx="999999998">')
    rewrite(tmp_path / "hostile.xlsx", {**held, name: data})

    assert charts(tmp_path / "hostile.xlsx")[0]["type"] == "column"


@pytest.mark.rule("F36.8", "F36.13", "F8.13")
def test_a_chart_of_the_newer_sort_is_listed_and_deleted_but_not_changed(sales, tmp_path):
    made, newer, out = (tmp_path / f"{name}.xlsx" for name in ("made", "newer", "out"))
    edit(sales, made, chart())
    held = parts(made)
    drawing = held["xl/drawings/drawing1.xml"]
    space = b"http://schemas.microsoft.com/office/drawing/2014/chartex"
    start, end = drawing.index(b"<xdr:graphicFrame"), drawing.index(b"</xdr:graphicFrame>") + 19
    frame = drawing[start:end].replace(
        b"http://schemas.openxmlformats.org/drawingml/2006/chart", space
    )
    choice = (
        b'<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/'
        b'2006"><mc:Choice Requires="cx1">' + frame + b"</mc:Choice><mc:Fallback><xdr:sp/>"
        b"</mc:Fallback></mc:AlternateContent>"
    )
    waterfall = (
        b'<cx:chartSpace xmlns:cx="' + space + b'"><cx:chartData><cx:data id="0"><cx:numDim '
        b'type="val"><cx:f>Sales!$B$2:$B$4</cx:f></cx:numDim></cx:data></cx:chartData><cx:chart>'
        b'<cx:plotArea><cx:series layoutId="waterfall"/></cx:plotArea></cx:chart></cx:chartSpace>'
    )
    rewrite(newer, {
        **held,
        "xl/drawings/drawing1.xml": drawing[:start] + choice + drawing[end:],
        "xl/charts/chart1.xml": waterfall,
    })  # fmt: skip

    (told,) = charts(newer)
    error = reason(source(newer), tmp_path / "no.xlsx", change(title="x"))
    done = edit(source(newer), out, {"op": "delete_drawing", "sheet": "Sales", "name": "Chart 1"})

    assert (told["type"], told["refs"]) == ("waterfall", ["Sales!$B$2:$B$4"])
    assert error.reason == "unsupported_format"
    assert set(parts(out)) == set(parts(sales.path))
    assert done.effects.collateral == ()
