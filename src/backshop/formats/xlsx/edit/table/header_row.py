"""The header row of a table: unique texts, as Excel forces them (F37.5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from backshop.formats.package.wellformed import xml_allows
from backshop.formats.protocol import Json
from backshop.formats.write.operation import as_list, problem, strip_controls

from ...book.cell_xml import Content
from ...book.sheet_edit import SheetEdit
from ...syntax.address import cell_name
from ..session import Session

MAX_CHARS = 255
_SHOWN = 5
_NEW = "Column"


@dataclass(frozen=True, slots=True)
class Written:
    """A header cell that did not hold what a table needs, and why."""

    place: tuple[int, int]
    name: str
    was: str

    def __str__(self) -> str:
        return f"{cell_name(*self.place)} “{self.name}” ({self.was})"


class HeaderRow:
    """Finds names for the columns of a table: from its header cells, or given ones."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.lower() for name in taken}
        self.written: list[Written] = []

    def read(self, edit: SheetEdit, row: int, columns: Sequence[int], where: str) -> list[str]:
        """Return what header cells say, made unique; note those that have to say something else."""
        return [self._read(edit, row, col, where) for col in columns]

    def _read(self, edit: SheetEdit, row: int, col: int, where: str) -> str:
        value, formula = edit.value(row, col), edit.formula(row, col)
        if formula is not None and value.kind == "blank":
            cell = edit.raw(row, col)
            if cell is None or edit.book.is_uncached(cell) or (row, col) in edit.patches:
                what = f"{cell_name(row, col)} is a formula without a stored result"
                hints = ["columns gives names"]
                raise problem("uncached_formula", where, what, hints)
        text = _clean(value.text) if value.kind != "blank" else ""
        reasons = []
        if not text.strip():
            name, reasons = self.free(), ["empty"]
        else:
            name = self._unique(text[:MAX_CHARS])
            if formula is not None:
                reasons.append("a formula")
            elif value.kind != "string":
                reasons.append(f"a {value.kind}")
            if len(text) > MAX_CHARS:
                reasons.append("too long")
            if name != text[:MAX_CHARS]:
                reasons.append(f"{text[:40]} is there already")
            if not reasons and text != value.text:
                reasons.append("characters that nobody sees")
        self._taken.add(name.lower())
        if reasons:
            self.written.append(Written((row, col), name, ", ".join(reasons)))
        return name

    def free(self) -> str:
        """Return a name such as `Column3` that no column has."""
        number = 1
        while f"{_NEW}{number}".lower() in self._taken:
            number += 1
        self._taken.add(f"{_NEW}{number}".lower())
        return f"{_NEW}{number}"

    def _unique(self, text: str) -> str:
        number, name = 1, text
        while name.lower() in self._taken:
            number += 1
            name = f"{text[: MAX_CHARS - len(str(number))]}{number}"
        return name


def _clean(text: str) -> str:
    """Return a text that formulas can quote: no control characters, line ends of one kind."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char for char in lines if xml_allows(char))


def given_names(session: Session, given: Json, count: int, where: str) -> list[str]:
    """Return names that were given for all columns."""
    names: list[str] = []
    for index, item in enumerate(as_list(given)):
        at = f"{where}[{index}]"
        if not isinstance(item, str):
            raise problem("bad_type", at, "the name of a column is text")
        names.append(checked_name(session, item, names, at))
    if len(names) != count:
        what = f"the table has {count} columns, and {len(names)} names are given"
        raise problem("bad_value", where, what)
    return names


def checked_name(session: Session, name: str, others: Collection[str], where: str) -> str:
    """Return the name of a column as it is written, or refuse it."""
    text = _clean(strip_controls(name, session.warnings, where))
    if not text.strip() or len(text) > MAX_CHARS:
        raise problem("bad_value", where, f"a header has 1 to {MAX_CHARS} characters")
    if text.lower() in {one.lower() for one in others}:
        raise problem("bad_value", where, f"two columns would be called {text[:40]}")
    return text


def put_headers(edit: SheetEdit, row: int, columns: Sequence[int], names: Sequence[str]) -> int:
    """Let header cells hold just these texts; return how many did not."""
    changed = 0
    for col, name in zip(columns, names, strict=True):
        changed += edit.set_content(row, col, Content("string", name))
    return changed


def note_written(session: Session, edit: SheetEdit, written: Sequence[Written]) -> None:
    """Say which header cells got another text."""
    if written:
        more = f" and {len(written) - _SHOWN} more" if len(written) > _SHOWN else ""
        where = f"{edit.sheet.name}: {', '.join(map(str, written[:_SHOWN]))}{more}"
        session.warnings.add("headers_written", len(written), where)
