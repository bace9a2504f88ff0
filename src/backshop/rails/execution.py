"""Acting on nodes: acknowledge, fetch again, replay, checkpoint (R6.10–R6.17, R7.22–R7.24)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from backshop.base.limits import BLOCKED_ATTEMPTS_BUILTIN_MAX, NOTES_KEPT_MAX_BYTES
from backshop.store import THE_OWNER, Caller

from . import discovery, requests
from .asker import PERSON, Asker
from .catalog.catalog import Catalog
from .drift import Drift
from .errors import RailsError, cut, invalid, mismatch, nothing_pending, unknown_node
from .observer import RunObserver
from .repository import Located, Sessions
from .run import answer as run_answer
from .run import form, graph, inputs, preference, prompt, recap, start
from .run.advance import Acknowledge, Policy, spent, still_open
from .run.advance import advance as decide_advance
from .run.answer import Answer, AnswerFacts, Offer, Place
from .run.inputs import Request
from .run.interpret import Workflow
from .run.joint_append import Beside
from .run.plan import Plan
from .run.snapshot import Snapshot
from .run.start import Decided, Note
from .session import workspace as places
from .session.events import Effective
from .session.ordinal import attempt_id
from .session.state import Attempt, NodeState, SessionState
from .settings import Settings
from .token import token as tk

Json = dict[str, object]
_RESUME_REF = re.compile(r"r-[a-z2-7]{10}")


class Execution:
    """What tokens can do."""

    def __init__(self, sessions: Sessions, catalog: Catalog, settings: Settings) -> None:
        self.sessions = sessions
        self.settings = settings
        self._drift = Drift(catalog)
        self._workspaces: dict[str, Path | None] = {}

    def continue_workflow(
        self, request: requests.ContinueWorkflow, asker: Asker = PERSON
    ) -> Answer:
        """Acknowledge the pending step, or fetch it again without changing anything."""
        if request.ack_token is not None:
            wanted = Request(
                context=inputs.context(request.context),
                output=requests.raw_output(request.output),
                preferences=mode_change(request.preferences),
                by=asker.voice,
            )
            return self.advance(
                request.ack_token,
                wanted,
                state_token=request.state_token,
                company=asker.company,
            )
        for name in ("output", "context", "preferences"):
            if getattr(request, name) is not None:
                raise invalid(
                    f"continue_workflow: {name} was sent without an ackToken",
                    "Add the ackToken of the same answer to record it, or leave it out to only"
                    " fetch the step.",
                )
        if request.state_token is None:
            raise invalid(
                "continue_workflow: neither stateToken nor ackToken was sent",
                "Send the stateToken and ackToken of the last answer; if they are lost, call"
                " resume_session.",
            )
        return self.rehydrate(request.state_token, asker.caller)

    def advance(
        self,
        ack_token: str,
        request: Request,
        *,
        state_token: str | None = None,
        is_intended_fork: bool = False,
        beside: Beside | None = None,
        company: RunObserver | None = None,
    ) -> Answer:
        """Count the pending step as done, once, however often it is asked (R7.22)."""
        keys = self.sessions.keyring.keys()
        ack = tk.verify(keys, ack_token, tk.Kind.ACK)
        token = ack
        if state_token is not None:
            if _RESUME_REF.fullmatch(state_token.strip()):
                raise mismatch("a resumeRef cannot be acknowledged")
            token = tk.verify(keys, state_token, tk.Kind.STATE)
            if token.node_id != ack.node_id:
                raise mismatch("ackToken and stateToken belong to different steps")
        located = self.located(token)
        attempt = ack.attempt_id or ""
        if attempt in located.state.attempts:
            return self._replayed(keys, located.state, attempt, request)
        is_fork = attempt == attempt_id(located.node.node_id, "fork", located.node.forks)
        if not is_fork:
            _require_attempt(located.node, attempt, "ack", located.node.advances)
        attempts = self.sessions.attempts(located.state, located.node)
        kept = inputs.together(attempts.values())
        if beside is None and company is not None:
            whole = replace(request, output=inputs.effective(request.output, kept))
            beside = company.beside(located, whole)
        workflow = self.sessions.workflow(located.node.workflow_hash)
        workspace = self._workspace_of(located.session_id)
        wish = Acknowledge(
            session_id=located.session_id,
            node_id=located.node.node_id,
            attempt_id=attempt,
            workflow=workflow,
            snapshot=self.sessions.snapshot(located.node.snapshot_ref),
            request=request,
            policy=self._policy(),
            kept=kept,
            attempts=attempts,
            warnings=self._drift.warnings(workflow.compiled, workflow.hash, workspace),
            observations=places.observations(workspace),
            is_intended_fork=is_fork or is_intended_fork,
            ceiling=_ceiling(located),
        )

        def rule(state: SessionState) -> Decided | None:
            return None if attempt in state.attempts else decide_advance(state, wish)

        state, decided = self.sessions.decide(located.session_id, rule, beside)
        if decided is None:
            return self._replayed(keys, state, attempt, request)
        self.sessions.remember(decided.snapshot)
        return run_answer.filled(keys, decided.body)

    def rehydrate(self, state_token: str, caller: Caller = THE_OWNER) -> Answer:
        """Return a node's pending step, recap and branches; nothing is written (R7.23)."""
        if _RESUME_REF.fullmatch(state_token.strip()):
            return self._rehydrated(self._by_resume_ref(state_token.strip(), caller))
        token = tk.verify(self.sessions.keyring.keys(), state_token, tk.Kind.STATE)
        return self._rehydrated(self.located(token))

    def fork_from(self, node_id: str) -> Answer:
        """Return a node with an ack that branches from it, recorded as asked for (R5.5)."""
        return self._rehydrated(self.sessions.locate(node_id), is_fork=True)

    def branch(self, node_id: str, note: str) -> str:
        """Begin a branch at a node with a person's word on it; the new node waits for the same.

        The agents that hold tokens of the node keep them.

        Raises:
            RailsError: `PRECONDITION_FAILED`: nothing is pending there.
        """
        located = self.sessions.locate(node_id)
        workflow = self.sessions.workflow(located.node.workflow_hash)
        snapshot = self.sessions.snapshot(located.node.snapshot_ref)
        if snapshot.engine.pending is None:
            raise nothing_pending()
        if located.state.runs[located.node.run_id].started.driver == "builtin":
            raise RailsError(
                "PRECONDITION_FAILED",
                "the built-in agent goes by its conversation, not by branches",
                "Go back to an earlier message in the Workshop instead.",
            )
        request = Request(output=inputs.output({"notesMarkdown": note}))

        def rule(state: SessionState) -> Decided:
            number = state.nodes[node_id].branches
            wish = Note(
                session_id=located.session_id,
                node_id=node_id,
                attempt_id=attempt_id(node_id, "branch", number),
                workflow=workflow,
                snapshot=snapshot,
                request=request,
                is_branch=True,
            )
            return start.checkpoint(state, wish)

        _, decided = self.sessions.decide(located.session_id, rule)
        assert decided is not None
        return decided.node_id

    def _rehydrated(self, located: Located, *, is_fork: bool = False) -> Answer:
        state, node = located.state, located.node
        workflow = self.sessions.workflow(node.workflow_hash)
        snapshot = self.sessions.snapshot(node.snapshot_ref)
        labels = self.sessions.label(state)
        previews = self.sessions.preview
        more: Json = {
            "recap": recap.recap(state, node, labels, previews),
            **graph.person_said(node),
        }
        if isinstance(goal := node.context.get("goal"), str) and goal.strip():
            more["goal"] = cut(goal, NOTES_KEPT_MAX_BYTES)
        if node.is_rewound:
            more["branches"] = recap.branches(state, node, labels, previews)
        workspace = self._workspace_of(located.session_id)
        started = state.runs[node.run_id].started
        facts = self._facts(
            located.session_id,
            state,
            node,
            workflow,
            snapshot,
            warnings=self._drift.warnings(workflow.compiled, workflow.hash, workspace),
            more=more,
            guidance=run_answer.guidance_of(workflow.compiled, started.references, is_start=False),
        )
        if facts.blockers and facts.rendered is not None:
            attempts = self.sessions.attempts(state, node)
            kept = inputs.together(attempts.values())
            used = spent(state, node, attempts, kept, node.context)
            asked, context = still_open(workflow, snapshot.engine, node, facts.rendered, kept, used)
            facts = replace(
                facts,
                rendered=replace(facts.rendered, form=asked),
                context=context,
                more={**more, **run_answer.handed_in(kept, asked)},
            )
        offer = _offer(node, snapshot)
        if is_fork and offer.ack is not None:
            offer = replace(offer, ack=attempt_id(node.node_id, "fork", node.forks))
        body = run_answer.stored(run_answer.body(facts, offer))
        return run_answer.filled(self.sessions.keyring.keys(), body)

    def _facts(
        self,
        session_id: str,
        state: SessionState,
        node: NodeState,
        workflow: Workflow,
        snapshot: Snapshot,
        *,
        warnings: Sequence[Json] = (),
        more: Json | None = None,
        guidance: Json | None = None,
    ) -> AnswerFacts:
        """Return what can be told of a node from its record alone."""
        blocked = start.still_blocked(snapshot, node.preferences)
        return AnswerFacts(
            place=Place(
                session_id=session_id,
                run_id=node.run_id,
                workflow_id=state.runs[node.run_id].started.workflow_id,
            ),
            mode=node.preferences,
            wished=node.wished,
            rendered=prompt.render(workflow, snapshot.engine, node.context, node.preferences),
            warnings=warnings,
            blockers=blocked.blockers if blocked else (),
            is_retryable=blocked.retryable if blocked else True,
            more=more or {},
            guidance=guidance or {},
        )

    def _replayed(
        self, keys: tk.Keys, state: SessionState, attempt: str, request: Request
    ) -> Answer:
        """Answer a used token from the record; other content is refused (R6.12, R6.13, R6.16)."""
        recorded = state.attempts[attempt]
        if recorded.request_digest != request.digest():
            raise self._already(keys, state, recorded)
        data = self.sessions.maybe_blob(recorded.response_ref)
        if data is None:
            data = self._rebuilt(state, recorded)
        return run_answer.filled(keys, data)

    def _already(self, keys: tk.Keys, state: SessionState, recorded: Attempt) -> RailsError:
        """Return the refusal of a used token with other content, and both ways on."""
        node, led_to = state.nodes[recorded.node_id], state.nodes[recorded.to_node_id]
        here = tk.state_token(keys, node.node_id, node.workflow_hash)
        there = tk.state_token(keys, led_to.node_id, led_to.workflow_hash)
        go_on: Json = {"tool": "continue_workflow", "arguments": {"stateToken": there}}
        if recorded.outcome == "checkpoint":
            current = attempt_id(node.node_id, "checkpoint", node.checkpoints)
            token = tk.checkpoint_token(keys, node.node_id, current)
            return RailsError(
                "ALREADY_RECORDED",
                "checkpoint_workflow: this checkpointToken was used with other content, which"
                " stands; what was sent now is not recorded",
                "To record it too, make the call again with the stateToken and checkpointToken of"
                " `details`.",
                details={"stateToken": here, "checkpointToken": token, "nextCall": go_on},
            )
        token = tk.ack_token(keys, node.node_id, attempt_id(node.node_id, "ack", node.advances))
        word = "was blocked" if recorded.outcome == "blocked" else "was acknowledged"
        return RailsError(
            "ALREADY_RECORDED",
            f"continue_workflow: this step {word} with other content, by this or another agent;"
            " what was sent now is not recorded",
            "To go on from what is recorded make the nextCall of `details`. To record yours as a"
            " branch beside it, make your call again with the stateToken and forkAckToken (as"
            " ackToken) of `details`.",
            details={"nextCall": go_on, "stateToken": here, "forkAckToken": token},
        )

    def _rebuilt(self, state: SessionState, recorded: Attempt) -> bytes:
        """Return the answer of an imported attempt, rendered from the node it led to."""
        node = state.nodes[recorded.to_node_id]
        session_id = self.sessions.home_of(node.node_id) or ""
        workflow = self.sessions.workflow(node.workflow_hash)
        snapshot = self.sessions.snapshot(node.snapshot_ref)
        more: Json = {}
        if recorded.outcome == "checkpoint":
            more["checkpoint"] = {"nodeId": node.node_id}
        facts = self._facts(session_id, state, node, workflow, snapshot, more=more)
        return run_answer.stored(run_answer.body(facts, _offer(node, snapshot, is_first=True)))

    def checkpoint_workflow(self, request: requests.CheckpointWorkflow) -> Answer:
        """Record progress without advancing (R7.24)."""
        wanted = Request(output=requests.raw_output(request.output))
        if (request.state_token is None) == (request.session_token is None):
            raise invalid(
                "checkpoint_workflow: send either a stateToken or a sessionToken",
                "Send the stateToken of the step the work belongs to.",
            )
        if wanted.output.is_empty:
            raise invalid(
                "checkpoint_workflow: the output has neither notes nor artifacts",
                f"Send output = {inputs.SHAPE}.",
            )
        if form.is_blank(wanted.output.notes):
            raise invalid(
                "checkpoint_workflow: output.notesMarkdown is still the placeholder",
                "Replace it by what is to be kept.",
            )
        keys = self.sessions.keyring.keys()
        checkpoint = tk.verify(keys, request.checkpoint_token, tk.Kind.CHECKPOINT)
        if request.session_token is not None:
            session = tk.verify(keys, request.session_token, tk.Kind.SESSION)
            if session.session_id != checkpoint.session_id:
                raise mismatch("checkpointToken and sessionToken do not belong together")
            return self._session_checkpoint(keys, checkpoint, wanted)
        state = tk.verify(keys, request.state_token, tk.Kind.STATE)
        if state.node_id != checkpoint.node_id:
            raise mismatch("checkpointToken and stateToken belong to different steps")
        return self._node_checkpoint(keys, state, checkpoint.attempt_id or "", wanted)

    def _node_checkpoint(
        self, keys: tk.Keys, token: tk.Token, attempt: str, request: Request
    ) -> Answer:
        located = self.located(token)
        if attempt in located.state.attempts:
            return self._replayed(keys, located.state, attempt, request)
        _require_attempt(located.node, attempt, "checkpoint", located.node.checkpoints)
        workflow = self.sessions.workflow(located.node.workflow_hash)
        wish = Note(
            session_id=located.session_id,
            node_id=located.node.node_id,
            attempt_id=attempt,
            workflow=workflow,
            snapshot=self.sessions.snapshot(located.node.snapshot_ref),
            request=request,
        )

        def rule(state: SessionState) -> Decided | None:
            return None if attempt in state.attempts else start.checkpoint(state, wish)

        state, decided = self.sessions.decide(located.session_id, rule)
        if decided is None:
            return self._replayed(keys, state, attempt, request)
        return run_answer.filled(keys, decided.body)

    def _session_checkpoint(self, keys: tk.Keys, token: tk.Token, request: Request) -> Answer:
        session_id, attempt = token.session_id or "", token.attempt_id or ""
        if not self.sessions.exists(session_id):
            raise unknown_node()
        state = self.sessions.state(session_id)
        if attempt not in state.attempts:
            current = attempt_id(session_id, "checkpoint", len(state.session_attempts))
            if attempt != current:
                raise mismatch("the checkpointToken is unknown", reason="unknown_attempt")

            def rule(now: SessionState) -> Plan | None:
                if attempt in now.attempts:
                    return None
                return start.session_checkpoint(session_id, attempt, request)

            state = self.sessions.update(session_id, rule)
        number = state.session_attempts.index(attempt)
        answer = discovery.session_answer(keys, session_id, state, number + 1)
        if state.attempts[attempt].request_digest == request.digest():
            return answer
        raise discovery.session_again(keys, session_id, state)

    def remember_workspace(self, session_id: str, workspace: Path | None) -> None:
        """Note where a session's files are on this machine; never an event."""
        self._workspaces[session_id] = workspace
        if workspace is not None:
            self.sessions.note_workspace(session_id, str(workspace))

    def located(self, token: tk.Token) -> Located:
        """Return the node a verified token names."""
        located = self.sessions.locate(token.node_id or "")
        prefix = token.workflow_prefix
        if prefix is not None and not located.node.workflow_hash.startswith(f"sha256:{prefix}"):
            raise RailsError(
                "TOKEN_WORKFLOW_HASH_MISMATCH",
                "the stateToken was made for another version of the workflow",
                "Call resume_session to get a token for this run.",
            )
        return located

    def _by_resume_ref(self, ref: str, caller: Caller) -> Located:
        for session_id in reversed(self.sessions.ids(caller)):
            try:
                state = self.sessions.state(session_id)
            except RailsError:  # a damaged session is no answer to a resumeRef
                continue
            for run in state.runs.values():
                if run_answer.resume_ref(run.run_id) == ref and run.preferred is not None:
                    return Located(session_id, state, state.nodes[run.preferred])
        raise unknown_node()

    def _policy(self) -> Policy:
        return Policy(
            notes_required=self.settings.notes == "required",
            max_blocked=self.settings.max_blocked,
            max_blocked_builtin=BLOCKED_ATTEMPTS_BUILTIN_MAX,
            agent_may_automate=self.settings.agent_may_automate,
            agent_may_approve=self.settings.agent_may_approve,
        )

    def _workspace_of(self, session_id: str) -> Path | None:
        if session_id not in self._workspaces:
            noted = self.sessions.local(session_id).workspace
            known = Path(noted) if noted else None
            usable = known is not None and known.is_dir()
            self._workspaces[session_id] = known if usable else self.settings.workspace
        return self._workspaces[session_id]


def _ceiling(located: Located) -> Effective | None:
    """Return the mode where a run stands, if a call is about an earlier node of it (R8.4)."""
    tip = located.state.runs[located.node.run_id].preferred
    if tip is None or tip == located.node.node_id:
        return None
    return located.state.nodes[tip].preferences


def mode_change(wish: requests.Preferences | None) -> preference.Change:
    """Return the change of mode a request asks for."""
    return (
        preference.Change() if wish is None else preference.Change(wish.autonomy, wish.risk_policy)
    )


def _offer(node: NodeState, snapshot: Snapshot, *, is_first: bool = False) -> Offer:
    advances, checkpoints = (0, 0) if is_first else (node.advances, node.checkpoints)
    ack = None if snapshot.engine.is_complete else attempt_id(node.node_id, "ack", advances)
    return Offer(
        node_id=node.node_id,
        workflow_hash=node.workflow_hash,
        ack=ack,
        checkpoint=attempt_id(node.node_id, "checkpoint", checkpoints),
    )


def _require_attempt(node: NodeState, attempt: str, purpose: str, current: int) -> None:
    if attempt != attempt_id(node.node_id, purpose, current):
        raise mismatch(
            "the token is for an attempt this store does not know", reason="unknown_attempt"
        )
