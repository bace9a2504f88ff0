"""What people do with sessions beside the agent: look, steer, keep, delete, carry away (R7.26)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, Literal

from backshop.base.ambient import Clock, SystemClock
from backshop.base.codec import encode
from backshop.base.command import Command, Made, Needed, Nothing
from backshop.base.ids import did
from backshop.store import THE_OWNER, Caller

from ..bundle import markdown, transfer
from ..discovery import page_start
from ..errors import RailsError, cut, invalid
from ..repository import outside_tokens, stream_of
from ..run import graph, inputs, preference, prompt
from ..run import reason as run_reason
from ..run.interpret import scope
from ..run.plan import Plan
from ..service import Rails
from ..session import events as ev
from ..session.home_event import SessionChanged
from ..session.state import NodeState, SessionState
from ..view import run as view_run
from ..view import session
from ..view.session import unknown
from .request import (
    GapResolve,
    NodeGet,
    RunGet,
    RunSetContext,
    RunSetPreferences,
    SessionDelete,
    SessionExport,
    SessionGet,
    SessionImport,
    SessionSetKeep,
    SessionsExpire,
    SessionsList,
    UserInputRecord,
    WorkflowPinned,
)

Json = dict[str, object]
PHASE = "rails"
_DAY_MS = 86_400_000


class Studio:
    """The person's side of rails."""

    def __init__(self, rails: Rails, clock: Clock | None = None) -> None:
        self._rails = rails
        self._clock = clock or SystemClock()
        self._sessions = rails.sessions

    def sessions_list(self, request: SessionsList, caller: Caller = THE_OWNER) -> Json:
        """Return a page of sessions, the most recently used first."""
        start = page_start(request.cursor)
        wanted = session.Filter(
            status=request.status,
            workflow_id=request.workflow_id,
            workspace=request.workspace,
            branch=request.branch,
            health=request.health,
            query=request.query,
        )
        found_rows = session.session_rows(self._sessions, wanted, self._clock.now_ms(), caller)
        rows = list(islice(found_rows, start, start + request.limit + 1))
        found: Json = {"sessions": rows[: request.limit]}
        if len(rows) > request.limit:
            found["nextCursor"] = str(start + request.limit)
        return found

    def session_get(self, request: SessionGet) -> Json:
        """Return one session."""
        return session.session_page(
            self._sessions,
            request.session_id,
            self._clock.now_ms(),
            with_timeline=request.timeline,
        )

    def run_get(self, request: RunGet) -> Json:
        """Return a run's graph."""
        return view_run.run_graph(
            self._sessions, request.run_id, around=request.around, limit=request.limit
        )

    def node_get(self, request: NodeGet) -> Json:
        """Return everything about a node."""
        return view_run.node_page(self._sessions, request.node_id)

    def workflow_pinned(self, request: WorkflowPinned) -> Json:
        """Return a workflow as runs keep it."""
        return view_run.pinned_page(self._sessions, request.workflow_hash)

    def run_fork(self, request: NodeGet) -> Json:
        """Return a node's step with an ack that branches from it."""
        return self._rails.execution.fork_from(request.node_id).structured

    def run_set_preferences(self, request: RunSetPreferences) -> Json:
        """Change the mode of a run at its preferred tip."""
        wanted = preference.Change(request.preferences.autonomy, request.preferences.risk_policy)

        def change(plan: Plan, node: NodeState, state: SessionState) -> None:
            mode = preference.applied(node.preferences, wanted)
            plan.preferences("user", preference.delta(node.preferences, mode), mode)

        return self._at_tip(request.run_id, change)

    def run_set_context(self, request: RunSetContext) -> Json:
        """Change inputs of a run at its preferred tip."""
        delta = inputs.context({**request.set, **dict.fromkeys(request.removed)})

        def change(plan: Plan, node: NodeState, state: SessionState) -> None:
            inputs.merged(node.context, delta)  # refuses what would be too much
            plan.context("user", delta)

        return self._at_tip(request.run_id, change)

    def user_input_record(self, request: UserInputRecord) -> Json:
        """Record what the person decided; the next acknowledgement of the step counts it."""
        located = self._sessions.locate(request.node_id)
        workflow = self._sessions.workflow(located.node.workflow_hash)
        engine = self._sessions.snapshot(located.node.snapshot_ref).engine
        if engine.pending is None:
            raise _nothing_pending()
        step = workflow.steps[engine.pending.step_id]
        seen = scope(workflow, engine.stack, located.node.context)
        declared = {one.id: one for one in prompt.inputs_of(step, seen)}
        if request.input_id not in declared:
            raise invalid(
                f"the step {step.step_id} asks for no input {request.input_id[:60]!r}",
                f"It asks for: {', '.join(declared) or 'nothing'}.",
            )
        reason = declared[request.input_id].reason
        summary = cut(request.summary or request.decision, run_reason.SUMMARY_MAX_BYTES)

        def change(plan: Plan, node: NodeState, state: SessionState) -> None:
            plan.user_input(request.input_id, reason, request.decision, summary, "studio")

        return self._on(located.session_id, request.node_id, change)

    def gap_resolve(self, request: GapResolve) -> Json:
        """Close a gap at the preferred tip of its run."""
        for session_id in self._sessions.ids():
            try:
                state = self._sessions.state(session_id)
            except RailsError:  # a damaged session has no gaps to close
                continue
            node_id = state.gap_nodes.get(request.gap_id)
            if node_id is None:
                continue
            run = state.runs[state.nodes[node_id].run_id]
            tip = state.nodes[run.preferred or node_id]
            if request.gap_id not in tip.gaps:
                raise invalid("the gap is not open on the run's newest branch", "Nothing to do.")
            return self._on(session_id, tip.node_id, _resolving(request))
        raise unknown("gap", request.gap_id)

    def session_set_keep(self, request: SessionSetKeep) -> Json:
        """Keep a session for good, or not."""
        self._require(request.session_id)
        self._sessions.store.set_keep(stream_of(request.session_id), request.keep)
        self._tell(request.session_id, "kept")
        return {"sessionId": request.session_id, "keep": request.keep}

    def session_delete(self, request: SessionDelete) -> Json:
        """Delete a session; its tokens end with it."""
        self._require(request.session_id)
        if self._is_of_a_bench(request.session_id):
            raise RailsError(
                "PRECONDITION_FAILED",
                "the session belongs to a workbench and lives as long as it",
                "Delete the workbench instead.",
            )
        if request.confirm != request.session_id:
            raise invalid("the confirmation does not repeat the session's id", "Repeat the id.")
        self._delete(request.session_id)
        return {"sessionId": request.session_id, "deleted": True}

    def session_export(self, request: SessionExport) -> Json:
        """Return a session as a bundle, as Markdown or as lines of events."""
        self._require(request.session_id)
        match request.format:
            case "bundle":
                text = transfer.exported(
                    self._sessions, request.session_id, salvage=request.salvage
                )
            case "jsonl":
                text = transfer.lines(self._sessions, request.session_id)
            case "markdown":
                text = markdown.exported(
                    self._sessions, request.session_id, request.run_id, times=request.times
                )
        return {"sessionId": request.session_id, "format": request.format, "text": text}

    def session_import(self, request: SessionImport, caller: Caller = THE_OWNER) -> Json:
        """Bring a session in from a bundle; nothing is stored unless all of it is right."""
        session_id = transfer.imported(self._sessions, request.bundle, caller)
        return {"sessionId": session_id}

    def sessions_expire(self, request: SessionsExpire) -> Json:
        """Delete sessions beyond the retention time; kept and built-in ones stay (R9.8)."""
        days = self._rails.settings.retention_days
        before_ms = self._clock.now_ms() - days * _DAY_MS
        found = []
        for head in self._sessions.store.streams("session"):
            session_id = head.stream.partition(":")[2]
            if days and not head.keep and self._is_expired(session_id, before_ms):
                found.append(session_id)
        for session_id in found if request.apply else ():
            self._delete(session_id)
        return {"sessions": found, "applied": request.apply}

    def keys_rotate(self, request: Nothing) -> Json:
        """Sign tokens with a new key from now on."""
        self._rails.rotate_keys()
        return {"rotated": True}

    # ------------------------------------------------------------ private

    def _delete(self, session_id: str) -> None:
        self._sessions.store.delete_stream(stream_of(session_id))
        self._sessions.forget(session_id)
        self._tell(session_id, "deleted")

    def _tell(self, session_id: str, reason: Literal["deleted", "kept"]) -> None:
        self._rails.announce(SessionChanged(session_id=session_id, reason=reason))

    def _is_of_a_bench(self, session_id: str) -> bool:
        """Say whether the built-in agent works in the session (R9.8)."""
        try:
            runs = self._sessions.readable(session_id).state.runs.values()
        except RailsError:  # nothing of it can be read any more
            return False
        return any(run.started.driver == "builtin" for run in runs)

    def _is_expired(self, session_id: str, before_ms: int) -> bool:
        try:
            state = self._sessions.state(session_id)
        except RailsError:  # a damaged session is for the person to decide about
            return False
        drivers = {state.runs[run_id].started.driver for run_id in state.run_order}
        return state.last_ms < before_ms and "builtin" not in drivers

    def _require(self, session_id: str) -> None:
        if not self._sessions.exists(session_id):
            raise unknown("session", session_id)

    def _at_tip(self, run_id: str, change: _Change) -> Json:
        session_id = self._sessions.home_of_run(run_id)
        if session_id is None:
            raise unknown("run", run_id)
        state = self._sessions.state(session_id)
        tip = state.runs[run_id].preferred
        if tip is None:
            raise unknown("run", run_id)
        return self._on(session_id, tip, change)

    def _on(self, session_id: str, node_id: str, change: _Change) -> Json:
        def rule(state: SessionState) -> Plan | None:
            node = state.nodes[node_id]
            plan = Plan(session_id, node.run_id, node_id, counts=dict(node.counts))
            change(plan, node, state)
            return plan if plan.events else None

        with outside_tokens():
            state = self._sessions.update(session_id, rule)
        node = state.nodes[node_id]
        return {
            "sessionId": session_id,
            "runId": node.run_id,
            "nodeId": node_id,
            "preferences": preference.wire(node.preferences, node.wished),
            "openGaps": [encode(gap.fact) for gap in graph.critical_gaps(node)],
        }


_Change = Callable[[Plan, NodeState, SessionState], None]


def _resolving(request: GapResolve) -> _Change:
    def change(plan: Plan, node: NodeState, state: SessionState) -> None:
        number = node.counts.get("GapRecorded", 0)
        plan.gap(
            ev.GapRecorded(
                gap_id=did("gap", node.node_id, "resolved", number),
                severity="info",
                reason=ev.GapReason("agent_reported", "resolved_by_person"),
                summary=cut(request.summary, run_reason.SUMMARY_MAX_BYTES),
                resolution=ev.Resolution("resolves", request.gap_id),
            )
        )

    return change


def _nothing_pending() -> RailsError:
    return RailsError(
        "PRECONDITION_FAILED", "no step is pending here", "Choose a node that waits for a step."
    )


def _command(
    name: str,
    summary: str,
    request: type,
    run: Callable[..., Any],
    *,
    role: Needed,
    anybody: bool = False,
    makes: Made | None = None,
    writes: bool = False,
    for_caller: bool = False,
) -> Command[Rails, Any, Any]:
    return Command(
        name=name,
        summary=summary,
        request=request,
        response=Json,
        run=lambda rails, *asked: run(Studio(rails), *asked),
        role=role,
        anybody=anybody,
        makes=makes,
        phase=PHASE,
        writes=writes,
        for_caller=for_caller,
    )


STUDIO_COMMANDS: tuple[Command[Rails, Any, Any], ...] = (
    _command(
        "RailsSessionsList",
        "List sessions.",
        SessionsList,
        Studio.sessions_list,
        role="read",
        anybody=True,
        for_caller=True,
    ),
    _command("RailsSessionGet", "Show a session.", SessionGet, Studio.session_get, role="read"),
    _command("RailsRunGet", "Show a run as a graph.", RunGet, Studio.run_get, role="read"),
    _command("RailsNodeGet", "Show one node of a run.", NodeGet, Studio.node_get, role="read"),
    _command(
        "RailsWorkflowPinned",
        "Show a workflow as a run keeps it.",
        WorkflowPinned,
        Studio.workflow_pinned,
        role="owner",
    ),
    _command(
        "RailsRunFork",
        "Get tokens that branch from a node.",
        NodeGet,
        Studio.run_fork,
        role="write",
    ),
    _command(
        "RailsRunSetPreferences",
        "Change the mode of a run.",
        RunSetPreferences,
        Studio.run_set_preferences,
        writes=True,
        role="write",
    ),
    _command(
        "RailsRunSetContext",
        "Change inputs of a run.",
        RunSetContext,
        Studio.run_set_context,
        writes=True,
        role="write",
    ),
    _command(
        "RailsUserInputRecord",
        "Record what the person decided for a step.",
        UserInputRecord,
        Studio.user_input_record,
        writes=True,
        role="write",
    ),
    _command(
        "RailsGapResolve", "Close a gap.", GapResolve, Studio.gap_resolve, writes=True, role="write"
    ),
    _command(
        "RailsSessionSetKeep",
        "Keep a session for good, or not.",
        SessionSetKeep,
        Studio.session_set_keep,
        writes=True,
        role="publish",
    ),
    _command(
        "RailsSessionDelete",
        "Delete a session.",
        SessionDelete,
        Studio.session_delete,
        writes=True,
        role="publish",
    ),
    _command(
        "RailsSessionExport", "Export a session.", SessionExport, Studio.session_export, role="read"
    ),
    _command(
        "RailsSessionImport",
        "Import a session from a bundle.",
        SessionImport,
        Studio.session_import,
        writes=True,
        role="write",
        anybody=True,
        makes="session",
        for_caller=True,
    ),
    _command(
        "RailsSessionsExpire",
        "Delete sessions beyond the retention time.",
        SessionsExpire,
        Studio.sessions_expire,
        writes=True,
        role="owner",
    ),
    _command(
        "RailsKeysRotate",
        "Sign tokens with a new key.",
        Nothing,
        Studio.keys_rotate,
        writes=True,
        role="owner",
    ),
)
