"""The notes of a sheet while one comes, changes or goes: list, boxes, relationships (F41.8)."""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

from backshop.formats.errors import fail
from backshop.formats.package.media import relative
from backshop.formats.package.package import Package
from backshop.formats.package.relationship import rels_name
from backshop.formats.package.unused import remove_unused

from ..book.element_order import SHEET_ORDER, insert_in_order
from ..book.sheet_edit import SheetEdit
from ..book.workbook import Book, Sheet, child, like, rel_id
from ..drawing.drawing_edit import RELATIONS, in_dialect
from .note import CommentList, Place
from .note_box import Boxes

MAIN_NS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_COMMENTS_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.comments+xml"
_BOXES_TYPE = "application/vnd.openxmlformats-officedocument.vmlDrawing"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
_BOXES = "legacyDrawing"


@dataclass
class NoteEdit:
    """Changes the notes of one sheet; `made` are the parts that came or went."""

    book: Book
    edit: SheetEdit
    made: set[str] = field(default_factory=set)

    @property
    def _package(self) -> Package:
        return self.book.package

    @property
    def _part(self) -> str:
        assert self.edit.sheet.part is not None, "a sheet that is edited has a part"
        return self.edit.sheet.part

    @property
    def comments(self) -> str | None:
        """The part that lists the comments of the sheet."""
        return next(iter(self.book.sheet_rels(self.edit.sheet, "comments")), None)

    @property
    def boxes(self) -> str | None:
        """The drawing that the boxes of notes stand on."""
        element = child(self.edit.frame.root, _BOXES)
        if element is None:
            return None
        found = self._package.rel_part(self._part, rel_id(element) or "")
        if found is None:
            raise fail("corrupt_file", "the drawing of the notes is missing")
        return found

    def shared_with(self) -> Sheet | None:
        """Return another sheet that shows the same notes, which would change too."""
        own = {self.comments, self.boxes} - {None}
        for sheet in self.book.sheets:
            if sheet.part is None or sheet.part == self._part:
                continue
            kinds = ("comments", "vmlDrawing")
            if own & {one for kind in kinds for one in self.book.sheet_rels(sheet, kind)}:
                return sheet
        return None

    # --- coming --------------------------------------------------------------------------------

    def add(self, place: Place, author: str, text: str) -> None:
        """Give a cell without a note one, with a box beside it."""
        part = self.ensured_comments()
        listed, number = self.list(part).with_author(author)
        made = listed.with_comment(place, listed.written(place, number, text))
        self._package.put(part, made.data)
        self._put_box(place, None, text)

    def change(self, place: Place, author: str | None, text: str) -> None:
        """Give the note of a cell another text; its box stays."""
        part = self.comments
        assert part is not None, "there is a note"
        listed, number = self.list(part), None
        if author is not None:
            listed, number = listed.with_author(author)
        before = listed.find(place)
        assert before is not None, "there is a note"
        made = listed.with_comment(place, listed.rewritten(before, number, text))
        self._package.put(part, made.data)

    def bring(self, place: Place, author: str, theirs: CommentList, boxes: Boxes | None) -> None:
        """Put a note of another version of the workbook here, in the place of the cell's own."""
        part = self.ensured_comments()
        listed, number = self.list(part).with_author(author)
        made = listed.with_comment(place, listed.adopted(place, theirs, number))
        self._package.put(part, made.data)
        text = listed.text_of(made.find(place) or b"")
        if (boxes and boxes.find(place)) or self._shape(place) is None:
            self._put_box(place, boxes, text)

    def _shape(self, place: Place) -> bytes | None:
        return Boxes(self._package.read(self.boxes)).shape(place) if self.boxes else None

    def _put_box(self, place: Place, theirs: Boxes | None, text: str) -> None:
        part = self._ensured_boxes()
        boxes = Boxes(self._package.read(part)).without(place)
        shape = theirs.shape(place) if theirs else None
        if theirs and shape is not None:
            boxes = boxes.with_shape(boxes.adopted(shape, theirs))
        else:
            boxes = boxes.with_note(place, text)
        self._package.put(part, boxes.data)

    def list(self, part: str) -> CommentList:
        """Return the comments of a part."""
        return CommentList(self._package.read(part))

    def ensured_comments(self) -> str:
        """Return the list of comments, made when there is none."""
        found = self.comments
        if found is not None:
            return found
        part = self._package.numbered(self._folder("comments"), ".xml")
        xml = f'<comments xmlns="{MAIN_NS}"><authors/><commentList/></comments>'
        self._package.put(part, f"{_HEAD}{self.book.in_dialect(xml)}".encode())
        self._package.set_content_type(part, _COMMENTS_TYPE)
        self.made.add(part)
        self._link(part, "comments")
        return part

    def _ensured_boxes(self) -> str:
        found = self.boxes
        if found is not None:
            return found
        part = self._package.numbered(self._folder("drawings/vmlDrawing"), ".vml")
        self._package.put(part, Boxes.empty(self._free_block()).data)
        self._package.ensure_default_type("vml", _BOXES_TYPE)
        if self._package.content_type(part) != _BOXES_TYPE:
            self._package.set_content_type(part, _BOXES_TYPE)
        self.made.add(part)
        link = self._link(part, "vmlDrawing")
        root = self.edit.frame.root
        space = in_dialect(self.book, RELATIONS)
        element = etree.Element(like(root, _BOXES), nsmap={"r": space})
        element.set(f"{{{space}}}id", link)
        insert_in_order(root, element, SHEET_ORDER)
        self.edit.refresh_frame()
        return part

    def _free_block(self) -> int:
        names = (one for one in self._package.names if one.lower().endswith(".vml"))
        used = {block for one in names for block in Boxes(self._package.read(one)).blocks()}
        return max(used, default=0) + 1

    def _folder(self, name: str) -> str:
        base = self.book.part.rpartition("/")[0]
        return f"{base}/{name}" if base else name

    def _link(self, part: str, kind: str) -> str:
        if self._package.find(rels_name(self._part)) is None:
            self.made.add(rels_name(self._part))
        type_ = in_dialect(self.book, f"{RELATIONS}/{kind}")
        return self._package.add_rel(self._part, type_, relative(self._part, part))

    # --- going ---------------------------------------------------------------------------------

    def remove(self, place: Place) -> None:
        """Take the note of a cell away with its box, and parts on which nothing is left."""
        part = self.comments
        if part is not None:
            left = self.list(part).without(place)
            self._package.put(part, left.data)
            if left.is_empty:
                self._drop(part)
        boxes = self.boxes
        if boxes is not None:
            rest = Boxes(self._package.read(boxes)).without(place)
            self._package.put(boxes, rest.data)
            if not any(rest.shapes()) and self.comments is None:
                self._drop_boxes(boxes)
        name = self._package.find(rels_name(self._part))
        if name is not None and not self._package.rels(self._part):
            self._package.remove(name)
            self.made.add(name)

    def _drop(self, part: str) -> None:
        for rel in self._package.rels(self._part):
            if rel.part and self._package.find(rel.part) == part:
                self._package.remove_rel(self._part, rel.id)
        self.made.update(remove_unused(self._package, part))

    def _drop_boxes(self, part: str) -> None:
        element = child(self.edit.frame.root, _BOXES)
        if element is not None:
            self.edit.frame.root.remove(element)
            self.edit.refresh_frame()
        self._drop(part)
        self._package.drop_default_type("vml")
