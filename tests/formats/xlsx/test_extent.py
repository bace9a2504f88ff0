"""How large a sheet is, found without a survey and never otherwise than by one (F29.4, U1.5)."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.xlsx.books import sheet_of

from backshop.formats import xlsx
from backshop.formats.package.package import Package
from backshop.formats.xlsx.book.extent import extent
from backshop.formats.xlsx.book.survey import survey
from backshop.formats.xlsx.book.workbook import Book
from backshop.formats.xlsx.syntax.address import column_name

CONTENTS = (
    "/>",
    "><v>7</v></c>",
    "><v></v></c>",
    "><v/></c>",
    ' t="s"><v>0</v></c>',
    ' t="s"><v>99</v></c>',  # no such string
    ' t="inlineStr"><is><t>a</t></is></c>',
    ' t="inlineStr"><is><t></t></is></c>',
    "><f>1+1</f></c>",
    '><f t="array" ref="A1:AA4">1+1</f></c>',  # the empty cells below it wait for their values
    '><f t="array" ref="A1:AA4">1+1</f><v>2</v></c>',
    ' s="1"></c>',
)
COLUMNS = (
    *("A", "B", "Z", "AA", "c", "XFD", "XFE", "$D$", ""),
    *("E", "F", "G", "H", "I", "J", "K", "L"),  # more than are looked at one by one
)
cells = st.tuples(st.sampled_from(COLUMNS), st.sampled_from(CONTENTS))
rows = st.lists(
    st.tuples(
        st.integers(0, 9), st.lists(cells, max_size=12), st.sampled_from(("/>", "></row>\n"))
    ),
    max_size=6,
)


def _written(drawn: list[Any], *, sort: bool) -> str:
    made = []
    for number, found, empty in sorted(drawn) if sort else drawn:
        inside = "".join(
            f'<c r="{name}{number or 1}"{rest}' if name else f"<c{rest}" for name, rest in found
        )
        tag = f'<row r="{number}"' if number else "<row"
        made.append(f"{tag}>{inside}</row>" if inside else tag + empty)
    return "".join(made)


@pytest.mark.rule("F29.4", "F8.3")
@given(drawn=rows, sort=st.booleans())
def test_the_size_is_that_of_a_survey_however_a_sheet_is_written(tmp_path_factory, drawn, sort):
    source = sheet_of(tmp_path_factory.mktemp("x") / "a.xlsx", _written(drawn, sort=sort))
    book = Book(Package.open(source))
    xml = book.xml(book.sheets[0])
    assert xml is not None

    found = extent(book, xml)

    assert found.used == survey(book, xml).used
    everything = sorted((row.number, row.start) for row in xml.iter_rows())
    assert sorted((row.number, row.start) for row in found.rows(xml, 1, 1 << 20)) == everything


@pytest.mark.rule("U1.5", "F29.4")
def test_the_first_window_of_a_sheet_is_as_much_work_for_many_rows_as_for_few(tmp_path):
    def steps(count: int) -> int:
        row = '<row r="{0}"><c r="A{0}" t="inlineStr"><is><t>name {0}</t></is></c><c r="B{0}"><f '
        row += 't="shared" si="0"{1}<v>{0}</v></c></row>'
        master = f' ref="B1:B{count}">A1*2</f>'
        made = "".join(row.format(n, master if n == 1 else "/>") for n in range(1, count + 1))
        source = sheet_of(tmp_path / f"{count}.xlsx", made)
        calls = 0

        def note(_: Any, event: str, __: Any) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(note)
        try:
            window: Any = xlsx.extract_grid(source, None, 0, 0, 60, 10)
        finally:
            sys.setprofile(None)
        assert (window["row_count"], window["col_count"]) == (count, 2)
        assert window["cells"][59][1]["formula"] == "=A60*2"
        return calls

    steps(100)  # loads what is loaded once

    assert steps(20_000) < steps(400) + 200  # a step for each row would be 19,600 more


@pytest.mark.rule("F40.20")
def test_formatted_empty_columns_do_not_cost_a_pass_over_the_sheet_each(tmp_path):
    def passes(columns: int) -> int:
        filled = "".join(
            f'<c r="{column_name(col)}1" s="1"/>'
            for col in range(1, columns)
            if col != columns // 2
        )
        value = f'<row r="2"><c r="{column_name(columns // 2)}2"><v>7</v></c></row>'
        source = sheet_of(tmp_path / f"{columns}.xlsx", f'<row r="1">{filled}</row>{value}')
        counted = 0

        def note(_: Any, event: str, called: Any) -> None:
            nonlocal counted
            counted += event == "c_call" and called.__name__ == "finditer"

        sys.setprofile(note)
        try:
            info: Any = xlsx.get_info(source)
        finally:
            sys.setprofile(None)
        assert [(one["row_count"], one["col_count"]) for one in info["sheets"]] == [(1, 1)]
        return counted

    assert passes(2_000) == passes(40)
