"""Functions of texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import zip_longest
from typing import TYPE_CHECKING

from backshop.base.limits import CELL_MAX_CHARS

from ...syntax.address import MAX_COL, MAX_ROW, column_name
from ..coercion import (
    folded,
    rounded,
    to_number,
    to_text,
    to_truth,
    to_whole,
)
from ..date_system import dated
from ..definition import Definition, Scalar, Whole
from ..text_format import formatted
from ..value import (
    MISSING,
    NA,
    VALUE,
    Array,
    Doubt,
    Error,
    Fault,
    Missing,
    Operand,
    Reference,
    References,
    Value,
)
from ..wildcard import is_wild, pattern

if TYPE_CHECKING:
    from ..evaluator import Evaluator

# names of sheets that surely stand without quotes, or in them for a space
_SHEET = re.compile(r"[A-Za-z]{4,}[0-9]*|(?!(?i:rc)$)[A-Za-z]{2,3}|[A-Za-z]+ [A-Za-z0-9]+")


def _held(text: str) -> str:
    """Pass a text that fits into a cell."""
    if len(text) > CELL_MAX_CHARS:
        raise Fault(VALUE)
    return text


def _left(text: str, count: int = 1) -> str:
    if count < 0:
        raise Fault(VALUE)
    return text[:count]


def _right(text: str, count: int = 1) -> str:
    if count < 0:
        raise Fault(VALUE)
    return text[-count:] if count else ""


def _mid(text: str, start: int, count: int) -> str:
    if start < 1 or count < 0:
        raise Fault(VALUE)
    return text[start - 1 : start - 1 + count]


def _len(text: str) -> float:
    return float(len(text))


def _replace(text: str, start: int, count: int, new: str) -> str:
    if start < 1 or count < 0:
        raise Fault(VALUE)
    return _held(text[: start - 1] + new + text[start - 1 + count :])


def _substitute(text: str, old: str, new: str, which: int | None = None) -> str:
    if which is not None and which < 1:
        raise Fault(VALUE)
    if not old:
        return text
    if which is None:
        return _held(text.replace(old, new))
    at = -1
    for _ in range(which):
        at = text.find(old, at + 1 if at < 0 else at + len(old))
        if at < 0:
            return text
    return _held(text[:at] + new + text[at + len(old) :])


def _find(wanted: str, text: str, start: int = 1) -> float:
    at = _start(text, start, wanted)
    found = text.find(wanted, at)
    if found < 0:
        raise Fault(VALUE)
    return float(found + 1)


def _search(wanted: str, text: str, start: int = 1) -> float:
    at = _start(text, start, wanted)
    if len(folded(text)) != len(text) or (is_wild(wanted) and not text):
        raise Doubt
    if not is_wild(wanted):
        found = folded(text).find(folded(wanted), at)
    else:
        match = pattern(wanted).search(folded(text), at)
        found = match.start() if match else -1
    if found < 0:
        raise Fault(VALUE)
    return float(found + 1)


def _start(text: str, start: int, wanted: str) -> int:
    if start < 1 or start > len(text) + (not wanted):
        raise Fault(VALUE)
    return start - 1


def _trim(text: str) -> str:
    return " ".join(word for word in text.split(" ") if word)


def _clean(text: str) -> str:
    return "".join(char for char in text if ord(char) >= 32)


def _rept(text: str, count: int) -> str:
    if count < 0 or len(text) * count > CELL_MAX_CHARS:
        raise Fault(VALUE)
    return text * count


def _cased(change: Callable[[str], str], text: str) -> str:
    if any(len(change(char)) != 1 for char in text):
        raise Doubt
    return "".join(map(change, text))


def _upper(text: str) -> str:
    return _cased(str.upper, text)


def _lower(text: str) -> str:
    return _cased(str.lower, text)


def _proper(text: str) -> str:
    out = []
    for index, char in enumerate(text):
        begins = index == 0 or not text[index - 1].isalpha()
        out.append(_cased(str.upper if begins else str.lower, char))
    return "".join(out)


def _exact(one: str, two: str) -> bool:
    return one == two


def _char(code: int) -> str:
    if not 1 <= code <= 255:
        raise Fault(VALUE)
    try:
        return bytes([code]).decode("cp1252")
    except UnicodeDecodeError:
        raise Doubt from None


def _code(text: str) -> float:
    if not text:
        raise Fault(VALUE)
    try:
        return float(text[0].encode("cp1252")[0])
    except UnicodeEncodeError:
        raise Doubt from None


def _unichar(code: int) -> str:
    if not 1 <= code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise Fault(NA if 0xD800 <= code <= 0xDFFF else VALUE)
    if code > 0xFFFF or code in {0xFFFE, 0xFFFF}:
        raise Doubt
    return chr(code)


def _unicode(text: str) -> float:
    if not text:
        raise Fault(VALUE)
    return float(ord(text[0]))


def _value(date_1904: bool, value: Value) -> float:
    if isinstance(value, bool):
        raise Fault(VALUE)
    return to_number(dated(value, date_1904))


def _numbervalue(text: str, point: str = ".", group: str = ",") -> float:
    """Return the number a text is, by the signs that are given for it."""
    if not point or not group or point[0] == group[0]:
        raise Fault(VALUE)
    point, group = point[0], group[0]
    word = text.replace(" ", "")
    if any(char.isspace() for char in word):
        raise Doubt
    percents = len(word) - len(word.rstrip("%"))
    word = word.rstrip("%")
    before, sign, after = word.partition(point)
    if point in after or group in after:
        raise Fault(VALUE)
    word = before.replace(group, "") + ("." if sign else "") + after
    if not word:
        return 0.0
    if not re.fullmatch(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", word):
        raise Fault(VALUE)
    return float(Decimal(word).scaleb(-2 * percents))


def _fixed(value: float, digits: int = 2, plain: bool = False) -> str:
    if abs(digits) > 127:
        raise Fault(VALUE)
    number = rounded(value, digits)
    text = f"{abs(number):.{max(digits, 0)}f}" if plain else f"{abs(number):,.{max(digits, 0)}f}"
    if abs(number) >= 1e15:
        raise Doubt
    return f"-{text}" if number < 0 else text


def _dollar(value: float, digits: int = 2) -> str:
    text = _fixed(abs(value), digits)
    return f"(${text})" if rounded(value, digits) < 0 else f"${text}"


def _text(date_1904: bool, value: Value, code: Value) -> str:
    if isinstance(code, Error):
        raise Fault(code)
    if not isinstance(code, str):
        raise Doubt
    if isinstance(value, Error):
        raise Fault(value)
    return formatted(value, code, date_1904)


def _t(formula: Evaluator, operand: Operand) -> Value:
    value = _first(formula, operand)
    if isinstance(value, Error):
        return value
    return value if isinstance(value, str) else ""


def _first(formula: Evaluator, operand: Operand) -> Value:
    """Return the value of a cell; of several the first."""
    if isinstance(operand, Reference):
        area = operand.area
        return formula.context.memory.value(operand.sheet, area.row1, area.col1)
    if isinstance(operand, Array):
        if operand.height * operand.width > 1:
            raise Doubt
        return operand.rows[0][0]
    found = formula.settled(operand, False)
    assert not isinstance(found, Array), "arrays were seen to"
    return found


# --- several texts --------------------------------------------------------------------------------


def _texts(formula: Evaluator, operands: Sequence[Operand]) -> list[str]:
    """Return the texts of all cells, row by row."""
    found: list[str] = []
    for operand in operands:
        if isinstance(operand, References):
            raise Doubt
        array = formula.context.array(operand)
        if array.repeat > 1 and any(value is not None for value in array.rows[-1]):
            array.refuse_repeats()
        found.extend(to_text(value) for value in array.values())
    return found


def _concat(formula: Evaluator, *operands: Operand) -> str:
    return _held("".join(_texts(formula, operands)))


def _concatenate(*texts: str) -> str:
    return _held("".join(texts))


def _textjoin(formula: Evaluator, between: Operand, ignore: Operand, *operands: Operand) -> Value:
    if isinstance(between, Error):
        return between
    signs = [""] if between is MISSING else _texts(formula, [between]) or [""]
    skips = True if ignore is MISSING else to_truth(formula.as_one(ignore, "TEXTJOIN"))
    for operand in operands:
        whole = isinstance(operand, Reference) and formula.context.array(operand).repeat > 1
        if whole and not skips:
            raise Fault(VALUE)
    texts = [text for text in _texts(formula, operands) if text or not skips]
    turns = (signs[at % len(signs)] for at in range(len(texts) - 1))  # several signs take turns
    return _held("".join(text + sign for text, sign in zip_longest(texts, turns, fillvalue="")))


def _cut(text: str, sign: Value, which: int, mode: int, end: int, *, before: bool) -> str | None:
    """Return the part of a text before or after a sign; None when it is not there."""
    if which == 0 or mode not in {0, 1} or end not in {0, 1}:
        raise Fault(VALUE)
    wanted = to_text(sign)
    if not wanted or end or abs(which) > max(len(text), 1):
        raise Doubt
    inside, wanted = (text, wanted) if mode == 0 else (folded(text), folded(wanted))
    if len(inside) != len(text):
        raise Doubt
    places = [match.start() for match in re.finditer(re.escape(wanted), inside)]
    if len(places) < abs(which):
        return None
    at = places[which - 1 if which > 0 else which]
    return text[:at] if before else text[at + len(wanted) :]


def _part(formula: Evaluator, before: bool, given: Sequence[Operand]) -> Value:
    values = [one if isinstance(one, Missing) else formula.as_one(one, "") for one in given]
    text, sign = values[0], values[1]
    rest = [*values[2:], *[MISSING] * 4][:4]
    which, mode, end = (
        default if isinstance(value, Missing) else to_whole(value)
        for value, default in zip(rest[:3], (1, 0, 0), strict=True)
    )
    if isinstance(text, Missing) or isinstance(sign, Missing):
        raise Doubt
    found = _cut(to_text(text), sign, which, mode, end, before=before)
    if found is not None:
        return found
    return NA if isinstance(rest[3], Missing) else rest[3]


def _textbefore(formula: Evaluator, *given: Operand) -> Value:
    return _part(formula, True, given)


def _textafter(formula: Evaluator, *given: Operand) -> Value:
    return _part(formula, False, given)


def _signs(formula: Evaluator, operand: Operand) -> list[str]:
    found = [to_text(value) for value in formula.context.array(operand).all()]
    if not all(found):
        raise Fault(VALUE)
    return found


def _split(text: str, signs: Sequence[str], *, loose: bool, skips: bool) -> list[str]:
    flags = re.I if loose else 0
    either = "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))
    parts = re.split(either, text, flags=flags)
    return [part for part in parts if part or not skips]


def _textsplit(
    formula: Evaluator,
    text: Operand,
    columns: Operand,
    rows: Operand = MISSING,
    ignore: Operand = MISSING,
    mode: Operand = MISSING,
    pad: Operand = MISSING,
) -> Operand:
    whole = to_text(formula.as_one(formula.settled(text, True), "TEXTSPLIT"))
    skips = not isinstance(ignore, Missing) and to_truth(_first(formula, ignore))
    loose = not isinstance(mode, Missing) and to_truth(_first(formula, mode))
    if not whole:
        raise Doubt
    lines = [whole]
    if not isinstance(rows, Missing):
        lines = _split(whole, _signs(formula, rows), loose=loose, skips=skips)
    table: list[list[Value]] = []
    for line in lines:
        if isinstance(columns, Missing):
            table.append([line])
        else:
            signs = _signs(formula, columns)
            table.append(list(_split(line, signs, loose=loose, skips=skips)))
    width = max(map(len, table), default=0)
    if not width:
        raise Doubt
    filler = NA if isinstance(pad, Missing) else _first(formula, pad)
    return Array([[*row, *[filler] * (width - len(row))] for row in table])


def _address(row: int, col: int, kind: int = 1, a1: Value = True, sheet: Value = None) -> str:
    if not (1 <= row <= MAX_ROW and 1 <= col <= MAX_COL and 1 <= kind <= 4):
        raise Fault(VALUE)
    if not to_truth(a1):
        raise Doubt
    before = ""
    if sheet is not None:
        name = to_text(sheet)
        if not _SHEET.fullmatch(name):
            raise Doubt  # which names stand in quotes is not written anywhere
        before = f"'{name}'!" if " " in name else f"{name}!"
    mark_col, mark_row = ("$" if kind in {1, 3} else ""), ("$" if kind in {1, 2} else "")
    return f"{before}{mark_col}{column_name(col)}{mark_row}{row}"


def _hyperlink(link: Value, name: Value | Missing = MISSING) -> Value:
    if isinstance(name, Missing):
        return to_text(link)
    return name


FUNCTIONS: dict[str, Definition] = {
    "LEFT": Scalar(_left, "tw"),
    "RIGHT": Scalar(_right, "tw"),
    "MID": Scalar(_mid, "tww"),
    "LEN": Scalar(_len, "t"),
    "REPLACE": Scalar(_replace, "twwt"),
    "SUBSTITUTE": Scalar(_substitute, "tttw"),
    "FIND": Scalar(_find, "ttw"),
    "SEARCH": Scalar(_search, "ttw"),
    "TRIM": Scalar(_trim, "t"),
    "CLEAN": Scalar(_clean, "t"),
    "REPT": Scalar(_rept, "tw"),
    "UPPER": Scalar(_upper, "t"),
    "LOWER": Scalar(_lower, "t"),
    "PROPER": Scalar(_proper, "t"),
    "EXACT": Scalar(_exact, "t"),
    "CHAR": Scalar(_char, "w"),
    "CODE": Scalar(_code, "t"),
    "UNICHAR": Scalar(_unichar, "w"),
    "UNICODE": Scalar(_unicode, "t"),
    "VALUE": Scalar(_value, "v", dated=True),
    "NUMBERVALUE": Scalar(_numbervalue, "t"),
    "FIXED": Scalar(_fixed, "nwb"),
    "DOLLAR": Scalar(_dollar, "nw"),
    "TEXT": Scalar(_text, "e", dated=True),
    "T": Whole(_t),
    "CONCAT": Whole(_concat),
    "CONCATENATE": Scalar(_concatenate, "t"),
    "TEXTJOIN": Whole(_textjoin),
    "TEXTBEFORE": Whole(_textbefore),
    "TEXTAFTER": Whole(_textafter),
    "TEXTSPLIT": Whole(_textsplit),
    "ADDRESS": Scalar(_address, "wwwee"),
    "HYPERLINK": Scalar(_hyperlink, "v"),
}
