"""Turns driven by any workflow: each step is asked for, its contract is required output (W13.10).

The model ends a step with one fenced JSON object: `artifacts` the step asks for, `context` keys it
sets. Runs of the built-in agent never stop for a person, so what is missing becomes a gap.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backshop.base.limits import ITEM_ATTEMPTS_MAX, ITEM_REPORT_MAX_BYTES, NOTES_MAX_BYTES
from backshop.rails import RailsError, Standing

from ..conversation import decide
from ..conversation.events import ItemEnded, ItemStarted
from ..conversation.state import WorkshopState
from ..cut import cut_bytes
from ..prompt.inputs import Artifacts, Report
from . import ending, outcome, plan
from . import item as turn_item
from .artifact import HandedOver, ItemResult
from .context import Asked, LoopFailed, Run
from .plan import Item, Plan
from .research_plan import REFUSED, Refused, gap

STEP_NOTES = "workshop.step"
HAND_OVER = (
    "This is one step of a workflow that you follow without tokens or calls of its own. Finish the "
    "step with its text. If it asks for artifacts, or for context keys to be set, put them at the "
    'very end into one fenced json block: {"artifacts": [{"kind": "…"}], "context": {}}. A step '
    'that could not be done says so there: "status": "failed" (what you wrote is taken back) or '
    '"unfinished" (it stays), with a "reason".'
)
_BLOCK = re.compile(r"```json[ \t]*\n(\{.*\})[ \t]*\n?```[ \t]*$", re.DOTALL)
_OBJECT_MAX_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Handed:
    """What a step's final text hands over."""

    notes: str
    artifacts: tuple[Mapping[str, object], ...] = ()
    context: Mapping[str, object] | None = None
    status: str = "done"
    reason: str = ""


def read(text: str) -> Handed:
    """Return a step's text, and what its last block hands over; a block that is none is text."""
    plain = text.strip()
    found = _BLOCK.search(plain)
    if found is None or len(found[1]) > _OBJECT_MAX_CHARS:
        return Handed(plain)
    try:
        value = json.loads(found[1])
    except (ValueError, RecursionError):
        return Handed(plain)
    given, context = value.get("artifacts"), value.get("context")
    artifacts = [
        one
        for one in (given if isinstance(given, list) else [])
        if isinstance(one, dict) and isinstance(one.get("kind"), str) and one["kind"]
    ]
    return Handed(
        plain[: found.start()].strip() or "(nothing but what was handed over)",
        tuple(artifacts),
        context if isinstance(context, dict) and context else None,
        *outcome.stated(value),
    )


def take(run: Run, standing: Standing) -> None:
    """Do the pending step of a workflow; a failed attempt is taken back and made once more."""
    run.enter("implement")
    number = run.turn().done_items + 1
    ended: turn_item.Ended | None = None
    while True:
        attempt = run.turn().failed_attempts + 1
        _announce(run, standing, number, attempt)
        try:
            handed = _asked(run, standing, number, attempt)
        except LoopFailed as failed:
            reason = plan.one_line(failed.problem.message)
            is_out = turn_item.is_out_of_requests(failed.problem)
            if attempt < ITEM_ATTEMPTS_MAX:
                turn_item.again(run, number, reason, is_out=is_out)
                continue
            status = "unfinished" if is_out or run.turn().left else "failed"
            item = Item(number, standing.title[:200])
            ended = turn_item.Ended(item, status, reason, is_taken_back=not is_out)
            word = "failed" if status == "failed" else "is unfinished"
            handed = Handed(f"This step {word}: {reason}", (gap(f"{standing.title}: {reason}"),))
            _acknowledged(run, standing, number, handed, ended)
            return
        if handed.status != "done":
            item = Item(number, standing.title[:200])
            ended = turn_item.reported(run, item, handed.status, handed.reason, handed.notes)
        _acknowledged(run, standing, number, handed, ended)
        return


def _announce(run: Run, standing: Standing, number: int, attempt: int) -> None:
    fact = ItemStarted(
        turn_id=run.turn_id,
        number=number,
        total=number,
        label=standing.title[:200],
        attempt=attempt,
    )

    def rule(now: WorkshopState) -> Sequence[object]:
        decide.running(now, run.turn_id)
        return [fact]

    run.commit(rule)


def _asked(run: Run, standing: Standing, number: int, attempt: int) -> Handed:
    """Ask for a step; one that lacks its artifact is asked for once more."""
    turn = run.turn()
    notes: tuple[str, ...] = (HAND_OVER,)
    found = Handed("")
    for _ in range(2):
        response = run.ask(
            Asked(
                key="research" if turn.mode == "ask" else "implement",
                step=standing.instructions,
                artifacts=Artifacts(
                    item=standing.title,
                    reports=reports(run, standing),
                    failure=turn_item.told_before(run),
                ),
                notes=notes,
                item=number,
                attempt=attempt,
            )
        )
        if response.finish_reason in REFUSED:
            raise Refused(response.text or "")
        found = read(response.text or "")
        kind = standing.artifact_kind
        is_said = kind is None or found.status != "done"
        if is_said or any(one.get("kind") == kind for one in found.artifacts):
            return found
        form = json.dumps(standing.form, ensure_ascii=False)
        notes = (
            HAND_OVER,
            f"Your text lacked the artifact of kind {kind}. Its form: {form}",
        )
    return found


def _acknowledged(
    run: Run,
    standing: Standing,
    number: int,
    handed: Handed,
    ended: turn_item.Ended | None,
) -> None:
    """Hand a step in; without `ended` it is done."""
    revision = run.book.desk.new_revision()
    status = "done" if ended is None else ended.status

    def facts(now: WorkshopState, node_id: str) -> Sequence[object]:
        if ended is not None:
            return turn_item.not_done(now, run, ended, node_id, revision)
        turn = decide.running(now, run.turn_id)
        done = ItemEnded(
            turn_id=run.turn_id,
            number=number,
            status="done",
            no_effect=not turn.batches and not turn.left,
            node_id=node_id,
        )
        return decide.end_item(now, done, revision)

    notes = cut_bytes(handed.notes, NOTES_MAX_BYTES)
    report = {
        "kind": STEP_NOTES,
        "step": standing.title[:200],
        "status": status,
        "markdown": cut_bytes(handed.notes, ITEM_REPORT_MAX_BYTES),
    }
    is_fork = run.driving.has_branches(standing.node_id)
    try:
        run.acknowledge(
            standing.node_id,
            notes=notes,
            artifacts=[*handed.artifacts, report],
            context=handed.context,
            facts=facts,
            is_fork=is_fork,
        )
    except RailsError as error:
        if error.rails_code != "VALIDATION_ERROR":
            raise
        # what the model handed over cannot be kept; the step itself stands
        run.acknowledge(
            standing.node_id, notes=notes, artifacts=[report], facts=facts, is_fork=is_fork
        )


def reports(run: Run, standing: Standing) -> tuple[Report, ...]:
    """Return what the steps so far say, in their own words."""
    told = [one.value for one in run.driving.handed(standing.node_id) if one.kind == STEP_NOTES]
    return tuple(
        Report(number=n, label=str(one.get("step", "")), text=str(one.get("markdown", "")))
        for n, one in enumerate(told, 1)
    )


def sum_up(run: Run, standing: Standing) -> None:
    """Write the answer when the workflow has come to its end."""
    told = [one.value for one in run.driving.handed(standing.node_id) if one.kind == STEP_NOTES]
    steps = tuple(Item(n, str(one.get("step", ""))) for n, one in enumerate(told, 1))
    results = tuple(
        ItemResult(
            number=n,
            status=str(one.get("status", "done")),
            no_effect=False,
            report=str(one.get("markdown", "")),
            reason="" if one.get("status") == "done" else "see its report",
        )
        for n, one in enumerate(told, 1)
    )
    lines = "\n".join(item.line for item in steps)
    so_far = HandedOver(plan=Plan(steps, len(steps), lines), results=results)
    ending.sum_up(run, so_far)
