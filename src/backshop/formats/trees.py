"""The XML parts of a package while they are edited: each parsed once, written back once.

Files in the strict dialect of the standard use other namespaces for the same words. Their parts are
translated on the way in and back on the way out, so that formats know one vocabulary.
"""

from __future__ import annotations

import re

from lxml import etree

from .errors import fail
from .guard import parse_xml
from .package import Package, Relationship, canonical, serialise

Element = etree._Element

_STRICT = b"http://purl.oclc.org/ooxml/"
_LOOSE = b"http://schemas.openxmlformats.org/"
_TRANSLATED = re.compile(rb"http://purl\.oclc\.org/ooxml/([A-Za-z]+)/([A-Za-z/]*)")
_BACK = re.compile(rb"http://schemas\.openxmlformats\.org/([A-Za-z]+)/2006/([A-Za-z/]*)")
_FAMILIES = frozenset({b"wordprocessingml", b"presentationml", b"drawingml", b"officeDocument"})


class Trees:
    """Parsed parts of one package; `touch` those that change, `flush` before saving."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._roots: dict[str, Element] = {}
        self._strict: set[str] = set()
        self._touched: dict[str, None] = {}
        self._rels: dict[str, tuple[Relationship, ...]] = {}

    def root(self, name: str) -> Element:
        """Return the root of a part, the same one at every call."""
        if name not in self._roots:
            data = self.package.read(name)
            if _STRICT in data[:8192] and _BACK.search(data) is None:  # else no way back
                self._strict.add(name)
                data = _TRANSLATED.sub(_to_loose, data)
            self._roots[name] = parse_xml(data)
        return self._roots[name]

    def touch(self, name: str) -> Element:
        """Return the root of a part that is going to be changed."""
        self._touched[name] = None
        return self.root(name)

    def add(self, name: str, root: Element, content_type: str) -> None:
        """Add a new part."""
        self._roots[name] = root
        self._touched[name] = None
        self.package.put(name, serialise(root))
        self.package.set_content_type(name, content_type)

    def forget(self, name: str) -> None:
        """Drop a part that is removed from the package."""
        self._roots.pop(name, None)
        self._touched.pop(name, None)
        self._rels.pop(name, None)
        self.package.remove(name)

    def flush(self) -> None:
        """Give every touched part back to the package; an unchanged one keeps its bytes."""
        for name in self._touched:
            root = self._roots[name]
            if name in self._strict:
                self._put_strict(name, root)
            else:
                self.package.put_xml(name, root)

    def _put_strict(self, name: str, root: Element) -> None:
        before = self.package.original(name)
        data = _BACK.sub(_to_strict, serialise(root, like=self.package.read(name)))
        if before is not None and canonical(parse_xml(before)) == canonical(parse_xml(data)):
            data = before
        self.package.put(name, data)

    def rels(self, part: str) -> tuple[Relationship, ...]:
        """Return the relationships of a part, read once."""
        if part not in self._rels:
            self._rels[part] = self.package.rels(part)
        return self._rels[part]

    def add_rel(self, part: str, type_: str, target: str, *, external: bool = False) -> str:
        """Add a relationship and return its id."""
        self._rels.pop(part, None)
        return self.package.add_rel(part, type_, target, external=external)

    def remove_rel(self, part: str, rel_id: str) -> None:
        """Take a relationship out."""
        self._rels.pop(part, None)
        self.package.remove_rel(part, rel_id)

    def related(self, part: str, kind: str) -> list[tuple[Relationship, str]]:
        """Return the relationships of a kind (`styles`) whose part exists, in file order."""
        found = []
        for rel in self.rels(part):
            if rel.type.rpartition("/")[2] != kind or rel.part is None:
                continue
            name = self.package.find(rel.part)
            if name is not None:
                found.append((rel, name))
        return found

    def first_related(self, part: str, kind: str) -> str | None:
        """Return the name of the first part of that kind."""
        return next((name for _, name in self.related(part, kind)), None)

    def main_part(self, root_tag: str) -> str:
        """Return the part the package is about.

        Raises:
            FormatError: `corrupt_file` when it is missing or something else.
        """
        name = self.first_related("", "officeDocument")
        if name is None:
            raise fail("corrupt_file", "the package has no main part")
        if self.root(name).tag != root_tag:
            raise fail("corrupt_file", "the main part is not what the file's name says")
        return name


def _to_loose(match: re.Match[bytes]) -> bytes:
    family, rest = match.groups()
    return _LOOSE + family + b"/2006/" + rest if family in _FAMILIES else match.group()


def _to_strict(match: re.Match[bytes]) -> bytes:
    family, rest = match.groups()
    return _STRICT + family + b"/" + rest if family in _FAMILIES else match.group()
