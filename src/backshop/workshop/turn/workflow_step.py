"""Turns driven by any workflow: each step is asked for, its contract is required output (W13.10).

The model ends a step with one fenced JSON object: `artifacts` the step asks for, `context` keys it
sets. Runs of the built-in agent never stop for a person, so what is missing becomes a gap.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from backshop.base.limits import ITEM_REPORT_MAX_BYTES, NOTES_MAX_BYTES
from backshop.rails import Standing

from ..conversation.decide import StepResult
from ..cut import cut_bytes
from ..prompt.inputs import Artifacts
from . import outcome
from .artifact import STEP_NOTES, HandedOver
from .context import Asked, TurnContext
from .item import NotDone, reported, told_before, tried
from .research_plan import REFUSED, Refused, gap
from .step import LABEL_MAX_CHARS, HandIn

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
class StepText:
    """What a step's final text hands over."""

    notes: str
    artifacts: tuple[Mapping[str, object], ...] = ()
    context: Mapping[str, object] | None = None
    status: str = "done"
    reason: str = ""


def read(text: str) -> StepText:
    """Return a step's text, and what its last block hands over; a block that is none is text."""
    plain = text.strip()
    found = _BLOCK.search(plain)
    if found is None or len(found[1]) > _OBJECT_MAX_CHARS:
        return StepText(plain)
    try:
        value = json.loads(found[1])
    except (ValueError, RecursionError):
        return StepText(plain)
    given, context = value.get("artifacts"), value.get("context")
    artifacts = [
        one
        for one in (given if isinstance(given, list) else [])
        if isinstance(one, dict) and isinstance(one.get("kind"), str) and one["kind"]
    ]
    return StepText(
        plain[: found.start()].strip() or "(nothing but what was handed over)",
        tuple(artifacts),
        context if isinstance(context, dict) and context else None,
        *outcome.stated(value),
    )


def take(run: TurnContext, standing: Standing, so_far: HandedOver) -> HandIn:
    """Do the pending step of a workflow; a failed attempt is taken back and made once more."""
    number = run.turn().done_items + 1
    found = tried(run, number, lambda attempt: _asked(run, standing, so_far, number, attempt))
    if isinstance(found, NotDone):
        handed = StepText(
            f"This step {found.word}: {found.reason}",
            (gap(f"{standing.title}: {found.reason}"),),
        )
        return _brought(standing, handed, found.status, found.result)
    if found.status != "done":
        ended = reported(run, found.status, found.reason, found.notes)
        return _brought(standing, found, ended.status, ended.result)
    return _brought(standing, found, "done", StepResult())


def _asked(
    run: TurnContext, standing: Standing, so_far: HandedOver, number: int, attempt: int
) -> StepText:
    """Ask for a step; one that lacks its artifact is asked for once more."""
    turn = run.turn()
    notes: tuple[str, ...] = (HAND_OVER,)
    found = StepText("")
    for _ in range(2):
        response = run.ask(
            Asked(
                key="research" if turn.mode == "ask" else "implement",
                step=standing.instructions,
                artifacts=Artifacts(
                    item=standing.title,
                    reports=so_far.reports,
                    failure=told_before(run),
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


def _brought(standing: Standing, handed: StepText, status: str, result: StepResult) -> HandIn:
    """Hand a step in, with its report for the steps after it."""
    report = {
        "kind": STEP_NOTES,
        "step": standing.title[:LABEL_MAX_CHARS],
        "status": status,
        "markdown": cut_bytes(handed.notes, ITEM_REPORT_MAX_BYTES),
    }
    return HandIn(
        notes=cut_bytes(handed.notes, NOTES_MAX_BYTES),
        artifacts=[*handed.artifacts, report],
        context=handed.context,
        result=result,
        least=[report],
    )
