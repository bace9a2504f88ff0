"""A formula as nested expressions, and whether it has to be computed cell by cell (F24.13).

A plain formula takes one value out of a range that stands where one value belongs (Excel shows it
as `@`). `SUM(IF(A1:A5>2,A1:A5,0))` means all of them: it is right as an array formula only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from .formula import Token, tokens
from .signature import SIGNATURES, Signature

_ANYTHING = Signature(0, 255, "R")
# the choice they make is one choice, unless the formula is an array formula
_CONTROL = frozenset({"IF", "IFERROR", "IFNA", "IFS", "SWITCH", "CHOOSE"})
_BRANCHES: dict[str, int] = {"IF": 1, "CHOOSE": 1}  # from where on arguments come out as they are
_PLACES = frozenset({"ROW", "COLUMN"})


class Shape(IntEnum):
    """What an expression gives."""

    ONE = 0  # one value, as far as can be told
    LISTED = 1  # values in braces, or computed from them: every formula goes through all of them
    PERHAPS = 2  # a range of which only computing tells how many cells it has
    PLACES = 3  # the numbers of rows or columns: a plain formula takes the first
    RANGE = 4  # several cells
    MANY = 5  # computed from several cells


@dataclass(slots=True)
class Call:
    """A function with its arguments; also a group in brackets (`name` is empty)."""

    name: str
    arguments: list[list[Part]] = field(default_factory=list)


Part = Token | Call


def parse(formula: str) -> list[Part]:
    """Return the parts of a formula whose grammar was checked: tokens, and calls with theirs."""
    top: list[Part] = []
    stack: list[Call] = []
    here = top
    for token in tokens(formula):
        if token.kind == "space":
            continue
        opens = token.kind in {"function", "open"} or token.text == "{"
        if opens:
            call = Call(token.body if token.kind == "function" else token.text[-1])
            here.append(call)
            stack.append(call)
            call.arguments.append([])
            here = call.arguments[-1]
        elif token.kind == "close" or token.text == "}":
            if stack:
                stack.pop()
            here = stack[-1].arguments[-1] if stack else top
        elif token.kind == "separator" and stack:
            stack[-1].arguments.append([])
            here = stack[-1].arguments[-1]
        else:
            here.append(token)
    return top


@dataclass(slots=True)
class Reading:
    """Goes through an expression; `width` tells whether a reference is one cell or several."""

    width: Callable[[Token], Shape]
    needs_array: bool = False

    def shape(self, parts: Sequence[Part], native: bool = False) -> Shape:
        """Return what an expression gives; `native`: it stands where ranges are gone through."""
        found: list[Shape] = []
        operated = taken = ranged = False
        for part in parts:
            if isinstance(part, Token) and part.kind == "operator":
                taken = part.text == "@"
                operated |= part.text not in "@#:"
                ranged |= part.text == ":"
                continue
            shape = self._part(part, native)
            found.append(Shape.ONE if taken else shape)
            taken = False
        widest = max(found, default=Shape.ONE)
        if ranged:  # A1:INDEX(…)
            widest = max(widest, Shape.PERHAPS)
        if not operated:
            if ranged:
                return Shape.PERHAPS
            return widest if len(found) == 1 else Shape.ONE  # an intersection
        if widest >= Shape.PERHAPS:
            self.needs_array |= not native
            return Shape.MANY
        return widest

    def _part(self, part: Part, native: bool) -> Shape:
        if isinstance(part, Token):
            return self.width(part)
        if part.name == "{":
            return Shape.LISTED
        if part.name == "(":
            shapes = [self.shape(one, native) for one in part.arguments]
            return shapes[0] if len(shapes) == 1 else Shape.RANGE
        return self._call(part, native)

    def _call(self, call: Call, native: bool) -> Shape:
        takes = SIGNATURES.get(call.name, _ANYTHING)
        lifts = native and call.name not in _CONTROL
        given = Shape.ONE
        for place, argument in enumerate(call.arguments):
            kind = takes.takes(place)
            shape = self.shape(argument, kind == "A" or (kind == "V" and lifts))
            if kind == "V" and shape > Shape.ONE:
                self.needs_array |= shape >= Shape.PERHAPS and not lifts
                given = max(given, Shape.LISTED if shape is Shape.LISTED else Shape.MANY)
            elif shape > Shape.ONE and place >= _BRANCHES.get(call.name, 255):
                given = max(given, shape)
            elif shape in (Shape.PERHAPS, Shape.RANGE) and call.name in _PLACES:
                given = Shape.PLACES
            elif shape is Shape.PLACES and kind == "R":  # SUM(ROW(A1:A5)): not of the first alone
                self.needs_array = True
        return max(given, self._led_to(call))

    def _led_to(self, call: Call) -> Shape:
        """Say whether a function that leads to cells may lead to several."""
        given = call.arguments
        several = False
        if call.name == "OFFSET":
            sizes = [_literal(one) for one in given[3:5]]
            base = len(given[0]) == 1 and self._part(given[0][0], False) >= Shape.PERHAPS
            several = any(size not in ("", "1") for size in sizes) or (base and len(given) <= 3)
        elif call.name == "INDIRECT":
            texts = (p.text for p in given[0] if isinstance(p, Token) and p.kind == "string")
            several = any(":" in text for text in texts)
        elif call.name == "INDEX" and len(given) > 1 and len(given[0]) == 1:
            base_part = given[0][0]
            area = base_part.area if isinstance(base_part, Token) else None
            row, col = [_literal(one) in ("", "0") for one in (*given, [])[1:3]]
            if area and len(given) == 2:
                several = row and area.count > 1
            elif area:
                several = (row and area.height > 1) or (col and area.width > 1)
        return Shape.PERHAPS if several else Shape.ONE


def _literal(parts: Sequence[Part]) -> str | None:
    """Return the text of an argument that is one number or nothing."""
    if not parts:
        return ""
    one = parts[0]
    return one.text if len(parts) == 1 and isinstance(one, Token) and one.kind == "number" else None
