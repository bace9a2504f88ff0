"""Stands beside an agent's loop: results go to the journal, receipts to the model (W8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from backshop.models import Attendant, Called, LoopGuard, ToolCall

from .. import frame
from . import receipt as tool_receipt
from .receipt import RECALL, CallResult, Shelf


class Journal(Protocol):
    """The tool log of one loop, and who hears of it."""

    def tree_id(self) -> str:
        """Return the Draft's tree, or Published's where there is no Draft."""
        ...

    def calling(self, call: ToolCall) -> None:
        """Hear that a call begins; raise to end the loop instead."""
        ...

    def recorded(self, call: ToolCall) -> str | None:
        """Return the answer of an equal call made before the work stopped, and its effect."""
        ...

    def give_up(self, call: ToolCall) -> bool:
        """Let a call that overran write nothing; False when its write is decided."""
        ...

    def called(self, called: Called, receipt: Callable[[int], str]) -> int:
        """Write the entry of a call and return its id; `receipt` gives its text for that id."""
        ...

    def warned(self, call: ToolCall, count: int) -> None:
        """Hear that the model repeats itself."""
        ...

    def said(self, text: str) -> None:
        """Hear a piece of text that people read."""
        ...


class ToolAttendant(Attendant):
    """Shows the model its results whole while they are fresh, then as receipts (W8.5)."""

    def __init__(
        self,
        journal: Journal,
        *,
        workspace: object | None = None,
        run_id: str | None = None,
        turn_id: str | None = None,
        needs_tool: bool = True,
        guard: LoopGuard | None = None,
    ) -> None:
        self._journal = journal
        self._shelf = Shelf()
        self.workspace = workspace
        self.run_id = run_id
        self.turn_id = turn_id
        self.needs_tool = needs_tool
        self.guard = guard or LoopGuard()

    def tree_id(self) -> str:
        """Return the state of the files."""
        return self._journal.tree_id()

    def calling(self, call: ToolCall) -> None:
        """Pass on that a call begins."""
        self._journal.calling(call)

    def recorded(self, call: ToolCall) -> str | None:
        """Ask the journal."""
        return self._journal.recorded(call)

    def give_up(self, call: ToolCall) -> bool:
        """Ask the journal."""
        return self._journal.give_up(call)

    def called(self, called: Called) -> None:
        """Log a call and put its result on the shelf."""
        tool, text = called.call.name, called.text
        entry_id = self._journal.called(
            called, lambda number: tool_receipt.receipt(tool, number, text)
        )
        path = tool_receipt.path_of(called.call.arguments)

        def framed(shown: str) -> str:
            return frame.tool_answer(shown, tool=tool, path=path, entry_id=entry_id)

        result = CallResult(
            whole=framed(text), receipt=framed(tool_receipt.receipt(tool, entry_id, text))
        )
        self._shelf = self._shelf.add(result, recalled=called.ok and tool == RECALL)

    def warned(self, call: ToolCall, count: int) -> None:
        """Pass on that the model repeats itself."""
        self._journal.warned(call, count)

    def shown(self) -> tuple[str, ...]:
        """Return what the model sees now of every answer."""
        return self._shelf.shown()

    def said(self, text: str) -> None:
        """Pass on text."""
        self._journal.said(text)
