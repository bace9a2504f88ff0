"""Formulas of binary workbooks, which are stored as tokens for a stack, as text again (F40.12).

An operand puts its text on the stack, an operator takes what is before it. Brackets are stored as
tokens too, so that nothing has to be known of precedence. What is not understood gives no text at
all: a formula is shown as it is or said to be unread.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from backshop.formats.figure.plain import exact_text

from ...syntax.address import column_name
from ...syntax.formula import quote_sheet
from ...syntax.signature import SIGNATURES
from .biff_value import ERRORS
from .function_number import FUNCTIONS, USER_DEFINED

UNREAD = "(not read)"
"""Stands where a formula is whose text is not found out."""
_BINARY = {
    **{0x03: "+", 0x04: "-", 0x05: "*", 0x06: "/", 0x07: "^", 0x08: "&", 0x09: "<", 0x0A: "<="},
    **{0x0B: "=", 0x0C: ">=", 0x0D: ">", 0x0E: "<>", 0x0F: " ", 0x10: ",", 0x11: ":"},
}
_BEFORE = {0x12: "+", 0x13: "-"}
_PERCENT, _BRACKETS, _MISSING, _TEXT, _NOTE = 0x14, 0x15, 0x16, 0x17, 0x19
_ERROR, _TRUTH, _WHOLE, _NUMBER = 0x1C, 0x1D, 0x1E, 0x1F
_ARRAY, _FUNCTION, _FUNCTION_OF, _NAME, _REF, _AREA = 0x20, 0x21, 0x22, 0x23, 0x24, 0x25
_MEMORY = {0x26: 6, 0x27: 6, 0x28: 6, 0x29: 2}  # what was computed once; the tokens follow
_REF_GONE, _AREA_GONE, _REF_NEAR, _AREA_NEAR = 0x2A, 0x2B, 0x2C, 0x2D
_NAME_OUT, _REF_OUT, _AREA_OUT, _REF_OUT_GONE, _AREA_OUT_GONE = 0x39, 0x3A, 0x3B, 0x3C, 0x3D
EXPANDED = 0x01
"""The formula of a cell stands elsewhere: with the first cell of a group or an array."""
_SUM, _CHOICE, _JUMPS = 0x10, 0x04, 2
_MOST_TEXT = 1 << 16  # characters; Excel has 8,192
_GONE = "#REF!"


class Unread(Exception):
    """A formula has a token whose meaning is not known here."""


@dataclass
class Scope:
    """What formulas of a workbook name by numbers."""

    names: list[str] = field(default_factory=list)
    sheets: list[str | None] = field(default_factory=list)  # by number of a reference outside
    outside: dict[tuple[int, int], str] = field(default_factory=dict)  # names likewise
    is_wide: bool = False  # the wide numbers of .xlsb


@dataclass(frozen=True, slots=True)
class Place:
    """Where a formula stands, counted from 0: references that are near count from there."""

    row: int
    col: int


def formula_text(tokens: bytes, extra: bytes, scope: Scope, place: Place) -> str:
    """Return a formula without `=`, or that it is not read."""
    try:
        return _Stack(tokens, extra, scope, place).run()
    except (Unread, IndexError, struct.error, UnicodeDecodeError):
        return UNREAD


class _Stack:
    def __init__(self, tokens: bytes, extra: bytes, scope: Scope, place: Place) -> None:
        self._tokens, self._at = tokens, 0
        self._extra, self._extra_at = extra, 0
        self._scope, self._place = scope, place
        self._stack: list[str] = []
        self._length = 0
        self._rows, self._columns = (1 << 20, 1 << 14) if scope.is_wide else (1 << 16, 1 << 8)

    def run(self) -> str:
        while self._at < len(self._tokens):
            kind = self._tokens[self._at]
            self._at += 1
            self._token(kind)
        if len(self._stack) != 1:
            raise Unread
        return self._stack[0]

    def _take(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from("<" + form, self._tokens, self._at)
        self._at += struct.calcsize("<" + form)
        return found

    def _push(self, text: str) -> None:
        self._length += len(text)
        if self._length > _MOST_TEXT * 8 or len(text) > _MOST_TEXT:
            raise Unread
        self._stack.append(text)

    def _token(self, kind: int) -> None:
        if kind in _BINARY:
            right, left = self._stack.pop(), self._stack.pop()
            self._push(f"{left}{_BINARY[kind]}{right}")
        elif kind in _BEFORE:
            self._push(_BEFORE[kind] + self._stack.pop())
        elif kind == _PERCENT:
            self._push(self._stack.pop() + "%")
        elif kind == _BRACKETS:
            self._push(f"({self._stack.pop()})")
        elif kind < 0x20:
            self._constant(kind)
        else:
            self._operand(kind & 0x1F | 0x20)  # the class of an operand says nothing here

    def _constant(self, kind: int) -> None:
        if kind == _MISSING:
            self._push("")
        elif kind == _TEXT:
            self._push('"' + self._text().replace('"', '""') + '"')
        elif kind == _NOTE:
            self._note()
        elif kind == _ERROR:
            self._push(ERRORS[self._take("B")[0]])
        elif kind == _TRUTH:
            self._push("TRUE" if self._take("B")[0] else "FALSE")
        elif kind == _WHOLE:
            self._push(str(self._take("H")[0]))
        elif kind == _NUMBER:
            self._push(exact_text(self._take("d")[0]).upper())
        else:
            raise Unread

    def _text(self) -> str:
        if self._scope.is_wide:
            count, is_wide = self._take("H")[0], 1
        else:
            count, is_wide = self._take("BB")
        size = count * 2 if is_wide & 1 else count
        raw = self._tokens[self._at : self._at + size]
        if len(raw) < size:
            raise Unread
        self._at += size
        return raw.decode("utf-16-le" if is_wide & 1 else "latin-1")

    def _note(self) -> None:
        """Pass a remark for the computation; a sum of one argument is one."""
        what, data = self._take("BH")
        if what & _CHOICE:
            self._at += _JUMPS * (data + 1)
        if what & _SUM:
            self._push(f"SUM({self._stack.pop()})")

    def _operand(self, kind: int) -> None:
        if kind == _FUNCTION:
            self._function(self._take("H")[0], None)
        elif kind == _FUNCTION_OF:
            count, number = self._take("BH")
            self._function(number & 0x7FFF, count & 0x7F)
        elif kind == _NAME:
            number = self._take("I")[0]
            self._push(self._scope.names[(number if self._scope.is_wide else number & 0xFFFF) - 1])
        elif kind == _NAME_OUT:
            sheet, name = self._take("HI")
            self._push(self._scope.outside[sheet, name & 0xFFFF])
        elif kind in _MEMORY:
            self._at += _MEMORY[kind]
        elif kind == _ARRAY:
            self._at += 14 if self._scope.is_wide else 7
            self._push(self._array())
        else:
            self._reference(kind)

    def _function(self, number: int, count: int | None) -> None:
        if number == USER_DEFINED:
            if not count:
                raise Unread
            arguments = self._arguments(count)
            name, arguments = arguments[0], arguments[1:]
        else:
            if number not in FUNCTIONS:
                raise Unread
            name = FUNCTIONS[number]
            arguments = self._arguments(_fixed(name) if count is None else count)
        self._push(f"{name.removeprefix('_xlfn.').removeprefix('_xlws.')}({','.join(arguments)})")

    def _arguments(self, count: int) -> list[str]:
        if count > len(self._stack):
            raise Unread
        found = self._stack[len(self._stack) - count :]
        del self._stack[len(self._stack) - count :]
        return found

    # --- references ----------------------------------------------------------------------------

    def _reference(self, kind: int) -> None:
        is_out = kind in (_REF_OUT, _AREA_OUT, _REF_OUT_GONE, _AREA_OUT_GONE)
        prefix = self._sheet(self._take("H")[0]) if is_out else ""
        row = "I" if self._scope.is_wide else "H"
        if kind in (_REF, _REF_OUT, _REF_NEAR):
            at, col = self._take(row + "H")
            self._push(prefix + self._cell(at, col, kind == _REF_NEAR))
        elif kind in (_AREA, _AREA_OUT, _AREA_NEAR):
            top, bottom, left, right = self._take(f"{row}{row}HH")
            self._push(prefix + self._area(top, bottom, left, right, kind == _AREA_NEAR))
        elif kind in (_REF_GONE, _REF_OUT_GONE):
            self._take(row + "H")
            self._push(prefix + _GONE)
        elif kind in (_AREA_GONE, _AREA_OUT_GONE):
            self._take(f"{row}{row}HH")
            self._push(prefix + _GONE)
        else:
            raise Unread

    def _sheet(self, number: int) -> str:
        found = self._scope.sheets[number]
        if found is None:
            raise Unread
        return quote_sheet(found) + "!"

    def _cell(self, row: int, flags: int, near: bool) -> str:
        return self._column(flags, near) + self._row(row, flags, near)

    def _row(self, row: int, flags: int, near: bool) -> str:
        if not flags & 0x8000:
            return f"${row + 1}"
        return str((self._place.row + row if near else row) % self._rows + 1)

    def _column(self, flags: int, near: bool) -> str:
        col = flags & 0x3FFF
        if not flags & 0x4000:
            return "$" + column_name(col % self._columns + 1)
        return column_name((self._place.col + col if near else col) % self._columns + 1)

    def _area(self, top: int, bottom: int, left: int, right: int, near: bool) -> str:
        is_whole_column = top == 0 and bottom == self._rows - 1 and not near
        is_whole_row = left & 0x3FFF == 0 and right & 0x3FFF == self._columns - 1 and not near
        if is_whole_column and not is_whole_row:
            return f"{self._column(left, near)}:{self._column(right, near)}"
        if is_whole_row and not is_whole_column:
            return f"{self._row(top, left, near)}:{self._row(bottom, right, near)}"
        return f"{self._cell(top, left, near)}:{self._cell(bottom, right, near)}"

    # --- arrays --------------------------------------------------------------------------------

    def _array(self) -> str:
        """Return a constant array; its values stand behind the tokens."""
        if self._scope.is_wide:
            rows, columns = self._read("II")
        else:
            columns, rows = self._read("BH")
            columns, rows = columns + 1, rows + 1
        if rows * columns > _MOST_TEXT:
            raise Unread
        lines = [[self._value() for _ in range(columns)] for _ in range(rows)]
        return "{" + ";".join(",".join(line) for line in lines) + "}"

    def _read(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from("<" + form, self._extra, self._extra_at)
        self._extra_at += struct.calcsize("<" + form)
        return found

    def _value(self) -> str:
        kind = self._read("B")[0]
        if self._scope.is_wide:
            return self._wide_value(kind)
        if kind == 2:
            count, flags = self._read("HB")
            return self._string(count, flags & 1)
        raw = self._extra[self._extra_at : self._extra_at + 8]
        self._extra_at += 8
        if kind == 1:
            return exact_text(struct.unpack("<d", raw)[0]).upper()
        if kind == 4:
            return "TRUE" if raw[0] else "FALSE"
        if kind == 16:
            return ERRORS[raw[0]]
        raise Unread

    def _wide_value(self, kind: int) -> str:
        if kind == 0:
            number: float = self._read("d")[0]
            return exact_text(number).upper()
        if kind == 1:
            return self._string(self._read("H")[0], 1)
        if kind == 2:
            return "TRUE" if self._read("B")[0] else "FALSE"
        if kind == 4:
            error = self._read("B")[0]
            self._extra_at += 3
            return ERRORS[error]
        raise Unread

    def _string(self, count: int, is_wide: int) -> str:
        size = count * 2 if is_wide else count
        raw = self._extra[self._extra_at : self._extra_at + size]
        if len(raw) < size:
            raise Unread
        self._extra_at += size
        text = raw.decode("utf-16-le" if is_wide else "latin-1")
        return '"' + text.replace('"', '""') + '"'


def _fixed(name: str) -> int:
    """Return how many arguments a function takes that takes a fixed number of them."""
    signature = SIGNATURES.get(name)
    if signature is None or signature.least != signature.most:
        raise Unread
    return signature.least


def sheet_span(names: Sequence[str], first: int, last: int) -> str | None:
    """Return what a reference to sheets says before its `!`, None when it leads nowhere."""
    if not (0 <= first < len(names) and 0 <= last < len(names)):
        return None
    return names[first] if first == last else f"{names[first]}:{names[last]}"
