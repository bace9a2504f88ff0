"""What a query may say, and that the lock on the connection holds without the guard."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb
import pytest

from backshop.formats.errors import FormatError
from backshop.formats.protocol import Limits
from backshop.formats.tables import ask, engine, sqlguard
from backshop.formats.tables.functions import BY_NAME

STATED = Path(__file__).with_name("functions.txt")


def stated() -> dict[tuple[str, str], str]:
    lines = STATED.read_text().splitlines()
    parts = (line.split(" ", 2) for line in lines)
    return {(place, name): verdict for place, verdict, name in parts}


def verdict(parser: duckdb.DuckDBPyConnection, sql: str, columns=("a", "b")) -> str:
    try:
        sqlguard.check(parser, sql, columns)
    except FormatError as error:
        assert error.code == "VALIDATION_FAILED"
        return str(error.reason)
    return "allowed"


@pytest.mark.rule("F26.4")
def test_every_function_of_duckdb_is_stated_as_allowed_or_refused(parser):
    kinds = {"table": "from", "table_macro": "from", "pragma": "pragma"}
    found = parser.execute(
        "SELECT DISTINCT function_name, function_type FROM duckdb_functions()"
    ).fetchall()

    assert {(kinds.get(kind, "expression"), name) for name, kind in found} == set(stated())


@pytest.mark.rule("F26.4")
def test_the_guard_does_what_is_stated_for_every_function(parser):
    wrong = []
    for (place, name), expected in stated().items():
        call = f"\"{name}\"(a, 'sum')"
        if place == "pragma":
            seen = verdict(parser, f'PRAGMA "{name}"')
            assert seen in {"sql_not_select", "sql_error"}
        else:
            sql = f"SELECT {call} FROM data" if place == "expression" else f"FROM {call}"
            seen = verdict(parser, sql)
            if name in BY_NAME:
                assert verdict(parser, sql.replace("'sum'", "'random'")) != "allowed"
        if (seen == "allowed") != (expected == "allowed"):
            wrong.append((place, name, expected, seen))

    assert wrong == []


@pytest.mark.rule("F26.4")
def test_a_function_nobody_has_listed_is_refused(parser):
    assert verdict(parser, "SELECT read_the_network(a) FROM data") == "sql_forbidden_function"
    assert verdict(parser, "FROM brand_new_scan('x')") == "sql_forbidden_function"


FORBIDDEN_BY_NAME = """
read_csv read_text read_blob read_json read_parquet parquet_scan sniff_csv glob parquet_metadata
duckdb_settings duckdb_tables duckdb_secrets pragma_version query query_table getenv current_setting
getvariable nextval currval write_log which_secret load_extension http_get
json_execute_serialized_sql random uuid gen_random_uuid setseed now current_timestamp current_date
current_time today get_current_timestamp
"""


@pytest.mark.rule("F26.4")
@pytest.mark.parametrize("name", FORBIDDEN_BY_NAME.split())
def test_what_the_rule_names_is_refused_in_every_place(parser, name):
    for sql in (
        f"SELECT {name}() FROM data",
        f"SELECT main.{name}('x') FROM data",
        f"FROM {name}('x')",
        f"SELECT a.{name}() FROM data",
        f"SELECT sum(a) OVER (ORDER BY {name}('x')) FROM data",
    ):
        assert verdict(parser, sql) == "sql_forbidden_function", sql


@pytest.mark.rule("F26.4")
@pytest.mark.parametrize("name", ["current_date", "current_timestamp", "localtime", "user"])
def test_a_call_without_parentheses_is_a_call_unless_it_is_a_column(parser, name):
    for written in (name, f'"{name}"', name.upper()):
        assert verdict(parser, f"SELECT {written} FROM data") == "sql_forbidden_function"
        assert verdict(parser, f"SELECT {written} FROM data", [name]) == "allowed"
        inside = f"SELECT (SELECT {written}) FROM data"
        assert verdict(parser, inside, [name]) == "sql_forbidden_function"
    assert verdict(parser, f"SELECT data.{name} FROM data", [name]) == "allowed"


@pytest.mark.rule("F26.4")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age(a) FROM data",
        "SELECT main.age(a) FROM data",
        "SELECT list_aggregate(a, 'reservoir_quantile') FROM data",
        "SELECT list_aggregate(a, b) FROM data",
        "SELECT main.list_aggregate(a, 'sum', 'x') FROM data",
        "SELECT * FROM data USING SAMPLE 3",
        "SELECT * FROM data TABLESAMPLE 10%",
        "SELECT * FROM (SELECT * FROM data USING SAMPLE 3)",
    ],
)
def test_a_result_never_depends_on_the_clock_or_on_chance(parser, sql):
    assert verdict(parser, sql) == "sql_forbidden_function"


@pytest.mark.rule("F26.3", "F32.66")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM 'other.csv'",
        'SELECT * FROM "other.csv"',
        "FROM '/etc/passwd'",
        "FROM 'https://example.com/x.csv'",
        "SELECT * FROM main.data",
        "SELECT * FROM other.main.data",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM pg_catalog.pg_tables",
        "SELECT * FROM sqlite_master",
        "FROM duckdb_tables",
        "SHOW TABLES",
        "SHOW ALL TABLES",
        "SHOW data",
        "SELECT * FROM (SHOW TABLES)",
        "DESCRIBE 'other.csv'",
        "SUMMARIZE 'other.csv'",
        "SELECT * FROM data AT (VERSION => 1)",
        'WITH "x.csv" AS (SELECT * FROM "x.csv") FROM "x.csv"',
        'WITH RECURSIVE "x.csv" AS (FROM "x.csv" UNION ALL FROM "x.csv") FROM "x.csv"',
        "SELECT * FROM (WITH t AS (SELECT 1) FROM t), t",
        "WITH a AS (FROM b), b AS (SELECT 1) FROM a",
        "SELECT (WITH t AS (SELECT 1) SELECT * FROM t), (SELECT count(*) FROM t) FROM data",
        'WITH "\N{KELVIN SIGN}.csv" AS (SELECT 1) FROM "k.csv"',
        "SELECT a FROM data LIMIT (SELECT count(*) FROM 'other.csv')",
        "SELECT * FROM data JOIN other USING (a)",
        "SELECT EXISTS (FROM other)",
        "SELECT list_transform([1], lambda x: (SELECT x FROM other)) FROM data",
    ],
)
def test_a_query_sees_no_table_but_data_and_its_own(parser, sql):
    assert verdict(parser, sql) == "sql_forbidden_table"


@pytest.mark.rule("F26.3", "F26.5")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM DATA",
        'SELECT * FROM "Data" AS d',
        "WITH t AS (FROM data), u AS (FROM t) SELECT * FROM u, T",
        "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 5) FROM r",
        "WITH data AS (SELECT a FROM data WHERE a > 1) FROM data",
        'SELECT "Update", "select", comment FROM data',
        "FROM data SELECT a",
        "VALUES (1), (2)",
        "TABLE data",
        "DESCRIBE data",
        "DESC data",
        "SUMMARIZE data",
        "DESCRIBE SELECT a FROM data",
        "SELECT * FROM (DESCRIBE data)",
        "UNPIVOT data ON a, b INTO NAME n VALUE v",
        "FROM data PIVOT (sum(a) FOR b IN ('x', 'y'))",
        "SELECT a FROM data UNION ALL SELECT b FROM data ORDER BY 1 LIMIT 3",
        "SELECT sum(a) FILTER (WHERE b = 'x') OVER (PARTITION BY b ORDER BY a) FROM data",
        "SELECT [x + 1 FOR x IN [1, 2] IF x > 1], {'k': a}, MAP {'x': 1} FROM data",
        "SELECT a::DECIMAL(9, 2), TRY_CAST(b AS INTEGER[]) FROM data",
        "SELECT * FROM data, unnest([1, 2]) AS t(x), range(3), generate_series(1, 2)",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM data",
        "SELECT * EXCLUDE (a) REPLACE (upper(b) AS b) FROM data",
        "SELECT COLUMNS('a.*') FROM data",
        "SELECT a FROM data QUALIFY row_number() OVER (PARTITION BY b) = 1",
        "SELECT string_agg(b, ',' ORDER BY a), histogram(b), list_aggregate([1], 'sum') FROM data",
        "SELECT age(DATE '2024-01-01', DATE '2023-01-01'), a COLLATE NOCASE FROM data",
        "SELECT 1 -- trailing words",
        "/* leading */ SELECT 1;",
        "(SELECT a FROM data ORDER BY a)",
    ],
)
def test_what_computes_over_the_table_is_allowed(parser, sql):
    assert verdict(parser, sql) == "allowed"


STATEMENTS = {
    "sql_not_select": """
        INSERT INTO data VALUES (1)
        UPDATE data SET a = 1
        DELETE FROM data
        TRUNCATE data
        MERGE INTO data USING data d ON true WHEN MATCHED THEN DELETE
        CREATE TABLE x (a INTEGER)
        CREATE TEMP TABLE x AS SELECT 1
        CREATE VIEW v AS SELECT 1
        CREATE MACRO m() AS 1
        CREATE SECRET s (TYPE http)
        CREATE TYPE t AS ENUM ('x')
        CREATE SEQUENCE s
        ALTER TABLE data ADD COLUMN x INTEGER
        COMMENT ON TABLE data IS 'x'
        DROP TABLE data
        COPY data TO 'x'
        COPY (SELECT 1) TO 'x'
        COPY data FROM 'x'
        COPY FROM DATABASE x TO y
        COPY FROM DATABASE x TO y (SCHEMA)
        EXPORT DATABASE 'x'
        IMPORT DATABASE 'x'
        ATTACH 'x'
        DETACH x
        USE x
        PRAGMA x
        PRAGMA table_info('data')
        SET threads = 1
        SET VARIABLE x = 1
        RESET threads
        EXPLAIN SELECT 1
        EXPLAIN ANALYZE SELECT 1
        PREPARE p AS SELECT 1
        EXECUTE p
        DEALLOCATE p
        CALL pragma_version()
        LOAD x
        INSTALL x
        UPDATE EXTENSIONS
        BEGIN
        COMMIT
        ROLLBACK
        VACUUM
        ANALYZE
        CHECKPOINT
        PIVOT data ON a
        WITH x AS (INSERT INTO data VALUES (1) RETURNING *) FROM x
        WITH x AS (UPDATE data SET a = 1 RETURNING *) FROM x
        WITH x AS (DELETE FROM data RETURNING *) FROM x
        SELECT * FROM (WITH x AS (DELETE FROM data RETURNING *) FROM x)
    """,
    "sql_multiple_statements": """
        SELECT 1; DROP TABLE data
        SELECT 1; SELECT 2
        DROP TABLE data; SELECT 1
    """,
    "sql_error": """
        SELECT
        SELEC 1
        SELECT ? FROM data
        SELECT $x FROM data
        SELECT DEFAULT
        ;
        -- only words
        SELECT 'open
    """,
}


@pytest.mark.rule("F26.2", "F32.67")
@pytest.mark.parametrize(
    ("reason", "sql"),
    [
        (reason, sql.strip())
        for reason, all_ in STATEMENTS.items()
        for sql in all_.strip().split("\n")
    ],
)
def test_every_kind_of_statement_but_one_select_is_refused(parser, reason, sql):
    assert verdict(parser, sql) == reason


@pytest.mark.rule("F26.2")
def test_no_kind_of_statement_that_duckdb_knows_is_forgotten():
    made_by_no_text = {
        *("INVALID", "ANALYZE", "CREATE_FUNC", "RELATION", "LOGICAL_PLAN", "MULTI"),
        *("EXTENSION", "VARIABLE_SET"),
    }

    tried = {"SELECT", *map(_type, STATEMENTS["sql_not_select"].strip().split("\n"))}

    assert duckdb.StatementType.__members__.keys() - made_by_no_text <= tried


def _type(sql: str) -> str:
    try:
        return duckdb.extract_statements(sql.strip())[0].type.name
    except ValueError as error:  # a kind the Python side has no word for
        return str(error)


@pytest.mark.rule("F26.2")
def test_text_that_is_no_query_is_refused(parser):
    assert verdict(parser, "") == "sql_error"
    assert verdict(parser, "SELECT 1; -- done\nSELECT 2") == "sql_multiple_statements"
    assert verdict(parser, "SELECT 1\0; DROP TABLE data") == "sql_error"
    assert verdict(parser, "SELECT '\ud800'") == "sql_error"
    assert verdict(parser, "SELECT " + "(" * 5000 + "1" + ")" * 5000) == "sql_error"
    deep = "SELECT * FROM " + "(SELECT * FROM " * 2000 + "data" + ")" * 2000
    assert verdict(parser, deep) == "sql_error"
    with pytest.raises(FormatError) as caught:
        sqlguard.check(parser, "SELECT 1" + " " * 65_536, ())
    assert caught.value.reason == "too_large"


# --- the lock, without the guard ------------------------------------------------------------------

BARRED = """
SELECT * FROM read_csv('{file}')
SELECT * FROM '{file}'
SELECT * FROM "{file}"
SELECT * FROM '{folder}/*.csv'
FROM read_text('/etc/hostname')
FROM read_blob('/etc/hostname')
FROM read_json('{file}')
FROM read_parquet('{file}')
FROM read_duckdb('{other}')
FROM glob('/etc/*')
FROM sniff_csv('{file}')
FROM query('FROM read_text(''/etc/hostname'')')
FROM query_table('{file}')
FROM histogram('{file}', 'x')
FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''/etc/hostname'')'))
FROM 'https://example.com/x.csv'
SELECT * FROM secret_rows
ATTACH '{other}' AS other
ATTACH ':memory:' AS other
COPY data TO '{folder}/out.csv'
COPY (SELECT 1) TO '{folder}/out.csv'
EXPORT DATABASE '{folder}/out'
IMPORT DATABASE '{folder}'
INSTALL httpfs
LOAD httpfs
UPDATE EXTENSIONS
SET threads = 4
SET enable_external_access = true
SET lock_configuration = false
RESET lock_configuration
PRAGMA threads = 3
PRAGMA enable_profiling
CALL enable_profiling(save_location = '{folder}/profile.json')
CALL enable_logging(storage = 'file', storage_path = '{folder}/log')
FROM enable_logging()
INSERT INTO data VALUES (2)
UPDATE data SET a = 2
DELETE FROM data
DROP TABLE data
ALTER TABLE data ADD COLUMN z INTEGER
CREATE TABLE made AS SELECT 1
CREATE MACRO made() AS 1
CREATE PERSISTENT SECRET made (TYPE http)
"""
SESSION_ONLY = """
CREATE TEMP TABLE made AS SELECT 1
SET VARIABLE made = 1
SELECT write_log('made')
PREPARE made AS SELECT 1
CREATE SECRET made (TYPE http)
CHECKPOINT
"""


@pytest.fixture
def around(tmp_path) -> dict[str, str]:
    """Files and a database beside the table that a query might try to reach."""
    folder = tmp_path / "around"
    folder.mkdir()
    (folder / "other.csv").write_text("x,y\n1,2\n")
    duckdb.connect(str(folder / "other.duckdb")).close()
    return {
        "folder": str(folder),
        "file": str(folder / "other.csv"),
        "other": str(folder / "other.duckdb"),
    }


def listing(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(folder).rglob("*"))}


@pytest.mark.rule("F26.1")
@pytest.mark.parametrize("template", BARRED.strip().split("\n"))
def test_the_lock_bars_what_the_guard_would_refuse(sales, around, parser, template):
    secret_rows = [(1,)]  # noqa: F841  # what a replacement scan would find in this frame
    sql = template.format(**around)
    before = listing(around["folder"]), hashlib.sha256(sales.path.read_bytes()).digest()

    assert verdict(parser, sql) != "allowed"
    with (
        pytest.raises(FormatError) as caught,
        engine.asking(sales.path, Limits()) as connection,
    ):
        connection.execute(sql).fetchall()

    assert caught.value.reason in {"sql_error", "sql_forbidden_table"}
    after = listing(around["folder"]), hashlib.sha256(sales.path.read_bytes()).digest()
    assert before == after


@pytest.mark.rule("F26.1")
@pytest.mark.parametrize("sql", SESSION_ONLY.strip().split("\n"))
def test_what_the_lock_lets_through_ends_with_the_question(sales, parser, sql):
    before = hashlib.sha256(sales.path.read_bytes()).digest()

    assert verdict(parser, sql) != "allowed"
    with engine.asking(sales.path, Limits()) as connection:
        connection.execute(sql)

    assert hashlib.sha256(sales.path.read_bytes()).digest() == before
    assert [path.name for path in sales.path.parent.iterdir()] == [sales.path.name]
    with engine.asking(sales.path, Limits()) as connection:
        assert connection.execute("SELECT getvariable('made')").fetchone() == (None,)
        assert connection.execute("FROM duckdb_secrets()").fetchall() == []
        names = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert names == [("data",)]


@pytest.mark.rule("F26.8")
def test_an_error_shows_the_place_and_no_path(sales):
    with pytest.raises(FormatError) as caught:
        ask.query(sales, "SELECT a,\n       wrong FROM data")

    assert caught.value.reason == "sql_error"
    assert 'column "wrong" not found' in (caught.value.detail or "")
    assert "LINE 2" in (caught.value.detail or "")
    with (
        pytest.raises(FormatError) as barred,
        engine.asking(sales.path, Limits()) as connection,
    ):
        connection.execute("FROM read_text('/etc/some where/hostname')")
    assert "hostname" not in (barred.value.detail or "")
