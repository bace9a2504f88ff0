"""Opens a document, guarded, and knows its parts: body, styles, lists, headers, notes, comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from backshop.formats.errors import fail
from backshop.formats.package.guard import Element
from backshop.formats.package.package import Package
from backshop.formats.package.xml_tree import Trees
from backshop.formats.protocol import Source

from . import name as n
from .document import Block, Body, parent_of
from .stylesheet import Numberings, StyleSheet

_NOTE_KINDS = {"footnotes": n.w("footnote"), "endnotes": n.w("endnote")}


@dataclass(frozen=True, slots=True)
class Margin:
    """A header or footer part and how the document uses it."""

    part: str
    kind: str  # header, footer
    type: str  # default, first, even
    root: Element


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote or endnote a person wrote."""

    kind: str  # footnote, endnote
    id: str
    element: Element


class Document:
    """An opened document; trees are parsed when first asked for."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.trees = Trees(package)
        self.part = self.trees.main_part(n.DOCUMENT)
        found = self.trees.root(self.part).find(n.BODY)
        if found is None:
            raise fail("corrupt_file", "the document has no body")
        self.body_element: Element = found

    @classmethod
    def open(cls, source: Source) -> Document:
        """Scan and open a document.

        Raises:
            FormatError: whatever the guard finds, `corrupt_file` when it is no document.
        """
        return cls(Package.open(source))

    @cached_property
    def styles(self) -> StyleSheet:
        """The styles of the document."""
        return StyleSheet(self._related_root("styles"))

    @cached_property
    def numberings(self) -> Numberings:
        """The lists of the document."""
        return Numberings(self._related_root("numbering"), self.styles)

    def _related_root(self, kind: str) -> Element | None:
        part = self.trees.first_related(self.part, kind)
        return self.trees.root(part) if part else None

    def body(self, known: Mapping[Element, Block] | None = None) -> Body:
        """Return the blocks and sections as they are now; blocks of `known` are not read again."""
        return Body(self.body_element, self.styles, self.numberings, known or {})

    def targets(self) -> dict[str, str]:
        """Return the parts that the main one leads to, by the ids of its relationships."""
        leads = {rel.id: rel.part for rel in reversed(self.package.rels(self.part))}
        found = {rel_id: self.package.find(part) for rel_id, part in leads.items() if part}
        return {rel_id: part for rel_id, part in found.items() if part is not None}

    def margins(self) -> list[Margin]:
        """Return the headers and footers in the order the sections name them, each once."""
        targets = self.targets()
        found: dict[str, Margin] = {}
        for reference in self.body_element.iter(n.w("headerReference"), n.w("footerReference")):
            part = targets.get(reference.get(n.R_ID) or "")
            if part is None or part in found:
                continue
            kind = "header" if reference.tag == n.w("headerReference") else "footer"
            type_ = reference.get(n.TYPE) or "default"
            found[part] = Margin(part, kind, type_, self.trees.root(part))
        return list(found.values())

    def notes(self) -> Iterator[Note]:
        """Yield footnotes, then endnotes; not the separators."""
        for kind, tag in _NOTE_KINDS.items():
            root = self._related_root(kind)
            for element in root.iterchildren(tag) if root is not None else ():
                if element.get(n.TYPE) in (None, "normal"):
                    yield Note(kind.removesuffix("s"), element.get(n.ID) or "", element)

    def note_parts(self) -> list[str]:
        """Return the parts that hold footnotes and endnotes."""
        found = (self.trees.first_related(self.part, kind) for kind in _NOTE_KINDS)
        return [part for part in found if part is not None]

    def comments(self) -> list[Element]:
        """Return the comments of the document."""
        root = self._related_root("comments")
        return list(root.iterchildren(n.w("comment"))) if root is not None else []

    def sections(self) -> list[Element]:
        """Return the properties of the sections in order; not those before a tracked change."""
        found = self.body_element.iter(n.SECT_PR)
        return [section for section in found if parent_of(section).tag != n.w("sectPrChange")]

    def last_section(self) -> Element | None:
        """Return the properties of the last section, which close the body; it may have none."""
        last = next(self.body_element.iterchildren("*", reversed=True), None)
        return last if last is not None and last.tag == n.SECT_PR else None

    def has_revisions(self) -> bool:
        """Whether tracked changes are in the body or tracking is on (F19.7)."""
        if next(self.body_element.iter(*n.REVISIONS), None) is not None:
            return True
        settings = self._related_root("settings")
        return settings is not None and settings.find(n.w("trackRevisions")) is not None
