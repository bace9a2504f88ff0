"""A run's graph as boxes and lines with words on them, ready for a template (U6.2).

Everything in it that a workflow or an agent wrote is text for the template to escape.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .layout import NODE_HEIGHT, NODE_WIDTH, Item, Placed, layout
from .timeline import lasted, read_time

if TYPE_CHECKING:
    from backshop.rails import run_view

TITLE_SIZE, LINE_SIZE = 13, 12  # of the text, in pixels, as studio.css has them
ROOM = NODE_WIDTH - 14 - 10  # for words, between the margins of a box
USED_HEIGHT = 16  # of the line with what models used, where a run has any
_NARROW, _WIDE = frozenset(" .,:;'|!()[]{}/Iijltfr·…"), frozenset("mwMWQOG@%&—")
CAUSES: Mapping[str, str] = {
    "tip_advance": "the next step",
    "non_tip_advance": "went on from an earlier step",
    "intentional_fork": "a branch that was asked for",
    "checkpoint_created": "a checkpoint",
    "attempt_blocked": "a blocked attempt",
}
BADGES: Mapping[str, str] = {
    "blocked": "blocked",
    "answered": "answered",
    "gap": "gap",
    "divergence": "left the plan",
    "warning": "warning",
    "capability": "capability seen",
    "degraded_capability": "capability missing",
    "mode_change": "mode changed",
    "fork": "branch",
}
KINDS: Mapping[str, str] = {
    "step": "waiting",
    "checkpoint": "checkpoint",
    "blocked_attempt": "blocked attempt",
    "answered": "blocked attempt",
    "complete": "complete",
    "ghost": "skipped",
}
NEWEST = "where the run stands"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One node as it is drawn; `label` is what a screen reader says."""

    id: str
    node_id: str  # whose page it opens; a ghost opens that of the node it stands beside
    kind: str
    title: str
    line: str
    label: str
    x: int
    y: int
    took: str = ""
    """How long after the one before it."""
    used: str = ""
    """What models used since the one before it."""
    badges: tuple[str, ...] = ()
    is_current: bool = False
    is_main: bool = False
    is_collapsed: bool = False
    parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One edge as it is drawn."""

    path: str
    kind: str
    cause: str
    is_main: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """The whole drawing."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: int
    height: int
    box_width: int = NODE_WIDTH
    box_height: int = NODE_HEIGHT
    ghosts: int = 0
    branches: int = 1
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A call to a model: when it was recorded, its tokens, how long it took where that is known."""

    at: str
    tokens: int
    took_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """What models did on the way to a node: calls, tokens, and how long they took, where known."""

    calls: int = 0
    tokens: int = 0
    timed: int = 0
    took_ms: int = 0


def drawn(
    run: run_view.RunGraph, *, with_ghosts: bool = False, work: Mapping[str, Work] | None = None
) -> Graph:
    """Return the drawing of a run; `work` is what models did on the way to each node."""
    ghosts = list(_ghosts(run))
    items = [
        Item(
            id=one.node_id,
            parent=one.parent_node_id,
            order=one.event_index,
            is_main=one.is_on_preferred_path,
            is_side=one.node_kind == "checkpoint",
        )
        for one in run.nodes
    ]
    shown = ghosts if with_ghosts else []
    items += [
        Item(id=one.id, parent=one.parent, order=at, is_side=True)
        for at, one in enumerate(shown, start=len(items))
    ]
    done = work or {}
    placed = layout(items, node_height=NODE_HEIGHT + (USED_HEIGHT if done else 0))
    where = placed.by_id()
    boxes = [_box(one, run, where[one.node_id], done.get(one.node_id)) for one in run.nodes]
    boxes += [_ghost_box(one, where[one.id]) for one in shown]
    kinds: dict[str, str] = {edge.to: edge.edge_kind for edge in run.edges}
    causes: dict[str, str] = {edge.to: edge.cause for edge in run.edges}
    main = {one.id for one in boxes if one.is_main}
    lines = [
        Line(
            path=link.path,
            kind=kinds.get(link.target, "ghost"),
            cause=CAUSES.get(causes.get(link.target, ""), "skipped"),
            is_main=link.origin in main and link.target in main,
        )
        for link in placed.links
    ]
    return Graph(
        boxes=tuple(boxes),
        lines=tuple(lines),
        width=placed.width,
        height=placed.height,
        box_height=placed.node_height,
        ghosts=len(ghosts),
        branches=run.branches,
        counts=_counts(boxes),
    )


@dataclass(frozen=True, slots=True)
class _Ghost:
    """Steps that were passed over on the way to a node."""

    id: str
    node_id: str
    parent: str
    titles: tuple[str, ...]
    why: str


def _ghosts(run: run_view.RunGraph) -> Iterator[_Ghost]:
    """Yield the skipped steps, each only where a branch first passes over it."""
    by_node: dict[str | None, list[run_view.Skipped]] = {}
    for one in run.skipped:
        by_node.setdefault(one.node_id, []).append(one)
    known: dict[str | None, frozenset[str]] = {None: frozenset()}
    for node in run.nodes:
        node_id, parent = node.node_id, node.parent_node_id
        before = known.get(parent, frozenset())
        new = [one for one in by_node.get(node_id, ()) if str(one.step_id) not in before]
        titles = {str(one.step_id): str(one.title) for one in new}
        known[node_id] = before | frozenset(titles) if titles else before
        if titles:
            why = "; ".join(one.why for one in new)
            names = tuple(titles.values())
            yield _Ghost(f"ghost-{node_id}", node_id, parent or node_id, names, why)


def work_before(node: run_view.NodeRow | run_view.NodePage, calls: Sequence[Call]) -> Work | None:
    """Return what the calls recorded between a node and the one before it come to, if any."""
    if node.took_ms is None:
        return None
    end = read_time(node.created_at)
    found = [one for one in calls if end - node.took_ms < read_time(one.at) <= end]
    took = [one.took_ms for one in found if one.took_ms is not None]
    tokens = sum(one.tokens for one in found)
    return Work(len(found), tokens, len(took), sum(took)) if found else None


def model_took(work: Work | None) -> str:
    """Say how long models themselves took, where that was recorded."""
    if work is None or not work.timed:
        return ""
    calls = "1 call" if work.timed == 1 else f"{work.timed} calls"
    return f"the model answered {calls} in {lasted(work.took_ms)}"


def _box(
    one: run_view.NodeRow, run: run_view.RunGraph, place: Placed, work: Work | None = None
) -> Box:
    is_current = one.node_id == run.preferred_tip
    is_complete = one.pending_step_id is None and one.title == "Complete"
    kind: str = "complete" if is_complete and one.node_kind == "step" else one.node_kind
    kind = "answered" if "answered" in one.badges else kind
    badges = tuple(BADGES.get(name, name) for name in one.badges)
    where = f"pass {one.pass_}" if one.pass_ else ""
    after = f"after {one.completed_step_id}" if one.completed_step_id else "start"
    took = "" if one.took_ms is None else lasted(one.took_ms)
    tokens = work.tokens if work else 0
    beside = _width(took, LINE_SIZE) + 8 if took else 0
    said = [f"waits at {one.title}" if kind == "step" else f"{KINDS[kind]}: {one.title}"]
    said += [where, *badges, NEWEST if is_current else ""]
    said += [f"{took} after the one before"] if took else []
    said += [model_took(work), f"{tokens:,} tokens" if tokens else ""]
    return Box(
        id=one.node_id,
        node_id=one.node_id,
        kind=kind,
        title=fitted(one.title, TITLE_SIZE, ROOM),
        line=fitted(" · ".join(filter(None, [where, *badges])) or after, LINE_SIZE, ROOM - beside),
        took=took,
        used=_used(work),
        label=", ".join(filter(None, said)),
        x=place.x,
        y=place.y,
        badges=one.badges,
        is_current=is_current,
        is_main=one.is_on_preferred_path,
        is_collapsed=bool(one.collapsed),
        parent=one.parent_node_id,
    )


def fitted(text: str, size: int, room: float) -> str:
    """Return a text on one line that is no wider than its room, shortened with an ellipsis."""
    line = " ".join(text.split())
    if _width(line, size) <= room:
        return line
    kept, used = 0, _width("…", size)
    for sign in line:
        used += _width(sign, size)
        if used > room:
            break
        kept += 1
    return line[:kept].rstrip() + "…"


def _width(text: str, size: int) -> float:
    """Return how wide a text is drawn at most, by kinds of letters: nothing here measures them."""
    return sum(map(_share, text)) * size


def _share(sign: str) -> float:
    if sign in _NARROW:
        return 0.36
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.1
    if sign in _WIDE:
        return 0.92
    if sign.isascii():
        return 0.68 if sign.isupper() or sign.isdigit() else 0.58
    return 0.8


def _used(work: Work | None) -> str:
    if work is None:
        return ""
    said = [f"{_short(work.tokens)} tokens"] if work.tokens else []
    said += [f"model {lasted(work.took_ms)}"] if work.timed else []
    return fitted(" · ".join(said), LINE_SIZE, ROOM)


def _short(number: int) -> str:
    return f"{number / 1000:.1f}k" if number >= 1000 else str(number)


def _ghost_box(one: _Ghost, place: Placed) -> Box:
    names = ", ".join(one.titles)
    return Box(
        id=one.id,
        node_id=one.node_id,
        kind="ghost",
        title=fitted(names, TITLE_SIZE, ROOM),
        line="skipped",
        label=f"skipped: {names}. {one.why}",
        x=place.x,
        y=place.y,
        parent=one.parent,
    )


def _counts(boxes: Sequence[Box]) -> dict[str, int]:
    found: dict[str, int] = {}
    for box in boxes:
        for name in box.badges:
            found[name] = found.get(name, 0) + 1
    return found
