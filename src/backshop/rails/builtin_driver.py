"""What an agent inside the product needs of runs: begin one, see where it stands, go on.

It goes through the same rules as every door; what it can do beside is to have facts of its own
appended with a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backshop.base.canon import parse

from . import requests
from .catalog.catalog import Listing
from .catalog.declared_input import Declared, declared, declared_anywhere
from .definition import template
from .repository import Located
from .run import inputs
from .run import prompt as prompts
from .run.contract import asked_of, form_of
from .run.interpret import scope
from .run.joint_append import Beside
from .run.pending import Pending, about
from .service import Rails
from .session.ordinal import attempt_id
from .session.state import current_outputs
from .token import token as tk

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Pending):
    """Where a run stands: the pending step as whoever does it needs to know it."""

    session_id: str
    run_id: str
    role: str = ""
    prompt: str = ""
    """What the step produces; how it is handed over is left out (W13.1)."""
    instructions: str = ""
    """The whole step as an agent outside would get it, required output included."""
    artifact_kind: str | None = None
    """The kind of artifact its contract asks for."""
    form: Json | None = None
    """That artifact as it is to be filled in."""


@dataclass(frozen=True, slots=True)
class HandedArtifact:
    """An artifact that was handed in on the way to a node."""

    kind: str
    value: Json


class Driving:
    """Runs as the built-in agent sees them."""

    def __init__(self, rails: Rails) -> None:
        self._rails = rails
        self._sessions = rails.sessions

    def begin(
        self,
        workflow_id: str,
        *,
        session_id: str,
        run_id: str,
        context: Json,
        beside: Beside | None = None,
    ) -> None:
        """Begin a run that never stops for the person (W13.4); once, however often it is asked."""
        request = requests.StartWorkflow(
            workflow_id=workflow_id,
            context=dict(context),
            preferences=requests.Preferences(autonomy="full_auto_never_stop"),
        )
        self._rails.begin(request, session_id, run_id, driver="builtin", beside=beside)

    def declared(self, workflow_id: str) -> Declared:
        """Return what a workflow asks for before it begins.

        Raises:
            RailsError: `WORKFLOW_NOT_FOUND`, `WORKFLOW_INVALID`.
        """
        return declared(self._catalogue().load(workflow_id))

    def declared_anywhere(self) -> list[Declared]:
        """Return the workflows of people that ask for something before they begin."""
        return declared_anywhere(self._catalogue())

    def _catalogue(self) -> Listing:
        return self._rails.catalog.look(self._rails.settings.workspace)

    def root_of(self, run_id: str, session_id: str) -> str | None:
        """Return the first node of a run, None if there is no such run."""
        if not self._sessions.exists(session_id):
            return None
        run = self._sessions.state(session_id).runs.get(run_id)
        return None if run is None else run.root

    def standing(self, node_id: str) -> Standing:
        """Return what is pending at a node."""
        located = self._sessions.locate(node_id)
        node = located.node
        workflow = self._sessions.workflow(node.workflow_hash)
        engine = self._sessions.snapshot(node.snapshot_ref).engine
        common: dict[str, Any] = {
            "session_id": located.session_id,
            "run_id": node.run_id,
            **about(node.node_id, workflow, engine, node.context),
        }
        if engine.pending is None:
            return Standing(**common)
        step = workflow.steps[engine.pending.step_id]
        seen = scope(workflow, engine.stack, node.context)
        rendered = prompts.render(workflow, engine, node.context, node.preferences)
        contract = asked_of(workflow.compiled, step)
        return Standing(
            **common,
            role=template.render(step.agent_role or workflow.compiled.agent_role or "", seen),
            prompt=template.render(step.prompt, seen),
            instructions=rendered.prompt if rendered else "",
            artifact_kind=None if contract is None else str(contract.example.get("kind", "")),
            form=None if contract is None else form_of(contract),
        )

    def acknowledge(
        self,
        node_id: str,
        *,
        notes: str | None = None,
        artifacts: tuple[Json, ...],
        context: Json | None = None,
        beside: Beside | None = None,
    ) -> None:
        """Count the pending step as done with what it brought.

        One that was acknowledged before is the beginning of a branch, which is asked for (W15.9).
        """
        node = self._sessions.locate(node_id).node
        attempt = (
            attempt_id(node_id, "fork", node.forks)
            if node.is_rewound
            else attempt_id(node_id, "ack", node.advances)
        )
        keys = self._sessions.keyring.keys()
        wanted = inputs.Request(
            context=inputs.context(context),
            output=inputs.output(
                {"artifacts": list(artifacts), **({"notesMarkdown": notes} if notes else {})}
            ),
            by="builtin",
        )
        self._rails.execution.advance(tk.ack_token(keys, node_id, attempt), wanted, beside=beside)

    def handed(self, node_id: str) -> list[HandedArtifact]:
        """Return every artifact on the way from the run's first node to this one, oldest first."""
        located: Located = self._sessions.locate(node_id)
        lineage = []
        at: str | None = node_id
        while at is not None:
            node = located.state.nodes[at]
            lineage.append(node)
            at = node.parent
        found = []
        for node in reversed(lineage):
            for output in current_outputs(node.outputs):
                payload = output.payload
                if payload.payload_kind != "artifact_ref" or payload.sha256 is None:
                    continue
                value = parse(self._sessions.blob(payload.sha256))
                if isinstance(value, dict):
                    found.append(HandedArtifact(payload.kind or "", value))
        return found
