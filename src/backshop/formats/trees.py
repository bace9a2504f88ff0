"""The XML parts of a package while they are edited: each parsed once, written back once.

Files in the strict dialect of the standard use other namespaces for the same words. Their parts are
translated on the way in and back on the way out, so that formats know one vocabulary.
"""

from __future__ import annotations

import re

from lxml import etree

from .errors import fail
from .guard import parse_xml
from .package import Package, Relationship, serialise

Element = etree._Element

_STRICT = b"http://purl.oclc.org/ooxml/"
_LOOSE = b"http://schemas.openxmlformats.org/"
_NAMESPACE = re.compile(rb"http://(?:purl\.oclc\.org/ooxml|schemas\.openxmlformats\.org)/[\w/.\-]+")
_STRICT_NAME = re.compile(rb"http://purl\.oclc\.org/ooxml/([A-Za-z]+)/([A-Za-z/]+)")
_RELATIONS = b"officeDocument/2006/relationships"
_FAMILIES = frozenset({b"wordprocessingml", b"presentationml", b"drawingml", b"officeDocument"})


class Trees:
    """Parsed parts of one package; `touch` those that change, `flush` before saving."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._roots: dict[str, Element] = {}
        self._strict: dict[str, dict[bytes, bytes]] = {}  # by part: our name -> the file's
        self._touched: dict[str, None] = {}
        self._rels: dict[str, tuple[Relationship, ...]] = {}

    def root(self, name: str) -> Element:
        """Return the root of a part, the same one at every call."""
        if name not in self._roots:
            data = self.package.read(name)
            self._strict[name] = _dialect(data)
            self._roots[name] = parse_xml(self._loose(name, data))
        return self._roots[name]

    def _loose(self, name: str, data: bytes) -> bytes:
        names = {strict: loose for loose, strict in self._strict.get(name, {}).items()}
        return _renamed(data, names)

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
            before = self.package.original(name)
            if before is not None and _same(parse_xml(self._loose(name, before)), root):
                self.package.put(name, before)
                continue
            data = serialise(root, like=self.package.read(name))
            self.package.put(name, _renamed(data, self._strict.get(name, {})))

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

    def rel_part(self, part: str, rel_id: str | None) -> str | None:
        """Return the existing part a relationship id of `part` leads to."""
        leads = next((rel.part for rel in self.rels(part) if rel.id == rel_id), None)
        return self.package.find(leads) if leads else None

    def part_of(self, element: Element) -> str | None:
        """Return the part an element stands in, None once it was taken out."""
        top = element.getroottree().getroot()
        return next((name for name, root in self._roots.items() if root is top), None)

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


def _same(one: Element, other: Element) -> bool:
    """Whether two trees are written alike; quicker than comparing canonical forms."""
    return etree.tostring(one.getroottree()) == etree.tostring(other.getroottree())


def _renamed(data: bytes, names: dict[bytes, bytes]) -> bytes:
    return _NAMESPACE.sub(lambda match: names.get(match[0], match[0]), data) if names else data


def _dialect(data: bytes) -> dict[bytes, bytes]:
    """Return the strict namespaces of a part by the names we know; none where both are used."""
    if _STRICT not in data:
        return {}
    found = {}
    used = set(_NAMESPACE.findall(data))
    for strict in used:
        match = _STRICT_NAME.fullmatch(strict)
        if match is None or match[1] not in _FAMILIES:
            continue
        loose = _LOOSE + match[1] + b"/2006/" + match[2]
        if loose in used:
            return {}
        found[loose] = strict
    if found and _LOOSE + _RELATIONS not in used:  # what we add must speak the same dialect
        found.setdefault(_LOOSE + _RELATIONS, _STRICT + b"officeDocument/relationships")
    return found
