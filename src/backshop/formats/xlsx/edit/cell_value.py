"""What the JSON of an operation means as the content of a cell (F17.1)."""

from __future__ import annotations

import math
import re
from collections.abc import Collection

from backshop.base import limits
from backshop.formats.figure.plain import exact_text
from backshop.formats.protocol import Json
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import problem, strip_controls

from ..book import number_format
from ..book.cell_xml import EMPTY, Content
from ..syntax import foreign, formula

TYPES = (
    "auto",
    "string",
    "number",
    "boolean",
    "date",
    "datetime",
    "time",
    "formula",
    "array_formula",
    "blank",
)
DATE_FORMATS = {"date": "yyyy-mm-dd", "datetime": "yyyy-mm-dd hh:mm:ss", "time": "hh:mm:ss"}
_NUMERIC = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_TRUE = {"true": "1", "false": "0"}


def looks_numeric(text: str) -> bool:
    """Whether a text is a plain number."""
    return _NUMERIC.fullmatch(text.strip()) is not None


def check_type(kind: Json, where: str) -> str:
    """Return a `type`, `auto` when none is given."""
    if kind is None:
        return "auto"
    if not isinstance(kind, str):
        raise problem("bad_type", where, "must be text")
    if kind not in TYPES:
        raise problem("bad_value", where, "this is no cell type", TYPES)
    return kind


def content(
    value: Json,
    kind: str,
    where: str,
    date_1904: bool,
    warnings: Warnings,
    names: Collection[str] = (),
) -> Content:
    """Return what the cell is to hold; `names` are those the workbook gives, in small letters.

    Raises:
        FormatError: `bad_value`, `bad_type`, `too_large`, `unsafe_formula`.
    """
    if isinstance(value, (list, tuple, dict)):
        raise problem("bad_type", where, "must be text, a number, a boolean or null")
    if value is None or kind == "blank":
        if value is not None and value != "":
            raise problem("bad_value", where, "a blank cell has no value")
        return EMPTY
    if kind == "auto":
        kind = _guess(value)
    match kind:
        case "string":
            return _string(value, where, warnings)
        case "number":
            return Content("number", _number(value, where))
        case "boolean":
            return Content("boolean", _boolean(value, where))
        case "formula" | "array_formula":
            if not isinstance(value, str):
                raise problem("bad_value", where, "a formula is text")
            text = strip_controls(value, warnings, where).strip()
            braced = re.fullmatch(r"\{(=.*)\}", text, re.S)  # as Excel shows an array formula
            array = "fixed" if braced or kind == "array_formula" else ""
            found = _in_english(braced[1] if braced else text, where, warnings, names)
            return Content("formula", formula.stored(found, where), 0, array)
    serial = (
        number_format.serial_of(kind, value.strip(), date_1904) if isinstance(value, str) else None
    )
    if serial is None:
        raise problem("bad_value", where, f"this is no ISO 8601 {kind} the workbook can hold")
    return Content("number", exact_text(serial))


def _in_english(text: str, where: str, warnings: Warnings, names: Collection[str]) -> str:
    """Return a formula in the writing of files, and say what was written otherwise (F24.17)."""
    bare = text.removeprefix("=").strip()
    if len(bare) > formula.MAX_CHARS:
        return text
    numbered = foreign.by_numbers(bare)
    if numbered is not None:
        what = f"{numbered} names a cell by numbers: cells are named by letters, such as C2"
        raise problem("bad_value", where, what, ["R2C3 is $C$2", "RC[-1] is the cell to the left"])
    found = foreign.corrected(bare, names)
    if found.changes:
        warnings.add("formula_corrected", where=f"={found.text} ({', '.join(found.changes)})")
        return f"={found.text}"
    return text


def _guess(value: Json) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    is_formula = isinstance(value, str) and value.startswith("=") and len(value) > 1
    return "formula" if is_formula else "string"


def _string(value: Json, where: str, warnings: Warnings) -> Content:
    if isinstance(value, bool):
        text = "TRUE" if value else "FALSE"
    elif isinstance(value, int | float):
        text = _number(value, where)
    else:
        text = strip_controls(str(value), warnings, where)
    if len(text) > limits.CELL_MAX_CHARS:
        raise problem(
            "too_large", where, f"a cell holds at most {limits.CELL_MAX_CHARS} characters"
        )
    return Content("string", text) if text else EMPTY


def _number(value: Json, where: str) -> str:
    if isinstance(value, str) and looks_numeric(value):
        whole = re.fullmatch(r"\s*[+-]?\d{1,15}\s*", value)
        value = int(value) if whole else float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise problem("bad_value", where, "this is no number with a decimal point")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise problem("bad_value", where, "the number is too large for a cell")
    return exact_text(value if abs(number) < 1e15 else number)


def _boolean(value: Json, where: str) -> str:
    if isinstance(value, int | float) and value in (0, 1):
        return str(int(value))
    word = _TRUE.get(value.strip().lower()) if isinstance(value, str) else None
    if word is None:
        raise problem("bad_value", where, "this is neither true nor false")
    return word
