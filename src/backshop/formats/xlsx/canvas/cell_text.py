"""The text of a cell in its place: aligned, wrapped, turned, cut or running over (F43.18)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from backshop.formats.canvas.chart.data import Rect
from backshop.formats.canvas.figure import Figure, Group
from backshop.formats.canvas.text_block import Line, Run, lines

from .cell_look import CellLook
from .content import Content, run_of

PAD = 3.0  # between a cell's side and its text
_STEP = 9.0  # of an indent
_STACKED = 255
_EVEN = ("justify", "distributed")
_SPREAD = ("center", "centerContinuous", "distributed")
_LEAN = 1.3  # above and below the lines of a row that fits its text
_GENERAL = frozenset({"", "General", "general", "GENERAL", "@"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where a cell's text may stand: the cell, and how far it may run over at each side."""

    cell: Rect
    left: float = 0.0
    right: float = 0.0
    is_merged: bool = False


def h_align(look: CellLook, content: Content) -> str:
    """Return where text stands in a cell: left, center or right, and the other words there are."""
    if look.h_align != "general":
        return {"justify": "left"}.get(look.h_align, look.h_align)
    if content.is_waiting:
        return "left"
    if content.is_number:
        return "right"
    return "center" if content.value.kind in ("boolean", "error") else "left"


def text_width(content: Content) -> float:
    """Return how wide a content is on one line."""
    return sum(run.width for run in content.runs)


def fits_over(look: CellLook, content: Content) -> bool:
    """Whether a text runs over its neighbours where it is too long."""
    is_plain = not (look.wrap or look.shrink or look.rotation) and not content.is_number
    return is_plain and look.h_align not in ("fill", *_EVEN)


def needed_height(look: CellLook, content: Content, width: float) -> float:
    """Return how tall a row must be for a content in a column of a width."""
    if not content.runs:
        return 0.0
    if look.rotation:
        turned = _angle(look.rotation)
        tall = max(run.face.line_height * run.size for run in content.runs)
        if look.rotation == _STACKED:
            return tall * sum(len(run.text) for run in content.runs) + 2 * _LEAN
        return (
            abs(math.sin(turned)) * text_width(content) + abs(math.cos(turned)) * tall + 2 * _LEAN
        )
    if not _wraps(look, content):
        return max(run.face.line_height * run.size for run in content.runs) + 2 * _LEAN
    put = _lines(look, content, Rect(x=0, y=0, width=width, height=1e6))
    return sum(line.height for line in put) + 2 * _LEAN


def cell_text(look: CellLook, content: Content, room: Room) -> Iterator[Figure]:
    """Yield the text of a cell."""
    if not content.runs or room.cell.width <= 0 or room.cell.height <= 0:
        return
    if look.rotation:
        yield from _turned(look, content, room)
        return
    width = room.cell.width - 2 * PAD - look.indent * _STEP
    shown = _number(look, content, width) if content.is_number else content
    if look.shrink and not look.wrap:
        shown = _shrunk(shown, room.cell.width - 2 * PAD)
    put = _lines(look, shown, room.cell)
    top = _top(look, put, room.cell)
    yield from _placed(look, shown, put, room, top)


def _lines(look: CellLook, content: Content, cell: Rect) -> list[Line]:
    if _wraps(look, content):
        width = max(cell.width - 2 * PAD - look.indent * _STEP, 4.0)
        return lines(content.runs, width)
    return lines([_on_one_line(run) for run in content.runs], None)


def _wraps(look: CellLook, content: Content) -> bool:
    """Whether a text goes on in another line of its cell; one that is spread out does."""
    return (look.wrap or look.h_align in _EVEN) and not content.is_number


def _on_one_line(run: Run) -> Run:
    is_broken = "\n" in run.text or "\r" in run.text
    return replace(run, text=" ".join(run.text.splitlines())) if is_broken else run


def _top(look: CellLook, put: list[Line], cell: Rect) -> float:
    tall = sum(line.height for line in put)
    if look.v_align in ("top", "justify"):
        return cell.y + 1
    if look.v_align in ("center", "distributed"):
        return cell.y + (cell.height - tall) / 2
    # a text taller than its cell is seen from its beginning
    is_long = look.wrap or look.h_align in _EVEN
    return max(cell.bottom - tall - 1, cell.y) if is_long else cell.bottom - tall - 1


def _placed(
    look: CellLook, content: Content, put: list[Line], room: Room, top: float
) -> Iterator[Figure]:
    align = h_align(look, content)
    cell, indent = room.cell, look.indent * _STEP
    figures: list[Figure] = []
    low, high = cell.right, cell.x
    y = top
    for line in put:
        x = cell.x + PAD + indent
        if align == "right":
            x = cell.right - PAD - indent - line.width
        elif align in _SPREAD:
            x = cell.x + (cell.width - line.width) / 2
        if align == "fill" and line.width > 0:
            line = _repeated(line, cell.width - 2 * PAD)
        figures += line.figures(x, y + line.ascent)
        low, high = min(low, x), max(high, x + line.width)
        y += line.height
    left, right = cell.x - room.left, cell.right + room.right
    is_over = low < left - 0.5 or high > right + 0.5
    is_tall = not room.is_merged and (y > cell.bottom + 2 or top < cell.y - 2)
    if is_over or is_tall or (room.is_merged and y > cell.bottom + 2):
        clip = (left, cell.y, right - left, cell.height)
        yield Group(figures=tuple(figures), clip=clip)
    else:
        yield from figures


def _repeated(line: Line, width: float) -> Line:
    times = min(int(width // line.width), 200)
    return replace(line, runs=line.runs * times) if times > 1 else line


def _number(look: CellLook, content: Content, width: float) -> Content:
    """Return a number that fits: with fewer digits where no format says them, else as `####`."""
    if text_width(content) <= width + 1 or not content.runs:
        return content
    run, value = content.runs[0], content.value.number
    if look.shrink:
        return content
    if look.code in _GENERAL and value is not None and content.value.kind == "number":
        for text in _shorter(value):
            if run.face.width(text, run.size) <= width + 1:
                return replace(content, runs=(replace(run, text=text),))
    count = int(width // max(run.face.width("#", run.size), 1.0))
    return replace(content, runs=(replace(run, text="#" * max(count, 1)),))


def _shorter(value: float) -> Iterator[str]:
    """Yield a number with fewer and fewer digits, then with a power of ten."""
    whole = len(str(int(abs(value))))
    if whole <= 11:
        for digits in range(10 - min(whole, 10), -1, -1):
            text = f"{value:.{digits}f}"
            yield text.rstrip("0").rstrip(".") if "." in text else text
    for digits in range(5, -1, -1):
        mantissa, _, power = f"{value:.{digits}E}".partition("E")
        if "." in mantissa:
            mantissa = mantissa.rstrip("0").rstrip(".")
        yield f"{mantissa}E{power}"


def _shrunk(content: Content, width: float) -> Content:
    wide = text_width(content)
    if wide <= width or wide <= 0:
        return content
    part = max(width / wide, 0.05)
    return replace(content, runs=tuple(replace(run, size=run.size * part) for run in content.runs))


def _angle(rotation: int) -> float:
    """Return by how much text is turned, counterclockwise, in radians."""
    return math.radians(rotation if rotation <= 90 else 90 - rotation)


def _turned(look: CellLook, content: Content, room: Room) -> Iterator[Figure]:
    if look.rotation == _STACKED:
        yield from _stacked(look, content, room)
        return
    turn = _angle(look.rotation)
    sin, cos = abs(math.sin(turn)), abs(math.cos(turn))
    length = room.cell.height / sin if look.wrap and sin > 0.9 else None
    put = lines(content.runs, length)
    wide, tall = max(line.width for line in put), sum(line.height for line in put)
    across, down = wide * cos + tall * sin, wide * sin + tall * cos
    cell, align = room.cell, h_align(look, content)
    x = cell.x + PAD + across / 2
    if align == "right":
        x = cell.right - PAD - across / 2
    elif align in _SPREAD or (look.h_align == "general" and look.rotation in (90, 180)):
        x = cell.x + cell.width / 2
    y = cell.bottom - 2 - down / 2
    if look.v_align == "top":
        y = cell.y + 2 + down / 2
    elif look.v_align in _SPREAD:
        y = cell.y + cell.height / 2
    figures: list[Figure] = []
    top = y - tall / 2
    for line in put:
        figures += line.figures(x - wide / 2, top + line.ascent)
        top += line.height
    yield Group(figures=tuple(figures), turn=-math.degrees(turn), around=(x, y))


def _stacked(look: CellLook, content: Content, room: Room) -> Iterator[Figure]:
    """Yield letters one below the other."""
    letters = [run_of(letter, look) for run in content.runs for letter in run.text[:100]]
    step = look.face.line_height * look.size
    tall = step * len(letters)
    y = room.cell.bottom - tall - 1
    if look.v_align == "top":
        y = room.cell.y + 1
    elif look.v_align in _SPREAD:
        y = room.cell.y + (room.cell.height - tall) / 2
    for letter in letters:
        line = lines(
            [Run(text=letter.text, face=letter.face, size=letter.size, color=letter.color)], None
        )[0]
        yield from line.figures(room.cell.x + (room.cell.width - line.width) / 2, y + line.ascent)
        y += step
