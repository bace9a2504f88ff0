"""What another stream gets in the same append as a step, so that neither is ever without the
other (W13.5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backshop.base.ids import BlobId
from backshop.store import Fold, NewEvent, Pin, Plan, Write

from . import plan as rails
from .interpret import Workflow
from .pending import Pending, about
from .start import Decided


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived(Pending):
    """Where a run stands after a call."""

    is_blocked: bool = False
    """Whether the call was refused: the step is the same as before."""

    @classmethod
    def of(cls, decided: Decided, workflow: Workflow) -> Arrived:
        """Return where a call leads to."""
        snapshot = decided.snapshot
        found = about(decided.node_id, workflow, snapshot.engine, decided.context)
        return cls(**found, is_blocked=snapshot.blocked is not None)


@dataclass(frozen=True, slots=True)
class Beside:
    """A stream, its fold, and a rule: its state and where the run then stands → a write."""

    stream: str
    fold: Fold[Any]
    write: Callable[[Any, Arrived], Write]

    def joined(self, stream: str, step: Write, state: Any, arrived: Arrived) -> Plan:
        """Return the one plan of a step and what goes beside it."""
        more = self.write(state, arrived)
        parts = [step.part(stream)]
        if more.events:
            parts.append(more.part(self.stream))
        return Plan(parts, (*step.blobs, *more.blobs))


def written(plan: rails.Plan) -> Write:
    """Return what a rule wants appended as the store takes it."""
    events = [
        NewEvent(
            one.fact,
            one.dedupe_key,
            event_id=rails.event_id(plan.session_id, one.dedupe_key),
            scope_a=one.run_id,
            scope_b=one.node_id,
        )
        for one in plan.events
    ]
    pins = [Pin(BlobId(one.ref), one.kind) for one in plan.pins]
    return Write(events, pins, plan.blobs)
