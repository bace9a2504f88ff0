"""Where OFFSET and INDIRECT lead, as far as that follows from what the workbook holds (F24.2).

What they read is known by computing only. Often computing is easy: their arguments are numbers,
texts, and cells whose values are stored. Then a change elsewhere cannot reach them, and their
stored results stay. Of an OFFSET that is not as easy the sheet is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..book.workbook import Value
from ..syntax.address import MAX_COL, MAX_ROW, WHOLE, Area
from ..syntax.expression import Call, Part, parse
from ..syntax.formula import Token, join, tokens
from ..syntax.function import DYNAMIC

Look = Callable[[str, int, int], Value]  # what a cell holds now: sheet, row, column


@dataclass(slots=True)
class Distance:
    """What the OFFSETs and INDIRECTs of a formula lead to.

    `areas` is None when it may be anything; `exact` says that they lead there and nowhere else,
    by the values of `keys`; `text` is then the formula with the places spelled out.
    """

    text: str
    areas: list[tuple[str, Area]] | None = field(default_factory=list)
    exact: bool = True
    by_name: bool = False  # a text names the place: another name of a sheet leads elsewhere
    keys: set[tuple[str, int, int]] = field(default_factory=set)


def distance(formula: str, sheet: str, look: Look, known: Callable[[str], str | None]) -> Distance:
    """Follow the OFFSETs and INDIRECTs of a formula on a sheet; `known` spells a sheet's name."""
    walk = _Walk(sheet, look, known, Distance(formula))
    pieces = tokens(formula)
    out: list[str] = []
    at = 0
    while at < len(pieces):
        end = at
        if pieces[at].kind == "function" and pieces[at].body in DYNAMIC:
            end = _end(pieces, at)
            out.append(walk.follow(join(pieces[at : end + 1])))
        else:
            out.append(pieces[at].text)
        at = end + 1
    walk.found.text = "".join(out)
    return walk.found


def _end(pieces: Sequence[Token], at: int) -> int:
    depth = 0
    for index in range(at, len(pieces)):
        depth += {"function": 1, "open": 1, "close": -1}.get(pieces[index].kind, 0)
        if depth == 0:
            return index
    return len(pieces) - 1


class _Unknown(Exception):
    """A value that only computing tells."""


@dataclass(slots=True)
class _Walk:
    sheet: str
    look: Look
    known: Callable[[str], str | None]
    found: Distance

    def follow(self, text: str) -> str:
        """Note where one call leads; return it, or the place where that is known."""
        parts = parse(text)
        call = parts[0] if len(parts) == 1 else None
        assert isinstance(call, Call), "the text of a call"
        try:
            sheet, area = self._place(call)
        except _Unknown:
            self.found.exact = False
            self._note_rough(call)
            return text
        self._note(sheet, area)
        quoted = sheet.replace("'", "''")
        return f"'{quoted}'!{area}"

    def _note(self, sheet: str, area: Area) -> None:
        if self.found.areas is not None:
            self.found.areas.append((sheet, area))

    def _note_rough(self, call: Call) -> None:
        """Note the sheet of an OFFSET; an INDIRECT may lead anywhere."""
        self.found.by_name |= call.name == "INDIRECT"
        try:
            sheet, _ = self._base(call)
            self._note(sheet, WHOLE)
        except _Unknown:
            self.found.areas = None

    def _place(self, call: Call) -> tuple[str, Area]:
        if call.name == "INDIRECT":
            self.found.by_name = True
            return self._indirect(call)
        sheet, base = self._base(call)
        given = [self._whole(part) if part else None for part in call.arguments[1:]]
        rows, cols, height, width = (*given, None, None, None, None)[:4]
        tall = base.height if height is None else height
        wide = base.width if width is None else width
        row, col = base.row1 + (rows or 0), base.col1 + (cols or 0)
        if tall < 1 or wide < 1 or row < 1 or col < 1:
            raise _Unknown
        if row + tall - 1 > MAX_ROW or col + wide - 1 > MAX_COL:
            raise _Unknown
        return sheet, Area(row, col, row + tall - 1, col + wide - 1)

    def _base(self, call: Call) -> tuple[str, Area]:
        if call.name != "OFFSET" or not call.arguments:
            raise _Unknown
        return self._reference(call.arguments[0])

    def _reference(self, parts: Sequence[Part]) -> tuple[str, Area]:
        if len(parts) == 1 and isinstance(parts[0], Call) and parts[0].name == "(":
            return self._reference(parts[0].arguments[0])
        if len(parts) != 1 or not isinstance(parts[0], Token) or parts[0].external:
            raise _Unknown
        token = parts[0]
        area, sheet = token.area, self.known(token.sheet or self.sheet)
        if area is None or sheet is None:
            raise _Unknown
        return sheet, area

    def _indirect(self, call: Call) -> tuple[str, Area]:
        if len(call.arguments) > 1 and not _is_true(call.arguments[1]):
            raise _Unknown
        text = "".join(self._texts(call.arguments[0]))
        return self._reference(list(tokens(text.strip())))

    def _texts(self, parts: Sequence[Part]) -> Iterator[str]:
        """Yield the pieces of a text that is joined by `&`."""
        for index, part in enumerate(parts):
            if index % 2:
                if not (isinstance(part, Token) and part.text == "&"):
                    raise _Unknown
            elif isinstance(part, Token) and part.kind == "string":
                yield part.text[1:-1].replace('""', '"')
            elif isinstance(part, Token) and part.kind == "number" and part.text.isdigit():
                yield part.text
            else:
                yield self._text_of(self._value([part]))

    def _text_of(self, value: Value) -> str:
        whole = value.number is not None and value.number == int(value.number)
        if value.kind == "string" or (value.kind == "number" and whole):
            return value.text
        raise _Unknown

    def _value(self, parts: Sequence[Part]) -> Value:
        sheet, area = self._reference(parts)
        if area.count != 1:
            raise _Unknown
        self.found.keys.add((sheet, area.row1, area.col1))
        return self.look(sheet, area.row1, area.col1)

    def _whole(self, parts: Sequence[Part]) -> int:
        sign = 1
        if len(parts) == 2 and isinstance(parts[0], Token) and parts[0].text in {"+", "-"}:
            sign, parts = -1 if parts[0].text == "-" else 1, parts[1:]
        if len(parts) == 1 and isinstance(parts[0], Token) and parts[0].kind == "number":
            number: float | None = float(parts[0].text)
        else:
            value = self._value(parts)
            number = 0.0 if value.kind == "blank" else value.number
            if value.kind not in {"number", "blank"}:
                raise _Unknown
        if number is None or number != int(number):
            raise _Unknown
        return sign * int(number)


def _is_true(parts: Sequence[Part]) -> bool:
    words = [part.text.upper() for part in parts if isinstance(part, Token)]
    return words in ([], ["TRUE"], ["1"]) and len(words) == len(parts)
