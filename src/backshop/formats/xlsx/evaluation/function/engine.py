"""Functions that the engine below computes: distributions, bonds, other numerals (F24.8).

The engine gets numbers, texts and lists of numbers, one call at a time; how arguments are taken for
numbers, and what arrays and references mean, is decided here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...syntax.address import Area
from ..coercion import to_number, to_text
from ..definition import Definition, Whole
from ..value import (
    ERRORS,
    Array,
    Doubt,
    Error,
    Fault,
    Missing,
    Operand,
    Reference,
    Value,
)

if TYPE_CHECKING:
    import formualizer

    from ..evaluator import Evaluator

_KINDS = {
    **{"Div": "#DIV/0!", "Na": "#N/A", "Num": "#NUM!", "Ref": "#REF!", "Value": "#VALUE!"},
    "Null": "#NULL!",
}
_SHEET = "S"
_MOST_NUMBERS = 20_000


class Engine:
    """The engine, made when it is first asked."""

    def __init__(self) -> None:
        self._book: formualizer.Workbook | None = None
        self._known: dict[tuple[str, tuple[object, ...]], Operand] = {}

    def call(self, name: str, arguments: Sequence[Operand]) -> Operand:
        """Return what a function gives for plain values and lists of numbers."""
        key = (name, tuple(map(_frozen, arguments)))
        if key not in self._known:
            self._known[key] = self._computed(name, arguments)
        return self._known[key]

    def _computed(self, name: str, arguments: Sequence[Operand]) -> Operand:
        book = self._open()
        words: list[str] = []
        column = 2
        for argument in arguments:
            if isinstance(argument, Array):
                words.append(self._placed(book, argument, column))
                column += argument.width
            else:
                words.append(_literal(argument))
        book.set_formula(_SHEET, 1, 1, f"={name}({','.join(words)})")
        try:
            found = book.evaluate_cell(_SHEET, 1, 1)
        except Exception:  # the engine's own refusal of one call
            raise Doubt(name) from None
        return _value(found, name)

    def _open(self) -> formualizer.Workbook:
        if self._book is None:
            import formualizer  # only a computation that needs it pays for it

            config = formualizer.EvaluationConfig()
            config.enable_parallel = False
            book = formualizer.Workbook(config=formualizer.WorkbookConfig(eval_config=config))
            book.set_temporal_egress("serial")
            book.add_sheet(_SHEET)
            self._book = book
        return self._book

    def _placed(self, book: formualizer.Workbook, array: Array, column: int) -> str:
        """Put a list of numbers beside the formula and return where it stands."""
        rows = [list(row) for row in array.rows]
        book.set_values_batch(_SHEET, 1, column, rows)
        return Area(1, column, array.height, column + array.width - 1).span


def _frozen(argument: Operand) -> object:
    if isinstance(argument, Array):
        return tuple(map(tuple, argument.rows))
    return (type(argument).__name__, argument)


def _literal(value: Operand) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, Missing):
        return ""
    raise Doubt


def _value(found: Any, name: str) -> Operand:
    if isinstance(found, bool | str):
        return found
    if isinstance(found, int | float):
        if not math.isfinite(found):
            raise Doubt(name)
        return float(found)
    if isinstance(found, dict) and found.get("kind") in _KINDS:
        return ERRORS[_KINDS[found["kind"]]]
    raise Doubt(name)


# --- how they are called --------------------------------------------------------------------------


def _of_values(name: str, letters: str) -> Whole:
    """Return a function of single values, given as numbers or texts."""
    last = len(letters) - 1

    def found(formula: Evaluator, *given: Operand) -> Operand:
        taken: list[Operand] = []
        for at, value in enumerate(given):
            if isinstance(value, Missing):
                raise Doubt(name)
            one = formula.as_one(value, name)
            taken.append(_argument(letters[min(at, last)], one, formula))
        return formula.context.call(name, taken)

    return Whole(found)


def _argument(letter: str, value: Value, formula: Evaluator) -> Operand:
    if letter == "t":
        return to_text(value)
    if letter == "d" and (formula.context.date_1904 or isinstance(value, bool)):
        raise Doubt
    number = to_number(value)
    if letter == "d" and number < 61:
        raise Doubt
    if letter == "s" and float(f"{number:.15g}") != number:
        raise Doubt  # its text would have more digits than Excel shows
    if letter == "a" and number in {2, 3}:
        raise Doubt  # ways to count days in which programs differ
    return number


def _of_lists(name: str, lists: int) -> Whole:
    """Return a function whose first arguments are lists of numbers of one size."""

    def found(formula: Evaluator, *given: Operand) -> Operand:
        taken: list[Operand] = []
        for at, value in enumerate(given):
            if at < lists and isinstance(value, Reference | Array):
                taken.append(_numbers(formula, value))
            elif at < lists or isinstance(value, Missing):
                raise Doubt(name)
            else:
                one = formula.as_one(formula.settled(value, False), name)
                taken.append(to_number(one))
        result = formula.context.call(name, taken)
        if result == 0.0:
            raise Doubt(name)  # less than the engine can tell from nothing
        return result

    return Whole(found)


def _numbers(formula: Evaluator, operand: Reference | Array) -> Array:
    array = formula.context.array(operand)
    array.refuse_repeats()
    if array.height * array.width > _MOST_NUMBERS:
        raise Doubt
    for value in array.values():
        if isinstance(value, Error):
            raise Fault(value)
        if type(value) is not float:
            raise Doubt
    return array


_VALUES = {
    "n": """
BETA.DIST BETA.INV BETADIST BETAINV BINOM.DIST BINOM.INV BINOMDIST CHIDIST CHIINV CHISQ.DIST
CHISQ.DIST.RT CHISQ.INV CHISQ.INV.RT CONFIDENCE CONFIDENCE.NORM CONFIDENCE.T CRITBINOM
EXPON.DIST EXPONDIST F.DIST F.DIST.RT F.INV F.INV.RT FDIST FINV
GAMMA.DIST GAMMA.INV GAMMADIST GAMMAINV GAUSS HYPGEOM.DIST HYPGEOMDIST
LOGINV LOGNORM.DIST LOGNORM.INV LOGNORMDIST NEGBINOM.DIST NEGBINOMDIST NORM.DIST NORM.INV
NORM.S.DIST NORM.S.INV NORMDIST NORMINV NORMSDIST NORMSINV PHI POISSON POISSON.DIST T.DIST
T.DIST.2T T.DIST.RT T.INV T.INV.2T TDIST TINV WEIBULL WEIBULL.DIST
BESSELJ BESSELY
DEC2BIN DEC2HEX DEC2OCT
""",
    "tn": "BIN2DEC BIN2HEX BIN2OCT HEX2BIN HEX2DEC HEX2OCT OCT2BIN OCT2DEC OCT2HEX",
    "sst": "COMPLEX",
    "t": "IMABS IMAGINARY IMREAL IMCONJUGATE",
    "ddnnn": "TBILLEQ TBILLPRICE TBILLYIELD",
    "ddnnnna": "PRICE YIELD",
    "dddnnn": "ACCRINT",
}
_LISTS = {
    "T.TEST": 2,
    "TTEST": 2,
    "F.TEST": 2,
    "FTEST": 2,
    "CHISQ.TEST": 2,
    "CHITEST": 2,
    "Z.TEST": 1,
    "ZTEST": 1,
}


def _all() -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for letters, names in _VALUES.items():
        for name in names.split():
            found[name] = _of_values(name, letters)
    for name, lists in _LISTS.items():
        found[name] = _of_lists(name, lists)
    return found


FUNCTIONS: dict[str, Definition] = _all()
