"""A document drawn as it flows, cut into pictures of about a page each (F43.75).

For who takes pictures where nobody else draws pages: what stands in a picture and how it looks is
the document's, where a picture ends is not.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..protocol import JsonObject
from .face import face
from .figure import Box, Canvas, Figure, Frame, Picture, Stroke
from .flow import (
    Flow,
    FlowBlock,
    FlowBreak,
    FlowCell,
    FlowParagraph,
    FlowPicture,
    FlowRun,
    FlowTable,
)
from .text_block import Line, Run, lines
from .viewed import require_page, shown

_MARGIN = 48.0
_SHAPE = 1.4  # how much taller a picture is than wide
_SIZE = 44 / 3  # 11 points
_HEADINGS = {1: 26.0, 2: 21.0, 3: 18.0}  # where a document does not say it
_PAD = 5.0  # inside cells
_SMALL = 0.65  # of raised and lowered text
_NARROWEST = 8.0
_LINE = Stroke(color="#a6a6a6", width=1.0)
_CHANGES = {"inserted": "#1a7f37", "deleted": "#b42318"}
_GREY = "#6b6b6b"
_WINDOWS = 10  # of blocks that are laid out until a page is found
_CUT = "pages end where the picture does, not where they do in print"
_BESIDE = "headers, footers, notes and comments"
_SPANS = "cells over several rows stand in the first of them"

Draw = Callable[[float], Iterator[Figure]]


@dataclass(frozen=True, slots=True)
class _Owner:
    """The block that something belongs to."""

    place: str | None = None
    kind: str = "paragraph"
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Strip:
    """What is not cut in two: a line, a picture, a row of a table; drawn from a height on."""

    height: float
    draw: Draw
    owner: _Owner = _Owner()
    begins_page: bool = False


def view_flow(flow_from: Callable[[int], Flow], page: int) -> tuple[bytes, JsonObject]:
    """Return a part of a document as a picture; `flow_from` gives its blocks from one on."""
    pages: list[list[_Strip]] = [[]]
    missing: dict[str, None] = {}
    first: int | None = 0
    for _ in range(_WINDOWS):
        flow = flow_from(first or 0)
        _fill(pages, flow)
        missing.update(dict.fromkeys((*flow.missing, *_undrawn(flow))))
        first = flow.next_block
        if first is None or len(pages) > page:
            break
    require_page(page, len(pages), "part")
    if len(pages) > 1:
        missing[_CUT] = None
    image, facts = shown(_canvas(pages[page - 1], flow.width, tuple(missing)))
    if first is not None:  # nobody counted how many there are
        return image, {"shown": f"part {page}", "page": page, **facts}
    count = len(pages)
    return image, {
        "shown": f"part {page} of {count}",
        "page": page,
        "page_count": count,
        **facts,
    }


def _fill(pages: list[list[_Strip]], flow: Flow) -> None:
    """Put the strips of blocks into pages, each as full as it gets."""
    most = (flow.width + 2 * _MARGIN) * _SHAPE - 2 * _MARGIN
    used = sum(one.height for one in pages[-1])
    for strip in _strips(flow.blocks, flow.width, _MARGIN):
        if pages[-1] and (strip.begins_page or used + strip.height > most):
            pages.append([])
            used = 0.0
        if not strip.begins_page:
            pages[-1].append(strip)
            used += strip.height


def _canvas(strips: Sequence[_Strip], width: float, missing: tuple[str, ...]) -> Canvas:
    figures: list[Figure] = []
    frames: list[Frame] = []
    y = _MARGIN
    for owner, group in groupby(strips, key=lambda one: one.owner):
        top = y
        for strip in group:
            figures.extend(strip.draw(y))
            y += strip.height
        if owner.place is not None:
            frames.append(
                Frame(
                    kind=owner.kind,
                    place=owner.place,
                    label=owner.label,
                    x=_MARGIN,
                    y=top,
                    width=width,
                    height=y - top,
                )
            )
    return Canvas(
        width=width + 2 * _MARGIN,
        height=y + _MARGIN,
        figures=tuple(figures),
        frames=tuple(frames),
        missing=missing,
    )


def _undrawn(flow: Flow) -> Iterator[str]:
    blocks = [one for one in flow.blocks if not isinstance(one, FlowBreak)]
    if flow.asides or any(one.comments for one in blocks):
        yield _BESIDE
    rows = (row for one in blocks if isinstance(one, FlowTable) for row in one.rows)
    if any(cell.row_span > 1 for row in rows for cell in row):
        yield _SPANS


def _strips(blocks: Sequence[FlowBlock], width: float, x: float) -> Iterator[_Strip]:
    for block in blocks:
        match block:
            case FlowBreak():
                yield _Strip(0.0, _nothing, begins_page=True)
            case FlowParagraph():
                yield from _paragraph(block, width, x)
            case FlowTable():
                yield from _table(block, width, x)


def _nothing(_: float) -> Iterator[Figure]:
    return iter(())


# --- paragraphs ---------------------------------------------------------------------------------


def _paragraph(block: FlowParagraph, width: float, x: float) -> Iterator[_Strip]:
    owner = _Owner(block.place, block.kind, "".join(one.text for one in block.runs))
    left = x + max(0.0, block.left)
    room = max(_NARROWEST, width - max(0.0, block.left) - max(0.0, block.right))
    yield _Strip(max(0.0, block.before), _nothing, owner)
    marker = block.marker
    for what, runs in _parts(block.runs):
        if what == "page_break":
            yield _Strip(0.0, _nothing, begins_page=True)
        elif what == "picture":
            shown_here = (one.picture for one in runs if one.picture is not None)
            yield from (_picture(one, left, room, owner) for one in shown_here)
        else:
            yield from _text(block, runs, marker, left, room, owner)
            marker = None
    for words in block.boxes:
        boxed = Run(text=words, face=face(None, italic=True), size=_SIZE, color=_GREY)
        yield from (_line(one, left, owner) for one in lines([boxed], room))
    if block.has_rule:
        yield _Strip(2.0, lambda y: _box(left, y, room, 1.0, _LINE.color), owner)
    yield _Strip(max(0.0, block.after), _nothing, owner)


def _parts(runs: Sequence[FlowRun]) -> list[tuple[str, tuple[FlowRun, ...]]]:
    """Return runs of text, of pictures, and ends of pages, each with what it is."""

    def what(run: FlowRun) -> str:
        return "page_break" if run.breaks_page else "picture" if run.picture else "text"

    return [(kind, tuple(group)) for kind, group in groupby(runs, key=what)] or [("text", ())]


def _text(
    block: FlowParagraph,
    runs: Sequence[FlowRun],
    marker: str | None,
    left: float,
    room: float,
    owner: _Owner,
) -> Iterator[_Strip]:
    """Yield the lines of a paragraph, its bullet or number before the first."""
    is_heading = block.kind == "heading"
    usual = _HEADINGS.get(block.level or 0, _SIZE) if is_heading else _SIZE
    made = [_run(one, usual, is_heading=is_heading) for one in runs if one.text]
    made = made or [Run(text="", face=face(None), size=usual)]
    first = 0.0 if marker is not None and block.first < 0 else block.first
    spacing = block.line if block.line and 0.5 <= block.line <= 4 else 1.0
    for number, line in enumerate(lines(made, room, first, spacing)):
        indent = 0.0 if number else first
        free = room - line.width - indent
        start = left + indent + {"center": free / 2, "right": free}.get(block.align or "", 0.0)
        strip = _line(line, start, owner)
        if marker is not None and not number:
            strip = _both(_marker(marker, block, made[0].size, left, line), strip)
        if block.fill is not None:
            ground = _ground(left, room, line.height, block.fill)
            strip = _both(_Strip(line.height, ground, owner), strip)
        yield strip


def _line(line: Line, x: float, owner: _Owner) -> _Strip:
    return _Strip(line.height, lambda y: line.figures(x, y + line.ascent), owner)


def _both(below: _Strip, above: _Strip) -> _Strip:
    """Return two strips that stand in the same place, one drawn over the other."""

    def draw(y: float) -> Iterator[Figure]:
        yield from below.draw(y)
        yield from above.draw(y)

    return _Strip(above.height, draw, above.owner)


def _marker(text: str, block: FlowParagraph, size: float, left: float, line: Line) -> _Strip:
    run = Run(text=text, face=face(block.marker_family), size=size)
    at = left + block.first if block.first < 0 else left - run.width - _PAD
    (shown_as, *_) = lines([run], None)
    return _Strip(line.height, lambda y: shown_as.figures(max(_PAD, at), y + line.ascent))


def _run(run: FlowRun, usual: float, *, is_heading: bool) -> Run:
    size = run.size or usual
    bold = run.bold or (is_heading and run.size is None)
    rise = {"sup": size * 0.35, "sub": -size * 0.15}.get(run.script or "", 0.0)
    return Run(
        text=run.text.replace("\t", "    "),
        face=face(run.family, bold=bold, italic=run.italic),
        size=size * _SMALL if rise else size,
        color=_CHANGES.get(run.change or "", run.color or "#000000"),
        underline=run.underline or run.change == "inserted",
        strike=run.strike or run.change == "deleted",
        rise=rise,
        highlight=run.highlight,
    )


def _picture(picture: FlowPicture, x: float, room: float, owner: _Owner) -> _Strip:
    shrunk = min(1.0, room / max(picture.width, 1.0))
    width, height = picture.width * shrunk, picture.height * shrunk
    data = _bytes(picture.address)

    def draw(y: float) -> Iterator[Figure]:
        if data is None:
            yield Box(x=x, y=y, width=width, height=height, stroke=_LINE)
        else:
            yield Picture(x=x, y=y, width=width, height=height, data=data, alt=picture.alt)

    return _Strip(height, draw, owner)


def _bytes(address: str | None) -> bytes | None:
    """Return the bytes that an address holds."""
    try:
        return base64.b64decode((address or "").partition(",")[2], validate=True) or None
    except binascii.Error:
        return None


def _ground(x: float, width: float, height: float, fill: str) -> Draw:
    return lambda y: _box(x, y, width, height, fill)


def _box(x: float, y: float, width: float, height: float, fill: str) -> Iterator[Figure]:
    yield Box(x=x, y=y, width=width, height=height, fill=fill)


# --- tables -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Placed:
    """A cell of a row: where it stands, how wide it is, and what is in it."""

    x: float
    width: float
    fill: str | None
    strips: tuple[_Strip, ...]

    @property
    def height(self) -> float:
        return sum(one.height for one in self.strips) + 2 * _PAD

    def figures(self, y: float, height: float, *, has_lines: bool) -> Iterator[Figure]:
        stroke = _LINE if has_lines else None
        yield Box(x=self.x, y=y, width=self.width, height=height, fill=self.fill, stroke=stroke)
        y += _PAD
        for strip in self.strips:
            yield from strip.draw(y)
            y += strip.height


def _table(table: FlowTable, width: float, x: float) -> Iterator[_Strip]:
    owner = _Owner(table.place, "table")
    edges = _edges(table, width)
    covered: dict[int, int] = {}  # columns under a cell of a row above, and for how many rows more
    for row in table.rows:
        cells: list[_Placed] = []
        column = 0
        for cell in row:
            while covered.get(column, 0) > 0:
                column += 1
            cells.append(_placed(cell, edges, column, x))
            covered |= dict.fromkeys(range(column, column + cell.column_span), cell.row_span)
            column += cell.column_span
        covered = {one: left - 1 for one, left in covered.items()}
        yield _row(tuple(cells), owner, has_lines=table.has_lines)
    yield _Strip(_PAD, _nothing, owner)


def _placed(cell: FlowCell, edges: Sequence[float], column: int, x: float) -> _Placed:
    first = min(column, len(edges) - 2)
    last = max(min(column + cell.column_span, len(edges) - 1), first + 1)
    width = max(edges[last] - edges[first], _NARROWEST)
    left = x + edges[first]
    inside = _strips(cell.blocks, max(_NARROWEST, width - 2 * _PAD), left + _PAD)
    return _Placed(left, width, cell.fill, tuple(inside))


def _edges(table: FlowTable, width: float) -> list[float]:
    """Return where the columns begin, and where the last one ends, from the table's left on."""
    most = max((sum(one.column_span for one in row) for row in table.rows), default=1) or 1
    widths = [one for one in table.widths if one > 0] or [width / most] * most
    shrunk = min(1.0, width / max(sum(widths), 1.0))
    edges = [0.0]
    for one in widths:
        edges.append(edges[-1] + one * shrunk)
    return edges


def _row(cells: Sequence[_Placed], owner: _Owner, *, has_lines: bool) -> _Strip:
    height = max((one.height for one in cells), default=_SIZE)

    def draw(y: float) -> Iterator[Figure]:
        for one in cells:
            yield from one.figures(y, height, has_lines=has_lines)

    return _Strip(height, draw, owner)
