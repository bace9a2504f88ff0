"""How a cell looks when it is drawn: face, colours, lines, and how its text stands (F43.17)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lxml import etree

from backshop.formats.canvas.face import Face, face
from backshop.formats.canvas.figure import Fill, Gradient

from ..book.stylesheet import SIDES
from ..book.workbook import child, children, truth
from ..style.look import Looks

_PX = 4 / 3
_COVERED = {  # by how much a pattern covers its ground
    "darkGray": 0.75,
    "mediumGray": 0.5,
    "lightGray": 0.25,
    "gray125": 0.125,
    "gray0625": 0.0625,
}
SMALLEST_PT, LARGEST_PT = 1.0, 409.0
LINK = "#0563c1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A line at a side of a cell."""

    style: str
    color: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CellLook:
    """All that is drawn of a cell format."""

    face: Face = field(default_factory=Face)
    size: float = 11 * _PX
    color: str = "#000000"
    underline: bool = False
    strike: bool = False
    rise: float = 0.0  # above the base line
    fill: Fill = None
    edges: tuple[tuple[str, Edge], ...] = ()
    h_align: str = "general"
    v_align: str = "bottom"
    indent: int = 0
    wrap: bool = False
    shrink: bool = False
    rotation: int = 0
    code: str = "General"

    @property
    def edge(self) -> Mapping[str, Edge]:
        """Its lines by side."""
        return dict(self.edges)


class CellLooks:
    """The looks of a workbook's cell formats, each made once."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._known: dict[int, CellLook] = {}
        self.unlike: set[str] = set()  # what of them is not drawn as it is, in words

    def of(self, index: int) -> CellLook:
        """Return the look of a cell format."""
        if index not in self._known:
            self._known[index] = self._made(index)
        return self._known[index]

    def _made(self, index: int) -> CellLook:
        said = self._looks.whole(index)
        xfs = self._looks.xfs
        fill = None
        if index < len(xfs):
            fill = self._fill(_entry(self._looks.table("fills"), xfs[index].get("fillId")))
        if "border_diagonal" in said:
            self.unlike.add("diagonal lines in cells are not drawn")
        edges = []
        for side in SIDES:
            line = said.get(f"border_{side}")
            if isinstance(line, dict):
                color = str(line.get("color") or "#000000")
                edges.append((side, Edge(style=str(line["style"]), color=color)))
        size = said.get("font_size")
        letters = points(size if isinstance(size, int | float) else 11.0)
        script, rise = shifted(str(said.get("font_script") or ""))
        return CellLook(
            face=face(
                str(said.get("font_name") or "Calibri"),
                bold=bool(said.get("font_bold")),
                italic=bool(said.get("font_italic")),
            ),
            size=letters * script,
            rise=letters * rise,
            color=str(said.get("font_color") or "#000000").lower(),
            underline=bool(said.get("font_underline")),
            strike=bool(said.get("font_strike")),
            fill=fill,
            edges=tuple(edges),
            h_align=str(said.get("h_align") or "general"),
            v_align=str(said.get("v_align") or "bottom"),
            indent=_count(said.get("indent"), 250),
            wrap=bool(said.get("wrap_text")),
            shrink=bool(said.get("shrink")),
            rotation=_count(said.get("rotation"), 255),
            code=str(said.get("number_format") or "General"),
        )

    def _fill(self, element: etree._Element | None) -> Fill:
        return None if element is None else fill_of(self._looks, element)

    def dressed(self, look: CellLook, dxf: etree._Element) -> CellLook:
        """Return a look with what a conditional format adds to it."""
        font, fill = child(dxf, "font"), child(dxf, "fill")
        if font is not None:
            said = self._looks.font(font)
            strong, slanted = child(font, "b") is not None, child(font, "i") is not None
            look = replace(
                look,
                face=Face(
                    look.face.family,
                    bool(said["bold"]) if strong else look.face.bold,
                    bool(said["italic"]) if slanted else look.face.italic,
                ),
                color=str(said["color"] or look.color).lower(),
                underline=bool(said["underline"]) or look.underline,
                strike=look.strike or is_struck(font),
            )
        made = fill_of(self._looks, fill, is_differential=True) if fill is not None else None
        if made is not None:
            look = replace(look, fill=made)
        border = child(dxf, "border")
        if border is not None:
            lines = {
                side: Edge(style=str(line["style"]), color=str(line.get("color") or "#000000"))
                for side, line in self._looks.border(border).items()
                if isinstance(line, dict)
            }
            look = replace(look, edges=tuple({**look.edge, **lines}.items()))
        code = child(dxf, "numFmt")
        said_code = code.get("formatCode") if code is not None else None
        return replace(look, code=said_code) if said_code else look


def fill_of(looks: Looks, element: etree._Element, *, is_differential: bool = False) -> Fill:
    """Return what a fill paints; a pattern as the mixture of its two colours."""
    gradient = child(element, "gradientFill")
    if gradient is not None:
        return _gradient(looks, gradient)
    said = looks.fill(element)
    pattern = str(said["pattern"] or "none")
    front, ground = said["fg_color"], said["bg_color"]
    if is_differential and pattern in ("none", "solid"):
        # the fill of a conditional format names its colour as the ground
        return str(ground or front).lower() if ground or front else None
    if pattern == "none":
        return None
    if pattern == "solid":
        return str(front or "#000000").lower() if front else None
    part = _COVERED.get(pattern, 0.6 if pattern.startswith("dark") else 0.3)
    return mixed(str(front or "#000000"), str(ground or "#ffffff"), part)


def _gradient(looks: Looks, element: etree._Element) -> Fill:
    stops = []
    for stop in children(element, "stop"):
        color = looks.color(child(stop, "color"))
        place = _float(stop.get("position"))
        if color is not None:
            stops.append((min(max(place, 0.0), 1.0), color.lower()))
    if not stops:
        return None
    return Gradient(stops=tuple(stops), angle=_float(element.get("degree")))


def mixed(front: str, ground: str, part: float) -> str:
    """Return a colour that covers another by a part."""
    pairs = ((int(front[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(a * part + b * (1 - part)):02x}" for a, b in pairs)


def shifted(script: str) -> tuple[float, float]:
    """Return how small and how far above its base line a text is, in parts of its size."""
    rise = {"superscript": 0.35, "subscript": -0.15}.get(script, 0.0)
    return (0.7 if rise else 1.0), rise


def is_struck(font: etree._Element) -> bool:
    """Whether a font strikes its text through; the element may say that it does not."""
    said = child(font, "strike")
    return said is not None and truth(said.get("val"), True)


def points(size: float) -> float:
    """Return a size in points as pixels; one nobody can read is held at the ends."""
    return min(max(float(size), SMALLEST_PT), LARGEST_PT) * _PX


def _entry(items: list[etree._Element], index: str | None) -> etree._Element | None:
    at = int(index) if index and index.isdigit() and len(index) < 7 else 0
    return items[at] if at < len(items) else None


def _count(value: object, most: int) -> int:
    text = str(value or "0")
    return min(int(text), most) if text.isdigit() and len(text) < 7 else 0


def _float(text: str | None) -> float:
    try:
        found = float(text or 0)
    except ValueError:
        return 0.0
    return found if -1e6 < found < 1e6 else 0.0
