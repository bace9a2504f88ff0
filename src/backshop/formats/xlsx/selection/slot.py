"""Slots: the things of a workbook that are either as before or as after, each by itself.

A unit of changes is one slot, or several that only make sense together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from backshop.base.place import Place
from backshop.formats.selection.change_unit import ChangeUnit, shortened, unit_id

from ..book.workbook import Sheet

# what a slot is of, the one that gives a tied unit its name first
RENAMED, ADDED, REMOVED, REST = "renamed", "added", "removed", "rest"
TABLE, NAME, MERGE, FRAME, DRAWN, ROWS = "table", "name", "merge", "frame", "drawn", "rows"
CONTENT, LOOK, LINES, COLUMNS = "content", "look", "lines", "columns"
RULE = "rule"
ORDERED = "ordered"  # rows of values, as one
NOTE, LINK = "note", "link"
_RANK = (
    *(RENAMED, ADDED, REMOVED, LINES, REST, TABLE, NAME, MERGE, FRAME, RULE, DRAWN),
    *(ROWS, COLUMNS, ORDERED, CONTENT, LOOK, NOTE, LINK),
)
_KINDS = {
    **dict.fromkeys((ORDERED, CONTENT, LOOK, MERGE, NOTE, LINK), "cell"),
    **dict.fromkeys((RENAMED, ADDED, REMOVED), "sheet"),
    TABLE: "table",
    DRAWN: "shape",
}
_ORDER = {REST: 2, NAME: 1}  # in the file: sheets with what is theirs, names, the rest


@dataclass(frozen=True, slots=True)
class SheetPair:
    """A sheet before and after; one that came or went is on one side only."""

    at: int  # in the order of the sheets after; those that went are last
    old: Sheet | None
    new: Sheet | None
    known_as: str = ""  # before the change, where the old sheet has got its new name already

    @property
    def name(self) -> str:
        """The name people knew it by before the change."""
        found = self.old or self.new
        return self.known_as or (found.name if found else "")

    @property
    def shown(self) -> str:
        """The name it has after the change."""
        found = self.new or self.old
        return found.name if found else ""

    @property
    def is_renamed(self) -> bool:
        """Whether it got another name."""
        return self.old is not None and self.new is not None and self.old.name != self.new.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One thing that can be as before or as after, and how a list of changes tells it."""

    what: str
    pair: SheetPair | None
    sides: tuple[Hashable, Hashable]  # both contents, in the names of the workbook before
    group: str
    label: str
    row: int = 0
    col: int = 0
    detail: tuple[str, ...] = ()  # names of elements, ranges, the key of a name, a part
    place: Place | None = None
    before: str | None = None
    after: str | None = None
    texts: tuple[str, ...] = ()  # formulas of both sides, for what they name
    tied: str | None = None
    told: tuple[int, int] | None = None  # row and column in names that hold for all lines (F42)
    named: tuple[str, ...] | None = None  # the detail likewise
    is_inside: bool = False  # of lines that came: it goes without saying with them

    @property
    def kind(self) -> str:
        """The kind of unit it is by itself."""
        return self.detail[0] if self.what == LINES else _KINDS.get(self.what, "part")

    @property
    def id(self) -> str:
        """The id it has as a unit of its own."""
        sheet = self.pair.name if self.pair else ""
        place = self.told or (self.row, self.col)
        detail = self.detail if self.named is None else self.named
        return unit_id(self.kind, self.what, sheet, *place, detail, *self.sides)

    @property
    def order(self) -> tuple[int, int, int, int, int]:
        """Where it stands in the file."""
        first = _ORDER.get(self.what, 0)
        return first, self.pair.at if self.pair else 0, self.row, self.col, _RANK.index(self.what)


@dataclass(frozen=True, slots=True)
class Change:
    """A unit of changes with the slots it is made of."""

    unit: ChangeUnit
    slots: tuple[Slot, ...]


def change(slots: Iterable[Slot], reason: str | None) -> Change:
    """Make a unit of slots that can only be taken together, for this reason."""
    found = tuple(sorted(slots, key=lambda slot: (_RANK.index(slot.what), slot.order)))
    head = found[0]
    beside = tuple(slot for slot in found if slot is head or not slot.is_inside)
    number = head.id
    if len(found) > 1:
        number = unit_id(head.kind, *sorted(slot.id for slot in found))
    label, tied = head.label, head.tied
    if len(beside) > 1:
        label, tied = f"{head.label} and {_more(beside)}", reason
    unit = ChangeUnit(
        id=number,
        kind=head.kind,
        group=head.group,
        label=label,
        place=head.place,
        before=shortened(head.before),
        after=shortened(head.after),
        tied=tied,
    )
    return Change(unit, found)


def _more(slots: tuple[Slot, ...]) -> str:
    labels = list(dict.fromkeys(slot.label for slot in slots))[1:]
    if not labels:
        return "its look"
    return labels[0] if len(labels) == 1 else f"{len(labels)} more"
