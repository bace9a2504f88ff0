"""Carries pictures and other finished parts from one package to another, each content once."""

from __future__ import annotations

import hashlib
import posixpath

from .xml_tree import Trees


class Carrier:
    """Copies parts of a giver into a taker; equal content is stored once (F22.4)."""

    def __init__(self, giver: Trees, taker: Trees) -> None:
        self._giver = giver
        self._taker = taker
        self.added: list[str] = []

    def copy(self, part: str) -> str:
        """Return the taker's name of a part with this content, added when there is none."""
        data = self._giver.package.read(part)
        wanted = hashlib.sha256(data).digest()
        package = self._taker.package
        folder = posixpath.dirname(part)
        for name in package.names:
            alike = posixpath.dirname(name) == folder and package.size(name) == len(data)
            if alike and hashlib.sha256(package.read(name)).digest() == wanted:
                return name
        stem, ending = posixpath.splitext(posixpath.basename(part))
        stem = stem.rstrip("0123456789") or "part"
        name = package.numbered(f"{folder}/{stem}", ending)
        package.put(name, data)
        content_type = self._giver.package.content_type(part)
        if ending and content_type is not None:
            package.ensure_default_type(ending.lstrip("."), content_type)
            if package.content_type(name) != content_type:
                package.set_content_type(name, content_type)
        self.added.append(name)
        return name

    def picture(self, part: str, relation: str) -> str | None:
        """Return the picture inside the giver that a relationship of a part leads to."""
        package = self._giver.package
        found = package.rel_part(part, relation)
        content = package.content_type(found) if found else None
        return found if (content or "").startswith("image/") else None


def relative(part: str, target: str) -> str:
    """Return a relationship target as seen from a part."""
    return posixpath.relpath(target, posixpath.dirname(part) or ".")
