"""Puts charts and pictures onto a sheet and takes them off, and notes what that may change."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from backshop.formats.package.package import canonical_element
from backshop.formats.write.operation import problem

from ...book.protection import refusal
from ...book.sheet_edit import SheetEdit
from ...book.workbook import Book, Sheet, child, truth
from ...drawing.box import Box, written_box
from ...drawing.cell_size import EMU
from ...drawing.drawing_edit import SPACES, DrawingEdit, declared
from ...drawing.drawing_part import DrawingPart, Identity, anchors_of, identity
from .. import structure
from ..session import Session

_CHART_TYPE = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"


@dataclass
class DrawingChange:
    """What operations did to a drawing; says whether two versions of it differ in just that."""

    added: list[Identity] = field(default_factory=list)
    removed: list[Identity] = field(default_factory=list)

    def __call__(self, before: bytes, after: bytes) -> bool:
        """Whether `after` is `before` without what was taken off and with what was put on.

        What came and went is known by number and name: lines of the sheet may have moved it.
        """
        expected, found = _without(before, self.removed), _without(after, self.added)
        return expected is not None and expected == found


def _without(data: bytes, gone: Sequence[Identity]) -> list[bytes] | None:
    """Return the anchors of a drawing but some; None where one of those is not there."""
    anchors = anchors_of(data)
    for wanted in gone:
        known = (at for at, anchor in enumerate(anchors) if identity(anchor) == wanted)
        found = next(known, None)
        if found is None:
            return None
        del anchors[found]
    return [canonical_element(anchor) for anchor in anchors]


def refuse_locked(edit: SheetEdit, where: str) -> None:
    """Refuse to change the drawings of a sheet that is protected against it."""
    protection = child(edit.frame.root, "sheetProtection")
    if edit.frame.protected and protection is not None and truth(protection.get("objects")):
        raise refusal(edit.frame, where, "the drawings of the sheet are protected")


def refuse_locked_chart(book: Book, sheet: Sheet, where: str) -> None:
    """Refuse to change the chart of a chart sheet that is protected, and macro sheets at all."""
    structure.refuse_macro_sheet(sheet, where)
    root = book.package.xml(sheet.part) if sheet.part is not None else None
    protection = child(root, "sheetProtection")
    if protection is not None and truth(protection.get("content")):
        raise problem("sheet_protected", where, "the chart sheet is protected")


class Attachment:
    """The drawing of a sheet while operations put something on it or take something off."""

    def __init__(self, session: Session, edit: SheetEdit, where: str) -> None:
        self._session, self._where = session, where
        self._drawing = DrawingEdit(session.book, edit, edit.sheet, session.made)
        self._package = session.book.package
        others = self._drawing.sharing()
        if others:
            what = f"the sheet shares its drawing with {others[0]!r}, which would change too"
            raise problem("op_conflict", where, what)

    def add_chart(self, box: Box, name: str, data: bytes) -> str:
        """Add a chart; return the name of its part."""
        part = self._package.numbered(self._drawing.folder("charts/chart"), ".xml")
        self._drawing.add_part(part, data, _CHART_TYPE)
        inside = (
            '<xdr:graphicFrame macro=""><xdr:nvGraphicFramePr>'
            '<xdr:cNvPr id="{id}" name="{name}"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr>'
            '<xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm><a:graphic>'
            f'<a:graphicData uri="{SPACES["c"]}"><c:chart r:id="{{link}}"/></a:graphicData>'
            "</a:graphic></xdr:graphicFrame>"
        )
        self._anchor(box, inside, part, "chart", name)
        return part

    def add_picture(self, box: Box, name: str, description: str, data: bytes, ending: str) -> None:
        """Add a picture; the same content is stored once."""
        part = self._stored(data, ending)
        cx, cy = (round(side * EMU) for side in box.size or (0, 0))
        told = f' descr="{_attribute(description)}"' if description else ""
        inside = (
            f'<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="{{id}}" name="{{name}}"{_braced(told)}/>'
            '<xdr:cNvPicPr><a:picLocks noChangeAspect="1"/></xdr:cNvPicPr></xdr:nvPicPr>'
            '<xdr:blipFill><a:blip r:embed="{link}"/><a:stretch><a:fillRect/></a:stretch>'
            '</xdr:blipFill><xdr:spPr><a:xfrm><a:off x="0" y="0"/>'
            f'<a:ext cx="{cx}" cy="{cy}"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/>'
            "</a:prstGeom></xdr:spPr></xdr:pic>"
        )
        self._anchor(box, inside, part, "image", name)

    def _stored(self, data: bytes, ending: str) -> str:
        folder = self._drawing.folder("media/")
        wanted = hashlib.sha256(data).digest()
        for name in self._package.names:
            alike = name.startswith(folder) and self._package.size(name) == len(data)
            if alike and hashlib.sha256(self._package.read(name)).digest() == wanted:
                return name
        part = self._package.numbered(f"{folder}image", f".{ending}")
        kind = f"image/{ending}"
        self._package.put(part, data)
        self._package.ensure_default_type(ending, kind)
        if self._package.content_type(part) != kind:
            self._package.set_content_type(part, kind)
        self._session.made.add(part)
        return part

    def _anchor(self, box: Box, inside: str, target: str, kind: str, name: str) -> None:
        drawing = self._drawing.ensured()
        link = self._drawing.link(drawing, target, kind)
        before = DrawingPart.of(self._session.book, drawing)
        number = max(before.ids, default=1) + 1
        filled = inside.format(id=number, name=_attribute(name), link=link)
        spaces = before.spaces
        anchor = declared(written_box(box, filled), spaces, self._session.book)
        added = self._drawing.insert(drawing, anchor)
        self._change(drawing).added.append(identity(added))

    def _change(self, drawing: str) -> DrawingChange:
        known = self._session.expected_parts.get(drawing)
        if not isinstance(known, DrawingChange):
            known = self._session.expected_parts[drawing] = DrawingChange()
        return known

    def remove(self, drawing: str, at: int) -> None:
        """Take an anchor off, and the parts that nothing else leads to."""
        change = self._change(drawing)
        led = self._addresses(drawing)
        key = identity(self._drawing.remove(drawing, at))
        self._session.addresses |= led - self._addresses(drawing)
        if key in change.added:
            change.added.remove(key)
        else:
            change.removed.append(key)

    def _addresses(self, drawing: str) -> set[str]:
        """Return where a drawing leads to outside of the workbook."""
        package = self._session.book.package
        rels = package.rels(drawing) if drawing in package else ()
        return {rel.target for rel in rels if rel.part is None}


def free_name(names: Sequence[str], stem: str) -> str:
    """Return the next name of its sort that nothing on a sheet has: `Chart 3`."""
    taken = {name.lower() for name in names}
    number = 1
    while f"{stem} {number}".lower() in taken:
        number += 1
    return f"{stem} {number}"


def _attribute(text: str) -> str:
    return escape(text).replace("\n", "&#10;").replace("\t", "&#9;")


def _braced(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
