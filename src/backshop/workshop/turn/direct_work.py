"""Direct work: one loop that does what is asked and answers, or goes over to a plan (W11.32).

To everybody who watches it is Implement, item 1 of 1. What it wrote stays when it has to stop, and
whoever goes on is told of it.
"""

from __future__ import annotations

from backshop.base.limits import RESEARCH_MAX_BYTES
from backshop.rails import Standing

from .. import evidence
from ..conversation import turn_facts
from ..conversation.decide import StepResult
from ..conversation.events import ItemEnd
from ..conversation.state import ToolEntry
from ..cut import cut_bytes
from ..prompt.inputs import Artifacts
from ..signals import AnswerStream
from ..tool.declaration import RequestPlan
from ..tool.phase import WORK
from ..transcript import entries
from . import artifact, ending, item, outcome, plan
from .artifact import HandedOver
from .context import Asked, LoopEnd, Stopped, TurnContext
from .research_plan import REFUSED, Refused
from .step import HandIn

NUMBER = 1  # of the one item that direct work is
LIMIT_REACHED = (
    "The work began without a plan and went on writing beyond what is done without one. What was "
    "written so far stays; plan what is left of the request."
)
WRITTEN = "What was written so far, and stays:"
NOTHING_SAID = "(nothing)"
NEVER_PLANNED = "more was to be written than goes without a plan, and nothing was planned"


def work(run: TurnContext, standing: Standing, _: HandedOver) -> HandIn:
    """Do what is asked, in one loop; its last text is the answer."""
    stream = ending.answer_stream(run, is_provisional=True)
    asked = Asked(
        key=WORK,
        step=standing.prompt,
        artifacts=Artifacts(failure=item.told_before(run)),
        item=NUMBER,
        attempt=run.turn().failed_attempts + 1,
        said=stream,
    )
    try:
        ended = run.loop(asked)
    except Stopped as stopped:
        if stopped.why == "cancel":
            stream.keep()  # what people saw stays (W5.11)
        raise
    if ended.response.finish_reason in REFUSED:
        raise Refused(ended.response.text or "")
    if ended.declared.plan is not None or ended.wants_plan:
        return _planned(run, ended)
    return _answered(run, ended, stream)


def _answered(run: TurnContext, ended: LoopEnd, stream: AnswerStream) -> HandIn:
    """Hand the work in with its answer, and end the turn."""
    if not stream.text.strip():
        stream.add(ended.response.text or "")
    stream.close()
    text = cut_bytes(stream.text, ending.ANSWER_MAX_BYTES)
    end = _end(run, ended)
    wish = ending.ending(run, "complete", "complete", text, source="model", item=end)
    kept = cut_bytes(text, ending.ARTIFACT_MAX_BYTES)
    handed: dict[str, object] = {
        "kind": artifact.WORK,
        "markdown": kept,
        "planned": False,
        "status": end.status,
        "source": "model",
        "changed_paths": list(wish.changed_paths),
    }
    if end.reason:
        handed["reason"] = end.reason
    artifacts = [handed]
    if wish.facts is not None:
        artifacts.append({"kind": artifact.FACTS, "lines": list(turn_facts.told(wish.facts))})
    return HandIn(
        notes=None if kept == text else text,
        artifacts=artifacts,
        result=StepResult(answer=wish),
    )


def _end(run: TurnContext, ended: LoopEnd) -> ItemEnd:
    """Return how the work came out: by what was written, and by what the model declared."""
    turn, failure = run.turn(), ended.declared.failure
    wrote = bool(turn.batches or turn.left)
    if failure is not None:
        is_kept = failure.keep_changes or bool(turn.left)
        status = "unfinished" if is_kept and wrote else "failed"
        return ItemEnd(number=NUMBER, status=status, reason=plan.one_line(failure.reason))
    attempt = turn.failed_attempts + 1
    refused = evidence.refused_of(run.state(), turn, NUMBER, attempt)
    if refused and not wrote:
        return ItemEnd(number=NUMBER, status="failed", reason=item.nothing_came(refused))
    if evidence.lacks_plan(run.state(), turn):
        return ItemEnd(number=NUMBER, status="unfinished", reason=NEVER_PLANNED)
    return ItemEnd(number=NUMBER, status="done", no_effect=not wrote)


def _planned(run: TurnContext, ended: LoopEnd) -> HandIn:
    """Hand in what was found; a plan, its items and a summary follow (W11.33)."""
    wished = ended.declared.plan
    said = wished.findings if wished is not None else ended.response.text or NOTHING_SAID
    lead = () if wished is not None else (LIMIT_REACHED,)
    found = "\n\n".join((*lead, said, *_written(run)))
    handed: dict[str, object] = {
        "kind": artifact.WORK,
        "markdown": outcome.research_text(cut_bytes(found, RESEARCH_MAX_BYTES)),
        "planned": True,
    }
    if wished is not None:
        handed["plan_markdown"] = _markdown(wished)
    return HandIn(
        artifacts=[handed],
        context={"escalated": True},
        result=StepResult(is_planned=True),
    )


def _written(run: TurnContext) -> tuple[str, ...]:
    """Return what direct work wrote, as the plan is told of it."""
    turn = run.turn()
    stays = {*turn.left, *turn.batches}
    made: list[ToolEntry] = [
        one for one in entries(run.state()) if one.turn_id == turn.turn_id and one.batch_id in stays
    ]
    lines = [item.told_write(run, one) for one in made[-item.WRITES_TOLD :]]
    return ("\n".join((WRITTEN, *lines)),) if lines else ()


def _markdown(wished: RequestPlan) -> str:
    """Return the plan that was asked for in the form plans have (W11.4)."""
    lines = []
    for number, one in enumerate(wished.items, 1):
        label = " ".join(one.label.replace(plan.DASH, " - ").split())
        about = " ".join(one.description.split())
        lines.append(plan.Item(number, label, about).line)
    return "\n".join(("# Execution Plan", "", "## Items", *lines))
