"""Builds the table file: one pass over the rows, types checked on the way (F25.4, F25.5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from ..errors import FormatError, fail
from ..protocol import Limits
from . import engine, infer
from .engine import Connection, identifier, quoted
from .failure import describe
from .infer import Guess, Kind
from .stage import LINE_MAX_BYTES

_MANY = 100  # columns
_SLOW_WHEN_WIDE = "common_subexpressions"  # takes time with the square of the columns
BUFFER_BYTES = 4 * LINE_MAX_BYTES
_MARK = "backshop column "
_MARKED = re.compile(_MARK + r"(\d+)")


class NotEven(Exception):
    """DuckDB cannot read the file as it stands; the careful parser may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A delimited UTF-8 file to load and how it is written; by default as `stage` does it."""

    path: Path
    delimiter: str = ","
    quote: str = '"'
    has_header: bool = False
    ends: str | None = r"\n"  # of its lines, as DuckDB spells them; None lets it find out
    is_even: bool = True  # all records have all columns
    has_breaks: bool = True  # fields may hold line ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What loading found out, by column."""

    rows: int
    kinds: tuple[Kind, ...]
    commas: tuple[int, ...] = ()  # columns of numbers with a decimal comma
    ambiguous: tuple[int, ...] = ()  # columns of dates that could be read two ways


def load(
    text: Text,
    out: Path,
    names: Sequence[str],
    guesses: Sequence[Guess],
    limits: Limits,
    *,
    is_sure: bool = False,
) -> Loaded:
    """Build the table file at `out`; `is_sure` says that the guesses have seen every row.

    Raises:
        NotEven: the file is not as strict as DuckDB wants it.
        FormatError: `timeout`, `memory_limit`, `disk_full`.
    """
    try:
        without = _SLOW_WHEN_WIDE if len(names) > _MANY else ""
        time_s = limits.map_timeout_s
        with engine.building(out, limits, text.path, time_s, without=without) as connection:
            return _Loader(connection, text, names, guesses, is_sure).run()
    except duckdb.Error as error:
        raise _translated(error) from error


class _Loader:
    def __init__(
        self,
        connection: Connection,
        text: Text,
        names: Sequence[str],
        guesses: Sequence[Guess],
        is_sure: bool,
    ) -> None:
        self._connection = connection
        self._is_sure = is_sure
        self._names = [identifier(name) for name in names]
        self._guesses = list(guesses)
        self._reader = _reader(text, self._names)

    def run(self) -> Loaded:
        if not self._fill([guess.kind for guess in self._guesses], quick=True):
            self._fill(self._kinds_of_all_rows(), quick=False)
        ambiguous = self._settle_open_columns()
        commas = [i for i, item in enumerate(self._guesses) if item.has_comma and self._commas(i)]
        row = self._connection.execute("SELECT count(*) FROM data").fetchone()
        return Loaded(
            rows=int(row[0]) if row else 0,
            kinds=tuple(guess.kind for guess in self._guesses),
            commas=tuple(commas),
            ambiguous=tuple(ambiguous),
        )

    def _fill(self, kinds: Sequence[Kind], *, quick: bool) -> bool:
        """Create the table; False when some value is not of its column's kind, or not plainly."""
        pairs = enumerate(zip(self._names, kinds, strict=True))
        is_sure = quick and self._is_sure
        chosen = ", ".join(_checked(name, kind, at, quick, is_sure) for at, (name, kind) in pairs)
        try:
            self._connection.execute(f"CREATE TABLE data AS SELECT {chosen} FROM {self._reader}")
        except duckdb.InvalidInputException as error:
            if _MARKED.search(str(error)):
                return False
            raise
        self._guesses = [
            replace(guess, kind=kind) for guess, kind in zip(self._guesses, kinds, strict=True)
        ]
        return True

    def _kinds_of_all_rows(self) -> list[Kind]:
        """Ask all rows at once whether they fit the guess, or the next wider kind."""
        asked = [
            (at, kind)
            for at, item in enumerate(self._guesses)
            for kind in (item.kind, infer.WIDER.get(item.kind))
            if kind not in (None, infer.TEXT)
        ]
        tests = ", ".join(_all_fit(self._names[at], kind) for at, kind in asked)
        row = self._connection.execute(f"SELECT {tests} FROM {self._reader}").fetchone() or ()
        kinds = [infer.TEXT] * len(self._names)
        for (at, kind), fits in reversed(list(zip(asked, row, strict=True))):
            if fits:
                kinds[at] = kind  # the narrow one comes first, so it is set last
        return kinds

    def _settle_open_columns(self) -> list[int]:
        """Give a type to columns whose sample was empty or undecided; return the ambiguous ones."""
        ambiguous = []
        for at in self._filled([at for at, item in enumerate(self._guesses) if item.is_open]):
            name = self._names[at]
            kinds = (*infer.KINDS, *infer.DAY_FIRST, *infer.MONTH_FIRST)
            tests = ", ".join(_all_fit(name, kind) for kind in kinds)
            fits = self._connection.execute(f"SELECT {tests} FROM data").fetchone() or ()
            found = [kind for kind, ok in zip(kinds, fits, strict=True) if ok]
            if found and _both_ways(found):
                ambiguous.append(at)
            elif found:
                kind = found[0]
                self._connection.execute(
                    f"ALTER TABLE data ALTER {name} TYPE {kind.native} USING {kind.sql(name)}"
                )
                self._guesses[at] = Guess(kind)
        return ambiguous

    def _filled(self, columns: Sequence[int]) -> list[int]:
        """Return those of the columns that hold anything at all."""
        if not columns:
            return []
        counts = ", ".join(f"count({self._names[at]})" for at in columns)
        row = self._connection.execute(f"SELECT {counts} FROM data").fetchone() or ()
        return [at for at, count in zip(columns, row, strict=True) if count]

    def _commas(self, at: int) -> bool:
        name = self._names[at]
        row = self._connection.execute(
            f"SELECT bool_and(regexp_full_match(trim({name}, ' '), {quoted(infer.COMMA_NUMBER)})),"
            f" bool_or(regexp_full_match(trim({name}, ' '), {quoted(infer.COMMA_PROOF)})) FROM data"
        ).fetchone()
        return row is not None and bool(row[0]) and bool(row[1])


def _reader(text: Text, names: Sequence[str]) -> str:
    columns = ", ".join(f"{name}: 'VARCHAR'" for name in names)
    options = [
        quoted(str(text.path)),
        "auto_detect = false",
        f"delim = {quoted(text.delimiter)}",
        f"quote = {quoted(text.quote)}",
        f"escape = {quoted(text.quote)}",
        f"header = {str(text.has_header).lower()}",
        *([f"new_line = {quoted(text.ends)}"] if text.ends else []),  # a field may hold others
        f"columns = {{{columns}}}",
        "strict_mode = true",
        f"null_padding = {str(not text.is_even).lower()}",
        f"parallel = {str(text.is_even or not text.has_breaks).lower()}",  # else it refuses breaks
        f"max_line_size = {LINE_MAX_BYTES}",
        f"buffer_size = {BUFFER_BYTES}",
    ]
    return f"read_csv({', '.join(options)})"


def _checked(name: str, kind: Kind, at: int, quick: bool, is_sure: bool) -> str:
    if kind is infer.TEXT:
        return name
    if is_sure and kind in infer.CERTAIN:
        return f"{kind.cast.format(name)} AS {name}"
    value = kind.quick_sql(name) if quick else kind.sql(name)
    wrong = f"error({quoted(_MARK + str(at))})"
    # asked only where there is no value: the usual row costs the value alone
    return f"coalesce({value}, CASE WHEN {name} IS NOT NULL THEN {wrong} END) AS {name}"


def _all_fit(name: str, kind: Kind) -> str:
    return f"coalesce(bool_and({name} IS NULL OR {kind.sql(name)} IS NOT NULL), true)"


def _both_ways(kinds: Sequence[Kind]) -> bool:
    days = [kind for kind in kinds if kind in infer.DAY_FIRST]
    months = [kind for kind in kinds if kind in infer.MONTH_FIRST]
    return bool(days and months) and kinds[0] in (*infer.DAY_FIRST, *infer.MONTH_FIRST)


def _translated(error: duckdb.Error) -> FormatError | NotEven:
    if isinstance(error, duckdb.InterruptException):
        return fail("timeout", "taking in the table took too long")
    if isinstance(error, duckdb.OutOfMemoryException):
        text = "taking in the table needs more memory than it may use"
        return fail("memory_limit", text, detail=describe(error))
    if isinstance(error, duckdb.IOException) and "no space left" in str(error).lower():
        return fail("disk_full", "there is no room for the table on the disk")
    return NotEven(type(error).__name__)  # its text quotes the file
