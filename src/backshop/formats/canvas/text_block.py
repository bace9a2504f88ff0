"""Text put into lines of a width: what cells, shapes and charts have in common (F43.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .face import Face
from .figure import Box, Figure, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A piece of text in one look."""

    text: str
    face: Face
    size: float
    color: str = "#000000"
    underline: bool = False
    strike: bool = False
    rise: float = 0.0  # above the base line
    highlight: str | None = None

    @property
    def width(self) -> float:
        """How wide it is on one line."""
        return self.face.width(self.text, self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of runs and how much room it takes."""

    runs: tuple[Run, ...]
    ascent: float
    descent: float

    @property
    def width(self) -> float:
        """How wide it is, without spaces at its end."""
        shown = list(self.runs)
        while shown and not shown[-1].text.rstrip(" "):
            shown.pop()
        if shown:
            shown[-1] = replace(shown[-1], text=shown[-1].text.rstrip(" "))
        return sum(run.width for run in shown)

    @property
    def height(self) -> float:
        """From its top to its bottom."""
        return self.ascent + self.descent

    def figures(self, x: float, baseline: float) -> Iterator[Figure]:
        """Yield its texts from `x` on."""
        for run in self.runs:
            if run.text:
                if run.highlight is not None:
                    yield Box(
                        x=x,
                        y=baseline - run.rise - run.face.ascent * run.size,
                        width=run.width,
                        height=run.face.line_height * run.size,
                        fill=run.highlight,
                    )
                yield Text(
                    x=x,
                    y=baseline - run.rise,
                    text=run.text,
                    face=run.face,
                    size=run.size,
                    color=run.color,
                    underline=run.underline,
                    strike=run.strike,
                )
            x += run.width


def lines(
    runs: Iterable[Run], width: float | None, first_indent: float = 0.0, spacing: float = 1.0
) -> list[Line]:
    """Return runs as lines; without a width only line breaks end one."""
    out: list[Line] = []
    given = tuple(runs)
    line: list[Run] = []
    used = first_indent
    last = next((run for run in given), None)
    for run, word, is_break in _words(given):
        last = run
        if is_break:
            out.append(_line(line, run, spacing))
            line, used = [], 0.0
            continue
        piece = replace(run, text=word)
        visible = run.face.width(word.rstrip(" "), run.size)
        if width is not None and line and used + visible > width + 0.01:
            out.append(_line(line, run, spacing))
            line, used = [], 0.0
        for part in _cut(piece, width):
            if (
                line
                and width is not None
                and used + part.width > width + 0.01
                and part is not piece
            ):
                out.append(_line(line, run, spacing))
                line, used = [], 0.0
            line.append(part)
            used += part.width
    if line or not out:
        out.append(_line(line, last, spacing))
    return out


def _words(runs: Iterable[Run]) -> Iterator[tuple[Run, str, bool]]:
    """Yield words with the spaces after them; letters of Chinese and Japanese stand alone."""
    for run in runs:
        word = ""
        for letter in run.text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0b", "\n"):
            if letter == "\n":
                if word:
                    yield run, word, False
                yield run, "", True
                word = ""
                continue
            ends = word.endswith((" ", "\t")) and letter not in " \t"
            alone = "\u2e80" <= letter <= "\uffdc" or word.endswith(("-", "\u2013"))
            if word and (ends or alone):
                yield run, word, False
                word = ""
            word += letter
        if word:
            yield run, word, False


def _cut(piece: Run, width: float | None) -> Iterator[Run]:
    """Yield a word in parts where it is wider than a whole line."""
    if width is None or piece.face.width(piece.text.rstrip(" "), piece.size) <= width + 0.01:
        yield piece
        return
    part, used = "", 0.0
    for letter in piece.text:
        wide = piece.face.width(letter, piece.size)
        if part and used + wide > width:
            yield replace(piece, text=part)
            part, used = "", 0.0
        part += letter
        used += wide
    yield replace(piece, text=part)


def _line(runs: list[Run], like: Run | None, spacing: float) -> Line:
    shown = runs or ([like] if like is not None else [])
    ascent = max((run.face.ascent * run.size for run in shown), default=12.0)
    descent = max((run.face.descent * run.size for run in shown), default=3.0)
    return Line(runs=tuple(_joined(runs)), ascent=ascent * spacing, descent=descent * spacing)


def _joined(runs: list[Run]) -> Iterator[Run]:
    """Yield neighbours of one look as one run: fewer texts to draw, and none torn apart."""
    held: Run | None = None
    for run in runs:
        if held is not None and replace(held, text="") == replace(run, text=""):
            held = replace(held, text=held.text + run.text)
            continue
        if held is not None:
            yield held
        held = run
    if held is not None:
        yield held
