"""What another stream gets in the append that begins a stream: whose it is, for instance (T6.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..database.connection import Cursor
from .event import Part, Plan


def _nothing(_: str) -> Part | None:
    return None


@dataclass(frozen=True, slots=True)
class Beginning:
    """Goes beside every stream that is begun: `part` gets its name, and may have nothing to say.

    `streams` are those the parts belong to; they are held with the others, in one order.
    """

    streams: tuple[str, ...] = ()
    part: Callable[[str], Part | None] = _nothing

    def beside(self, cursor: Cursor, plan: Plan) -> Plan:
        """Return the plan with what goes beside the streams it begins."""
        if not self.streams:
            return plan
        begun = [p.stream for p in plan.parts if cursor.one("head", {"stream": p.stream}) is None]
        parts = [part for stream in begun if (part := self.part(stream)) is not None]
        return replace(plan, parts=(*plan.parts, *parts))


NOTHING_BESIDE = Beginning()
