"""Notes and links that came, went or say something else, as units of changes (F41.19)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from backshop.base.place import Place

from ..alignment.geometry import Run
from ..annotation.annotation_diff import AnnotationDiff, LinkPair, NotePair, said
from ..annotation.link import Link
from ..book.sheet_xml import SheetXml
from ..book.workbook import Book
from ..syntax.address import Area, cell_name
from .naming import Naming
from .sheet_frame import overlapping
from .slot import LINK, NOTE, SheetPair, Slot


@dataclass(frozen=True)
class AnnotationChanges:
    """The slots of notes and links of one sheet, and what is told by them."""

    slots: list[Slot]
    told: frozenset[str]  # elements of the sheet
    runs: dict[int, set[Run]] = field(default_factory=dict)  # by slot: the lines it needs
    groups: list[list[int]] = field(default_factory=list)  # slots of links over the same cells


def annotation_changes(
    pair: SheetPair,
    books: tuple[Book, Book],
    xmls: tuple[SheetXml, SheetXml],
    translate: Callable[[str], str],
    naming: Naming | None,
) -> AnnotationChanges:
    """Compare the notes and links of two versions of a sheet, as far as each stands for itself.

    `translate` gives references in the names that sheets had before.
    """
    assert pair.old is not None, "both have cells"
    assert pair.new is not None, "both have cells"
    frames = (xmls[0].frame(), xmls[1].frame())
    diff = AnnotationDiff(books, (pair.old, pair.new), frames)
    slots = [_note_slot(pair, one) for one in diff.notes or ()]
    slots += [_link_slot(pair, one, translate) for one in diff.links or ()]
    runs: dict[int, set[Run]] = {}
    groups = _together(slots)
    if naming is not None:
        for at, slot in enumerate(slots):
            slots[at], needed = _named(naming, pair, slot)
            if needed:
                runs[at] = needed
    return AnnotationChanges(slots, diff.told, runs, groups)


def _together(slots: list[Slot]) -> list[list[int]]:
    """Return the slots of links that lie over one another, by their numbers."""
    areas = {_area(one): at for at, one in enumerate(slots) if one.what == LINK}
    groups = overlapping(sorted(areas))
    return [[areas[area] for area in group] for group in groups if len(group) > 1]


def _area(slot: Slot) -> Area:
    return Area(*map(int, slot.detail))


def _named(naming: Naming, pair: SheetPair, slot: Slot) -> tuple[Slot, set[Run]]:
    """Return a slot by its place of before, and the lines it stands in."""
    told = naming.geometry.of(pair.shown).told(_area(slot))
    runs = naming.geometry.met_area(_area(slot), pair.shown)
    return replace(slot, told=(told.row1, told.col1), named=_detail(told)), runs


def _detail(area: Area) -> tuple[str, ...]:
    return tuple(str(one) for one in (area.row1, area.col1, area.row2, area.col2))


def _verb(was: object, now: object) -> str:
    return "" if was and now else " added" if now else " removed"


def _note_slot(pair: SheetPair, pairing: NotePair) -> Slot:
    place, was, now = pairing
    cell = cell_name(*place)
    return Slot(
        what=NOTE,
        pair=pair,
        sides=(said(was), said(now)),
        group="text",
        label=f"note at {pair.shown}!{cell}{_verb(was, now)}",
        detail=_detail(Area(*place, *place)),
        row=place[0],
        col=place[1],
        place=Place(sheet=pair.shown, range=cell),
        before=None if was is None else was.text,
        after=None if now is None else now.text,
    )


def _link_slot(pair: SheetPair, pairing: LinkPair, translate: Callable[[str], str]) -> Slot:
    was, now = pairing
    link = now or was
    assert link is not None, "a link came, changed or went"
    texts = tuple(one.location for one in pairing if one and one.location and not one.address)
    return Slot(
        what=LINK,
        pair=pair,
        sides=(_led(was, translate), _led(now, translate)),
        group="other",
        label=f"link at {pair.shown}!{link.area}{_verb(was, now)}",
        detail=_detail(link.area),
        row=link.area.row1,
        col=link.area.col1,
        place=Place(sheet=pair.shown, range=str(link.area)),
        before=None if was is None else was.target.removeprefix("#"),
        after=None if now is None else now.target.removeprefix("#"),
        texts=texts,
    )


def _led(link: Link | None, translate: Callable[[str], str]) -> tuple[str, ...] | None:
    if link is None:
        return None
    location = link.location if link.address else translate(link.location)
    return link.address, location, link.tooltip, link.display
