"""The slot of lines that came or went, and how a list of changes tells it."""

from __future__ import annotations

from backshop.base.place import Place

from ..alignment.geometry import Run
from ..alignment.line_run import Axis, LineRun, Lines
from ..syntax.address import column_name
from .slot import LINES, SheetPair, Slot


def line_change(pair: SheetPair, lines: Lines, run: LineRun) -> Slot:
    """Return the slot of a run of lines."""
    first = run.at if run.is_gone else lines.place(run)
    said = lines_said(lines.axis, first, run.count)
    place = None if run.is_gone else Place(sheet=pair.shown, range=_range(lines, first, run.count))
    here = lines.place(run)
    return Slot(
        what=LINES,
        pair=pair,
        sides=(run.count if run.is_gone else 0, 0 if run.is_gone else run.count),
        group="structure",
        label=f"{said} of {pair.shown} {'deleted' if run.is_gone else 'inserted'}",
        row=here if lines.axis == "row" else 0,
        col=here if lines.axis == "column" else 0,
        told=(run.at, 0) if lines.axis == "row" else (0, run.at),
        detail=(f"{lines.axis}s",),
        place=place,
        before=said if run.is_gone else None,
        after=None if run.is_gone else said,
    )


def run_of(slot: Slot) -> Run:
    """Return the run that a slot of lines is about."""
    assert slot.pair is not None, "lines are of a sheet"
    assert slot.told is not None, "and have a name"
    axis: Axis = "row" if slot.detail == ("rows",) else "column"
    gone, came = (int(str(side)) for side in slot.sides)
    run = LineRun(slot.told[axis == "column"], gone > 0, gone or came)
    return Run(slot.pair.shown.lower(), axis, run)


def lines_said(axis: str, first: int, count: int) -> str:
    """Return lines in words: `row 5`, `columns C to E`."""
    ends = [str(at) if axis == "row" else column_name(at) for at in (first, first + count - 1)]
    return f"{axis} {ends[0]}" if count == 1 else f"{axis}s {ends[0]} to {ends[1]}"


def _range(lines: Lines, first: int, count: int) -> str:
    ends = (first, first + count - 1)
    return ":".join(str(at) if lines.axis == "row" else column_name(at) for at in ends)
