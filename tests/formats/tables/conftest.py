"""Small tables, made without the readers of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from backshop.formats.protocol import Limits
from backshop.formats.tables.table import Column, Shape, Table

NAMES = {
    "BIGINT": "integer",
    "INTEGER": "integer",
    "DOUBLE": "float",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "datetime",
    "TIME": "time",
    "VARCHAR": "string",
}
MakeTable = Callable[..., Table]


@pytest.fixture
def make_table(tmp_path: Path) -> MakeTable:
    """Return a function that makes a table from a SELECT."""

    def make(sql: str, **limits: float) -> Table:
        path = tmp_path / "made.duckdb"
        path.unlink(missing_ok=True)
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE TABLE data AS {sql}")
            described = connection.execute("DESCRIBE data").fetchall()
            count = connection.execute("SELECT count(*) FROM data").fetchone()
        columns = tuple(
            Column(name=name, source_name=name, type=NAMES[kind]) for name, kind, *_ in described
        )
        shape = Shape(
            format="csv", row_count=count[0] if count else 0, columns=columns, has_header=True
        )
        return Table(path, shape, Limits(**limits))  # type: ignore[arg-type]  # numbers by name

    return make


@pytest.fixture
def sales(make_table: MakeTable) -> Table:
    """Ten rows: a whole number, a repeated text, a date, a column named like a keyword."""
    return make_table(
        """SELECT (range * 7) % 10 AS a, 'x' || (range % 3) AS b,
                  DATE '2024-01-01' + CAST(range AS INTEGER) AS day, range AS "Update"
           FROM range(10)"""
    )


@pytest.fixture(scope="session")
def parser() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to parse with."""
    with duckdb.connect() as connection:
        yield connection
