"""Who stands beside a tool loop: keeps its log, shows its results, hears its text (W8, W9).

`evaluate` runs its loop alone. A product that shows people what happens gives the loop an
attendant; with one, the rules for agents hold as well: repetition, exhaustion and empty answers
end the loop, and what the model sees of a result is the attendant's choice, made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backshop.base.media.image import Image
from backshop.prompts import ToolInvoked, ToolResult

from ..messages import ToolCall
from .repetition import LoopGuard


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A call and its one answer, executed or refused. `text` is the whole answer."""

    call: ToolCall
    text: str
    record: ToolInvoked
    image: Image | None = None
    """What the answer shows beside its text."""

    @property
    def ok(self) -> bool:
        """Whether it worked; else `record.code` says why not."""
        return self.record.ok


class Attendant:
    """Stands beside one loop. Every method does nothing here; a product overrides what it needs.

    An error raised by `calling`, `recorded` or `called` ends the loop with that error.
    """

    guard = LoopGuard()
    """When the same call counts as a loop."""

    needs_tool = True
    """Whether the first request must be answered with a call; not where no tool could help."""

    is_parallel = False
    """Whether the model may call several tools in one answer."""

    effort: str | None = None
    """How hard the model thinks in this loop; None is what its purpose has (M7.2)."""

    window_tokens: int | None = None
    """Of the model; a loop that fills most of it ends with `window_full`."""

    run_id: str | None = None
    """The run that calls and costs are counted under."""

    turn_id: str | None = None
    """The turn that records of this loop belong to."""

    workspace: object | None = None
    """What the tools work on."""

    @property
    def is_over(self) -> bool:
        """Whether the loop ends once the calls of the present answer have theirs."""
        return False

    def tree_id(self) -> str:
        """Return the state of the files: the same read after a write is a new call (W9.1)."""
        return ""

    def calling(self, call: ToolCall) -> None:
        """Hear that a call begins."""

    def recorded(self, call: ToolCall) -> ToolResult | None:
        """Return the answer an equal call got before the work was interrupted, if there is one.

        With one the tool is not run; its effect is the attendant's to bring back.
        """
        return None

    def give_up(self, call: ToolCall) -> bool:
        """Hear that a call overran, and let it write nothing from now on.

        False says that what it writes is decided: its answer is waited for.
        """
        return True

    def refusal(self, call: ToolCall) -> str | None:
        """Return why a call that is offered may not be made here, in a sentence; None lets it."""
        return None

    def called(self, called: Called) -> str | None:
        """Hear of a call and its answer; exactly once for each call, in order.

        Return what the model sees of it, from now on; None is all of it.
        """
        return None

    def warned(self, call: ToolCall, count: int) -> None:
        """Hear that a call was made `count` times already (W9.2)."""

    def said(self, text: str) -> None:
        """Hear a piece of text that people read while it comes."""

    def unsaid(self) -> bool:
        """Hear that the text of the present answer is none, and begins anew.

        False says that what people read cannot be taken back any more.
        """
        return False

    @property
    def is_spoken_to(self) -> bool:
        """Whether an answer without calls is not the last word, because somebody said more."""
        return False

    def heard(self) -> Sequence[str]:
        """Return what was said to the model since the last request; it goes with the next one."""
        return ()

    def progressed(self, text: str) -> None:
        """Hear text that came with calls: what is said on the way, not the answer."""
