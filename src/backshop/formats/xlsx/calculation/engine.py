"""Computes formula values in a child process that may hang or die without harm (F24.8).

It gets the workbook as it is in memory and gives back values, never a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from backshop.base.limits import CELL_MAX_CHARS
from backshop.formats.figure.plain import exact_text
from backshop.formats.package.wellformed import xml_allows
from backshop.formats.worker import isolation

from ..book.cell_xml import Content
from ..book.workbook import Book
from ..evaluation import schedule
from ..evaluation.context import Context
from ..evaluation.function.engine import Engine
from ..evaluation.function.library import FUNCTIONS
from ..evaluation.memory import Cell, Memory
from ..evaluation.schedule import Block, Formula, Refusal, Result
from ..evaluation.value import Error, Value
from ..syntax.address import Area
from .surroundings import Surroundings

TIMEOUT_S = 20.0
MEMORY_BYTES = 1 << 30
_SPARE = 0.2  # of the time: for telling what was computed when it is over
_NOISE = 1e-12  # what is left of numbers that cancel out


@dataclass(frozen=True, slots=True)
class Request:
    """What to compute, what is known to be read (by sheet), and which cells have no value.

    `find` gives a formula whose result is not stored to one that reads it.
    """

    book: Book
    formulas: Sequence[Formula]
    areas: Mapping[int, set[Area]]
    unknown: Sequence[Cell]
    find: Callable[[Cell], Formula | None]


@dataclass(frozen=True, slots=True)
class Filled:
    """What an array formula gives: its cells, and their contents row by row."""

    area: Area
    rows: list[list[Content]]


Answer = Content | Filled | Refusal


def compute(request: Request, timeout_s: float = TIMEOUT_S) -> list[Answer] | str:
    """Return the answer to each formula, or why there is none at all."""
    done = isolation.run(
        _evaluate, request, timeout_s, timeout_s=timeout_s, memory_bytes=MEMORY_BYTES
    )
    if done.failure is not None:
        return "timeout" if done.failure.cause == "timeout" else "engine_failure"
    return done.value or []


def _evaluate(request: Request, timeout_s: float) -> list[Answer]:
    until = monotonic() + timeout_s * (1 - _SPARE)
    around = Surroundings(request.book)
    engine = Engine()

    def make() -> Context:
        memory = Memory(around.load, around.used_rows)
        return Context(
            sheets=tuple(sheet.name for sheet in request.book.sheets),
            memory=memory,
            date_1904=request.book.date_1904,
            hidden=around.hidden,
            formula=around.formula,
            stored_spill=around.spill,
            call=engine.call,
            functions=FUNCTIONS,
            named=around.named,
        )

    found = schedule.run(
        request.formulas,
        request.unknown,
        request.areas,
        make,
        around.is_blocked,
        request.find,
        until,
    )
    return [_answer(found[formula.cell]) for formula in request.formulas]


def _answer(result: Result) -> Answer:
    if isinstance(result, Refusal):
        return result
    if not isinstance(result, Block):
        return _content(result) or Refusal("doubtful")
    rows = [list(_contents(row)) for row in result.rows]
    if any(content is None for row in rows for content in row):
        return Refusal("doubtful")
    return Filled(result.area, [[one for one in row if one] for row in rows])


def _contents(row: Sequence[Value]) -> Iterator[Content | None]:
    return (_content(value) for value in row)


def _content(found: Value) -> Content | None:
    """Return a result as a cell holds it; what no cell can hold is no result."""
    if isinstance(found, bool):
        return Content("boolean", str(int(found)))
    if isinstance(found, float):
        noise = 0 < abs(found) < _NOISE
        return Content("number", exact_text(found)) if math.isfinite(found) and not noise else None
    if isinstance(found, str):
        fits = len(found) <= CELL_MAX_CHARS and all(map(xml_allows, found))
        return Content("string", found) if fits else None
    if isinstance(found, Error):
        return Content("error", found.code)
    return Content("number", "0")
