"""What people do with sessions beside the agent: look, steer, keep, delete, carry away (R7.26)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any, Literal

from backshop.base.ambient import Clock, SystemClock, timestamp
from backshop.base.command import Command, Nothing, method_command
from backshop.base.ids import did
from backshop.store import THE_OWNER, Caller

from .. import answers
from ..bundle import markdown, transfer
from ..discovery import page_start
from ..errors import RailsError, cut, invalid, nothing_pending
from ..repository import outside_tokens, stream_of
from ..run import form, graph, inputs, preference, prompt
from ..run import reason as run_reason
from ..run.interpret import scope
from ..run.plan import Plan
from ..search import is_meant
from ..service import Rails
from ..session import events as ev
from ..session.home_event import SessionChanged
from ..session.state import NodeState, SessionState
from ..view import run as view_run
from ..view import runs, session, waiting
from ..view.session import unknown
from .answer import (
    Branched,
    Changed,
    Deleted,
    Expired,
    Exported,
    Imported,
    Kept,
    Rotated,
    SessionsListed,
    WaitingListed,
)
from .request import (
    GapResolve,
    NodeGet,
    RunBranch,
    RunGet,
    RunSetContext,
    RunSetPreferences,
    RunsList,
    SessionDelete,
    SessionExport,
    SessionGet,
    SessionImport,
    SessionSetKeep,
    SessionsExpire,
    SessionsList,
    UserInputRecord,
    WaitingList,
    WorkflowPinned,
)

_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_BRANCH_NOTE = "The person asked for this branch: do the step anew."


class Studio:
    """The person's side of rails."""

    def __init__(self, rails: Rails, clock: Clock | None = None) -> None:
        self._rails = rails
        self._clock = clock or SystemClock()
        self._sessions = rails.sessions

    def sessions_list(self, request: SessionsList, caller: Caller = THE_OWNER) -> SessionsListed:
        """Return a page of sessions, the most recently used first."""
        start = page_start(request.cursor)
        every = session.session_rows(self._sessions, self._clock.now_ms(), caller)
        found = (row for row in every if self._fits(row, request))
        rows = tuple(islice(found, start, start + request.limit + 1))
        following = str(start + request.limit) if len(rows) > request.limit else None
        return SessionsListed(sessions=rows[: request.limit], next_cursor=following)

    def runs_list(self, request: RunsList, caller: Caller = THE_OWNER) -> runs.RunsFound:
        """Return a page of runs over all sessions, with counts of what there is."""
        now_ms = self._clock.now_ms()
        wanted = runs.Wanted(
            fits=lambda row: self._wants(row, request, now_ms),
            status=request.status,
            start=page_start(request.cursor),
            limit=request.limit,
        )
        return runs.runs(self._sessions, now_ms, caller, wanted)

    def waiting_list(self, request: WaitingList, caller: Caller = THE_OWNER) -> WaitingListed:
        """Return what waits for a person, the newest first."""
        found = waiting.waiting(self._sessions, caller)
        return WaitingListed(waiting=tuple(found[: request.limit]), total=len(found))

    def session_get(self, request: SessionGet) -> session.SessionPage:
        """Return one session."""
        return session.session_page(
            self._sessions,
            request.session_id,
            self._clock.now_ms(),
            with_timeline=request.timeline,
        )

    def run_get(self, request: RunGet) -> view_run.RunGraph:
        """Return a run's graph."""
        return view_run.run_graph(
            self._sessions, request.run_id, around=request.around, limit=request.limit
        )

    def node_get(self, request: NodeGet) -> view_run.NodePage:
        """Return everything about a node."""
        return view_run.node_page(self._sessions, request.node_id)

    def workflow_pinned(self, request: WorkflowPinned) -> view_run.PinnedPage:
        """Return a workflow as runs keep it."""
        return view_run.pinned_page(self._sessions, request.workflow_hash)

    def run_fork(self, request: NodeGet) -> answers.Json:
        """Return a node's step with an ack that branches from it."""
        return self._rails.execution.fork_from(request.node_id).structured

    def run_branch(self, request: RunBranch) -> Branched:
        """Begin a branch at a node; whoever resumes the run goes on there."""
        said = (request.note or "").strip()
        note = f"The person asked for this branch: {said}" if said else _BRANCH_NOTE
        with outside_tokens():
            made = self._rails.execution.branch(request.node_id, note)
        located = self._sessions.locate(made)
        return Branched(
            session_id=located.session_id,
            run_id=located.node.run_id,
            node_id=made,
            resume=view_run.resume_of(self._sessions, located.node),
        )

    def run_set_preferences(self, request: RunSetPreferences) -> Changed:
        """Change the mode of a run at its preferred tip."""
        wanted = preference.Change(request.preferences.autonomy, request.preferences.risk_policy)

        def change(plan: Plan, node: NodeState, state: SessionState) -> None:
            mode = preference.applied(node.preferences, wanted)
            before = None if node.wished else node.preferences  # a wish is answered either way
            plan.preferences("user", preference.delta(before, mode), mode)

        return self._at_tip(request.run_id, change)

    def run_set_context(self, request: RunSetContext) -> Changed:
        """Change inputs of a run at its preferred tip."""
        delta = inputs.context({**request.set, **dict.fromkeys(request.removed)})

        def change(plan: Plan, node: NodeState, state: SessionState) -> None:
            inputs.merged(node.context, delta)  # refuses what would be too much
            plan.context("user", delta)

        return self._at_tip(request.run_id, change)

    def user_input_record(self, request: UserInputRecord) -> Changed:
        """Record what the person decided; the next acknowledgement of the step counts it."""
        located = self._sessions.locate(request.node_id)
        workflow = self._sessions.workflow(located.node.workflow_hash)
        engine = self._sessions.snapshot(located.node.snapshot_ref).engine
        if engine.pending is None:
            raise nothing_pending()
        step = workflow.steps[engine.pending.step_id]
        seen = scope(workflow, engine.stack, located.node.context)
        declared = {one.id: one for one in prompt.inputs_of(step, seen)}
        if request.input_id not in declared:
            raise invalid(
                f"the step {step.step_id} asks for no input {request.input_id[:60]!r}",
                f"It asks for: {', '.join(declared) or 'nothing'}.",
            )
        reason = declared[request.input_id].reason
        is_early = graph.attempt_of(located.state, located.node) is None
        if is_early and reason == "needs_user_approval" and request.decision != "rejected":
            raise RailsError(
                "PRECONDITION_FAILED",
                "nothing was handed in for this step yet, so there is nothing to approve",
                "Let the agent hand the step in; it then waits for you with what it handed in.",
            )
        if request.decision == "provided" and form.is_blank(request.summary):
            raise invalid("what is provided is still the placeholder", "Say what it is.")
        summary = cut(request.summary or request.decision, run_reason.SUMMARY_MAX_BYTES)

        def change(plan: Plan, node: NodeState, state: SessionState) -> None:
            plan.user_input(request.input_id, reason, request.decision, summary, "studio")

        return self._on(located.session_id, request.node_id, change)

    def gap_resolve(self, request: GapResolve) -> Changed:
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

    def session_set_keep(self, request: SessionSetKeep) -> Kept:
        """Keep a session for good, or not."""
        self._require(request.session_id)
        self._sessions.store.set_keep(stream_of(request.session_id), request.keep)
        self._tell(request.session_id, "kept")
        return Kept(session_id=request.session_id, keep=request.keep)

    def session_delete(self, request: SessionDelete) -> Deleted:
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
        return Deleted(session_id=request.session_id)

    def session_export(self, request: SessionExport) -> Exported:
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
        return Exported(session_id=request.session_id, format=request.format, text=text)

    def session_import(self, request: SessionImport, caller: Caller = THE_OWNER) -> Imported:
        """Bring a session in from a bundle; nothing is stored unless all of it is right."""
        session_id = transfer.imported(self._sessions, request.bundle, caller)
        return Imported(session_id=session_id)

    def sessions_expire(self, request: SessionsExpire) -> Expired:
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
        return Expired(sessions=tuple(found), applied=request.apply)

    def keys_rotate(self, request: Nothing) -> Rotated:
        """Sign tokens with a new key from now on."""
        self._rails.rotate_keys()
        return Rotated()

    # ------------------------------------------------------------ private

    def _fits(self, row: session.SessionRow, wanted: SessionsList) -> bool:
        asked = (
            (wanted.status, row.status),
            (wanted.health, row.health),
            (wanted.workspace, row.workspace_name),
            (wanted.branch, row.git_branch),
        )
        if any(one is not None and one != has for one, has in asked):
            return False
        if wanted.workflow_id is not None and wanted.workflow_id not in row.workflow_ids:
            return False
        query = wanted.query or ""
        return not query or is_meant(query, *session.found_by(self._sessions, row))

    def _wants(self, row: runs.RunListed, wanted: RunsList, now_ms: int) -> bool:
        asked = (
            (wanted.workflow_id, row.workflow_id),
            (wanted.workspace, row.workspace_name),
            (wanted.agent, row.agent),
        )
        if any(one is not None and one != has for one, has in asked):
            return False
        if wanted.at_work and not row.is_at_work:
            return False
        if wanted.within_hours is not None:
            since = timestamp(now_ms - wanted.within_hours * _HOUR_MS)
            if row.last_activity < since:
                return False
        query, ids = wanted.query or "", (row.resume_ref, row.run_id, row.session_id)
        return not query or is_meant(query, ids, runs.text_of(row))

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

    def _at_tip(self, run_id: str, change: _Change) -> Changed:
        session_id = self._sessions.home_of_run(run_id)
        if session_id is None:
            raise unknown("run", run_id)
        state = self._sessions.state(session_id)
        tip = state.runs[run_id].preferred
        if tip is None:
            raise unknown("run", run_id)
        return self._on(session_id, tip, change)

    def _on(self, session_id: str, node_id: str, change: _Change) -> Changed:
        def rule(state: SessionState) -> Plan | None:
            node = state.nodes[node_id]
            plan = Plan(session_id, node.run_id, node_id, counts=dict(node.counts))
            change(plan, node, state)
            return plan if plan.events else None

        with outside_tokens():
            state = self._sessions.update(session_id, rule)
        node = state.nodes[node_id]
        return Changed(
            session_id=session_id,
            run_id=node.run_id,
            node_id=node_id,
            preferences=session.mode_of(node),
            open_gaps=tuple(gap.fact for gap in graph.critical_gaps(node)),
        )


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


_command = partial(method_command, phase="rails")
_read = partial(_command, role="read")
_write = partial(_command, role="write", writes=True)
_publish = partial(_command, role="publish", writes=True)
_own = partial(_command, role="owner", writes=True)

STUDIO_COMMANDS: tuple[Command[Studio, Any, Any], ...] = (
    _read(
        "RailsSessionsList", "List sessions.", Studio.sessions_list, anybody=True, for_caller=True
    ),
    _read("RailsRunsList", "List runs.", Studio.runs_list, anybody=True, for_caller=True),
    _read(
        "RailsWaitingList",
        "List what waits for a person.",
        Studio.waiting_list,
        anybody=True,
        for_caller=True,
    ),
    _read("RailsSessionGet", "Show a session.", Studio.session_get),
    _read("RailsRunGet", "Show a run as a graph.", Studio.run_get),
    _read("RailsNodeGet", "Show one node of a run.", Studio.node_get),
    _command(
        "RailsWorkflowPinned",
        "Show a workflow as a run keeps it.",
        Studio.workflow_pinned,
        role="owner",
    ),
    _command("RailsRunFork", "Get tokens that branch from a node.", Studio.run_fork, role="write"),
    _write("RailsRunBranch", "Begin a branch at a node.", Studio.run_branch),
    _write("RailsRunSetPreferences", "Change the mode of a run.", Studio.run_set_preferences),
    _write("RailsRunSetContext", "Change inputs of a run.", Studio.run_set_context),
    _write(
        "RailsUserInputRecord",
        "Record what the person decided for a step.",
        Studio.user_input_record,
    ),
    _write("RailsGapResolve", "Close a gap.", Studio.gap_resolve),
    _publish("RailsSessionSetKeep", "Keep a session for good, or not.", Studio.session_set_keep),
    _publish("RailsSessionDelete", "Delete a session.", Studio.session_delete),
    _read("RailsSessionExport", "Export a session.", Studio.session_export),
    _write(
        "RailsSessionImport",
        "Import a session from a bundle.",
        Studio.session_import,
        anybody=True,
        makes="session",
        for_caller=True,
    ),
    _own(
        "RailsSessionsExpire", "Delete sessions beyond the retention time.", Studio.sessions_expire
    ),
    _own("RailsKeysRotate", "Sign tokens with a new key.", Studio.keys_rotate),
)
