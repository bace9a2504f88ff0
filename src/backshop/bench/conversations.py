"""What a bench asks of the conversation about it, which another room keeps in the same stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from backshop.base.errors import ValidationFailed
from backshop.base.ids import CheckpointId, MessageId

from .answers import ChangesAsked
from .lifecycle.fork import Retold
from .state import BenchState
from .values import Story


@dataclass(frozen=True, slots=True)
class Vouched:
    """Lines about the work that made a Draft: those that stand first, and the others."""

    first: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()


class ConversationPort(Protocol):
    """Knows what was said about benches."""

    def summarise(self, state: BenchState) -> str | None:
        """Say what the Draft is about (B13.2)."""
        ...

    def vouch(self, state: BenchState) -> Vouched:
        """Say what is true of the work that made the Draft (W11.20)."""
        ...

    def unanswered(self, state: BenchState) -> tuple[ChangesAsked, ...]:
        """Say what was asked for about the Draft that nobody has taken up, oldest first."""
        ...

    def asked(self, state: BenchState) -> str | None:
        """Return what the person said last (B23.20)."""
        ...

    def subject(self, state: BenchState) -> str | None:
        """Return the message that the Draft came of, in the person's words (B27.6)."""
        ...

    def stories(self, state: BenchState) -> Mapping[CheckpointId, Story]:
        """Return what followed each checkpoint, as far as the conversation tells (B27.5)."""
        ...

    def retell(self, bench_id: str, until: MessageId | None) -> Retold:
        """Tell a bench's conversation again for a fork, to its end or up to a record."""
        ...

    def sisters(self, bench_id: str) -> Iterable[str]:
        """Name the streams beside a bench's own that tell of it and go with it."""
        ...


class NoConversations:
    """Benches that nobody talks about."""

    def summarise(self, state: BenchState) -> str | None:
        """Say nothing."""
        return None

    def vouch(self, state: BenchState) -> Vouched:
        """Say nothing."""
        return Vouched()

    def unanswered(self, state: BenchState) -> tuple[ChangesAsked, ...]:
        """Say nothing."""
        return ()

    def asked(self, state: BenchState) -> str | None:
        """Say nothing."""
        return None

    def subject(self, state: BenchState) -> str | None:
        """Say nothing."""
        return None

    def stories(self, state: BenchState) -> Mapping[CheckpointId, Story]:
        """Say nothing."""
        return {}

    def retell(self, bench_id: str, until: MessageId | None) -> Retold:
        """Refuse: there is nothing to tell."""
        raise ValidationFailed("there is no such way to fork", reason="bad_mode")

    def sisters(self, bench_id: str) -> Iterable[str]:
        """Name none."""
        return ()
