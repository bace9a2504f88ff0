"""A chart on a slide, and the frame with words that stands for what is not drawn (F43.36)."""

from __future__ import annotations

from functools import partial

from backshop.formats.canvas.chart.data import Rect
from backshop.formats.canvas.chart.picture import broken_picture, chart_picture
from backshop.formats.canvas.face import face
from backshop.formats.canvas.figure import Box, Figure, Group, Stroke
from backshop.formats.canvas.text_block import Run, lines
from backshop.formats.chart.shown import Look, chart_data
from backshop.formats.chart.vocabulary import is_on
from backshop.formats.errors import FormatError
from backshop.formats.figure.display import display
from backshop.formats.package.drawing import drawn_parts

from ..deck import Deck, Slide
from ..shape import Shape
from ..theme import Theme
from .ink import Ink

Spot = tuple[float, float, float, float]
_LINES_MAX = 60


def chart_figures(
    deck: Deck, slide: Slide, shape: Shape, spot: Spot, theme: Theme, ink: Ink
) -> list[Figure]:
    """Return a chart drawn in its place, from the values it keeps."""
    drawing = slide.drawing(shape)
    parts = drawn_parts(deck.trees, drawing) if drawing is not None else []
    rect = Rect(x=spot[0], y=spot[1], width=spot[2], height=spot[3])
    if rect.width < 20 or rect.height < 20:
        return said_in_frame(spot, [])
    colours = {name: f"#{code.lower()}" for name, code in theme.colours.items() if code}
    name = theme.fonts.get("+mn-lt") or "Calibri"
    try:
        root = deck.trees.root(parts[0]) if parts else None
    except FormatError:
        root = None
    if root is None:
        made = broken_picture(rect, "a chart that cannot be read")
    else:
        show = partial(display, date_1904=is_on(root, "date1904"))
        look = Look(theme=colours, face_name=name, show=show, is_framed=False)
        made = chart_picture(chart_data(root, look), rect, show)
    for words in made.missing:
        ink.note(words)
    return list(made.figures)


def said_in_frame(spot: Spot, texts: list[str]) -> list[Figure]:
    """Return a frame with texts in it, as far as they find room."""
    x, y, width, height = spot
    pen = Stroke(color="#9aa0a6", width=1)
    made: list[Figure] = []
    top = y + 8
    for at, text in enumerate(texts[:_LINES_MAX]):
        run = Run(text=text[:400], face=face(None, bold=at == 0), size=14.0, color="#3c4043")
        for line in lines([run], max(width - 16, 20.0)):
            made += line.figures(x + 8, top + line.ascent)
            top += line.height
    frame = Box(x=x, y=y, width=width, height=height, fill="#f8f9fa", stroke=pen)
    return [frame, Group(figures=tuple(made), clip=spot)] if made else [frame]
