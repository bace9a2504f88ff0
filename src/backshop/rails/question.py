"""What a step asks of the person, and what they said to it that counts (R8.21)."""

from __future__ import annotations

from .repository import Sessions
from .run import inputs, judge, reason
from .run.advance import spent
from .run.interpret import scope
from .session.state import NodeState, SessionState

_USER_ONLY = "user_only_dependency:"


def words_of(sessions: Sessions, state: SessionState, node: NodeState) -> dict[str, str | None]:
    """Return what the pending step asks of the person, each with their word, None if open.

    What they said of something else that was handed in, or used already, does not count.
    """
    workflow = sessions.maybe_workflow(node.workflow_hash)
    position = sessions.maybe_snapshot(node.snapshot_ref)
    if workflow is None or position is None or position.engine.pending is None:
        return {}
    step = workflow.steps[position.engine.pending.step_id]
    seen = scope(workflow, position.engine.stack, node.context)
    attempts = sessions.attempts(state, node) if node.inputs else {}
    kept = inputs.together(attempts.values())
    used = spent(state, node, attempts, kept, node.context) if node.inputs else frozenset()
    return judge.answered(step, node, seen, used)


def is_answered(sessions: Sessions, state: SessionState, node: NodeState) -> bool:
    """Say whether a blocked step waited for the person alone and has what it waited for.

    It goes on as soon as its agent makes the call again.
    """
    position = sessions.maybe_snapshot(node.snapshot_ref)
    blocked = position.blocked if position else None
    if blocked is None or not reason.blocks(node.preferences.autonomy) or not node.inputs:
        return False
    if not all(one.startswith(_USER_ONLY) for one in blocked.reasons):
        return False
    words = words_of(sessions, state, node)
    return bool(words) and all(one in ("approved", "provided") for one in words.values())
