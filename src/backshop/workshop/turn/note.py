"""Notes of the person, as a loop of a turn reads them: each once, in order (W27.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from backshop.base.ids import MessageId

from ..conversation import decide
from ..conversation.repository import Committed, Rule
from ..conversation.state import Turn
from ..tool.phase import WORK

TOLD = "The person wrote this while you work on their request; take it into account:\n\n{}"
UNACTED = frozenset(("summary", "reply", "proposal"))
"""Prompts that could not act on a note any more: they are told only what was read before."""


class NoteEar:
    """What one loop has been told of the notes of its turn."""

    def __init__(
        self, key: str, turn: Callable[[], Turn], commit: Callable[[Rule], Committed]
    ) -> None:
        self._key = key
        self._turn = turn
        self._commit = commit
        self._told: set[MessageId] = set()

    @property
    def is_spoken_to(self) -> bool:
        """Whether direct work, which no other loop follows, has something to read."""
        return self._key == WORK and any(not one.is_read for one in self._turn().notes)

    def heard(self) -> Sequence[str]:
        """Return the notes this loop has not been told; those new to the turn count as read."""
        turn = self._turn()
        may_read = self._key not in UNACTED
        notes = [one for one in turn.notes if one.message_id not in self._told]
        notes = [one for one in notes if may_read or one.is_read]
        fresh = [one.message_id for one in notes if not one.is_read]
        if fresh:
            self._commit(lambda now: decide.read_notes(now, turn.turn_id, fresh))
        self._told.update(one.message_id for one in notes)
        return [TOLD.format(one.text) for one in notes]
