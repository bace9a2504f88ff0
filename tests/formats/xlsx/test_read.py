from __future__ import annotations

import datetime
import zipfile

import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import PROOF

from backshop.formats import xlsx
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Selector

from .books import book, lines, mapped, sheet_of, source, text


@pytest.mark.rule("F5.5", "F32.1")
def test_a_small_sheet_is_read_whole(tmp_path):
    made = book(tmp_path / "a.xlsx", ("S", [[n] for n in range(111)]))

    found = xlsx.read(made, Selector())

    assert found.text.count("\n") == 112
    info = found.chunk_info
    assert (info.chunk_index, info.total_chunks, info.next) == (0, 3, None)


@pytest.mark.rule("F5.3", "F8.8", "F32.2")
def test_a_range_tells_its_chunk_and_the_next_one(tmp_path):
    made = book(tmp_path / "a.xlsx", ("S", [[n] * 5 for n in range(111)]))

    info = xlsx.read(made, Selector(range="A51:E100")).chunk_info

    assert (info.chunk_index, info.total_chunks) == (1, 3)
    assert info.next == Selector(sheet="S", chunk_index=2)


@pytest.mark.rule("F8.9", "F8.10", "F32.10", "F32.13")
def test_rows_are_rendered_with_numbers_letters_and_headers_above(tmp_path):
    rows = [["Region", "Sum"], ["NA", 1.5], [None, True], ["x\ty\n\\", "=SUM(B2:B2)|1.5"]]
    made = book(tmp_path / "a.xlsx", ("S", rows))

    assert text(made.path) == "\n".join(
        [
            "# sheet\tS\tA1:B4",
            "row\tA\tB",
            "1\tRegion\tSum",
            "2\tNA\t1.5",
            "3\t\tTRUE",
            "4\tx\\ty\\n\\\\\t1.5",
        ]
    )
    assert lines(made.path, range="A4:B4", cells="both") == [
        "h1\tRegion\tSum",
        "4\tx\\ty\\n\\\\\t1.5 {=SUM(B2:B2)}",
    ]
    assert lines(made.path, range="B4", cells="formulas") == ["h1\tSum", "4\t=SUM(B2:B2)"]


@pytest.mark.rule("F8.10", "F24.6")
def test_dates_times_and_errors_read_as_text(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        day = file.add_format({"num_format": "dd/mm/yyyy"})
        clock = file.add_format({"num_format": "hh:mm"})
        sheet.write_datetime(0, 0, datetime.datetime(2024, 10, 1), day)
        sheet.write_datetime(0, 1, datetime.datetime(2024, 10, 1, 13, 5), day)
        sheet.write_number(0, 2, 0.5451388888888889, clock)
        sheet.write_number(0, 3, 60, day)
        sheet.write_number(0, 4, 1.5, file.add_format({"num_format": "[h]:mm"}))
        sheet.write_formula(0, 5, "=1/0", None, "#DIV/0!")
        sheet.write_number(0, 6, 5, file.add_format({"num_format": '0 "days"'}))

    found = xlsx.read(source(path), Selector())

    assert found.text.split("\n")[2] == "\t".join(
        [
            "1",
            "2024-10-01",
            "2024-10-01T13:05:00",
            "13:05:00",
            "1900-02-29",
            "36:00:00",
            "#DIV/0!",
            "5",
        ]
    )
    assert [w.code for w in found.warnings] == ["date_1900_bug"]


@pytest.mark.rule("F8.8", "F32.7", "F32.8", "F32.9")
def test_selectors_are_checked_and_wrong_ones_get_hints(tmp_path):
    made = book(tmp_path / "a.xlsx", ("One", [[1, 2]]), ("Two", [[3]]))

    assert lines(made.path, sheet="two") == ["1\t3"]
    assert lines(made.path, sheet="One", range="$A:$B") == ["1\t1\t2"]
    assert lines(made.path, sheet="One", range="1:1") == ["1\t1\t2"]
    assert lines(made.path, sheet="One", range="Z1:AA2") == ["1", "2"]
    assert [w.code for w in xlsx.read(made, Selector()).warnings] == ["sheet_defaulted"]
    for selector, reason, hints in (
        (Selector(sheet="Three"), "unknown_sheet", ("One", "Two")),
        (Selector(sheet="One", range="A0"), "bad_range", ("A1:B1",)),
        (Selector(sheet="One", chunk_index=1), "bad_index", ("0 to 0",)),
        (Selector(sheet="One", chunk_index=0, range="A1"), "op_conflict", ()),
        (Selector(slide_index=0), "bad_selector", ("cells", "chunk_index", "range", "sheet")),
    ):
        with pytest.raises(FormatError) as caught:
            xlsx.read(made, selector)
        assert (caught.value.reason, caught.value.hints) == (reason, hints)


@pytest.mark.rule("F8.10", "F32.11")
def test_a_formula_without_result_shows_itself(tmp_path):
    from .test_ops import without_results

    made = without_results(book(tmp_path / "a.xlsx", ("S", [[1, "=A1+1"]])), tmp_path / "b.xlsx")

    found = xlsx.read(made, Selector())

    assert found.text.split("\n")[2:] == ["1\t1\t{=A1+1}"]
    assert [w.code for w in found.warnings] == ["uncached_formula"]


@pytest.mark.rule("F8.11")
def test_cells_covered_by_a_merge_print_blank(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.merge_range("A1:B1", "wide")
        sheet.write(0, 2, "x")

    assert lines(path) == ["1\twide\t\tx"]


@pytest.mark.rule("F32.12")
def test_the_1904_date_system_is_honoured(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path), {"date_1904": True}) as file:
        day = file.add_format({"num_format": "yyyy-mm-dd"})
        file.add_worksheet("S").write_datetime(0, 0, datetime.datetime(2024, 3, 1), day)

    assert lines(path) == ["1\t2024-03-01"]


@pytest.mark.rule("F5.4")
def test_a_long_selection_is_cut_between_rows_and_a_long_row_between_characters(tmp_path):
    rows = [["é" * 9000] for _ in range(9)] + [["z" * 30000, "y" * 30000, "x" * 30000]]
    made = book(tmp_path / "a.xlsx", ("S", rows))

    seen = read_through(made, Selector(range="A1:C10"))

    assert seen == [[str(n + 1), *row] for n, row in enumerate(rows)]


@settings(max_examples=2000 if PROOF else 25)
@given(
    rows=st.lists(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8)
        ),
        min_size=1,
        max_size=120,
    )
)
def test_following_next_gives_every_cell_once(tmp_path_factory, rows):
    clean = [[_written(t) for t in row] for row in rows]
    made = book(tmp_path_factory.mktemp("r") / "a.xlsx", ("S", clean))

    seen = read_through(made, Selector(chunk_index=0)) if xlsx.get_info(made) else []

    wanted = {
        (r, c): t for r, row in enumerate(clean, 1) for c, t in enumerate(row, 1) if t.strip() or t
    }
    got = {
        (int(row[0]), c): t for row in seen for c, t in enumerate(row[1:], first_column(made)) if t
    }
    assert got == wanted


def _written(text):
    """Return what the library that makes the workbook keeps of a text as a text."""
    plain = text.replace("\ufffe", "").replace("\uffff", "").lstrip("=")
    return plain.removeprefix("mailto:")  # it would become a link


def first_column(made):
    used = mapped(made)["sheets"][0]["used_range"]
    return used["min_col"] if used else 1


def read_through(made, selector):
    """Read to the end by `next`; rows of unescaped cells, split rows joined again."""
    pieces: list[str] = []
    while selector:
        found = xlsx.read(made, selector)
        body = [line for line in found.text.split("\n")[2:] if not line.startswith("h")]
        if selector.char_offset:
            pieces[-1] += body.pop(0)
        pieces.extend(body)
        selector = found.chunk_info.next
    return [[unescape(cell) for cell in line.split("\t")] for line in pieces]


def unescape(cell):
    table = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
    out, it = "", iter(cell)
    for char in it:
        out += table[next(it)] if char == "\\" else char
    return out


@pytest.mark.rule("F3.2")
@pytest.mark.parametrize("head", [b'<?xml version="1.0" encoding="abc"?>', b"<broken", b""])
def test_a_sheet_that_is_no_xml_is_a_corrupt_file(tmp_path, head):
    made = book(tmp_path / "a.xlsx", ("S", [[1]]))
    broken = tmp_path / "b.xlsx"
    with zipfile.ZipFile(made.path) as old, zipfile.ZipFile(broken, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == "xl/worksheets/sheet1.xml":
                data = head + data.partition(b"?>")[2] if head else b""
            new.writestr(info, data)

    with pytest.raises(FormatError) as caught:
        xlsx.read(source(broken), Selector())
    assert caught.value.reason == "corrupt_file"


@pytest.mark.rule("F8.10")
def test_a_character_reference_is_the_character_it_stands_for_and_no_more(tmp_path):
    written = "&amp;lt; &#38;lt; &#x26;amp; &#65;&#x42; &lt;b&gt; &quot;q&quot; &apos; &#x80;"
    sheet_of(tmp_path / "a.xlsx", f'<row r="1"><c r="A1" t="str"><v>{written}</v></c></row>')

    assert lines(tmp_path / "a.xlsx") == ['1\t&lt; &lt; &amp; AB <b> "q" \' \x80']


@pytest.mark.rule("F8.8", "F8.9")
def test_rows_far_down_are_found_with_the_gaps_between_them(tmp_path):
    rows = "".join(
        f'<row r="{row}"><c r="A{row}"><v>{row}</v></c></row>' for row in range(1, 6000, 7)
    )
    sheet_of(tmp_path / "a.xlsx", rows)

    assert lines(tmp_path / "a.xlsx", range="A4993:A5000") == [
        *(str(row) for row in range(4993, 4999)),
        "4999\t4999",
        "5000",
    ]
    assert lines(tmp_path / "a.xlsx", range="A7000:A7001") == ["7000", "7001"]
