"""Files that are not as they should be, and the tables that must be read from them all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PROOF
from tests.formats.tables.files import source_of
from tests.formats.tables.odd_tables import odd_tables
from tests.formats.tables.pollution import File, of_files, of_places, of_rows

from backshop.formats.protocol import Selector, Source
from backshop.formats.tables import tools
from backshop.formats.tables.cache import Cache
from backshop.formats.text import delimited
from backshop.formats.text.dialect import sniff
from backshop.formats.text.rows import Rows


def differences(folder: Path, file: File, *, by_table: bool = True) -> list[str]:
    """Return what is read otherwise than it should be, by the reader and by the table tools."""
    source = source_of(folder, file.data, file.file_name)
    header, wanted = list(file.header or []), [list(row) for row in file.rows]
    dialect = sniff(source)
    read = [record.fields for record in Rows(source, dialect)]
    width = max(map(len, [header, *read, *wanted]), default=0)

    def full(row: list[str]) -> list[str]:
        return [*row, *[""] * (width - len(row))]

    found = []
    if full(list(dialect.names)) != full(header):
        found.append(f"names {dialect.names}")
    if list(map(full, read)) != list(map(full, wanted)):
        pairs = zip(read, wanted, strict=False)
        found.append(f"rows {next((a for a, b in pairs if full(a) != full(b)), len(read))}")
    return found + (table_differences(folder, source, read) if by_table or PROOF else [])


def table_differences(folder: Path, source: Source, read: list[list[str]]) -> list[str]:
    """Return what the table holds otherwise than the reader has read it."""
    answer: Any = tools.table_query(
        source, Cache(folder / "cache"), query="SELECT * FROM data", window_rows=5000
    )
    if len(answer["rows"]) != len(read):
        return [f"{len(answer['rows'])} rows in the table"]
    kinds = answer["column_types"]
    return [
        f"table: {value!r} for {text!r}"
        for values, fields in zip(answer["rows"], read, strict=True)
        for value, text, kind in zip(values, fields, kinds, strict=False)
        if not is_same(value, text, kind)
    ]


def is_same(value: object, text: str, kind: str) -> bool:
    if value is None:
        return text == ""
    if kind == "string":
        return value == text
    return kind not in ("integer", "float") or float(str(value)) == float(text)


@pytest.mark.rule("F25.3", "F25.4", "F25.7")
@pytest.mark.parametrize("files", [of_files, of_places], ids=lambda files: files.__name__)
def test_a_polluted_file_is_read_exactly(tmp_path, files):
    found = {
        file.name: differences(tmp_path, file, by_table=at % 4 == 0)
        for at, file in enumerate(files())
    }

    assert len(found) >= 15
    assert {name: told for name, told in found.items() if told} == {}


@pytest.mark.rule("F25.4")
@pytest.mark.parametrize("row", range(12) if PROOF else [1, 4])
def test_one_odd_row_costs_no_other_row(tmp_path, row):
    found = {
        file.name: differences(tmp_path, file, by_table=at % 12 == 0)
        for at, file in enumerate(of_rows([row]))
    }

    assert {name: told for name, told in found.items() if told} == {}


@pytest.mark.rule("F25.3", "F25.4", "F25.7")
def test_files_as_others_write_them_are_read_as_a_person_reads_them(tmp_path):
    found = {
        file.name: differences(tmp_path, file, by_table=at % 3 == 0)
        for at, file in enumerate(odd_tables())
    }

    assert len(found) >= 20
    assert {name: told for name, told in found.items() if told} == {}


@pytest.mark.rule("F25.4", "F27.9")
def test_what_was_left_out_or_repaired_is_said_with_its_lines(tmp_path):
    data = 'Sales\n\na,b,c\n1,2,3\n4,"5,6\n7,8\n9,10,11,12\n\nSource: the till\n'
    source = source_of(tmp_path, data)
    cache = Cache(tmp_path / "cache")

    found = tools.table_get_map(source, cache)

    assert [(warning.code, warning.count, warning.where) for warning in found.warnings] == [
        ("short_rows", 1, "line 6"),
        ("long_rows", 1, "line 7"),
        ("rows_repaired", 1, "line 5"),
        ("footer_skipped", 1, "line 9"),
        ("preamble_skipped", 2, "lines 1-2"),
    ]
    answer: Any = tools.table_query(source, cache, query="SELECT count(*) FROM data")
    assert answer["rows"] == [[4]]
    assert {warning["code"] for warning in answer["warnings"]} == {
        "rows_repaired",
        "footer_skipped",
        "preamble_skipped",
        "order_added",
    }


@pytest.mark.rule("F7.1", "F7.2", "F25.3")
def test_reads_infos_and_diffs_see_the_same_table(tmp_path):
    above = "Sales\nof the shop\n\n"
    old = source_of(tmp_path, above + "a; b; c\n1; 'x; y'; 3\n4; z; 5\n")
    new = source_of(tmp_path, above + "a; b; c\n1; 'x; y'; 9\n4; z; 5\n")

    info = delimited.get_info(old)
    assert (info["row_count"], info["column_count"], info["delimiter"]) == (2, 3, "; ")
    part = delimited.read(old, Selector(chunk_index=0))
    assert part.text == "row\ta\tb\tc\n1\t1\tx; y\t3\n2\t4\tz\t5"
    diff = delimited.table_diff(old, new)
    assert [(row.kind, row.before_row, row.cells) for row in diff.rows] == [
        ("changed", 1, (("c", "3", "9"),))
    ]
    (unit,) = delimited.separate(old, new)
    assert (unit.label, unit.before, unit.after) == ("row 1", "1 | x; y | 3", "1 | x; y | 9")


@pytest.mark.rule("F34.33")
def test_a_changed_line_above_the_table_is_a_change_of_its_own(tmp_path):
    rows = "a,b\n" + "".join(f"{n},x{n}\n" for n in range(6))
    old = source_of(tmp_path, "Sales of 2023\n\n" + rows)
    new = source_of(tmp_path, "Sales of 2024\n\n" + rows.replace("3,x3", "3,y3"))

    units = delimited.separate(old, new)

    assert [(unit.label, unit.before, unit.after) for unit in units] == [
        ("line 1", "Sales of 2023", "Sales of 2024"),
        ("row 4", "3 | x3", "3 | y3"),
    ]
    out = tmp_path / "out"
    delimited.compose(old, new, frozenset({units[0].id}), out)
    assert out.read_text() == "Sales of 2023\n\n" + rows.replace("3,x3", "3,y3")
