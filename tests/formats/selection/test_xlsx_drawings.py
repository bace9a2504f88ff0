"""Charts and pictures of workbooks one by one: taken or left, nothing over and nothing lost."""

from __future__ import annotations

import re
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from backshop.formats import ChangeUnit, xlsx
from backshop.formats.protocol import Source

from ..xlsx.books import book, edit, mapped, opened, source
from ..xlsx.drawn import (
    MONTHS,
    cached,
    change,
    chart,
    charts,
    orphans,
    parts,
    picture,
    rewrite,
    root_of,
)

SET = {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "B2", "value": 99}]}
IMAGE = {"op": "add_image", "sheet": "Sales", "cell": "A20", "image": "logo.png"}


@pytest.fixture
def sales(tmp_path) -> Source:
    return book(tmp_path / "a.xlsx", ("Sales", MONTHS), ("Other", [["x"], [1]]))


@pytest.fixture
def made(sales, tmp_path):
    """Return what carries operations out on a workbook, and gives the file after."""
    logo = picture(tmp_path / "logo.png")
    count = iter(range(100))

    def make(base: Source, *operations: Any) -> Source:
        out = tmp_path / f"made{next(count)}.xlsx"
        edit(base, out, *operations, files={"logo.png": logo})
        return source(out)

    return make


def labels(units: list[ChangeUnit]) -> list[str]:
    return [one.label for one in units]


def composed(before: Source, after: Source, left_out: list[str], out: Path) -> Path:
    """Write the file with every change but those with these labels."""
    units = xlsx.separate(before, after)
    ids = {one.label: one.id for one in units}
    xlsx.compose(before, after, frozenset(ids[label] for label in left_out), out)
    return out


def choices(units: list[ChangeUnit]) -> list[tuple[str, ...]]:
    names = labels(units)
    return list(chain.from_iterable(combinations(names, n) for n in range(1, len(names))))


@pytest.mark.rule("F36.14", "F34.1", "F34.2", "F34.4")
def test_every_chart_and_picture_that_came_is_taken_or_left_by_itself(sales, made, tmp_path):
    after = made(sales, chart(), chart("line", cell="F20", name="Trend"), IMAGE, SET)
    units = xlsx.separate(sales, after)

    told = [(u.kind, u.group, u.label, u.after) for u in units if u.kind == "shape"]
    assert told == [
        ("shape", "structure", "Chart 1 on Sales added",
         "column of Sales!B2:B4, Sales!C2:C4, at F2"),
        ("shape", "structure", "Picture 1 on Sales added", "40 x 20 pixels, at A20"),
        ("shape", "structure", "chart Trend on Sales added",
         "line of Sales!B2:B4, Sales!C2:C4, at F20"),
    ]  # fmt: skip
    assert len(units) == 4
    for left in choices(units):
        out = composed(sales, after, list(left), tmp_path / "out.xlsx")
        sheet = mapped(source(out))["sheets"][0]
        shown = {*(c["name"] for c in sheet["charts"]), *(i["name"] for i in sheet["images"])}
        gone = {"Chart 1", "Trend", "Picture 1"} - shown
        assert gone == {label.removeprefix("chart ").partition(" on ")[0] for label in left
                        if " on " in label}  # fmt: skip
        assert orphans(out) == orphans(sales.path)
        assert any("/media/" in name for name in parts(out)) == ("Picture 1" in shown)
        opened(out)
    assert xlsx.separate(sales, after) == units


@pytest.mark.rule("F36.14", "F34.8")
def test_a_removal_left_out_leaves_the_chart_as_it_was_under_its_name(sales, made, tmp_path):
    before = made(sales, chart(), chart("pie", data="A1:B4", cell="F20"), IMAGE)
    gone = [{"op": "delete_drawing", "sheet": "Sales", "name": name} for name in (1, 1, 1)]
    after = made(before, *gone, SET)
    units = xlsx.separate(before, after)

    for left in choices(units):
        out = composed(before, after, list(left), tmp_path / "out.xlsx")
        held, was = parts(out), parts(before.path)
        kept = {label.partition(" on ")[0] for label in left}
        assert ("xl/charts/chart1.xml" in held) == ("Chart 1" in kept)
        assert held.get("xl/charts/chart2.xml") == (
            was["xl/charts/chart2.xml"] if "Chart 2" in kept else None
        )
        assert ("xl/drawings/drawing1.xml" in held) == bool(kept - {"Sales!B2"})
        assert orphans(out) == orphans(before.path)
    assert len(units) == 4


@pytest.mark.rule("F36.14", "F36.9", "F34.6")
def test_a_chart_that_came_shows_the_cells_of_the_result(sales, made, tmp_path):
    after = made(sales, SET, chart())

    out = composed(sales, after, ["Sales!B2"], tmp_path / "out.xlsx")

    assert cached(root_of(Path(after.path)))[0]["val"] == ("Sales!$B$2:$B$4", "99", "15", "7")
    assert cached(root_of(out))[0]["val"] == ("Sales!$B$2:$B$4", "10", "15", "7")


@pytest.mark.rule("F36.14", "F36.15")
def test_a_changed_chart_is_one_change_told_in_words(sales, made, tmp_path):
    before = made(sales, chart(title="Old"), chart("line", cell="F20"))
    after = made(before, change(title="New", kind="area", data="A1:B4"), SET)
    units = xlsx.separate(before, after)

    (unit,) = (one for one in units if one.kind == "shape")
    assert (unit.label, unit.group) == ("Chart 1 on Sales", "values")
    assert unit.after == (
        "kind column → area; title “Old” → “New”; "
        "cells Sales!B2:B4, Sales!C2:C4 → Sales!B2:B4"
    )  # fmt: skip
    out = composed(before, after, ["Chart 1 on Sales"], tmp_path / "out.xlsx")
    assert charts(out)[0]["title"] == "Old"
    assert parts(out)["xl/charts/chart1.xml"] == parts(before.path)["xl/charts/chart1.xml"]
    out = composed(before, after, ["Sales!B2"], tmp_path / "out.xlsx")
    assert (charts(out)[0]["title"], charts(out)[0]["type"]) == ("New", "area")
    assert [one["type"] for one in charts(out)] == ["area", "line"]


@pytest.mark.rule("F36.14", "F34.7")
def test_a_chart_is_tied_to_a_sheet_that_came_with_its_data(sales, made):
    data = {"op": "set_range", "sheet": "New", "start": "A1", "values": [["k", "n"], ["a", 1]]}
    after = made(
        sales,
        {"op": "ensure_sheet", "sheet": "New"},
        data,
        chart(data="New!A1:B2"),
        chart("line", cell="F30"),
        chart("line", sheet="New", data="A1:B2", cell="D2"),
    )

    units = xlsx.separate(sales, after)

    assert sorted(labels(units)) == [
        "Chart 2 on Sales added",
        "sheet New added and Chart 1 on Sales added",
    ]


@pytest.mark.rule("F36.14", "F34.7")
def test_charts_on_a_sheet_that_got_another_name_are_still_parted(sales, made, tmp_path):
    before = made(sales, chart())
    renamed = {"op": "rename_sheet", "sheet": "Sales", "new_name": "Turnover"}
    after = made(before, chart("pie", data="A1:B4", cell="F20"), change(title="T"), renamed)
    units = xlsx.separate(before, after)

    assert sorted(labels(units)) == [
        "Chart 1 on Turnover",
        "Chart 2 on Turnover added",
        "sheet Turnover renamed",
    ]
    for left in choices(units):
        out = composed(before, after, list(left), tmp_path / "out.xlsx")
        name = "Sales" if "sheet Turnover renamed" in left else "Turnover"
        refs = {s["values"].partition("!")[0] for c in charts(out) for s in c["series"]}
        assert refs == {name}


@pytest.mark.rule("F36.14", "F34.4")
def test_other_things_on_a_drawing_stay_with_the_rest(sales, made, tmp_path):
    before = made(sales, chart())
    held = parts(before.path)
    name = "xl/drawings/drawing1.xml"
    box = (
        b'<xdr:absoluteAnchor><xdr:pos x="0" y="0"/><xdr:ext cx="9" cy="9"/><xdr:sp macro="" '
        b'textlink=""><xdr:nvSpPr><xdr:cNvPr id="50" name="Box"/><xdr:cNvSpPr/></xdr:nvSpPr>'
        b"<xdr:spPr/></xdr:sp><xdr:clientData/></xdr:absoluteAnchor>"
    )
    close = held[name].rindex(b"</xdr:wsDr>")
    rewrite(tmp_path / "b.xlsx", {**held, name: held[name][:close] + box + held[name][close:]})
    after = made(source(tmp_path / "b.xlsx"), IMAGE, change(title="T"))

    units = xlsx.separate(before, after)

    assert [(u.kind, u.label) for u in units] == [
        ("shape", "Chart 1 on Sales"),
        ("shape", "Picture 1 on Sales added"),
        ("part", "charts and pictures on sheet Sales: drawings"),
    ]
    for left in choices(units):
        out = composed(before, after, list(left), tmp_path / "out.xlsx")
        data = parts(out)[name]
        assert (b'name="Box"' in data) == (units[2].label not in left)
        assert (b"Picture 1" in data) == (units[1].label not in left)


@pytest.fixture(params=["a link that is lost", "another chart", "a part of no chart"])
def clicked(request, tmp_path) -> tuple[Source, Source]:
    """Return a workbook whose picture has a link, and after it one whose click leads elsewhere.

    openpyxl leaves the id of a link it lost, so that it names whatever has that id then.
    """
    before, after = tmp_path / "clicked.xlsx", tmp_path / "written-anew.xlsx"
    link, has_chart = {"url": "https://example.org"}, request.param != "a link that is lost"
    with xlsxwriter.Workbook(str(before)) as made:
        sheet = made.add_worksheet("S")
        sheet.write_column("A1", [1, 2, 3])
        sheet.insert_image("E9", str(picture(tmp_path / "red.png").path), link)
        if has_chart:
            drawn = made.add_chart({"type": "column"})
            drawn.add_series({"values": "=S!$A$1:$A$3"})
            sheet.insert_chart("E20", drawn)
            sheet.insert_textbox("M2", "words", link)
    anew = opened(before)
    anew["S"]["B2"] = "by another"
    anew.save(str(after))
    if request.param == "a part of no chart":  # and another one than before
        held = parts(after)
        drawing, text = held["xl/drawings/drawing1.xml"], held["xl/worksheets/sheet1.xml"]
        held["xl/drawings/drawing1.xml"] = re.sub(
            rb"<twoCell.*?</twoCellAnchor>", b"", drawing, count=1
        )
        rewrite(before, held)
        held["xl/charts/chart1.xml"] = held["xl/charts/chart1.xml"].replace(b'"col"', b'"bar"')
        held["xl/worksheets/sheet1.xml"] = text.replace(b"by another", b"by a third")
        rewrite(after, held)
    return source(before), source(after)


@pytest.mark.rule("F36.14", "F34.1", "F34.2")
def test_a_picture_is_taken_or_left_with_what_its_click_opens(clicked, tmp_path):
    before, after = clicked
    units = xlsx.separate(before, after)
    ids = {one.label: one.id for one in units}
    assert "Picture 1 on S" in ids
    some = [*([one] for one in ids), *(set(ids) - {one} for one in ids)]

    for left_out in some:
        out = composed(before, after, list(left_out), tmp_path / "out.xlsx")

        stay = {one for label, one in ids.items() if label not in left_out}
        assert {one.id for one in xlsx.separate(before, source(out))} == stay
        assert not orphans(out)
        out.unlink()


@pytest.mark.rule("F36.15", "B12.22")
def test_a_review_says_in_words_what_came_changed_and_went(sales, made):
    before = made(sales, chart(title="Old", legend="none"), IMAGE)
    gone = {"op": "delete_drawing", "sheet": "Sales", "name": "Picture 1"}
    after = made(before, change(title="New", legend="top", y_max=9), gone, chart(
        "pie", data="A1:B4", cell="F20", title="Parts"))  # fmt: skip

    def said(one: Source, two: Source) -> list[str]:
        found: Any = xlsx.diff_rest(one, two)
        return [entry["text"] for entry in found["rest"]]

    assert said(before, after) == [
        "Chart 1 on sheet Sales: title “Old” → “New”; legend none → top; "
        "ends of axes auto → y auto to 9",
        "charts and pictures on sheet Sales: "
        "Chart 2 added: pie “Parts” of Sales!B2:B4, at F20; "
        "Picture 1 removed: 40 x 20 pixels, at A20",
    ]
    assert said(sales, before) == [
        "charts and pictures on sheet Sales added: "
        "Chart 1: column “Old” of Sales!B2:B4, Sales!C2:C4, at F2; "
        "Picture 1: 40 x 20 pixels, at A20"
    ]


@pytest.mark.rule("B12.22")
def test_a_colour_beside_a_new_title_is_not_passed_over(sales, made, tmp_path):
    before = made(sales, chart(title="Old"))
    after = made(before, change(title="New"))
    held = parts(after.path)
    name = "xl/charts/chart1.xml"
    painted = held[name].replace(b"BFBFBF", b"FF0000")
    rewrite(tmp_path / "b.xlsx", {**held, name: painted})

    found: Any = xlsx.diff_rest(before, source(tmp_path / "b.xlsx"))

    (entry,) = found["rest"]
    assert entry["what"][0] == "title “Old” → “New”"
    assert "colours and look" in entry["what"]
