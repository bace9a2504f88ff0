"""Questions about a table: windows, order, rows, descriptions, statistics, limits."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base import limits as numbers
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Limits
from backshop.formats.tables import ask, engine
from backshop.formats.tables.values import duration


def query(*arguments, **named):
    return ask.query(*arguments, **named)


def read_rows(*arguments):
    return ask.read_rows(*arguments)


def describe(table):
    return ask.describe(table)


def stats(*arguments):
    return ask.stats(*arguments)


def rows(table, sql, **window):
    return query(table, sql, **window)["rows"]


def reason(action) -> str:
    with pytest.raises(FormatError) as caught:
        action()
    return str(caught.value.reason)


@pytest.mark.rule("F27.5")
def test_a_query_answers_with_one_window(sales):
    answer = dict(query(sales, "SELECT b, sum(a) AS total FROM data GROUP BY b ORDER BY total"))

    elapsed = answer.pop("query_elapsed_ms")
    assert isinstance(elapsed, int)
    assert answer == {
        "columns": ["b", "total"],
        "column_types": ["string", "integer"],
        "rows": [["x0", 6], ["x2", 15], ["x1", 24]],
        "row_count": 3,
        "total_row_count": 3,
        "window_rows": 100,
        "window_offset": 0,
        "has_more": False,
        "ordered": True,
        "warnings": [],
    }


@pytest.mark.rule("F27.5", "F32.71")
def test_a_window_beyond_the_end_is_empty_and_knows_the_total(sales):
    answer = query(sales, "SELECT a FROM data", window_rows=3, window_offset=40)

    assert (answer["rows"], answer["total_row_count"], answer["has_more"]) == ([], 10, False)
    exact = query(sales, "SELECT a FROM data", window_rows=5, window_offset=5)
    assert (exact["row_count"], exact["total_row_count"], exact["has_more"]) == (5, 10, False)
    nothing = query(sales, "SELECT a FROM data WHERE false")
    assert (nothing["rows"], nothing["total_row_count"]) == ([], 0)


@pytest.mark.rule("F27.6", "F32.70")
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a FROM data WHERE a > 6", [[7], [8], [9]]),  # by row: 7, 8, 9 stand in this order
        ("SELECT a FROM data LIMIT 3", [[0], [7], [4]]),
        ("SELECT b, count(*) FROM data GROUP BY b LIMIT 2", [["x0", 4], ["x1", 3]]),
        ("SELECT DISTINCT b FROM data", [["x0"], ["x1"], ["x2"]]),
        ("SELECT a FROM data UNION SELECT 3 LIMIT 2", [[0], [1]]),
        ("VALUES (2), (NULL), (1)", [[1], [2], [None]]),
        ("SELECT DISTINCT ON (b) b, a FROM data", [["x0", 0], ["x1", 7], ["x2", 4]]),
        ("SELECT b, a FROM data ORDER BY b DESC LIMIT 2", [["x2", 4], ["x2", 5]]),
        ("SELECT a FROM data ORDER BY ALL LIMIT 2", [[0], [1]]),
        ("SELECT a FROM (SELECT a FROM data ORDER BY a DESC) LIMIT 2", [[0], [1]]),
        ("SELECT a, row_number() OVER (ORDER BY a) FROM data LIMIT 2", [[0, 1], [7, 8]]),
        ("(SELECT a FROM data ORDER BY a DESC LIMIT 2)", [[9], [8]]),
        ("SELECT unnest([2, 1])", [[1], [2]]),
    ],
)
def test_every_result_has_an_order_of_its_own(sales, sql, expected):
    assert rows(sales, sql) == expected


@pytest.mark.rule("F27.6")
def test_an_order_that_was_added_is_said(sales):
    plain = query(sales, "SELECT b FROM data GROUP BY b")
    asked = query(sales, "SELECT b FROM data GROUP BY b ORDER BY b")
    described = query(sales, "DESCRIBE data")

    added = {"code": "order_added", "count": 1, "where": None}
    assert (plain["ordered"], plain["warnings"]) == (False, [added])
    assert (asked["ordered"], asked["warnings"]) == (True, [])
    assert [row[0] for row in described["rows"]] == ["a", "b", "day", "Update"]


@pytest.mark.rule("F27.6", "F1.3", "F32.70")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x FROM data",
        "SELECT g, sum(x), avg(x), first(x), string_agg(t, '') FROM data GROUP BY g",
        "SELECT t FROM data ORDER BY g",
        "SELECT sum(x), stddev(x), approx_quantile(x, 0.3) FROM data",
        "SELECT g, x FROM data WHERE x > 0.5 ORDER BY g DESC",
    ],
)
def test_windows_are_disjoint_complete_and_the_same_in_every_run(make_table, sql):
    table = make_table(
        """SELECT sin(range) AS x, range % 7 AS g, chr(97 + CAST(range % 26 AS INTEGER)) AS t
           FROM range(3000)"""
    )
    whole = rows(table, sql, window_rows=10_000)
    parts = []
    total = query(table, sql)["total_row_count"]

    for start in range(0, total, 700):
        offset = start
        while offset < min(start + 700, total):
            part = query(
                table, sql, window_rows=min(start + 700, total) - offset, window_offset=offset
            )
            parts.extend(part["rows"])
            offset += part["row_count"]

    assert len(parts) == total
    assert parts[: len(whole)] == whole
    assert rows(table, sql, window_rows=10_000) == whole


@pytest.mark.rule("F25.2")
@pytest.mark.parametrize(
    ("sql", "names", "expected"),
    [
        ("SELECT * FROM data LIMIT 1", ["a", "b", "day", "Update"], [[0, "x0", "2024-01-01", 0]]),
        ("SELECT __row, a FROM data LIMIT 2", ["__row", "a"], [[1, 0], [2, 7]]),
        ("SELECT a FROM data WHERE __ROW = 3", ["a"], [[4]]),
        ("SELECT d.__row AS r FROM data d JOIN data e ON d.__row = e.__row + 8", ["r"],
         [[9], [10]]),
        ("SELECT __row FROM (SELECT __row FROM data) t WHERE __row < 3", ["__row"], [[1], [2]]),
        ("WITH t AS (SELECT __row AS r FROM data) SELECT max(r) FROM t", ["max(r)"], [[10]]),
        ("SELECT a AS __row FROM data ORDER BY __row LIMIT 1", ["__row"], [[0]]),
        ("SELECT max(__row) AS m, b FROM data GROUP BY b", ["m", "b"],
         [[8, "x1"], [9, "x2"], [10, "x0"]]),
        ("SELECT * EXCLUDE (__row, a, day, \"Update\") FROM data LIMIT 1", ["b"], [["x0"]]),
        ("SELECT (SELECT max(e.a) FROM data e WHERE e.__row <= data.__row) AS m FROM data LIMIT 3",
         ["m"], [[0], [7], [7]]),
        ("SELECT count(*) AS n FROM data NATURAL JOIN data d", ["n"], [[10]]),
        ("SELECT DISTINCT __row FROM data ORDER BY __row DESC LIMIT 1", ["__row"], [[10]]),
        ("SELECT count(*) AS n FROM data d JOIN data e USING (__row)", ["n"], [[10]]),
        ("SELECT d.a, e.a AS b FROM data d JOIN data e USING (a, __row) LIMIT 1", ["a", "b"],
         [[0, 0]]),
        ("SELECT __row FROM data d JOIN data e USING (__row) WHERE __row = 4", ["__row"], [[4]]),
        ("WITH t AS (SELECT __row, a * 2 AS twice FROM data WHERE __row > 8)"
         " SELECT d.__row, a, twice FROM data d JOIN t USING (__row)",
         ["__row", "a", "twice"], [[9, 6, 12], [10, 3, 6]]),
        ("SELECT count(t.m) AS n FROM data LEFT JOIN (SELECT __row, 1 AS m FROM data LIMIT 3) t"
         " USING (__row)", ["n"], [[3]]),
    ],
)  # fmt: skip
def test_the_row_number_is_there_when_it_is_named(sales, sql, names, expected):
    answer = query(sales, sql)

    assert (answer["columns"], answer["rows"]) == (names, expected)


@pytest.mark.rule("F26.5", "F32.68")
def test_a_column_named_like_a_keyword_works(sales):
    assert rows(sales, 'SELECT "Update" FROM data WHERE "Update" > 8') == [[9]]


@pytest.mark.rule("F27.7")
@pytest.mark.parametrize(
    ("sql", "kind", "expected"),
    [
        ("NULL", "null", None),
        ("9007199254740992", "integer", 9007199254740992),
        ("9007199254740993", "integer", "9007199254740993"),
        ("-170141183460469231731687303715884105727", "integer",
         "-170141183460469231731687303715884105727"),
        ("CAST(12.50 AS DECIMAL(9, 2))", "decimal", 12.5),
        ("CAST('0.1234567890123456789' AS DECIMAL(38, 19))", "decimal", "0.1234567890123456789"),
        ("CAST(0.1 AS FLOAT)", "float", 0.1),
        ("true", "boolean", True),
        ("DATE '2024-02-29'", "date", "2024-02-29"),
        ("DATE '10000-01-01'", "date", "10000-01-01"),
        ("TIMESTAMP '2024-02-29 13:05:00.25'", "datetime", "2024-02-29T13:05:00.25"),
        ("TIMESTAMPTZ '2024-02-29 13:05:00+02'", "datetime", "2024-02-29T11:05:00+00"),
        ("TIME '13:05:00'", "time", "13:05:00"),
        ("INTERVAL '14 months 3 days 2 hours'", "interval", "P1Y2M3DT2H"),
        ("[1, NULL, 9007199254740993]", "json", [1, None, "9007199254740993"]),
        ("{'k': [1.5], 'n': 'nan'::DOUBLE}", "json", {"k": [1.5], "n": None}),
        ("MAP {'x': 1}", "json", {"x": 1}),
        ("'[1, {}]'::JSON", "json", [1, {}]),
        ("repeat('9', 5000)::BIGNUM", "integer", "9" * 5000),
        ("('[-' || repeat('9', 5000) || ', 1]')::JSON", "json", ["-" + "9" * 5000, 1]),
        ("(repeat('[', 5000) || ' \"[ {\"' || repeat(']', 5000))::JSON", "json",
         "[" * 5000 + '"[ {"' + "]" * 5000),
        ("('[' || repeat('[],', 5000) || '1]')::JSON", "json", [*([[]] * 5000), 1]),
        ("'\\x00\\xFF'::BLOB", "binary", "AP8="),
        ("'ñ'", "string", "ñ"),
    ],
)  # fmt: skip
def test_values_become_json(sales, sql, kind, expected):
    answer = query(sales, f"SELECT {sql} AS v")

    assert answer["column_types"] == [kind]
    assert json.loads(json.dumps(answer["rows"])) == [[expected]]


@pytest.mark.rule("F27.7")
def test_numbers_that_are_none_become_null_and_are_counted(sales):
    answer = query(sales, "SELECT 'inf'::DOUBLE, 'nan'::DOUBLE")

    assert answer["rows"] == [[None, None]]
    assert {"code": "non_finite", "count": 2, "where": None} in answer["warnings"]


@given(
    parts=st.tuples(st.integers(-500, 500), st.integers(-500, 500), st.integers(-(10**12), 10**12))
)
def test_a_duration_means_the_same_interval(parts, parser):
    months, days, micros = parts
    made = "to_months(?) + to_days(?) + to_microseconds(?)"
    (text,) = parser.execute(f"SELECT CAST({made} AS VARCHAR)", parts).fetchone()

    iso = duration(text)

    date, _, clock = iso[1:].partition("T")
    found = dict.fromkeys("YMDHmS", Decimal(0))
    for part, units in ((date, "YMD"), (clock.replace("M", "m"), "HmS")):
        number = ""
        for letter in part:
            if letter in units:
                found[letter] = Decimal(number)
                number = ""
            else:
                number += letter
    assert found["Y"] * 12 + found["M"] == months
    assert found["D"] == days
    assert (found["H"] * 3600 + found["m"] * 60 + found["S"]) * 10**6 == micros


@pytest.mark.rule("F27.5")
def test_an_answer_is_cut_at_whole_rows(make_table):
    table = make_table("SELECT repeat('x', 10000) AS t, range AS n FROM range(20)")

    answer = query(table, "SELECT * FROM data")

    assert 5 <= answer["row_count"] < 7
    assert answer["has_more"]
    assert answer["total_row_count"] == 20
    assert {"code": "truncated_to_fit", "count": 1, "where": None} in answer["warnings"]


@pytest.mark.rule("F27.5")
def test_a_row_that_does_not_fit_loses_text_and_says_so(make_table):
    table = make_table("SELECT repeat('ñ', 100000) AS t, 7 AS n FROM range(2)")

    answer = query(table, "SELECT * FROM data")

    assert answer["row_count"] == 1
    assert answer["has_more"]
    assert answer["rows"][0][1] == 7
    assert len(json.dumps(answer["rows"], ensure_ascii=False).encode()) <= 65_600
    assert {"code": "truncated_to_fit", "count": 1, "where": None} in answer["warnings"]


@pytest.mark.rule("F27.4")
def test_rows_come_in_the_order_of_the_file(sales):
    assert read_rows(sales, 2, 3, ["B", "a", "b"]) == {
        "columns": ["b", "a"],
        "column_types": ["string", "integer"],
        "rows": [["x1", 7], ["x2", 4], ["x0", 1]],
        "row_start": 2,
        "row_count": 3,
        "total_rows": 10,
        "has_more": True,
        "next": {"row_start": 5, "row_count": 3},
        "warnings": [],
    }
    last = read_rows(sales, 10, 500)
    assert (last["row_count"], last["has_more"], last["next"]) == (1, False, None)


@pytest.mark.rule("F27.4")
def test_no_more_than_five_thousand_rows_at_once(make_table):
    table = make_table("SELECT range % 2 AS n FROM range(12000)")
    seen, place = 0, {"row_start": 1, "row_count": 100_000}

    while place:
        part = read_rows(table, place["row_start"], place["row_count"])
        assert part["row_count"] <= numbers.TABLE_ANSWER_MAX_ROWS
        seen += part["row_count"]
        place = part["next"]

    assert seen == 12_000


@pytest.mark.rule("F27.8", "F3.1")
def test_an_unknown_column_is_refused_with_the_nearest_names(sales):
    with pytest.raises(FormatError) as caught:
        read_rows(sales, 1, 1, ["dai"])

    assert caught.value.reason == "unknown_column"
    assert caught.value.hints[0] == "day"
    assert reason(lambda: stats(sales, ["nothing"])) == "unknown_column"


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (lambda t: query(t, "SELECT 1", window_rows=0), "bad_value"),
        (lambda t: query(t, "SELECT 1", window_offset=-1), "bad_value"),
        (lambda t: query(t, "SELECT 1", window_rows=True), "bad_type"),
        (lambda t: query(t, "SELECT 1", window_rows="5"), "bad_type"),
        (lambda t: query(t, 5), "bad_type"),
        (lambda t: read_rows(t, 0, 1), "bad_value"),
        (lambda t: read_rows(t, 1, 0), "bad_value"),
        (lambda t: read_rows(t, 11, 1), "bad_index"),
        (lambda t: read_rows(t, 1, 1, [3]), "bad_type"),
    ],
)
def test_wrong_arguments_are_refused(sales, action, expected):
    assert reason(lambda: action(sales)) == expected


@pytest.mark.rule("F27.2")
def test_a_description_counts_and_shows_samples(make_table):
    table = make_table("SELECT * FROM (VALUES (1, 'b'), (1, NULL), (3, 'a'), (4, 'b')) AS t(n, s)")

    assert describe(table)["columns"] == [
        {
            "name": "n",
            "index": 0,
            "inferred_type": "integer",
            "nullable": False,
            "non_null_count": 4,
            "distinct_count": 3,
            "distinct_is_estimate": False,
            "sample_values": [1, 3, 4],
        },
        {
            "name": "s",
            "index": 1,
            "inferred_type": "string",
            "nullable": True,
            "non_null_count": 3,
            "distinct_count": 2,
            "distinct_is_estimate": False,
            "sample_values": ["b", "a"],
        },
    ]


@pytest.mark.rule("F27.3")
def test_statistics_fit_the_type(make_table):
    table = make_table(
        """SELECT CAST(range AS BIGINT) AS n, 0.1::DOUBLE AS f, range % 3 = 0 AS yes,
                  DATE '2024-01-01' + CAST(range AS INTEGER) AS day,
                  CASE WHEN range < 6 THEN 'b' WHEN range < 8 THEN 'aa' ELSE 'c' END AS s
           FROM range(10)"""
    )

    by_name = {column["name"]: column for column in stats(table)["columns"]}

    assert by_name["n"] == {
        "name": "n",
        "type": "integer",
        "non_null_count": 10,
        "min": 0,
        "max": 9,
        "mean": 4.5,
        "sum": 45,
        "stddev": pytest.approx(3.0276503540974917),
    }
    assert (by_name["f"]["sum"], by_name["f"]["mean"]) == (1.0, 0.1)  # no residue of 0.1 + 0.1 …
    assert by_name["yes"] == {
        "name": "yes",
        "type": "boolean",
        "non_null_count": 10,
        "true_count": 4,
        "false_count": 6,
    }
    assert (by_name["day"]["min"], by_name["day"]["max"]) == ("2024-01-01", "2024-01-10")
    assert by_name["s"] == {
        "name": "s",
        "type": "string",
        "non_null_count": 10,
        "min_length": 1,
        "max_length": 2,
        "most_common": [
            {"value": "b", "count": 6},
            {"value": "aa", "count": 2},
            {"value": "c", "count": 2},
        ],
    }


@pytest.mark.rule("F27.3", "F32.72")
def test_sums_are_exact(make_table):
    table = make_table(
        """SELECT CAST(range % 100 / 100.0 AS VARCHAR) AS price, 9007199254740993 AS big
           FROM range(1000000)"""
    )

    total = rows(table, "SELECT sum(CAST(price AS DECIMAL(18, 2))) FROM data")

    assert total == [[495000.0]]
    (big,) = stats(table, ["big"])["columns"]
    assert big["sum"] == str(9007199254740993 * 1_000_000)


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.rule("F26.7", "F32.69")
def test_a_query_that_takes_too_long_ends_and_the_next_one_works(make_table):
    table = make_table("SELECT range AS n FROM range(100000)", sql_timeout_s=0.3)
    sql = "SELECT count(*) FROM data a, data b, data c WHERE a.n + b.n = c.n * 3"

    with pytest.raises(FormatError) as caught:
        query(table, sql)

    assert caught.value.reason == "sql_timeout"
    assert caught.value.code == "FILE_READ_FAILED"
    assert caught.value.info("read").retryable
    assert caught.value.hints
    assert rows(table, "SELECT max(n) FROM data") == [[99_999]]


@pytest.mark.rule("F26.7")
def test_time_runs_through_all_statements_of_a_question(sales):
    limits = Limits(sql_timeout_s=0.2)
    slow = "SELECT count(*) FROM range(100000) a, range(100000) b WHERE a.range % 7 = b.range % 5"

    def ask_many() -> None:
        with engine.asking(sales.path, limits) as connection:
            for _ in range(1_000_000):  # quick ones: the interrupt may fall between two of them
                connection.execute("SELECT 1").fetchall()
            connection.execute(slow).fetchall()

    assert reason(ask_many) == "sql_timeout"


@pytest.mark.rule("F26.7", "F2.5")
def test_a_query_that_needs_too_much_memory_ends(make_table):
    table = make_table(
        "SELECT range AS n FROM range(10)", sql_memory_bytes=50_000_000, sql_spill_bytes=1_000_000
    )

    sql = "SELECT list(repeat('x', 100) || range) FROM range(3000000)"

    assert reason(lambda: query(table, sql)) == "memory_limit"
    assert rows(table, "SELECT max(n) FROM data") == [[9]]


@pytest.mark.rule("F26.1")
def test_work_that_does_not_fit_in_memory_goes_to_the_disk_and_leaves_nothing(make_table):
    table = make_table("SELECT range AS n FROM range(10)", sql_memory_bytes=60_000_000)
    sql = """SELECT count(*) FROM (SELECT r, repeat('x', 60) || r AS t
             FROM range(1500000) AS g(r) ORDER BY hash(r) LIMIT 1200000)"""

    assert rows(table, sql) == [[1_200_000]]
    assert [path.name for path in table.path.parent.iterdir()] == [table.path.name]


def test_the_time_zone_of_the_machine_does_not_matter(sales, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    noon = "SELECT TIMESTAMPTZ '2024-01-01 12:00:00', date_trunc('day', TIMESTAMPTZ '2024-01-01')"

    assert rows(sales, noon) == [["2024-01-01T12:00:00+00", "2024-01-01T00:00:00+00"]]


@pytest.mark.rule("F27.10", "F24.20")
def test_an_answer_shows_floats_by_the_digits_that_people_see(make_table):
    table = make_table("SELECT 200.99999999999997::DOUBLE AS x, 1234567890123456::DOUBLE AS id")

    assert query(table, "SELECT x, id, x / 3 AS third FROM data")["rows"] == [
        [201, 1234567890123456, 67]
    ]
    assert read_rows(table, 1, 1)["rows"] == [[201, 1234567890123456]]
    assert query(table, "SELECT count(*) AS n FROM data WHERE x < 201")["rows"] == [[1]]
