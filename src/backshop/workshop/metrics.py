"""Local counters: a projection of the log, without texts, paths or names (W21)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from backshop.base.limits import ITEM_ATTEMPTS_MAX
from backshop.bench import Noted
from backshop.bench import events as be
from backshop.store import Event

from .conversation import events as ev
from .conversation.events import ToolAnswered, ToolCalled
from .conversation.repository import Conversations
from .tool.phase import WRITING_TOOLS
from .tool.receipt import RECALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Counters by name; what they are counted by stands behind it as `name{value,…}`."""

    counters: dict[str, int] = field(default_factory=dict)


class _Count:
    """Counts one stream, event by event."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()
        self._turns: dict[str, ev.TurnStarted] = {}
        self._began: dict[str, int] = {}
        self._phases: dict[str, tuple[str, int]] = {}
        self._calls: dict[int, str] = {}

    def add(self, event: Event) -> None:
        """Count one event."""
        fact, at_ms = event.fact, event.at_ms
        match fact:
            case ev.TurnStarted():
                self._turns[fact.turn_id] = fact
                self._began[fact.turn_id] = at_ms
                self._at(fact.turn_id, fact.step, at_ms)
            case ev.TurnResumed() | ev.TurnMoved():
                self._at(fact.turn_id, fact.step, at_ms)
            case ev.TurnEnded():
                self._turn(fact, fact.status, at_ms)
            case ev.TurnPaused():
                self._turn(fact, "paused", at_ms)
            case ev.StepEnded():
                self._at(fact.turn_id, fact.next, at_ms)
                self._item(fact.item)
            case ev.PhaseStarted():
                self._phases[fact.turn_id] = (fact.phase, at_ms)
            case ev.PhaseEnded():
                self._phase_over(fact.turn_id, at_ms)
            case ev.ItemEnded():
                self._item(fact)
            case ev.ItemAttemptFailed() | ev.ItemLeftUnfinished():
                self.found["item_retries"] += fact.attempt < ITEM_ATTEMPTS_MAX
            case ToolCalled() | ToolAnswered():
                self._tool(fact)
            case _:
                self._rest(fact)

    def _at(self, turn_id: str, step: ev.Step | None, at_ms: int) -> None:
        """Let a turn be in the phase of a step; the one before is over unless it is the same."""
        if step is None or self._phases.get(turn_id, ("", 0))[0] == step.phase:
            return
        self._phase_over(turn_id, at_ms)
        self._phases[turn_id] = (step.phase, at_ms)

    def _phase_over(self, turn_id: str, at_ms: int) -> None:
        phase, began = self._phases.pop(turn_id, ("", at_ms))
        if phase:
            self.found[f"phase_seconds{{{phase}}}"] += (at_ms - began) // 1000

    def _item(self, item: ev.ItemEnd | ev.ItemEnded | None) -> None:
        if item is not None:
            self.found[f"items_total{{{item.status}}}"] += 1
            self.found["amendments_added"] += item.added
            self.found["amendments_dropped"] += item.dropped

    def _turn(self, fact: ev.TurnEnded | ev.TurnPaused, status: str, at_ms: int) -> None:
        self._phase_over(fact.turn_id, at_ms)
        self.found["rate_limit_waits"] += fact.spent.waits
        started = self._turns.get(fact.turn_id)
        if started is not None:
            self.found[f"turns_total{{{started.flow},{started.mode},{status}}}"] += 1
            self.found["turn_seconds"] += (at_ms - self._began[fact.turn_id]) // 1000

    def _tool(self, fact: ToolCalled | ToolAnswered) -> None:
        if isinstance(fact, ToolCalled):
            self._calls[fact.entry_id] = fact.tool
            self.found["recalls_total"] += fact.tool == RECALL
            self.found["loop_warnings"] += fact.is_warned
        if fact.success is None:
            return
        tool = self._calls.get(fact.entry_id, "")
        self.found[f"tool_calls_total{{{tool},{str(fact.success).lower()}}}"] += 1
        self.found["receipts_total"] += 1
        if not fact.success and tool in WRITING_TOOLS:
            self.found[f"batch_failures{{{fact.error}}}"] += 1
        self.found["loop_stops"] += fact.error == "repeated_call"

    def _rest(self, fact: object) -> None:
        match fact:
            case be.DraftCreated():
                self.found["drafts_created"] += 1
            case be.BatchApplied():
                self.found["batches_applied"] += 1
            case be.DraftPublished():
                self.found["drafts_published"] += 1
            case be.DraftDiscarded():
                self.found["drafts_discarded"] += 1
            case Noted(error=str(code)):
                self.found[f"failures_total{{{fact.kind},{code}}}"] += 1
            case ev.ProposalMade():
                self.found["proposals_generated"] += 1
            case ev.ProposalClosed(status="applied"):
                self.found["proposals_applied"] += 1
            case ev.Rewound():
                self.found[f"undo_total{{{fact.mode or 'plain'}}}"] += 1
                self.found["undo_distance"] += fact.discarded_count
            case ev.Redone():
                self.found["redo_total"] += 1
            case ev.Regenerated():
                self.found["regenerate_total"] += 1
            case ev.ModelSwitched():
                self.found["model_switch_total"] += 1
            case ev.Compressed():
                self.found["compressions_total"] += 1


def count(book: Conversations, stream: str) -> Metrics:
    """Count what the log of a bench says."""
    counting = _Count()
    for event in book.store.read(stream):
        counting.add(event)
    return Metrics(counters={name: n for name, n in sorted(counting.found.items()) if n})
