"""The one table of a turn's steps: what each has to bring, by the contract its workflow names.

Drivers produce a `HandIn`; what it means for the conversation `decide.step_done` says, and which
phase and item a turn is in follows from where its run stands (W13.1, W13.2, W13.6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from backshop.base.errors import InternalError
from backshop.rails import Pending

from ..conversation.decide import StepResult
from ..conversation.events import Step
from ..conversation.state import BUILTIN
from ..tool.phase import PhaseKey

LABEL_MAX_CHARS = 200


class StepKind(StrEnum):
    """What a step has to bring."""

    WORK = "wr.contracts.auto_work"
    RESEARCH = "wr.contracts.rpi_research"
    PLAN = "wr.contracts.rpi_plan"
    ITEM = "wr.contracts.rpi_item_result"
    ANSWER = "wr.contracts.rpi_summary"
    OTHER = ""
    """A step of somebody's own workflow; it counts as an item (W13.10)."""


PHASES: Mapping[StepKind, PhaseKey] = MappingProxyType(
    {
        StepKind.WORK: PhaseKey.IMPLEMENT,
        StepKind.RESEARCH: PhaseKey.RESEARCH,
        StepKind.PLAN: PhaseKey.PLAN,
        StepKind.ITEM: PhaseKey.IMPLEMENT,
        StepKind.ANSWER: PhaseKey.SUMMARY,
        StepKind.OTHER: PhaseKey.IMPLEMENT,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandIn:
    """What a driver hands in for a step, and what became of it."""

    notes: str | None = None
    artifacts: Sequence[Mapping[str, object]] = ()
    context: Mapping[str, object] | None = None
    result: StepResult = field(default_factory=StepResult)
    least: Sequence[Mapping[str, object]] | None = None
    """The artifacts without which it is not handed in, where the others cannot be kept."""


def kind_of(pending: Pending) -> StepKind:
    """Return what the pending step has to bring; a run that is complete lacks its answer."""
    if pending.is_complete:
        return StepKind.ANSWER
    if pending.workflow_id not in BUILTIN:
        return StepKind.OTHER
    try:
        return StepKind(pending.contract_ref or "")
    except ValueError:
        raise InternalError(f"the workflow has a step {pending.step_id!r} nobody knows") from None


def step_of(pending: Pending, done_items: int = 0) -> Step:
    """Return the pending step as the conversation keeps it."""
    kind = kind_of(pending)
    plain = Step(node_id=pending.node_id, phase=PHASES[kind])
    if kind is StepKind.ITEM:
        place, items = pending.iteration or 0, pending.context.get("plan_items")
        listed = items if isinstance(items, list | tuple) else []
        item = listed[place] if place < len(listed) else None
        label = item.get("label") if isinstance(item, Mapping) else None
        number, total = place + 1, len(listed)
    elif kind is StepKind.WORK:
        return Step(node_id=pending.node_id, phase=plain.phase, number=1, total=1, is_direct=True)
    elif kind is StepKind.OTHER:
        number = total = done_items + 1  # how many a workflow takes nobody knows
        label = None
    else:
        return plain
    said = label if isinstance(label, str) and label else pending.title
    return Step(
        node_id=pending.node_id,
        phase=plain.phase,
        number=number,
        total=total,
        label=said[:LABEL_MAX_CHARS],
    )


def following(pending: Pending, step: Step, done_items: int) -> Step:
    """Return the step that comes after one that is done."""
    return step_of(pending, done_items + (step.number is not None))
