"""What stands around cells and in other parts follows inserted and deleted lines."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from PIL import Image

from backshop.formats.protocol import Source

from .books import book, lines, members, source
from .test_lines import do, part, refused, rewritten

SHEET = "xl/worksheets/sheet1.xml"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELS = "http://schemas.openxmlformats.org/package/2006/relationships"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.xlsx"


def made(path: Path, draw: Any, *, rows: int = 12) -> Source:
    """A workbook with numbers in A1:F12 of the sheet S, a sheet Other, and what `draw` adds."""
    with xlsxwriter.Workbook(str(path)) as file:
        sheet, other = file.add_worksheet("S"), file.add_worksheet("Other")
        for r in range(rows):
            for c in range(6):
                sheet.write(r, c, (r + 1) * 10 + c)
        draw(file, sheet, other)
    return source(path)


def with_parts(path: Path, *parts: tuple[str, str, str], main: str = "") -> Source:
    """Add parts that the first sheet leads to: name, kind of relationship, content."""
    with zipfile.ZipFile(path) as file:
        held = {info.filename: file.read(info).decode("utf-8") for info in file.infolist()}
    rels = "xl/worksheets/_rels/sheet1.xml.rels"
    line = f'<Relationships xmlns="{RELS}"></Relationships>'
    held.setdefault(rels, line)
    for number, (name, kind, content) in enumerate(parts):
        held[name] = content
        relation = f'<Relationship Id="new{number}" Type="{kind}" Target="/{name}"/>'
        held[rels] = held[rels].replace("</Relationships>", relation + "</Relationships>")
        said = f'<Override PartName="/{name}" ContentType="application/xml"/>'
        types = held["[Content_Types].xml"]
        held["[Content_Types].xml"] = types.replace("</Types>", said + "</Types>")
    if main:
        held["xl/workbook.xml"] = held["xl/workbook.xml"].replace("<calcPr", main + "<calcPr")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in held.items():
            file.writestr(name, content)
    return source(path)


def plain(path: Path, **_: Any) -> Source:
    return book(path, ("S", [[r * 10 + c for c in range(6)] for r in range(1, 13)]))


# --- around the cells -------------------------------------------------------------------------


@pytest.mark.rule("F35.2")
def test_merges_grow_shrink_and_vanish(tmp_path, out):
    def draw(_: Any, sheet: Any, __: Any) -> None:
        for area in ("H2:I4", "H6:I6", "H8:H9", "K1:L1"):
            sheet.merge_range(area, "m")

    base = made(tmp_path / "a.xlsx", draw)

    def merges(op: str, **fields: Any) -> list[str]:
        do(base, out, op, sheet="S", **fields)
        return re.findall(r'<mergeCell ref="([^"]+)"', part(out, SHEET))

    assert merges("insert_rows", row=3, count=2) == ["H2:I6", "H8:I8", "H10:H11", "K1:L1"]
    assert merges("delete_rows", **{"from": 4, "to": 8}) == ["H2:I3", "K1:L1"]
    assert merges("insert_columns", column="I") == ["H2:J4", "H6:J6", "H8:H9", "L1:M1"]
    assert merges("delete_columns", **{"from": "H"}) == ["H2:H4", "J1:K1"]
    assert '<mergeCells count="2">' in part(out, SHEET)


@pytest.mark.rule("F35.2", "F35.11")
def test_rules_follow_with_formulas_that_mean_the_same_cells(tmp_path, out):
    def draw(file: Any, sheet: Any, other: Any) -> None:
        bold = file.add_format({"bold": 1})

        def rule(where: Any, area: str, formula: str) -> None:
            where.conditional_format(area, {"type": "formula", "criteria": formula, "format": bold})

        rule(sheet, "A2:A9", "=A2>$F$8")
        rule(sheet, "B2:B9", "=B2<>B3")
        rule(sheet, "C8", "=C8>D2")
        rule(other, "A1:A2", "=S!A8>1")
        sheet.data_validation("D2:D9", {"validate": "list", "source": "=$F$2:$F$9"})
        sheet.data_validation("E8", {"validate": "custom", "value": "=A8>1"})

    base = made(tmp_path / "a.xlsx", draw)

    def rules(op: str, **fields: Any) -> list[tuple[str, str]]:
        do(base, out, op, sheet="S", **fields)
        both = part(out, SHEET) + part(out, "xl/worksheets/sheet2.xml")
        found = re.findall(r'sqref="([^"]+)"[^>]*>(?:<cfRule[^>]*>)?<formula1?>([^<]*)<', both)
        return [(area, text.replace("&gt;", ">").replace("&lt;", "<")) for area, text in found]

    assert rules("insert_rows", row=3, count=2) == [
        ("A2:A11", "A2>$F$10"),
        ("B2:B11", "B2<>B3"),  # the distance, as in a fill
        ("C10", "C10>D2"),
        ("D2:D11", "$F$2:$F$11"),
        ("E10", "A10>1"),
        ("A1:A2", "S!A10>1"),
    ]
    assert rules("delete_rows", **{"from": 2, "to": 3}) == [
        ("A2:A7", "A2>$F$6"),  # the first cell is another now
        ("B2:B7", "B2<>B3"),
        ("C6", "C6>#REF!"),
        ("D2:D7", "$F$2:$F$7"),
        ("E6", "A6>1"),
        ("A1:A2", "S!A6>1"),
    ]
    assert rules("delete_rows", **{"from": 8, "to": 9})[-1] == ("A1:A2", "#REF!>1")
    assert '<dataValidations count="1">' in part(out, SHEET)


@pytest.mark.rule("F35.2")
def test_filters_orders_links_breaks_and_ignored_errors_follow(tmp_path, out):
    def draw(_: Any, sheet: Any, __: Any) -> None:
        sheet.autofilter("A1:F10")
        sheet.filter_column("C", "x > 3")
        sheet.write_url("A9", "internal:S!A8", string="go")
        sheet.write_url("A10", "https://example.org/")
        sheet.set_h_pagebreaks([2, 7])
        sheet.set_v_pagebreaks([3])
        sheet.ignore_errors({"number_stored_as_text": "A1:A9 C9"})

    base = made(tmp_path / "a.xlsx", draw)
    order = '<sortState ref="A2:F10"><sortCondition ref="C2:C10"/></sortState></autoFilter>'
    base = rewritten(base.path, SHEET, ("</autoFilter>", order))

    do(base, out, "insert_rows", sheet="S", row=3, count=2)
    xml = part(out, SHEET)
    assert '<autoFilter ref="A1:F12">' in xml
    assert '<sortState ref="A2:F12"><sortCondition ref="C2:C12"/>' in xml
    assert 'ref="A11" location="S!A8"' in xml
    assert re.findall(r'<brk id="(\d+)"', xml) == ["4", "9", "3"]
    assert 'sqref="A1:A11 C11"' in xml
    do(base, out, "insert_columns", sheet="S", column="B")
    assert '<filterColumn colId="3">' in part(out, SHEET)
    do(base, out, "delete_columns", sheet="S", **{"from": "A"})
    assert '<autoFilter ref="A1:E10"><filterColumn colId="1">' in part(out, SHEET)
    do(base, out, "delete_rows", sheet="S", **{"from": 8, "to": 10})
    assert "hyperlink" not in part(out, SHEET)
    assert '<rowBreaks count="1" manualBreakCount="1">' in part(out, SHEET)
    error = refused(base, out.with_name("no.xlsx"), "delete_columns", sheet="S", **{"from": "C"})
    assert (error.reason, "column C" in error.message) == ("op_conflict", True)


@pytest.mark.rule("F35.2")
def test_views_keep_what_they_hold_still_and_show(tmp_path, out):
    def draw(_: Any, sheet: Any, __: Any) -> None:
        sheet.freeze_panes(2, 1)
        sheet.set_selection("C5:D6")

    base = made(tmp_path / "a.xlsx", draw)

    def view(op: str, **fields: Any) -> tuple[str, str]:
        do(base, out, op, sheet="S", **fields)
        xml = part(out, SHEET)
        panes = re.findall(r"<pane ([^>]*?)(?: activePane[^>]*)?/>", xml)
        return (panes or [""])[0], re.findall(r'sqref="([^"]+)"', xml)[-1]

    assert view("insert_rows", row=2) == ('xSplit="1" ySplit="3" topLeftCell="B4"', "C6:D7")
    assert view("insert_rows", row=3) == ('xSplit="1" ySplit="2" topLeftCell="B3"', "C6:D7")
    assert view("insert_columns", column=1)[0] == 'xSplit="2" ySplit="2" topLeftCell="C3"'
    assert view("delete_rows", **{"from": 1}) == ('xSplit="1" ySplit="1" topLeftCell="B2"', "C4:D5")
    assert view("delete_rows", **{"from": 1, "to": 2})[0] == 'xSplit="1" topLeftCell="B1"'
    assert view("delete_rows", **{"from": 5, "to": 6})[1] == "C5"


@pytest.mark.rule("F35.2")
def test_names_follow_where_a_dollar_holds_them(tmp_path, out):
    def draw(file: Any, sheet: Any, _: Any) -> None:
        file.define_name("fixed", "=S!$A$8:$B$9")
        file.define_name("near", "=S!A8")
        file.define_name("half", "=S!$A8")
        sheet.print_area("A1:F10")
        sheet.repeat_rows(7)
        sheet.repeat_columns("A:B")

    base = made(tmp_path / "a.xlsx", draw)

    def names(op: str, **fields: Any) -> dict[str, str]:
        do(base, out, op, sheet="S", **fields)
        return dict(
            re.findall(r'<definedName name="([^"]+)"[^>]*>([^<]*)<', part(out, "xl/workbook.xml"))
        )

    assert names("insert_rows", row=3) == {
        "_xlnm.Print_Area": "S!$A$1:$F$11",
        "_xlnm.Print_Titles": "S!$A:$B,S!$9:$9",
        "fixed": "S!$A$9:$B$10",
        "half": "S!$A8",
        "near": "S!A8",
    }
    assert names("insert_columns", column=1) == {
        "_xlnm.Print_Area": "S!$B$1:$G$10",
        "_xlnm.Print_Titles": "S!$B:$C,S!$8:$8",
        "fixed": "S!$B$8:$C$9",
        "half": "S!$B8",
        "near": "S!A8",
    }
    gone = names("delete_rows", **{"from": 8, "to": 9})
    assert (gone["fixed"], gone["_xlnm.Print_Titles"]) == ("#REF!", "S!$A:$B")


@pytest.mark.rule("F35.2")
def test_sparklines_and_bars_of_newer_excel_follow(tmp_path, out):
    def draw(_: Any, sheet: Any, other: Any) -> None:
        sheet.add_sparkline("J7", {"range": "S!A7:F7"})
        other.add_sparkline("A5", {"range": "S!A7:F7"})
        bar = {"type": "data_bar", "data_bar_2010": True, "min_type": "formula"}
        sheet.conditional_format("B2:B9", {**bar, "min_value": "=$D$8"})

    base = made(tmp_path / "a.xlsx", draw)

    do(base, out, "insert_rows", sheet="S", row=3)
    texts = re.findall(r"<xm:(?:f|sqref)>([^<]*)<", part(out, SHEET))
    assert texts == ["$D$9", "B2:B10", "S!A8:F8", "J8"]
    assert "<xm:f>S!A8:F8</xm:f>" in part(out, "xl/worksheets/sheet2.xml")
    do(base, out, "delete_rows", sheet="S", **{"from": 7})
    assert "sparkline" not in part(out, SHEET)
    assert "<xm:f>#REF!</xm:f>" in part(out, "xl/worksheets/sheet2.xml")


@pytest.mark.rule("F35.2")
def test_rarer_places_of_a_sheet_follow(tmp_path, out):
    base = plain(tmp_path / "a.xlsx")
    more = (
        '<protectedRanges><protectedRange sqref="A5:B6 C9" name="p"/></protectedRanges>'
        '<scenarios sqref="A8"><scenario name="x" count="2">'
        '<inputCells r="A5" val="1"/><inputCells r="B9" val="2"/></scenario></scenarios>'
        '<dataConsolidate><dataRefs count="1"><dataRef ref="A5:B9" sheet="S"/></dataRefs>'
        "</dataConsolidate>"
    )
    behind = '<cellWatches><cellWatch r="A5"/><cellWatch r="C9"/></cellWatches>'
    base = rewritten(
        base.path,
        SHEET,
        ("</sheetData>", f"</sheetData>{more}"),
        ("</worksheet>", f"{behind}</worksheet>"),
    )

    do(base, out, "insert_rows", sheet="S", row=3)
    xml = part(out, SHEET)
    assert 'sqref="A6:B7 C10"' in xml
    assert '<scenarios sqref="A9"><scenario name="x" count="2"><inputCells r="A6"' in xml
    assert '<dataRef ref="A6:B10"' in xml
    assert '<cellWatch r="A6"/><cellWatch r="C10"/>' in xml
    do(base, out, "delete_rows", sheet="S", **{"from": 5, "to": 6})
    xml = part(out, SHEET)
    assert 'sqref="C7"' in xml
    assert '<scenario name="x" count="1"><inputCells r="B7"' in xml
    assert '<cellWatches><cellWatch r="C7"/></cellWatches>' in xml


# --- other parts ------------------------------------------------------------------------------


@pytest.mark.rule("F35.2", "F35.11")
def test_charts_show_the_same_cells_and_keep_their_values(tmp_path, out):
    def draw(file: Any, _: Any, other: Any) -> None:
        chart = file.add_chart({"type": "column"})
        chart.add_series(
            {
                "name": "=S!$B$1",
                "values": "=S!$B$2:$B$5",
                "values_data": [20, 30, 40, 50],
                "categories": "=S!$A$2:$A$5",
                "categories_data": ["a", "b", "c", "d"],
            }
        )
        other.insert_chart("B2", chart)

    base = made(tmp_path / "a.xlsx", draw)

    def chart(op: str, **fields: Any) -> tuple[list[str], list[str]]:
        do(base, out, op, sheet="S", **fields)
        xml = part(out, "xl/charts/chart1.xml")
        kept = re.findall(r'<c:ptCount val="(\d+)"/>|<c:pt idx="(\d+)"><c:v>(\w+)', xml)
        return re.findall(r"<c:f>([^<]*)<", xml), ["".join(one) for one in kept]

    refs, kept = chart("insert_rows", row=4)
    assert refs == ["S!$B$1", "S!$A$2:$A$6", "S!$B$2:$B$6"]
    assert kept[-5:] == ["5", "020", "130", "340", "450"]
    refs, kept = chart("delete_rows", **{"from": 3})
    assert (refs[-1], kept[-4:]) == ("S!$B$2:$B$4", ["3", "020", "140", "250"])
    refs, kept = chart("delete_columns", **{"from": "B"})
    assert refs == ["#REF!", "S!$A$2:$A$5", "#REF!"]
    assert kept == ["4", "0a", "1b", "2c", "3d"]  # nobody knows the others


@pytest.mark.rule("F35.2", "F35.12")
def test_notes_stay_with_their_cells_and_go_with_them(tmp_path, out):
    def draw(_: Any, sheet: Any, __: Any) -> None:
        sheet.write_comment("B8", "below")
        sheet.write_comment("C2", "above")

    base = made(tmp_path / "a.xlsx", draw)

    do(base, out, "insert_rows", sheet="S", row=3, count=2)
    assert re.findall(r'<comment ref="(\w+)"', part(out, "xl/comments1.xml")) == ["C2", "B10"]
    shapes = part(out, "xl/drawings/vmlDrawing1.vml")
    assert re.findall(r"<x:Row>(\d+)</x:Row>", shapes) == ["1", "9"]
    assert [one.split(", ")[2] for one in re.findall(r"<x:Anchor>\s*([^<]*)<", shapes)] == [
        "0",
        "8",
    ]
    done = do(base, out, "delete_columns", sheet="S", **{"from": "B"})
    assert re.findall(r'<comment ref="(\w+)"', part(out, "xl/comments1.xml")) == ["B2"]
    assert part(out, "xl/drawings/vmlDrawing1.vml").count("<v:shape ") == 1
    assert [(w.code, w.count) for w in done.warnings] == [("content_removed", 1)]


@pytest.mark.rule("F35.2")
def test_threads_and_cells_bound_to_xml_follow(tmp_path, out):
    base = plain(tmp_path / "a.xlsx")
    threads = (
        '<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/'
        'threadedcomments"><threadedComment ref="B8" id="{1}"><text>x</text></threadedComment>'
        '<threadedComment ref="C2" id="{2}"><text>y</text></threadedComment></ThreadedComments>'
    )
    bound = f'<singleXmlCells xmlns="{MAIN}"><singleXmlCell id="1" r="A8"/></singleXmlCells>'
    base = with_parts(
        base.path,
        ("xl/threadedComments/threadedComment1.xml", f"{OFFICE}/threadedComment", threads),
        ("xl/tables/tableSingleCells1.xml", f"{OFFICE}/tableSingleCells", bound),
    )

    done = do(base, out, "insert_rows", sheet="S", row=3)
    read = part(out, "xl/threadedComments/threadedComment1.xml")
    assert re.findall(r'ref="(\w+)"', read) == ["B9", "C2"]
    assert 'r="A9"' in part(out, "xl/tables/tableSingleCells1.xml")
    assert done.effects.collateral == ()
    do(base, out, "delete_rows", sheet="S", **{"from": 8})
    read = part(out, "xl/threadedComments/threadedComment1.xml")
    assert re.findall(r'ref="(\w+)"', read) == ["C2"]


def _drawing(path: Path, **options: Any) -> Source:
    picture = io.BytesIO()
    Image.new("RGB", (64, 60), "red").save(picture, "PNG")

    def draw(_: Any, sheet: Any, __: Any) -> None:
        sheet.insert_image("B4", "x.png", {"image_data": picture, **options})

    return made(path, draw)


def _rows_of(path: Path) -> list[int]:
    return [int(n) for n in re.findall(r"<xdr:row>(\d+)<", part(path, "xl/drawings/drawing1.xml"))]


@pytest.mark.rule("F35.11", "F35.12")
@pytest.mark.parametrize(
    ("position", "above", "inside", "gone"),
    [(1, [5, 8], [3, 8], [3, 3]), (2, [5, 8], [3, 6], [3, 6]), (3, [3, 6], [3, 6], [3, 6])],
)
def test_objects_move_and_size_with_their_cells_as_they_are_set(
    tmp_path, out, position, above, inside, gone
):
    base = _drawing(tmp_path / "a.xlsx", object_position=position)
    assert _rows_of(base.path) == [3, 6]

    do(base, out, "insert_rows", sheet="S", row=2, count=2)
    assert _rows_of(out) == above
    do(base, out, "insert_rows", sheet="S", row=5, count=2)
    assert _rows_of(out) == inside
    done = do(base, out, "delete_rows", sheet="S", **{"from": 3, "to": 8})
    assert [n - min(_rows_of(out)) for n in _rows_of(out)] == [n - min(gone) for n in gone]
    assert ("content_removed" in [w.code for w in done.warnings]) is (position == 1)


@pytest.mark.rule("F35.2", "F35.11")
def test_an_object_that_keeps_its_place_is_measured_by_the_heights_of_rows(tmp_path, out):
    base = _drawing(tmp_path / "a.xlsx", object_position=3)
    base = rewritten(base.path, SHEET, ('<row r="2"', '<row r="2" ht="60" customHeight="1"'))

    do(base, out, "delete_rows", sheet="S", **{"from": 2})

    assert _rows_of(out) == [6, 9]  # 60 points are four rows


@pytest.mark.rule("F35.2")
def test_texts_of_shapes_controls_and_queries_follow_their_cells(tmp_path, out):
    def draw(_: Any, sheet: Any, __: Any) -> None:
        sheet.insert_textbox("H2", "t", {"textlink": "=$A$8"})

    base = made(tmp_path / "a.xlsx", draw)
    control = (
        '<formControlPr xmlns="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" '
        'objectType="CheckBox" fmlaLink="$B$8" fmlaRange="Other!$A$1:$A$3"/>'
    )
    base = with_parts(base.path, ("xl/ctrlProps/ctrlProp1.xml", f"{OFFICE}/ctrlProp", control))
    connection = (
        f'<connections xmlns="{MAIN}"><connection id="1"><parameters count="1">'
        '<parameter name="p" cell="S!$A$8"/></parameters></connection></connections>'
    )
    with zipfile.ZipFile(base.path, "a") as file:
        file.writestr("xl/connections.xml", connection)
    base = source(base.path)

    done = do(base, out, "insert_rows", sheet="S", row=3)

    assert 'textlink="$A$9"' in part(out, "xl/drawings/drawing1.xml")
    assert 'fmlaLink="$B$9" fmlaRange="Other!$A$1:$A$3"' in part(out, "xl/ctrlProps/ctrlProp1.xml")
    assert 'cell="S!$A$9"' in part(out, "xl/connections.xml")
    assert done.effects.collateral == ()


PIVOT = (
    f'<pivotTableDefinition xmlns="{MAIN}" name="P" cacheId="1"><location ref="H5:I9" '
    'firstHeaderRow="1" firstDataRow="1" firstDataCol="1" rowPageCount="1" colPageCount="1"/>'
    '<pageFields count="1"><pageField fld="0"/></pageFields></pivotTableDefinition>'
)
CACHE = (
    f'<pivotCacheDefinition xmlns="{MAIN}"><cacheSource type="worksheet">'
    '<worksheetSource ref="A1:F12" sheet="S"/></cacheSource></pivotCacheDefinition>'
)


@pytest.mark.rule("F35.2", "F35.3")
def test_pivot_tables_move_as_a_whole_and_their_source_with_its_rows(tmp_path, out):
    base = with_parts(
        plain(tmp_path / "a.xlsx").path,
        ("xl/pivotTables/pivotTable1.xml", f"{OFFICE}/pivotTable", PIVOT),
        ("xl/pivotCache/pivotCacheDefinition1.xml", f"{OFFICE}/pivotCacheDefinition", CACHE),
    )
    no = out.with_name("no.xlsx")

    do(base, out, "insert_rows", sheet="S", row=2)
    assert 'ref="H6:I10"' in part(out, "xl/pivotTables/pivotTable1.xml")
    assert 'ref="A1:F13"' in part(out, "xl/pivotCache/pivotCacheDefinition1.xml")
    for op, fields in (
        ("insert_rows", {"row": 4}),  # between what it is filtered by and its cells
        ("insert_rows", {"row": 7}),
        ("delete_rows", {"from": 3, "to": 10}),
        ("delete_rows", {"from": 1}),  # the header of its source
        ("insert_columns", {"column": "C"}),
        ("delete_columns", {"from": "A"}),
    ):
        assert refused(base, no, op, sheet="S", **fields).reason == "op_conflict", (op, fields)
    do(base, out, "insert_columns", sheet="S", column="G")
    assert 'ref="I5:J9"' in part(out, "xl/pivotTables/pivotTable1.xml")


@pytest.mark.rule("F35.7")
def test_a_part_nobody_knows_that_names_places_is_refused(tmp_path, out):
    strange = '<strange xmlns="urn:vendor"><mark ref="A5"/></strange>'
    base = with_parts(
        plain(tmp_path / "a.xlsx").path, ("xl/strange.xml", "urn:vendor/strange", strange)
    )

    error = refused(base, out, "insert_rows", sheet="S", row=2)

    assert (error.reason, "xl/strange.xml" in error.message) == ("op_conflict", True)


@pytest.mark.rule("F35.2", "F24.2")
def test_the_order_of_calculation_is_dropped(tmp_path, out):
    base = book(tmp_path / "a.xlsx", ("S", [[1, "=A1|1"], [2, "=A2|2"]]))
    with zipfile.ZipFile(base.path) as file:
        held = {info.filename: file.read(info).decode() for info in file.infolist()}
    held["xl/calcChain.xml"] = f'<calcChain xmlns="{MAIN}"><c r="B2" i="1"/></calcChain>'
    rels = "xl/_rels/workbook.xml.rels"
    line = f'<Relationship Id="c1" Type="{OFFICE}/calcChain" Target="calcChain.xml"/>'
    held[rels] = held[rels].replace("</Relationships>", line + "</Relationships>")
    with zipfile.ZipFile(base.path, "w") as file:
        for name, content in held.items():
            file.writestr(name, content)

    done = do(source(base.path), out, "insert_rows", sheet="S", row=2)

    assert "xl/calcChain.xml" not in members(out)
    assert done.effects.collateral == ()
    assert lines(out, cells="both") == ["1\t1\t1 {=A1}", "2", "3\t2\t2 {=A3}"]
