"""`Rails`: workflows for agents, the facade behind every door (R7.19).

Each call loads what it needs, lets a rule decide, appends once and answers. Answers are text and
data; refusals are `RailsError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from backshop.base.ambient import random_bits
from backshop.base.codec import encode
from backshop.base.ids import b32, did
from backshop.store import Store

from . import compile as pinned
from . import discovery, requests, token_subject
from .answers import Inspected, Listed
from .asker import PERSON, Asker
from .catalog.catalog import Catalog
from .errors import mismatch, other_request, unknown_node
from .execution import Execution, mode_change
from .repository import Sessions, outside_tokens
from .resume import ranking, search
from .run import answer as run_answer
from .run import inputs, preference, start
from .run.answer import Answer
from .run.inputs import Request
from .run.joint_append import Beside
from .run.plan import Plan
from .run.start import Decided, Start
from .session import events as ev
from .session import home_event
from .session import workspace as places
from .session.state import RunState, SessionState
from .settings import Settings
from .token import token as tk
from .view import name

Json = dict[str, object]
IsSame = Callable[[ev.RunStarted, str], bool]
"""Says whether a run that is there was begun by the request with this digest."""


class Rails:
    """Runs of workflows over one store."""

    def __init__(
        self,
        store: Store,
        catalog: Catalog,
        *,
        settings: Settings | None = None,
        random: Callable[[int], int] = random_bits,
    ) -> None:
        self.settings = settings or Settings()
        self.catalog = catalog
        self.sessions = Sessions(store)
        self.execution = Execution(self.sessions, catalog, self.settings)
        self.announce = home_event.announcing(store)
        self._random = random

    def acknowledges(self, ack_token: str) -> tuple[str, str] | None:
        """Return the run and node an ack token belongs to; None for one that is refused."""
        return token_subject.step_of(self.sessions, ack_token, tk.Kind.ACK)

    def stands_at(self, answer: Answer) -> tuple[str, str] | None:
        """Return the run and node where an answer puts who asked."""
        token = str(answer.structured.get("stateToken"))
        return token_subject.step_of(self.sessions, token, tk.Kind.STATE)

    def sessions_of(self, request: object) -> set[str]:
        """Return every session a request names, by id, run, node or token."""
        return token_subject.sessions_of(self.sessions, request)

    def session_id(self, text: str) -> str:
        """Return the id that a session's id, or a unique beginning of it, stands for (S4.3)."""
        return name.session_id(self.sessions, text)

    def run_id(self, text: str) -> str:
        """Return the id that a run's id, its resume ref, or a unique beginning stands for."""
        return name.run_id(self.sessions, text)

    # ------------------------------------------------------------ discovery

    def workflows(self, request: requests.ListWorkflows) -> Listed:
        """Return the workflows there are, and the files that cannot run."""
        return self._listed(request)[0]

    def workflow(self, request: requests.InspectWorkflow) -> Inspected:
        """Return one workflow: metadata, outline or the compiled form."""
        return self._inspected(request)[0]

    def list_workflows(self, request: requests.ListWorkflows) -> Answer:
        """Return the workflows for an agent, with a text."""
        facts, text = self._listed(request)
        return Answer(encode(facts), (text,))

    def inspect_workflow(self, request: requests.InspectWorkflow) -> Answer:
        """Return one workflow for an agent, with a text."""
        facts, text = self._inspected(request)
        return Answer(encode(facts), (text,))

    def _listed(self, request: requests.ListWorkflows) -> tuple[Listed, str]:
        return discovery.listed(self.catalog.look(self._workspace(request)), request)

    def _inspected(self, request: requests.InspectWorkflow) -> tuple[Inspected, str]:
        workspace = self._workspace(request)
        return discovery.inspected(self.catalog.look(workspace), request, workspace)

    # ------------------------------------------------------------ start

    def start_workflow(
        self,
        request: requests.StartWorkflow,
        asker: Asker = PERSON,
        *,
        driver: ev.Driver | None = None,
    ) -> Answer:
        """Begin a run and return its first step (R7.21)."""
        if asker.company is not None:
            return asker.company.start(request, lambda: self._started(request, asker, driver))
        return self._started(request, asker, driver)

    def _started(
        self, request: requests.StartWorkflow, asker: Asker, driver: ev.Driver | None
    ) -> Answer:
        session_id, parent = self._session_for(request)
        key = request.idempotency_key
        if session_id is None and key:
            session_id = did("sess", "start", key, request.workflow_id, *asker.whose)
        session_id = session_id or self._id("sess")
        run_id = did("run", session_id, key, request.workflow_id) if key else self._id("run")
        return self.begin(
            request,
            session_id,
            run_id,
            asker,
            parent=parent,
            driver=driver,
            is_same=_same_request,
        )

    def begin(
        self,
        request: requests.StartWorkflow,
        session_id: str,
        run_id: str,
        asker: Asker = PERSON,
        *,
        parent: ev.Parent | None = None,
        driver: ev.Driver | None = None,
        beside: Beside | None = None,
        is_same: IsSame | None = None,
    ) -> Answer:
        """Begin a run under these ids, making the session if it is new; once, if asked twice."""
        driven = driver or self.settings.driver
        wanted = self._start_request(request, driven, asker)
        workspace = self._workspace(request)
        listing = self.catalog.look(workspace)
        found = listing.load(request.workflow_id)
        workflow = self.sessions.workflow(
            found.workflow_hash, lambda: pinned.snapshot(found.compiled)
        )
        is_new = not self.sessions.exists(session_id)
        references, more = discovery.resolved(found, workspace)
        warnings = [*discovery.id_warnings(listing, found, request.workflow_id), *more]
        seen = places.observations(workspace)
        digest = wanted.digest(workflowId=found.entry.workflow_id)

        def rule(state: SessionState) -> Decided | None:
            if run_id in state.runs:
                return None
            return start.start(
                state,
                Start(
                    session_id=session_id,
                    run_id=run_id,
                    workflow=workflow,
                    pinned=pinned.snapshot(found.compiled),
                    source_kind=str(found.entry.source.kind),
                    source_ref=found.entry.ref,
                    driver=driven,
                    request=wanted,
                    request_digest=digest,
                    baseline=self._baseline(state, driven, asker),
                    observations=seen,
                    references=references,
                    parent=parent,
                    warnings=warnings,
                    only_careful=wanted.by == "agent" and not self.settings.agent_may_automate,
                ),
            )

        state, decided = self.sessions.decide(session_id, rule, beside, asker.caller)
        if decided is None:
            return self._again(session_id, state.runs[run_id], digest, is_same)
        self.sessions.remember(decided.snapshot)
        if is_new:
            self.execution.remember_workspace(session_id, workspace)
        return self._told(decided.body, session_id)

    def _again(self, session_id: str, run: RunState, digest: str, is_same: IsSame | None) -> Answer:
        """Answer a start that was asked for before from its record."""
        if is_same is not None and not is_same(run.started, digest):
            raise other_request(run_answer.resume_ref(run.run_id))
        return self._told(self.sessions.blob(run.started.response_ref), session_id)

    def _told(self, body: bytes, session_id: str) -> Answer:
        return run_answer.filled(self.sessions.keyring.keys(), body, with_session=session_id)

    def _start_request(
        self, request: requests.StartWorkflow, driver: ev.Driver, asker: Asker
    ) -> Request:
        context = dict(request.context or {})
        if request.goal is not None and request.goal.strip():
            context.setdefault("goal", request.goal)
        return Request(
            context=inputs.context(context),
            preferences=mode_change(request.preferences),
            by="builtin" if driver == "builtin" else asker.voice,
        )

    def _session_for(self, request: requests.StartWorkflow) -> tuple[str | None, ev.Parent | None]:
        """Return the session the tokens of a start name, and the parent step."""
        if request.session_token is None and request.parent_state_token is None:
            return None, None
        keys = self.sessions.keyring.keys()
        session_id = None
        if request.session_token is not None:
            session_id = tk.verify(keys, request.session_token, tk.Kind.SESSION).session_id
            if session_id is None or not self.sessions.exists(session_id):
                raise unknown_node()
        parent = None
        if request.parent_state_token is not None:
            located = self.execution.located(
                tk.verify(keys, request.parent_state_token, tk.Kind.STATE)
            )
            if session_id not in (None, located.session_id):
                raise mismatch("sessionToken and parentStateToken belong to different sessions")
            session_id = located.session_id
            parent = ev.Parent(located.node.run_id, located.node.node_id)
        if session_id is not None:
            self.sessions.state(session_id)  # refuses a damaged session
        return session_id, parent

    def _baseline(self, state: SessionState, driver: ev.Driver, asker: Asker) -> ev.Effective:
        """Return the mode a run begins with: the session's, else the configured one (R8.29)."""
        configured = preference.PRESETS[self.settings.preset].values
        if driver != "builtin":
            for run_id in state.run_order:
                run = state.runs[run_id]
                if run.started.driver != "builtin" and run.baseline is not None:
                    return self._session_mode(run, configured, asker)
        return configured

    def _session_mode(
        self, first: RunState, configured: ev.Effective, asker: Asker
    ) -> ev.Effective:
        """Return what the first run of a session gives to a later one.

        What was allowed in a run that an agent began holds for that run; the agent's next one
        begins no bolder than what the person configured (R8.4).
        """
        assert first.baseline is not None
        is_agents = asker.voice == "agent" and first.started.driver != "cli"
        if is_agents and not self.settings.agent_may_automate:
            return preference.lowest(first.baseline, configured)
        return first.baseline

    # ------------------------------------------------------------ execution and sessions

    def continue_workflow(
        self, request: requests.ContinueWorkflow, asker: Asker = PERSON
    ) -> Answer:
        """Acknowledge the pending step, or fetch it again without changing anything."""
        if asker.company is None:
            return self.execution.continue_workflow(request, asker)
        return asker.company.go_on(
            request, lambda: self.execution.continue_workflow(request, asker)
        )

    def progress(self, answer: Json) -> tuple[int, int]:
        """Return how many of the workflow's steps are done where an answer stands, and of how many.

        A step of a loop counts once; a complete run has done all it had to (R7.2).
        """
        token = tk.verify(self.sessions.keyring.keys(), str(answer["stateToken"]), tk.Kind.STATE)
        node = self.execution.located(token).node
        engine = self.sessions.snapshot(node.snapshot_ref).engine
        steps = self.sessions.workflow(node.workflow_hash).steps.values()
        known = {step.step_id for step in steps if step.loop is None}
        done = {key.rpartition("::")[2] for key in engine.completed} & known
        return (len(known) if engine.is_complete else len(done)), len(known)

    def checkpoint_workflow(self, request: requests.CheckpointWorkflow) -> Answer:
        """Record progress without advancing."""
        return self.execution.checkpoint_workflow(request)

    def start_session(self, request: requests.StartSession, asker: Asker = PERSON) -> Answer:
        """Make a session for notes outside any run (R7.9)."""
        workspace = self._workspace(request)
        key = request.idempotency_key
        session_id = did("sess", "session", key, *asker.whose) if key else self._id("sess")
        seen = places.observations(workspace, request.title)

        def rule(state: SessionState) -> Plan | None:
            if state.created:
                return None
            plan = Plan(session_id)
            plan.session(ev.SessionCreated())
            start.observe(plan, state, seen)
            return plan

        was_there = bool(key) and self.sessions.exists(session_id)
        with outside_tokens():
            state = self.sessions.update(session_id, rule, asker.caller)
        if was_there and not _is_titled(state, seen):
            raise other_request(None)
        self.execution.remember_workspace(session_id, workspace)
        return discovery.session_answer(self.sessions.keyring.keys(), session_id, state, 0)

    def resume_session(self, request: requests.ResumeSession, asker: Asker = PERSON) -> Answer:
        """Find earlier work from a new chat; read-only (R7.10)."""
        workspace = self._workspace(request)
        seen = {one.key: str(one.value["value"]) for one in places.observations(workspace)}
        asked = ranking.Asked(
            query=request.query or "",
            resume_ref=request.resume_ref,
            session_id=request.session_id,
            run_id=request.run_id,
            git_branch=request.git_branch or seen.get("git_branch"),
            git_head_sha=request.git_head_sha or seen.get("git_head_sha"),
            repo_root_hash=seen.get("repo_root_hash"),
            same_workspace_only=request.same_workspace_only,
        )
        return search.resumed(self.sessions, asked, asker.caller)

    def rotate_keys(self) -> None:
        """Sign with a new key from now on (R6.3)."""
        self.sessions.keyring.rotate()

    # ------------------------------------------------------------ private

    def _workspace(
        self,
        request: requests.ListWorkflows
        | requests.InspectWorkflow
        | requests.StartWorkflow
        | requests.StartSession
        | requests.ResumeSession,
    ) -> Path | None:
        return places.checked(request.workspace_path) or self.settings.workspace

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{b32(self._random(128).to_bytes(16, 'big'))}"


def _is_titled(state: SessionState, seen: Sequence[ev.ObservationRecorded]) -> bool:
    """Say whether a session has the title that is asked for, if one is."""
    wanted = [str(one.value.get("value")) for one in seen if one.key == "title"]
    return not wanted or state.observations.get("title") == wanted[0]


def _same_request(started: ev.RunStarted, digest: str) -> bool:
    return started.request_digest == digest
