"""The totals row of a table: what each column shows in it (F37.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json
from backshop.formats.write.operation import Arg, as_list, item_fields, problem, strip_controls

from ...book.cell_xml import EMPTY, Content
from ...book.sheet_edit import SheetEdit
from ...book.table_text import header_attribute, header_text
from ...book.workbook import Table, child, like
from ...calculation.moved_reference import quoted_column
from ...syntax.address import Area
from ..cell_operation import put
from ..cell_value import content
from ..session import Session
from .column import column_at
from .table_part import columns_of

LABEL = "Total"
FUNCTIONS: Mapping[str, tuple[str, int]] = {  # as people say it: the file's word, SUBTOTAL's number
    "sum": ("sum", 109),
    "average": ("average", 101),
    "count": ("count", 103),
    "count_numbers": ("countNums", 102),
    "max": ("max", 104),
    "min": ("min", 105),
    "stdev": ("stdDev", 107),
    "var": ("var", 110),
}
NOTHING = "none"
TOTAL_ARGS = (
    Arg("column", object, required=True),
    Arg("function", str),
    Arg("formula", str),
    Arg("label", str),
)
_WORDS = {word: (name, number) for name, (word, number) in FUNCTIONS.items()}
_COUNTED = frozenset({"count", "count_numbers"})
_SAME = {"counta": "count", "avg": "average", "mean": "average", "total": "sum"}
MAX_LABEL = 255


@dataclass(frozen=True, slots=True)
class Total:
    """What one column shows: a function by name, a formula, or a text; nothing of it is nothing."""

    function: str = ""
    formula: str = ""  # with its =
    label: str = ""
    where: str = ""

    @property
    def words(self) -> str:
        """What it is, short."""
        return self.function or self.formula or f"“{self.label}”"


def given_totals(session: Session, table: Table, given: Json, where: str) -> dict[int, Total]:
    """Return what a list says of columns, by their places from 0."""
    found: dict[int, Total] = {}
    for index, item in enumerate(as_list(given)):
        at = f"{where}[{index}]"
        fields = item_fields(item, TOTAL_ARGS, at, session.warnings)
        place = column_at(table, fields["column"], f"{at}.column")
        said = [name for name in ("function", "formula", "label") if fields[name] is not None]
        if len(said) != 1:
            what = "say one of function, formula and label"
            raise problem("missing_field" if not said else "op_conflict", at, what)
        if place in found:
            raise problem("op_conflict", f"{at}.column", "this column is there twice")
        found[place] = _total(session, said[0], str(fields[said[0]]), f"{at}.{said[0]}")
    return found


def _total(session: Session, kind: str, text: str, where: str) -> Total:
    if kind == "formula":
        formula = text if text.startswith("=") else f"={text}"
        return Total(formula=formula, where=where)
    if kind == "label":
        label = strip_controls(text, session.warnings, where).replace("\r\n", "\n")
        if not label.strip() or len(label) > MAX_LABEL:
            raise problem("bad_value", where, f"a label has 1 to {MAX_LABEL} characters")
        return Total(label=label, where=where)
    word = text.strip().lower().replace(" ", "_")
    word = _SAME.get(word, word)
    if word == NOTHING:
        return Total()
    if word not in FUNCTIONS:
        known = (*FUNCTIONS, NOTHING)
        raise problem("bad_value", where, f"one of: {', '.join(known)}; or a formula", known)
    return Total(function=word)


def stored_totals(root: Element) -> dict[int, Total]:
    """Return what a table remembers of its totals row, shown or not."""
    found = {}
    for at, column in enumerate(columns_of(root)):
        label, word = column.get("totalsRowLabel"), column.get("totalsRowFunction") or NOTHING
        formula = child(column, "totalsRowFormula")
        if word in _WORDS:
            found[at] = Total(function=_WORDS[word][0])
        elif word == "custom" and formula is not None and formula.text:
            found[at] = Total(formula=f"={formula.text}")
        elif label:
            found[at] = Total(label=header_text(label))
    return found


def usual_totals(edit: SheetEdit, table: Table) -> dict[int, Total]:
    """Return what Excel begins with: a label, and the last column's sum, or count of texts."""
    last = table.area.width - 1
    data = table.data
    col = table.area.col2
    kinds = {edit.value(row, col).kind for row in range(data.row1, data.row2 + 1)} - {"blank"}
    word = "sum" if kinds and kinds <= {"number"} else "count"
    return (
        {0: Total(label=LABEL), last: Total(function=word)} if last else {0: Total(function=word)}
    )


def put_totals(
    session: Session, edit: SheetEdit, table: Table, root: Element, totals: Mapping[int, Total]
) -> None:
    """Let the cells of the totals row, which is there, show these, and the table say so."""
    row = table.area.row2
    columns = columns_of(root)
    above = table.data.row2
    for at, total in sorted(totals.items()):
        place = (row, table.area.col1 + at)
        held = _content(session, table, at, total)
        if held.kind == "formula":
            put(session, edit, place, held, total.where)
            stored = edit.formula(*place) or ""
            new = edit.patches.get(place)
            if new is not None and new.content is not None and new.content.array:
                what = "a totals row takes no formula of several values"
                raise problem("bad_value", total.where, what)
        else:
            edit.set_content(*place, held)
            stored = ""
        is_amount = held.kind == "formula" and total.function not in _COUNTED
        if is_amount and edit.style(*place) == 0 and edit.style(above, place[1]):
            edit.set_style(*place, edit.style(above, place[1]))
        _say(columns[at], total, stored)
        session.aim(edit, Area(*place, *place))


def _content(session: Session, table: Table, at: int, total: Total) -> Content:
    if total.label:
        return Content("string", total.label)
    if total.function:
        number = FUNCTIONS[total.function][1]
        column = quoted_column(table.columns[at])
        return Content("formula", f"SUBTOTAL({number},{table.name}[{column}])")
    if not total.formula:
        return EMPTY
    return content(
        total.formula,
        "formula",
        total.where,
        session.book.date_1904,
        session.warnings,
        session.names,
    )


def _say(column: Element, total: Total, stored: str) -> None:
    """Write down in the table what a cell of its totals row shows."""
    for key in ("totalsRowFunction", "totalsRowLabel"):
        column.attrib.pop(key, "")
    for item in [item for item in column if etree.QName(item).localname == "totalsRowFormula"]:
        column.remove(item)
    if total.label:
        column.set("totalsRowLabel", header_attribute(total.label))
    elif total.function:
        column.set("totalsRowFunction", FUNCTIONS[total.function][0])
    elif total.formula:
        column.set("totalsRowFunction", "custom")
        element = etree.Element(like(column, "totalsRowFormula"))
        element.text = stored
        calculated = child(column, "calculatedColumnFormula")
        if calculated is not None:
            calculated.addnext(element)
        else:
            column.insert(0, element)


def totals_words(table: Table, totals: Mapping[int, Total]) -> str:
    """Return what a totals row shows, in words."""
    said: Sequence[str] = [
        f"{table.columns[at]} {total.words}"
        for at, total in sorted(totals.items())
        if total != Total()
    ]
    return f"totals row {table.area.row2}: {', '.join(said) or 'nothing'}"
