"""Stands beside an agent's loop: results go to the journal, receipts to the model (W8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from backshop.base.limits import (
    CHARS_PER_TOKEN,
    RESULT_ALWAYS_WHOLE_BYTES,
    RESULT_WHOLE_MAX_BYTES,
)
from backshop.models import Attendant, Called, LoopGuard, ToolCall
from backshop.prompts import ToolResult

from .. import frame
from . import receipt as tool_receipt
from .allowance import Allowance
from .declaration import TurnSpace
from .receipt import RECALL

RESULT_WINDOW_SHARE = 0.1


class Journal(Protocol):
    """The tool log of one loop, and who hears of it."""

    def tree_id(self) -> str:
        """Return the Draft's tree, or Published's where there is no Draft."""
        ...

    def calling(self, call: ToolCall) -> None:
        """Hear that a call begins; raise to end the loop instead."""
        ...

    def recorded(self, call: ToolCall) -> ToolResult | None:
        """Return the answer of an equal call made before the work stopped, and its effect."""
        ...

    def give_up(self, call: ToolCall) -> bool:
        """Let a call that overran write nothing; False when its write is decided."""
        ...

    def called(self, called: Called) -> int:
        """Write the entry of a call and return its id."""
        ...

    def warned(self, call: ToolCall, count: int) -> None:
        """Hear that the model repeats itself."""
        ...

    def said(self, text: str) -> None:
        """Hear a piece of text that people read."""
        ...

    def unsaid(self) -> bool:
        """Take back what was said since the last call; False when that cannot be."""
        ...

    def progressed(self, text: str) -> None:
        """Hear text that was said on the way, with calls."""
        ...


class Ear(Protocol):
    """What the person says to an agent at work."""

    @property
    def is_spoken_to(self) -> bool:
        """Whether something waits to be read that the agent still can act on."""
        ...

    def heard(self) -> Sequence[str]:
        """Return what this loop has not been told yet, and count it as read."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a loop asks its model."""

    window_tokens: int
    needs_tool: bool = True
    is_parallel: bool = False
    effort: str | None = None


class ToolAttendant(Attendant):
    """Stands beside a loop of a turn: what it may do, its log, and what the model sees (W8.5)."""

    def __init__(
        self,
        journal: Journal,
        allowance: Allowance,
        *,
        workspace: TurnSpace,
        manner: Manner,
        ear: Ear | None = None,
        run_id: str | None = None,
        turn_id: str | None = None,
        guard: LoopGuard | None = None,
    ) -> None:
        self._journal = journal
        self.allowance = allowance
        self._declared = workspace.declared
        self._ear = ear
        self.workspace = workspace
        self._whole_max = whole_max_bytes(manner.window_tokens)
        self.window_tokens = manner.window_tokens
        self.needs_tool = manner.needs_tool
        self.is_parallel = manner.is_parallel
        self.effort = manner.effort
        self.run_id = run_id
        self.turn_id = turn_id
        self.guard = guard or LoopGuard()

    @property
    def is_over(self) -> bool:
        """Whether a plan was asked for, by the model or by what it did."""
        return self._declared.plan is not None or self.allowance.is_planned_for

    def tree_id(self) -> str:
        """Return the state of the files."""
        return self._journal.tree_id()

    def refusal(self, call: ToolCall) -> str | None:
        """Ask the allowance."""
        return self.allowance.refusal(call.name)

    def calling(self, call: ToolCall) -> None:
        """Pass on that a call begins."""
        self._journal.calling(call)

    def recorded(self, call: ToolCall) -> ToolResult | None:
        """Ask the journal."""
        return self._journal.recorded(call)

    def give_up(self, call: ToolCall) -> bool:
        """Ask the journal."""
        return self._journal.give_up(call)

    def called(self, called: Called) -> str:
        """Log a call; return its answer as the model sees it from now on."""
        tool, text = called.call.name, called.text
        entry_id = self._journal.called(called)
        path = tool_receipt.path_of(called.call.arguments)
        is_recalled = called.ok and tool == RECALL
        if not is_recalled and len(text.encode(errors="replace")) > self._whole_max:
            text = tool_receipt.receipt(tool, entry_id, text)
        framed = frame.tool_answer(text, tool=tool, path=path, entry_id=entry_id)
        notice = self.allowance.called(tool, path, ok=called.ok)
        return framed if notice is None else f"{notice}\n\n{framed}"

    def warned(self, call: ToolCall, count: int) -> None:
        """Pass on that the model repeats itself."""
        self._journal.warned(call, count)

    def said(self, text: str) -> None:
        """Pass on text."""
        self._journal.said(text)

    def unsaid(self) -> bool:
        """Ask the journal."""
        return self._journal.unsaid()

    @property
    def is_spoken_to(self) -> bool:
        """Ask the ear."""
        return self._ear is not None and self._ear.is_spoken_to

    def heard(self) -> Sequence[str]:
        """Ask the ear."""
        return () if self._ear is None else self._ear.heard()

    def progressed(self, text: str) -> None:
        """Count the request, and pass on what was said on the way."""
        self.allowance.asked()
        self._journal.progressed(text)


def whole_max_bytes(window_tokens: int) -> int:
    """Return how long a result may be that the model sees whole (W8.5)."""
    part = int(window_tokens * CHARS_PER_TOKEN * RESULT_WINDOW_SHARE)
    return min(RESULT_WHOLE_MAX_BYTES, max(RESULT_ALWAYS_WHOLE_BYTES, part))
