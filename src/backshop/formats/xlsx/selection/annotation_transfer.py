"""Notes and links of one workbook put into another version of it (F41.20)."""

from __future__ import annotations

from collections.abc import Iterable

from ..annotation.link import LinkEdit, links_of
from ..annotation.note import CommentList, notes_of
from ..annotation.note_box import Boxes
from ..annotation.note_edit import NoteEdit
from ..book.sheet_edit import SheetEdit
from ..book.workbook import Book, Sheet, child, rel_id
from ..syntax.address import Area
from .slot import LINK, NOTE, Slot


class AnnotationTransfer:
    """Lets notes and links of a sheet be as another version of the workbook has them."""

    def __init__(self, book: Book, edit: SheetEdit, other: Book, twin: Sheet) -> None:
        self._edit, self._other, self._twin = edit, other, twin
        self._notes, self._links = NoteEdit(book, edit), LinkEdit(book, edit)

    def put(self, slots: Iterable[Slot]) -> None:
        """Let the notes and links of these slots be as in the other version, or not be there."""
        listed = list(slots)
        notes = [Area(*map(int, slot.detail)) for slot in listed if slot.what == NOTE]
        links = [Area(*map(int, slot.detail)) for slot in listed if slot.what == LINK]
        for area in notes:
            self._put_note((area.row1, area.col1))
        for area in links:
            self._links.take(area)
        if links:
            xml = self._other.xml(self._twin)
            frame = xml.frame() if xml is not None else None
            theirs = links_of(self._other.package, self._twin.part, frame)
            for link in theirs:
                if link.area in links:
                    self._links.add(link)

    def _put_note(self, place: tuple[int, int]) -> None:
        note = notes_of(self._other, self._twin).get(place)
        if note is None:
            self._notes.remove(place)
            return
        parts = self._other.sheet_rels(self._twin, "comments")
        listed = CommentList(self._other.package.read(parts[0]))
        self._notes.bring(place, note.author, listed, self._boxes())

    def _boxes(self) -> Boxes | None:
        """Return the drawing of the other version's notes."""
        xml = self._other.xml(self._twin)
        element = child(xml.frame(), "legacyDrawing") if xml is not None else None
        if element is None or self._twin.part is None:
            return None
        part = self._other.package.rel_part(self._twin.part, rel_id(element) or "")
        return Boxes(self._other.package.read(part)) if part else None
