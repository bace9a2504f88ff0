"""What blocks name and other parts hold: styles, lists, notes, comments, each under its key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lxml import etree

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


class Entry:
    """A style, list, note or comment of one side; printed only where its bytes do not decide."""

    def __init__(self, element: Element, part: str, imprint: Imprint) -> None:
        self.element = element
        self._part, self._imprint = part, imprint
        self.also: frozenset[Ref] = frozenset()  # needed beside what it names

    @cached_property
    def raw(self) -> bytes:
        """The entry as it is written."""
        return etree.tostring(self.element, with_tail=False)

    @cached_property
    def print(self) -> str:
        """All of the entry, hashed."""
        return digest(self._imprint.of(self.element))

    @cached_property
    def needs(self) -> frozenset[Ref]:
        """What it names."""
        return frozenset(references([self.element], self._part)) | self.also


@dataclass(frozen=True, slots=True)
class Shelf:
    """A part of one side as its entries, in order."""

    part: str
    root: Element
    entries: Mapping[Ref, Entry]
    targets: Mapping[str, str]  # where its relationships lead


@dataclass(frozen=True)
class Supply:
    """A part on both sides; None where a side has none."""

    kind: str
    old: Shelf | None
    new: Shelf | None

    def entry(self, key: Ref, *, is_new: bool) -> Entry | None:
        """Return an entry of a side."""
        shelf = self.new if is_new else self.old
        return shelf.entries.get(key) if shelf is not None else None

    @cached_property
    def added(self) -> list[Ref]:
        """The entries only the new side has."""
        return [key for key in _entries(self.new) if key not in _entries(self.old)]

    @cached_property
    def removed(self) -> list[Ref]:
        """The entries only the old side has."""
        return [key for key in _entries(self.old) if key not in _entries(self.new)]

    @cached_property
    def changed(self) -> list[Ref]:
        """The entries that are another on the new side."""
        old, new = _entries(self.old), _entries(self.new)
        both = [key for key in old if key in new]
        if self.old is None or self.new is None or self.old.targets != self.new.targets:
            return [key for key in both if old[key].print != new[key].print]
        other = [key for key in both if old[key].raw != new[key].raw]
        return [key for key in other if old[key].print != new[key].print]


def _entries(shelf: Shelf | None) -> Mapping[Ref, Entry]:
    return shelf.entries if shelf is not None else {}


def supplies(
    old: Document, new: Document, targets: tuple[Mapping[str, Mapping[str, str]], ...]
) -> Iterator[Supply]:
    """Yield the parts that hold entries; not those in which two entries have one key.

    `targets` says for each side where the relationships of a part lead.
    """
    for kind in KINDS:
        parts = [one.trees.related(one.part, kind) for one in (old, new)]
        names = [found[0][1] if len(found) == 1 else None for found in parts]
        if any(len(found) > 1 for found in parts) or _is_same(old, new, names, targets):
            continue
        shelves = [
            _shelf(document, name, kind, leads) if name is not None else None
            for document, name, leads in zip((old, new), names, targets, strict=True)
        ]
        if [shelf is None for shelf in shelves] == [name is None for name in names]:
            yield Supply(kind, shelves[0], shelves[1])


def _is_same(
    old: Document,
    new: Document,
    names: Sequence[str | None],
    targets: tuple[Mapping[str, Mapping[str, str]], ...],
) -> bool:
    """Whether neither side has a part, or both have it with the same bytes."""
    before, after = names
    if before is None or after is None:
        return before is after
    same = old.package.read(before) == new.package.read(after)
    return same and targets[0].get(before) == targets[1].get(after)


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
        entries[key] = Entry(child, part, imprint)
    apart = frozenset(k for k, one in entries.items() if _is_note(k) and one.element.get(n.TYPE))
    for key, one in entries.items():
        if _is_note(key) and key not in apart:  # notes need what parts them from the text
            one.also = apart
    return Shelf(part, root, entries, targets.get(part, {}))


def _is_note(key: Ref) -> bool:
    return key[0] in ("footnote", "endnote")


def entry_key(child: Element, kind: str) -> Ref:
    """Return what an entry is known by."""
    known = _KEYS.get(str(child.tag))
    if known is None:
        return f"{kind} {child.tag}", ""
    return known[0], child.get(known[1]) or ""
