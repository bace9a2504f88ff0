"""Implement: one item of the plan after the other, each whole or not at all (W11.10–W11.16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backshop.base.limits import ITEM_REPORT_MAX_BYTES
from backshop.rails import Standing

from . import artifacts, decide, outcome, plan
from .artifacts import HandedOver
from .cutting import cut_bytes
from .events import ItemEnded, ItemStarted, PhaseEnded
from .facts import Artifacts
from .plan import Amended, Item, Plan
from .run import Asked, LoopFailed, Run
from .state import WorkshopState
from .thinking import REFUSED, Refused, gap

ATTEMPTS_MAX = 2  # W9
NOTHING_WRITTEN = (
    "You reported this item as done, but no file was changed. Make the change with the tools, or "
    "report that nothing has to change."
)
TRY_OTHERWISE = "The attempt before failed and was taken back. Try another way. It failed with: "


def implement(run: Run, standing: Standing, so_far: HandedOver) -> None:
    """Carry out the item that is pending; a failed attempt is taken back and made once more."""
    run.enter("implement")
    number = (standing.iteration or 0) + 1
    item, whole = _item(so_far, number), so_far.plan or Plan((), 0, "")
    while True:
        attempt = run.turn().failed_attempts + 1
        _announce(run, item, len(whole.items), attempt)
        try:
            text = _attempt(run, standing, so_far, item, attempt)
        except LoopFailed as failed:
            reason = plan.one_line(failed.problem.message)
            if attempt >= ATTEMPTS_MAX:
                _failed(run, standing, item, reason, is_last=number >= len(whole.items))
                return
            _taken_back(run, item, reason)
            continue
        _done(run, standing, so_far, item, text)
        return


def _taken_back(run: Run, item: Item, reason: str) -> None:
    revision = run.book.desk.new_revision()
    run.commit(lambda now: decide.fail_attempt(now, run.turn_id, item.number, reason, revision))


def _item(so_far: HandedOver, number: int) -> Item:
    items = so_far.plan.items if so_far.plan else ()
    return next((one for one in items if one.number == number), Item(number, f"Item {number}"))


def _announce(run: Run, item: Item, total: int, attempt: int) -> None:
    fact = ItemStarted(
        turn_id=run.turn_id, number=item.number, total=total, label=item.label, attempt=attempt
    )

    def rule(now: WorkshopState) -> Sequence[object]:
        decide.running(now, run.turn_id)
        return [fact]

    run.commit(rule)


def _attempt(
    run: Run, standing: Standing, so_far: HandedOver, item: Item, attempt: int
) -> outcome.ItemOutcome:
    """Run the loop of an item; one that claims work without a write runs once more (W11.11)."""
    failure = ""
    reason = _last_failure(run, item)
    if attempt > 1:
        failure = TRY_OTHERWISE + reason
    found = outcome.ItemOutcome("")
    for notes in ((), (NOTHING_WRITTEN,)):
        asked = Asked(
            key="implement",
            step=standing.prompt,
            artifacts=Artifacts(
                plan=so_far.plan_text, item=item.line, reports=so_far.reports, failure=failure
            ),
            notes=notes,
            item=item.number,
            attempt=attempt,
        )
        response = run.ask(asked)
        if response.finish_reason in REFUSED:
            raise Refused(response.text or "")
        found = outcome.item_outcome(response.text or "")
        if run.turn().batches or found.no_change is not None:
            return found
    return found


def _last_failure(run: Run, item: Item) -> str:
    return run.turn().failure or f"item {item.number} failed"


def _failed(run: Run, standing: Standing, item: Item, reason: str, *, is_last: bool) -> None:
    revision = run.book.desk.new_revision()
    result: dict[str, object] = {
        **_result(item, status="failed", no_effect=False, report="", batches=()),
        "reason": reason,
    }

    def facts(now: WorkshopState, node_id: str) -> Sequence[object]:
        ended = ItemEnded(
            turn_id=run.turn_id,
            number=item.number,
            status="failed",
            reason=reason,
            node_id=node_id,
        )
        return [*decide.end_item(now, ended, revision), *_phase_end(run, node_id, is_last)]

    run.acknowledge(
        standing.node_id,
        notes=f"Item {item.number} failed: {reason}",
        artifacts=[result, gap(f"Item {item.number} ({item.label}) failed: {reason}")],
        facts=facts,
    )


def _done(
    run: Run, standing: Standing, so_far: HandedOver, item: Item, found: outcome.ItemOutcome
) -> None:
    whole = so_far.plan or Plan((item,), 1, "")
    amended = plan.amend(whole, found.text)
    batches = run.turn().batches
    revision = run.book.desk.new_revision()
    is_last = item.number >= len(amended.plan.items)

    def facts(now: WorkshopState, node_id: str) -> Sequence[object]:
        ended = ItemEnded(
            turn_id=run.turn_id,
            number=item.number,
            status="done",
            no_effect=not batches,
            added=len(amended.added),
            dropped=amended.dropped,
            node_id=node_id,
        )
        return [*decide.end_item(now, ended, revision), *_phase_end(run, node_id, is_last)]

    run.acknowledge(
        standing.node_id,
        notes=amended.report or f"Item {item.number} is done.",
        artifacts=[
            {
                **_result(
                    item,
                    status="done",
                    no_effect=not batches,
                    report=amended.report,
                    batches=batches,
                ),
                "amendments": [one.label for one in amended.added],
            }
        ],
        context=_context(standing, so_far, amended),
        facts=facts,
    )


def _result(
    item: Item, *, status: str, no_effect: bool, report: str, batches: Sequence[str]
) -> dict[str, object]:
    return {
        "kind": artifacts.ITEM,
        "item_number": item.number,
        "status": status,
        "no_effect": no_effect,
        "report_markdown": cut_bytes(report, ITEM_REPORT_MAX_BYTES),
        "amendments": [],
        "batch_ids": list(batches),
    }


def _context(
    standing: Standing, so_far: HandedOver, amended: Amended
) -> Mapping[str, object] | None:
    """Return the change of context an item's amendments bring."""
    context: dict[str, object] = {}
    if amended.added:
        context["plan_items"] = artifacts.listed(amended.plan)
    if amended.dropped:
        context["amendments_dropped"] = so_far.dropped + amended.dropped
    return context or None


def _phase_end(run: Run, node_id: str, is_last: bool) -> Sequence[object]:
    """Return the end of the phase, when no item follows."""
    if not is_last:
        return []
    return [PhaseEnded(turn_id=run.turn_id, phase="implement", node_id=node_id)]
