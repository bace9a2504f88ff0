"""Computes formula values in a child process that can do nothing else (F24.8).

Run as `python -m backshop.formats.xlsx.engine`: it reads one request as JSON on standard input and
writes one answer. It gets values and formulas, never a file, and gives back values, never a file.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .cellxml import Content

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
    payload = json.dumps(
        [request.sheets, request.values, request.errors, request.formulas, request.date_1904]
    )
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-m", "backshop.formats.xlsx.engine"],
            input=payload.encode("utf-8", "surrogatepass"),
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    if done.returncode != 0:
        return "engine_failure"
    answers = json.loads(done.stdout)
    return [Content(item[0], item[1]) if item else None for item in answers]


def main() -> None:
    """Answer one request; everything that goes wrong is a missing value."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    payload = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"))
    sys.stdout.write(json.dumps(_evaluate(*payload)))


def _evaluate(
    sheets: list[str],
    values: list[tuple[int, int, int, Scalar]],
    errors: list[tuple[int, int, int, str]],
    formulas: list[tuple[int, int, int, str]],
    date_1904: bool,
) -> list[tuple[str, str] | None]:
    import formualizer  # only the child pays for it

    config = formualizer.EvaluationConfig()
    config.date_system = "1904" if date_1904 else "1900"
    config.enable_parallel = False
    book = formualizer.Workbook(config=formualizer.WorkbookConfig(eval_config=config))
    book.set_temporal_egress("serial")
    for name in sheets:
        book.add_sheet(name)
    for number, row, col, value in values:
        book.set_value(sheets[number], row, col, value)
    for number, row, col, error in errors:
        book.set_formula(sheets[number], row, col, f"={error}")
    accepted = []
    for number, row, col, text in formulas:
        try:
            book.set_formula(sheets[number], row, col, text)
        except Exception:  # the engine's own refusal of one formula; it counts as not computed
            accepted.append(False)
        else:
            accepted.append(True)
    answers = []
    for ok, (number, row, col, _) in zip(accepted, formulas, strict=True):
        answers.append(_value(book, sheets[number], row, col) if ok else None)
    return answers


def _value(book: object, sheet: str, row: int, col: int) -> tuple[str, str] | None:
    try:
        found = book.evaluate_cell(sheet, row, col)  # type: ignore[attr-defined]  # untyped library
    except Exception:  # one formula's failure is not another's
        return None
    if isinstance(found, bool):
        return "boolean", str(int(found))
    if isinstance(found, int | float):
        return "number", repr(float(found)) if found != int(found) else str(int(found))
    if isinstance(found, str):
        return "string", found
    if isinstance(found, dict) and found.get("kind") in _ERRORS:
        return "error", _ERRORS[found["kind"]]
    return None


if __name__ == "__main__":
    main()
