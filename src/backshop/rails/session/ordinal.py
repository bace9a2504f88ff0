"""Names that follow from what was recorded before: attempts, ordinals, once-only warnings.

The same record gives the same names, so a retried plan asks for the same facts (R4.21, R6.5).
"""

from __future__ import annotations

from collections.abc import Mapping

from backshop.base.ids import did

from . import events as ev


def attempt_id(owner: str, purpose: str, number: int) -> str:
    """Return the id of the k-th attempt of a node or session; `fork`, `branch`: a person asked."""
    return did("att", owner, purpose, number)


_ASKED = {"ack": "fork", "checkpoint": "branch"}
"""What an agent does of itself, and the purpose that counts where a person asked for it."""


def purpose_of(owner: str, attempt: str, purpose: str, asked: Mapping[str, int]) -> str:
    """Return what an attempt counts as; `asked` says how many a person asked for before."""
    other = _ASKED[purpose]
    return other if attempt == attempt_id(owner, other, asked.get(other, 0)) else purpose


def count_key(fact: object) -> str:
    """Return what a fact's ordinal on its node is counted by (R4.21)."""
    name = type(fact).__name__
    match fact:
        case ev.NodeOutputAppended():
            return f"{name}:{fact.output_channel}"
        case ev.ContextSet():
            return f"{name}:{fact.source}"
        case ev.CapabilityObserved():
            return f"{name}:{fact.capability}"
        case ev.UserInputRecorded():
            return f"{name}:{fact.input_id}"
        case ev.WarningRecorded():
            return f"{name}:{fact.code}"
    return name


def warned_key(fact: ev.WarningRecorded) -> str:
    """Return under what name a once-only warning is remembered."""
    subject = fact.details.get("capability") or fact.details.get("reason")
    return f"{fact.code}:{subject}" if subject else fact.code
