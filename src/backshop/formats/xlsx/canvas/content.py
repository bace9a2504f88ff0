"""What a cell shows: its text as its number format has it, in pieces of different looks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lxml import etree

from backshop.formats.canvas.face import Face, family
from backshop.formats.canvas.text_block import Run
from backshop.formats.errors import FormatError
from backshop.formats.package.guard import parse_xml

from ..book.array import Unshown
from ..book.sheet_xml import RawCell, SheetXml, unescape_string
from ..book.shown_text import shown_text
from ..book.workbook import Book, Value, child, local
from ..style.look import Looks
from .cell_look import CellLook, is_struck, points, shifted

_MAIN = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_MOST_CHARS = 4_000  # of a text that are drawn; a page has no more room
_WAITING = "#7f7f7f"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The value of a cell and the runs it is shown by."""

    value: Value
    runs: tuple[Run, ...] = ()
    is_waiting: bool = False  # a formula stands for a result that is not stored

    @property
    def is_number(self) -> bool:
        """Whether it stands at the right and is never cut."""
        return self.value.number is not None and self.value.kind in ("number", "date")


class Contents:
    """Reads what cells show."""

    def __init__(self, book: Book, xml: SheetXml, unshown: Unshown, looks: Looks) -> None:
        self._book, self._xml, self._unshown, self._looks = book, xml, unshown, looks

    def of(self, cell: RawCell, look: CellLook) -> Content:
        """Return what a cell shows."""
        value = self._book.value(cell)
        formula = self._waiting(cell)
        if formula is not None:
            run = replace(run_of(f"={formula}"[:_MOST_CHARS], look), color=_WAITING)
            return Content(value=value, runs=(run,), is_waiting=True)
        if value.kind == "blank":
            return Content(value=value)
        if value.kind == "string" and self._book.has_runs(cell, self._xml):
            runs = self._rich(cell, look)
            if runs:
                return Content(value=value, runs=runs)
        text = shown_text(self._book, value, look.code)
        return Content(value=value, runs=(run_of(text[:_MOST_CHARS], look),) if text else ())

    def _waiting(self, cell: RawCell) -> str | None:
        if cell.formula is None:
            return self._unshown.formula(cell)
        if not self._book.is_uncached(cell):
            return None
        return self._book.formula(cell, self._xml)

    def _rich(self, cell: RawCell, look: CellLook) -> tuple[Run, ...]:
        shared = cell.kind == "s"
        prefix = self._book.strings.prefix if shared else self._xml.words.prefix
        raw = (
            self._book.strings.raw(cell.value or "")
            if shared
            else self._xml.data[cell.start : cell.end]
        )
        name = prefix.rstrip(b":")
        spaces = b' xmlns="' + _MAIN + b'"' + (b' xmlns:%s="%s"' % (name, _MAIN) if name else b"")
        try:
            root = parse_xml(b"<runs" + spaces + b">" + raw + b"</runs>")
        except FormatError:
            return ()
        if not shared:
            root = next(root.iter("{*}is"), root)
        return tuple(self._runs(root, look))

    def _runs(self, root: etree._Element, look: CellLook) -> list[Run]:
        found: list[Run] = []
        for item in root:
            held = child(item, "t") if local(item) == "r" else item if local(item) == "t" else None
            text = held.text if held is not None else None
            if text:
                shown = unescape_string(text.replace("&", "&amp;").encode())
                found.append(self._run(shown, child(item, "rPr"), look))
        return found

    def _run(self, text: str, properties: etree._Element | None, look: CellLook) -> Run:
        plain = run_of(text[:_MOST_CHARS], look)
        if properties is None:
            return plain
        said = self._looks.font(properties)
        name, size = child(properties, "rFont"), said["size"]
        letters = points(size) if isinstance(size, int | float) else plain.size
        raised = child(properties, "vertAlign")
        script, rise = shifted((raised.get("val") or "") if raised is not None else "")
        return replace(
            plain,
            face=Face(
                family(name.get("val")) if name is not None else plain.face.family,
                bool(said["bold"]),
                bool(said["italic"]),
            ),
            size=letters * script,
            rise=letters * rise,
            color=str(said["color"] or "#000000").lower(),
            underline=bool(said["underline"]),
            strike=is_struck(properties),
        )


def run_of(text: str, look: CellLook) -> Run:
    """Return a text in the look of its cell."""
    return Run(
        text=text,
        face=look.face,
        size=look.size,
        color=look.color,
        underline=look.underline,
        strike=look.strike,
        rise=look.rise,
    )
