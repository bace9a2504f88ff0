"""Collects what can be resumed from the sessions and answers resume_session (R7.10, R7.30)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backshop.base.limits import RESUME_SNIPPET_MAX_BYTES
from backshop.store import Caller

from .. import question
from ..discovery import note_call
from ..errors import RailsError, cut
from ..repository import Sessions
from ..run import graph
from ..run.answer import Answer, details_text, resume_ref
from ..session.ordinal import attempt_id
from ..session.state import NodeState, Output, RunState, SessionState
from ..token import token as tk
from . import ranking
from .ranking import Work

Json = dict[str, object]
_PREVIEW_BYTES = 512
_IDENTITY_VALUE_CHARS = 200


@dataclass(frozen=True, slots=True)
class _Source:
    """A session and, if it has one, the run and its tip."""

    session_id: str
    state: SessionState
    run: RunState | None = None
    tip: NodeState | None = None


def resumed(sessions: Sessions, asked: ranking.Asked, caller: Caller) -> Answer:
    """Return the work a question means, with the call that takes it up again."""
    sources: dict[tuple[str, str | None], _Source] = {}
    works = []
    for source in _sources(sessions, caller):
        try:
            work = _work(sessions, source)
        except RailsError:  # lost, or written by a later program: no candidate either (R4.18)
            continue
        sources[work.session_id, work.run_id] = source
        works.append(work)
    found = ranking.rank(asked, works)
    keys = sessions.keyring.keys() if found.candidates else None
    candidates = []
    for one in found.candidates:
        assert keys is not None
        source = sources[one.work.session_id, one.work.run_id]
        candidates.append(_candidate(sessions, keys, source, one))
    data: Json = {
        "candidates": candidates,
        "totalEligible": found.total,
        "matched": found.matched,
        "recommended": found.recommended,
    }
    return Answer(data, (_text(asked, found, candidates),))


def title_of(sessions: Sessions, state: SessionState, run: RunState) -> str | None:
    """Return what people call a run (R5.18)."""
    if run.root is None:
        return None
    goal = state.nodes[run.root].context.get("goal")
    if isinstance(goal, str) and goal.strip():
        return goal[:200]
    workflow = sessions.maybe_workflow(run.started.workflow_hash)
    return workflow.compiled.name if workflow else None


def status_of(sessions: Sessions, state: SessionState, run: RunState) -> str:
    """Return a run's status (R5.9)."""
    if run.preferred is None:
        return "in_progress"
    tip = state.nodes[run.preferred]
    position = sessions.maybe_snapshot(tip.snapshot_ref)
    is_complete = position is not None and position.engine.is_complete
    found = graph.status(run, tip, is_complete=is_complete)
    if found == "blocked" and question.is_answered(sessions, state, tip):
        return "in_progress"
    return found


def _sources(sessions: Sessions, caller: Caller) -> Iterator[_Source]:
    for session_id in sessions.ids(caller):
        try:
            state = sessions.state(session_id)
        except RailsError:  # damaged sessions are never candidates (R4.18)
            continue
        if not state.run_order:
            yield _Source(session_id, state)
        for run_id in state.run_order:
            run = state.runs[run_id]
            if run.preferred is not None:
                yield _Source(session_id, state, run, state.nodes[run.preferred])


def _work(sessions: Sessions, source: _Source) -> Work:
    state, run, tip = source.state, source.run, source.tip
    seen = state.observations
    identity = [seen.get("title") or "", seen.get("git_branch") or ""]
    if run is not None and tip is not None:
        compiled = sessions.workflow(run.started.workflow_hash).compiled
        identity += [compiled.workflow_id, compiled.name]
        identity += [
            value
            for value in tip.context.values()
            if isinstance(value, str) and len(value) <= _IDENTITY_VALUE_CHARS
        ]
    is_complete = tip is not None and sessions.snapshot(tip.snapshot_ref).engine.is_complete
    return Work(
        session_id=source.session_id,
        run_id=run.run_id if run else None,
        resume_ref=resume_ref(run.run_id) if run else None,
        identity="\n".join(identity),
        notes=lambda: ranking.bounded(_node_texts(sessions, tip) if tip else ()),
        deep=lambda: ranking.bounded(_deep_texts(sessions, source)),
        git_branch=seen.get("git_branch"),
        git_head_sha=seen.get("git_head_sha"),
        repo_root_hash=seen.get("repo_root_hash"),
        is_complete=is_complete,
        last_seq=run.last_seq if run else state.last_seq,
    )


def _node_texts(sessions: Sessions, node: NodeState) -> Iterator[str]:
    notes = graph.notes_of(node)
    if notes is not None:
        yield notes.payload.notes_markdown or ""
    for artifact in graph.artifacts_of(node):
        yield _preview(sessions, artifact)


def _deep_texts(sessions: Sessions, source: _Source) -> Iterator[str]:
    if source.tip is not None:
        chain = graph.lineage(source.state, source.tip.node_id)
        for node in chain:
            notes = graph.notes_of(node)
            if notes is not None:
                yield notes.payload.notes_markdown or ""
        for node in chain:
            for artifact in graph.artifacts_of(node):
                yield _preview(sessions, artifact)
    for output in source.state.outputs:
        if output.channel == "recap":
            yield output.payload.notes_markdown or ""
        else:
            yield _preview(sessions, output)


def _preview(sessions: Sessions, artifact: Output) -> str:
    data = sessions.maybe_blob(artifact.payload.sha256 or "") or b""
    return data[:_PREVIEW_BYTES].decode(errors="ignore")


def _candidate(sessions: Sessions, keys: tk.Keys, source: _Source, ranked: ranking.Ranked) -> Json:
    state, run, tip = source.state, source.run, source.tip
    found: Json = {
        "sessionId": source.session_id,
        "runId": run.run_id if run else None,
        "resumeRef": resume_ref(run.run_id) if run else None,
        "workflowId": run.started.workflow_id if run else None,
        "title": title_of(sessions, state, run) if run else state.observations.get("title"),
        "status": status_of(sessions, state, run) if run else "in_progress",
        "pendingStepId": None,
        "gitBranch": state.observations.get("git_branch"),
        "snippet": cut(_snippet(source), RESUME_SNIPPET_MAX_BYTES),
        "whyMatched": list(ranked.why),
        "confidence": ranked.confidence,
    }
    if run is None or tip is None:
        current = attempt_id(source.session_id, "checkpoint", len(state.session_attempts))
        arguments: Json = {
            "sessionToken": tk.session_token(keys, source.session_id),
            "checkpointToken": tk.session_checkpoint_token(keys, source.session_id, current),
        }
        return {**found, **arguments, "nextCall": note_call(arguments)}
    pending = sessions.snapshot(tip.snapshot_ref).engine.pending
    found["pendingStepId"] = pending.step_id if pending else None
    token = tk.state_token(keys, tip.node_id, tip.workflow_hash)
    call = {"tool": "continue_workflow", "arguments": {"stateToken": token}}
    return {**found, "stateToken": token, "nextCall": call}


def _snippet(source: _Source) -> str:
    """Return the newest notes on the way to the tip, or of the session."""
    if source.tip is not None:
        for node in graph.upwards(source.state, source.tip.node_id):
            notes = graph.notes_of(node)
            if notes is not None:
                return notes.payload.notes_markdown or ""
        return ""
    for output in reversed(source.state.outputs):
        if output.channel == "recap":
            return output.payload.notes_markdown or ""
    return ""


_WHY = {
    "matched_exact_id": "this is the one you named",
    "matched_identity": "your words are in its title, goal, context, workflow or branch",
    "matched_notes": "your words are in its newest notes and artifacts",
    "matched_deep": "your words are in its notes and artifacts",
    "matched_partial": "some of your words are in its notes and artifacts",
    "matched_head_sha": "it was at the same commit",
    "matched_branch": "it was on the same branch",
    "matched_repo_root": "it is of the same repository",
    "recency_fallback": "only because it is recent",
}


def _text(asked: ranking.Asked, found: ranking.Found, candidates: list[Json]) -> str:
    if not candidates:
        return "There is no earlier work here. Begin with list_workflows and start_workflow."
    lines = [_heading(asked, found)]
    for number, one in enumerate(candidates):
        mark = " (recommended)" if number == found.recommended else ""
        lines.append(
            f"{number + 1}. {one['title'] or 'untitled'} [{one['status']}]"
            f" {one['workflowId'] or 'notes only'} {one['resumeRef'] or ''}{mark}"
        )
        lines += [f"   {line}" for line in _about(one)]
    lines.append("Take one up with its call below; ask the person if it is not clear which.")
    calls = [{"n": n + 1, "next": one["nextCall"]} for n, one in enumerate(candidates)]
    return "\n".join(lines) + f"\n\n```json\n{details_text(calls)}\n```"


def _heading(asked: ranking.Asked, found: ranking.Found) -> str:
    of = f" ({len(found.candidates)} of {found.total} are shown; {found.matched} matched)"
    if found.matched:
        return f"Earlier work, the best match first{of}:"
    named = asked.resume_ref or asked.run_id or asked.session_id
    if named is not None:
        return f"There is no work {named!r} here. What is recent{of}:"
    if asked.query:
        return f"Nothing here matches {asked.query!r}. What is recent{of}:"
    return f"Earlier work, the most recent first{of}:"


def _about(one: Json) -> Iterator[str]:
    why = one["whyMatched"]
    assert isinstance(why, list)
    yield f"{one['confidence']}: {'; '.join(_WHY[word] for word in why)}"
    place = [f"session {one['sessionId']}"]
    place += [f"run {one['runId']}"] if one["runId"] else []
    place += [f"branch {one['gitBranch']}"] if one["gitBranch"] else []
    place += [f"waits for {one['pendingStepId']}"] if one["pendingStepId"] else []
    yield ", ".join(place)
    if one["snippet"]:
        yield f"Notes: {one['snippet']}"
