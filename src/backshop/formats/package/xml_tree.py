"""The XML parts of a package while they are edited: each parsed once, written back once.

Files in the strict dialect of the standard use other namespaces for the same words. Their parts are
translated on the way in and back on the way out, so that formats know one vocabulary. Only names
of namespaces count and are translated; words and links that mention such a name stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from ..errors import fail
from .guard import Element, parse_xml
from .package import Package, serialise
from .relationship import Relationship

_STRICT = b"http://purl.oclc.org/ooxml/"
_LOOSE = b"http://schemas.openxmlformats.org/"
_TAG = rb"""([^\s!?/<>"'][^<>"']*(?:"[^"<]*"[^<>"']*|'[^'<]*'[^<>"']*)*)>"""
_PIECE = re.compile(  # a tag that may name one; comments and the like are passed over as a whole
    rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    rb"|<(?=[^<]*?(?:xmlns|graphicData))" + _TAG,
    re.DOTALL,
)
_PROLOG = re.compile(rb"(?:[^<]+|<!--.*?-->|<\?.*?\?>)*", re.DOTALL)
_ROOT = re.compile(b"<" + _TAG)
_ATTRIBUTE = re.compile(rb"""(?<=\s)([^\s=<>"']+)\s*=\s*("[^"]*"|'[^']*')""")
_GRAPHIC = re.compile(rb"(?:[^\s:]+:)?graphicData\s")  # its `uri` is the namespace of what it holds
_STRICT_NAME = re.compile(rb"http://purl\.oclc\.org/ooxml/([A-Za-z]+)/([A-Za-z/]+)")
_LOOSE_NAME = re.compile(rb"http://schemas\.openxmlformats\.org/([A-Za-z]+)/2006/([A-Za-z/]+)")
_TEXTS = ("}t", "}delText", "}instrText")
_FAMILIES = frozenset({b"wordprocessingml", b"presentationml", b"drawingml", b"officeDocument"})


class Trees:
    """Parsed parts of one package; `touch` those that change, `flush` before saving."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._roots: dict[str, Element] = {}
        self._strict: dict[str, dict[bytes, bytes]] = {}  # by part: our name -> the file's
        self._touched: dict[str, None] = {}
        self.is_strict = False  # whether the main part is; new ones are as it is

    def root(self, name: str) -> Element:
        """Return the root of a part, the same one at every call."""
        if name not in self._roots:
            data = self.package.read(name)
            self._strict[name] = _dialect(data)
            self._roots[name] = _loosened(data, self._strict[name])
        return self._roots[name]

    def ours(self, name: str, namespace: str) -> str:
        """Return the namespace that stands in the tree of a part for one that the file names."""
        self.root(name)
        strict = namespace.encode()
        return next((o for o, s in self._strict[name].items() if s == strict), strict).decode()

    def touch(self, name: str) -> Element:
        """Return the root of a part that is going to be changed."""
        self._touched[name] = None
        return self.root(name)

    def put_root(self, name: str, root: Element) -> None:
        """Have a part be written from another root, of the dialect its own had."""
        self.root(name)
        self._roots[name] = root
        self._touched[name] = None

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
        self.package.remove(name)

    def flush(self) -> None:
        """Give every touched part back to the package; an unchanged one keeps its bytes."""
        for name in self._touched:
            root = self._roots[name]
            before = self.package.original(name)
            if before is not None and _same(loosened(before), root):
                self.package.put(name, before)
                continue
            data = serialise(root, like=self.package.read(name))
            self.package.put(name, self._in_dialect(name, before, data))

    def _in_dialect(self, name: str, before: bytes | None, data: bytes) -> bytes:
        """Return a part in the dialect it came in, a new one in that of the main part."""
        names = dict(self._strict.get(name, {}))
        if names or (before is None and self.is_strict):
            for loose in _names(data) - _names(before or b""):
                names.setdefault(loose, _tightened(loose))
        return _renamed(data, names)

    def add_rel(self, part: str, type_: str, target: str, *, external: bool = False) -> str:
        """Add a relationship, its type in the dialect of the main part, and return its id."""
        renamed = _tightened if self.is_strict else _loose_name
        type_ = renamed(type_.encode()).decode()
        return self.package.add_rel(part, type_, target, external=external)

    def related(self, part: str, kind: str) -> list[tuple[Relationship, str]]:
        """Return the relationships of a kind (`styles`) whose part exists, in file order."""
        found = []
        for rel in self.package.rels(part):
            if rel.type.rpartition("/")[2] != kind or rel.part is None:
                continue
            name = self.package.find(rel.part)
            if name is not None:
                found.append((rel, name))
        return found

    def rel_part(self, part: str, rel_id: str | None) -> str | None:
        """Return the existing part a relationship id of `part` leads to."""
        return self.package.rel_part(part, rel_id) if rel_id is not None else None

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
        self.is_strict = bool(self._strict[name])
        return name


def first_child(parent: Element, tag: str) -> Element:
    """Return the child of a tag, such as the properties of a paragraph; made first when missing."""
    found = parent.find(tag)
    if found is None:
        found = etree.Element(tag)
        parent.insert(0, found)
    return found


def loosened(data: bytes) -> Element:
    """Return the root of a part in the words we know, whatever its dialect."""
    return _loosened(data, _dialect(data))


def _loosened(data: bytes, names: dict[bytes, bytes]) -> Element:
    root = parse_xml(_renamed(data, {strict: ours for ours, strict in names.items()}))
    if b"<!--" in data or data.count(b"<?") > 1:
        _join_texts(root)
    return root


def _join_texts(root: Element) -> None:
    """Bring the words of a text element together that a comment inside it parts.

    The comment stays in the element, behind its words.
    """
    for note in list(root.iter(etree.Comment, etree.ProcessingInstruction)):
        parent = note.getparent()
        if parent is None or not note.tail or not str(parent.tag).endswith(_TEXTS):
            continue
        if all(not isinstance(child.tag, str) for child in parent):
            parent.text = (parent.text or "") + note.tail
            note.tail = None


def _same(one: Element, other: Element) -> bool:
    """Whether two trees are written alike; quicker than comparing canonical forms."""
    return etree.tostring(one.getroottree()) == etree.tostring(other.getroottree())


def _renamed(data: bytes, names: dict[bytes, bytes]) -> bytes:
    if not names:
        return data
    pieces, at = [], 0
    for start, end in _named(data):
        name = data[start:end]
        pieces += [data[at:start], names.get(name, name)]
        at = end
    return b"".join([*pieces, data[at:]])


def _names(data: bytes) -> set[bytes]:
    return {data[start:end] for start, end in _named(data)}


def _named(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield from where to where a part names a namespace."""
    for piece in _PIECE.finditer(data):
        start, end = piece.span(1)
        is_graphic = _GRAPHIC.match(data, start, end) if start >= 0 else None
        if is_graphic or data.find(b"xmlns", start, end) >= 0:
            for found in _ATTRIBUTE.finditer(data, start, end):
                is_declared = found[1].partition(b":")[0] == b"xmlns"
                if is_declared or (is_graphic and found[1] == b"uri"):
                    yield found.start(2) + 1, found.end(2) - 1


def _root_namespace(data: bytes) -> bytes:
    prolog = _PROLOG.match(data)
    root = _ROOT.match(data, prolog.end() if prolog else 0)
    tag = root[1] if root else b""
    prefix, colon, _ = re.split(rb"\s", tag, maxsplit=1)[0].rpartition(b":")
    declaration = b"xmlns" + colon + prefix
    return next((m[2][1:-1] for m in _ATTRIBUTE.finditer(tag) if m[1] == declaration), b"")


def _dialect(data: bytes) -> dict[bytes, bytes]:
    """Return the strict namespaces of a part by the names we know.

    There are none where the root is not strict but could be, nor where both forms are used.
    """
    if _STRICT not in data:
        return {}
    root = _root_namespace(data)
    if _tightened(root) != root:
        return {}
    found = {}
    used = _names(data)
    for strict in used:
        loose = _loose_name(strict)
        if loose == strict:
            continue
        if loose in used:
            return {}
        found[loose] = strict
    return found


def _loose_name(strict: bytes) -> bytes:
    """Return a strict namespace by the name we know; others stay."""
    match = _STRICT_NAME.fullmatch(strict)
    if match is None or match[1] not in _FAMILIES:
        return strict
    return _LOOSE + match[1] + b"/2006/" + match[2]


def _tightened(loose: bytes) -> bytes:
    """Return the strict form of a namespace; those that have none stay."""
    match = _LOOSE_NAME.fullmatch(loose)
    return _STRICT + match[1] + b"/" + match[2] if match and match[1] in _FAMILIES else loose
