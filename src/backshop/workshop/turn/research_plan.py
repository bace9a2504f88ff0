"""Research and Plan: finding out, and deciding what to do (W11.3–W11.9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from backshop.rails import Standing

from ..conversation import decide
from ..conversation.events import PhaseEnded, Problem
from ..conversation.state import WorkshopState
from ..prompt.inputs import Artifacts
from . import artifact, outcome, plan
from .artifact import HandedOver
from .context import Asked, LoopFailed, Run
from .plan import Intake

NOTES_MAX_CHARS = 2_000
REFUSED = ("refusal", "content_filter")


class Refused(Exception):
    """Control flow: the provider refused; its words are the answer (M8.9)."""

    def __init__(self, text: str) -> None:
        super().__init__("refused")
        self.text = text


def research(run: Run, standing: Standing) -> None:
    """Find out what is asked and what the files hold."""
    run.enter("research")
    text = ""
    for notes in ((), ("Your last research was empty. Write down what you found.",)):
        response = _asked(run, Asked(key="research", step=standing.prompt, notes=notes))
        text = outcome.research_text(response)
        if text:
            break
    if not text:
        raise LoopFailed(
            Problem(
                code="PROVIDER_BAD_RESPONSE",
                reason="model_output_invalid",
                message="the model wrote no research",
                actions=("retry", "switch_model"),
            )
        )
    run.acknowledge(
        standing.node_id,
        notes=_notes(text),
        artifacts=[{"kind": artifact.RESEARCH, "markdown": text}],
        facts=_ended(run, "research"),
        is_fork=_is_branch(run, standing),
    )


def make_plan(run: Run, standing: Standing, so_far: HandedOver) -> None:
    """Turn the research into a checklist; one repair, then what can be used is used."""
    run.enter("plan")
    given = Artifacts(research=so_far.research)
    found = Intake()
    notes: tuple[str, ...] = ()
    for _ in range(2):
        response = _asked(
            run, Asked(key="plan", step=standing.prompt, artifacts=given, notes=notes)
        )
        found = plan.intake(response)
        if found.problem is None:
            break
        notes = (found.problem,)
    items = found.plan.items if found.plan else ()
    markdown = found.plan.text if found.plan else "# Execution Plan\n\n## Items\nnone\n"
    handed: list[dict[str, object]] = [
        {
            "kind": artifact.PLAN,
            "markdown": markdown,
            "items": [{"number": one.number, "label": one.label} for one in items],
            "answer_only": not items,
        }
    ]
    if found.left_out:
        handed.append(gap(f"{found.left_out} items of the plan did not fit and are left out"))
    context: dict[str, object] = {
        "plan_items": artifact.listed(found.plan) if found.plan else [],
        "original_count": len(items),
    }
    if found.left_out:
        context["plan_left_out"] = found.left_out
    if not items and found.problem is not None:
        context["plan_missing"] = True
    run.acknowledge(
        standing.node_id,
        notes=_notes(markdown),
        artifacts=handed,
        context=context,
        facts=_ended(run, "plan"),
    )


def _asked(run: Run, asked: Asked) -> str:
    response = run.ask(asked)
    text = response.text or ""
    if response.finish_reason in REFUSED:
        raise Refused(text)
    return text


def _ended(run: Run, phase: str) -> Callable[[WorkshopState, str], Sequence[object]]:
    def facts(now: WorkshopState, node_id: str) -> Sequence[object]:
        decide.running(now, run.turn_id)
        return [PhaseEnded(turn_id=run.turn_id, phase=phase, node_id=node_id)]

    return facts


def _is_branch(run: Run, standing: Standing) -> bool:
    """Whether this turn answers again what an earlier turn of the same run answered (W15.9)."""
    return run.driving.has_branches(standing.node_id)


def gap(summary: str) -> dict[str, object]:
    """Return the artifact that makes something left undone visible in the run."""
    return {"kind": "wr.gap", "severity": "warning", "summary": summary[:500]}


def _notes(text: str) -> str:
    """Return the beginning of a text, for the recap."""
    return text[:NOTES_MAX_CHARS]
