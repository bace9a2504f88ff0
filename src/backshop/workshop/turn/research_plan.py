"""The research and plan steps at work; their words stand in `rpi.yaml` (W11.3–W11.9)."""

from __future__ import annotations

from backshop.rails import Standing

from ..conversation.events import Problem
from ..prompt.inputs import Artifacts
from . import artifact, outcome, plan
from .artifact import HandedOver
from .context import Asked, LoopFailed, TurnContext
from .plan import Intake
from .step import HandIn

REFUSED = ("refusal", "content_filter")


class Refused(Exception):
    """Control flow: the provider refused; its words are the answer (M8.9)."""

    def __init__(self, text: str) -> None:
        super().__init__("refused")
        self.text = text


def research(run: TurnContext, standing: Standing, _: HandedOver) -> HandIn:
    """Find out what is asked and what the files hold."""
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
    return HandIn(artifacts=[{"kind": artifact.RESEARCH, "markdown": text}])


def make_plan(run: TurnContext, standing: Standing, so_far: HandedOver) -> HandIn:
    """Turn the research into a checklist; one repair, then what can be used is used."""
    given = Artifacts(research=so_far.research)
    found = plan.intake(so_far.wished) if so_far.wished else Intake()
    notes: tuple[str, ...] = ()
    for _ in range(0 if found.plan and found.plan.items else 2):
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
    return HandIn(artifacts=handed, context=context)


def _asked(run: TurnContext, asked: Asked) -> str:
    response = run.ask(asked)
    text = response.text or ""
    if response.finish_reason in REFUSED:
        raise Refused(text)
    return text


def gap(summary: str) -> dict[str, object]:
    """Return the artifact that makes something left undone visible in the run."""
    return {"kind": "wr.gap", "severity": "warning", "summary": summary[:500]}
