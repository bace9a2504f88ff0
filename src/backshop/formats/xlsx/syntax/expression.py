"""A formula as nested expressions, and whether it has to be computed cell by cell (F24.13).

A plain formula takes one value out of a range that stands where one value belongs (Excel shows it
as `@`). `SUM(IF(A1:A5>2,A1:A5,0))` means all of them: it is right as an array formula only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from .address import Area
from .formula import Token, tokens
from .signature import SIGNATURES, Signature

_ANYTHING = Signature(0, 255, "R")
# the choice they make is one choice, unless the formula is an array formula
CONTROL = frozenset({"IF", "IFERROR", "IFNA", "IFS", "SWITCH", "CHOOSE"})
_PLACES = frozenset({"ROW", "COLUMN"})


class Shape(IntEnum):
    """What an expression gives."""

    ONE = 0  # one value, as far as can be told
    LISTED = 1  # values in braces, or computed from them: every formula goes through all of them
    PERHAPS = 2  # cells, or values of theirs, of which only computing tells how many they are
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
    """Goes through an expression.

    `width` tells whether a reference is one cell or several, `area` which cells a token names.
    """

    width: Callable[[Token], Shape]
    area: Callable[[Token], Area | None]
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
            return widest if len(found) <= 1 else self._shared(parts, widest)
        self.needs_array |= widest >= Shape.PERHAPS and not native
        return _computed_from(widest)

    def _shared(self, parts: Sequence[Part], widest: Shape) -> Shape:
        """Return what the cells that several ranges share are: `A1:C9 B2:D3`."""
        if any(isinstance(part, Call) and part.name == "(" for part in parts):
            return Shape.ONE  # LAMBDA(x,x+1)(3)
        areas = [self._area([part]) for part in parts]
        shared = areas[0]
        for area in areas[1:]:
            if shared is None or area is None:
                return min(widest, Shape.PERHAPS)
            shared = shared.clip(area)
        return Shape.RANGE if shared is not None and shared.count > 1 else Shape.ONE

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
        lifts = native and call.name not in CONTROL
        given = Shape.ONE
        for place, argument in enumerate(call.arguments):
            kind = takes.takes(place)
            shape = self.shape(argument, kind == "A" or (kind == "V" and lifts))
            if kind == "V" and shape > Shape.ONE:
                self.needs_array |= shape >= Shape.PERHAPS and not lifts
                given = max(given, _computed_from(shape))
            elif shape > Shape.ONE and kind == "R" and call.name in CONTROL:
                given = max(given, shape)  # a branch comes out as it is
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
        elif call.name == "INDEX" and len(given) > 1:
            several = self._leads_to_line(given)
        elif call.name == "XLOOKUP" and len(given) > 2:
            several = self._gives_line(given[2])
        return Shape.PERHAPS if several else Shape.ONE

    def _leads_to_line(self, given: Sequence[Sequence[Part]]) -> bool:
        """Whether INDEX may give a row, a column or all: where a number is 0 or left out."""
        area = self._area(given[0])
        row, col = [_literal(one) in ("", "0") for one in (*given, [])[1:3]]
        if area is None:
            return row or (col and len(given) > 2)
        if len(given) == 2 and 1 in (area.height, area.width):
            return row and area.count > 1
        return (row and area.height > 1) or (col and area.width > 1)

    def _gives_line(self, found: Sequence[Part]) -> bool:
        """Whether what XLOOKUP takes its answer from has more than one row and column."""
        area = self._area(found)
        if area is not None:
            return area.height > 1 and area.width > 1
        return self.shape(found, True) > Shape.ONE

    def _area(self, parts: Sequence[Part]) -> Area | None:
        one = parts[0] if len(parts) == 1 else None
        return self.area(one) if isinstance(one, Token) else None


def _computed_from(shape: Shape) -> Shape:
    """Return what is computed from each of an expression's values."""
    if shape in (Shape.RANGE, Shape.MANY):
        return Shape.MANY
    return Shape.PERHAPS if shape is Shape.PLACES else shape


def _literal(parts: Sequence[Part]) -> str | None:
    """Return the text of an argument that is one number or nothing."""
    if not parts:
        return ""
    one = parts[0]
    return one.text if len(parts) == 1 and isinstance(one, Token) and one.kind == "number" else None
