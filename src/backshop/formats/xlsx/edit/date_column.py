"""Columns of dates that new rows come into: an ISO date given as text becomes one (F17.16)."""

from __future__ import annotations

import re
from datetime import time
from functools import cached_property
from typing import NamedTuple

from backshop.formats.protocol import Json

from ..book import number_format
from ..book.sheet_edit import SheetEdit
from ..syntax.address import MAX_ROW, Area
from .session import Session

_TEXT_CODE = "@"
_CLOCK = r"\d\d:\d\d(:\d\d(\.\d{1,6})?)?"
_DAY = re.compile(rf"\d{{4}}-\d\d-\d\d(?P<clock>[T ]{_CLOCK})?")
_TIME = re.compile(_CLOCK)


class _Neighbour(NamedTuple):
    """How a cell next to the new rows shows its date."""

    code: str
    is_time: bool


class DateColumns:
    """The dates that stand right above new rows, or else right below them."""

    def __init__(self, session: Session, edit: SheetEdit, area: Area) -> None:
        self._session, self._edit, self._area = session, edit, area
        self._known: dict[int, _Neighbour | None] = {}

    def kind(self, place: tuple[int, int], value: Json) -> str:
        """Return the type of a value that has none given: that of its column, if it fits."""
        near = self._near(place[1]) if isinstance(value, str) else None
        if near is None or self._code(*place) == _TEXT_CODE:
            return "auto"
        text = str(value).strip()
        if near.is_time:
            kind = "time" if _TIME.fullmatch(text) else ""
        else:
            day = _DAY.fullmatch(text)
            kind = "" if day is None else "datetime" if day["clock"] else "date"
        date_1904 = self._session.book.date_1904
        is_one = kind and number_format.serial_of(kind, text, date_1904) is not None
        return kind if is_one else "auto"

    def code(self, col: int) -> str | None:
        """Return the number format of the dates of a column, None where it has none."""
        near = self._near(col)
        return near.code if near else None

    def _near(self, col: int) -> _Neighbour | None:
        if col not in self._known:
            self._known[col] = self._found(col)
        return self._known[col]

    @cached_property
    def _rows(self) -> list[int]:
        rows = (self._area.row1 - 1, self._area.row2 + 1)
        return [row for row in rows if 1 <= row <= MAX_ROW]

    def _found(self, col: int) -> _Neighbour | None:
        for row in self._rows:
            number, code = self._edit.value(row, col).number, self._code(row, col)
            if number is None or not number_format.is_date(-1, code):
                continue
            when = number_format.moment(number, self._session.book.date_1904)
            if when is not None:
                is_time = isinstance(when, time) or number_format.is_elapsed(code)
                return _Neighbour(code, is_time)
        return None

    def _code(self, row: int, col: int) -> str:
        return self._session.styles.code(self._edit.style(row, col))
