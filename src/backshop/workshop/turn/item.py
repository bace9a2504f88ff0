"""Implement: one item of the plan after the other (W11.10–W11.16, W11.21).

A failed item leaves nothing behind; one that ran out of requests is unfinished, and what it wrote
stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from backshop.base.limits import ITEM_ATTEMPTS_MAX, ITEM_REPORT_MAX_BYTES
from backshop.rails import Standing

from .. import evidence
from ..conversation import decide
from ..conversation.decide import StepResult
from ..conversation.events import Problem
from ..conversation.state import ToolEntry
from ..cut import cut_bytes
from ..prompt.inputs import Artifacts
from ..transcript import entries
from . import artifact, outcome, plan
from .artifact import HandedOver
from .context import Asked, LoopEnd, LoopFailed, TurnContext
from .plan import Amended, Item, Plan
from .research_plan import REFUSED, Refused, gap
from .step import HandIn

T = TypeVar("T")

NOTHING_WRITTEN = (
    "You reported this item as done, but no file was changed. Make the change with the tools, or "
    "report that nothing has to change, or that the item failed, with the block for it."
)
WRITES_TOLD = 60
_WORDS = {"failed": "failed", "unfinished": "is unfinished"}
GO_ON = (
    "The attempt before ended before it reported. What it wrote is in the files and "
    "stays. Do not make these writes again: look at the files, go on where it stopped, and report "
    "the whole item. It made:"
)
RAN_OUT = (
    "The attempt before ended before it reported, and it wrote nothing. Make the "
    "change with as few requests as it takes, then report."
)
TRY_OTHERWISE = "The attempt before failed and was taken back. Try another way. It failed with: "


def implement(run: TurnContext, standing: Standing, so_far: HandedOver) -> HandIn:
    """Carry out the item that is pending; a failed attempt is taken back and made once more."""
    item = _item(so_far, (standing.iteration or 0) + 1)
    found = tried(run, item.number, lambda attempt: _attempt(run, standing, so_far, item, attempt))
    if isinstance(found, NotDone):
        return _not_done(run, item, found)
    if found.status != "done":
        return _not_done(run, item, reported(run, found.status, found.reason, found.text))
    return _done(run, so_far, item, found)


@dataclass(frozen=True, slots=True)
class NotDone:
    """How an item came to its end that is not done."""

    status: str
    reason: str
    report: str = ""
    is_taken_back: bool = False
    """Whether what its last attempt wrote goes, although what earlier ones wrote may stay."""

    @property
    def word(self) -> str:
        """The status as a sentence says it."""
        return _WORDS[self.status]

    @property
    def result(self) -> StepResult:
        """What it means for the conversation."""
        return StepResult(status=self.status, reason=self.reason, is_taken_back=self.is_taken_back)


def tried(run: TurnContext, number: int, once: Callable[[int], T]) -> T | NotDone:
    """Return what an attempt at an item brought, or how the last of them failed (W11.12)."""
    while True:
        attempt = run.turn().failed_attempts + 1
        try:
            return once(attempt)
        except LoopFailed as failed:
            reason = plan.one_line(failed.problem.message)
            is_out = is_out_of_requests(failed.problem)
            if attempt >= ITEM_ATTEMPTS_MAX:
                status = "unfinished" if is_out or run.turn().left else "failed"
                return NotDone(status, reason, is_taken_back=not is_out)
            _again(run, number, reason, is_out=is_out)


def reported(run: TurnContext, status: str, reason: str, report: str) -> NotDone:
    """Return the end of an item that says itself that it is not done.

    What an attempt before it left stays in any case, so that it is unfinished then.
    """
    is_failed = status == "failed"
    status = "unfinished" if is_failed and run.turn().left else status
    return NotDone(status, plan.one_line(reason), report, is_taken_back=is_failed)


def is_out_of_requests(problem: Problem) -> bool:
    """Whether a loop ended because it may ask no more; nothing in it went wrong (W9.3)."""
    return problem.reason == "turn_limit"


def _again(run: TurnContext, number: int, reason: str, *, is_out: bool) -> None:
    """Let an item be tried once more: on what it wrote if it ran out, else without that."""
    if is_out:
        run.commit(lambda now: decide.leave_unfinished(now, run.turn_id, number, reason))
        return
    revision = run.book.desk.new_revision()
    run.commit(lambda now: decide.fail_attempt(now, run.turn_id, number, reason, revision))


def told_before(run: TurnContext) -> str:
    """Return what the next attempt at the present item is told of those before it (W11.13)."""
    turn = run.turn()
    if not turn.failed_attempts:
        return ""
    if not turn.has_run_out:
        return TRY_OTHERWISE + (turn.failure or "the item failed")
    if not turn.left:
        return RAN_OUT
    made = (e for e in entries(run.state()) if e.batch_id in turn.left)
    lines = [told_write(run, one) for one in made if one.turn_id == turn.turn_id]
    return "\n".join((GO_ON, *lines[-WRITES_TOLD:]))


def told_write(run: TurnContext, entry: ToolEntry) -> str:
    """Return a write that stands, as the next attempt is told of it."""
    given = evidence.arguments(run.book, entry)
    named = given.get("operations")
    operations = [str(one.get("op")) for one in named or () if isinstance(one, dict)]
    what = f": {', '.join(operations)}" if operations else ""
    note = given.get("change_note")
    said = f" ({note})" if isinstance(note, str) and note else ""
    path = evidence.target_of(given)
    return f"- {entry.tool} on {path}{what}{said}, log entry {entry.entry_id}"


def _item(so_far: HandedOver, number: int) -> Item:
    items = so_far.plan.items if so_far.plan else ()
    return next((one for one in items if one.number == number), Item(number, f"Item {number}"))


def _attempt(
    run: TurnContext, standing: Standing, so_far: HandedOver, item: Item, attempt: int
) -> outcome.ItemOutcome:
    """Run the loop of an item; one that claims work without a write runs once more (W11.11)."""
    failure = told_before(run)
    found = outcome.ItemOutcome("")
    for notes in ((), (NOTHING_WRITTEN,)):
        asked = Asked(
            key="implement",
            step=standing.prompt,
            artifacts=Artifacts(
                research=so_far.research,
                plan=so_far.plan_text,
                item=item.line,
                reports=so_far.reports,
                failure=failure,
            ),
            notes=notes,
            item=item.number,
            attempt=attempt,
        )
        ended = run.loop(asked)
        response = ended.response
        if response.finish_reason in REFUSED:
            raise Refused(response.text or "")
        found = _declared(outcome.item_outcome(response.text or ""), ended)
        turn = run.turn()
        is_said = found.no_change is not None or found.status != "done"
        if turn.batches or turn.left or is_said:
            return found
    refused = evidence.refused_of(run.state(), run.turn(), item.number, attempt)
    return replace(found, status="failed", reason=nothing_came(refused)) if refused else found


def _declared(found: outcome.ItemOutcome, ended: LoopEnd) -> outcome.ItemOutcome:
    """Return how an item came out; what was declared by a tool counts before its text."""
    failure = ended.declared.failure
    if failure is None:
        return found
    status = "unfinished" if failure.keep_changes else "failed"
    return replace(found, status=status, reason=" ".join(failure.reason.split()))


def nothing_came(refused: Sequence[ToolEntry]) -> str:
    """Return why an item that tried to write and wrote nothing is not done (W11.11)."""
    reasons = dict.fromkeys(one.error or "failed" for one in refused)
    return f"every write of it was refused: {', '.join(reasons)}"


def _not_done(run: TurnContext, item: Item, ended: NotDone) -> HandIn:
    """Hand in an item that failed or is unfinished; it is never ticked (W11.21)."""
    turn = run.turn()
    kept = (*turn.left, *(() if ended.is_taken_back else turn.batches))
    result: dict[str, object] = {
        **_result(item, status=ended.status, no_effect=False, report=ended.report, batches=kept),
        "reason": ended.reason,
    }
    left = gap(f"Item {item.number} ({item.label}) {ended.word}: {ended.reason}")
    return HandIn(artifacts=[result, left], result=ended.result)


def _done(run: TurnContext, so_far: HandedOver, item: Item, found: outcome.ItemOutcome) -> HandIn:
    whole = so_far.plan or Plan((item,), 1, "")
    amended = plan.amend(whole, found.text)
    turn = run.turn()
    batches = (*turn.left, *turn.batches)
    result = _result(
        item, status="done", no_effect=not batches, report=amended.report, batches=batches
    )
    return HandIn(
        artifacts=[{**result, "amendments": [one.label for one in amended.added]}],
        context=_context(so_far, amended),
        result=StepResult(added=len(amended.added), dropped=amended.dropped),
    )


def _result(
    item: Item, *, status: str, no_effect: bool, report: str, batches: Sequence[str]
) -> dict[str, object]:
    return {
        "kind": artifact.ITEM,
        "item_number": item.number,
        "status": status,
        "no_effect": no_effect,
        "report_markdown": cut_bytes(report, ITEM_REPORT_MAX_BYTES),
        "amendments": [],
        "batch_ids": list(batches),
    }


def _context(so_far: HandedOver, amended: Amended) -> Mapping[str, object] | None:
    """Return the change of context an item's amendments bring."""
    context: dict[str, object] = {}
    if amended.added:
        context["plan_items"] = artifact.listed(amended.plan)
    if amended.dropped:
        context["amendments_dropped"] = so_far.dropped + amended.dropped
    return context or None
