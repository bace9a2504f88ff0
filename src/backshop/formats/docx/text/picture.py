"""The pictures a document's body shows: what each is, and in which block it stands (F29.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from backshop.formats.package.guard import Element
from backshop.formats.package.picture_size import pixels
from backshop.formats.protocol import Json

from .inline import alt_text, image_relation
from .line import image_numbers
from .source import Document


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of the body; `part` is None where it lies outside the file."""

    drawing: Element
    rel_id: str | None
    part: str | None


def body_pictures(document: Document) -> Iterator[Picture]:
    """Yield the pictures of the body in order."""
    targets = document.targets()
    for drawing in image_numbers(document.body_element):
        relation = image_relation(drawing)
        yield Picture(drawing, relation, targets.get(relation or ""))


class Pictures:
    """Describes the pictures of one document, each part once."""

    def __init__(self, document: Document) -> None:
        self._package = document.package
        self._known: dict[str, dict[str, Json]] = {}

    def described(self, picture: Picture) -> dict[str, Json]:
        """Return where a picture is, what it is called, how large it is, and a hash of it."""
        own: dict[str, Json] = {
            "rel_id": picture.rel_id,
            "target": picture.part,
            "alt_text": alt_text(picture.drawing),
        }
        return {**own, **self._content(picture.part)} if picture.part else own

    def _content(self, part: str) -> dict[str, Json]:
        if part not in self._known:
            data = self._package.read(part)
            self._known[part] = {
                "size_bytes": len(data),
                "pixels": pixels(data),
                "sha256": hashlib.sha256(data).hexdigest(),
            }
        return self._known[part]
