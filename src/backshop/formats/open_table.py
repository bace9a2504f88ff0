"""A table that can be asked: the handle `Formats.open_table` gives (F25-F28).

The handle holds no connection and no lock; each question runs in a worker on the content-addressed
cache, so a handle stays good for as long as its source does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backshop.base import limits as numbers

from .dispatch import Dispatcher
from .protocol import Applied, Json, JsonObject, Map, Source, as_object
from .text.dialect_wish import DialectWish


@dataclass(frozen=True, slots=True)
class OpenTable:
    """The table of a delimited file, of text that looks like one, or of a sheet's region."""

    _do: Dispatcher
    source: Source
    sheet: str | None = None
    range: str | None = None
    header_row: int | None = None
    dialect: DialectWish | Json = None

    def get_map(self) -> dict[str, Json]:
        """Return columns, types, size and how the file is written (F27.1)."""
        return self.draw().to_json(self.source)

    def draw(self) -> Map:
        """Return the map as the value it is before the common keys are added."""
        drawn = self._ask("table_get_map")
        assert isinstance(drawn, Map)
        return drawn

    def describe(self) -> JsonObject:
        """Return what each column holds (F27.2)."""
        return as_object(self._ask("table_describe"))

    def stats(self, columns: Sequence[str] | None = None) -> JsonObject:
        """Return statistics of some columns, or of all (F27.3)."""
        return as_object(self._ask("table_stats", columns=columns))

    def read_rows(
        self, row_start: int, row_count: int, columns: Sequence[str] | None = None
    ) -> JsonObject:
        """Return rows in source order, the first counted 1 (F27.4)."""
        window = {"row_start": row_start, "row_count": row_count}
        return as_object(self._ask("table_read_rows", columns=columns, **window))

    def query(
        self, query: str, window_rows: int = numbers.TABLE_WINDOW_ROWS, window_offset: int = 0
    ) -> JsonObject:
        """Return a window of the result of one SELECT over `data` (F26, F27.5)."""
        window = {"window_rows": window_rows, "window_offset": window_offset}
        return as_object(self._ask("table_query", query=query, **window))

    def write(
        self, function: str, out: Path, *, also: tuple[Source, ...] = (), **arguments: object
    ) -> Applied:
        """Run a table tool that writes `out` (F28) and may also read the `also` sources."""
        return self._do.table_write(function, self.source, self._region(), out, also, arguments)

    def _ask(self, function: str, **arguments: object) -> object:
        return self._do.table_read(function, self.source, self._region(), arguments)

    def _region(self) -> dict[str, object]:
        return {
            "sheet": self.sheet,
            "range": self.range,
            "header_row": self.header_row,
            "dialect": self.dialect,
        }
