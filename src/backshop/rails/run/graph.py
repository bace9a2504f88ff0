"""The run graph as a view of the state: lineage, leaves, branches, status (R5.3–R5.11)."""

from __future__ import annotations

from collections.abc import Iterator

from ..session import lineage as lines
from ..session.state import Gap, NodeState, Output, RunState, SessionState, current_outputs


def lineage(state: SessionState, node_id: str) -> list[NodeState]:
    """Return the chain root → … → node."""
    chain = list(upwards(state, node_id))
    chain.reverse()
    return chain


def upwards(state: SessionState, node_id: str | None) -> Iterator[NodeState]:
    """Walk from a node to the root."""
    while node_id is not None:
        node = state.nodes[node_id]
        yield node
        node_id = node.parent


def run_nodes(state: SessionState, run_id: str) -> list[NodeState]:
    """Return a run's nodes in the order they were made."""
    root = state.runs[run_id].root
    found, stack = [], [root] if root else []
    while stack:
        node = state.nodes[stack.pop()]
        found.append(node)
        stack.extend(node.children)
    return sorted(found, key=lambda node: node.created_idx)


def leaves(state: SessionState, run_id: str) -> list[NodeState]:
    """Return the nodes without children, the preferred one first (R5.8)."""
    tips = [node for node in run_nodes(state, run_id) if not node.children]
    return sorted(tips, key=lambda node: (-node.last_idx, -node.created_idx, node.node_id))


def acked_children(state: SessionState, node: NodeState) -> list[NodeState]:
    """Return the children that acknowledgements made."""
    children = (state.nodes[child] for child in node.children)
    return [child for child in children if child.edge and child.edge.edge_kind == "acked_step"]


def checkpoint_children(state: SessionState, node: NodeState) -> list[NodeState]:
    """Return the checkpoints that hang directly under a node."""
    if not node.checkpoints:
        return []
    children = (state.nodes[name] for name in node.children)
    return [one for one in children if one.kind == "checkpoint" and not one.is_branch]


def preferred_tip_below(state: SessionState, node: NodeState) -> NodeState:
    """Return the leaf under a node with the latest activity.

    Mostly that is the run's own preferred tip; under an abandoned branch the leaves are compared.
    """
    tip = state.nodes.get(state.runs[node.run_id].preferred or "")
    if tip is not None and lines.is_below(state, tip, node):
        return tip
    best, stack = node, [node.node_id]
    while stack:
        here = state.nodes[stack.pop()]
        stack.extend(here.children)
        if not here.children and (best.children or here.last_idx > best.last_idx):
            best = here
    return best


def attempt_of(state: SessionState, node: NodeState) -> NodeState | None:
    """Return the blocked attempt that a node waits with: itself, or above its checkpoints."""
    for one in upwards(state, node.node_id):
        if one.kind != "checkpoint":
            return one if one.kind == "blocked_attempt" else None
    return None


def handed_context(state: SessionState, attempt: NodeState) -> dict[str, object]:
    """Return the context changed since an attempt's step began, None for a key taken away."""
    began = next(one for one in upwards(state, attempt.node_id) if one.kind == "step").context
    found = {
        key: value
        for key, value in attempt.context.items()
        if key not in began or began[key] != value
    }
    return {**found, **{key: None for key in began if key not in attempt.context}}


def notes_of(node: NodeState) -> Output | None:
    """Return a node's current recap notes."""
    for output in reversed(current_outputs(node.outputs)):
        if output.channel == "recap":
            return output
    return None


def artifacts_of(node: NodeState) -> tuple[Output, ...]:
    """Return a node's current artifacts."""
    return tuple(one for one in current_outputs(node.outputs) if one.channel == "artifact")


def person_said(node: NodeState) -> dict[str, object]:
    """Return the words with which the person answered this step, for its answers (R8.40)."""
    found = [
        {"inputId": one.input_id, "decision": one.decision, "words": one.summary}
        for one in node.inputs
        if one.provenance != "agent_relayed" and one.decision and one.summary != one.decision
    ]
    return {"personSaid": found} if found else {}


def critical_gaps(node: NodeState) -> list[Gap]:
    """Return the unresolved critical gaps of a node's lineage, oldest first."""
    return [gap for gap in node.gaps.values() if gap.fact.severity == "critical"]


def status(run: RunState, tip: NodeState, *, is_complete: bool) -> str:
    """Return a run's status from its preferred tip (R5.9)."""
    if is_complete:
        return "complete_with_gaps" if critical_gaps(tip) else "complete"
    return "blocked" if step_tip(tip) == "blocked_attempt" else "in_progress"


def step_tip(tip: NodeState) -> str:
    """Return the kind that decides a tip's status; a checkpoint keeps its parent's trouble."""
    return "blocked_attempt" if tip.blocked_depth else tip.kind
