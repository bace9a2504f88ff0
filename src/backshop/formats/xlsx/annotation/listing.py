"""Notes and links as maps and reads tell them (F8.14)."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json

from ..book.workbook import Book, Sheet
from ..syntax.address import Area, cell_name
from .link import links_of
from .note import THREAD, notes_of, threads_of

ATTACHED_LISTED = 20  # of a sheet, in its map
_SHOWN_CHARS = 160  # of a note, in a map


@dataclass(frozen=True, slots=True)
class ToldNote:
    """A note, or a thread of comments with all its texts."""

    place: tuple[int, int]
    author: str
    text: str
    is_thread: bool = False

    @property
    def words(self) -> str:
        """How a read tells it."""
        if self.is_thread:
            return f"thread: {self.text}"
        return f"note by {self.author}: {self.text}" if self.author else f"note: {self.text}"

    def to_json(self) -> dict[str, Json]:
        """Return it as a map tells it, long texts cut."""
        is_long = len(self.text) > _SHOWN_CHARS
        text = f"{self.text[: _SHOWN_CHARS - 1]}…" if is_long else self.text
        told: dict[str, Json] = {"cell": cell_name(*self.place), "text": text}
        if self.author:
            told["author"] = self.author
        return {**told, "thread": True} if self.is_thread else told


@dataclass(frozen=True, slots=True)
class ToldLink:
    """A link and where it leads."""

    area: Area
    target: str

    @property
    def place(self) -> tuple[int, int]:
        """Its first cell."""
        return self.area.row1, self.area.col1

    @property
    def words(self) -> str:
        """How a read tells it."""
        over = "" if self.area.count == 1 else f" of {self.area}"
        return f"link{over} to {self.target}"

    def to_json(self) -> dict[str, Json]:
        """Return it as a map tells it."""
        is_long = len(self.target) > _SHOWN_CHARS
        target = f"{self.target[: _SHOWN_CHARS - 1]}…" if is_long else self.target
        return {"range": str(self.area), "target": target}


def told_notes(book: Book, sheet: Sheet) -> list[ToldNote]:
    """Return the notes and threads of a sheet in the order of their cells."""
    threads = threads_of(book, sheet)
    found = [
        ToldNote(place, "", "\n".join(texts), is_thread=True) for place, texts in threads.items()
    ]
    found += [
        ToldNote(note.place, note.author, note.text)
        for note in notes_of(book, sheet).values()
        if note.place not in threads and not note.author.startswith(THREAD)
    ]
    return sorted(found, key=lambda one: one.place)


def told_links(book: Book, sheet: Sheet, root: Element | None) -> list[ToldLink]:
    """Return the links of a sheet in the order of their cells."""
    links = links_of(book.package, sheet.part, root)
    found = [ToldLink(link.area, link.target.removeprefix("#")) for link in links]
    return sorted(found, key=lambda one: (one.area.row1, one.area.col1))
