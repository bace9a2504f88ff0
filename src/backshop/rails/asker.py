"""Who asks something of rails: for whom, in whose voice, and who stands beside the run."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.store import THE_OWNER, Caller

from .observer import RunObserver
from .run.inputs import Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """An agent's word is not the person's (R8.4); `company` follows what is asked (W13.7)."""

    caller: Caller = THE_OWNER
    voice: Voice = "person"
    company: RunObserver | None = None

    @property
    def whose(self) -> tuple[str, ...]:
        """What keeps ids that follow from their own keys apart from everybody else's (R7.6)."""
        return (self.caller.user,) if self.caller.user else ()


PERSON = Asker()
