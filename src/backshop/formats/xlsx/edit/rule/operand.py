"""What the fields of a rule mean: its cells, and the values and formulas it compares with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from backshop.formats.figure.plain import exact_text
from backshop.formats.protocol import Json, Op
from backshop.formats.write.operation import problem, strip_controls

from ...book import number_format
from ...book.sheet_edit import SheetEdit
from ...rule.entry import corner, outside
from ...syntax.address import Area
from ..cell_operation import area_of
from ..cell_value import content
from ..formula_fit import fitted_rule
from ..session import Session

MAX_AREAS = 64
TEXT_MAX_CHARS = 255  # of a text inside a formula
_DATED = (
    ("datetime", re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{1,2}:\d{2}(?::\d{2})?")),
    ("date", re.compile(r"\d{4}-\d{2}-\d{2}")),
    ("time", re.compile(r"\d{1,2}:\d{2}(?::\d{2})?")),
)


def areas_of_rule(op: Op, edit: SheetEdit) -> list[Area]:
    """Return the rectangles that `range` names, none of them twice."""
    where = f"{op.where}.range"
    texts = [one for one in re.split(r"[,;\s]+", str(op.args["range"])) if one]
    if not texts or len(texts) > MAX_AREAS:
        raise problem("bad_range", where, f"1 to {MAX_AREAS} ranges, with commas between them")
    found: list[Area] = []
    for text in texts:
        found += outside([area_of(text, where, edit)], found)
    return found


@dataclass(frozen=True, slots=True)
class Operands:
    """Reads what a rule compares with; formulas are written for its first cell."""

    session: Session
    edit: SheetEdit
    areas: Sequence[Area]

    @property
    def first(self) -> tuple[int, int]:
        """The cell for which formulas are written."""
        return corner(self.areas)

    def formula(self, text: Json, where: str) -> str:
        """Return a formula, checked as those of cells are (F24.4, F24.12, F24.17)."""
        if not isinstance(text, str) or not text.strip():
            raise problem("bad_value", where, "a formula is text")
        made = content(
            text if text.strip().startswith("=") else f"={text}",
            "formula",
            where,
            self.session.book.date_1904,
            self.session.warnings,
            self.session.names,
        )
        return fitted_rule(self.session, self.edit, self.first, made.text, where)

    def value(self, given: Json, where: str) -> str:
        """Return a number, a date, a truth value, a text or a formula (`=…`) as a formula."""
        if given is None:
            raise problem("missing_field", where, "a value to compare with is needed")
        if isinstance(given, str):
            if given.startswith("=") and len(given) > 1:
                return self.formula(given, where)
            serial = self.serial(given)
            return quoted(self.text(given, where)) if serial is None else serial
        if isinstance(given, bool):
            return "TRUE" if given else "FALSE"
        return self.number(given, where)

    def serial(self, text: str) -> str | None:
        """Return the number of a day or time of day that is written as in ISO 8601."""
        for kind, pattern in _DATED:
            if pattern.fullmatch(text.strip()):
                said = text.strip().replace(" ", "T")
                said = said if len(said.split(":")[0]) != 1 else f"0{said}"
                found = number_format.serial_of(kind, said, self.session.book.date_1904)
                return None if found is None else exact_text(found)
        return None

    def number(self, given: Json, where: str) -> str:
        """Return a number as files hold it."""
        is_date = self.session.book.date_1904
        return content(given, "number", where, is_date, self.session.warnings).text

    def text(self, given: Json, where: str, most: int = TEXT_MAX_CHARS) -> str:
        """Return a text that is not too long."""
        if not isinstance(given, str):
            raise problem("bad_type", where, "must be text")
        text = strip_controls(given, self.session.warnings, where)
        if len(text) > most:
            raise problem("too_large", where, f"at most {most} characters, not {len(text)}")
        return text


def quoted(text: str) -> str:
    """Return a text as formulas write it."""
    return '"' + text.replace('"', '""') + '"'
