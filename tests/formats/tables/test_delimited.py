"""Delimited files as tables: dialects, ragged rows, encodings, names, types, the cache."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.tables.files import source_of

from backshop.formats import forget
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Limits, Source
from backshop.formats.tables import ask, engine, tools
from backshop.formats.tables.cache import Cache
from backshop.formats.tables.ingest import open_table
from backshop.formats.tables.names import column_names
from backshop.formats.tables.order import RESERVED
from backshop.formats.tables.syntax import fold

MakeSource = Callable[..., Source]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def make(tmp_path: Path) -> MakeSource:
    return lambda data, name="t.csv", **limits: source_of(tmp_path, data, name, **limits)


def mapped(source, cache):
    return tools.table_get_map(source, cache).to_json(source)


def query(source, cache, sql="SELECT * FROM data", **window):
    return tools.table_query(source, cache, query=sql, **window)


def rows(source, cache, sql="SELECT * FROM data"):
    answer = query(source, cache, sql, window_rows=5000)
    assert not answer["has_more"]
    return answer["rows"]


def types(source, cache):
    return {column["name"]: column["inferred_type"] for column in mapped(source, cache)["columns"]}


def codes(source, cache):
    return [
        (warning["code"], warning["count"], warning["where"])
        for warning in mapped(source, cache)["warnings"]
    ]


def reason(action) -> FormatError:
    with pytest.raises(FormatError) as caught:
        action()
    return caught.value


@pytest.mark.rule("F27.1", "F5.1")
def test_the_map_of_a_table(make, cache):
    source = make("id,name\n" + "".join(f"{n},x\n" for n in range(1200)))

    assert mapped(source, cache) == {
        "map_version": 3,
        "format": "csv",
        "size_bytes": source.size_bytes,
        "sha256": source.sha256,
        "warnings": [],
        "security": {},
        "delimiter": ",",
        "quote_char": '"',
        "encoding_detected": "utf-8",
        "encoding_confidence": 1.0,
        "has_header": True,
        "row_count": 1200,
        "column_count": 2,
        "columns": [
            {"name": "id", "source_name": "id", "index": 0, "inferred_type": "integer"},
            {"name": "name", "source_name": "name", "index": 1, "inferred_type": "string"},
        ],
        "chunking": {"unit": "rows", "size": 500, "count": 3, "origin": 1},
        "chunks": [
            {"index": 0, "rows": "1-500"},
            {"index": 1, "rows": "501-1000"},
            {"index": 2, "rows": "1001-1200"},
        ],
        "region": None,
        "dialect": {
            "delimiter": ",",
            "quote": '"',
            "escape": "",
            "skip": 0,
            "header": 1,
            "encoding": "utf-8",
            "confidence": 1.0,
            "given": (),
        },
    }


@pytest.mark.rule("F25.3")
@pytest.mark.parametrize(
    ("name", "data", "delimiter"),
    [
        ("t.csv", "a,b\n1,2\n", ","),
        ("t.csv", "a;b\n1;2\n", ";"),
        ("t.tsv", "a\tb\n1\t2\n", "\t"),
        ("t.psv", "a|b\n1|2\n", "|"),
        ("t.csv", 'a;b\n1;"x;y"\n', ";"),
    ],
)
def test_the_delimiter_is_found(make, cache, name, data, delimiter):
    source = make(data, name)

    assert mapped(source, cache)["delimiter"] == delimiter
    assert len(rows(source, cache)[0]) == 2


@pytest.mark.rule("F25.3", "F32.61", "F32.62")
@pytest.mark.parametrize(
    ("codec", "reported", "is_guess"),
    [
        ("utf-8", "utf-8", False),
        ("utf-8-sig", "utf-8", False),
        ("utf-16", "utf-16-le", False),
        ("utf-16-be", "utf-16-be", True),
        ("cp1252", "cp1252", True),
    ],
)
def test_encodings_are_read(make, cache, codec, reported, is_guess):
    source = make("año,ciudad\n1,Peñíscola\n2,Córdoba\n".encode(codec))
    found = mapped(source, cache)

    assert found["encoding_detected"] == reported
    assert [column["name"] for column in found["columns"]] == ["año", "ciudad"]
    assert rows(source, cache, "SELECT ciudad FROM data") == [["Peñíscola"], ["Córdoba"]]
    assert (("encoding_guessed", 1, None) in codes(source, cache)) == is_guess


@pytest.mark.rule("F25.3")
def test_an_encoding_that_shows_late_is_found_too(make, cache):
    source = make(b"a,b\n" + b"1,x\n" * 300_000 + "2,Peña y Córdoba\n".encode("cp1252"))

    assert mapped(source, cache)["encoding_detected"] == "cp1252"
    assert rows(source, cache, "SELECT b FROM data WHERE a = 2") == [["Peña y Córdoba"]]


@pytest.mark.rule("F25.3")
@pytest.mark.parametrize("start", ["", "A title\n\n"])
def test_an_encoding_that_shows_late_in_long_rows_is_found_too(make, cache, start):
    rows_ = "".join(f"{n},{'x' * 1500}\n" for n in range(900))
    source = make((start + "a,b\n" + rows_ + "900,Córdoba\n").encode("cp1252"))

    assert mapped(source, cache)["encoding_detected"] == "cp1252"
    assert rows(source, cache, "SELECT b FROM data WHERE a = 900") == [["Córdoba"]]


@pytest.mark.rule("F25.3")
@pytest.mark.parametrize("above", ['"A title\n', "A\rtitle\n", 'He said "a\n\n'])
def test_odd_lines_above_a_table_cost_none_of_its_rows(make, cache, above):
    source = make(above + "a,b\n" + "1,2\n" * 3000)

    assert mapped(source, cache)["row_count"] == 3000
    assert rows(source, cache, "SELECT sum(b) FROM data") == [[6000]]


@pytest.mark.rule("F25.4", "F32.63")
def test_short_rows_are_filled_up_and_counted(make, cache):
    source = make("a,b,c\n1,2\n3,4,5\n6\n")

    assert rows(source, cache) == [[1, 2, None], [3, 4, 5], [6, None, None]]
    assert codes(source, cache) == [("short_rows", 2, "lines 2, 4")]


@pytest.mark.rule("F25.4", "F32.63")
def test_long_rows_make_columns_and_are_told_by_line(make, cache):
    usual = "1,2,3\n" * 9
    source = make('a,b,c\n1,"x\ny",3\n1,2,3,4\n' + usual + "1,2,3,,5\n" * 6 + "1,2,3,,\n" + usual)

    assert codes(source, cache) == [("long_rows", 7, "lines 4, 14, 15, 16, 17, …")]
    names = [column["name"] for column in mapped(source, cache)["columns"]]
    assert names == ["a", "b", "c", "column_4", "column_5"]
    found = rows(source, cache)
    assert found[0] == [1, "x\ny", 3, None, None]
    assert found[1] == [1, "2", 3, 4, None]
    assert found[11] == [1, "2", 3, None, 5]
    assert (found[17], found[-1]) == ([1, "2", 3, None, None], [1, "2", 3, None, None])


@pytest.mark.rule("F25.4")
def test_a_table_as_wide_as_no_sheet_is_refused(make, cache):
    wide = ",".join(["x"] * 20_000)

    assert reason(lambda: mapped(make(wide + "\n"), cache)).reason == "too_large"
    one = make("a,b\n1,2\n" * 3 + wide + "\n")
    assert reason(lambda: mapped(one, cache)).reason == "too_large"


@pytest.mark.rule("F25.4")
def test_a_quote_that_never_closes_costs_its_own_row(make, cache):
    source = make('a,b\n1,2\n"x,2\n3,4\n')

    assert rows(source, cache) == [["1", 2], ['"x', 2], ["3", 4]]
    assert codes(source, cache) == [("rows_repaired", 1, "line 3")]
    answer = query(source, cache)
    assert "rows_repaired" in [warning["code"] for warning in answer["warnings"]]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("a,b\r\n1,2\n3,4\r5,6\n", [[1, 2], [3, 4], [5, 6]]),
        ("a,b\n\n1,2\n\n\n3,4\n\n", [[1, 2], [3, 4]]),
        ("\n\na,b\n1,2\n", [[1, 2]]),
        ("a\n1\n\n2\n", [[1], [2]]),
        ('a,b\n"x"y,2\n', [['"x"y', 2]]),
        ('a,b\nx"y"z,2\n', [['x"y"z', 2]]),
        ('"a\nb",c\n"1\r\n2",3\n', [["1\r\n2", 3]]),
        ("a,b\n1,2", [[1, 2]]),
        ("#a,b\n#1,2\n", [["#1", 2]]),
        ("a,b\n,\n", [[None, None]]),
    ],
)
def test_untidy_files_lose_nothing(make, cache, data, expected):
    assert rows(make(data), cache) == expected


@pytest.mark.rule("F25.2", "F32.65")
def test_names_are_kept_where_they_can_be(make, cache):
    source = make("a,,a,A,__row,rowid, b \n1,2,3,4,5,6,7\n")
    found = mapped(source, cache)["columns"]

    assert [(item["name"], item["source_name"]) for item in found] == [
        ("a", "a"),
        ("column_2", None),
        ("a_2", "a"),
        ("A_3", "A"),
        ("__row_2", "__row"),
        ("rowid_2", "rowid"),
        (" b ", " b "),
    ]
    assert rows(source, cache, "SELECT __row, rowid_2, a_2 FROM data") == [[1, 6, 3]]


@given(st.lists(st.one_of(st.none(), st.text(alphabet="aA_2 1\0é", max_size=4)), max_size=12))
def test_names_are_distinct_and_not_reserved(headers):
    names = column_names(headers)

    folded = [fold(name) for name in names]
    assert len(set(folded)) == len(headers)
    assert not RESERVED & set(folded)
    assert all(name.strip() for name in names)


@pytest.mark.rule("F25.7")
def test_a_file_without_header_gets_counted_names(make, cache):
    source = make("1,2024-01-01\n2,2024-01-02\n")

    assert mapped(source, cache)["has_header"] is False
    assert types(source, cache) == {"column_1": "integer", "column_2": "date"}
    headed = tools.table_get_map(source, cache, tools.Region(header_row=1)).data
    assert (headed["row_count"], headed["has_header"]) == (1, True)


@pytest.mark.rule("F25.5", "F32.64")
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ("1 -2 0 999999999999999999", "integer"),
        ("1 2.5 1e3 .5 5. -0.1E-2 0.30000000000000004", "float"),
        ("00123 04567", "string"),
        ("1 007", "string"),
        ("1.5 01.5", "string"),
        ("+49 49", "string"),
        ("1234567890123456789 1", "string"),
        ("12345678901234567890123", "string"),
        ("0 10 -0", "integer"),
        ("true FALSE True", "boolean"),
        ("true 1", "string"),
        ("2024-02-29 1999-12-31", "date"),
        ("2023-02-29", "string"),
        ("2024/02/29 2024/3/1", "date"),
        ("2024-01-01T10:00:00 2024-01-01T10:00:00.5", "datetime"),
        ("2024-01-01T10:00:00Z 2024-01-01T10:00:00+02:00", "datetime"),
        ("2024-01-01 2024-01-01T10:00", "datetime"),
        ("10:30 23:59:59", "time"),
        ("25:00", "string"),
        ("13/01/2024 01/02/2024", "date"),
        ("01/13/2024 02/01/2024", "date"),
        ("31.12.2024 01.01.2024", "date"),
        ("13/01/2024 01/13/2024", "string"),
        ("01/02/2024 03/04/2024", "string"),
        ("0x1F 12", "string"),
        ("1_000 5", "string"),
        ("nan 1", "string"),
        ("inf", "string"),
        ("1,5 2,25", "string"),
        ("NA 1", "string"),
    ],
)
def test_the_type_is_what_all_values_are(make, cache, values, kind):
    lines = "".join(f'x,"{value}"\n' for value in values.split())

    assert types(make("k,v\n" + lines), cache)["v"] == kind
    # the same when the decisive value comes after the sample, and none before it
    late = "k,v\n" + "x,\n" * 2500 + lines
    assert types(make(late), cache)["v"] == kind


@pytest.mark.rule("F25.5")
@pytest.mark.parametrize(
    ("usual", "late", "kind", "sql", "expected"),
    [
        ("1", "1.5", "float", "sum(v)", 3001.5),
        ("1", "007", "string", "min(v)", "007"),
        ("1", "x", "string", "max(v)", "x"),
        ("2024-01-01", "2024-01-01 12:00:00", "datetime", "max(v)", "2024-01-01T12:00:00"),
        ("true", "maybe", "string", "min(v)", "maybe"),
        ("01/02/2024", "13/02/2024", "date", "max(v)", "2024-02-13"),
        ("1.5", "2", "float", "max(v)", 2.0),
    ],
)
def test_one_late_value_decides_for_all(make, cache, usual, late, kind, sql, expected):
    source = make("k,v\n" + f"x,{usual}\n" * 3000 + f"y,{late}\n")

    assert types(source, cache)["v"] == kind
    assert rows(source, cache, f"SELECT {sql} FROM data") == [[expected]]


@pytest.mark.rule("F25.5", "F32.64")
def test_a_decimal_comma_is_told_with_a_way_to_read_it(make, cache):
    source = make("price;n\n1.234,56;1\n-3,5;2\n7;3\n", "t.csv")
    found = mapped(source, cache)

    assert codes(source, cache) == [("decimal_comma", 1, "price")]
    (hint,) = found["hints"]
    assert rows(source, cache, f"SELECT sum({hint}) FROM data") == [[1238.06]]


@pytest.mark.rule("F27.2", "F25.5")
def test_a_description_says_why_a_column_is_text(make, cache):
    source = make("day;price\n01.02.2026;1.234,56\n03.04.2026;-3,5\n", "t.csv")

    described: Any = tools.table_describe(source, cache)

    assert [(one["code"], one["where"]) for one in described["warnings"]] == [
        ("decimal_comma", "price"),
        ("ambiguous_dates", "day"),
    ]
    assert described["hints"] == list(mapped(source, cache)["hints"])


def test_thousands_are_no_decimals(make, cache):
    source = make('a,b\n"1,234",x\n"12,500",y\n')

    assert types(source, cache)["a"] == "string"
    assert codes(source, cache) == []


@pytest.mark.rule("F25.5")
def test_dates_that_could_be_read_two_ways_stay_text(make, cache):
    source = make("d,e\n01/02/2024,1\n03/04/2024,2\n")

    assert types(source, cache)["d"] == "string"
    assert codes(source, cache) == [("ambiguous_dates", 1, "d")]


@pytest.mark.rule("F2.3", "F25.1")
def test_text_that_looks_like_a_table_is_one(make, cache):
    source = make("a|b\n" + "1|2\n" * 6, "notes.txt")

    assert codes(source, cache) == [("format_inferred", 1, None)]
    assert len(rows(source, cache)) == 6
    wide = make(f"{'a' * 9999}|b\n" * 20, "wide.txt")  # the sample ends inside a line
    assert mapped(wide, cache)["row_count"] == 19
    prose = make("a line\nanother line\nand more\nand more\nand more\n", "notes.txt")
    assert reason(lambda: mapped(prose, cache)).reason == "unsupported_format"
    assert reason(lambda: mapped(make(b"%PDF-1.7", "x.pdf"), cache)).reason == "unsupported_format"


def test_an_empty_file_is_an_empty_table(make, cache):
    source = make("")

    found = mapped(source, cache)
    assert (found["row_count"], found["columns"], found["chunks"]) == (0, [], [])
    assert rows(source, cache, "SELECT count(*) FROM data") == [[0]]
    only_names = make("a,b\n")
    assert mapped(only_names, cache)["row_count"] == 0
    assert rows(only_names, cache) == []


def test_what_does_not_fit_a_delimited_file_is_refused(make, cache):
    source = make("a,b\n1,2\n")

    assert reason(lambda: open_table(source, cache, sheet="x")).reason == "bad_selector"
    assert reason(lambda: open_table(source, cache, range="A1:B2")).reason == "bad_selector"
    assert reason(lambda: open_table(source, cache, header_row=3)).reason == "bad_value"


def test_a_record_that_is_too_long_is_refused_without_being_quoted(make, cache):
    error = reason(lambda: mapped(make("a,b\n" + "x" * 9_000_000 + ",1\n"), cache))

    assert error.reason == "too_large"
    assert "xxx" not in f"{error.message}{error.detail}"


@pytest.mark.rule("F2.5")
def test_taking_in_ends_at_the_time_limit(make, cache):
    source = make("a,b\n" + "1,2024-01-01\n" * 500_000, map_timeout_s=0.01)

    error = reason(lambda: mapped(source, cache))

    assert (error.reason, error.info("map").retryable) == ("timeout", True)
    assert list(cache.folder.iterdir()) == []


# --- against another parser -----------------------------------------------------------------------

FIELD = st.one_of(
    st.sampled_from(
        ["", "1", "007", " 5 ", "2.50", "true", "2024-01-01", "-", "x,y", 'q"q', "a\nb"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6),
)


@pytest.mark.rule("F25.3")
@settings(max_examples=40)
@given(
    table=st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(FIELD, min_size=width, max_size=width), max_size=8)
    ),
    newline=st.sampled_from(["\n", "\r\n"]),
    delimiter=st.sampled_from([",", ";"]),
)
def test_every_value_is_what_the_standard_parser_reads(tmp_path_factory, table, newline, delimiter):
    width = len(table[0]) if table else 2
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator=newline)
    writer.writerow([f"name{at}" for at in range(width)])
    writer.writerows(table)
    folder = tmp_path_factory.mktemp("t")
    source = source_of(folder, file.getvalue())
    cache = Cache(folder / "cache")

    found = query(source, cache, window_rows=100)

    kinds = found["column_types"]
    if found["columns"] == [f"name{at}" for at in range(width)]:  # else the sniffer saw another
        assert len(found["rows"]) == len(table)
        for ours, theirs in zip(found["rows"], table, strict=True):
            for value, text, kind in zip(ours, theirs, kinds, strict=True):
                if kind == "string":
                    assert value == (text or None)
                elif value is None:
                    assert text == ""
                elif kind in {"integer", "float"}:
                    assert value == float(text)


@pytest.mark.needs("corpora")
@pytest.mark.rule("F25.3")
def test_the_spectrum_of_csv_files_is_read_exactly(corpora, tmp_path, cache):
    seen = 0
    for path in sorted((corpora / "csv").glob("*.csv")):
        expected = json.loads(path.with_suffix(".json").read_text())
        source = source_of(tmp_path, path.read_bytes(), path.name)

        answer = query(source, cache)

        as_text = [
            {
                name: "" if value is None else str(value)
                for name, value in zip(answer["columns"], row, strict=True)
            }
            for row in answer["rows"]
        ]
        assert as_text == expected, path.name
        seen += 1
    assert seen >= 11


# --- the cache ------------------------------------------------------------------------------------


@pytest.mark.rule("F25.8", "F32.74")
def test_a_table_is_kept_under_its_content(make, cache):
    before, after = make("a,b\n1,2\n"), make("a,b\n1,3\n")

    assert rows(before, cache, "SELECT b FROM data") == [[2]]
    assert rows(after, cache, "SELECT b FROM data") == [[3]]
    assert rows(before, cache, "SELECT b FROM data") == [[2]]
    kept = sorted(path.suffix for path in cache.folder.iterdir())
    assert kept == [".duckdb", ".duckdb", ".json", ".json"]
    nameless = make("1,2\n3,4\n")
    assert rows(nameless, cache, "SELECT column_1 FROM data") == [[1], [3]]
    nameless.path.unlink()  # asked again without being read again
    assert rows(nameless, cache, "SELECT column_2 FROM data") == [[2], [4]]
    after.path.unlink()
    assert rows(after, cache, "SELECT b FROM data") == [[3]]


@pytest.mark.rule("F25.8")
@pytest.mark.parametrize("damage", ["cut", "garbage", "no shape", "middle"])
def test_a_broken_cache_is_built_again(make, cache, damage):
    source = make("a,b\n" + "".join(f"{n},text {n}\n" for n in range(5000)))
    total = rows(source, cache, "SELECT sum(a), max(b) FROM data")
    (table,) = cache.folder.glob("*.duckdb")
    data = table.read_bytes()
    if damage == "cut":
        table.write_bytes(data[: len(data) // 2])
    elif damage == "garbage":
        table.write_bytes(b"\0" * 8 + b"DUCK" + b"garbage" * 1000)
    elif damage == "middle":
        table.write_bytes(data[:12_300] + bytes(255 - byte for byte in data[12_300:]))
    else:
        table.with_suffix(".json").write_text("{}")

    assert rows(source, cache, "SELECT sum(a), max(b) FROM data") == total


@pytest.mark.rule("F25.8")
def test_the_cache_forgets_what_was_used_longest_ago(make, tmp_path):
    roomy = Cache(tmp_path / "tables")
    sources = [make(f"a,b\n{n},2\n") for n in range(3)]
    for source in sources:
        mapped(source, roomy)
    sizes = [path.stat().st_size for path in roomy.folder.glob("*.duckdb")]
    rows(sources[0], roomy)  # used last

    Cache(roomy.folder, max_bytes=sum(sizes) - 1).make_room()

    kept = {path.name.partition("-")[0] for path in roomy.folder.glob("*.duckdb")}
    assert kept == {sources[0].sha256, sources[2].sha256}
    forget(tmp_path, lambda sha256: True)
    assert len(list(roomy.folder.glob("*.duckdb"))) == 2
    assert forget(tmp_path, lambda sha256: sha256 == sources[2].sha256) == 2
    assert {path.name.partition("-")[0] for path in roomy.folder.iterdir()} == {sources[2].sha256}


@pytest.mark.rule("F1.3")
def test_two_intakes_give_the_same_answers(make, tmp_path):
    source = make("a,b\n" + "".join(f"{n * 0.1},g{n % 7}\n" for n in range(40_000)))
    sql = "SELECT b, sum(a), avg(a), stddev(a) FROM data GROUP BY b"

    one, two = (rows(source, Cache(tmp_path / name), sql) for name in ("one", "two"))

    assert one == two


@pytest.mark.rule("F25.9")
def test_what_builds_a_table_reads_one_file_and_what_asks_reads_none(
    tmp_path, make, cache, monkeypatch
):
    opened: list[Any] = []

    def noting(path, limits, **how):
        made = real(path, limits, **how)

        @contextmanager
        def watched():
            with made as connection:
                opened.append((how["read_only"], connection))
                yield connection

        return watched()

    real = engine._opened
    monkeypatch.setattr(engine, "_opened", noting)
    other = tmp_path / "other.csv"
    other.write_bytes(b"secret\n1\n")
    staged = tmp_path / "staged.csv"
    staged.write_bytes(b"a\n1\n")
    with engine.building(tmp_path / "t.duckdb", Limits(), staged, 5) as connection:
        assert connection.execute(f"SELECT * FROM read_csv('{staged}')").fetchall() == [(1,)]
        for statement in (
            f"SELECT * FROM read_csv('{other}')",
            f"ATTACH '{tmp_path / 'new.duckdb'}'",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(statement)

    opened.clear()
    table = open_table(make(b"b\n1\n"), cache)
    ask.query(table, "SELECT * FROM data")

    (building, first), *asking = opened
    assert (building, [read_only for read_only, _ in asking]) == (False, [True] * len(asking))
    assert asking
    assert all(connection is not first for _, connection in asking)
    with pytest.raises(duckdb.ConnectionException):
        first.execute("SELECT 1")  # closed when it had built


@pytest.mark.rule("F25.3", "F25.6")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("inside", ["\r", "x\ry", "x\r\ny", "x\ny", "\n"])
def test_a_field_may_hold_other_line_ends_than_the_file(make, cache, end, inside):
    source = make(f'a,b{end}"{inside}",1{end}2,"{inside}"{end}', "t.csv")

    assert rows(source, cache) == [[inside, "1"], ["2", inside]]
