"""Forbidden things hidden in generated queries are found, and harmless queries are not stopped."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backshop.formats.errors import FormatError
from backshop.formats.protocol import Limits
from backshop.formats.tables import ask, engine, sqlguard, syntax

COLUMNS = ("a", "b", "t")
REASONS = {
    "sql_forbidden_table",
    "sql_forbidden_function",
    "sql_not_select",
    "sql_multiple_statements",
    "sql_error",
}

# --- how names are written ------------------------------------------------------------------------


def _spell(word: str, is_quoted: bool, before: str, after: str) -> str:
    return before + (f'"{word}"' if is_quoted else word) + after


def spelled(name: str) -> st.SearchStrategy[str]:
    """A name in any case, quoted or not, with comments beside it."""
    cased = st.lists(st.booleans(), min_size=len(name), max_size=len(name)).map(
        lambda upper: "".join(
            letter.upper() if up else letter for letter, up in zip(name, upper, strict=True)
        )
    )
    comment = st.sampled_from(["", " ", "/* data */", " -- x\n", "\t", "/* ' */ ", '/* " */'])
    return st.builds(
        _spell,
        cased,
        st.booleans(),
        comment,
        comment,
    )


FORBIDDEN_NAMES = """
    read_csv read_text read_blob read_json read_parquet glob sniff_csv query query_table getenv
    current_setting getvariable nextval write_log random uuid now today setseed pg_sleep sleep_ms
    json_serialize_sql duckdb_tables version txid_current which_secret parquet_scan
    current_database"""
FORBIDDEN_CALLS = st.sampled_from(FORBIDDEN_NAMES.split()).flatmap(spelled)
FORBIDDEN_TABLES = st.sampled_from(
    ["other", "x.csv", "information_schema", "sqlite_master", "duckdb_tables", "pg_class", "t"]
).flatmap(lambda name: st.sampled_from([f'"{name}"', f"main.{name.partition('.')[0]}"]))
BARE_CLOCKS = st.sampled_from(["current_date", "CURRENT_TIMESTAMP", '"localtime"', "current_user"])

BAD_EXPRESSIONS = st.one_of(
    FORBIDDEN_CALLS.map(lambda name: f"{name}('x')"),
    FORBIDDEN_CALLS.map(lambda name: f"main.{name}('x')"),
    BARE_CLOCKS,
    FORBIDDEN_TABLES.map(lambda name: f"(SELECT max(x) FROM {name})"),
    FORBIDDEN_CALLS.map(lambda name: f"(SELECT count(*) FROM {name}('x'))"),
    st.just("(SELECT count(*) FROM data USING SAMPLE 2)"),
    st.just("list_aggregate([1], 'reservoir_quantile')"),
    st.just("age(DATE '2024-01-01')"),
)
BAD_TABLES = st.one_of(
    FORBIDDEN_TABLES,
    st.just("'x.csv'"),
    FORBIDDEN_CALLS.map(lambda name: f"{name}('x')"),
    st.just("(SHOW TABLES)"),
    st.just("data TABLESAMPLE 10%"),
    st.just("data AT (VERSION => 1)"),
    st.just("histogram('data', a)"),
)

GOOD_EXPRESSIONS = st.sampled_from(
    [
        "a",
        "1",
        "'x'",
        "upper(b)",
        "a + 1",
        "NULL",
        "sum(a) OVER ()",
        "CASE WHEN a > 1 THEN b ELSE 'y' END",
        "list_transform([1, 2], lambda x: x + a)",
        "date_part('year', DATE '2024-01-01')",
        "__row",
        "'read_csv(''x'')'",
        "'now()'",
        '"a"',
    ]
)


def around_expression(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Places an expression can stand in."""
    return st.one_of(
        inner.map(lambda e: f"coalesce({e}, NULL)"),
        inner.map(lambda e: f"CASE WHEN true THEN {e} END"),
        inner.map(lambda e: f"CAST({e} AS VARCHAR)"),
        inner.map(lambda e: f"list_transform([1], lambda x: {e})"),
        inner.map(lambda e: f"[{e}]"),
        inner.map(lambda e: f"{{'k': {e}}}"),
        inner.map(lambda e: f"(SELECT {e})"),
        inner.map(lambda e: f"(SELECT max(v) FROM (SELECT {e} AS v FROM data))"),
        inner.map(lambda e: f"(WITH w AS (SELECT {e} AS v) SELECT max(v) FROM w)"),
        inner.map(lambda e: f"(1 IN (SELECT 1 FROM data WHERE ({e}) IS NULL))"),
        inner.map(lambda e: f"({e}) IS NOT NULL"),
        inner.map(lambda e: f"[x FOR x IN [1] IF ({e}) IS NULL]"),
        inner.map(lambda e: f"TRY({e})"),
    )


def queries_with_expression(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Queries that hold an expression somewhere."""
    return st.one_of(
        inner.map(lambda e: f"SELECT {e} FROM data"),
        inner.map(lambda e: f"SELECT a FROM data WHERE ({e}) IS NULL"),
        inner.map(lambda e: f"SELECT a FROM data ORDER BY {e}"),
        inner.map(lambda e: f"SELECT count(*) FROM data GROUP BY {e}"),
        inner.map(lambda e: f"SELECT count(*) FROM data HAVING ({e}) IS NULL"),
        inner.map(lambda e: f"SELECT a FROM data QUALIFY ({e}) IS NULL"),
        inner.map(lambda e: f"SELECT sum(a) FILTER (WHERE ({e}) IS NULL) FROM data"),
        inner.map(lambda e: f"SELECT sum(a) OVER (PARTITION BY {e}) FROM data"),
        inner.map(lambda e: f"SELECT first(a ORDER BY {e}) FROM data"),
        inner.map(lambda e: f"SELECT DISTINCT ON ({e}) a FROM data"),
        inner.map(lambda e: f"SELECT a FROM data JOIN data d2 ON ({e}) IS NULL"),
        inner.map(lambda e: f"SELECT a FROM data, LATERAL (SELECT {e} AS v) l"),
        inner.map(lambda e: f"SELECT a FROM data UNION ALL SELECT 1 WHERE ({e}) IS NULL"),
        inner.map(lambda e: f"SELECT * REPLACE ({e} AS a) FROM data"),
        inner.map(lambda e: f"VALUES ({e})"),
        inner.map(lambda e: f"WITH w AS (SELECT {e} AS v FROM data) FROM w"),
        inner.map(lambda e: f"DESCRIBE SELECT {e} FROM data"),
        inner.map(lambda e: f"SUMMARIZE SELECT {e} FROM data"),
        inner.map(lambda e: f"FROM unnest([{e}])"),
        inner.map(
            lambda e: (
                f"WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL"
                f" SELECT i + 1 FROM r WHERE i < 3 AND ({e}) IS NULL) FROM r"
            )
        ),
    )


def queries_with_table(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Queries that hold a table somewhere."""
    return st.one_of(
        inner.map(lambda t: f"SELECT * FROM {t}"),
        inner.map(lambda t: f"FROM {t}"),
        inner.map(lambda t: f"SELECT a FROM data, {t}"),
        inner.map(lambda t: f"SELECT a FROM data LEFT JOIN {t} ON true"),
        inner.map(lambda t: f"SELECT a FROM data WHERE EXISTS (FROM {t})"),
        inner.map(lambda t: f"SELECT a FROM data WHERE a IN (SELECT 1 FROM {t})"),
        inner.map(lambda t: f"SELECT (SELECT 1 FROM {t} LIMIT 1)"),
        inner.map(lambda t: f"WITH w AS (FROM {t}) SELECT 1"),
        inner.map(lambda t: f"WITH data AS (SELECT 1) SELECT 1 FROM {t}"),
        inner.map(lambda t: f"SELECT 1 UNION ALL SELECT 1 FROM {t}"),
        inner.map(lambda t: f"SELECT a FROM data LIMIT (SELECT count(*) FROM {t})"),
        inner.map(lambda t: f"DESCRIBE FROM {t}"),
        inner.map(lambda t: f"SELECT * FROM (FROM {t}) AS s"),
        inner.map(lambda t: f"SELECT list_transform([1], lambda x: (SELECT 1 FROM {t}))"),
    )


WORDS = """SELECT FROM data WHERE a b , ( ) * 1 'x' "x" ; -- /* */ WITH AS UNION ALL ORDER BY
    LIMIT read_csv now ( ) [ ] { } : :: -> => . $1 ? DESCRIBE SUMMARIZE VALUES INSERT INTO
    COPY TO SHOW TABLES PIVOT ON CALL PRAGMA SET
    = current_date lambda x IN EXISTS"""
BAD_QUERIES = st.one_of(
    queries_with_expression(st.recursive(BAD_EXPRESSIONS, around_expression, max_leaves=3)),
    queries_with_table(BAD_TABLES),
)
GOOD_QUERIES = queries_with_expression(
    st.recursive(GOOD_EXPRESSIONS, around_expression, max_leaves=3)
)


@pytest.mark.rule("F26.3", "F26.4")
@settings(max_examples=200)
@given(sql=BAD_QUERIES)
@example(sql="SELECT /* ' */ \"ReAd_CsV\"/**/('x') FROM data -- '")
@example(sql='SELECT a FROM data WHERE (SELECT max(x) FROM "T") IS NULL')
def test_a_forbidden_thing_is_found_wherever_it_hides(parser, sql):
    with pytest.raises(FormatError) as caught:
        sqlguard.check(parser, sql, COLUMNS)

    assert caught.value.reason in REASONS


@pytest.mark.rule("F26.3", "F26.4")
@settings(max_examples=200)
@given(sql=GOOD_QUERIES)
def test_a_harmless_query_is_never_called_forbidden(parser, sql):
    try:
        sqlguard.check(parser, sql, COLUMNS)
    except FormatError as error:
        assert error.reason == "sql_error", sql  # a place where this expression cannot stand


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    path = tmp_path_factory.mktemp("t") / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE data AS SELECT range AS a, 'x' AS b, 2 AS t FROM range(5)")
    with engine.asking(path, Limits(sql_timeout_s=600)) as connection:
        yield connection


@pytest.mark.rule("F26.1", "F27.6")
@settings(max_examples=200)
@given(sql=st.one_of(GOOD_QUERIES, BAD_QUERIES))
def test_what_passes_gives_the_rows_of_the_query_in_one_order(locked, sql):
    try:
        found = ask.plan(locked, sql, COLUMNS)
        first = locked.execute(found.sql).fetchall()
    except (FormatError, duckdb.Error):
        return

    assert locked.execute(found.sql).fetchall() == first
    assert ask.count(locked, found.unordered) == len(first)
    if "__row" not in sql:
        assert sorted(map(repr, locked.execute(sql).fetchall())) == sorted(map(repr, first))
    sqlguard.check(locked, found.sql, COLUMNS)


@pytest.mark.rule("F26.2")
@settings(max_examples=200)
@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_refused_or_understood(parser, text):
    try:
        sqlguard.check(parser, text, COLUMNS)
    except FormatError as error:
        assert error.reason in REASONS


@pytest.mark.rule("F26.2")
@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(WORDS.split()),
        max_size=14,
    )
)
def test_any_mix_of_words_is_refused_or_reads_only_the_table(parser, words):
    text = " ".join(words)
    try:
        node = sqlguard.check(parser, text, COLUMNS)
    except FormatError as error:
        assert error.reason in REASONS
        return

    written = syntax.write(parser, node).lower()
    assert "read_csv(" not in written.replace('"', "")
    assert "now(" not in written
