"""A run's graph as boxes and lines with words on them, ready for a template (U6.2).

Everything in it that a workflow or an agent wrote is text for the template to escape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .layout import NODE_HEIGHT, NODE_WIDTH, Item, Placed, layout
from .timeline import cut, lasted, read_time

if TYPE_CHECKING:
    from backshop.rails import run_view

TITLE_MAX_CHARS = 23
LINE_MAX_CHARS, BESIDE_MAX_CHARS = 27, 16  # the second: beside how long it took
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
    """How long after the one before it, and the tokens recorded since then."""
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


def drawn(
    run: run_view.RunGraph, *, with_ghosts: bool = False, tokens: Mapping[str, int] | None = None
) -> Graph:
    """Return the drawing of a run; `tokens` are those recorded on the way to each node."""
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
    placed = layout(items)
    where = placed.by_id()
    used = tokens or {}
    boxes = [_box(one, run, where[one.node_id], used.get(one.node_id)) for one in run.nodes]
    boxes += [_ghost_box(one, where[one.id]) for one in shown]
    kinds: dict[str, str] = {edge.to: edge.edge_kind for edge in run.edges}
    causes: dict[str, str] = {edge.to: edge.cause for edge in run.edges}
    main = {one.id for one in boxes if one.is_main}
    lines = [
        Line(
            path=link.path,
            kind=kinds.get(link.target, "ghost"),
            cause=causes.get(link.target, "skipped").replace("_", " "),
            is_main=link.origin in main and link.target in main,
        )
        for link in placed.links
    ]
    return Graph(
        boxes=tuple(boxes),
        lines=tuple(lines),
        width=placed.width,
        height=placed.height,
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


def tokens_of(run: run_view.RunGraph, calls: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return the tokens of the calls recorded between each node and the one before it."""
    found: dict[str, int] = {}
    for node in run.nodes:
        end = read_time(node.created_at)
        begin = None if node.took_ms is None else end - node.took_ms
        used = sum(
            tokens for at, tokens in calls if begin is not None and begin < read_time(at) <= end
        )
        if used:
            found[node.node_id] = used
    return found


def _box(
    one: run_view.NodeRow, run: run_view.RunGraph, place: Placed, tokens: int | None = None
) -> Box:
    is_current = one.node_id == run.preferred_tip
    is_complete = one.pending_step_id is None and one.title == "Complete"
    kind: str = "complete" if is_complete and one.node_kind == "step" else one.node_kind
    kind = "answered" if "answered" in one.badges else kind
    badges = tuple(BADGES.get(name, name) for name in one.badges)
    where = f"pass {one.pass_}" if one.pass_ else ""
    after = f"after {one.completed_step_id}" if one.completed_step_id else "start"
    took = [] if one.took_ms is None else [lasted(one.took_ms)]
    took += [] if tokens is None else [f"{_short(tokens)} tok"]
    said = [f"waits at {one.title}" if kind == "step" else f"{KINDS[kind]}: {one.title}"]
    said += [where, *badges, NEWEST if is_current else ""]
    said += [f"{took[0]} after the one before"] if took else []
    said += [f"{tokens:,} tokens"] if tokens else []
    return Box(
        id=one.node_id,
        node_id=one.node_id,
        kind=kind,
        title=cut(one.title, TITLE_MAX_CHARS),
        line=cut(
            " · ".join(filter(None, [where, *badges])) or after,
            BESIDE_MAX_CHARS - 4 * (len(took) > 1) if took else LINE_MAX_CHARS,
        ),
        took=" · ".join(took),
        label=", ".join(filter(None, said)),
        x=place.x,
        y=place.y,
        badges=one.badges,
        is_current=is_current,
        is_main=one.is_on_preferred_path,
        is_collapsed=bool(one.collapsed),
        parent=one.parent_node_id,
    )


def _short(number: int) -> str:
    return f"{number / 1000:.1f}k" if number >= 1000 else str(number)


def _ghost_box(one: _Ghost, place: Placed) -> Box:
    names = ", ".join(one.titles)
    return Box(
        id=one.id,
        node_id=one.node_id,
        kind="ghost",
        title=cut(names, TITLE_MAX_CHARS),
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
