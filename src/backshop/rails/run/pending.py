"""What is pending at a node, in the words of its workflow: what a driver has to know of a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..definition import template
from .contract import asked_of
from .interpret import Position, Workflow, scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """The step a run waits for at a node; without `step_id` the run is complete there."""

    node_id: str
    workflow_id: str
    context: Mapping[str, object]
    step_id: str | None = None
    title: str = ""
    contract_ref: str | None = None
    """What the step has to hand over."""
    iteration: int | None = None
    """Which pass of the loop it is in, counted from 0."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is pending."""
        return self.step_id is None


def about(
    node_id: str, workflow: Workflow, engine: Position, context: Mapping[str, object]
) -> dict[str, Any]:
    """Return the fields of `Pending` at a position."""
    found: dict[str, Any] = {
        "node_id": node_id,
        "workflow_id": workflow.compiled.workflow_id,
        "context": context,
    }
    if engine.pending is None:
        return found
    step = workflow.steps[engine.pending.step_id]
    contract = asked_of(workflow.compiled, step)
    return {
        **found,
        "step_id": step.step_id,
        "title": template.render(step.title, scope(workflow, engine.stack, context)),
        "contract_ref": None if contract is None else contract.contract_ref,
        "iteration": engine.stack[-1].iteration if engine.stack else None,
    }
