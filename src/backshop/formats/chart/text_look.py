"""How the texts of a chart look: what its parts say of their letters."""

from __future__ import annotations

import math
from dataclasses import replace

from ..canvas.chart.data import Type
from ..package.drawing_color import Theme, solid_fill
from ..package.guard import Element
from .vocabulary import a

PX = 4 / 3  # of a point


def text_run(holder: Element | None) -> Element | None:
    """Return the properties of text that count for all of it, of a title the first run's."""
    if holder is None:
        return None
    found = [*holder.iter(a("rPr")), *holder.iter(a("defRPr"))]
    return next((one for one in found if one.get("sz")), found[0] if found else None)


def text_type(holder: Element | None, theme: Theme) -> Type:
    """Return how a text of a chart looks where its part says that it is not as the others."""
    run = text_run(holder)
    if run is None:
        return Type()
    said = run.get("sz") is not None
    return Type(
        size=points(run, 10.0) * PX if said else None,
        color=solid_fill(run, theme),
        bold=_switch(run.get("b")),
        italic=_switch(run.get("i")),
    )


def title_type(title: Element | None, theme: Theme) -> Type:
    """Return how the title of an axis looks; it is bold unless it says something else."""
    found = text_type(title, theme)
    return found if found.bold is not None else replace(found, bold=True)


def _switch(said: str | None) -> bool | None:
    return None if said is None else said in ("1", "true")


def points(run: Element | None, usual: float) -> float:
    """Return the size a text says, in points, held where it can be read."""
    size = _hundredths(run.get("sz") if run is not None else None, usual)
    return min(max(size, 4.0), 96.0)


def _hundredths(text: str | None, usual: float) -> float:
    try:
        found = float(text) / 100 if text else usual
    except ValueError:
        return usual
    return found if math.isfinite(found) else usual
