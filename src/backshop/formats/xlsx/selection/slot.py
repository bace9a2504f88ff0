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
TABLE, NAME, MERGE, FRAME, ROWS = "table", "name", "merge", "frame", "rows"
CONTENT, LOOK = "content", "look"
_RANK = (RENAMED, ADDED, REMOVED, REST, TABLE, NAME, MERGE, FRAME, ROWS, CONTENT, LOOK)
_KINDS = {
    **dict.fromkeys((CONTENT, LOOK, MERGE), "cell"),
    **dict.fromkeys((RENAMED, ADDED, REMOVED), "sheet"),
    TABLE: "table",
}
_ORDER = {REST: 2, NAME: 1}  # in the file: sheets with what is theirs, names, the rest


@dataclass(frozen=True, slots=True)
class SheetPair:
    """A sheet before and after; one that came or went is on one side only."""

    at: int  # in the order of the sheets after; those that went are last
    old: Sheet | None
    new: Sheet | None

    @property
    def name(self) -> str:
        """The name people knew it by before the change."""
        found = self.old or self.new
        return found.name if found else ""

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

    @property
    def kind(self) -> str:
        """The kind of unit it is by itself."""
        return _KINDS.get(self.what, "part")

    @property
    def id(self) -> str:
        """The id it has as a unit of its own."""
        sheet = self.pair.name if self.pair else ""
        return unit_id(self.kind, self.what, sheet, self.row, self.col, self.detail, *self.sides)

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
    if len(found) == 1:
        number, label, tied = head.id, head.label, head.tied
    else:
        number = unit_id(head.kind, *sorted(slot.id for slot in found))
        label, tied = f"{head.label} and {_more(found)}", reason
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
