"""Workbooks that are no xlsx packages: read like one, never written (F40.10-F40.15)."""

from __future__ import annotations

import random
import struct
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.data.make_workbooks import make_sheets

from backshop.base.limits import TRANSCRIPT_MAX_CELLS
from backshop.formats import Formats, TextQuery, xlsx
from backshop.formats.errors import REASONS, FormatError
from backshop.formats.protocol import OpsRequest, Selector, Source
from backshop.formats.xlsx.book.opening import open_book
from backshop.formats.xlsx.book.transcript.open_formula import plain_formula

from . import binary_books as made
from .binary_books import biff, cell, narrow, place, record, row, sheet, tokens, wide
from .books import lines, mapped, source

DATA = Path(__file__).parents[2] / "data"
SAVED = ("sheets.ods", "sheets.xls")
ODS_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document-content '
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" '
    'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0">'
)


@pytest.fixture
def original(tmp_path: Path) -> Source:
    make_sheets(tmp_path / "sheets.xlsx")
    return source(tmp_path / "sheets.xlsx")


@pytest.fixture(scope="module")
def formats() -> Iterator[Formats]:
    with Formats(workers=1, plugins={}) as door:
        yield door


def saved(name: str) -> Source:
    return source(DATA / name)


def reason_of(act: Any) -> str:
    with pytest.raises(FormatError) as caught:
        act()
    return caught.value.reason


def ods(path: Path, body: str, styles: str = "", others: dict[str, bytes] | None = None) -> Source:
    """Write a spreadsheet whose sheets are these, letter by letter."""
    text = f"{ODS_HEAD}<office:automatic-styles>{styles}</office:automatic-styles><office:body>"
    text += f"<office:spreadsheet>{body}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("content.xml", text + "</office:document-content>")
        for name, data in (others or {}).items():
            file.writestr(name, data)
    return source(path)


def one_sheet(rows: str, name: str = "S") -> str:
    return f'<table:table table:name="{name}">{rows}</table:table>'


# --- what all of them have in common -------------------------------------------------------------


@pytest.mark.rule("F40.10", "F40.12", "F8.9", "F8.10")
@pytest.mark.parametrize("name", SAVED)
def test_cells_read_as_those_of_the_workbook_they_were_saved_from(original, name):
    for shown in ("Sales", "It's 2nd", "Empty", "Hidden"):
        for cells in ("values", "formulas", "both"):
            selector = Selector(sheet=shown, cells=cells)
            found = xlsx.read(saved(name), selector)

            assert found.text == xlsx.read(original, selector).text
            assert found.format == name.rpartition(".")[2]


@pytest.mark.rule("F40.10", "F40.13", "F8.2")
@pytest.mark.parametrize("name", SAVED)
def test_a_map_says_what_is_there_and_what_was_not_looked_for(original, name):
    found, like = mapped(saved(name)), mapped(original)

    assert found["not_read"] == ["looks", "charts", "pictures", "comments", "rules for cells"]
    unknown = {"has_charts", "charts", "has_images", "images", "has_comments", "frozen", "tables"}
    unknown |= {"has_conditional_formatting", "has_data_validation", "has_pivot_tables"}
    unknown |= {"has_slicers", "has_sparklines", "has_print_setup"}
    for sheet_, other in zip(found["sheets"], like["sheets"], strict=True):
        assert {key for key, value in sheet_.items() if value is None} >= unknown
        known = sheet_.keys() - unknown
        assert {key: sheet_[key] for key in known} == {key: other[key] for key in known}


@pytest.mark.rule("F40.10", "F25.1", "F33.1", "F29.4", "F29.1", "F8.12")
@pytest.mark.parametrize("name", SAVED)
def test_tables_searches_grids_and_lines_read_them_too(formats, original, name):
    file = formats.source(DATA / name)

    assert formats.get_info(file)["sheets"] == formats.get_info(original)["sheets"]
    table = formats.open_table(file, "Sales", "A1:E61")
    asked = 'SELECT sum(Amount) AS s, max(Day) AS d, max("When") AS w FROM data'
    assert table.query(asked)["rows"] == [[2287.5, "2023-05-14", "2023-03-22T12:00:00"]]
    assert table.get_map()["format"] == name.rpartition(".")[2]
    found = formats.search(file, TextQuery(text="item 59"))
    assert [one["range"] for one in found.places] == ["B60"]
    assert formats.extract_lines(file) == formats.extract_lines(original)
    grid: Any = formats.extract_grid(file, "It's 2nd", 0, 0, 10, 5)
    assert grid["cells"][0][3]["display"] == "#DIV/0!"
    assert grid["merges"] == ["A5:C6"]
    changed: Any = formats.diff_cells(file, original)
    assert [
        cell for one in changed["sheets"] for cell in one["cells"] if cell["kind"] != "style"
    ] == []


@pytest.mark.rule("F40.15", "F23.9")
@pytest.mark.parametrize("name", ["a.ods", "a.ots", "a.xls", "a.xlt", "a.xlsb"])
def test_they_are_never_written_and_the_answer_says_what_can_be_done(formats, tmp_path, name):
    request = OpsRequest(
        name=name, operations=[{"op": "ensure_sheet", "sheet": "x"}], create_new=True
    )
    table = formats.open_table(formats.source(DATA / "sheets.xls"))
    update = {"target": name, "sheet": "S", "mode": "append_rows"}
    calls = {
        "ops": lambda: formats.apply_ops(None, request, tmp_path / "o"),
        "text": lambda: formats.write_text(None, name, "x", tmp_path / "o"),
        "export": lambda: table.write("table_export", tmp_path / "o", target=name, format_="xlsx"),
        "update": lambda: table.write(
            "table_update_from_export", tmp_path / "o", base=None, update=update
        ),
    }
    for call in calls.values():
        with pytest.raises(FormatError) as caught:
            call()
        assert caught.value.reason == "read_only_format"
        assert "table_export" in caught.value.hints[0]
        assert not (tmp_path / "o").exists()


@pytest.mark.rule("F40.13", "F34.30", "F29.9")
def test_a_changed_one_is_one_change_and_its_review_says_what_is_not_compared(formats, tmp_path):
    before = formats.source(DATA / "sheets.ods")
    body = one_sheet(
        '<table:table-row><table:table-cell office:value-type="float" office:value="1"/>'
        "</table:table-row>"
    )
    after = ods(tmp_path / "sheets.ods", body)

    (unit,) = formats.separate(before, after)
    notes = formats.review_notes(before, after)
    rest: Any = formats.diff_rest(before, after)["rest"]

    assert unit.kind == "file"
    assert notes == [
        "Of a .ods file these are neither shown nor compared: looks, charts, pictures, comments, "
        "rules for cells."
    ]
    assert [one["text"] for one in rest] == ["what is not in its cells was not compared"]
    assert reason_of(lambda: formats.get_styles(before)) == "unsupported_format"


@pytest.mark.rule("F2.1", "F2.4", "F40.15")
def test_a_web_page_that_is_called_xls_is_text(formats, tmp_path):
    path = tmp_path / "report.xls"
    path.write_text("Name;Amount\nx;1\ny;2\nz;3\na;4\nb;5\n")
    file = formats.source(path)

    assert formats.classify(file).kind == "text"
    assert formats.read(file).text.startswith("Name;Amount")
    assert formats.open_table(file).query("SELECT sum(Amount) AS s FROM data")["rows"] == [[15]]
    assert formats.get_info(file)["writable"] is False


@pytest.mark.rule("F40.14", "F3.2", "F4")
@pytest.mark.parametrize("ending", ["ods", "xls", "xlsb"])
def test_a_damaged_one_is_refused_with_a_reason(tmp_path, ending, scaled):
    base = whole_xlsb(tmp_path / "base.xlsb") if ending == "xlsb" else DATA / f"sheets.{ending}"
    parts = _unpacked(base)
    chance = random.Random(ending)
    outcomes: dict[str, int] = {}
    for number in range(scaled(60, 1500)):
        path = tmp_path / f"damaged.{ending}"
        name = chance.choice(sorted(parts))
        data = bytearray(parts[name])
        for _ in range(chance.randint(1, 6)):
            data[chance.randrange(len(data))] = chance.choice(
                (0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256))
            )
        if number % 7 == 0:
            del data[chance.randrange(len(data)) :]
        _packed(path, {**parts, name: bytes(data)})
        try:
            xlsx.get_map(source(path))
            xlsx.extract_lines(source(path))
            found = "read"
        except FormatError as error:
            assert error.reason in REASONS
            found = error.reason
        outcomes[found] = outcomes.get(found, 0) + 1

    assert outcomes["read"] > 0


def _unpacked(path: Path) -> dict[str, bytes]:
    if not zipfile.is_zipfile(path):
        return {"": path.read_bytes()}
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def _packed(path: Path, parts: dict[str, bytes]) -> None:
    if "" in parts:
        path.write_bytes(parts[""])
        return
    with zipfile.ZipFile(path, "w") as file:
        for name, data in parts.items():
            file.writestr(name, data)


# --- .ods ----------------------------------------------------------------------------------------


@pytest.mark.rule("F40.11")
def test_an_ods_says_its_values_as_they_are_meant(tmp_path):
    cells = (
        '<table:table-cell office:value-type="boolean" office:boolean-value="true"/>'
        '<table:table-cell office:value-type="percentage" office:value="0.5"/>'
        '<table:table-cell office:value-type="currency" office:value="12.5"/>'
        '<table:table-cell office:value-type="date" office:date-value="1850-02-03T00:00:00"/>'
        '<table:table-cell office:value-type="date" office:date-value="2024-01-02T03:04:05.678"/>'
        '<table:table-cell office:value-type="time" office:time-value="-P1DT01H02M03S"/>'
        '<table:table-cell office:value-type="string"><office:annotation><text:p>note</text:p>'
        '</office:annotation><text:p>a<text:s text:c="3"/>b<text:tab/>c</text:p><text:p>'
        "<text:span>d<text:line-break/>e</text:span> f</text:p></table:table-cell>"
        '<table:table-cell office:value-type="string" office:string-value="given"/>'
        '<table:table-cell table:formula="of:=1/0" office:value-type="string" '
        'office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p>'
        '</table:table-cell><table:table-cell table:formula="of:=[.A1]"/>'
        '<table:table-cell office:value-type="string"><text:p>_x0041_ &amp;</text:p>'
        "</table:table-cell>"
    )
    found = ods(tmp_path / "a.ods", one_sheet(f"<table:table-row>{cells}</table:table-row>"))

    assert lines(found.path, cells="both") == [
        "1\tTRUE\t0.5\t12.5\t1850-02-03\t2024-01-02T03:04:05.678\t-25:02:03\ta   b\\tc\\nd\\ne f\t"
        "given\t#DIV/0! {=1/0}\t{=A1}\t_x0041_ &"
    ]


@pytest.mark.rule("F40.11", "F8.11")
def test_repeated_cells_and_rows_of_an_ods_stand_where_they_belong(tmp_path):
    number = 'office:value-type="float" office:value="{}"'
    rows = (
        "<table:table-header-rows><table:table-row>"
        f'<table:table-cell table:number-columns-repeated="2" {number.format(1)}/>'
        '<table:table-cell table:number-columns-repeated="1000"/>'
        f"<table:table-cell {number.format(2)}/></table:table-row></table:table-header-rows>"
        '<table:table-row table:number-rows-repeated="3"><table:table-cell '
        f'table:number-columns-spanned="2" table:number-rows-spanned="1" {number.format(3)}/>'
        "<table:covered-table-cell/></table:table-row><table:table-row "
        'table:number-rows-repeated="1048571"><table:table-cell/></table:table-row>'
    )
    found = mapped(ods(tmp_path / "a.ods", one_sheet(rows)))["sheets"][0]

    assert found["used_range"] == {"min_row": 1, "max_row": 4, "min_col": 1, "max_col": 1003}
    assert found["merged_ranges"] == ["A2:B2"]
    assert lines(tmp_path / "a.ods", range="A1:C5") == ["1\t1\t1", "2\t3", "3\t3", "4\t3", "5"]


@pytest.mark.rule("F40.11", "F8.2", "F4.4")
def test_an_ods_tells_hidden_and_protected_sheets_names_and_macros(tmp_path):
    style = (
        '<style:style style:name="ta2" style:family="table">'
        '<style:table-properties table:display="false"/></style:style>'
    )
    body = (
        '<table:table table:name="A"/><table:table table:name="B" table:style-name="ta2" '
        'table:protected="true"/><table:named-expressions><table:named-range table:name="Total" '
        'table:base-cell-address="$A.$A$1" table:cell-range-address="$\'A b\'.$A$1:.$B$2"/>'
        "</table:named-expressions>"
    )
    found = mapped(ods(tmp_path / "a.ods", body, style, {"Basic/script": b"x"}))

    assert [(one["state"], one["protected"] is not False) for one in found["sheets"]] == [
        ("visible", False),
        ("hidden", True),
    ]
    assert found["defined_names"] == [{"name": "Total", "refers_to": "'A b'!$A$1:$B$2"}]
    assert found["security"] == {"macros": True}


NUMBER_FORMATS = """
<number:percentage-style style:name="N1"><number:number number:decimal-places="1"
 number:min-decimal-places="1" number:min-integer-digits="1"/><number:text>%</number:text>
</number:percentage-style>
<number:currency-style style:name="N2P0"><number:number number:decimal-places="2"
 number:min-integer-digits="1" number:grouping="true"/><number:text> </number:text>
 <number:currency-symbol>€</number:currency-symbol></number:currency-style>
<number:currency-style style:name="N2"><number:text>-</number:text><number:number
 number:decimal-places="2" number:min-integer-digits="1" number:grouping="true"/>
 <number:text> "</number:text><number:currency-symbol>€</number:currency-symbol>
 <style:map style:condition="value()&gt;=0" style:apply-style-name="N2P0"/></number:currency-style>
<number:date-style style:name="N3"><number:day number:style="long"/><number:text>. </number:text>
 <number:month number:textual="true"/><number:text> </number:text><number:year/>
</number:date-style>
<number:time-style style:name="N4" number:truncate-on-overflow="false"><number:hours/>
 <number:text>:</number:text><number:minutes number:style="long"/></number:time-style>
<number:number-style style:name="N5"><number:number number:decimal-places="0"
 number:min-integer-digits="5"><number:embedded-text number:position="2">-</number:embedded-text>
 </number:number></number:number-style>
<number:number-style style:name="N6"><number:scientific-number number:decimal-places="2"
 number:min-integer-digits="1" number:min-exponent-digits="2"/></number:number-style>
<number:number-style style:name="N7"><number:fraction number:min-integer-digits="0"
 number:min-numerator-digits="1" number:denominator-value="8"/></number:number-style>
<number:date-style style:name="N8"><number:quarter/></number:date-style>
<number:number-style style:name="N9"><number:number number:decimal-places="99999"
 number:min-integer-digits="99999"/></number:number-style>
<style:style style:name="c1" style:family="table-cell" style:data-style-name="N1"/>
<style:style style:name="c2" style:family="table-cell" style:parent-style-name="c2b"/>
<style:style style:name="c2b" style:family="table-cell" style:data-style-name="N2"/>
<style:style style:name="round" style:family="table-cell" style:parent-style-name="round"/>
""" + "".join(
    f'<style:style style:name="c{n}" style:family="table-cell" style:data-style-name="N{n}"/>'
    for n in range(3, 10)
)


@pytest.mark.rule("F40.22")
def test_a_grid_of_an_ods_shows_numbers_as_their_formats_say(tmp_path):
    def number(style, value, more=""):
        named = f' table:style-name="{style}"' if style else ""
        return f'<table:table-cell{named} office:value-type="float" office:value="{value}"{more}/>'

    cells = [
        number("", 0.125),  # as its column is
        number("c1", 0.125),
        number("c2", 1234.5),
        number("c2", -1234.5),
        '<table:table-cell table:style-name="c3" office:value-type="date"'
        ' office:date-value="2026-02-03"/>',
        '<table:table-cell table:style-name="c4" office:value-type="time"'
        ' office:time-value="PT36H30M00S"/>',
        number("c5", 12345),
        number("c6", 12345),
        number("c7", 2.25),
        '<table:table-cell table:style-name="c8" office:value-type="date"'
        ' office:date-value="2026-02-03"/>',
        number("c9", 1.5),
        number("round", 1.5),
    ]
    columns = (
        '<table:table-column table:default-cell-style-name="c1"/>'
        '<table:table-column table:number-columns-repeated="1023"/>'
    )
    body = one_sheet(columns + f"<table:table-row>{''.join(cells)}</table:table-row>")

    grid: Any = xlsx.extract_grid(ods(tmp_path / "a.ods", body, NUMBER_FORMATS), "S", 0, 0, 1, 12)

    assert [cell["display"] for cell in grid["cells"][0]][:10] == [
        *("12.5%", "12.5%", "1,234.50 €", '-1,234.50 "€', "03. Feb 26", "36:30"),
        *("123-45", "1.23E+04", "2 2/8", "2026-02-03"),
    ]
    assert grid["cells"][0][10]["display"] == "0" * 39 + "1.5" + "0" * 39
    assert grid["cells"][0][11]["display"] == "1.5"


@pytest.mark.rule("F40.14", "F4.2")
def test_an_ods_that_would_fill_the_memory_or_is_locked_is_refused(tmp_path):
    value, rows = 'office:value-type="float" office:value="1"', TRANSCRIPT_MAX_CELLS // 16_384 + 1
    many = (
        f'<table:table-row table:number-rows-repeated="{rows}"><table:table-cell '
        f'table:number-columns-repeated="16384" {value}/></table:table-row>'
    )
    locked = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/>'
        "</manifest:file-entry></manifest:manifest>"
    )
    files = {
        "too_large": ods(tmp_path / "a.ods", one_sheet(many)),
        "encrypted_file": ods(
            tmp_path / "b.ods", "", others={"META-INF/manifest.xml": locked.encode()}
        ),
        "content_mismatch": ods(tmp_path / "c.ods", "<text:p/>"),
    }
    (tmp_path / "d.ods").write_bytes(files["too_large"].path.read_bytes()[:-30])

    for reason, file in files.items():
        assert reason_of(lambda file=file: xlsx.get_map(file)) == reason
    assert reason_of(lambda: xlsx.get_map(source(tmp_path / "d.ods"))) == "corrupt_file"


@pytest.mark.rule("F40.11")
@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("of:=[.A1]+[.$B$2]", "A1+$B$2"),
        ("of:=SUM([.A1:.B3];[$'My ''s'.A1:.B2])", "SUM(A1:B3,'My ''s'!A1:B2)"),
        ("of:=SUM([$Jan.A1:$Mar.A1])", "SUM('Jan:Mar'!A1:A1)"),
        ('of:=IF([.A1]="x;[.B1]";{1;2|"a;b";4};1)', 'IF(A1="x;[.B1]",{1,2;"a;b",4},1)'),
        ("of:=SUM([.A1:.B2]~[.C1]![.C1:.D2])", "SUM(A1:B2,C1 C1:D2)"),
        ("of:=[.#REF!]+#N/A+#VALUE!", "#REF!+#N/A+#VALUE!"),
        ("of:=COM.MICROSOFT.CONCAT([.A:.A])", "CONCAT(A:A)"),
        ("msoxl:=SUM(A1;B1)", "SUM(A1;B1)"),
        ("of:=SUM(['file:///x.ods'#$S.A1])", "SUM(['file:///x.ods'#$S.A1])"),
        ("no formula", "no formula"),
    ],
)
def test_a_formula_of_an_ods_is_said_as_excel_says_it(written, plain):
    assert plain_formula(written) == plain


# --- .xlsb ---------------------------------------------------------------------------------------

A1_TIMES_2 = struct.pack("<BIH", 0x44, 0, 0xC000) + b"\x1e\2\0\x05"
LEFT_TIMES_2 = struct.pack("<BIH", 0x4C, 0, 0xC000 | 0x3FFF) + b"\x1e\2\0\x05"
OTHER_SUM = struct.pack("<BHIIHH", 0x3B, 0, 0, 1, 0x0000, 0xC001) + b"\x22\1\4\0"


def whole_xlsb(path: Path, *, date_1904: bool = False) -> Path:
    """A workbook with every kind of cell."""

    def number(col: int, value: float, look: int = 0) -> bytes:
        return record(5, cell(col, look) + struct.pack("<d", value))

    first = sheet(
        row(
            0,
            record(7, cell(0) + struct.pack("<I", 1)),
            number(1, 1.5),
            record(2, cell(2) + struct.pack("<I", 7 << 2 | 2)),
            record(2, cell(3) + struct.pack("<I", 1234 << 2 | 3)),
            record(2, cell(4) + struct.pack("<I", (-5 << 2 & 0xFFFFFFFF) | 2)),
            record(4, cell(5) + b"\1"),
            record(3, cell(6) + b"\7"),
            record(6, cell(7) + wide("own \x01 text")),
            number(8, 45000.25, 1),
            record(1, cell(9)),
            record(62, cell(10) + b"\1" + wide("rich") + struct.pack("<IHH", 1, 0, 0)),
        ),
        row(
            2,
            record(9, cell(0) + struct.pack("<d", 3.0) + tokens(A1_TIMES_2)),
            record(8, cell(1) + wide("t") + tokens(b"\x17\1\0t\0")),
            record(10, cell(2) + b"\1" + tokens(b"\x1d\1")),
            record(11, cell(3) + b"\x2a" + tokens(b"\x1c\x2a")),
            record(9, cell(4) + struct.pack("<d", 2.0) + tokens(*_expanded(2, 4))),
            record(427, struct.pack("<5I", 2, 3, 4, 4, len(LEFT_TIMES_2)) + LEFT_TIMES_2),
            record(9, cell(5) + struct.pack("<d", 8.0) + tokens(OTHER_SUM)),
            record(9, cell(6) + struct.pack("<d", 8.0) + tokens(b"\x23\1\0\0\0")),
            record(9, cell(7) + struct.pack("<d", 8.0) + tokens(b"\x18\x19\0\0")),
        ),
        row(3, record(9, cell(4) + struct.pack("<d", 4.0) + tokens(*_expanded(2, 4)))),
        behind=record(176, struct.pack("<IIII", 4, 5, 0, 1)),
    )
    names = record(39, struct.pack("<IBI", 0, 0, 0xFFFFFFFF) + wide("Total") + tokens(A1_TIMES_2))
    names += record(353) + record(357) + record(362, struct.pack("<Iiii", 1, 0, 1, 1)) + record(354)
    locked = record(535, struct.pack("<HH", 0xBEEF, 1) + bytes(60))
    return made.xlsb(
        path,
        ("First", first),
        ("It's", sheet(row(0, number(0, 8.0)), behind=locked)),
        ("Third", sheet()),
        strings=("zero", "one \U0001f600"),
        formats=((164, "yyyy-mm-dd hh:mm"),),
        looks=(0, 164),
        names=names,
        date_1904=date_1904,
    )


def _expanded(row_: int, col: int) -> tuple[bytes, bytes]:
    return struct.pack("<BI", 1, row_), struct.pack("<I", col)


@pytest.mark.rule("F40.12", "F8.10")
@pytest.mark.parametrize(("date_1904", "day"), [(False, "2023-03-15"), (True, "2027-03-16")])
def test_an_xlsb_says_its_values_and_formulas(tmp_path, date_1904, day):
    path = whole_xlsb(tmp_path / "a.xlsb", date_1904=date_1904)

    assert lines(path, sheet="First", cells="both") == [
        "1\tone \U0001f600\t1.5\t7\t12.34\t-5\tTRUE\t#DIV/0!\town \x01 text\t"
        f"{day}T06:00:00\t\trich",
        "2",
        '3\t3 {=A1*2}\tt {="t"}\tTRUE {=TRUE}\t#N/A {=#N/A}\t2 {=D3*2}\t'
        "8 {=SUM('It''s'!$A$1:B2)}\t8 {=Total}\t8 {=(not read)}",
        "4\t\t\t\t\t4 {=D4*2}",
    ]
    found = mapped(source(path))
    assert [one["state"] for one in found["sheets"]] == ["visible", "visible", "hidden"]
    assert found["sheets"][0]["merged_ranges"] == ["A5:B6"]
    assert found["sheets"][0]["formula_count"] == 9
    assert [one["protected"] is not False for one in found["sheets"]] == [False, True, False]
    assert found["date_system"] == (1904 if date_1904 else 1900)


@pytest.mark.rule("F40.12", "F4.1", "F2.4")
def test_an_xlsb_is_scanned_before_it_is_read(tmp_path):
    bomb = tmp_path / "a.xlsb"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.bin", bytes(40 << 20))
    locked = tmp_path / "b.xlsb"
    locked.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))

    assert reason_of(lambda: xlsx.read(source(bomb), Selector())) == "archive_bomb"
    assert reason_of(lambda: xlsx.read(source(locked), Selector())) == "encrypted_file"


# --- .xls ----------------------------------------------------------------------------------------


def strings_record(*pieces: bytes) -> bytes:
    """The list of texts, cut into records where the pieces end."""
    head, *more = pieces
    return biff(0xFC, struct.pack("<II", 9, 4) + head) + b"".join(biff(0x3C, one) for one in more)


@pytest.mark.rule("F40.12")
def test_texts_of_an_xls_may_be_cut_anywhere(tmp_path):
    wide_text = "\u00e9\u4e2d\u6587".encode("utf-16-le")
    strings = strings_record(
        narrow("plain") + struct.pack("<HB", 7, 0) + b"wi",  # cut inside, and wider afterwards
        b"\1" + "d\u0119r?!".encode("utf-16-le") + struct.pack("<HBHI", 3, 0x0D, 2, 5),
        b"\1" + wide_text + bytes(6),  # the runs are cut too, without a byte before
        bytes(2) + b"extra" + narrow("last"),
    )
    cells = b"".join(biff(0xFD, place(at, 0) + struct.pack("<I", at)) for at in range(4))
    path = made.compound(tmp_path / "a.xls", made.stream(("S", cells), before=strings))

    assert lines(path) == ["1\tplain", "2\twid\u0119r?!", "3\t\u00e9\u4e2d\u6587", "4\tlast"]


@pytest.mark.rule("F40.12", "F8.10", "F24.6")
def test_an_xls_says_its_values_and_formulas(tmp_path):
    rk = struct.pack("<HI", 0, 3 << 2 | 2) + struct.pack("<HI", 0, 250 << 2 | 3)
    near = struct.pack("<BHH", 0x4C, 0, 0xC0FF) + b"\x1e\2\0\x05"
    anchor = struct.pack("<BHH", 1, 2, 4)
    number = struct.pack("<d", 4.0)
    cells = b"".join(
        (
            biff(0x0203, place(0, 0, 1) + struct.pack("<d", 45000.0)),
            biff(0xBD, struct.pack("<HH", 0, 1) + rk + struct.pack("<H", 2)),
            biff(0x0205, place(0, 3) + b"\1\0"),
            biff(0x0205, place(0, 4) + b"\x2a\1"),
            biff(0x0204, place(0, 5) + narrow("label")),
            biff(0x0809, struct.pack("<HHHH", 0x0600, 0x20, 0, 0)),  # a chart inside
            biff(0x0203, place(7, 7) + number),
            biff(0x0A),
            made.formula(place(1, 0), made.special(0), b"\x17\1\0t"),
            biff(0x0207, narrow("text")),
            made.formula(place(1, 1), made.special(1, 1), b"\x1d\1"),
            made.formula(place(1, 2), made.special(2, 7), b"\x1c\7"),
            made.formula(place(1, 3), made.special(3), b"\x17\0\0"),
            made.formula(place(1, 4), number, b"\x3a\0\0\0\0\0\xc0\x14"),
            made.formula(place(1, 5), number, b"\x23\1\0\0\0\x1f" + number + b"\3"),
            made.formula(place(2, 4), number, anchor),
            biff(0x04BC, struct.pack("<HHBBBBH", 2, 3, 4, 4, 0, 2, len(near)) + near),
            made.formula(place(3, 4), number, anchor),
            biff(0xE5, struct.pack("<HHHHH", 1, 5, 6, 0, 1)),
            biff(0x12, b"\1\0"),
        )
    )
    before = b"".join(
        (
            biff(0x041E, struct.pack("<H", 164) + narrow("dd.mm.yyyy")),
            biff(0xE0, struct.pack("<HH", 0, 0) + bytes(16)),
            biff(0xE0, struct.pack("<HH", 0, 164) + bytes(16)),
            biff(0x01AE, struct.pack("<HH", 1, 0x0401)),
            biff(0x17, struct.pack("<HHhh", 1, 0, 1, 1)),
            biff(0x18, struct.pack("<HBBHHHI", 0, 0, 4, 0, 0, 0, 0) + b"\0Rate"),
        )
    )
    book = made.stream(("S", cells), ("It's", b""), ("Third", b""), before=before)
    path = made.compound(tmp_path / "a.xls", book)

    assert lines(path, sheet="S", cells="both") == [
        "1\t2023-03-15\t3\t2.5\tTRUE\t#N/A\tlabel",
        '2\ttext {="t"}\tTRUE {=TRUE}\t#DIV/0! {=#DIV/0!}\t {=""}\t'
        "4 {='It''s'!A1%}\t4 {=Rate+4}",
        "3\t\t\t\t\t4 {=D3*2}",
        "4\t\t\t\t\t4 {=D4*2}",
    ]
    found = mapped(source(path))
    assert [one["state"] for one in found["sheets"]] == ["visible", "visible", "hidden"]
    assert found["sheets"][0]["merged_ranges"] == ["A6:B7"]
    assert found["sheets"][0]["protected"] is not False


@pytest.mark.rule("F40.12", "F40.13")
def test_an_xls_of_excel_95_gives_its_values_only(tmp_path):
    cells = biff(
        0x0204, place(0, 0) + struct.pack("<H", 4) + "\u0416\u0443\u043a!".encode("cp1251")
    )
    cells += made.formula(place(0, 1), struct.pack("<d", 2.5), b"\x1e\1\0")
    book = made.stream(("S", cells), before=biff(0x42, struct.pack("<H", 1251)), version=0x0500)
    file = source(made.compound(tmp_path / "a.xls", book, "Book"))

    assert lines(file.path) == ["1\t\u0416\u0443\u043a!\t2.5"]
    assert mapped(file)["not_read"][0] == "formulas (only their results)"
    assert mapped(file)["sheets"][0]["formula_count"] == 1
    assert reason_of(lambda: xlsx.read(file, Selector(cells="both"))) == "unsupported_format"


@pytest.mark.rule("F40.12", "F40.14", "F2.4")
def test_a_locked_older_or_broken_xls_is_refused_with_its_reason(tmp_path):
    def book(data: bytes, name: str = "Workbook") -> Source:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.xls"
        return source(made.compound(path, data, name))

    locked = made.stream(("S", b""), before=biff(0x2F, b"\1\0"))
    cut = made.stream(("S", biff(0x0203, place(0, 0) + bytes(8))))[:-4]
    told, lie = (struct.pack("<IBB", at, 0, 0) for at in (37, 99))
    nowhere = made.stream(("S", b"")).replace(told, lie)
    assert lie in nowhere
    missing = made.stream(("S", biff(0xFD, place(0, 0) + struct.pack("<I", 5))))
    old = tmp_path / "old.xls"
    old.write_bytes(biff(0x0009, b"\2\0\x10\0"))
    circle = bytearray(book(locked).path.read_bytes())
    circle[512 + 4 * 2 : 512 + 4 * 3] = struct.pack("<I", 2)
    (tmp_path / "circle.xls").write_bytes(circle)
    files = [
        ("encrypted_file", book(locked)),
        ("encrypted_file", book(b"", "EncryptedPackage")),
        ("content_mismatch", book(b"", "WordDocument")),
        ("corrupt_file", book(cut)),
        ("corrupt_file", book(nowhere)),
        ("corrupt_file", book(missing)),
        ("unsupported_format", source(old)),
        ("corrupt_file", source(tmp_path / "circle.xls")),
    ]

    for reason, file in files:
        assert reason_of(lambda file=file: xlsx.get_map(file)) == reason


@pytest.mark.rule("F40.14")
def test_a_cell_far_away_costs_no_more_than_one_nearby(tmp_path):
    far = sheet(row(1_048_575, record(5, cell(16_383) + struct.pack("<d", 1.0))))
    file = source(made.xlsb(tmp_path / "a.xlsb", ("S", far)))

    assert mapped(file)["sheets"][0]["used_range"]["max_col"] == 16_384
    assert len(open_book(file).package.read("xl/worksheets/sheet1.xml")) < 400


# --- against LibreOffice -------------------------------------------------------------------------


def converted(files: list[Path], ending: str, folder: Path) -> list[Path]:
    """Have LibreOffice save files in another format."""
    folder.mkdir()
    profile = f"-env:UserInstallation=file://{folder.parent}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", ending, "--outdir", str(folder)]
    subprocess.run([*command, *map(str, files)], check=True, capture_output=True, timeout=600)
    return sorted(folder.glob(f"*.{ending}"))


def constants(file: Source) -> dict[tuple[str, int, int], tuple[str, str]]:
    """What the cells without formula hold, numbers to the digits that LibreOffice writes."""
    book = open_book(file)
    found = {}
    for one in book.sheets:
        xml = book.xml(one)
        for row_ in xml.iter_rows() if xml else ():
            for held in xml.cells(row_) if xml else ():
                value = book.value(held)
                if held.formula is None and value.kind != "blank":
                    text = f"{value.number:.15g}" if value.kind == "number" else value.text
                    found[one.name, held.row, held.col] = (value.kind, text)
    return found


@pytest.mark.needs("corpora", "libreoffice")
@pytest.mark.rule("F40.11", "F40.12")
@pytest.mark.parametrize("ending", ["ods", "xls"])
def test_cells_are_those_that_libreoffice_reads(corpora, tmp_path, ending, record_property):
    files: list[Path] = []
    chosen = [*sorted((corpora / "xlsx-features").rglob("*.xlsx"))[::8]]
    chosen += sorted((corpora / "ooxml-odd").rglob("*.xlsx"))[::3]
    for number, path in enumerate(chosen):
        files.append(tmp_path / f"{number}-{path.name}")
        files[-1].write_bytes(path.read_bytes())
    others = converted(files, ending, tmp_path / ending)
    back = {path.stem: path for path in converted(others, "xlsx", tmp_path / "back")}

    same, unlike = 0, []
    for path in others:
        if path.stem not in back:
            continue
        here, there = constants(source(path)), constants(source(back[path.stem]))
        for place_ in here.keys() & there.keys():
            if here[place_] == there[place_]:
                same += 1
            else:
                unlike.append((path.name, place_, here[place_], there[place_]))
    record_property(f"cells of .{ending} as LibreOffice reads them", same)

    assert len(others) > 30
    assert same > 1000
    assert len(unlike) < same / 500, unlike
