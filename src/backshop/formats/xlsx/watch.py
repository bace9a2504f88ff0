"""Formulas as the engine gets them: steps that spreadsheets take in their own way are ours.

Each formula is rewritten so that comparisons, arithmetic, joined text and the arguments of touchy
functions pass through functions of this module. They do what Excel does, or *doubt*: then the
formula counts as not computed (F24.9). Excel compares by 15 digits, reads text as dates, calls 1900
a leap year; a value that hangs on such a thing is left to it. Runs in the engine's child only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from .address import column_number, parse_area
from .numfmt import number_text

if TYPE_CHECKING:
    import formualizer

Value: TypeAlias = Any  # float, bool, str, None, an error or rows of such: what the engine hands us
Tree: TypeAlias = Mapping[str, Any]

_FIRST_SURE_DAY = 61  # 1900-03-01: before it Excel counts a day that never was
_NOISE = 1e-14
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_DIGIT = re.compile(r"[0-9]")
_QUICK = re.compile(r"=[A-Z0-9$:+*/(),. ]*")
_SINGLE = re.compile(r"(?<![:A-Z$])\$?([A-Z]{1,3})\$?([0-9]{1,7})(?![0-9:(])")
_QUICK_CALL = re.compile(r"([A-Z][A-Z0-9.]*)\(")
_QUICK_FUNCTIONS = frozenset({"SUM", "AVERAGE", "COUNT", "COUNTA", "MIN", "MAX"})
_TRUTHS = frozenset({"TRUE", "FALSE"})
_PLAIN_WORDS = re.compile(r"[A-Za-z0-9 ]*")

_COMPARISONS = frozenset({"=", "<>", "<", ">", "<=", ">="})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "^"})


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_AGGREGATES = _names("""
SUM AVERAGE COUNT COUNTA MIN MAX MEDIAN PRODUCT SUMSQ STDEV STDEV.S STDEVP STDEV.P VAR VAR.S VARP
VAR.P AVERAGEA MAXA MINA GEOMEAN HARMEAN AND OR XOR NPV GCD LCM
""")
_ONE_REFERENCE = _names("COUNTBLANK ROWS COLUMNS")
_OF_NUMBERS = _names("""
ABS ACOS ASIN ATAN ATAN2 COS DEGREES EXP FV LN LOG LOG10 NPER PMT PV RADIANS ROUND SIGN SIN SQRT
TAN CHAR
""")
_OF_WHOLE = _names("FACT COMBIN ISEVEN ISODD")
_STEPS = _names("INT TRUNC ROUNDDOWN ROUNDUP EVEN ODD")
_OF_DATES = _names("DAY MONTH YEAR WEEKDAY DAYS EDATE EOMONTH")
_CLOCKS = _names("HOUR MINUTE SECOND")
_GIVE_DATES = _names("DATE EDATE EOMONTH")
_TEXTS: dict[str, tuple[int, ...]] = {  # the arguments that are read as text
    **dict.fromkeys(("LEFT", "RIGHT", "MID", "LEN", "TRIM", "CLEAN", "REPT"), (0,)),
    **dict.fromkeys(("FIND", "SEARCH", "EXACT"), (0, 1)),
    "SUBSTITUTE": (0, 1, 2),
    "CODE": (0,),
}
_KEYS: dict[str, tuple[int, ...]] = {  # the arguments that are looked for
    **dict.fromkeys(("MATCH", "VLOOKUP", "HLOOKUP", "RANK", "RANK.EQ", "SWITCH"), (0,)),
    **dict.fromkeys(("COUNTIF", "SUMIF", "AVERAGEIF"), (1,)),
    **dict.fromkeys(("SUMIFS", "AVERAGEIFS", "MAXIFS", "MINIFS"), (2, 4, 6, 8, 10, 12)),
    "COUNTIFS": (1, 3, 5, 7, 9, 11),
}
_INDEXES: dict[str, tuple[int, ...]] = {"CHOOSE": (0,), "LARGE": (1,), "SMALL": (1,)}


class Doubt(Exception):
    """Excel may see this otherwise."""


class Fault(Exception):
    """The step ends in an error value."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.value = {"type": "Error", "kind": kind}


class Watch:
    """Rewrites formulas for one engine and remembers which of them are in doubt."""

    def __init__(self, engine: formualizer.Workbook, parse: Callable[[str], Any]) -> None:
        self.doubted: set[int] = set()
        self._parse = parse
        for name, function in _OWN.items():
            engine.register_function(f"WATCH_{name}", partial(self._call, function))

    def rewritten(self, number: int, text: str) -> str:
        """Return a formula with its steps watched under `number`; in doubt, something harmless."""
        try:
            if '"#' in text:
                raise Doubt  # an error and a text that looks like one come out of the parser alike
            return "=" + _emit(self._parse(text).to_dict(), number)
        except Exception:  # the parser's refusal and ours: the formula is not computed
            self.doubted.add(number)
            return "=0"

    def _call(self, function: Callable[..., Value], number: float, *arguments: Value) -> Value:
        try:
            return function(*arguments)
        except Doubt:
            self.doubted.add(int(number))
            return _error("Na")
        except Fault as fault:
            return fault.value
        except OverflowError:
            return _error("Num")


def is_quick(text: str) -> bool:
    """Whether only plain sums of numbers stand in a formula: watched only if it goes wrong."""
    if not _QUICK.fullmatch(text):
        return False
    return _QUICK_FUNCTIONS.issuperset(_QUICK_CALL.findall(text))


def is_odd(text: str, found: object, texts: Container[tuple[int, int]]) -> bool:
    """Whether the result of a quick formula asks for a second look: reading text, or tiny.

    `texts` are the cells of its sheet that hold text with digits.
    """
    if not isinstance(found, float) or 0 < abs(found) < 1e-6:
        return True
    return any(
        (int(row), column_number(letters)) in texts for letters, row in _SINGLE.findall(text)
    )


def has_digit(value: object) -> bool:
    """Whether a value is text that arithmetic might take for a number or a date."""
    return isinstance(value, str) and _DIGIT.search(value) is not None


# --- rewriting ----------------------------------------------------------------------------------


def _emit(tree: Tree, number: int) -> str:
    match tree["node_type"]:
        case "Literal":
            return _literal(tree["value"])
        case "Reference":
            return str(tree["reference"])
        case "Omitted":
            return ""
        case "UnaryOp":
            operand = _emit(tree["operand"], number)
            word = "PERCENT" if tree["operator"] == "%" else "NEGATE"
            return operand if tree["operator"] == "+" else f"WATCH_{word}({number},{operand})"
        case "BinaryOp":
            return _binary(tree, number)
        case "Function":
            return _function(tree, number)
    raise Doubt


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return number_text(value)
    text = str(value)
    return text if text.startswith("#") else '"' + text.replace('"', '""') + '"'


def _binary(tree: Tree, number: int) -> str:
    sign = tree["operator"]
    left, right = _emit(tree["left"], number), _emit(tree["right"], number)
    if sign == "&":
        return f"WATCH_JOIN({number},{left},{right})"
    if sign in _COMPARISONS:
        return f'WATCH_COMPARE({number},"{sign}",{left},{right})'
    if sign in _ARITHMETIC:
        return f'WATCH_CALCULATE({number},"{sign}",{left},{right})'
    raise Doubt


def _function(tree: Tree, number: int) -> str:
    name = re.sub(r"^(?:_xlfn\.|_xlws\.)+", "", str(tree["name"]), flags=re.I).upper()
    trees: Sequence[Tree] = tree["args"]
    arguments = [_emit(argument, number) for argument in trees]

    def through(word: str, *places: int) -> None:
        for place in places:
            if place < len(arguments) and arguments[place]:
                arguments[place] = f"WATCH_{word}({number},{arguments[place]})"

    if name in _ALL_OURS:
        return f"WATCH_{name}({','.join([str(number), *arguments])})"
    if name == "POWER" and len(arguments) == 2:
        return f'WATCH_CALCULATE({number},"^",{arguments[0]},{arguments[1]})'
    if name in {"MATCH", "VLOOKUP", "HLOOKUP"} and not _is_exact(name, trees):
        return _approximate(name, trees, arguments, number)
    if name in _ONE_REFERENCE and (len(trees) != 1 or trees[0]["node_type"] != "Reference"):
        raise Doubt
    if name in _AGGREGATES:
        through("DIRECT", *(i for i, t in enumerate(trees) if t["node_type"] != "Reference"))
    if name == "NOT":
        through("TRUTH", 0)
    if name in _OF_NUMBERS | _OF_WHOLE:
        through("WHOLE" if name in _OF_WHOLE else "NUMBER", *range(len(arguments)))
    if name in _STEPS and arguments:
        step = ",".join([str(number), *arguments[:2]])
        arguments[0] = f"WATCH_STEP({step})"
    if name in _OF_DATES:
        if name == "DAYS":
            through("WHOLE", 0, 1)
        through("DAY", *range(2 if name == "DAYS" else 1))
        through("STEP", *range(1, len(arguments) if name != "DAYS" else 0))
    if name == "DATE":
        through("WHOLE", 0, 1, 2)
    if name in _CLOCKS:
        through("CLOCK", 0)
    if name == "TEXT" and len(arguments) == 2:
        through("SHOWN", 0)
        if any(letter in arguments[1] for letter in "ymd"):
            through("DAY", 0)
    if name == "INDEX":
        _check_index(trees)
        through("INDEX", *range(1, len(arguments)))
    if name in {"IF", "IFS"}:
        through("TRUTH", *(range(0, len(arguments), 2) if name == "IFS" else (0,)))
    through("TEXT", *_TEXTS.get(name, ()))
    through("KEY", *_KEYS.get(name, ()))
    through("INDEX", *_INDEXES.get(name, ()))
    call = f"{name}({','.join(arguments)})"
    return f"WATCH_DAY({number},{call})" if name in _GIVE_DATES else call


def _is_wide(tree: Tree) -> bool:
    return tree["node_type"] == "Reference" and ":" in tree["reference"]


def _is_exact(name: str, trees: Sequence[Tree]) -> bool:
    """Whether a lookup wants an equal value; what it wants must be written there."""
    place = 2 if name == "MATCH" else 3
    if len(trees) <= place:
        return False
    kind = trees[place]
    if kind["node_type"] == "Omitted":
        return True
    if kind["node_type"] != "Literal":
        raise Doubt
    return not kind["value"]


def _approximate(name: str, trees: Sequence[Tree], arguments: list[str], number: int) -> str:
    if len(trees) < 2 or not _is_wide(trees[1]) or not _DIGIT.search(trees[1]["reference"]):
        raise Doubt  # a whole column would be handed over cell by cell
    if name == "MATCH" and len(trees) > 2 and trees[2]["value"] not in (1, True):
        raise Doubt
    rest = ",".join(arguments[:2] if name == "MATCH" else arguments[:3])
    return f"WATCH_{name}({number},{rest})"


def _check_index(trees: Sequence[Tree]) -> None:
    """An index into a row or column, or two into a block; anything else gives a whole range."""
    area = parse_area(str(trees[0].get("reference", "")).rpartition("!")[2]) if trees else None
    if area is None or (len(trees) < 3 and min(area.width, area.height) > 1):
        raise Doubt


# --- what the engine calls ----------------------------------------------------------------------


def _error(kind: str) -> dict[str, str]:
    return {"type": "Error", "kind": kind}


def _number(value: Value) -> float:
    """Return a value as arithmetic takes it."""
    if value is None:
        return 0.0
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, dict):
        raise Fault(value["kind"])
    if isinstance(value, str):
        if _WHOLE.fullmatch(value.strip()):
            return float(value)
        if _DIGIT.search(value):
            raise Doubt  # a date, an amount, a number with a comma: as the reader's country has it
        raise Fault("Value")
    raise Doubt


def _text(value: Value) -> str:
    """Return a value as text takes it: numbers by 15 digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        if value == int(value) and abs(value) < 1e15:
            return str(int(value))
        text = f"{value:.15g}"
        if "e" in text:
            raise Doubt
        return text
    if isinstance(value, dict):
        raise Fault(value["kind"])
    if isinstance(value, str):
        if any(ord(char) > 0xFFFF for char in value):
            raise Doubt  # counted as two there
        return value
    raise Doubt


def _each(step: Callable[[Value, Value], Value], left: Value, right: Value) -> Value:
    """Take a step cell by cell where a range is given, as SUMPRODUCT asks for."""
    if not isinstance(left, list) and not isinstance(right, list):
        return step(left, right)
    rows = len(left) if isinstance(left, list) else len(right)
    cols = len(left[0]) if isinstance(left, list) else len(right[0])
    for side in (left, right):
        if isinstance(side, list) and (len(side), len(side[0])) != (rows, cols):
            raise Doubt

    def at(side: Value, row: int, col: int) -> Value:
        return side[row][col] if isinstance(side, list) else side

    def one(row: int, col: int) -> Value:
        try:
            return step(at(left, row, col), at(right, row, col))
        except Fault as fault:
            return fault.value

    return [[one(row, col) for col in range(cols)] for row in range(rows)]


def _calculate(sign: str, left: Value, right: Value) -> Value:
    return _each(partial(_calculated, sign), left, right)


def _calculated(sign: str, left: Value, right: Value) -> float:
    one, two = _number(left), _number(right)
    match sign:
        case "+" | "-":
            found = one + two if sign == "+" else one - two
            if found and abs(found) <= _NOISE * max(abs(one), abs(two)):
                raise Doubt  # sometimes shown as zero
        case "*":
            found = one * two
        case "/":
            if two == 0:
                raise Fault("Div")
            found = one / two
        case _:
            found = _power(one, two)
    if not math.isfinite(found):
        raise Fault("Num")
    return found + 0.0  # no negative zero


def _power(base: float, exponent: float) -> float:
    if base == 0 and exponent <= 0:
        raise Fault("Num" if exponent == 0 else "Div")
    if base < 0 and exponent != int(exponent):
        raise Fault("Num")
    return math.pow(base, exponent)


def _negate(value: Value) -> Value:
    return _calculate("-", 0.0, value)


def _percent(value: Value) -> Value:
    return _calculate("/", value, 100.0)


def _join(left: Value, right: Value) -> str:
    return _text(left) + _text(right)


def _compare(sign: str, left: Value, right: Value) -> Value:
    return _each(partial(_compared, sign), left, right)


def _compared(sign: str, left: Value, right: Value) -> bool:
    for side in (left, right):
        if isinstance(side, dict):
            raise Fault(side["kind"])
    order = _order(left, right, equality=sign in {"=", "<>"})
    match sign:
        case "=":
            return order == 0
        case "<>":
            return order != 0
        case "<":
            return order < 0
        case ">":
            return order > 0
        case "<=":
            return order <= 0
    return order >= 0


def _order(left: Value, right: Value, *, equality: bool) -> int:
    """Say how two values stand: numbers before texts before truth values."""
    one, two = _beside(left, right), _beside(right, left)
    ranks = (_rank(one), _rank(two))
    if ranks[0] != ranks[1]:
        return ranks[0] - ranks[1]
    if isinstance(one, str):
        return _order_of_texts(one, two, equality=equality)
    if one == two or float(f"{one:.15g}") == float(f"{two:.15g}"):
        return 0
    if abs(one - two) <= _NOISE * max(abs(one), abs(two)):
        raise Doubt
    return 1 if one > two else -1


def _beside(value: Value, other: Value) -> Value:
    """Return an empty cell as what it is taken for beside another value."""
    if value is not None:
        return value
    if isinstance(other, str):
        return ""
    return False if isinstance(other, bool) else 0.0


def _rank(value: Value) -> int:
    if isinstance(value, bool):
        return 2
    if isinstance(value, int | float):
        return 0
    if isinstance(value, str):
        return 1
    raise Doubt


def _order_of_texts(one: str, two: str, *, equality: bool) -> int:
    first, second = one.lower(), two.lower()
    if first == second:
        return 0
    plain = _PLAIN_WORDS.fullmatch(one) and _PLAIN_WORDS.fullmatch(two)
    alike = first.casefold() == second.casefold()
    if alike or not (equality or plain):
        raise Doubt  # by the alphabet of the reader's country
    return 1 if first > second else -1


def _direct(value: Value) -> Value:
    """Pass what is given to SUM and its kind; text written there has rules of its own."""
    if isinstance(value, str):
        raise Doubt
    return value


def _truth(value: Value) -> Value:
    if isinstance(value, str) and (_DIGIT.search(value) or value.strip().upper() in _TRUTHS):
        raise Doubt
    return value


def _as_number(value: Value) -> Value:
    return _number(value) if isinstance(value, str) else value


def _whole(value: Value) -> Value:
    if isinstance(value, str):
        raise Doubt
    number = _number(value)
    if number != int(number):
        raise Doubt
    return number


def _step(value: Value, digits: Value = 0) -> float:
    """Pass a number that is not a hair's breadth from where it would fall to the other side."""
    number, places = _number(value), _number(digits)
    scaled = number * 10**places
    nearest = round(scaled)
    if scaled != nearest and abs(scaled - nearest) <= 1e-9 * max(1.0, abs(scaled)):
        raise Doubt
    return number


def _day(value: Value) -> Value:
    if isinstance(value, bool):
        raise Doubt
    number = _number(value)
    if number < _FIRST_SURE_DAY:
        raise Doubt
    return number


def _clock(value: Value) -> Value:
    seconds = _number(value) * 86400
    if abs(seconds - round(seconds)) > 1e-3:
        raise Doubt
    return value


def _shown(value: Value) -> Value:
    if isinstance(value, bool | str):
        raise Doubt
    return value


def _key(value: Value) -> Value:
    """Pass what is looked for, unless it carries the noise of a computation."""
    if value is None or (isinstance(value, float) and value != float(f"{value:.15g}")):
        raise Doubt
    return value


def _index(value: Value) -> Value:
    if isinstance(value, bool) or _step(value) < 1:
        raise Doubt
    return value


def _mod(value: Value, divisor: Value) -> float:
    one, two = _number(value), _number(divisor)
    if two == 0:
        raise Fault("Div")
    if abs(one / two) > 1e12:
        raise Doubt
    found = one - two * math.floor(one / two)
    if one == int(one) and two == int(two):
        return found
    share = found / two
    if abs(share - round(share)) <= 1e-9:
        raise Doubt
    return found


def _quotient(value: Value, divisor: Value) -> float:
    one, two = _number(value), _number(divisor)
    if two == 0:
        raise Fault("Div")
    return float(math.trunc(_step(one / two)))


def _time(hour: Value, minute: Value, second: Value) -> float:
    parts = [_whole(hour), _whole(minute), _whole(second)]
    if min(parts) < 0 or max(parts) > 32767:
        raise Doubt
    return (parts[0] * 3600 + parts[1] * 60 + parts[2]) % 86400 / 86400


def _cased(change: Callable[[str], str], value: Value) -> str:
    text = _text(value)
    if any(len(change(char)) != 1 for char in text):
        raise Doubt
    return "".join(map(change, text))


def _proper(value: Value) -> str:
    text, out = _text(value), []
    for index, char in enumerate(text):
        begins = index == 0 or not text[index - 1].isalpha()
        out.append(_cased(str.upper if begins else str.lower, char))
    return "".join(out)


def _replace(old: Value, start: Value, count: Value, new: Value) -> str:
    text, first, length = _text(old), int(_step(start)), int(_step(count))
    if first < 1 or length < 0:
        raise Fault("Value")
    return text[: first - 1] + _text(new) + text[first - 1 + length :]


def _flat(values: Sequence[Value]) -> list[Value]:
    cells: list[Value] = []
    for value in values:
        cells.extend(cell for row in value for cell in row) if isinstance(value, list) else (
            cells.append(value)
        )
    return cells


def _concat(*values: Value) -> str:
    return "".join(map(_text, _flat(values)))


def _textjoin(between: Value, ignore: Value, *values: Value) -> str:
    texts = map(_text, _flat(values))
    return _text(between).join(t for t in texts if t or not _number(ignore))


def _sumproduct(*ranges: Value) -> float:
    shapes = {(len(r), len(r[0])) if isinstance(r, list) else (1, 1) for r in ranges}
    if len(shapes) != 1:
        raise Fault("Value")
    products = [1.0] * (next(iter(shapes))[0] * next(iter(shapes))[1])
    for cells in map(_flat, [[part] for part in ranges]):
        for index, cell in enumerate(cells):
            if isinstance(cell, dict):
                raise Fault(cell["kind"])
            plain = isinstance(cell, float | int) and not isinstance(cell, bool)
            products[index] *= cell if plain else 0.0
    return math.fsum(products)


def _match(key: Value, cells: Value) -> int:
    """Return the place of the last value not above the key, in a list that really ascends."""
    values = _flat([cells])
    if isinstance(key, dict):
        raise Fault(key["kind"])
    if key is None or isinstance(key, bool) or any(type(v) is not type(key) for v in values):
        raise Doubt
    for one, two in zip(values, values[1:], strict=False):
        if _order(one, two, equality=False) > 0:
            raise Doubt
    below = [place for place, v in enumerate(values, 1) if _order(v, key, equality=False) <= 0]
    if not below:
        raise Fault("Na")
    return below[-1]


def _vlookup(key: Value, table: Value, col: Value) -> Value:
    place, width = int(_index(col)), len(table[0])
    row = _match(key, [[cells[0]] for cells in table])
    if place > width:
        raise Fault("Ref")
    return table[row - 1][place - 1]


def _hlookup(key: Value, table: Value, row: Value) -> Value:
    return _vlookup(key, [list(column) for column in zip(*table, strict=True)], row)


_ALL_OURS: dict[str, Callable[..., Value]] = {
    "MOD": _mod,
    "QUOTIENT": _quotient,
    "TIME": _time,
    "UPPER": partial(_cased, str.upper),
    "LOWER": partial(_cased, str.lower),
    "PROPER": _proper,
    "REPLACE": _replace,
    "CONCAT": _concat,
    "CONCATENATE": _concat,
    "TEXTJOIN": _textjoin,
    "SUMPRODUCT": _sumproduct,
}
_OWN: dict[str, Callable[..., Value]] = {
    **_ALL_OURS,
    "CALCULATE": _calculate,
    "NEGATE": _negate,
    "PERCENT": _percent,
    "JOIN": _join,
    "COMPARE": _compare,
    "DIRECT": _direct,
    "TRUTH": _truth,
    "NUMBER": _as_number,
    "WHOLE": _whole,
    "STEP": _step,
    "DAY": _day,
    "CLOCK": _clock,
    "SHOWN": _shown,
    "TEXT": _text,
    "KEY": _key,
    "INDEX": _index,
    "MATCH": _match,
    "VLOOKUP": _vlookup,
    "HLOOKUP": _hlookup,
}
