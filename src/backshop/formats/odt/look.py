"""How text of an OpenDocument looks, as far as it decides whether anybody sees it (F4.8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..package.guard import Element

TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
SHAPES = frozenset(  # what is drawn and may hold paragraphs
    f"{DRAW}{name}"
    for name in [
        *("text-box", "custom-shape", "rect", "circle", "ellipse", "line", "polyline", "polygon"),
        *("path", "regular-polygon", "connector", "caption", "measure", "control"),
    ]
)
_WHITE = "#ffffff"
_NO_GROUND = frozenset({None, "transparent", _WHITE})
_FAMILIES = {
    TEXT + "span": "text",
    TEXT + "p": "paragraph",
    TEXT + "h": "paragraph",
    TABLE + "table-cell": "table-cell",
}
_MAX_PARENTS = 32  # styles may go in circles


@dataclass(frozen=True, slots=True)
class Look:
    """What an element inherits: whether it is hidden, its colour, and the ground behind it."""

    hidden: bool = False
    colour: str | None = None
    ground: str | None = None
    over_drawing: bool = False  # inside a text box or shape, which may lie on anything

    def labelled(self, text: str) -> str:
        """Return a text, with a label when nobody sees it."""
        if not text.strip():
            return text
        if self.hidden:
            return f"[hidden: {text}]"
        pale = self.colour == _WHITE and self.ground in _NO_GROUND and not self.over_drawing
        return f"[white text: {text}]" if pale else text


SEEN = Look()


class Looks:
    """The styles of a document by family and name."""

    def __init__(self, roots: Iterable[Element | None]) -> None:
        self._styles: dict[tuple[str, str], Element] = {}
        for root in roots:
            for style in root.iter(f"{STYLE}style") if root is not None else ():
                key = (style.get(f"{STYLE}family") or "", style.get(f"{STYLE}name") or "")
                self._styles.setdefault(key, style)

    def inside(self, look: Look, element: Element) -> Look:
        """Return the look of what stands in an element."""
        if _is_hidden(element):
            return replace(look, hidden=True)
        if element.tag in SHAPES:
            return replace(look, over_drawing=True)
        family = _FAMILIES.get(str(element.tag))
        namespace = TABLE if family == "table-cell" else TEXT
        name = element.get(f"{namespace}style-name") if family is not None else None
        chain: list[Element] = []
        while name and len(chain) < _MAX_PARENTS:
            style = self._styles.get((family or "", name))
            if style is None:
                break
            chain.append(style)
            name = style.get(f"{STYLE}parent-style-name")
        for style in reversed(chain):
            look = _with_style(look, style)
        return look


def _with_style(look: Look, style: Element) -> Look:
    """Return a look with what a style says."""
    for properties in style:
        hidden = properties.get(f"{TEXT}display") == "none"
        colour = properties.get(f"{_FO}color")
        ground = properties.get(f"{_FO}background-color")
        look = replace(
            look,
            hidden=look.hidden or hidden,
            colour=colour.lower() if colour else look.colour,
            ground=ground.lower() if ground and ground.lower() not in _NO_GROUND else look.ground,
        )
    return look


def _is_hidden(element: Element) -> bool:
    """Whether an element hides what it holds by itself: sections, rows, fields that hide."""
    if element.get(f"{TEXT}is-hidden") == "true" or element.get(f"{TEXT}display") == "none":
        return True
    if element.get(f"{TABLE}visibility") in ("collapse", "filter"):
        return True
    field = element.find(f"{TEXT}hidden-paragraph")
    return field is not None and field.get(f"{TEXT}is-hidden") == "true"
