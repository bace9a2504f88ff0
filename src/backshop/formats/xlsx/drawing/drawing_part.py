"""The charts and pictures of a sheet, as its drawing lists them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from backshop.formats.package.child_span import ChildSpans
from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.xml_tree import loosened

from ..book.plain import plain_xml
from ..book.workbook import Book, Sheet, local, rel_id
from .box import ANCHORS, Box, read_box

CHART, NEWER_CHART, PICTURE = "chart", "newer chart", "picture"
_FRAME, _PICTURE = "graphicFrame", "pic"
_CHART_URIS = {"chart": CHART, "chartex": NEWER_CHART}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A chart or a picture of a sheet."""

    number: int  # among the charts and pictures of its sheet, from 1
    id: str  # among the things on its drawing
    kind: str
    name: str
    description: str
    part: str | None  # with the chart or the picture; None where it leads nowhere
    drawing: str  # the part it is listed in
    at: int  # which child of that part's root
    is_alone: bool  # whether its anchor holds nothing else
    box: Box

    @property
    def sort(self) -> str:
        """Whether it is a chart or a picture, in a word."""
        return PICTURE if self.kind == PICTURE else CHART

    @property
    def called(self) -> str:
        """Its name, else its number."""
        return self.name or str(self.number)

    @property
    def words(self) -> str:
        """What it is, and its name: `chart Sales`, but not `chart Chart 1`."""
        is_said = self.called.lower().startswith(self.sort)
        return self.called if is_said else f"{self.sort} {self.called}"


@dataclass(frozen=True)
class DrawingPart:
    """The drawing of a sheet; `data` is in UTF-8."""

    name: str
    data: bytes

    @classmethod
    def of(cls, book: Book, name: str) -> DrawingPart:
        """Open a drawing."""
        return cls(name, plain_xml(book.package.read(name)))

    @cached_property
    def root(self) -> Element:
        """Its tree in the words we know, whatever its dialect."""
        return loosened(self.data)

    @property
    def spaces(self) -> set[tuple[str | None, str]]:
        """The namespaces its root declares, as the file names them."""
        return set(parse_xml(self.data).nsmap.items())

    @property
    def children(self) -> list[Element]:
        """The anchors, and what else stands among them."""
        return [item for item in self.root if isinstance(item.tag, str)]

    @cached_property
    def ids(self) -> set[int]:
        """The numbers that things on it have."""
        texts = (item.get("id") or "" for item in self.root.iter("{*}cNvPr"))
        return {int(text) for text in texts if text.isdigit() and len(text) < 12}


def drawing_parts(book: Book, sheet: Sheet) -> list[str]:
    """Return the drawings of a sheet; there is one or none, but for odd files."""
    return list(dict.fromkeys(book.sheet_rels(sheet, "drawing")))


def drawn_on(book: Book, sheet: Sheet) -> list[Drawn]:
    """Return the charts and pictures of a sheet in the order in which they are drawn."""
    found: list[Drawn] = []
    for name in drawing_parts(book, sheet):
        part = DrawingPart.of(book, name)
        for at, anchor in enumerate(part.children):
            for item, is_alone in _items(anchor):
                kind, link = _shown(item)
                if kind is None:
                    continue
                target = book.package.rel_part(name, link) if link else None
                named = next(item.iter("{*}cNvPr"), None)
                found.append(
                    Drawn(
                        number=len(found) + 1,
                        id=(named.get("id") or "") if named is not None else "",
                        kind=kind,
                        name=(named.get("name") or "") if named is not None else "",
                        description=(named.get("descr") or "") if named is not None else "",
                        part=target,
                        drawing=name,
                        at=at,
                        is_alone=is_alone,
                        box=read_box(_anchor(anchor)),
                    )
                )
    return found


def _anchor(element: Element) -> Element:
    """Return the anchor itself, which may stand in a choice of versions."""
    inner = (item for item in element.iter("{*}*") if local(item) in ANCHORS)
    return next(inner, element)


def _items(anchor: Element) -> Iterator[tuple[Element, bool]]:
    """Go through the frames and pictures of an anchor: is it the only thing in there?"""
    for item in anchor.iter(f"{{*}}{_FRAME}", f"{{*}}{_PICTURE}"):
        around = [local(one) for one in item.iterancestors()]
        if "Fallback" not in around:
            inside = around[: around.index("wsDr")] if "wsDr" in around else around
            own = [local(anchor)]
            is_alone = inside in (own, ["Choice", "AlternateContent", *own])
            yield item, is_alone and local(anchor) in ANCHORS


def _shown(item: Element) -> tuple[str | None, str | None]:
    """Return what a frame or picture shows and by which relationship; None for other things."""
    if local(item) == _PICTURE:
        blip = next(item.iter("{*}blip"), None)
        return PICTURE, _embedded(blip) if blip is not None else None
    for held in item.iter("{*}graphicData"):
        kind = _CHART_URIS.get((held.get("uri") or "").rpartition("/")[2])
        if kind is not None:
            chart = next((one for one in held if local(one) == "chart"), None)
            return kind, rel_id(chart) if chart is not None else None
    return None, None


def _embedded(blip: Element) -> str | None:
    keys = ((str(key), str(value)) for key, value in blip.attrib.items())
    return next((value for key, value in keys if key.endswith("relationships}embed")), None)


def anchors_of(data: bytes) -> list[Element]:
    """Return the anchors of a drawing's bytes, in the words we know."""
    return [item for item in loosened(plain_xml(data)) if isinstance(item.tag, str)]


Identity = tuple[str, str]


def identity(anchor: Element) -> Identity:
    """Return the number and the name of what an anchor holds first."""
    named = next(anchor.iter("{*}cNvPr"), None)
    return ("", "") if named is None else (named.get("id") or "", named.get("name") or "")


def anchor_bytes(data: bytes, drawn: Drawn) -> bytes:
    """Return the bytes of the anchor that something is drawn by, from those of its drawing."""
    return ChildSpans.of(plain_xml(data)).child(drawn.at)
