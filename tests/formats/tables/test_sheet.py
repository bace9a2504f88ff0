"""Regions of worksheets as tables."""

from __future__ import annotations

import datetime
import json
import zipfile
from io import BytesIO

import pytest
from tests.formats.tables.files import source_of, workbook

from backshop.formats.errors import FormatError
from backshop.formats.tables import Cache, Region, tools

DAY = datetime.date(2024, 3, 1)
LEDGER = [
    ["Report of March", None, None],
    [None, None, None],
    ["Day", "Payee", "Amount"],
    [DAY, "Baker", 12.5],
    [DAY, "Miller", 7],
    [DAY, None, -1.25],
]


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


@pytest.fixture
def book(tmp_path):
    def make(sheets, **more):
        return source_of(tmp_path, workbook(sheets, **more), "book.xlsx")

    return make


def mapped(source, cache, **region):
    return tools.table_get_map(source, cache, Region(**region)).to_json(source)


def rows(source, cache, sql="SELECT * FROM data", **region):
    return tools.table_query(source, cache, Region(**region), query=sql)["rows"]


def types(found):
    return {column["name"]: column["inferred_type"] for column in found["columns"]}


def codes(found):
    return [(item["code"], item["count"], item["where"]) for item in found["warnings"]]


@pytest.mark.rule("F25.1", "F27.1", "F32.73")
def test_the_table_of_a_sheet_is_its_largest_block_with_headings(book, cache):
    source = book({"Ledger": LEDGER})
    found = mapped(source, cache)

    assert found["format"] == "xlsx"
    assert found["region"] == {"sheet": "Ledger", "range": "A3:C6", "header_row": 3}
    assert (found["delimiter"], found["quote_char"]) == (None, None)
    assert types(found) == {"Day": "date", "Payee": "string", "Amount": "float"}
    assert codes(found) == [("region_defaulted", 1, "Ledger!A3:C6")]
    assert rows(source, cache) == [
        ["2024-03-01", "Baker", 12.5],
        ["2024-03-01", "Miller", 7.0],
        ["2024-03-01", None, -1.25],
    ]
    assert rows(source, cache, "SELECT sum(Amount) FROM data") == [[18.25]]


@pytest.mark.rule("F25.1")
def test_a_region_can_be_chosen(book, cache):
    source = book({"One": LEDGER, "Two": [["x", "y"], [1, 2], [3, 4]]})

    assert types(mapped(source, cache, sheet="two")) == {"x": "integer", "y": "integer"}
    part = mapped(source, cache, sheet="One", range="B3:C5")
    assert (part["row_count"], types(part)) == (2, {"Payee": "string", "Amount": "float"})
    bare = mapped(source, cache, sheet="Two", header_row=0)
    assert (bare["row_count"], bare["has_header"]) == (3, False)
    assert types(bare) == {"column_1": "string", "column_2": "string"}
    source.path.rename(source.path.with_suffix(".away"))  # asked again without being read again
    kept = tools.table_get_map(source, cache, Region(sheet="Two", header_row=0)).data["region"]
    assert kept == {"sheet": "Two", "range": "A1:B3", "header_row": None}
    source.path.with_suffix(".away").rename(source.path)
    lower = mapped(source, cache, sheet="Two", header_row=2)
    assert (lower["row_count"], list(types(lower))) == (1, ["1", "2"])
    whole = mapped(source, cache, sheet="Two", range="A:B")
    assert whole["region"]["range"] == "A1:B3"
    assert ("sheet_defaulted", 1, "One") in codes(mapped(source, cache))


@pytest.mark.rule("F3.1")
@pytest.mark.parametrize(
    ("region", "reason"),
    [
        ({"sheet": "Nothing"}, "unknown_sheet"),
        ({"range": "A0"}, "bad_range"),
        ({"header_row": 9}, "bad_value"),
    ],
)
def test_a_region_that_is_not_there_is_refused(book, cache, region, reason):
    source = book({"Two": [["x", "y"], [1, 2]]})

    with pytest.raises(FormatError) as caught:
        mapped(source, cache, **region)
    assert caught.value.reason == reason


@pytest.mark.rule("F25.6")
def test_cell_types_are_kept_and_mixed_columns_are_text(book, cache):
    moment = datetime.datetime(2024, 3, 1, 13, 5)
    source = book(
        {
            "S": [
                ["whole", "number", "yes", "when", "clock", "mixed", "zip", "none"],
                [1, 1.5, True, moment, datetime.time(9, 30), 1, "00123", None],
                [2, 2, False, DAY, datetime.time(23, 59), "x", "04567", None],
            ]
        }
    )
    found = mapped(source, cache, range="A1:H3")

    assert types(found) == {
        "whole": "integer",
        "number": "float",
        "yes": "boolean",
        "when": "datetime",
        "clock": "time",
        "mixed": "string",
        "zip": "string",
        "none": "string",
    }
    assert codes(found) == [("mixed_types", 1, "mixed")]
    assert rows(source, cache, range="A1:H3") == [
        [1, 1.5, True, "2024-03-01T13:05:00", "09:30:00", "1", "00123", None],
        [2, 2.0, False, "2024-03-01T00:00:00", "23:59:00", "x", "04567", None],
    ]


@pytest.mark.rule("F25.6", "F32.13")
def test_formulas_without_result_and_errors_are_null_and_counted(book, cache):
    source = book({"S": [["a", "b"], [1, "=A2*2"], [2, "#DIV/0!"], [3, "NA"], [None, "x"]]})
    found = mapped(source, cache)

    assert ("uncached_formula", 1, None) in codes(found)
    assert ("error_cells", 1, None) in codes(found)
    assert rows(source, cache) == [[1, None], [2, None], [3, "NA"], [None, "x"]]


@pytest.mark.rule("F27.9")
def test_every_answer_says_which_cells_of_its_table_have_no_value(book, cache, tmp_path):
    source = book({"S": [["a", "b"], [1, "=A2*2"], [2, "#DIV/0!"], [3, 4]]})
    left_out = [("uncached_formula", 1, None), ("error_cells", 1, None)]
    out = tmp_path / "o.csv"

    answers = [
        tools.table_query(source, cache, query="SELECT sum(b) AS b FROM data ORDER BY 1"),
        tools.table_describe(source, cache),
        tools.table_stats(source, cache),
        tools.table_read_rows(source, cache, row_start=1, row_count=3),
    ]
    said = json.loads(json.dumps(answers))
    told = [[tuple(one.values()) for one in answer["warnings"]] for answer in said]
    written = tools.table_export(
        source, cache, out=out, target="o.csv", format_="csv", query="SELECT b FROM data ORDER BY a"
    )

    assert told == [left_out] * 4
    assert [(one.code, one.count, one.where) for one in written.warnings] == left_out


def test_covered_cells_of_a_merge_hold_nothing(book, cache):
    source = book({"S": [["a", "b"], ["x", 5], ["y", 6]]}, merges=["A2:A3"])

    assert rows(source, cache) == [["x", 5], [None, 6]]


def test_a_hidden_sheet_is_read_by_name_and_not_by_default(book, cache):
    source = book({"Secret": [["a", "b"], [1, 2]], "Open": [["c", "d"], [3, 4]]}, hidden=["Secret"])

    assert list(types(mapped(source, cache))) == ["c", "d"]
    assert list(types(mapped(source, cache, sheet="Secret"))) == ["a", "b"]


def test_an_empty_sheet_is_an_empty_table(book, cache):
    source = book({"S": []})

    assert mapped(source, cache)["row_count"] == 0
    assert rows(source, cache, "SELECT count(*) FROM data") == [[0]]


@pytest.mark.rule("F3")
def test_a_file_that_is_no_workbook_is_refused(tmp_path, cache):
    broken = source_of(tmp_path, b"PK\x03\x04 and nothing more", "book.xlsx")
    with pytest.raises(FormatError) as caught:
        mapped(broken, cache)
    assert caught.value.reason == "corrupt_file"
    empty = BytesIO()
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("x.txt", "x")
    with pytest.raises(FormatError):
        mapped(source_of(tmp_path, empty.getvalue(), "book.xlsx"), cache)
    assert not list(cache.folder.glob("*"))


@pytest.mark.needs("corpora")
@pytest.mark.rule("F25.6")
def test_every_workbook_of_the_corpus_gives_a_table_or_a_clean_error(corpora, tmp_path, scaled):
    cache = Cache(tmp_path / "cache")
    files = sorted((corpora / "xlsx-features").rglob("*.xlsx"))
    seen = 0
    for path in files[:: scaled(12, 1)]:
        source = source_of(tmp_path, path.read_bytes(), "book.xlsx")
        try:
            total = tools.table_query(source, cache, query="SELECT count(*) AS n FROM data")
        except FormatError as error:
            assert error.reason in {
                *("corrupt_file", "encrypted_file", "unsupported_format", "unknown_sheet"),
                *("content_mismatch", "too_large", "xml_dtd_forbidden", "archive_bomb"),
            }, path.name
            continue
        assert total["row_count"] == 1
        cache.clear()
        seen += 1
    assert seen > len(files) // scaled(12, 1) // 2


@pytest.mark.rule("F25.6")
def test_a_cell_may_hold_any_line_end(book, cache):
    texts = ["x\ry", "x\r\ny", "x\ny"]
    source = book({"S": [["a", "b"], *([text, 1] for text in texts)]})

    assert rows(source, cache) == [[text, 1] for text in texts]
