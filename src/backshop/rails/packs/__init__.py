"""The closed registry of contract packs: what a typed output looks like (R8.24)."""

from .engine import ENGINE
from .handoff import HANDOFFS
from .review import REVIEWS
from .rpi import RPI
from .shape import (
    ASSESSMENT,
    CAPABILITIES,
    CAPABILITY_OBSERVATION,
    DIVERGENCE_REASONS,
    LOOP_CONTROL,
    Pack,
)

PACKS: dict[str, Pack] = {
    one.contract_ref: one
    for one in sorted((*ENGINE, *REVIEWS, *HANDOFFS, *RPI), key=lambda one: one.contract_ref)
}

__all__ = [
    "ASSESSMENT",
    "CAPABILITIES",
    "CAPABILITY_OBSERVATION",
    "DIVERGENCE_REASONS",
    "LOOP_CONTROL",
    "PACKS",
    "Pack",
]
