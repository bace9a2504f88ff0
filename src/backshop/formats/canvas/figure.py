"""What a drawn page consists of, in pixels of 1/96 inch from its top left corner (F43.1).

Painters of sheets, slides and charts make figures; `svg` and `raster` show them. Nothing here
comes from a file unparsed: colours are `#rrggbb`, pictures are made anew by Pillow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from .face import Face


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """A line's look; `dash` are lengths of strokes and gaps."""

    color: str = "#000000"
    width: float = 1.0
    dash: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradient:
    """Colours along a line: stops are (place from 0 to 1, `#rrggbb`), `angle` is clockwise."""

    stops: tuple[tuple[float, str], ...]
    angle: float = 0.0


Fill = str | Gradient | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float
    fill: Fill = None
    stroke: Stroke | None = None
    radius: float = 0.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Oval:
    """An ellipse, given by the rectangle around it."""

    x: float
    y: float
    width: float
    height: float
    fill: Fill = None
    stroke: Stroke | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """Strokes and areas: `M x y`, `L x y`, `C x1 y1 x2 y2 x y` and `Z`, as tuples."""

    steps: tuple[tuple[str | float, ...], ...]
    fill: Fill = None
    stroke: Stroke | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One line of text in one look; `y` is its base line, `anchor` start, middle or end."""

    x: float
    y: float
    text: str
    face: Face
    size: float
    color: str = "#000000"
    anchor: str = "start"
    underline: bool = False
    strike: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture of the file, made anew as PNG or JPEG (`bitmap`)."""

    x: float
    y: float
    width: float
    height: float
    data: bytes
    alt: str = ""
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Figures that are turned (degrees, clockwise, around a point), mirrored or cut off together.

    `clip` and `outline` are cut before anything is mirrored, and mirrored before it is turned.
    """

    figures: tuple[Figure, ...]
    turn: float = 0.0
    around: tuple[float, float] = (0.0, 0.0)
    mirror_x: bool = False
    mirror_y: bool = False
    clip: tuple[float, float, float, float] | None = None  # x, y, width, height
    outline: tuple[tuple[str | float, ...], ...] | None = None  # steps of a path that cuts too


Figure = Union[Box, Oval, Path, Text, Picture, "Group"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where a thing of the file stands on the page: what outlines, clicks and comments go by."""

    kind: str  # cell, chart, picture, shape, table
    place: str  # as the places of comments and changes spell it
    x: float
    y: float
    width: float
    height: float
    label: str = ""
    title: str = ""
    """Of a chart: what stands above it."""
    shows: str = ""
    """Of a chart: a sign of the values it shows; others have another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Canvas:
    """A drawn page. `missing` says in words what of the file was not drawn as it is."""

    width: float
    height: float
    figures: tuple[Figure, ...]
    background: str = "#ffffff"
    frames: tuple[Frame, ...] = ()
    missing: tuple[str, ...] = ()
    label: str = ""
