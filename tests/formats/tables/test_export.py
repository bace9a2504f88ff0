"""Results written as new files, and into workbooks that exist."""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import resource
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.tables.files import source_of, workbook

from backshop.base.limits import GIB
from backshop.formats import xlsx
from backshop.formats.errors import FormatError
from backshop.formats.protocol import OpsRequest, Source
from backshop.formats.tables import Cache, Region, Update, tools
from backshop.formats.worker import isolation

CSV = "name,amount,day,ok\nBaker,12.5,2024-03-01,true\n=1+1,-7,2024-03-02,false\n,0.1,,\n"


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


@pytest.fixture
def source(tmp_path):
    return source_of(tmp_path, CSV)


def export(source, cache, out, target="out.csv", format_="csv", **more):
    return tools.table_export(source, cache, out=out, target=target, format_=format_, **more)


def update(source, cache, base, out, query=None, **request):
    given = {"target": "book.xlsx", "sheet": "Data", **request}
    return tools.table_update_from_export(
        source, cache, base=base, out=out, request=Update(**given), query=query
    )


def reason(action) -> str:
    with pytest.raises(FormatError) as caught:
        action()
    return str(caught.value.reason)


def asked(source, cache, region=None, **question):
    return tools.table_query(source, cache, region or Region(), **question)


def codes(applied):
    return [(item.code, item.count) for item in applied.warnings]


def loaded(path, **how):
    return openpyxl.load_workbook(io.BytesIO(path.read_bytes()), **how)


def cells(path, sheet):
    page = loaded(path)[sheet]
    return [[cell.value for cell in row] for row in page.iter_rows()]


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


# --- new files ------------------------------------------------------------------------------------


@pytest.mark.rule("F28.2")
@pytest.mark.parametrize(
    ("data", "codec"),
    [
        ('a;b\r\n1;x\r\n2;"y;z"\r\n', "utf-8-sig"),
        ("a\tb\n1\tcafé\n", "cp1252"),
        ("a|b\n1|x\n", "utf-16"),
        ("a,b\n'1,5',x\n'it''s',y\n", "utf-8"),
        ('a,b\n"x \\"y\\" z",1\n"q, r",2\n', "utf-8"),
        ("a, b\n1, x\n2, y\n", "utf-8"),
        ('a b c\n1 2 3\n4 5 "6 7"\n', "utf-8"),
        ("1;2\n3;4\n", "utf-8"),
        ("Title\n\na,a\n1,2\n3,4\n\nSource: me\n", "utf-8"),
        ("t,v\ns,m\n1,2\n3,4\n5,6\n", "utf-8"),
        ("# by me, today\r\na;b\r\n1;2\r\n", "utf-8"),
        ("a,b\n", "utf-8"),
    ],
)
def test_rows_put_back_into_their_file_leave_it_as_it_was(tmp_path, cache, data, codec):
    source = source_of(tmp_path, data.encode(codec))
    out = tmp_path / "out"

    done = export(source, cache, out, target="t.csv", existing=source)

    assert out.read_bytes() == data.encode(codec)
    assert "encoding_changed" not in [code for code, _ in codes(done)]


@pytest.mark.rule("F28.2")
def test_a_file_keeps_its_dialect_when_another_table_takes_its_place(source, cache, tmp_path):
    old = source_of(tmp_path, "x;y\r\n1,5;2\r\n".encode("cp1252"), "old.csv")
    out = tmp_path / "out"

    export(source, cache, out, query="SELECT amount, name FROM data LIMIT 1", existing=old)
    assert out.read_bytes() == b"amount;name\r\n12.5;Baker\r\n"

    latin = source_of(tmp_path, "x;y\ncafé;2\n".encode("cp1252"), "old.csv")
    done = export(
        source, cache, out, query="SELECT '漢' AS a, 'é' AS b FROM data LIMIT 1", existing=latin
    )
    assert out.read_bytes() == "a;b\n漢;é\n".encode()
    assert ("encoding_changed", 1) in codes(done)


@pytest.mark.rule("F28.2")
@pytest.mark.parametrize(("name", "between"), [("o.csv", b","), ("o.tsv", b"\t"), ("o.psv", b"|")])
def test_a_new_file_is_written_as_its_name_says(source, cache, tmp_path, name, between):
    out = tmp_path / "out"

    export(source, cache, out, target=name, query="SELECT 1 AS a, 2 AS b FROM data LIMIT 1")

    assert out.read_bytes() == between.join([b"a", b"b\n1", b"2\n"])


def export_beyond(source: Source, cache: Cache, out: Path) -> tuple[str, list[str]]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    found = reason(lambda: export(source, cache, out, query="SELECT repeat('x', 9000) FROM data"))
    return found, [path.name for path in out.parent.iterdir()]


@pytest.mark.rule("F3", "F28.2")
def test_a_file_that_may_not_grow_is_a_full_disk_and_leaves_nothing(source, cache, tmp_path):
    asked(source, cache, query="SELECT 1")  # the table is built
    out = tmp_path / "result" / "out.csv"
    out.parent.mkdir()

    outcome = isolation.run(export_beyond, source, cache, out, timeout_s=20, memory_bytes=GIB)

    assert outcome.value == ("disk_full", [])


@pytest.mark.rule("F28.2", "F28.3")
@pytest.mark.parametrize("format_", ["csv", "xlsx"])
def test_documents_and_long_numbers_are_exported_as_they_are_written(
    source, cache, tmp_path, format_
):
    texts = {
        """'[0.1000000000000000055511151231257827, 1e400, "a  \\" b"]'::JSON""": (
            '[0.1000000000000000055511151231257827,1e400,"a  \\" b"]'
        ),
        "('[' || repeat('9', 5000) || ']')::JSON": f"[{'9' * 5000}]",
        "(repeat('[', 3000) || repeat(']', 3000))::JSON": "[" * 3000 + "]" * 3000,
        "{'n': 'nan'::DOUBLE, 'i': ['-inf'::DOUBLE], 's': 'NaN'}": (
            '{"n":null,"i":[null],"s":"NaN"}'
        ),
        "repeat('9', 5000)::BIGNUM": "9" * 5000,
        "repeat('9', 400)::BIGNUM": "9" * 400,
    }
    query = "SELECT " + ", ".join(f"{sql} AS c{at}" for at, sql in enumerate(texts))
    out = tmp_path / f"out.{format_}"

    done = export(source, cache, out, f"out.{format_}", format_, query=query + " LIMIT 1")

    if format_ == "csv":
        found = list(csv.reader(io.StringIO(out.read_text())))
    else:
        found = cells(out, "Sheet1")
    assert found[1] == list(texts.values())
    assert ("non_finite", 2) in codes(done)


@pytest.mark.rule("F28.1", "F28.2", "F32.21")
def test_all_rows_as_csv(source, cache, tmp_path):
    out = tmp_path / "out"

    done = export(source, cache, out)

    assert out.read_text() == (
        "name,amount,day,ok\nBaker,12.5,2024-03-01,true\n=1+1,-7.0,2024-03-02,false\n,0.1,,\n"
    )
    assert done.extra == {
        "target_path": "out.csv",
        "format": "csv",
        "sheet": None,
        "row_count": 3,
        "column_count": 4,
    }
    assert done.focus == {"line_start": 1, "line_end": 4}
    assert codes(done) == [("formula_like_cells", 1)]
    assert done.effects.collateral == ()


@pytest.mark.rule("F28.2", "F28.4")
def test_a_query_as_csv_keeps_every_digit(source, cache, tmp_path):
    out = tmp_path / "out"
    query = """SELECT 12345678901234567890 AS big, 1.50::DECIMAL(9, 2) AS price, 'a"b,c' AS text,
                      [1, 2] AS list, 'x' || chr(10) || 'y' AS lines, 'nan'::DOUBLE AS none
               UNION ALL SELECT 1, 2, NULL, NULL, '@cmd', 0.30000000000000004"""

    done = export(source, cache, out, query=query)

    assert list(csv.reader(io.StringIO(out.read_text(), newline=""))) == [
        ["big", "price", "text", "list", "lines", "none"],
        ["1", "2.00", "", "", "@cmd", "0.30000000000000004"],
        ["12345678901234567890", "1.50", 'a"b,c', "[1,2]", "x\ny", ""],
    ]
    assert codes(done) == [("order_added", 1), ("formula_like_cells", 1), ("non_finite", 1)]


@pytest.mark.rule("F28.3", "F32.21")
def test_all_rows_as_a_workbook(source, cache, tmp_path):
    out = tmp_path / "out"

    done = export(source, cache, out, target="new.xlsx", format_="xlsx", target_sheet="A/B")

    assert done.extra["sheet"] == "A_B"
    assert done.focus == {
        "sheet": "A_B",
        "row_start": 0,
        "row_end": 3,
        "col_start": 0,
        "col_end": 3,
    }
    assert codes(done) == [("sheet_name_changed", 1), ("formula_like_cells", 1)]
    page = loaded(out)["A_B"]
    assert [[cell.value for cell in row] for row in page.iter_rows()] == [
        ["name", "amount", "day", "ok"],
        ["Baker", 12.5, datetime.datetime(2024, 3, 1), True],
        ["=1+1", -7, datetime.datetime(2024, 3, 2), False],
        [None, 0.1, None, None],
    ]
    assert page["A3"].data_type == "s"  # text, never a formula
    assert page["C2"].number_format == "yyyy-mm-dd"
    assert page["A1"].font.bold
    assert page.freeze_panes == "A2"
    assert all(8 <= item.width <= 61 for item in page.column_dimensions.values())
    again = tmp_path / "again"
    export(source, cache, again, target="new.xlsx", format_="xlsx", target_sheet="A/B")
    assert again.read_bytes() == out.read_bytes()  # F1.3


@pytest.mark.rule("F28.3")
def test_what_a_cell_cannot_hold_exactly_is_text(source, cache, tmp_path):
    out = tmp_path / "out"
    query = """SELECT 9007199254740993 AS big, DATE '1850-01-01' AS old, INTERVAL 3 MONTH AS span,
                      TIMESTAMP '2024-01-01 10:00:00' AS moment, TIME '10:30:00' AS clock,
                      '' AS empty, 'http://example.com' AS link, '12' AS digits"""

    export(source, cache, out, target="new.xlsx", format_="xlsx", query=query)

    assert cells(out, "Sheet1")[1] == [
        "9007199254740993",
        "1850-01-01",
        "P3M",
        datetime.datetime(2024, 1, 1, 10),
        datetime.time(10, 30),
        None,
        "http://example.com",
        "12",
    ]


@pytest.mark.rule("F28.1", "F26.6", "F32.78")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"target": "x.csv", "format_": "xlsx"}, "bad_value"),
        ({"target": "x.xlsx", "format_": "csv"}, "bad_value"),
        ({"target": "x.pdf", "format_": "pdf"}, "bad_value"),
        ({"query": "DROP TABLE data"}, "sql_not_select"),
        ({"query": "FROM read_text('/etc/hostname')"}, "sql_forbidden_function"),
        ({"query": "SELECT wrong FROM data"}, "sql_error"),
        ({"query": "SELECT CAST(name AS INTEGER) FROM data"}, "sql_error"),
    ],
)
def test_a_refused_export_leaves_nothing(source, cache, tmp_path, arguments, expected):
    out = tmp_path / "folder" / "out"
    out.parent.mkdir()

    assert reason(lambda: export(source, cache, out, **arguments)) == expected
    assert list(out.parent.iterdir()) == []


@pytest.mark.rule("F28.3")
def test_more_rows_than_a_sheet_has_are_refused_before_writing(source, cache, tmp_path):
    out = tmp_path / "folder" / "out"
    out.parent.mkdir()
    query = "SELECT range FROM range(1048576)"

    refused = reason(
        lambda: export(source, cache, out, target="x.xlsx", format_="xlsx", query=query)
    )
    assert refused == "too_large"
    long = "SELECT repeat('x', 32768)"
    refused = reason(
        lambda: export(source, cache, out, target="x.xlsx", format_="xlsx", query=long)
    )
    assert refused == "too_large"
    assert list(out.parent.iterdir()) == []


@pytest.mark.rule("F28.1")
def test_sheet_names_the_target_when_the_source_has_none(source, cache, tmp_path):
    region = Region(sheet="Mine")
    out = tmp_path / "out"

    done = tools.table_export(source, cache, region, out=out, target="x.xlsx", format_="xlsx")

    assert done.extra["sheet"] == "Mine"
    both = {"out": out, "target": "x.xlsx", "format_": "xlsx", "target_sheet": "Other"}
    assert reason(lambda: tools.table_export(source, cache, region, **both)) == "op_conflict"


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@pytest.mark.rule("F28.2")
@settings(max_examples=15)
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6))
def test_an_exported_table_reads_back_the_same(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("t")
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([("left", "right"), *pairs])
    cache = Cache(folder / "cache")
    first = source_of(folder, file.getvalue())
    wanted = "SELECT CAST(left AS VARCHAR) AS l, CAST(right AS VARCHAR) AS r FROM data".replace(
        "left", '"left"'
    ).replace("right", '"right"')
    before = asked(first, cache, query=wanted)["rows"]
    out = folder / "out"

    export(first, cache, out, query=wanted + " ORDER BY __row")

    again = source_of(folder, out.read_bytes())
    seen = asked(again, cache, Region(header_row=1), query="FROM data")
    texts = [[None if v is None else str(v) for v in row] for row in seen["rows"]]
    kept = [[None if v is None else str(v) for v in row] for row in before]
    if seen["column_types"] == ["string", "string"]:
        assert texts == kept
    assert len(texts) == len(kept)


# --- into a workbook ------------------------------------------------------------------------------


@pytest.fixture
def base(tmp_path) -> Source:
    rows: list[list[object]] = [["ok", "name", "amount"], [True, "Old", 1], [False, "Older", 2]]
    data = workbook(
        {"Data": rows, "Other": [["x", "y"], [1, 2], [3, 4]], "Third": [[1]]}, chart_on="Other"
    )
    return source_of(tmp_path, data, "book.xlsx")


@pytest.mark.rule("F28.6", "F32.75")
def test_replacing_a_sheet_leaves_everything_else_alone(source, cache, base, tmp_path):
    out = tmp_path / "out"

    done = update(source, cache, base, out, "SELECT name, amount FROM data", mode="replace_sheet")

    assert cells(out, "Data") == [
        ["name", "amount"],
        ["Baker", 12.5],
        ["=1+1", -7],
        [None, 0.1],
    ]
    assert loaded(out)["Data"]["A3"].data_type == "s"
    before, after = members(base.path), members(out)
    changed = {name for name in before if after.get(name) != before[name]}
    assert changed <= {"xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/workbook.xml"}
    assert (done.extra["written_range"], done.extra["row_count"]) == ("A1:B4", 3)
    assert done.effects.collateral == ()


@pytest.mark.rule("F28.6", "F32.76")
def test_appended_rows_go_under_their_headings(source, cache, base, tmp_path):
    out = tmp_path / "out"

    done = update(source, cache, base, out, "SELECT name, amount, ok FROM data", mode="append_rows")

    assert cells(out, "Data")[2:] == [
        [False, "Older", 2],
        [True, "Baker", 12.5],
        [False, "=1+1", -7],
        [None, None, 0.1],
    ]
    assert codes(done) == [
        ("order_added", 1),
        ("header_skipped_on_append", 1),
        ("formula_like_cells", 1),
    ]
    assert done.extra["written_range"] == "A4:C6"
    assert done.effects.collateral == ()


@pytest.mark.rule("F28.6")
def test_without_the_headings_rows_are_appended_by_position(source, cache, base, tmp_path):
    out = tmp_path / "out"

    done = update(
        source, cache, base, out, "SELECT amount, day FROM data LIMIT 1", mode="append_rows"
    )

    assert cells(out, "Data")[3] == [12.5, datetime.datetime(2024, 3, 1), None]
    assert ("columns_by_position", 1) in codes(done)
    new = {"sheet": "New", "create_sheet_if_missing": True}
    fresh = update(source, cache, base, out, mode="append_rows", **new)
    assert fresh.extra["written_range"] == "A1:D4"
    assert cells(out, "New")[0] == ["name", "amount", "day", "ok"]


@pytest.mark.rule("F28.6", "F32.77")
def test_a_range_is_written_where_it_was_asked(source, cache, base, tmp_path):
    out = tmp_path / "out"
    query = "SELECT name, amount FROM data"

    kept = update(source, cache, base, out, query, mode="write_range", start_cell="B2")
    assert cells(out, "Data")[4] == [None, None, 0.1]
    assert kept.extra["written_range"] == "B2:C5"
    assert kept.focus == {
        "sheet": "Data",
        "row_start": 1,
        "row_end": 4,
        "col_start": 1,
        "col_end": 2,
    }

    query = "SELECT NULL AS name, NULL AS amount FROM data LIMIT 1"
    request = {"mode": "write_range", "start_cell": "B2", "include_header": False}
    update(source, cache, base, out, query, **request, null_cells="keep")
    assert cells(out, "Data")[1] == [True, "Old", 1]
    update(source, cache, base, out, query, **request, clear_target_range=True)
    assert cells(out, "Data") == [
        ["ok", "name", "amount"],
        [True, None, None],
        [False, "Older", 2],
    ]


@pytest.mark.rule("F28.5")
def test_a_workbook_that_is_missing_is_made(source, cache, tmp_path):
    out = tmp_path / "out"

    made = {"mode": "replace_sheet", "sheet": "Result", "create_workbook_if_missing": True}
    done = update(source, cache, None, out, **made)

    assert done.created
    assert loaded(out).sheetnames == ["Result"]
    assert cells(out, "Result")[1] == ["Baker", 12.5, datetime.datetime(2024, 3, 1), True]


@pytest.mark.rule("F28.7", "F26.6", "F32.77")
@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"mode": "append_rows", "clear_target_range": True}, "op_conflict"),
        ({"mode": "replace_sheet", "start_cell": "B2"}, "op_conflict"),
        ({"mode": "upsert"}, "bad_value"),
        ({"mode": "write_range", "start_cell": "ZZZZ1"}, "bad_range"),
        ({"mode": "write_range", "start_cell": "XFD1048576"}, "bad_range"),
        ({"mode": "replace_sheet", "sheet": "New"}, "unknown_sheet"),
        ({"mode": "replace_sheet", "sheet": "A/B", "create_sheet_if_missing": True},
         "bad_sheet_name"),
        ({"mode": "replace_sheet", "null_cells": "skip"}, "bad_value"),
        ({"mode": "replace_sheet", "target": "book.csv"}, "bad_value"),
        ({"mode": "replace_sheet", "query": "SELECT getenv('HOME')"}, "sql_forbidden_function"),
        ({"mode": "replace_sheet", "query": "FROM 'other.csv'"}, "sql_forbidden_table"),
    ],
)  # fmt: skip
def test_a_refused_update_leaves_nothing(source, cache, base, tmp_path, request_, expected):
    out = tmp_path / "folder" / "out"
    out.parent.mkdir()

    assert reason(lambda: update(source, cache, base, out, **request_)) == expected
    assert list(out.parent.iterdir()) == []


@pytest.mark.rule("F28.7")
def test_a_missing_workbook_is_said_when_it_may_not_be_made(source, cache, tmp_path):
    request = {"mode": "replace_sheet"}

    assert reason(lambda: update(source, cache, None, tmp_path / "out", **request)) == "not_found"


@pytest.mark.rule("F28.6")
def test_replacing_takes_merges_away_and_keeps_widths(source, cache, tmp_path):
    data = workbook({"Data": [["title", None], ["a", "b"], [1, 2]]}, merges=["A1:B1"])
    out = tmp_path / "out"

    done = update(
        source,
        cache,
        source_of(tmp_path, data, "book.xlsx"),
        out,
        "SELECT name, amount FROM data LIMIT 1",
        mode="replace_sheet",
    )

    page = loaded(out)["Data"]
    assert list(page.merged_cells.ranges) == []
    assert [[cell.value for cell in row] for row in page.iter_rows(max_row=2)] == [
        ["name", "amount"],
        ["Baker", 12.5],
    ]
    assert done.effects.collateral == ()


@pytest.mark.rule("F28.8")
def test_a_workbook_can_be_asked_and_written_at_once(cache, base, tmp_path):
    out = tmp_path / "out"
    query = "SELECT name, amount * 10 AS amount, ok FROM data"

    tools.table_update_from_export(
        base,
        cache,
        Region(sheet="Data"),
        base=base,
        out=out,
        request=Update(target="book.xlsx", sheet="Data", mode="append_rows"),
        query=query,
    )

    assert cells(out, "Data")[3:] == [[True, "Old", 10], [False, "Older", 20]]


@pytest.mark.rule("F24.2", "F28.6")
def test_formulas_that_look_at_the_result_follow(source, cache, tmp_path):
    rows: list[list[object]] = [["name", "amount"], ["Old", 1]]
    data = workbook({"Data": rows, "Sum": [["=SUM(Data!B1:B99)"]]})
    out = tmp_path / "out"

    done = update(
        source,
        cache,
        source_of(tmp_path, data, "book.xlsx"),
        out,
        "SELECT name, amount FROM data",
        mode="append_rows",
    )

    assert done.effects.collateral == ()
    shown = loaded(out, data_only=True)["Sum"]["A1"].value
    assert shown is None or shown == pytest.approx(6.6)


def test_headings_of_a_named_table_are_not_written_over(source, cache, tmp_path):
    book = openpyxl.Workbook()
    page = book.worksheets[0]
    page.title = "Data"
    for row in (["name", "amount"], ["Old", 1]):
        page.append(row)
    from openpyxl.worksheet.table import Table

    page.add_table(Table(displayName="Rows", ref="A1:B2"))
    raw = io.BytesIO()
    book.save(raw)
    base = source_of(tmp_path, raw.getvalue(), "book.xlsx")

    refused = reason(lambda: update(source, cache, base, tmp_path / "out", mode="replace_sheet"))
    assert refused == "op_conflict"


LINK = '=HYPERLINK("http://example.com","pay here")'


@pytest.mark.rule("F17.1", "F28.2", "F28.3", "F28.6", "F32.20", "F32.21")
def test_formulas_as_data_stay_text_on_every_way_into_a_workbook(cache, tmp_path):
    quoted = LINK.replace('"', '""')
    source = source_of(tmp_path, f'what,n\n"{quoted}",1\n@SUM(A1),2\n')
    ways: list[Any] = [
        lambda out: export(source, cache, out, target="book.xlsx", format_="xlsx"),
        *(
            lambda out, mode=mode: update(
                source,
                cache,
                None,
                out,
                sheet="Sheet1",
                mode=mode,
                create_workbook_if_missing=True,
            )
            for mode in ("replace_sheet", "append_rows", "write_range")
        ),
    ]
    for number, way in enumerate(ways):
        out = tmp_path / f"{number}.xlsx"
        way(out)

        page = loaded(out)["Sheet1"]
        assert [(page[at].value, page[at].data_type) for at in ("A2", "A3")] == [
            (LINK, "s"),
            ("@SUM(A1)", "s"),
        ]
        assert not any(b"<f>" in data for data in members(out).values())

    base = Source(out, hashlib.sha256(out.read_bytes()).hexdigest(), "book.xlsx")
    values = [[LINK, 1]]
    sums = {"category_col": "A", "amount_col": "B"}
    operations: list[Any] = [
        *({"op": "ensure_sheet", "sheet": name} for name in ("T", "Sums", "U")),
        {"op": "set_range", "sheet": "T", "start": "A1", "values": values, "types": ["string"]},
        {"op": "summarize_by_category", "sheet": "Sums", "source_sheets": ["Sheet1"], **sums},
        {"op": "set_cells", "sheet": "U", "cells": [{"cell": "A1", "value": LINK}]},
    ]
    request = OpsRequest(name="book.xlsx", operations=operations)
    xlsx.apply_ops(base, request, tmp_path / "ops.xlsx")

    book = loaded(tmp_path / "ops.xlsx")
    assert (book["T"]["A1"].value, book["T"]["A1"].data_type) == (LINK, "s")
    assert ("A2", LINK) in {(at, book["Sums"][at].value) for at in ("A2", "A3")}
    assert {book["Sums"][at].data_type for at in ("A2", "A3")} == {"s"}
    assert book["U"]["A1"].data_type == "f"  # asked for: a cell that begins with `=`


PEOPLE: list[list[Any]] = [["id", "mail"], [1, "a"], [1, "a"], [2, "b"], [3, None], [4, "d"]]


@pytest.mark.rule("F28.6", "F28.8")
def test_a_null_in_a_written_row_empties_its_cell(cache, tmp_path):
    base = source_of(tmp_path, workbook({"Data": PEOPLE}), "book.xlsx")
    request = {"mode": "write_range", "start_cell": "A2", "include_header": False}
    query = "SELECT DISTINCT id, mail FROM data ORDER BY id"
    out = tmp_path / "out"

    done = update(base, cache, base, out, query, **request)

    assert cells(out, "Data") == [["id", "mail"], [1, "a"], [2, "b"], [3, None], [4, "d"], [4, "d"]]
    assert done.extra["cleared_cells"] == 1
    assert "Data!B4" in [effect.where for effect in done.effects.changed]
    said = {warning.code: warning.where for warning in done.warnings}
    assert said["source_overwritten"] == "Data!A1:B6"
    assert said["rows_left"] == "Data!A6:B6"
    assert done.effects.collateral == ()


@pytest.mark.rule("F28.6")
def test_nulls_keep_their_cells_when_that_is_asked_for(cache, tmp_path):
    base = source_of(tmp_path, workbook({"Data": PEOPLE}), "book.xlsx")
    asked_for = {"mode": "write_range", "start_cell": "A2", "include_header": False}
    query = "SELECT id, NULL AS mail FROM data ORDER BY __row"

    done = update(base, cache, base, tmp_path / "out", query, **asked_for, null_cells="keep")

    assert [row[1] for row in cells(tmp_path / "out", "Data")] == [row[1] for row in PEOPLE]
    assert done.extra["cleared_cells"] == 0


@pytest.mark.rule("F28.6")
def test_a_result_beside_its_source_says_nothing_of_overwriting(cache, tmp_path):
    base = source_of(tmp_path, workbook({"Data": PEOPLE}), "book.xlsx")

    done = update(base, cache, base, tmp_path / "out", mode="write_range", start_cell="E1")

    assert not {"source_overwritten", "rows_left"} & {code for code, _ in codes(done)}


@pytest.mark.rule("F28.3", "F28.6", "F24.4")
def test_text_like_a_formula_becomes_one_only_when_that_is_asked_for(cache, tmp_path):
    source = source_of(tmp_path, "a,b\n1,=A2*2\n2,=A3*2\n")
    base = source_of(tmp_path, workbook({"Data": [["x"]]}), "book.xlsx")
    request = {"mode": "write_range"}

    text = update(source, cache, base, tmp_path / "text", **request)
    done = update(source, cache, base, tmp_path / "formulas", **request, formulas=True)

    assert cells(tmp_path / "text", "Data")[1] == [1, "=A2*2"]
    assert loaded(tmp_path / "text")["Data"]["B2"].data_type == "s"
    like = next(w for w in text.warnings if w.code == "formula_like_cells")
    assert (like.count, str(like.where)[:11]) == (2, "Data!B2, B3")
    assert loaded(tmp_path / "formulas")["Data"]["B2"].data_type == "f"
    assert done.extra["formula_cells"] == 2
    assert loaded(tmp_path / "formulas", data_only=True)["Data"]["B3"].value == 4
    unsafe = source_of(tmp_path, 'a,b\n1,"=WEBSERVICE(""http://x"")"\n')
    refused = reason(lambda: update(unsafe, cache, base, tmp_path / "x", **request, formulas=True))
    assert refused == "unsafe_formula"


@pytest.mark.rule("F17.13", "F28.6")
@pytest.mark.parametrize(
    ("note_row", "request_", "rows"),
    [
        (None, {"mode": "write_range", "start_cell": "A4", "include_header": False}, "A4:B6"),
        (9, {"mode": "append_rows"}, "A11:B13"),
    ],
)
def test_a_result_written_below_a_table_says_that_it_does_not_extend_it(
    tmp_path, cache, source, note_row, request_, rows
):
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("Data")
        sheet.add_table("A1:B3", {"name": "Ledger", "data": [["a", 1], ["b", 2]]})
        if note_row:
            sheet.write(note_row, 0, "a note")
    base = Source(path, hashlib.sha256(path.read_bytes()).hexdigest(), "book.xlsx")

    done = update(
        source, cache, base, tmp_path / "out.xlsx", "SELECT name, amount FROM data", **request_
    )

    (said,) = [one.where for one in done.warnings if one.code == "table_not_extended"]
    assert said.startswith(f"the table Ledger (A1:B3) was not extended by Data!{rows}, written")


@pytest.mark.rule("F28.2", "F24.20")
def test_an_exported_float_keeps_every_digit(tmp_path, cache):
    made = source_of(tmp_path, "x\n200.99999999999997\n0.1\n")

    export(made, cache, tmp_path / "out.csv")
    sum_of = "SELECT sum(x) AS total FROM data"
    export(made, cache, tmp_path / "sum.csv", query=sum_of)

    assert (tmp_path / "out.csv").read_text() == "x\n200.99999999999997\n0.1\n"
    assert float((tmp_path / "sum.csv").read_text().split()[1]) == 200.99999999999997 + 0.1
