"""Notes and links that go where their cells go (F39.6).

A note is stored in three places: its text, the drawing of its box, and its thread where people
answered. The parts are changed letter by letter; all that is not about a moved cell stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from ...book.sheet_edit import SheetEdit
from ...book.workbook import Book, Sheet, child, children, rel_id
from ...syntax.address import Area, cell_name, parse_area, parse_cell
from ..session import Session, Target

Places: TypeAlias = "Callable[[int, int], tuple[int, int] | None]"
"""Where a cell goes; None: it goes out."""

_NOTE = re.compile(
    rb"<((?:[\w.\-]+:)?)(comment|threadedComment)(?=[\s>])[^>]*?"
    rb"(?:/>|>.*?</(?:[\w.\-]+:)?\2\s*>)",
    re.S,
)
_REF = re.compile(rb"(\sref=[\"'])([^\"']*)([\"'])")
_SHAPE = re.compile(rb"<((?:[\w.\-]+:)?)shape(?=[\s>]).*?</(?:[\w.\-]+:)?shape\s*>", re.S)
_NOTE_BOX = re.compile(rb"ObjectType=[\"']Note[\"']")
_ROW = re.compile(rb"(<(?:[\w.\-]+:)?Row>\s*)(\d+)(\s*</)")
_COLUMN = re.compile(rb"(<(?:[\w.\-]+:)?Column>\s*)(\d+)(\s*</)")
_ANCHOR = re.compile(rb"(<(?:[\w.\-]+:)?Anchor>)([^<]*)(</)")
_PARTS = ("comments", "threadedComment", "vmlDrawing")


def carry(session: Session, edit: SheetEdit, places: Places) -> None:
    """Let the notes and links of a sheet follow its cells; they are there when it is flushed."""
    carry_notes(session, edit.sheet, places)
    _links(session, edit, places)


def carry_notes(session: Session, sheet: Sheet, places: Places) -> None:
    """Let the notes of a sheet follow its cells."""
    for kind in _PARTS:
        rewrite = partial(moved_boxes if kind == "vmlDrawing" else moved_notes, places=places)
        for part in session.book.sheet_rels(sheet, kind):
            session.rewrite(part, rewrite)


def moved_notes(data: bytes, places: Places) -> bytes:
    """Return the texts of notes, or their threads, under the new names of their cells."""

    def note(match: re.Match[bytes]) -> bytes:
        end = match[0].index(b">")
        tag = match[0][:end]
        ref = _REF.search(tag)
        place = parse_cell(ref[2].decode("ascii", "replace")) if ref else None
        if ref is None or place is None:
            return match[0]
        there = places(*place)
        if there is None:
            return b""
        if there == place:
            return match[0]
        return tag[: ref.start(2)] + cell_name(*there).encode() + match[0][ref.end(2) :]

    return _NOTE.sub(note, data)


def moved_boxes(data: bytes, places: Places) -> bytes:
    """Return the drawings of notes beside the new places of their cells."""

    def box(match: re.Match[bytes]) -> bytes:
        shape = match[0]
        row, col = _ROW.search(shape), _COLUMN.search(shape)
        if row is None or col is None or not _NOTE_BOX.search(shape):
            return shape
        here = (int(row[2]) + 1, int(col[2]) + 1)
        there = places(*here)
        if there is None or there == here:
            return b"" if there is None else shape
        shape = _ROW.sub(rb"\g<1>%d\g<3>" % (there[0] - 1), shape, count=1)
        shape = _COLUMN.sub(rb"\g<1>%d\g<3>" % (there[1] - 1), shape, count=1)
        by = (there[0] - here[0], there[1] - here[1])
        return _ANCHOR.sub(lambda found: found[1] + _anchored(found[2], *by) + found[3], shape)

    return _SHAPE.sub(box, data)


def _anchored(anchor: bytes, rows: int, cols: int) -> bytes:
    """Return the place of a box that goes along: its columns and rows, each with an offset."""
    pieces = anchor.split(b",")
    if len(pieces) != 8 or not all(piece.strip().lstrip(b"-").isdigit() for piece in pieces):
        return anchor
    for at, by in ((0, cols), (2, rows), (4, cols), (6, rows)):
        blank = pieces[at][: len(pieces[at]) - len(pieces[at].lstrip())]
        pieces[at] = blank + str(max(0, int(pieces[at]) + by)).encode()
    return b",".join(pieces)


def noted_cells(book: Book, sheet: Sheet) -> set[tuple[int, int]]:
    """Return the cells that have a note, or a thread of comments."""
    found = set()
    for kind in ("comments", "threadedComment"):
        for part in book.sheet_rels(sheet, kind):
            for item in book.package.xml(part).iter("{*}comment", "{*}threadedComment"):
                place = parse_cell(item.get("ref") or "")
                if place is not None:
                    found.add(place)
    return found


# --- links --------------------------------------------------------------------------------------


def _links(session: Session, edit: SheetEdit, places: Places) -> None:
    """Let links of cells, or of cells side by side in one row, follow them."""
    parent = child(edit.frame.root, "hyperlinks")
    changed = False
    for item in children(parent, "hyperlink"):
        area = parse_area(item.get("ref") or "")
        if parent is None or area is None or area.height > 1:
            continue  # a link over several rows belongs to the place
        ends = places(area.row1, area.col1), places(area.row2, area.col2)
        if ends[0] is None or ends[1] is None:
            parent.remove(item)
            _drop_address(session, edit, rel_id(item))
            changed = True
            continue
        moved = Area(*ends[0], *ends[1])
        if moved != area and moved.width == area.width:
            item.set("ref", str(moved))
            changed = True
    if not changed or parent is None:
        return
    if not len(parent):
        edit.frame.root.remove(parent)
    session.targets.append(Target(edit.sheet.name, None, frozenset({"hyperlinks"})))
    edit.refresh_frame()


def _drop_address(session: Session, edit: SheetEdit, link: str | None) -> None:
    """Take the address of a link out when nothing else leads there."""
    used = {rel_id(item) for item in edit.frame.root.iter("{*}hyperlink")}
    if link and link not in used and edit.sheet.part:
        rels = session.book.package.rels(edit.sheet.part)
        session.addresses.update(rel.target for rel in rels if rel.id == link)
        session.book.package.remove_rel(edit.sheet.part, link)
