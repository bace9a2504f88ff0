"""What waits for a person, over all runs that they see (R10.11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from backshop.base.ambient import timestamp
from backshop.base.codec import camel
from backshop.store import Caller

from .. import question
from ..errors import RailsError
from ..repository import Readable, Sessions
from ..resume.search import title_of
from ..run import graph, prompt, start
from ..run.answer import resume_ref
from ..run.interpret import Workflow, scope
from ..run.snapshot import Blocked, Snapshot
from ..session.state import NodeState, RunState
from .run import InputRow, input_row
from .session import node_title

SHORT_CHARS = 280

WaitKind = Literal["approval", "question", "confirmation", "blocked", "wish"]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One thing that waits for a person, where, since when, and what it is about in short."""

    kind: WaitKind
    session_id: str
    run_id: str
    node_id: str
    resume_ref: str
    title: str | None
    workflow_id: str
    step: str
    since: str
    text: str
    """What is asked; of a blocked attempt, why it is blocked."""
    handed_in: str | None = None
    """The beginning of what the agent handed in with the attempt that waits."""
    handed_context: Mapping[str, object] | None = None
    """The context changed since the step began, whole; null for a key it took away."""
    input: InputRow | None = None
    wished: Mapping[str, object] | None = None
    agent: str | None = None
    workspace_name: str | None = None


def waiting(sessions: Sessions, caller: Caller) -> list[Waiting]:
    """Return everything that waits where runs stand, the newest first.

    Of a run its preferred tip counts: what an abandoned branch once asked nobody waits for. A
    damaged session cannot go on, so nothing of it waits.
    """
    found: list[tuple[int, Waiting]] = []
    for session_id in sessions.ids(caller):
        try:
            shown = sessions.readable(session_id)
        except RailsError:  # its row in the list says what is the matter
            continue
        if not shown.is_salvage:
            found += _of_session(sessions, shown)
    return [one for _, one in sorted(found, key=lambda row: -row[0])]


def _of_session(sessions: Sessions, found: Readable) -> Iterator[tuple[int, Waiting]]:
    for run in (found.state.runs[one] for one in found.state.run_order):
        tip = found.state.nodes.get(run.preferred or "")
        workflow = sessions.maybe_workflow(tip.workflow_hash) if tip else None
        position = sessions.maybe_snapshot(tip.snapshot_ref) if tip else None
        if tip is None or workflow is None or position is None or position.engine.pending is None:
            continue
        common = {
            **_common(sessions, found, run, tip),
            **_handed(sessions, found, tip),
        }
        for row in _at(sessions, found, tip, workflow, position):
            yield tip.created_ms, Waiting(**{**common, **row})


def _common(
    sessions: Sessions, found: Readable, run: RunState, tip: NodeState
) -> dict[str, object]:
    return {
        "session_id": found.session_id,
        "run_id": run.run_id,
        "node_id": tip.node_id,
        "resume_ref": resume_ref(run.run_id),
        "title": title_of(sessions, found.state, run),
        "workflow_id": run.started.workflow_id,
        "step": node_title(sessions, tip),
        "since": timestamp(tip.created_ms),
        "agent": run.agent,
        "workspace_name": found.state.observations.get("workspace_name"),
    }


def _at(
    sessions: Sessions,
    found: Readable,
    tip: NodeState,
    workflow: Workflow,
    position: Snapshot,
) -> Iterator[dict[str, Any]]:
    """Yield what a node waits with: what the person alone gives, else why it is blocked."""
    blocked = start.still_blocked(position, tip.preferences)
    asked = list(_inputs(sessions, found, tip, workflow, position))
    yield from asked
    is_answered = question.is_answered(sessions, found.state, tip)
    if blocked is not None and not asked and not is_answered:
        yield {"kind": "blocked", "text": _blocked_text(tip, blocked)}
    elif blocked is None and not asked and _is_to_confirm(tip, workflow, position):
        step = prompt.render(workflow, position.engine, tip.context, tip.preferences)
        yield {"kind": "confirmation", "text": _short(step.prompt if step else "")}
    if tip.wished:
        wished = {one.key: one.value for one in tip.wished}
        words = ", ".join(str(one).replace("_", " ") for one in wished.values())
        yield {"kind": "wish", "text": f"It would like more automation: {words}.", "wished": wished}


def _inputs(
    sessions: Sessions, found: Readable, tip: NodeState, workflow: Workflow, position: Snapshot
) -> Iterator[dict[str, Any]]:
    if tip.preferences.autonomy == "full_auto_never_stop" or position.engine.pending is None:
        return
    step = workflow.steps[position.engine.pending.step_id]
    seen = scope(workflow, position.engine.stack, tip.context)
    words = question.words_of(sessions, found.state, tip)
    given = {one.input_id: one for one in tip.inputs}
    is_early = graph.attempt_of(found.state, tip) is None
    for one in prompt.inputs_of(step, seen):
        if words.get(one.id) is None:
            row = input_row(one, given.get(one.id), is_open=True, is_early=is_early)
            is_approval = one.reason == "needs_user_approval"
            yield {
                "kind": "approval" if is_approval else "question",
                "text": _short(one.prompt),
                "input": row,
            }


def _handed(sessions: Sessions, found: Readable, tip: NodeState) -> dict[str, object]:
    attempt = graph.attempt_of(found.state, tip)
    if attempt is None:
        return {}
    context = graph.handed_context(found.state, attempt)
    return {"handed_in": _handed_in(sessions, attempt), "handed_context": context or None}


def _handed_in(sessions: Sessions, tip: NodeState) -> str | None:
    """Return the beginning of what an attempt handed in: its notes, and its artifacts as JSON."""
    notes = graph.notes_of(tip)
    parts = [notes.payload.notes_markdown or ""] if notes else []
    parts += [f"{one.payload.kind}: {sessions.preview(one)}" for one in graph.artifacts_of(tip)]
    return _short(" ".join(parts)) or None


def _blocked_text(tip: NodeState, blocked: Blocked) -> str:
    """Say why an attempt is blocked; by the person's own word, if they rejected it."""
    last = tip.inputs[-1] if tip.inputs else None
    if last is not None and last.decision == "rejected" and last.provenance != "agent_relayed":
        said = f": {last.summary}" if last.summary != "rejected" else "."
        return _short(f"You rejected this{said}")
    return _short(" ".join(str(one.get("message", "")) for one in blocked.blockers))


def _is_to_confirm(tip: NodeState, workflow: Workflow, position: Snapshot) -> bool:
    """Say whether the agent was told to ask before it does the step; it asks in its chat (R8.5)."""
    if tip.preferences.autonomy != "guided" or position.engine.pending is None:
        return False
    step = workflow.steps[position.engine.pending.step_id]
    seen = scope(workflow, position.engine.stack, tip.context)
    return prompt.confirmation_holds(step, seen) and not prompt.inputs_of(step, seen)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT_CHARS else line[: SHORT_CHARS - 1].rstrip() + "…"
