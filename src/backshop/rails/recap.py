"""What happened so far, within a budget of bytes: the newest whole entries are kept (R7.13)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from backshop.base.canon import canonical
from backshop.base.limits import (
    BRANCH_CHILDREN_MAX,
    BRANCH_SNIPPET_MAX_BYTES,
    DOWNSTREAM_RECAP_MAX_BYTES,
    NOTES_KEPT_MAX_BYTES,
    RECAP_MAX_BYTES,
)

from . import graph
from .errors import cut
from .state import NodeState, SessionState

POLICY = "kept_most_recent"


@dataclass(frozen=True, slots=True)
class Label:
    """The step a node's notes are about."""

    step_id: str
    title: str


Labels = Callable[[NodeState], Label]
"""Tells which step a node's notes are about; asked only for entries that are shown."""


@dataclass(frozen=True, slots=True)
class _Entry:
    node: NodeState
    notes: str
    is_checkpoint: bool


def recap(state: SessionState, node: NodeState, labels: Labels) -> dict[str, object]:
    """Return the notes of a node's lineage, with those of checkpoints beside it (R5.19)."""
    chain = list(graph.upwards(state, node.node_id))
    inside = {one.node_id for one in chain}
    return fitted(_upwards(state, chain, inside), labels, RECAP_MAX_BYTES)


def branches(state: SessionState, node: NodeState, labels: Labels) -> dict[str, object]:
    """Return what became of a rewound node: its children and the way to the newest tip."""
    children = graph.acked_children(state, node)
    tip = graph.preferred_tip_below(state, node)
    path = graph.path_down(state, node.node_id, tip.node_id)
    on_path = {one.node_id for one in path}
    shown = children[-BRANCH_CHILDREN_MAX:]
    downstream = list(reversed(path))
    return {
        "children": [_child(child, labels, child.node_id in on_path) for child in shown],
        "omittedChildren": len(children) - len(shown),
        "downstream": fitted(
            _upwards(state, downstream, on_path), labels, DOWNSTREAM_RECAP_MAX_BYTES
        ),
    }


def fitted(newest_first: Iterable[_Entry], labels: Labels, budget: int) -> dict[str, object]:
    """Return whole entries, newest first while they fit, listed oldest first."""
    kept: list[dict[str, object]] = []
    left, omitted = budget, 0
    for entry in newest_first:
        if omitted or left <= 0:
            omitted += 1
            continue
        shown = _shown(entry, labels)
        left -= len(canonical(shown))
        if left < 0:
            omitted += 1
        else:
            kept.append(shown)
    kept.reverse()
    return {
        "entries": kept,
        "truncated": omitted > 0,
        "omittedEntries": omitted,
        "policy": POLICY,
    }


def notes_to_keep(notes: str) -> tuple[str, bool]:
    """Return notes as the recap holds them, and whether something was cut (R4.13)."""
    kept = cut(notes, NOTES_KEPT_MAX_BYTES)
    return kept, kept != notes


def _upwards(state: SessionState, chain: Iterable[NodeState], inside: set[str]) -> Iterator[_Entry]:
    """Yield entries newest first; blocked attempts' notes are no part of a recap (R5.10)."""
    for node in chain:
        beside = [
            one for one in graph.checkpoint_children(state, node) if one.node_id not in inside
        ]
        for checkpoint in reversed(beside):
            yield from _entry(checkpoint)
        yield from _entry(node)


def _entry(node: NodeState) -> Iterator[_Entry]:
    notes = graph.notes_of(node)
    if notes is not None and node.kind != "blocked_attempt":
        yield _Entry(node, notes.payload.notes_markdown or "", node.kind == "checkpoint")


def _shown(entry: _Entry, labels: Labels) -> dict[str, object]:
    label = labels(entry.node)
    shown: dict[str, object] = {
        "nodeId": entry.node.node_id,
        "stepId": label.step_id,
        "title": label.title,
        "notesMarkdown": entry.notes,
    }
    return {**shown, "checkpoint": True} if entry.is_checkpoint else shown


def _child(child: NodeState, labels: Labels, is_preferred: bool) -> dict[str, object]:
    label, notes = labels(child), graph.notes_of(child)
    text = (notes.payload.notes_markdown or "") if notes else ""
    return {
        "nodeId": child.node_id,
        "stepId": label.step_id,
        "title": label.title,
        "cause": child.edge.cause.kind if child.edge else "tip_advance",
        "isPreferred": is_preferred,
        "snippet": cut(text, BRANCH_SNIPPET_MAX_BYTES),
    }
