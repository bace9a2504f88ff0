"""Long lineages in few steps: a far ancestor by jumps, a recap's entries without a walk (R7.23).

Each node keeps one pointer to a far ancestor, so that any ancestor is reached in a number of steps
that grows like the logarithm of the depth. It also keeps how many entries a recap has up to it,
as counted when it was made. A checkpoint's notes may come later than that, on a node the run has
left already; runs list such nodes (`late`), and only they are looked up again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from .state import NodeState, SessionState

# ---------------------------------------------------------------- while folding


def below(state: SessionState, node: NodeState, parent: NodeState) -> NodeState:
    """Return a new node with what it inherits from its lineage for the questions below."""
    far = state.nodes[parent.jump] if parent.jump else parent
    farther = state.nodes[far.jump] if far.jump else far
    is_even = parent.depth - far.depth == far.depth - farther.depth
    return replace(
        node,
        jump=farther.node_id if is_even else parent.node_id,
        told=parent.told + len(parent.noted),
        teller=parent.node_id if _tells(parent) else parent.teller,
    )


def noted(state: SessionState, node: NodeState) -> tuple[SessionState, NodeState]:
    """Count a node's first output; that of a checkpoint is also its parent's to tell.

    What a person begins a branch with is for that branch alone.
    """
    if node.kind == "blocked_attempt" or has_notes(node):
        return state, node
    parent = state.nodes.get(node.parent or "")
    if node.kind == "checkpoint" and not node.is_branch and parent is not None:
        is_late = any(child != node.node_id for child in parent.children)
        parent = replace(parent, noted=(*parent.noted, node.created_idx))
        state = replace(state, nodes=state.nodes.put(parent.node_id, parent))
        run = state.runs.get(node.run_id)
        if is_late and run is not None and parent.node_id not in run.late:
            run = replace(run, late=(*run.late, parent.node_id))
            state = replace(state, runs=state.runs.put(run.run_id, run))
    return state, replace(node, told=node.told + 1)


# ---------------------------------------------------------------- questions


def at_depth(state: SessionState, node: NodeState, depth: int) -> NodeState:
    """Return the node at a depth of a lineage, which must be that deep."""
    while node.depth > depth:
        far = state.nodes[node.jump or ""]
        node = far if far.depth >= depth else state.nodes[node.parent or ""]
    return node


def is_below(state: SessionState, node: NodeState, upper: NodeState) -> bool:
    """Say whether `upper` is a true ancestor of a node."""
    if node.depth <= upper.depth:
        return False
    return at_depth(state, node, upper.depth).node_id == upper.node_id


def has_notes(node: NodeState) -> bool:
    """Say whether a node has something of its own to tell: notes or artifacts."""
    return bool(node.outputs)


def told(state: SessionState, node: NodeState) -> int:
    """Return how many entries the whole recap of a node has (R5.19)."""
    count = node.told + len(node.noted)
    for upper in _late(state, node):
        child = at_depth(state, node, upper.depth + 1)
        count += len(upper.noted) - bisect_right(upper.noted, child.created_idx)
    return count


def tellers(state: SessionState, node: NodeState) -> Iterator[tuple[NodeState, str | None]]:
    """Yield the node and, upwards, the ancestors with entries; each with its child on the way."""
    late = sorted(_late(state, node), key=lambda one: one.depth)
    here, last = node, None
    while True:
        yield here, _child(state, node, here, last)
        upper = state.nodes[here.teller] if here.teller else None
        while late and late[-1].depth >= here.depth:
            late.pop()
        if late and (upper is None or late[-1].depth > upper.depth):
            upper = late[-1]
        if upper is None:
            return
        here, last = upper, here


def _child(
    state: SessionState, node: NodeState, here: NodeState, last: NodeState | None
) -> str | None:
    """Return the child of `here` in the lineage of `node`; `last` was visited just before."""
    if last is None:
        return None
    if last.parent == here.node_id:
        return last.node_id
    return at_depth(state, node, here.depth + 1).node_id


def _late(state: SessionState, node: NodeState) -> Iterator[NodeState]:
    """Yield the true ancestors that got a checkpoint's notes after they had a child."""
    run = state.runs.get(node.run_id)
    for name in run.late if run is not None else ():
        if is_below(state, node, state.nodes[name]):
            yield state.nodes[name]


def _tells(node: NodeState) -> bool:
    is_told = node.kind != "blocked_attempt" and has_notes(node)
    return is_told or bool(node.noted)
