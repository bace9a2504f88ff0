"""A formula as a tree, for computing it: operators by their rank, calls, references.

The rows of its references are kept apart from the tree: formulas that were filled down differ in
them only, and share one tree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .address import MAX_COL, MAX_ROW, column_number
from .formula import Token, tokens

DIGITS = re.compile(r"([0-9]+)")
_LONGEST = 7  # digits; with more a word is no address, and the formula another one
_END = re.compile(r"(\$?)([A-Za-z]{0,3})(\$?)([0-9]*)")
_RANKS = {"=": 1, "<>": 1, "<": 1, ">": 1, "<=": 1, ">=": 1, "&": 2, "+": 3, "-": 3}
_RANKS |= {"*": 4, "/": 4, "^": 5}
_SIGN = 7  # binds closer than ^: -2^2 is 4
_RANGE = 9
_REFERENCES = frozenset({"ref", "name", "table", "function", "open"})


class Unreadable(Exception):
    """A formula that is not one, or holds what this tree has no node for."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a text, a truth; an error is its own node."""

    value: float | str | bool


@dataclass(frozen=True, slots=True)
class ErrorConstant:
    """An error value, such as `#N/A`."""

    code: str


@dataclass(frozen=True, slots=True)
class Omitted:
    """An argument that was left empty."""


@dataclass(frozen=True, slots=True)
class Cells:
    """A reference; its rows are numbers of the formula, None where it names whole columns.

    `sheet` may be a range of sheets: `Jan:Mar`.
    """

    sheet: str | None
    col1: int
    col2: int
    row1: int | None
    row2: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Local:
    """A name that LET or LAMBDA gives, in small letters; `[y]` may be left out of a call."""

    name: str
    may_miss: bool = False


@dataclass(frozen=True, slots=True)
class Sign:
    """An operator of one operand: `-`, `+`, `%` or `@`."""

    sign: str
    operand: Tree


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator of two operands; `:`, space and `,` make references of references."""

    sign: str
    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Function:
    """A call of a function by its English name."""

    name: str
    arguments: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """A call of what an expression gives: `LAMBDA(x,x+1)(3)`."""

    callee: Tree
    arguments: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Braces:
    """Values in braces, row by row."""

    rows: tuple[tuple[Constant | ErrorConstant, ...], ...]


Tree: TypeAlias = (
    Constant
    | ErrorConstant
    | Omitted
    | Cells
    | Local
    | Sign
    | Operation
    | Function
    | Applied
    | Braces
)


class Trees:
    """The trees of many formulas, each made once for all that differ in their rows only."""

    def __init__(self) -> None:
        self._slots: dict[tuple[str, ...], tuple[int, ...]] = {}
        self._trees: dict[tuple[tuple[str, ...], tuple[str, ...]], Tree | None] = {}

    def of(self, text: str) -> tuple[Tree, list[int]]:
        """Return the tree of a formula and the rows it names.

        Raises:
            Unreadable: it has none.
        """
        pieces = DIGITS.split(text)
        numbers = pieces[1::2]
        if max(map(len, numbers), default=0) > _LONGEST:
            return _alone(text)
        words = tuple(pieces[::2])
        slots = self._slots.get(words)
        if slots is None:
            slots = self._slots[words] = _row_slots(tokens(text))
        rest = tuple(number for at, number in enumerate(numbers) if at not in slots)
        key = (words, rest)
        if key not in self._trees:
            self._trees[key] = _tree(text)
        tree = self._trees[key]
        if tree is None:
            raise Unreadable
        return tree, [int(numbers[at]) for at in slots]


def _alone(text: str) -> tuple[Tree, list[int]]:
    tree = _tree(text)
    if tree is None:
        raise Unreadable
    numbers = DIGITS.split(text)[1::2]
    return tree, [int(numbers[at]) for at in _row_slots(tokens(text))]


def _tree(text: str) -> Tree | None:
    try:
        return _Parser(tokens(text)).whole()
    except (Unreadable, RecursionError):
        return None


def _row_slots(pieces: Sequence[Token]) -> tuple[int, ...]:
    """Return which numbers of a formula are rows of its references."""
    found: list[int] = []
    number = 0
    for token in pieces:
        inside = len(DIGITS.findall(token.text))
        if token.kind == "ref":
            rows = len(DIGITS.findall(token.body))
            found.extend(range(number + inside - rows, number + inside))
        number += inside
    return tuple(found)


class _Parser:
    def __init__(self, pieces: Sequence[Token]) -> None:
        self._pieces = pieces
        self._at = 0
        self._rows = 0  # of references so far: the next one's number

    def whole(self) -> Tree:
        """Return the tree of all the tokens."""
        found = self._expression(0)
        self._skip_space()
        if self._at < len(self._pieces):
            raise Unreadable
        return found

    def _skip_space(self) -> bool:
        before = self._at
        while self._at < len(self._pieces) and self._pieces[self._at].kind == "space":
            self._at += 1
        return self._at > before

    def _peek(self) -> Token | None:
        return self._pieces[self._at] if self._at < len(self._pieces) else None

    def _next(self) -> Token:
        token = self._peek()
        if token is None:
            raise Unreadable
        self._at += 1
        return token

    def _expression(self, rank: int, *, union: bool = False) -> Tree:
        left = self._operand()
        while True:
            start = self._at
            spaced = self._skip_space()
            token = self._peek()
            if token is None:
                return left
            if token.kind == "operator" and token.text == "%":
                self._at += 1
                left = Sign("%", left)
            elif token.kind == "operator" and token.text == ":" and rank < _RANGE:
                self._at += 1
                left = Operation(":", left, self._expression(_RANGE))
            elif token.kind == "operator" and _RANKS.get(token.text, 0) > rank:
                self._at += 1
                left = Operation(token.text, left, self._expression(_RANKS[token.text]))
            elif spaced and token.kind in _REFERENCES and _leads(left) and rank < _RANGE:
                left = Operation(" ", left, self._expression(_RANGE))
            elif union and token.text == ",":
                self._at += 1
                left = Operation(",", left, self._expression(0))
            else:
                self._at = start if spaced and token.kind in _REFERENCES else self._at
                return left

    def _operand(self) -> Tree:
        self._skip_space()
        token = self._next()
        match token.kind:
            case "number":
                return Constant(float(token.text))
            case "string":
                return Constant(token.text[1:-1].replace('""', '"'))
            case "error":
                return ErrorConstant("#REF!" if token.sheet is not None else token.text)
            case "ref":
                return self._cells(token)
            case "name":
                return _named(token)
            case "function":
                name = token.body
                arguments = self._arguments()
                local = name.lower().startswith("_xlpm.")
                called = Applied(Local(name.lower()), arguments) if local else None
                return self._applied(called or Function(name, arguments))
            case "open":
                inner = self._expression(0, union=True)
                self._close()
                return self._applied(inner)
            case "brace" if token.text == "{":
                return self._braces()
            case "operator" if token.text in "+-@":
                return Sign(
                    token.text, self._expression(_RANGE - 1 if token.text == "@" else _SIGN)
                )
        raise Unreadable

    def _applied(self, callee: Tree) -> Tree:
        """Take the arguments that follow a call at once: what it gave is called."""
        token = self._peek()
        while token is not None and token.kind == "open":
            self._at += 1
            callee = Applied(callee, self._arguments())
            token = self._peek()
        return callee

    def _close(self) -> None:
        self._skip_space()
        if self._next().kind != "close":
            raise Unreadable

    def _arguments(self) -> tuple[Tree, ...]:
        found: list[Tree] = []
        self._skip_space()
        token = self._peek()
        if token is not None and token.kind == "close":
            self._at += 1
            return ()
        while True:
            self._skip_space()
            token = self._peek()
            if token is None:
                raise Unreadable
            ends = token.kind in {"separator", "close"}
            found.append(Omitted() if ends else self._expression(0))
            self._skip_space()
            token = self._next()
            if token.kind == "close":
                return tuple(found)
            if token.text != ",":
                raise Unreadable

    def _cells(self, token: Token) -> Cells:
        if token.external:
            raise Unreadable
        ends = token.body.split(":")
        if len(ends) == 1:
            ends = ends * 2
        cols: list[int] = []
        rows: list[int | None] = []
        for end in ends:
            match = _END.fullmatch(end)
            if match is None:
                raise Unreadable
            cols.append(column_number(match[2]) if match[2] else 0)
            rows.append(self._rows + len(rows) if match[4] else None)
        if ":" not in token.body:
            rows[1] = rows[0]
        self._rows += len(DIGITS.findall(token.body))
        if 0 in cols:
            cols = [1, MAX_COL]
        if max(cols) > MAX_COL:
            raise Unreadable
        return Cells(token.sheet or None, min(cols), max(cols), rows[0], rows[1], token.text)

    def _braces(self) -> Braces:
        rows: list[list[Constant | ErrorConstant]] = [[]]
        while True:
            self._skip_space()
            rows[-1].append(self._plain())
            self._skip_space()
            token = self._next()
            if token.text == "}":
                break
            if token.text == ";":
                rows.append([])
            elif token.text != ",":
                raise Unreadable
        if len({len(row) for row in rows}) != 1:
            raise Unreadable
        return Braces(tuple(tuple(row) for row in rows))

    def _plain(self) -> Constant | ErrorConstant:
        token = self._next()
        sign = 1.0
        while token.kind == "operator" and token.text in "+-":
            sign = -sign if token.text == "-" else sign
            token = self._next()
        match token.kind:
            case "number":
                return Constant(sign * float(token.text))
            case "string":
                return Constant(token.text[1:-1].replace('""', '"'))
            case "error":
                return ErrorConstant(token.text)
            case "name" if token.text.upper() in {"TRUE", "FALSE"}:
                return Constant(token.text.upper() == "TRUE")
        raise Unreadable


def _named(token: Token) -> Tree:
    word = token.text.upper()
    if word in {"TRUE", "FALSE"}:
        return Constant(word == "TRUE")
    if token.text.lower().startswith(("_xlpm.", "_xlop.")):
        may_miss = token.text.lower().startswith("_xlop.")
        return Local("_xlpm." + token.text[6:].lower(), may_miss)
    raise Unreadable


def _leads(tree: Tree) -> bool:
    """Whether an expression may give a reference, so that a space behind it means something."""
    return isinstance(tree, Cells | Function | Applied | Local) or (
        isinstance(tree, Operation) and tree.sign in {":", " ", ","}
    )


def rows_of(cells: Cells, rows: Sequence[int]) -> tuple[int, int] | None:
    """Return the first and last row of a reference; None when they lie on no sheet."""
    if cells.row1 is None or cells.row2 is None:
        return 1, MAX_ROW
    one, two = rows[cells.row1], rows[cells.row2]
    first, last = (one, two) if one <= two else (two, one)
    return (first, last) if first >= 1 and last <= MAX_ROW else None
