"""The shapes of a slide: what they are, where they stand, what they say."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

from lxml import etree

from backshop.formats.package.drawing_text import paragraph_text
from backshop.formats.package.guard import Element

from . import names as n

IsUnseen = Callable[[Element], bool]  # of a run: whether an audience does not see it

_MOST = 2**32 - 1  # of ids, sizes and levels
_FARTHEST = 1e12  # EMU; the largest coordinate of the standard is far below
_LEAVES = frozenset({n.SP, n.GRAPHIC_FRAME, n.PIC, n.CXN_SP, n.CONTENT_PART})
_FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr"})  # date, footer, number: not content
_GRAPHICS = {
    "chart": "chart",
    "chartex": "chart",
    "diagram": "diagram",
    "ole": "object",
    "table": "table",
}
TITLE_TYPES = frozenset({"title", "ctrTitle"})
BODY_TYPES = frozenset({"body", "obj", "subTitle"})


@dataclass(frozen=True, slots=True)
class Placeholder:
    """What a shape says about the place in the layout it fills."""

    idx: int
    type: str  # title, ctrTitle, body, obj, subTitle, pic, dt, ftr, sldNum …

    @property
    def is_furniture(self) -> bool:
        """Whether it is a date, a footer or a number."""
        return self.type in _FURNITURE


@dataclass(frozen=True, slots=True)
class Box:
    """A place on the slide in EMU, rotation in degrees."""

    left: float
    top: float
    width: float
    height: float
    rotation: float = 0.0
    flip_h: bool = False
    flip_v: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape that is no group; `index` counts them in drawing order, members of groups too."""

    element: Element
    index: int
    groups: tuple[Element, ...] = ()  # the groups around it, outermost first

    @property
    def properties(self) -> Element | None:
        """The element with name, id and description."""
        return next(self.element.iter(n.C_NV_PR), None)

    @property
    def name(self) -> str:
        """The name people see in the selection pane."""
        properties = self.properties
        return properties.get("name", "") if properties is not None else ""

    @property
    def is_hidden(self) -> bool:
        """Whether the selection pane hides the shape or a group around it."""
        own = (next(element.iter(n.C_NV_PR), None) for element in (self.element, *self.groups))
        return any(one is not None and one.get("hidden") in _TRUE for one in own)

    @property
    def alt_text(self) -> str:
        """The description a person gave, or nothing."""
        properties = self.properties
        if properties is None:
            return ""
        return properties.get("descr") or properties.get("title") or ""

    @property
    def placeholder(self) -> Placeholder | None:
        """What place of the layout the shape fills, if any."""
        return placeholder_of(self.element)

    @property
    def text_body(self) -> Element | None:
        """The element that holds the paragraphs."""
        return self.element.find(n.TX_BODY)

    @property
    def table(self) -> Element | None:
        """The table of a graphic frame."""
        return next(self.element.iter(n.TBL), None) if self._is_frame else None

    @property
    def _is_frame(self) -> bool:
        return self.element.tag == n.GRAPHIC_FRAME

    @property
    def graphic(self) -> Element | None:
        """The chart, diagram, table or object of a graphic frame."""
        return next(self.element.iter(n.GRAPHIC_DATA), None) if self._is_frame else None

    @property
    def image_relation(self) -> str | None:
        """The relationship of the picture, for pictures and filled picture placeholders."""
        if self.element.tag != n.PIC:
            return None
        blip = next(self.element.iter(n.BLIP), None)
        return (blip.get(n.R_EMBED) or blip.get(n.R_LINK)) if blip is not None else None

    @property
    def has_image(self) -> bool:
        """Whether the shape is a picture."""
        return self.element.tag == n.PIC

    @property
    def kind(self) -> str:
        """A word for what the shape is."""
        if self.has_image:
            return "picture"
        if self._is_frame:
            uri = self.graphic.get("uri", "") if self.graphic is not None else ""
            return _GRAPHICS.get(uri.rpartition("/")[2], "graphic")
        if self.element.tag == n.CXN_SP:
            return "connector"
        if self.placeholder is not None:
            return "placeholder"
        return "shape" if self.element.tag == n.SP else "ink"


def whole(value: str | None) -> int | None:
    """Return a whole number of the file, or None when it is none or beyond 32 bits."""
    try:
        number = int(value) if value is not None else None
    except ValueError:
        return None
    return number if number is None or abs(number) <= _MOST else None


def free_shape_id(tree: Element) -> int:
    """Return an id no shape of the tree has."""
    used = {whole(e.get("id")) or 0 for e in tree.iter(n.C_NV_PR)}
    following = max(used, default=1) + 1
    return following if following <= _MOST else next(i for i in count(2) if i not in used)


def drop(element: Element) -> None:
    """Take an element out of its tree."""
    parent = element.getparent()
    assert parent is not None
    parent.remove(element)


def append_shape(tree: Element, shape: Element) -> None:
    """Add an element as the last one before the extensions, which the standard wants last."""
    extension = tree.find(n.p("extLst"))
    if extension is None:
        tree.append(shape)
    else:
        extension.addprevious(shape)


def ensure_body(shape: Shape) -> Element:
    """Return the text body of a shape, adding an empty one where it has none."""
    body = shape.text_body
    if body is None:
        body = empty_body(n.TX_BODY)
        append_shape(shape.element, body)
    return body


def empty_body(tag: str) -> Element:
    """Return a text body that holds an empty paragraph."""
    body = etree.Element(tag)
    for inner in (n.BODY_PR, n.LST_STYLE, n.P_T):
        etree.SubElement(body, inner)
    return body


def names_relations(element: Element) -> bool:
    """Whether anything in an element leads to another part."""
    return any(
        value and str(key).startswith(f"{{{n.R_NS}}}")
        for inner in element.iter()
        for key, value in inner.items()
    )


def placeholder_of(element: Element) -> Placeholder | None:
    """Return the placeholder data of a shape element; type and index have defaults."""
    for properties in element.iterchildren():
        found = properties.find(f"{n.NV_PR}/{n.PH}")
        if found is not None:
            return Placeholder(whole(found.get("idx")) or 0, found.get("type", "obj"))
    return None


def shapes_of(tree: Element) -> list[Shape]:
    """Return the shapes of a slide in drawing order."""
    return [Shape(leaf, index, groups) for index, (leaf, groups) in enumerate(_leaves(tree, ()))]


def shapes_in(root: Element) -> list[Shape]:
    """Return the shapes of a slide, layout, master or notes page; none where it has no tree."""
    tree = root.find(f"{n.C_SLD}/{n.SP_TREE}")
    return shapes_of(tree) if tree is not None else []


def _leaves(
    container: Element, groups: tuple[Element, ...]
) -> Iterator[tuple[Element, tuple[Element, ...]]]:
    for child in container:
        tag = child.tag
        if tag in _LEAVES:
            yield child, groups
        elif tag == n.GRP_SP:
            yield from _leaves(child, (*groups, child))
        elif tag == n.ALTERNATE:
            chosen = child.find(n.CHOICE)
            if chosen is None or next(chosen.iterchildren("*"), None) is None:
                chosen = child.find(n.FALLBACK)
            if chosen is not None:
                yield from _leaves(chosen, groups)


# --- text ---------------------------------------------------------------------------------------


def level_of(paragraph: Element) -> int:
    """Return the indentation level of a paragraph, from 0."""
    properties = paragraph.find(n.PPR)
    level = whole(properties.get("lvl")) if properties is not None else 0
    return min(max(level or 0, 0), 8)


def body_text(body: Element | None, is_unseen: IsUnseen | None = None) -> str:
    """Return the paragraphs of a text body, one per line."""
    if body is None:
        return ""
    return "\n".join(paragraph_text(p, is_unseen) for p in body.iterchildren(n.P_T))


def table_grid(table: Element, is_unseen: IsUnseen | None = None) -> list[list[str]]:
    """Return the rows of a table; cells covered by a merge are empty."""
    return [
        [
            "" if cell.get("hMerge") in _TRUE or cell.get("vMerge") in _TRUE
            else body_text(cell.find(n.A_TX_BODY), is_unseen)
            for cell in row.iterchildren(n.TC)
        ]
        for row in table.iterchildren(n.TR)
    ]  # fmt: skip


_TRUE = frozenset({"1", "true"})


# --- geometry -----------------------------------------------------------------------------------


def own_box(element: Element) -> Box | None:
    """Return the place a shape gives itself, before any group is applied."""
    frame = element.find(n.XFRM_P)
    if frame is None:
        frame = element.find(f"{n.SP_PR}/{n.XFRM}")
    if frame is None:
        frame = element.find(f"{n.GRP_SP_PR}/{n.XFRM}")
    if frame is None:
        return None
    off, ext = frame.find(n.OFF), frame.find(n.EXT)
    if off is None or ext is None:
        return None
    rotation = _number(frame.get("rot")) / 60000
    return Box(
        _number(off.get("x")), _number(off.get("y")), _number(ext.get("cx")),
        _number(ext.get("cy")), rotation, frame.get("flipH") in _TRUE, frame.get("flipV") in _TRUE,
    )  # fmt: skip


def set_box(frame: Element, left: float, top: float, width: float, height: float) -> None:
    """Write a place into the frame of a shape."""
    for tag, values in ((n.OFF, {"x": left, "y": top}), (n.EXT, {"cx": width, "cy": height})):
        child = frame.find(tag)
        if child is None:
            child = etree.SubElement(frame, tag)
        for key, value in values.items():
            child.set(key, str(round(value)))


def in_groups(box: Box, groups: tuple[Element, ...]) -> Box:
    """Return a box of the innermost group in the coordinates of the slide."""
    for group in reversed(groups):
        outer = own_box(group)
        frame = group.find(f"{n.GRP_SP_PR}/{n.XFRM}")
        if outer is None or frame is None:
            continue
        off, ext = frame.find(n.CH_OFF), frame.find(n.CH_EXT)
        if off is None or ext is None:
            continue
        inner = (_number(off.get("x")), _number(off.get("y")))
        size = (_number(ext.get("cx")), _number(ext.get("cy")))
        box = _in_group(box, outer, inner, size)
    return box


def _in_group(box: Box, group: Box, inner: tuple[float, float], size: tuple[float, float]) -> Box:
    """Return a member's box outside its group: shifted and scaled, mirrored, turned, in that order.

    A member that lies more on its side than upright is stretched along its own axes.
    """
    scale_x = group.width / size[0] if size[0] else 1.0
    scale_y = group.height / size[1] if size[1] else 1.0
    across = (box.left + box.width / 2 - inner[0]) * scale_x - group.width / 2
    down = (box.top + box.height / 2 - inner[1]) * scale_y - group.height / 2
    if 45 <= box.rotation % 180 < 135:
        scale_x, scale_y = scale_y, scale_x
    width, height = box.width * scale_x, box.height * scale_y
    across, down = -across if group.flip_h else across, -down if group.flip_v else down
    mirrored = group.flip_h != group.flip_v
    angle = math.radians(group.rotation)
    middle = group.left + group.width / 2, group.top + group.height / 2
    x = middle[0] + across * math.cos(angle) - down * math.sin(angle)
    y = middle[1] + across * math.sin(angle) + down * math.cos(angle)
    return Box(
        x - width / 2,
        y - height / 2,
        width,
        height,
        (-box.rotation if mirrored else box.rotation) + group.rotation,
        box.flip_h != group.flip_h,
        box.flip_v != group.flip_v,
    )


def _number(value: str | None) -> float:
    """Return a coordinate; files may hold anything, slides are smaller than this."""
    try:
        found = float(value or 0)
    except ValueError:
        return 0.0
    return found if abs(found) < _FARTHEST else 0.0
