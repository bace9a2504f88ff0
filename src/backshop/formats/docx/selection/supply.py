"""What blocks name and other parts hold: styles, lists, notes, comments, each under its key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from backshop.formats.package.guard import Element

from ..text import name as n
from ..text.source import Document
from .imprint import Imprint, digest
from .side import Ref, references

_KEYS = {
    n.STYLE: ("style", n.STYLE_ID),
    n.w("num"): ("num", n.NUM_ID),
    n.w("abstractNum"): ("abstract", n.w("abstractNumId")),
    n.w("numPicBullet"): ("bullet", n.w("numPicBulletId")),
    n.w("footnote"): ("footnote", n.ID),
    n.w("endnote"): ("endnote", n.ID),
    n.w("comment"): ("comment", n.ID),
}
KINDS = ("styles", "numbering", "footnotes", "endnotes", "comments")
JOINED = frozenset({"styles", "numbering"})  # changes of all of them are one


@dataclass(frozen=True, slots=True)
class Entry:
    """A style, list, note or comment of one side."""

    element: Element
    print: str
    needs: frozenset[Ref]


@dataclass(frozen=True, slots=True)
class Shelf:
    """A part of one side as its entries, in order."""

    part: str
    root: Element
    entries: Mapping[Ref, Entry]


@dataclass(frozen=True, slots=True)
class Supply:
    """A part on both sides; None where a side has none."""

    kind: str
    old: Shelf | None
    new: Shelf | None

    def entry(self, key: Ref, *, is_new: bool) -> Entry | None:
        """Return an entry of a side."""
        shelf = self.new if is_new else self.old
        return shelf.entries.get(key) if shelf is not None else None

    @property
    def added(self) -> list[Ref]:
        """The entries only the new side has."""
        return [key for key in _entries(self.new) if key not in _entries(self.old)]

    @property
    def removed(self) -> list[Ref]:
        """The entries only the old side has."""
        return [key for key in _entries(self.old) if key not in _entries(self.new)]

    @property
    def changed(self) -> list[Ref]:
        """The entries that are another on the new side."""
        old, new = _entries(self.old), _entries(self.new)
        return [key for key in old if key in new and old[key].print != new[key].print]


def _entries(shelf: Shelf | None) -> Mapping[Ref, Entry]:
    return shelf.entries if shelf is not None else {}


def supplies(
    old: Document, new: Document, targets: tuple[Mapping[str, Mapping[str, str]], ...]
) -> Iterator[Supply]:
    """Yield the parts that hold entries; not those in which two entries have one key.

    `targets` says for each side where the relationships of a part lead.
    """
    for kind in KINDS:
        shelves = []
        is_plain = True
        for document, leads in zip((old, new), targets, strict=True):
            parts = document.trees.related(document.part, kind)
            is_plain &= len(parts) < 2
            shelf = _shelf(document, parts[0][1], kind, leads) if len(parts) == 1 else None
            is_plain &= shelf is not None or not parts
            shelves.append(shelf)
        if is_plain and any(shelves):
            yield Supply(kind, shelves[0], shelves[1])


def _shelf(
    document: Document, part: str, kind: str, targets: Mapping[str, Mapping[str, str]]
) -> Shelf | None:
    root = document.trees.root(part)
    imprint = Imprint(root, targets.get(part, {}))
    entries: dict[Ref, Entry] = {}
    for child in root:
        if imprint.is_trivial(child):
            continue
        key = entry_key(child, kind)
        if key in entries:
            return None
        entries[key] = Entry(
            child, digest(imprint.of(child)), frozenset(references([child], part)) - {key}
        )
    apart = frozenset(
        key for key, one in entries.items() if one.element.get(n.TYPE) and _is_note(key)
    )
    for key, one in list(entries.items()):
        if apart and _is_note(key) and key not in apart:  # notes need what parts them from the text
            entries[key] = Entry(one.element, one.print, one.needs | apart)
    return Shelf(part, root, entries)


def _is_note(key: Ref) -> bool:
    return key[0] in ("footnote", "endnote")


def entry_key(child: Element, kind: str) -> Ref:
    """Return what an entry is known by."""
    known = _KEYS.get(str(child.tag))
    if known is None:
        return f"{kind} {child.tag}", ""
    return known[0], child.get(known[1]) or ""
