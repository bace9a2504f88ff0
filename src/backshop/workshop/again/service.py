"""`Again`: save a finished turn as a workflow, and say what a workflow asks for (W25)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from backshop.base import yaml
from backshop.base.command import Command, method_command
from backshop.base.errors import ValidationFailed
from backshop.rails import Declared, Definitions, Driving, Rails, definitions

from .. import requests
from ..answers import SavedWorkflow, WorkflowInput, WorkflowInputs, WorkflowsAsking
from ..conversation.repository import Conversations
from ..turn import run_input
from .definition import proposed_id, recipe
from .material import gather

_NAME_MAX_CHARS = 128


class Again:
    """Turns of every bench of one home, kept to be done again."""

    def __init__(
        self, book: Conversations, rails: Rails, authored: Callable[[], Definitions]
    ) -> None:
        self._book = book
        self._driving = Driving(rails)
        self._authored = authored

    def save_workflow(self, request: requests.SaveWorkflow) -> SavedWorkflow:
        """Save a finished turn as a workflow with its files as inputs.

        Raises:
            NotFound: `turn_not_found`.
            ValidationFailed: `turn_unfinished`, `bad_params`.
            RailsError: the id is taken or none, or what was made of the turn cannot run.
        """
        known = self._book.state(request.workbench_id)
        if not 0 < len(request.name.strip()) <= _NAME_MAX_CHARS:
            raise ValidationFailed(
                f"a name has 1 to {_NAME_MAX_CHARS} characters", reason="bad_params"
            )
        material = gather(self._book, self._driving, known, request.turn_id)
        workflow_id = request.workflow_id or proposed_id(request.name, request.scope)
        made = recipe(material, workflow_id, request.name)
        saved = self._authored().workflow_save(
            definitions.WorkflowSave(
                source=yaml.write(made.data),
                target=request.scope,
                workspace_path=request.workspace_path,
                expected_hash=request.expected_hash or "",
            )
        )
        return SavedWorkflow(
            workflow_id=saved.workflow_id,
            path=saved.path,
            source_hash=saved.source_hash,
            replaced=saved.replaced,
            inputs=made.inputs,
            steps=made.steps,
            notes=made.notes,
        )

    def get_workflow_inputs(self, request: requests.GetWorkflowInputs) -> WorkflowsAsking:
        """Say what workflows ask for before they begin; given inputs are checked.

        Raises:
            RailsError: there is no such workflow.
            ValidationFailed, NotFound: the inputs do not fit.
        """
        known = self._book.state(request.workbench_id)
        if request.workflow_id is None:
            return WorkflowsAsking(workflows=tuple(map(_shown, self._driving.declared_anywhere())))
        found = self._driving.declared(request.workflow_id)
        if request.inputs is not None:
            has = run_input.files_of(self._book.desk, known.bench)
            run_input.checked(found, request.inputs, has)
        return WorkflowsAsking(workflows=(_shown(found),))


def _shown(found: Declared) -> WorkflowInputs:
    return WorkflowInputs(
        workflow_id=found.workflow_id,
        name=found.name,
        description=found.description,
        inputs=tuple(WorkflowInput(**asdict(one)) for one in found.inputs),
    )


AGAIN_COMMANDS: tuple[Command[Again, Any, Any], ...] = (
    method_command(
        "WorkshopSaveWorkflow",
        "Save a finished turn as a workflow with its files as inputs.",
        Again.save_workflow,
        phase="workshop",
        writes=True,
        role="owner",
        server_paths=("workspace_path",),
    ),
    method_command(
        "WorkshopGetWorkflowInputs",
        "Say what a workflow asks for before it drives a turn.",
        Again.get_workflow_inputs,
        phase="workshop",
        role="read",
    ),
)
