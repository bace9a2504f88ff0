"""Charts of a call at its end: filled with what their cells hold now, and read back (F36.9)."""

from __future__ import annotations

from backshop.formats.chart.facts import facts
from backshop.formats.errors import fail
from backshop.formats.package.xml_tree import Trees

from ...drawing.chart_cache import Caches
from ...drawing.drawing_part import drawn_on
from ..session import Session


def fill_charts(session: Session) -> None:
    """Let the charts that operations made or gave other cells keep the results of the end."""
    parts = [part for part in session.charts if part in session.book.package]
    if not parts:
        return
    caches, trees = Caches(session.book), Trees(session.book.package)
    for part in parts:
        caches.refresh(trees.touch(part))
    trees.flush()
    seen = caches.noticed
    for code, found in (
        ("uncached_formula", seen.waiting),
        ("non_numeric_amounts", seen.texts),
        ("error_cells", seen.errors),
        ("hidden_cells", seen.hidden),
    ):
        for where, count in found.items():
            session.warnings.add(code, count, where)


def verify_charts(session: Session) -> None:
    """Read charts back through the reading path (F23.8)."""
    book = session.book
    if not session.charts:
        return
    shown = {drawn.part for sheet in book.sheets for drawn in drawn_on(book, sheet)}
    trees = Trees(book.package)
    for part, expected in session.charts.items():
        if part not in book.package:
            continue  # its sheet went later on
        found = facts(trees.root(part))
        is_same = expected.kind in (None, found.kind) and len(found.series) == expected.series
        if part not in shown or not is_same:
            raise fail("verify_failed", "a chart reads back differently", detail=part)
