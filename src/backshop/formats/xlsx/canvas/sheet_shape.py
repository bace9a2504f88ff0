"""Shapes of a sheet: boxes, ovals and lines with their text, those of groups too (F43.21)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from backshop.formats.canvas.chart.data import Rect
from backshop.formats.canvas.face import Face, face
from backshop.formats.canvas.figure import Box, Figure, Group, Oval, Path, Stroke, Text
from backshop.formats.canvas.text_block import Line, Run, lines
from backshop.formats.chart.shown import Look
from backshop.formats.package.drawing_color import color_of, is_unfilled, solid_fill
from backshop.formats.package.drawing_text import P
from backshop.formats.package.guard import Element

from ..book.workbook import child, children, local
from ..drawing.cell_size import EMU

_BOXES = ("rect", "", "roundRect", "flowChartProcess", "flowChartAlternateProcess")
_LINES = ("line", "straightConnector1")
_LEAVES = frozenset({"sp", "cxnSp", "pic", "graphicFrame"})
_DEEPEST = 8  # groups in groups
_MOST = 200  # shapes of one group
_INSET = (91_440, 45_720)  # left and right, top and bottom, where none is said
_USUAL_PX = 14.67
_UPRIGHT = frozenset({"vert", "vert270", "wordArtVert", "eaVert", "mongolianVert"})

LIKE_BOXES = "shapes on the sheet are drawn as boxes with their text"
NOT_DRAWN = "charts and pictures in groups on the sheet are not drawn"


def shape_figures(shape: Element, rect: Rect, look: Look, missing: list[str]) -> Iterator[Figure]:
    """Yield a shape of a sheet, or those of a group, where they stand."""
    for number, (leaf, place) in enumerate(_leaves(shape, rect, 0)):
        if number == _MOST:
            missing.append(f"{_MOST} shapes of a group on the sheet are drawn")
            return
        if local(leaf) in ("sp", "cxnSp"):
            yield from _turned(leaf, place, tuple(_shape(leaf, place, look, missing)))
        else:
            missing.append(NOT_DRAWN)


def _leaves(shape: Element, rect: Rect, depth: int) -> Iterator[tuple[Element, Rect]]:
    """Yield the shapes of a group that are none themselves, with where they stand."""
    if local(shape) != "grpSp":
        yield shape, rect
        return
    form = child(child(shape, "grpSpPr"), "xfrm")
    inner, size = _pair(child(form, "chOff"), "xy"), _pair(child(form, "chExt"), ("cx", "cy"))
    for one in shape if depth < _DEEPEST else ():
        if local(one) == "AlternateContent":
            one = next((item for item in one.iter("{*}*") if local(item) in _LEAVES), one)
        if local(one) not in _LEAVES and local(one) != "grpSp":
            continue
        own = child(child(one, "grpSpPr" if local(one) == "grpSp" else "spPr"), "xfrm")
        at, wide = _pair(child(own, "off"), "xy"), _pair(child(own, "ext"), ("cx", "cy"))
        across = rect.width / size[0] if size[0] > 0 else 1 / EMU
        down = rect.height / size[1] if size[1] > 0 else 1 / EMU
        place = Rect(
            x=rect.x + (at[0] - inner[0]) * across,
            y=rect.y + (at[1] - inner[1]) * down,
            width=max(wide[0] * across, 0.0),
            height=max(wide[1] * down, 0.0),
        )
        yield from _leaves(one, place, depth + 1)


def _shape(shape: Element, rect: Rect, look: Look, missing: list[str]) -> Iterator[Figure]:
    properties, style = child(shape, "spPr"), child(shape, "style")
    kind = next((one.get("prst") or "" for one in shape.iter("{*}prstGeom")), "")
    line = child(properties, "ln")
    said = solid_fill(line, look.theme) or color_of(child(style, "lnRef"), look.theme)
    pen = Stroke(color=said or "#7f7f7f", width=_line_width(line))
    stroke = None if is_unfilled(line) else pen
    fill = solid_fill(properties, look.theme)
    if fill is None and style is not None and not is_unfilled(properties):
        fill = color_of(child(style, "fillRef"), look.theme)
    if kind in _LINES or local(shape) == "cxnSp":
        if kind not in _LINES:
            missing.append(LIKE_BOXES)
        corners = (("M", rect.x, rect.y), ("L", rect.right, rect.bottom))
        yield Path(steps=corners, stroke=pen)
        return
    sides = {"x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height}
    if kind == "ellipse":
        yield Oval(**sides, fill=fill, stroke=stroke)
    else:
        if kind not in _BOXES or child(properties, "custGeom") is not None:
            missing.append(LIKE_BOXES)
        yield Box(**sides, fill=fill, stroke=stroke)
    yield from _words(shape, rect, look, missing)


def _words(shape: Element, rect: Rect, look: Look, missing: list[str]) -> Iterator[Figure]:
    """Yield the text of a shape as its paragraphs and its box have it."""
    body = child(shape, "txBody")
    said = child(body, "bodyPr")
    if said is not None and (said.get("vert") in _UPRIGHT or _whole(said.get("rot"))):
        missing.append("turned text in shapes on the sheet is drawn upright")
    left, top, right, bottom = (
        _whole(said.get(name) if said is not None else None, _INSET[at % 2]) / EMU
        for at, name in enumerate(("lIns", "tIns", "rIns", "bIns"))
    )
    usual = color_of(child(child(shape, "style"), "fontRef"), look.theme) or "#000000"
    width = max(rect.width - left - right, 10.0)
    put: list[tuple[Line, str]] = []
    for paragraph in children(body, "p"):
        form = child(paragraph, "pPr")
        align = (form.get("algn") or "l") if form is not None else "l"
        put += [(line, align) for line in lines(_runs(paragraph, look, usual), width)]
    tall = sum(line.height for line, _ in put)
    anchor = said.get("anchor") if said is not None else None
    room = rect.height - top - bottom - tall
    y = rect.y + top + max(room, 0.0) * {"ctr": 0.5, "b": 1.0}.get(anchor or "t", 0.0)
    figures: list[Figure] = []
    if said is not None and said.get("anchorCtr") in ("1", "true"):
        widest = min(max((line.width for line, _ in put), default=width), width)
        left, width = left + (width - widest) / 2, widest
    for line, align in put:
        x = rect.x + left + (width - line.width) * {"ctr": 0.5, "r": 1.0}.get(align, 0.0)
        figures += line.figures(x, y + line.ascent)
        y += line.height
    if any(isinstance(one, Text) for one in figures):
        yield Group(figures=tuple(figures), clip=(rect.x, rect.y, rect.width, rect.height))


def _runs(paragraph: Element, look: Look, usual: str) -> list[Run]:
    assert paragraph.tag == P or local(paragraph) == "p"
    first = next((_size(one) for one in paragraph.iter("{*}rPr", "{*}endParaRPr")), _USUAL_PX)
    found: list[Run] = []
    for item in paragraph:
        if local(item) == "br":
            found.append(Run(text="\n", face=face(look.face_name), size=first))
        elif local(item) in ("r", "fld"):
            text = "".join(one.text or "" for one in children(item, "t"))
            found.append(_run(text, child(item, "rPr"), look, usual))
    return found or [Run(text="", face=face(look.face_name), size=first)]


def _run(text: str, said: Element | None, look: Look, usual: str) -> Run:
    plain = Run(text=text, face=face(look.face_name), size=_USUAL_PX, color=usual)
    if said is None:
        return plain
    latin = child(said, "latin")
    name = (latin.get("typeface") or "") if latin is not None else ""
    family: Face = face(look.face_name if not name or name.startswith("+") else name)
    is_bold, is_italic = (said.get(key) in ("1", "true") for key in "bi")
    return replace(
        plain,
        face=replace(family, bold=is_bold, italic=is_italic),
        size=_size(said),
        color=solid_fill(said, look.theme) or usual,
        underline=(said.get("u") or "none") != "none",
        strike=(said.get("strike") or "noStrike") != "noStrike",
    )


def _size(said: Element) -> float:
    size = _whole(said.get("sz"))
    return size / 75 if 100 <= size <= 40_000 else _USUAL_PX


def _line_width(line: Element | None) -> float:
    said = _whole(line.get("w") if line is not None else None, EMU)
    return min(max(said / EMU, 0.5), 60.0)


def _turned(shape: Element, rect: Rect, figures: tuple[Figure, ...]) -> Iterator[Figure]:
    """Yield figures turned and mirrored as a shape is; its text is not mirrored."""
    form = child(child(shape, "spPr"), "xfrm")
    degrees = _whole(form.get("rot") if form is not None else None) / 60_000
    flips = [form is not None and form.get(key) in ("1", "true") for key in ("flipH", "flipV")]
    if not degrees and not any(flips):
        yield from figures
        return
    around = (rect.x + rect.width / 2, rect.y + rect.height / 2)
    words = [one for one in figures if isinstance(one, Group)]
    forms = tuple(one for one in figures if not isinstance(one, Group))
    yield Group(figures=forms, turn=degrees, around=around, mirror_x=flips[0], mirror_y=flips[1])
    if words:
        yield Group(figures=tuple(words), turn=degrees, around=around)


def _pair(element: Element | None, names: tuple[str, str] | str) -> tuple[int, int]:
    if element is None:
        return 0, 0
    return _whole(element.get(names[0])), _whole(element.get(names[1]))


def _whole(text: str | None, usual: int = 0) -> int:
    digits = (text or "").removeprefix("-")
    return int(text or 0) if digits.isdigit() and len(digits) < 14 else usual
