"""Queries that never look whether they are interrupted end at their limit all the same (F26.7)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import PROOF

from backshop.formats import Formats, Limits
from backshop.formats.errors import FormatError

DEAF = (  # each builds or compares far more than a second's worth in one call
    "SELECT length(lpad('x', 1000000000, 'y'))",
    "SELECT length(rpad(b, 1000000000, 'y')) FROM data",
    "SELECT levenshtein(repeat('a', 200000), repeat(b, 100000)) FROM data",
)


@pytest.fixture(scope="module")
def formats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Formats]:
    """Formats with half a second for a query; the worker itself would have 30 s."""
    with Formats(
        cache=tmp_path_factory.mktemp("cache"),
        plugins={},
        workers=1,
        limits=Limits(sql_timeout_s=0.5, map_timeout_s=30),
    ) as made:
        yield made


@pytest.mark.rule("F26.7", "F2.7")
@pytest.mark.parametrize("query", DEAF if PROOF else DEAF[:1])
def test_a_query_that_hears_no_interrupt_ends_at_its_limit_and_the_next_one_works(
    formats: Formats, tmp_path: Path, query: str
):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,yy\n")
    table = formats.open_table(formats.source(tmp_path / "t.csv"))

    with pytest.raises(FormatError) as late:
        table.query(query)

    assert late.value.reason == "sql_timeout"  # `timeout` would be the worker's own limit
    assert table.query("SELECT sum(a) AS s FROM data")["rows"] == [[3]]
