"""The text of a shape or a cell, set in lines inside a box (F43.33, F43.34)."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

from backshop.formats.canvas.face import ARIMO, TINOS
from backshop.formats.canvas.figure import Figure, Group
from backshop.formats.canvas.text_block import Line, Run, lines
from backshop.formats.package.drawing_text import paragraph_text
from backshop.formats.package.guard import Element

from .. import names as n
from ..shape import whole
from .bullet import Counter, bullet
from .ink import EMU, Ink
from .text_look import ParagraphLook, TextLook, paragraph_look, run_of

_INSETS = (("lIns", 91_440), ("tIns", 45_720), ("rIns", 91_440), ("bIns", 45_720))
_GAPS = {ARIMO: 0.033, TINOS: 0.042}  # what programs leave between lines beside the letters
_TURNS = {"vert": 90.0, "eaVert": 90.0, "mongolianVert": 90.0, "vert270": -90.0,
          "wordArtVert": 90.0, "wordArtVertRtl": 90.0}  # fmt: skip
_TAB = " " * 8
_PARAGRAPHS_MAX = 2_000  # of one text
TEXT_LETTERS_MAX = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line, where it begins, and the room it takes."""

    line: Line
    left: float
    width: float  # it may take
    top: float
    height: float
    baseline: float  # below the top
    look: ParagraphLook
    is_last: bool
    bullet: Run | None = None
    bullet_left: float = 0.0


class TextBody:
    """One text, set for a width."""

    def __init__(
        self, body: Element, look: TextLook, ink: Ink, number: int, width: float | None
    ) -> None:
        self._look = look
        self._ink = ink
        self._number = number
        self.height = 0.0
        self.rows = self._set(body, width)

    def figures(self, x: float, y: float, width: float) -> Iterator[Figure]:
        """Yield what is drawn, the top left corner of the text being at a point."""
        for row in self.rows:
            baseline = y + row.top + row.baseline
            room = row.width if row.width > 0 else width - row.left
            free = room - row.line.width
            align = row.look.align
            shift = free / 2 if align == "ctr" else free if align == "r" else 0.0
            if row.bullet is not None:
                mark = Line(runs=(row.bullet,), ascent=0, descent=0)
                yield from mark.figures(x + row.bullet_left + shift, baseline)
            line = row.line
            if row.look.is_rtl:
                line = replace(line, runs=tuple(reversed(line.runs)))
            spread = align in ("just", "dist") and not row.is_last and 0 < free < room / 2
            if spread:
                yield from _spread(line, x + row.left, baseline, free)
            else:
                yield from line.figures(x + row.left + shift, baseline)

    def _set(self, body: Element, width: float | None) -> list[_Row]:
        rows: list[_Row] = []
        counter = Counter()
        top, left = 0.0, TEXT_LETTERS_MAX
        paragraphs = list(body.iterchildren(n.P_T))
        for at, paragraph in enumerate(paragraphs):
            if at >= _PARAGRAPHS_MAX or left <= 0:
                self._ink.note(f"{at:,} of {len(paragraphs):,} paragraphs of a text are drawn")
                break
            look = paragraph_look(paragraph, self._look)
            runs, like = self._runs(paragraph, look)
            letters = sum(len(run.text) for run in runs)
            if letters > left:
                self._ink.note(f"{left:,} of {letters:,} letters of a paragraph are drawn")
                runs = list(_begun(runs, left))
            left -= letters
            if at:
                top += _gap(look.before, like)
            mark = bullet(look, like, counter, self._ink) if runs else None
            for row in self._rows(runs, like, look, mark, width):
                rows.append(replace(row, top=top))
                top += row.height
            self.height = top
            top += _gap(look.after, like)
        return rows

    def _rows(
        self, runs: list[Run], like: Run, look: ParagraphLook, mark: Run | None, width: float | None
    ) -> Iterator[_Row]:
        first = look.left + look.indent
        hang = max(first + mark.width + like.size * 0.1, look.left) if mark else first
        room = None if width is None else max(width - look.left, like.size)
        found = lines(runs or [replace(like, text="")], room, first_indent=hang - look.left)
        for at, line in enumerate(found):
            left = hang if at == 0 else look.left
            height, baseline = _heights(line, like, look)
            yield _Row(
                line=line,
                left=left,
                width=0.0 if width is None else width - left,
                top=0.0,
                height=height,
                baseline=baseline,
                look=look,
                is_last=at == len(found) - 1,
                bullet=mark if at == 0 else None,
                bullet_left=first,
            )

    def _runs(self, paragraph: Element, look: ParagraphLook) -> tuple[list[Run], Run]:
        """Return the pieces of a paragraph, and one that says how it looks where it is empty."""
        made = []
        for child in paragraph.iterchildren("*"):
            properties = child.find(n.RPR)
            if child.tag == n.BR:
                text = "\n"
            elif child.tag == n.FLD and (child.get("type") or "") == "slidenum":
                text = str(self._number)
            elif child.tag in (n.R_T, n.FLD):
                text = "".join(t.text or "" for t in child.iterchildren(n.T))
            elif child.tag in (n.PPR, n.END_RPR):
                continue
            else:
                text = _other_text(child)
            text = text.replace("\t", _TAB).replace("\x0b", "\n")
            if text:
                made.append(self._run(text, properties, look))
        if made:
            return made, made[0]
        return [], self._run("", paragraph.find(n.END_RPR), look)

    def _run(self, text: str, properties: Element | None, look: ParagraphLook) -> Run:
        return run_of(text, properties, self._look, look.styles, self._ink)


def _begun(runs: list[Run], letters: int) -> Iterator[Run]:
    """Yield the first letters of a paragraph."""
    for run in runs:
        if letters > 0:
            yield replace(run, text=run.text[:letters])
        letters -= len(run.text)


def _other_text(element: Element) -> str:
    """Return the words of an equation or of what is kept in two forms."""
    holder = element.makeelement(n.P_T)
    holder.append(copy.deepcopy(element))
    return paragraph_text(holder)


def _gap(gap: tuple[float, bool], like: Run) -> float:
    size, is_part = gap
    return size * like.size if is_part else size


def _heights(line: Line, like: Run, look: ParagraphLook) -> tuple[float, float]:
    """Return how high a line is, and how far below its top the letters stand."""
    tallest = max(line.runs, key=lambda run: run.size, default=like)
    natural = line.height + _GAPS.get(tallest.face.family, 0.0) * tallest.size
    if look.line_px is not None:
        return look.line_px, look.line_px * 0.8
    part = look.line_part or 1.0
    height = natural * part
    return height, line.ascent + (height - natural)


def _spread(line: Line, x: float, baseline: float, free: float) -> Iterator[Figure]:
    """Yield the words of a line so that it fills its room."""
    words: list[Run] = []
    for run in line.runs:
        words += [replace(run, text=word + " ") for word in run.text.split(" ")]
        words[-1] = replace(words[-1], text=words[-1].text[:-1])
    gaps = sum(word.text.endswith(" ") for word in words)
    while words and not words[-1].text.strip():
        gaps -= words.pop().text.endswith(" ")
    each = free / max(gaps, 1)
    for word in words:
        yield from Line(runs=(word,), ascent=0, descent=0).figures(x, baseline)
        x += word.width + (each if word.text.endswith(" ") else 0.0)


def in_box(
    body: Element, look: TextLook, ink: Ink, number: int, box: tuple[float, float, float, float]
) -> list[Figure]:
    """Return a text inside a box of x, y, width and height, as its body says."""
    turn = _TURNS.get(look.body("vert") or "")
    if turn is None:
        return list(_placed(body, look, ink, number, box))
    if (look.body("vert") or "").startswith("wordArt"):
        ink.note("letters that stand on each other are drawn along a turned line")
    x, y, width, height = box
    middle = (x + width / 2, y + height / 2)
    lying = (middle[0] - height / 2, middle[1] - width / 2, height, width)
    turned = tuple(_placed(body, look, ink, number, lying))
    return [Group(figures=turned, turn=turn, around=middle)] if turned else []


def insets(look: TextLook) -> tuple[float, float, float, float]:
    """Return what is left free at left, top, right and bottom."""
    left, top, right, bottom = (
        min(max((usual if (v := whole(look.body(name))) is None else v) / EMU, -500.0), 500.0)
        for name, usual in _INSETS
    )
    return left, top, right, bottom


def _placed(
    body: Element, look: TextLook, ink: Ink, number: int, box: tuple[float, float, float, float]
) -> Iterator[Figure]:
    left, top, right, bottom = insets(look)
    x, y = box[0] + left, box[1] + top
    width, height = box[2] - left - right, box[3] - top - bottom
    is_wrapped = look.body("wrap") != "none"
    columns = min(max(whole(look.body("numCol")) or 1, 1), 16)
    gap = (whole(look.body("spcCol")) or 0) / EMU
    one = max((width - gap * (columns - 1)) / columns, 1.0) if columns > 1 else max(width, 1.0)
    text = TextBody(body, look, ink, number, one if is_wrapped else None)
    if columns > 1 and text.height > height:
        yield from _in_columns(text, x, y, one, gap, max(height, text.height / columns))
        return
    free = height - text.height
    anchor = look.body("anchor") or "t"
    y += free / 2 if anchor == "ctr" else free if anchor == "b" else 0.0
    yield from text.figures(x, y, one)


def _in_columns(
    text: TextBody, x: float, y: float, width: float, gap: float, height: float
) -> Iterator[Figure]:
    rows, column, start = text.rows, 0, 0.0
    for row in rows:
        if row.top + row.height - start > height + 0.5 and row.top > start:
            column, start = column + 1, row.top
        text.rows = [row]
        yield from text.figures(x + column * (width + gap), y - start, width)
    text.rows = rows
