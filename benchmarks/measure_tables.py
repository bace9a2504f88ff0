"""Measures the map of a csv file and an aggregate query against bare DuckDB in the same run.

    python -m benchmarks.measure_tables [megabytes]

The default of 100 MB is a sample; 1024 is the size of the promise. Both sides take the file into a
database file and ask it the same question, with two threads and the limits raised. DuckDB guesses
the types from the first rows; we make sure of them with every row, find codes such as `007`, and
ask under guard and lock. Processor time is printed beside the clock, because it does not depend on
what else the machine does.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from backshop.base import limits as numbers
from backshop.formats import Limits, Source
from backshop.formats.tables import Cache, table_get_map, table_query

from .report import fact, head, row

SAMPLE_MB = 100
BYTES_PER_ROW = 85
RUNS = 3
MAX_RATIO = 1.3
MAX_PROCESSOR_RATIO = 1.4  # docs/decisions/006-two-bars.md
QUERY = """SELECT region, sum(amount) AS total, count(*) AS n, max(day) AS last
           FROM data GROUP BY region ORDER BY region"""
ROOMY = Limits(
    max_text_bytes=numbers.TEXT_HARD_MAX_BYTES,
    map_timeout_s=600,
    sql_timeout_s=numbers.SQL_TIMEOUT_HARD_MAX_S,
    sql_memory_bytes=8 * numbers.GIB,
    sql_spill_bytes=numbers.SQL_SPILL_HARD_MAX_BYTES,
    sql_threads=2,
)


def make(path: Path, megabytes: int) -> None:
    """Write a table of orders: whole numbers, dates, texts, amounts, truth values, quoted notes."""
    rows = megabytes * 1_000_000 // BYTES_PER_ROW
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (
                SELECT i AS id, DATE '2020-01-01' + CAST(hash(i) % 1500 AS INTEGER) AS day,
                       ['north', 'south', 'east', 'west'][CAST(1 + hash(i * 7) % 4 AS BIGINT)]
                           AS region,
                       'customer ' || (hash(i * 3) % 50000) AS customer,
                       (hash(i * 11) % 100000) / 100.0 AS amount, hash(i * 5) % 50 AS qty,
                       hash(i) % 2 = 0 AS paid,
                       'note about order ' || hash(i * 13) % 1000 || ', urgent' AS note
                FROM range({rows}) AS t(i)) TO '{path}' (HEADER, DELIMITER ',')"""
        )


def bare(source: Source, folder: Path) -> list[tuple[object, ...]]:
    """Do it with DuckDB alone."""
    with duckdb.connect(str(folder / "bare.duckdb"), config={"threads": 2}) as connection:
        connection.execute(f"CREATE TABLE data AS FROM read_csv('{source.path}')")
        connection.execute("SELECT count(*) FROM data").fetchall()
        connection.execute("DESCRIBE data").fetchall()
        return connection.execute(QUERY).fetchall()


def ours(source: Source, folder: Path) -> object:
    """Do it with the table tools."""
    cache = Cache(folder / "cache", max_bytes=numbers.TABLE_CACHE_MAX_BYTES)
    table_get_map(source, cache)
    return table_query(source, cache, query=QUERY)["rows"]


def measured(act: Callable[[Source, Path], object], source: Source) -> tuple[float, float]:
    """Return clock and processor seconds of one run in a fresh folder."""
    with tempfile.TemporaryDirectory(dir=source.path.parent) as folder:
        clock, before = time.perf_counter(), os.times()
        act(source, Path(folder))
        after, spent = os.times(), time.perf_counter() - clock
        return spent, after.user + after.system - before.user - before.system


def main() -> dict[str, float]:
    """Print and return the ratios; less is better."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else SAMPLE_MB
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.csv"
        make(path, megabytes)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        source = Source(path, digest, "orders.csv", ROOMY)
        times: dict[str, list[tuple[float, float]]] = {"bare": [], "ours": []}
        for _ in range(RUNS):  # in turn, so that a busy moment hits both
            times["bare"].append(measured(bare, source))
            times["ours"].append(measured(ours, source))
        size = path.stat().st_size / 1e6
    best = {name: tuple(map(min, zip(*runs, strict=True))) for name, runs in times.items()}
    ratios = {
        "clock": best["ours"][0] / best["bare"][0],
        "processor": best["ours"][1] / best["bare"][1],
    }
    what = f"map and aggregate query of a csv of {size:.0f} MB"
    head()
    for name, (clock, processor) in best.items():
        fact(f"{what}, {name}, by the clock", clock, unit="s")
        fact(f"{what}, {name}, processor time", processor, unit="s")
    row(f"{what} / DuckDB alone, by the clock", ratios["clock"], MAX_RATIO)
    row(f"{what} / DuckDB alone, processor time", ratios["processor"], MAX_PROCESSOR_RATIO)
    return ratios


if __name__ == "__main__":
    main()
