"""Formulas as the engine gets them: steps that spreadsheets take in their own way are ours.

Each formula is rewritten so that comparisons, arithmetic, joined text and the arguments of touchy
functions pass through `steps` and `excelfunctions`. They do what Excel does, or *doubt*: then the
formula counts as not computed (F24.9). Runs in the engine's child only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from ..book.number_format import number_text
from ..syntax.address import column_number, parse_area
from .excel_function import OURS, STEPS
from .excel_semantics import Doubt, Fault, Value, error

if TYPE_CHECKING:
    import formualizer

Tree: TypeAlias = Mapping[str, Any]

_DIGIT = re.compile(r"[0-9]")
_QUICK = re.compile(r"=[A-Z0-9$:+*/(),. ]*")
_SINGLE = re.compile(r"(?<![:A-Z$])\$?([A-Z]{1,3})\$?([0-9]{1,7})(?![0-9:(])")
_QUICK_CALL = re.compile(r"([A-Z][A-Z0-9.]*)\(")
_QUICK_FUNCTIONS = frozenset({"SUM", "AVERAGE", "COUNT", "COUNTA", "MIN", "MAX"})

_COMPARISONS = frozenset({"=", "<>", "<", ">", "<=", ">="})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "^"})


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_AGGREGATES = _names("""
SUM AVERAGE COUNT COUNTA MIN MAX MEDIAN PRODUCT SUMSQ STDEV STDEV.S STDEVP STDEV.P VAR VAR.S VARP
VAR.P AVERAGEA MAXA MINA GEOMEAN HARMEAN AND OR XOR NPV
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


class Watch:
    """Rewrites formulas for one engine and remembers which of them are in doubt."""

    def __init__(self, engine: formualizer.Workbook, parse: Callable[[str], Any]) -> None:
        self.doubted: set[int] = set()
        self._parse = parse
        for name, function in STEPS.items():
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
            return error("Na")
        except Fault as fault:
            return fault.value
        except OverflowError:
            return error("Num")


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

    if name in OURS:
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
