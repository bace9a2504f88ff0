"""The relationships of one part of a package, read once and changed in memory."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from urllib.parse import unquote

from lxml import etree

RELS_NS = "http://schemas.openxmlformats.org/package/2006/relationships"
_LINE = f"{{{RELS_NS}}}Relationship"
_PLAIN: dict[str, str] = {None: RELS_NS}  # type: ignore[dict-item]  # lxml wants None here


@dataclass(frozen=True, slots=True)
class Relationship:
    """One line of a `.rels` part; `part` is the name it leads to, None when it leads outside."""

    id: str
    type: str
    target: str
    part: str | None


class Rels:
    """The lines of a `.rels` part; `root` is what has to be written once they changed."""

    def __init__(self, part: str, root: etree._Element | None = None) -> None:
        empty = etree.Element(f"{{{RELS_NS}}}Relationships", nsmap=_PLAIN)
        self.root = empty if root is None else root
        self._part = part
        self._read()

    def _read(self) -> None:
        self._lines = [_relationship(self._part, line) for line in self.root.iter(_LINE)]
        self._by_id: dict[str, Relationship] = {}
        self._outside: dict[tuple[str, str], str] = {}
        self._first_free = 1
        for line, element in zip(self._lines, self.root.iter(_LINE), strict=True):
            self._by_id.setdefault(line.id, line)
            if _is_outside(element):
                self._outside.setdefault((line.type, line.target), line.id)

    def listed(self) -> tuple[Relationship, ...]:
        """Return the relationships in file order."""
        return tuple(self._lines)

    def get(self, rel_id: str) -> Relationship | None:
        """Return a relationship by its id; the first of equal ids counts."""
        return self._by_id.get(rel_id)

    def add(self, type_: str, target: str, *, external: bool = False) -> str:
        """Add a relationship and return its id, the lowest free `rId<n>`.

        One that leads outside is there once, however often it is asked for.
        """
        known = self._outside.get((type_, target)) if external else None
        if known is not None:
            return known
        while f"rId{self._first_free}" in self._by_id:
            self._first_free += 1
        rel_id = f"rId{self._first_free}"
        line = etree.SubElement(self.root, _LINE, Id=rel_id, Type=type_, Target=target)
        if external:
            line.set("TargetMode", "External")
            self._outside[type_, target] = rel_id
        self._by_id[rel_id] = _relationship(self._part, line)
        self._lines.append(self._by_id[rel_id])
        return rel_id

    def remove(self, rel_id: str) -> None:
        """Take a relationship out."""
        for line in self.root.findall(_LINE):
            if line.get("Id") == rel_id:
                self.root.remove(line)
        self._read()


def rels_name(part: str) -> str:
    """Return the name of the part that holds the relationships of `part` (`""`: the package)."""
    folder, _, file = part.rpartition("/")
    return f"{folder}/_rels/{file}.rels" if folder else f"_rels/{file}.rels"


def rels_owner(name: str) -> str:
    """Return the part whose relationships `name` holds."""
    folder, _, file = name.rpartition("/")
    base = folder.removesuffix("_rels").rstrip("/")
    owner = file.removesuffix(".rels")
    return f"{base}/{owner}" if base and owner else owner or base


def resolve(part: str, target: str) -> str:
    """Return the part name a relationship target of `part` means."""
    path = unquote(target.partition("#")[0])
    if path.startswith("/"):
        return posixpath.normpath(path).lstrip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(part), path)).lstrip("/")


def _relationship(part: str, line: etree._Element) -> Relationship:
    target = line.get("Target") or ""
    nowhere = _is_outside(line) or not target or target.startswith("#")
    return Relationship(
        line.get("Id") or "",
        line.get("Type") or "",
        target,
        None if nowhere else resolve(part, target),
    )


def _is_outside(line: etree._Element) -> bool:
    return line.get("TargetMode") == "External"
