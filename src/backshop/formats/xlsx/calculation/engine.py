"""Computes formula values in a child process that may hang or die without harm (F24.8).

The engine gets values and formulas, never a file, and gives back values, never a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from backshop.base.limits import CELL_MAX_CHARS
from backshop.formats.package.wellformed import xml_allows
from backshop.formats.worker import isolation

from ..book.cell_xml import Content
from ..book.number_format import number_text
from .engine_rewrite import Watch, is_odd, is_quick
from .excel_semantics import has_digit

if TYPE_CHECKING:
    import formualizer

T = TypeVar("T")
TIMEOUT_S = 20.0
MEMORY_BYTES = 1 << 30
Scalar: TypeAlias = "float | bool | str"
_ERRORS = {
    "Div": "#DIV/0!",
    "Na": "#N/A",
    "Num": "#NUM!",
    "Ref": "#REF!",
    "Value": "#VALUE!",
    "Null": "#NULL!",
}


@dataclass(frozen=True, slots=True)
class Request:
    """What to compute: sheet names, known cells and formulas as (sheet number, row, column, …)."""

    sheets: Sequence[str]
    values: Sequence[tuple[int, int, int, Scalar]]
    errors: Sequence[tuple[int, int, int, str]]
    formulas: Sequence[tuple[int, int, int, str]]
    date_1904: bool


def compute(request: Request, timeout_s: float = TIMEOUT_S) -> list[Content | None] | str:
    """Return the value of each formula (None: not computed), or why there is none at all."""
    done = isolation.run(_evaluate, request, timeout_s=timeout_s, memory_bytes=MEMORY_BYTES)
    if done.failure is not None:
        return "timeout" if done.failure.cause == "timeout" else "engine_failure"
    return done.value or []


def _evaluate(request: Request) -> list[Content | None]:
    import formualizer  # only the child pays for it

    config = formualizer.EvaluationConfig()
    config.date_system = "1904" if request.date_1904 else "1900"
    config.enable_parallel = False
    book = formualizer.Workbook(config=formualizer.WorkbookConfig(eval_config=config))
    book.set_temporal_egress("serial")
    sheets = request.sheets
    for name in sheets:
        book.add_sheet(name)
    for number, row, col, column in _runs(request.values):
        book.set_values_batch(sheets[number], row, col, [[value] for value in column])
    errors = [(number, row, col, f"={error}") for number, row, col, error in request.errors]
    watch = Watch(book, formualizer.parse)
    quick = [is_quick(cell[3]) for cell in request.formulas]
    given = [
        (*cell[:3], cell[3] if plain else watch.rewritten(index, cell[3]))
        for index, (cell, plain) in enumerate(zip(request.formulas, quick, strict=True))
    ]
    _set_formulas(book, sheets, [*errors, *given])
    found = _results(book, request)
    texts = _texts(request, found)
    odd = [
        index
        for index, (number, _, _, text) in enumerate(request.formulas)
        if quick[index] and is_odd(text, found[index], texts[number])
    ]
    if odd:
        again = [
            (*request.formulas[i][:3], watch.rewritten(i, request.formulas[i][3])) for i in odd
        ]
        _set_formulas(book, sheets, again)
        found = _results(book, request)
    return [None if i in watch.doubted else _content(value) for i, value in enumerate(found)]


def _texts(request: Request, found: Sequence[object]) -> list[set[tuple[int, int]]]:
    """Return by sheet the cells whose text has digits in it."""
    texts: list[set[tuple[int, int]]] = [set() for _ in request.sheets]
    for number, row, col, value in request.values:
        if has_digit(value):
            texts[number].add((row, col))
    for (number, row, col, _), result in zip(request.formulas, found, strict=True):
        if has_digit(result):
            texts[number].add((row, col))
    return texts


def _set_formulas(
    book: formualizer.Workbook, sheets: Sequence[str], cells: Sequence[tuple[int, int, int, str]]
) -> None:
    for number, row, col, column in _runs(cells):
        book.set_formulas_batch(sheets[number], row, col, [[text] for text in column])


def _results(book: formualizer.Workbook, request: Request) -> list[object]:
    places = [(request.sheets[number], row, col) for number, row, col, _ in request.formulas]
    try:
        book.evaluate_all()  # cell by cell it takes the square of their number
    except Exception:  # one formula the engine stumbles over is not the others' failure
        return [_alone(book, *place) for place in places]
    return [book.get_value(*place) for place in places]


def _runs(cells: Sequence[tuple[int, int, int, T]]) -> Iterator[tuple[int, int, int, list[T]]]:
    """Gather cells that stand one below the other; the engine takes them at once far faster."""
    found: list[T] = []
    start = (-1, -1, -1)
    for number, row, col, value in sorted(cells, key=lambda cell: (cell[0], cell[2], cell[1])):
        if found and (number, row, col) == (start[0], start[1] + len(found), start[2]):
            found.append(value)
            continue
        if found:
            yield (*start, found)
        start, found = (number, row, col), [value]
    if found:
        yield (*start, found)


def _alone(book: formualizer.Workbook, sheet: str, row: int, col: int) -> object:
    try:
        return book.evaluate_cell(sheet, row, col)
    except Exception:  # the engine's own refusal of one formula; it counts as not computed
        return None


def _content(found: object) -> Content | None:
    """Return a result as a cell holds it; what no cell can hold is no result."""
    if isinstance(found, bool):
        return Content("boolean", str(int(found)))
    if isinstance(found, int | float):
        noise = 0 < abs(found) < 1e-12  # what is left of numbers that cancel out
        return Content("number", number_text(found)) if math.isfinite(found) and not noise else None
    if isinstance(found, str):
        fits = len(found) <= CELL_MAX_CHARS and all(map(xml_allows, found))
        return Content("string", found) if fits else None
    if isinstance(found, dict) and found.get("kind") in _ERRORS:
        return Content("error", _ERRORS[found["kind"]])
    return None
