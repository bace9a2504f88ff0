"""Computes formula values in a child process that may hang or die without harm (F24.8).

The engine gets values and formulas, never a file, and gives back values, never a file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from backshop.formats import isolate

from .cellxml import Content
from .numfmt import number_text

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
    done = isolate.run(_evaluate, request, timeout_s=timeout_s, memory_bytes=MEMORY_BYTES)
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
    for number, row, col, value in request.values:
        book.set_value(sheets[number], row, col, value)
    for number, row, col, error in request.errors:
        book.set_formula(sheets[number], row, col, f"={error}")
    accepted = []
    for number, row, col, text in request.formulas:
        try:
            book.set_formula(sheets[number], row, col, text)
        except Exception:  # the engine's own refusal of one formula; it counts as not computed
            accepted.append(False)
        else:
            accepted.append(True)
    return [
        _value(book, sheets[number], row, col) if ok else None
        for ok, (number, row, col, _) in zip(accepted, request.formulas, strict=True)
    ]


def _value(book: object, sheet: str, row: int, col: int) -> Content | None:
    try:
        found = book.evaluate_cell(sheet, row, col)  # type: ignore[attr-defined]  # untyped library
    except Exception:  # one formula's failure is not another's
        return None
    if isinstance(found, bool):
        return Content("boolean", str(int(found)))
    if isinstance(found, int | float):
        return Content("number", number_text(found)) if math.isfinite(found) else None
    if isinstance(found, str):
        return Content("string", found)
    if isinstance(found, dict) and found.get("kind") in _ERRORS:
        return Content("error", _ERRORS[found["kind"]])
    return None
