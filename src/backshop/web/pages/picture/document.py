"""A document as it flows, before and after, with its changed blocks marked (U8.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from typing import Any

from backshop.base.labels import count_text
from backshop.bench import Diff, Parts, Viewer, views
from backshop.formats import Place, spelled

from ..kit import number, tried
from .outline import LINES_SHOWN, Entry
from .panel import Data, Panel, Picture, Scene, Shown, Version, capped, faulty, numbered
from .tracked import tracked_told

BLOCKS = 300  # of one window
SECTIONS = 60  # changed ones that are looked into
_NEAR = 200  # blocks from the start that need no other window
_LEAD = 10  # blocks before the first change, where a window begins later
_LABEL_CHARS = 60
_UNTITLED = "(untitled)"  # what a difference calls the part before the first heading
DiffOf = Callable[[int | None], Diff | None]
"""Gives the difference with one of its sections whole."""
Run = tuple[str, Sequence[Data]]
"""Blocks beside one another that are one change, and the heading they stand below."""


def document_picture(shown: Shown, diff: Diff | None, diff_of: DiffOf | None = None) -> Picture:
    """Return a part of a document: of both versions where they are compared."""
    body = diff.body if diff is not None and isinstance(diff.body, Parts) else None
    runs = list(changed_runs(body, diff_of)) if body and diff_of else []
    entries, more = capped(numbered([entry_of(*run, near=at) for run, at in near_of(runs)]))
    first = _first(shown, runs)
    panels = tuple(_panel(shown, one, first[one.name]) for one in shown.versions)
    remarks = _remarks(shown)
    marked = tuple(
        replace(
            one,
            marks=_marks(one.name, runs, entries, remarks if one.name == "after" else {}),
            own=own_blocks(one.name, runs),
        )
        for one in panels
    )
    return Picture(
        kind="document",
        scenes=(Scene(title=None, panels=marked),),
        entries=entries if body else None,
        more=more,
        also=tuple(str(one["text"]) for one in (diff.also if diff else None) or ()),
        ways=_ways(shown, panels, first),
        part=_part(panels),
        notes=(*(diff.notes if diff is not None else ()), *_authors(shown, panels)),
    )


def _authors(shown: Shown, panels: Sequence[Panel]) -> tuple[str, ...]:
    """Return whose tracked changes a review shows beside what the Draft changed."""
    return tracked_told(panels) if shown.is_review else ()


def _first(shown: Shown, runs: Sequence[Run]) -> Mapping[str, int]:
    """Return the block that each side begins with, so that the first change is in sight."""
    wanted = shown.wanted
    asked = number(shown.visit, "block")
    if wanted is not None and wanted.place is not None and wanted.place.paragraph is not None:
        asked = _before(wanted.place.paragraph)
    if asked is not None:
        return {one.name: asked for one in shown.versions}
    places = [
        at
        for _, run in runs
        for one in run
        for version in shown.versions
        if (at := one.get(f"at_{version.name}")) is not None
    ]
    first = _before(min(places, default=0))  # up to there both sides are the same
    return {one.name: first for one in shown.versions}


def _before(block: int) -> int:
    return 0 if block < _NEAR else block - _LEAD


def _panel(shown: Shown, version: Version, first: int) -> Panel:
    own: dict[str, Any] = {
        "workbench_id": shown.bench_id,
        "path": shown.path,
        "first_block": first,
        "block_count": BLOCKS,
    }
    if shown.is_review:
        wish = views.ReviewDrawnDocument(**own, version=version.version, since=shown.since)
        found, error = tried(shown.visit, Viewer.preview_drawn_document, wish)
        drawing = found and found["drawing"]
    else:
        about = views.FileDocument(**own, view=shown.view)
        drawing, error = tried(shown.visit, Viewer.drawn_document, about)
    if drawing is None:
        return faulty(version, error)
    return Panel(name=version.name, label=version.label, drawing=drawing)


def _ways(shown: Shown, panels: Sequence[Panel], first: Mapping[str, int]) -> dict[str, str]:
    """Return the ways to the parts before and after this one."""
    starts = [first[one.name] for one in panels if one.drawing]
    nexts = [one.drawing["next_block"] for one in panels if one.drawing]
    found = {}
    if any(starts):
        found["Earlier part"] = shown.link(block=max(0, max(starts) - BLOCKS))
    if any(at is not None for at in nexts):
        found["Later part"] = shown.link(block=max(at for at in nexts if at is not None))
    return found


def _part(panels: Sequence[Panel]) -> str | None:
    """Say which part of the document is shown, where that is not all of it."""
    drawing = next((one.drawing for one in reversed(panels) if one.drawing), None)
    if drawing is None:
        return None
    first, there = drawing["first_block"], drawing["block_count"]
    last = there if drawing["next_block"] is None else drawing["next_block"]
    if last - first >= there:
        return None
    return f"Paragraphs and tables {first + 1:,} to {last:,} of {there:,}"


# ---------------------------------------------------------------- what changed


def changed_runs(body: Parts, diff_of: DiffOf) -> Iterator[Run]:
    """Yield what changed, section by section; blocks that came or went together are one."""
    changed = [one["index"] for one in body.listed if one["kind"] != "same"]
    for index in changed[:SECTIONS]:
        found = diff_of(index)
        if found is None or not isinstance(found.body, Parts) or not found.body.chosen:
            continue
        section = found.body.chosen
        heading = " ".join(str(section["heading"] or "").split())
        heading = "Start of the document" if heading in ("", _UNTITLED) else heading
        for is_joined, blocks in groupby(section["blocks"], _joins):
            if is_joined:
                yield heading, list(blocks)
            else:
                yield from ((heading, [one]) for one in blocks if one["kind"] != "same")


def _joins(block: Data) -> str | None:
    """Return the kind of a block that came or went, which joins those beside it."""
    return block["kind"] if block["kind"] in ("added", "removed") else None


def near_of(runs: Sequence[Run]) -> Iterator[tuple[Run, int]]:
    """Yield with each run the block of the Draft that stands before where it begins."""
    shift = 0
    for heading, blocks in runs:
        at = blocks[0].get("at_before")
        yield (heading, blocks), max(0, (at or 0) + shift - 1)
        shift += sum(one["kind"] == "added" for one in blocks)
        shift -= sum(one["kind"] == "removed" for one in blocks)


def entry_of(heading: str, run: Sequence[Data], near: int) -> Entry:
    first, last = run[0], run[-1]
    at, end = first.get("at_after"), last.get("at_after")
    is_one = at == end or end is None
    place = (
        None if at is None else spelled(Place(paragraph=at, paragraph_end=None if is_one else end))
    )
    shown = [_pieces(one) for one in run[:LINES_SHOWN]]
    facts = dict.fromkeys(text for one in run for text in one["formats"])
    return Entry(
        number=0,
        change=first["kind"],
        label=_cut(heading),
        what=_what(run),
        place=place,
        near=spelled(Place(paragraph=near)),
        pieces=tuple(one for one in shown if one),
        facts=tuple(facts)[:LINES_SHOWN],
        more=max(0, len(run) - LINES_SHOWN),
    )


def _what(run: Sequence[Data]) -> str:
    kind = run[0]["kind"]
    words = {"changed": "words changed", "format": "format changed"}
    if kind in words:
        return words[kind] if run[0]["type"] == "p" else f"table: {words[kind]}"
    sort = ("table", "tables") if run[0]["type"] == "t" else ("paragraph", "paragraphs")
    return f"{count_text(len(run), *sort)} {kind}"


def _cut(text: str) -> str:
    return text if len(text) <= _LABEL_CHARS else text[: _LABEL_CHARS - 1].rstrip() + "…"


def _pieces(block: Data) -> Sequence[Data]:
    """Return the words of a block with what came and went in them; of a table what differs."""
    lines = list(_lines(block))
    joined: list[Data] = []
    for at, line in enumerate(lines):
        joined += [{"mark": "same", "text": " · "}] if at else []
        joined += line
    return joined


def _lines(block: Data) -> Iterator[Sequence[Data]]:
    if block["type"] == "p":
        yield block["pieces"]
        return
    cells = (cell for row in block["rows"] for cell in row["cells"] if cell["kind"] != "same")
    for cell in islice(cells, LINES_SHOWN):
        mark = cell["kind"] if cell["kind"] in ("added", "removed") else "same"
        yield cell.get("pieces") or [{"mark": mark, "text": cell["text"]}]


def _marks(
    name: str, runs: Sequence[Run], entries: Sequence[Entry], remarks: Mapping[str, Data]
) -> dict[str, Data]:
    """Return what became of the blocks of one side, by their places."""
    found = dict(remarks)
    for (_, run), entry in zip(runs, entries, strict=False):
        places = [at for one in run if (at := one.get(f"at_{name}")) is not None]
        for at in places:
            place = spelled(Place(paragraph=at))
            told = {"entry": entry, "is_first": at == places[0]}
            found[place] = {**found.get(place, {}), **told}
    return found


def own_blocks(name: str, runs: Sequence[Run]) -> tuple[int, ...]:
    """Return the numbers of the blocks that one side alone has: the others are pairs, in order."""
    kind = {"before": "removed", "after": "added"}.get(name)
    blocks = (one for _, run in runs for one in run if one["kind"] == kind)
    return tuple(one[f"at_{name}"] for one in blocks)


def _remarks(shown: Shown) -> dict[str, Data]:
    """Return the blocks that open comments are about, by their places."""
    found: dict[str, Data] = {}
    for one in shown.placed:
        if one.place is not None and one.place.paragraph is not None:
            found[spelled(Place(paragraph=one.place.paragraph))] = {"remark": one.number}
    return found
