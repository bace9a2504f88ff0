"""The small text of a chart: measured, placed, turned."""

from __future__ import annotations

from dataclasses import dataclass

from ..face import Face
from ..figure import Figure, Group, Text
from .data import ChartData, Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Lettering:
    """A face, a size and a colour."""

    face: Face
    size: float
    color: str

    @classmethod
    def of(cls, data: ChartData, type: Type | None = None) -> Lettering:
        """Return the lettering of a chart, or of a text in it."""
        plain = cls(face=data.face, size=data.size, color=data.color)
        return plain if type is None else plain.dressed(type)

    def dressed(self, type: Type) -> Lettering:
        """Return it in another look, as far as that says something."""
        bold = self.face.bold if type.bold is None else type.bold
        italic = self.face.italic if type.italic is None else type.italic
        return Lettering(
            face=Face(self.face.family, bold, italic),
            size=type.size or self.size,
            color=type.color or self.color,
        )

    @property
    def height(self) -> float:
        """The height of a line."""
        return self.face.line_height * self.size

    def width(self, text: str) -> float:
        """Return how wide a line is."""
        return self.face.width(text, self.size)

    def line(self, text: str, x: float, middle: float, anchor: str = "start") -> Text:
        """Return a line of text around a height."""
        drop = (self.face.ascent - self.face.descent) / 2 * self.size
        return Text(
            x=x,
            y=middle + drop,
            text=text,
            face=self.face,
            size=self.size,
            color=self.color,
            anchor=anchor,
        )

    def centered(self, text: str, x: float, middle: float) -> Text:
        """Return a line of text around a point."""
        return self.line(text, x, middle, "middle")

    def turned(self, text: str, x: float, y: float, turn: float, anchor: str = "middle") -> Figure:
        """Return a line of text that is turned around a point."""
        return Group(figures=(self.line(text, x, y, anchor),), turn=turn, around=(x, y))

    def cut(self, text: str, width: float) -> str:
        """Return a text no wider than this, with dots where it is cut."""
        left = width - self.width("…")
        used, kept = 0.0, 0
        for letter in text:
            used += self.width(letter)
            if used > width:
                break
            kept += used <= left
        else:
            return text
        return text[:kept].rstrip() + "…" if kept else ""
