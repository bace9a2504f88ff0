"""Operations on notes of cells: one comes, changes or goes (F41.8)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from backshop.formats.errors import fail
from backshop.formats.package.guard import parse_xml
from backshop.formats.protocol import Op
from backshop.formats.write.operation import Arg, problem, strip_controls

from ...annotation.note import Note, notes_in, notes_of, threads_of
from ...annotation.note_box import Boxes
from ...annotation.note_edit import NoteEdit
from ...book.sheet_edit import SheetEdit
from ...syntax.address import Area, cell_name, parse_cell
from ..cell_operation import area_of
from ..drawing.attachment import refuse_locked
from ..session import Session

SET_ARGS = (
    Arg("sheet", str, required=True),
    Arg("cell", str, required=True),
    Arg("text", str, required=True, aliases=("note",)),
    Arg("author", str),
)
DELETE_ARGS = (Arg("sheet", str, required=True), Arg("cell", str, required=True))
TEXT_MAX, AUTHOR_MAX = 32_767, 54  # characters, as in Excel
AUTHOR = "Backshop"
_SHOWN_CHARS = 60
Said = tuple[str, bytes]


def set_note(session: Session, op: Op) -> str:
    """Write the note of a cell, a new one or another text for the one it has."""
    text, author = _text(session, op), _author(session, op)
    edit = session.edit_or_name(str(op.args["sheet"]), op.where)
    edit, place, notes = _opened(session, edit, op)
    was = notes_of(session.book, edit.sheet).get(place)
    if was is None:
        notes.add(place, author or AUTHOR, text)
        verb = "added"
    elif (was.text, was.author) == (text, author or was.author):
        return f"{edit.sheet.name}!{cell_name(*place)} has this note already"
    else:
        notes.change(place, author, text)
        verb = "changed"
    now = notes_of(session.book, edit.sheet).get(place)
    if now is None or now.text != text:
        raise fail("verify_failed", "a written note reads back differently")
    _note_change(session, edit, notes, was, now)
    shown = text.split("\n")[0]
    shown = shown if len(shown) <= _SHOWN_CHARS else f"{shown[: _SHOWN_CHARS - 1]}…"
    return f"{edit.sheet.name}!{cell_name(*place)}: note {verb} (“{shown}”)"


def delete_note(session: Session, op: Op) -> str:
    """Take the note of a cell away."""
    edit = session.edit(str(op.args["sheet"]), op.where)
    edit, place, notes = _opened(session, edit, op)
    was = notes_of(session.book, edit.sheet).get(place)
    if was is None:
        known = [cell_name(*one) for one in sorted(notes_of(session.book, edit.sheet))]
        what = f"{cell_name(*place)} has no note"
        raise problem("no_match", f"{op.where}.cell", what, known)
    _note_change(session, edit, notes, was, None)
    notes.remove(place)
    return f"{edit.sheet.name}!{cell_name(*place)}: note deleted"


def _opened(
    session: Session, edit: SheetEdit, op: Op
) -> tuple[SheetEdit, tuple[int, int], NoteEdit]:
    """Return the sheet, the cell that is meant, and the notes; refuse what is not changed here."""
    name, where = edit.sheet.name, f"{op.where}.cell"
    place = parse_cell(str(op.args["cell"]))
    if place is None:
        area = area_of(op.args["cell"], where, edit)
        raise problem("bad_range", where, f"a note stands at one cell, {area} is several")
    merged = edit.frame.merge_at(*place)
    if merged and place != (merged.row1, merged.col1):
        session.warnings.add("merged_redirect", where=cell_name(*place))
        place = (merged.row1, merged.col1)
    refuse_locked(edit, f"{op.where}.sheet")
    if place in threads_of(session.book, edit.sheet):
        what = f"{cell_name(*place)} has a thread of comments, which is neither changed nor deleted"
        raise problem("op_conflict", where, what, ["people answer or resolve it in their program"])
    session.flush()
    edit = session.edit(name, op.where)
    notes = NoteEdit(session.book, edit, session.made)
    if (other := notes.shared_with()) is not None:
        what = f"the sheet shares its notes with {other.name!r}, which would change too"
        raise problem("op_conflict", op.where, what)
    return edit, place, notes


def _text(session: Session, op: Op) -> str:
    where = f"{op.where}.text"
    said = re.sub(r"\r\n?", "\n", str(op.args["text"]))
    said = strip_controls(said, session.warnings, where)
    if not said.strip():
        raise problem("bad_value", where, "a note has a text", ["delete_note takes one away"])
    if len(said) > TEXT_MAX:
        raise problem("too_large", where, f"a note has at most {TEXT_MAX} characters")
    return said


def _author(session: Session, op: Op) -> str | None:
    if op.args["author"] is None:
        return None
    where = f"{op.where}.author"
    said = strip_controls(str(op.args["author"]), session.warnings, where).strip()
    if not said or len(said) > AUTHOR_MAX or "\n" in said or said.lower().startswith("tc="):
        raise problem("bad_value", where, f"a name of 1 to {AUTHOR_MAX} characters")
    return said


# --- what may differ ----------------------------------------------------------------------------


@dataclass
class ListChange:
    """What operations did to a list of comments; says whether two versions differ in just that.

    Notes are known by author and text: lines of the sheet may have moved them.
    """

    added: Counter[Said] = field(default_factory=Counter)
    removed: Counter[Said] = field(default_factory=Counter)

    def __call__(self, before: bytes, after: bytes) -> bool:
        """Whether the notes after are those before, but for what came and went."""
        return _said(before) - self.removed + self.added == _said(after)


@dataclass
class BoxChange:
    """What operations did to the boxes of notes."""

    added: set[bytes] = field(default_factory=set)
    removed: set[bytes] = field(default_factory=set)

    def __call__(self, before: bytes, after: bytes) -> bool:
        """Whether all other shapes are the same bytes."""
        old, new = Boxes(before).without_ids(self.removed), Boxes(after).without_ids(self.added)
        return old.without_type() == new.without_type()


def _said(data: bytes) -> Counter[Said]:
    return Counter((note.author, note.said) for note in notes_in(parse_xml(data)))


def _note_change(
    session: Session, edit: SheetEdit, notes: NoteEdit, was: Note | None, now: Note | None
) -> None:
    """Let the report of effects know what may differ in the parts, and which cell is meant."""
    part, boxes = notes.comments, notes.boxes
    note = now or was
    assert note is not None, "a note came, changed or went"
    if part is not None:
        change = session.expected_parts.setdefault(part, ListChange())
        assert isinstance(change, ListChange), "a list of comments is changed here only"
        if was is not None:
            _count(change.removed, change.added, (was.author, was.said))
        if now is not None:
            _count(change.added, change.removed, (now.author, now.said))
    if boxes is not None and (was is None or now is None):
        drawn = session.expected_parts.setdefault(boxes, BoxChange())
        assert isinstance(drawn, BoxChange), "boxes of notes are changed here only"
        shape = Boxes(session.book.package.read(boxes)).shape(note.place)
        number = Boxes(shape).ids() if shape else set()
        if now is not None:
            drawn.added |= number
        else:
            drawn.removed |= number - drawn.added
            drawn.added -= number
    session.aim(edit, Area(*note.place, *note.place), "note")


def _count(own: Counter[Said], other: Counter[Said], said: Said) -> None:
    """Count something that came or went, once: what came and goes again did neither."""
    if other[said] > 0:
        other[said] -= 1
    else:
        own[said] += 1
