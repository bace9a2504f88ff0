"""The notes and links that differ between two versions of a sheet, each for itself (F41.19)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from backshop.formats.package.guard import Element

from ..book.workbook import Book, Sheet, child, children, rel_id
from ..syntax.address import cell_name
from .link import LINKS, Link, by_place, links_of
from .note import THREAD, Note, Place, notes_of
from .note_box import Boxes

BOXES = "legacyDrawing"
_LINK_ATTRIBUTES = frozenset({"ref", "location", "tooltip", "display"})
_QUOTED_CHARS = 60
NotePair = tuple[Place, Note | None, Note | None]
LinkPair = tuple[Link | None, Link | None]


@dataclass(frozen=True)
class AnnotationDiff:
    """Two versions of a sheet; `frames` is what stands around their cells."""

    books: tuple[Book, Book]
    sheets: tuple[Sheet, Sheet]
    frames: tuple[Element, Element]

    @property
    def told(self) -> frozenset[str]:
        """The elements of a sheet that are told here."""
        notes = [BOXES] if self.notes is not None else []
        return frozenset([*notes, *([LINKS] if self.links is not None else [])])

    @property
    def relations(self) -> frozenset[str]:
        """The kinds of relationships of a sheet that are told here."""
        notes = ["comments", "vmlDrawing"] if self.notes is not None else []
        return frozenset([*notes, *(["hyperlink"] if self.links is not None else [])])

    def parts(self, side: int) -> set[str]:
        """Return the list and the drawing of notes that are told here."""
        if self.notes is None:
            return set()
        listed = self.books[side].sheet_rels(self.sheets[side], "comments")
        boxes = self._box_part(side)
        return {*listed, *([boxes] if boxes else [])}

    # --- notes ---------------------------------------------------------------------------------

    @cached_property
    def notes(self) -> list[NotePair] | None:
        """The notes that differ; None where they cannot be told one by one."""
        old, new = (
            notes_of(book, sheet) for book, sheet in zip(self.books, self.sheets, strict=True)
        )
        if not all(self._is_plain(side) for side in (0, 1)):
            return None
        places = sorted({*old, *new})
        found = [
            (place, old.get(place), new.get(place))
            for place in places
            if said(old.get(place)) != said(new.get(place))
        ]
        changed = {place for place, _, _ in found}
        old_boxes, new_boxes = (self._other_boxes(side, changed) for side in (0, 1))
        is_same = old_boxes == new_boxes or old_boxes.parted() == new_boxes.parted()
        return found if is_same else None

    def _is_plain(self, side: int) -> bool:
        """Whether a side has one list of notes at most, of its own, without threads."""
        book, sheet = self.books[side], self.sheets[side]
        lists, drawings = (book.sheet_rels(sheet, kind) for kind in ("comments", "vmlDrawing"))
        if book.sheet_rels(sheet, "threadedComment"):
            return False
        if not lists and not drawings:
            return True
        is_named = child(self.frames[side], BOXES) is not None
        if len(lists) > 1 or (is_named and self._box_part(side) is None):
            return False
        if any(book.package.rels(part) for part in lists):
            return False
        notes = notes_of(book, sheet)
        listed = [one for part in lists for one in book.package.xml(part).iter("{*}comment")]
        is_thread = any(note.author.startswith(THREAD) for note in notes.values())
        return len(listed) == len(notes) and not is_thread and not self._is_shared(side)

    def _is_shared(self, side: int) -> bool:
        book, sheet = self.books[side], self.sheets[side]
        kinds = ("comments", "vmlDrawing")
        own = {part for kind in kinds for part in book.sheet_rels(sheet, kind)}
        others = (one for one in book.sheets if one.part not in (None, sheet.part))
        return any(own & {*book.sheet_rels(one, kind)} for one in others for kind in kinds)

    def _box_part(self, side: int) -> str | None:
        element, part = child(self.frames[side], BOXES), self.sheets[side].part
        if element is None or part is None:
            return None
        return self.books[side].package.rel_part(part, rel_id(element) or "")

    def _other_boxes(self, side: int, changed: set[Place]) -> Boxes:
        """Return the drawing without the boxes of changed notes; none is as an empty one."""
        part = self._box_part(side)
        if part is None:
            return Boxes.empty(1)
        return Boxes(self.books[side].package.read(part)).without_all(changed)

    # --- links ---------------------------------------------------------------------------------

    @cached_property
    def links(self) -> list[LinkPair] | None:
        """The links that differ; None where they cannot be told one by one."""
        both = []
        for book, sheet, frame in zip(self.books, self.sheets, self.frames, strict=True):
            found = by_place(links_of(book.package, sheet.part, frame))
            if found is None or not _are_plain(frame, len(found)):
                return None
            both.append(found)
        keys = sorted({*both[0], *both[1]})
        pairs = ((both[0].get(key), both[1].get(key)) for key in keys)
        return [(was, now) for was, now in pairs if was != now]

    # --- words ---------------------------------------------------------------------------------

    def note_words(self, *, is_new: bool | None = None) -> list[str]:
        """Say which notes differ; of those that came or went alone where that is asked for."""
        return [
            _words("note", cell_name(*place), _noted(was), _noted(now))
            for place, was, now in self.notes or ()
            if is_new is None or (now if is_new else was) is not None
        ]

    def link_words(self) -> list[str]:
        """Say which links differ."""
        found = []
        for was, now in self.links or ():
            link = now or was
            assert link is not None, "a link differs"
            found.append(_words("link", str(link.area), _led(was), _led(now)))
        return found


def said(note: Note | None) -> tuple[str, bytes] | None:
    """Return what a note says, its looks too."""
    return None if note is None else (note.author, note.said)


def _are_plain(frame: Element, count: int) -> bool:
    items = children(child(frame, LINKS), "hyperlink")
    keys = {str(key) for item in items for key in item.attrib}
    others = {key for key in keys if "}" not in key} - _LINK_ATTRIBUTES
    return len(items) == count and not others and not any(len(item) for item in items)


def _noted(note: Note | None) -> str | None:
    return None if note is None else note.text


def _led(link: Link | None) -> str | None:
    if link is None:
        return None
    tip = f" (tooltip {link.tooltip})" if link.tooltip else ""
    return link.target.removeprefix("#") + tip


def _words(what: str, place: str, old: str | None, new: str | None) -> str:
    if old is None:
        return f"{what} at {place} added: {_quoted(new or '')}"
    if new is None:
        return f"{what} at {place} removed: {_quoted(old)}"
    if old == new:
        return f"{what} at {place}: another look or author"
    return f"{what} at {place}: {_quoted(old)} → {_quoted(new)}"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line if len(line) <= _QUOTED_CHARS else line[: _QUOTED_CHARS - 1] + '…'}”"
