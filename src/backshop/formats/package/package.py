"""Edits an office package part by part; every byte of every other part stays as it was (F23).

    package = Package.open(source)
    package.refuse_unwritable()                     # macros, signatures (F23.9)
    root = package.xml("xl/worksheets/sheet1.xml")
    …change the tree…
    package.put_xml("xl/worksheets/sheet1.xml", root)
    written = package.save(out)                     # verified before it returns (F23.8)

An untouched member is copied with its local header, compressed bytes and descriptor; its directory
record changes only in the offset. Changed members keep their place, new ones go last. A package
in which nothing differs is written byte for byte as it was. What the format must still do itself
is the last step of F23.8: reopen `out` with its own reader and compare what was written.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from lxml import etree

from backshop.base.system.mapped_bytes import Content

from ..errors import FormatError, fail
from ..output import write_file
from ..protocol import Limits, Source
from .archive import assemble, compare_untouched, unverified
from .guard import Archive, parse_xml, scan, scan_bytes, scan_to_look
from .relationship import Relationship, Rels, rels_name, rels_owner
from .wellformed import check_xml

CONTENT_TYPES = "[Content_Types].xml"
RELS_TYPE = "application/vnd.openxmlformats-package.relationships+xml"
TYPES_NS = "http://schemas.openxmlformats.org/package/2006/content-types"
_DECLARATION = re.compile(rb"\A(?:\xef\xbb\xbf)?<\?xml[^>]*\?>\s*")
_MACRO = re.compile(r"(?i)vbaProject|vbaData")
_SIGNATURE = re.compile(r"(?i)(^|/)_xmlsignatures/|digital-signature")


@dataclass(frozen=True, slots=True)
class Written:
    """What `save` wrote."""

    size_bytes: int
    sha256: str
    changed_parts: tuple[str, ...]  # replaced, added and removed, sorted


class Package:
    """An office ZIP being edited in memory; nothing reaches the disk before `save`."""

    def __init__(self, archive: Archive, limits: Limits | None = None) -> None:
        self._archive = archive
        self._limits = limits or Limits()
        self._new: dict[str, bytes] = {}
        self._removed: set[str] = set()
        self._folded: dict[str, str] | None = None  # names by their lower case
        self._rels: dict[str, Rels] = {}  # by the names of their parts
        self._unwritten: dict[str, None] = {}  # those that changed since they were written
        self._types: tuple[dict[str, str], dict[str, str]] | None = None  # of parts, of endings

    @classmethod
    def open(cls, source: Source) -> Package:
        """Scan a source under F4 and open it."""
        return cls(scan(source), source.limits)

    @classmethod
    def open_to_look(cls, source: Source) -> Package:
        """Scan a source under F4 and open it for somebody who changes nothing."""
        return cls(scan_to_look(source), source.limits)

    @classmethod
    def from_bytes(cls, data: bytes, limits: Limits | None = None) -> Package:
        """Open a package that is in memory, for example a blank document."""
        return cls(scan_bytes(data, limits), limits)

    @classmethod
    def open_base(
        cls,
        source: Source | None,
        blank: Callable[[], bytes],
        macro_endings: tuple[str, ...] = (),
        *,
        macros_kept: Collection[str] = (),
    ) -> Package:
        """Open what a write starts from, a blank file where there is no source.

        A file with one of the `macro_endings` is refused; one of `macros_kept` may hold macros.

        Raises:
            FormatError: `macro_enabled_read_only`, `signed_document`.
        """
        if source is None:
            return cls.from_bytes(blank())
        if source.extension in macro_endings:
            raise _has_macros()
        package = cls.open(source)
        package.refuse_unwritable(keeps_macros=source.extension in macros_kept)
        return package

    def fresh(self) -> Package:
        """Return the package as it was opened, without any change."""
        return Package(self._archive, self._limits)

    def copy(self) -> Package:
        """Return the package as it is now; what is changed in one does not change the other."""
        self._write_rels()
        made = self.fresh()
        made._new, made._removed = dict(self._new), set(self._removed)
        return made

    # --- looking -------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parts as they are now, new ones last."""
        kept = [m.name for m in self._archive.members if m.name not in self._removed]
        new = dict.fromkeys((*self._new, *self._unwritten))
        known = self._archive.by_name.keys() - self._removed
        return (*kept, *(name for name in new if name not in known))

    @property
    def changed_parts(self) -> tuple[str, ...]:
        """The parts that differ from the source, sorted."""
        self._write_rels()
        return tuple(sorted({*self._new, *self._removed}))

    def __contains__(self, name: str) -> bool:
        if name in self._new or name in self._unwritten:
            return True
        return name in self._archive.by_name and name not in self._removed

    def find(self, name: str) -> str | None:
        """Return the real spelling of a part name; OPC compares names without case."""
        name = name.lstrip("/")
        if name in self:
            return name
        if self._folded is None:
            self._folded = {have.lower(): have for have in reversed(self.names)}  # the first wins
        return self._folded.get(name.lower())

    def unused(self, name: str) -> str:
        """Return `name` for a new part, with a number when something else is called so."""
        stem, _, ending = name.rpartition(".")
        names = chain([name], (f"{stem}{number}.{ending}" for number in count(2)))
        return next(one for one in names if self.find(one) is None)

    def numbered(self, stem: str, ending: str) -> str:
        """Return the lowest numbered name that no part has, nor had in the file as it came."""
        taken = {name.lower() for name in (*self.names, *self.fresh().names)}
        names = (f"{stem}{number}{ending}" for number in count(1))
        return next(name for name in names if name.lower() not in taken)

    def read(self, name: str) -> bytes:
        """Return the present content of a part."""
        if name in self._unwritten:
            self._write_rels()
        if name not in self:
            raise fail("corrupt_file", "a part of the package is missing", detail=name)
        return self._new[name] if name in self._new else self._archive.read(name)

    def view(self, name: str) -> Content:
        """Return the present content of a part to look at, on the disk where it is large."""
        if name in self and name not in self._new and name not in self._unwritten:
            return self._archive.view(name)
        return self.read(name)

    def original(self, name: str) -> bytes | None:
        """Return the content a part had when the package was opened."""
        return self._archive.read(name) if name in self._archive.by_name else None

    def xml(self, name: str) -> etree._Element:
        """Return the root of a freshly parsed part; give changes back with `put_xml`."""
        return parse_xml(self.read(name))

    def size(self, name: str) -> int:
        """Return the unpacked size of a part without unpacking it."""
        if name in self._unwritten:
            self._write_rels()
        return len(self._new[name]) if name in self._new else self._archive.by_name[name].size

    @property
    def has_macros(self) -> bool:
        """Whether a VBA project is inside (F23.9)."""
        return any(_MACRO.search(name) for name in self.names)

    @property
    def is_signed(self) -> bool:
        """Whether digital signature parts are inside (F23.9)."""
        return any(_SIGNATURE.search(name) for name in self.names)

    def refuse_unwritable(self, *, keeps_macros: bool = False) -> None:
        """Refuse packages that must not be changed: macros and signatures (F23.9)."""
        if self.has_macros and not keeps_macros:
            raise _has_macros()
        if self.is_signed:
            raise fail("signed_document", "a change would break the document's signature")

    # --- changing ------------------------------------------------------------------------------

    def put(self, name: str, data: bytes) -> None:
        """Replace or add a part; content equal to the source's is no change (F23.7)."""
        member = self._archive.by_name.get(name)
        if member is not None and member.size == len(data) and self.original(name) == data:
            self._new.pop(name, None)
        else:
            self._new[name] = data
        self._removed.discard(name)
        self._forget(name)

    def put_xml(self, name: str, root: etree._Element) -> None:
        """Replace or add an XML part; an unchanged tree leaves the part's bytes alone."""
        before = self.original(name)
        if before is not None and canonical(parse_xml(before)) == canonical(root):
            self.put(name, before)
            return
        self.put(name, serialise(root, like=self.read(name) if name in self else None))

    def remove(self, name: str) -> None:
        """Take a part out, with its content type; its relationships are the caller's."""
        self._new.pop(name, None)
        if name in self._archive.by_name:
            self._removed.add(name)
        self._forget(name)
        if "/" + name.lower() in self._content_types()[0]:
            self.set_content_type(name, None)

    def _forget(self, name: str) -> None:
        """Forget what was derived from a part that changes."""
        self._rels.pop(name, None)
        self._unwritten.pop(name, None)
        self._folded = None
        if name.lower() == CONTENT_TYPES.lower():
            self._types = None

    # --- relationships and content types -------------------------------------------------------

    def rels(self, part: str) -> tuple[Relationship, ...]:
        """Return the relationships of a part (`""` is the package), in file order."""
        found = self._rels_of(part)
        return found.listed() if found else ()

    def rel_part(self, part: str, rel_id: str) -> str | None:
        """Return the existing part a relationship id leads to."""
        found = self._rels_of(part)
        rel = found.get(rel_id) if found else None
        return self.find(rel.part) if rel is not None and rel.part is not None else None

    def add_rel(self, part: str, type_: str, target: str, *, external: bool = False) -> str:
        """Add a relationship and return its id; one that leads outside may be there already."""
        found = self._rels_of(part)
        name = self.find(rels_name(part)) or rels_name(part)
        if found is None:
            found = self._rels[name] = Rels(part)
            self._folded = None
        self._unwritten[name] = None
        return found.add(type_, target, external=external)

    def remove_rel(self, part: str, rel_id: str) -> None:
        """Take a relationship out; the part it leads to stays."""
        found = self._rels_of(part)
        if found is not None:
            self._unwritten[self.find(rels_name(part)) or rels_name(part)] = None
            found.remove(rel_id)

    def _rels_of(self, part: str) -> Rels | None:
        """Return the relationships of a part, parsed once; None when it has none."""
        name = self.find(rels_name(part))
        if name is not None and name not in self._rels:
            self._rels[name] = Rels(part, self.xml(name))
        return self._rels[name] if name is not None else None

    def _write_rels(self) -> None:
        """Give relationships that changed back to the package."""
        for name in tuple(self._unwritten):
            rels = self._rels[name]
            del self._unwritten[name]
            self.put_xml(name, rels.root)
            self._rels[name] = rels  # still what is written
            is_new = name not in self._archive.by_name
            if is_new and self.content_type(name) is None:  # a package that lists every part
                self.set_content_type(name, RELS_TYPE)

    def content_type(self, name: str) -> str | None:
        """Return the content type of a part: its own, or that of its ending."""
        overrides, defaults = self._content_types()
        ending = name.rpartition(".")[2].lower()
        return overrides.get("/" + name.lower()) or defaults.get(ending)

    def set_content_type(self, name: str, content_type: str | None) -> None:
        """Give a part a content type of its own, or take it away with None."""
        part = self._types_part()
        root = self.xml(part)
        wanted = "/" + name
        for line in root.findall(f"{{{TYPES_NS}}}Override"):
            if (line.get("PartName") or "").lower() == wanted.lower():
                root.remove(line)
        if content_type is not None:
            etree.SubElement(
                root, f"{{{TYPES_NS}}}Override", PartName=wanted, ContentType=content_type
            )
        self.put_xml(part, root)

    def ensure_default_type(self, ending: str, content_type: str) -> None:
        """Make sure parts with this ending (`png`) have a content type."""
        if ending.lower() not in self._content_types()[1]:
            part = self._types_part()
            root = self.xml(part)
            line = etree.Element(
                f"{{{TYPES_NS}}}Default", Extension=ending, ContentType=content_type
            )
            root.insert(0, line)
            self.put_xml(part, root)

    def drop_default_type(self, ending: str) -> None:
        """Take the content type of an ending away that no part has any more, nor had before."""
        part = self._types_part()
        before = self._archive.by_name.get(part)
        known = _content_types(parse_xml(self._archive.read(part)))[1] if before else {}
        is_used = any(name.lower().endswith(f".{ending}") for name in self.names)
        if is_used or ending.lower() in known:
            return
        root = self.xml(part)
        for line in root.findall(f"{{{TYPES_NS}}}Default"):
            if (line.get("Extension") or "").lower() == ending.lower():
                root.remove(line)
        self.put_xml(part, root)

    def _content_types(self) -> tuple[dict[str, str], dict[str, str]]:
        if self._types is None:
            self._types = _content_types(self.xml(self._types_part()))
        return self._types

    def _types_part(self) -> str:
        name = self.find(CONTENT_TYPES)
        if name is None:
            raise fail("corrupt_file", "the package has no content types")
        return name

    # --- writing -------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return the package as it is now; the source's own bytes when nothing differs."""
        self._write_rels()
        if not self._new and not self._removed:
            return self._archive.data[:]
        return assemble(self._archive, self._new, self._removed)

    def save(self, out: Path) -> Written:
        """Verify the package (F23.8) and write it to `out` in one step, or raise and write nothing.

        Raises:
            FormatError: `verify_failed`, `disk_full`.
        """
        data = self.to_bytes()
        self._verify(data)
        write_file(out, data)
        return Written(len(data), hashlib.sha256(data).hexdigest(), self.changed_parts)

    def _verify(self, data: bytes) -> None:
        try:
            after = Package(scan_bytes(data, self._limits), self._limits)
            for name in self._new:
                if name.lower().endswith((".xml", ".rels", ".vml")) and self._is_xml(name):
                    check_xml(self._new[name])
        except FormatError as error:
            raise unverified(f"{error.reason}: {error.message}") from error
        compare_untouched(self._archive, after._archive, {*self._new, *self._removed})
        if self._removed or any(name.endswith(".rels") for name in self._new):
            broken = after.dangling() - Package(self._archive, self._limits).dangling()
            if broken:
                raise unverified(f"relationships lead nowhere: {', '.join(sorted(broken)[:5])}")
        for name in self._new:
            is_new = name not in self._archive.by_name and name != CONTENT_TYPES
            if is_new and not name.endswith("/") and after.content_type(name) is None:
                raise unverified(f"{name} has no content type")

    def _is_xml(self, name: str) -> bool:
        """Whether a part must be XML; old drawings as Excel wrote them are not always."""
        before = self.original(name) if name.lower().endswith(".vml") else None
        if before is None:
            return True
        try:
            check_xml(before)
        except FormatError:
            return False
        return True

    def dangling(self) -> set[str]:
        """Return `part -> target` of every relationship that leads to no part."""
        bad = set()
        for name in self.names:
            if not name.endswith(".rels"):
                continue
            owner = rels_owner(name)
            for rel in self.rels(owner):
                if rel.part is not None and self.find(rel.part) is None:
                    bad.add(f"{owner or '/'} -> {rel.part}")
        return bad


def _has_macros() -> FormatError:
    return fail("macro_enabled_read_only", "a file of this name with macros is never changed")


def serialise(root: etree._Element, *, like: bytes | None = None) -> bytes:
    """Return XML bytes in UTF-8, with the declaration `like` has; comments around the root stay."""
    body = etree.tostring(root.getroottree(), encoding="UTF-8", xml_declaration=False)
    head = _DECLARATION.match(like) if like else None
    if like is not None and head is None:
        return body
    declaration = head.group().removeprefix(b"\xef\xbb\xbf") if head else b""
    if not declaration or not re.search(rb"encoding=.(?i:utf-8).", declaration):
        declaration = b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
    return declaration + body


def canonical(root: etree._Element) -> bytes:
    """Return the canonical form, in which two trees that mean the same are the same bytes."""
    tree = root.getroottree()
    try:
        return etree.tostring(tree, method="c14n", with_comments=True)
    except etree.C14NError:  # a namespace without scheme, which the first edition refuses
        return etree.tostring(tree, method="c14n2", with_comments=True)


def canonical_element(element: etree._Element) -> bytes:
    """Return one element likewise, without the text behind it."""
    try:
        return etree.tostring(element, method="c14n", with_tail=False)
    except etree.C14NError:
        return etree.tostring(element, with_tail=False)


def said_by(element: etree._Element) -> str:
    """Return what one element of a list says, whatever prefixes and namespaces stand around it."""
    inside = [said_by(item) for item in element if isinstance(item.tag, str)]
    text = "" if inside else element.text or ""
    return repr((str(element.tag), sorted(element.attrib.items()), text, inside))


def _content_types(root: etree._Element) -> tuple[dict[str, str], dict[str, str]]:
    overrides = {
        (line.get("PartName") or "").lower(): line.get("ContentType") or ""
        for line in root.iter(f"{{{TYPES_NS}}}Override")
    }
    defaults = {
        (line.get("Extension") or "").lower(): line.get("ContentType") or ""
        for line in root.iter(f"{{{TYPES_NS}}}Default")
    }
    return overrides, defaults
