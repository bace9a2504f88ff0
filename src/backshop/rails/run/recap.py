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

from ..errors import cut
from ..session import lineage
from ..session.state import NodeState, Output, SessionState
from . import graph

POLICY = "kept_most_recent"


@dataclass(frozen=True, slots=True)
class Label:
    """The step a node's notes are about."""

    step_id: str
    title: str


Labels = Callable[[NodeState], Label]
"""Tells which step a node's notes are about; asked only for entries that are shown."""


Previews = Callable[[Output], str]
"""Returns the beginning of an artifact as text."""


@dataclass(frozen=True, slots=True)
class _Entry:
    node: NodeState
    notes: str
    is_checkpoint: bool
    said: dict[str, object]


def recap(
    state: SessionState, node: NodeState, labels: Labels, previews: Previews
) -> dict[str, object]:
    """Return notes and artifacts of a node's lineage, and of checkpoints beside it (R5.19)."""
    entries, count = _upwards(state, node), lineage.told(state, node)
    return fitted(entries, count, labels, previews, RECAP_MAX_BYTES)


def branches(
    state: SessionState, node: NodeState, labels: Labels, previews: Previews
) -> dict[str, object]:
    """Return what became of a rewound node: its children and the way to the newest tip."""
    children = graph.acked_children(state, node)
    tip = graph.preferred_tip_below(state, node)
    taken = lineage.at_depth(state, tip, node.depth + 1)
    count = lineage.told(state, tip) - lineage.told(state, node) + _counts_twice(taken)
    entries = _upwards(state, tip, after=node)
    shown = children[-BRANCH_CHILDREN_MAX:]
    return {
        "children": [_child(child, labels, child.node_id == taken.node_id) for child in shown],
        "omittedChildren": len(children) - len(shown),
        "downstream": fitted(entries, count, labels, previews, DOWNSTREAM_RECAP_MAX_BYTES),
    }


def fitted(
    newest_first: Iterable[_Entry], count: int, labels: Labels, previews: Previews, budget: int
) -> dict[str, object]:
    """Return whole entries, newest first while they fit, listed oldest first; `count` is all."""
    kept: list[dict[str, object]] = []
    left = budget
    for entry in newest_first:
        shown = _shown(entry, labels, previews)
        left -= len(canonical(shown))
        if left < 0:
            break
        kept.append(shown)
    kept.reverse()
    return {
        "entries": kept,
        "truncated": len(kept) < count,
        "omittedEntries": count - len(kept),
        "policy": POLICY,
    }


def notes_to_keep(notes: str) -> tuple[str, bool]:
    """Return notes as the recap holds them, and whether something was cut (R4.13)."""
    kept = cut(notes, NOTES_KEPT_MAX_BYTES)
    return kept, kept != notes


def _upwards(
    state: SessionState, node: NodeState, after: NodeState | None = None
) -> Iterator[_Entry]:
    """Yield entries newest first; what blocked attempts brought counts with the one that was
    accepted (R5.10, R6.14).
    """
    for here, child in lineage.tellers(state, node):
        if after is not None and here.depth <= after.depth:
            return
        for checkpoint in reversed(graph.checkpoint_children(state, here)):
            if checkpoint.node_id != child:
                yield from _entry(state, checkpoint)
        yield from _entry(state, here)


def _entry(state: SessionState, node: NodeState) -> Iterator[_Entry]:
    if lineage.has_notes(node) and node.kind != "blocked_attempt":
        notes = graph.notes_of(node)
        text = (notes.payload.notes_markdown or "") if notes else ""
        is_checkpoint = node.kind == "checkpoint"
        asked = state.nodes.get(node.parent or "") if not is_checkpoint else None
        yield _Entry(node, text, is_checkpoint, graph.person_said(asked) if asked else {})


def _counts_twice(taken: NodeState) -> int:
    """Return 1 for a checkpoint on the way down: the recap of its parent has its notes too."""
    is_beside = taken.kind == "checkpoint" and not taken.is_branch
    return int(is_beside and lineage.has_notes(taken))


def _shown(entry: _Entry, labels: Labels, previews: Previews) -> dict[str, object]:
    label = labels(entry.node)
    artifacts = [
        {"kind": one.payload.kind or "", "preview": previews(one)}
        for one in graph.artifacts_of(entry.node)
    ]
    shown: dict[str, object] = {
        "nodeId": entry.node.node_id,
        "stepId": label.step_id,
        "title": label.title,
        "notesMarkdown": entry.notes,
    }
    shown |= {"artifacts": artifacts} if artifacts else {}
    shown |= entry.said
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
