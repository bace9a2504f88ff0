"""Tracked changes of a document's own authors, told apart from what a Draft changed (U4.50)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from backshop.base.labels import count_text

from .panel import Panel

_NAMED = 5  # authors
_TRACKED = ("inserted", "deleted")
_Change = tuple[str, str, str, str]
"""Author, date, what became of it, and the words."""


def tracked_told(panels: Sequence[Panel]) -> tuple[str, ...]:
    """Return whose tracked changes are shown, and which of them were there before."""
    drawn = {one.name: one.drawing for one in panels if one.drawing}
    if "after" not in drawn:
        return ()
    now = Counter(_changes(drawn["after"]["blocks"]))
    if not now:
        return ()
    authors = Counter(author for author, *_ in now.elements()).most_common()
    named = ", ".join(f"{number:,} by {author}" for author, number in authors[:_NAMED])
    more = f" and {count_text(len(authors) - _NAMED, 'other')}" if len(authors) > _NAMED else ""
    total = count_text(now.total(), "tracked change")
    said = f"Shown in violet: {total} of the document's own authors, {named}{more}."
    if "before" in drawn and all(one["next_block"] is None for one in drawn.values()):
        then = Counter(_changes(drawn["before"]["blocks"]))
        said += f" {_compared(now.total(), (now - then).total())}"
    return (said,)


def _compared(total: int, new: int) -> str:
    if not new:
        return "It was there before." if total == 1 else "All of them were there before."
    if new == total:
        return "It is new." if total == 1 else "All of them are new."
    return f"{new:,} of them {'is' if new == 1 else 'are'} new; the others were there before."


def _changes(found: Any) -> Iterator[_Change]:
    """Go through the tracked changes of a drawing; runs beside one another of one are one."""
    if isinstance(found, dict):
        for value in found.values():
            yield from _changes(value)
    elif isinstance(found, list | tuple):
        yield from _of_runs(one for one in found if isinstance(one, dict) and not one.get("runs"))
        for one in found:
            yield from _changes(one)


def _of_runs(runs: Iterable[dict[str, Any]]) -> Iterator[_Change]:
    for (change, author, date), some in groupby(runs, _who):
        if change in _TRACKED:
            text = "".join(str(one.get("text") or "") for one in some)
            yield author, date, change, text


def _who(run: dict[str, Any]) -> tuple[str, str, str]:
    return (
        str(run.get("change") or ""),
        str(run.get("author") or "an unnamed author"),
        str(run.get("date") or ""),
    )
