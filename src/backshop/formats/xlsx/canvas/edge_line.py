"""The lines around cells: of two neighbours the stronger one, runs of one look as one stroke."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.formats.canvas.figure import Figure, Path, Stroke

from .cell_look import Edge
from .lattice import Lattice

_WIDTHS = {"medium": 2.0, "thick": 3.0, "mediumDashed": 2.0, "mediumDashDot": 2.0}
_WIDTHS |= {"mediumDashDotDot": 2.0, "slantDashDot": 2.0, "hair": 0.6}
_DASHES: dict[str, tuple[float, ...]] = {
    "dashed": (3.0, 1.0),
    "dotted": (1.0, 1.0),
    "hair": (1.0, 1.0),
    "dashDot": (8.0, 3.0, 3.0, 3.0),
    "dashDotDot": (8.0, 3.0, 3.0, 3.0, 3.0, 3.0),
    "mediumDashed": (8.0, 3.0),
    "mediumDashDot": (8.0, 3.0, 3.0, 3.0),
    "mediumDashDotDot": (8.0, 3.0, 3.0, 3.0, 3.0, 3.0),
    "slantDashDot": (10.0, 3.0, 5.0, 3.0),
}
_STRENGTH = (
    *("hair", "dotted", "dashDotDot", "dashDot", "dashed", "thin", "mediumDashDotDot"),
    *("slantDashDot", "mediumDashDot", "mediumDashed", "medium", "thick", "double"),
)
Place = tuple[bool, int, int]  # lies along a row, its line, the cell along it


class EdgeLines:
    """Collects the lines of cells; a place has one, whichever of two cells says it."""

    def __init__(self) -> None:
        self._held: dict[Place, Edge] = {}

    def add(self, row: int, col: int, side: str, edge: Edge) -> None:
        """Take the line at one side of a cell."""
        lies = side in ("top", "bottom")
        at = (row + (side == "bottom"), col) if lies else (col + (side == "right"), row)
        place = (lies, *at)
        held = self._held.get(place)
        if held is None or _rank(edge) >= _rank(held):
            self._held[place] = edge

    def figures(self, lattice: Lattice) -> Iterator[Figure]:
        """Yield the strokes, those of one look as one path."""
        paths: dict[Edge, list[tuple[str | float, ...]]] = {}
        for edge, start, end in self._runs(lattice):
            paths.setdefault(edge, []).extend((("M", *start), ("L", *end)))
        for edge, steps in paths.items():
            yield from _strokes(edge, tuple(steps))

    def _runs(
        self, lattice: Lattice
    ) -> Iterator[tuple[Edge, tuple[float, float], tuple[float, float]]]:
        held: tuple[Edge, bool, int, int, int] | None = None
        for (lies, line, at), edge in sorted(self._held.items(), key=lambda one: one[0]):
            if held is not None and held[:3] == (edge, lies, line) and held[4] == at - 1:
                held = (*held[:4], at)
                continue
            if held is not None:
                yield _ends(held, lattice)
            held = (edge, lies, line, at, at)
        if held is not None:
            yield _ends(held, lattice)


def _ends(
    held: tuple[Edge, bool, int, int, int], lattice: Lattice
) -> tuple[Edge, tuple[float, float], tuple[float, float]]:
    edge, lies, line, first, last = held
    xs, ys, area = lattice.xs, lattice.ys, lattice.area
    if lies:
        y = ys[line - area.row1]
        return edge, (xs[first - area.col1], y), (xs[last - area.col1 + 1], y)
    x = xs[line - area.col1]
    return edge, (x, ys[first - area.row1]), (x, ys[last - area.row1 + 1])


def _strokes(edge: Edge, steps: tuple[tuple[str | float, ...], ...]) -> Iterator[Figure]:
    if edge.style == "double":
        yield Path(steps=steps, stroke=Stroke(color=edge.color, width=3.0))
        yield Path(steps=steps, stroke=Stroke(color="#ffffff", width=1.0))
        return
    width = _WIDTHS.get(edge.style, 1.0)
    dash = _DASHES.get(edge.style, ())
    yield Path(steps=steps, stroke=Stroke(color=edge.color, width=width, dash=dash))


def _rank(edge: Edge) -> int:
    return _STRENGTH.index(edge.style) if edge.style in _STRENGTH else 5
