"""What the steps of a run handed over, read back from rails: nothing is kept beside it (W13.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backshop.rails import Driving, Standing

from ..answers import ItemReport, PlanItem, PlanView
from ..conversation.state import BUILTIN, WorkshopState
from ..prompt.inputs import Report
from ..requests import GetPlan
from . import plan as plans
from .plan import Item, Mark, Plan, Status

RESEARCH, PLAN = "workshop.research", "workshop.plan"
ITEM, SUMMARY = "workshop.item_result", "workshop.summary"
STEP_NOTES, FACTS = "workshop.step", "workshop.facts"
WORK = "workshop.work"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """How an item came out."""

    number: int
    status: str
    no_effect: bool
    report: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """Everything the finished steps of a run left for the next ones."""

    research: str = ""
    wished: str = ""
    """The plan that direct work asked for, before it is one."""
    plan: Plan | None = None
    results: tuple[ItemResult, ...] = ()
    left_out: int = 0
    """Items of the plan that did not fit."""
    dropped: int = 0
    """Items that came up on the way and did not fit."""
    is_plan_missing: bool = False
    """Whether the model was asked for a plan and wrote none that could be carried out."""

    @property
    def marks(self) -> dict[int, Mark]:
        """What became of each item."""
        return {
            one.number: Mark(Status.DONE)
            if one.status == "done"
            else Mark(Status.FAILED, _why(one))
            for one in self.results
        }

    @property
    def plan_text(self) -> str:
        """The plan with its marks drawn in."""
        return "" if self.plan is None else plans.render(self.plan, self.marks)

    @property
    def reports(self) -> tuple[Report, ...]:
        """What finished items report, in their own words."""
        labels = {item.number: item.label for item in self.plan.items} if self.plan else {}
        return tuple(
            Report(number=one.number, label=labels.get(one.number, ""), text=one.report)
            for one in self.results
        )


def _why(one: ItemResult) -> str:
    return f"unfinished: {one.reason}" if one.status == "unfinished" else one.reason


def read(driving: Driving, standing: Standing) -> HandedOver:
    """Return what lies on the way to where a run stands."""
    handed = driving.handed(standing.node_id)
    if standing.workflow_id not in BUILTIN:
        return _steps([one.value for one in handed if one.kind == STEP_NOTES])
    research, wished, markdown, results = "", "", None, []
    for one in handed:
        value = one.value
        match one.kind:
            case "workshop.research":
                research = str(value.get("markdown", ""))
            case "workshop.work" if value.get("planned") is True:
                research = str(value.get("markdown", ""))
                wished = str(value.get("plan_markdown", ""))
            case "workshop.plan":
                markdown = str(value.get("markdown", ""))
            case "workshop.item_result":
                results.append(_result(value))
    context = standing.context
    return HandedOver(
        research=research,
        wished=wished,
        plan=_plan(markdown, context.get("plan_items")) if markdown else None,
        results=tuple(results),
        left_out=_count(context, "plan_left_out"),
        dropped=_count(context, "amendments_dropped"),
        is_plan_missing=context.get("plan_missing") is True,
    )


def _steps(told: Sequence[Mapping[str, object]]) -> HandedOver:
    """Return the steps of somebody's own workflow as items that were done (W13.10)."""
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
    return HandedOver(plan=Plan(steps, len(steps), lines), results=results)


def _count(context: Mapping[str, object], key: str) -> int:
    value = context.get(key)
    return value if isinstance(value, int) else 0


def _result(value: Mapping[str, object]) -> ItemResult:
    number = value.get("item_number")
    return ItemResult(
        number=number if isinstance(number, int) else 0,
        status=str(value.get("status", "done")),
        no_effect=value.get("no_effect") is True,
        report=str(value.get("report_markdown", "")),
        reason=str(value.get("reason", "")),
    )


def _plan(markdown: str, listed: object) -> Plan | None:
    """Return the plan with the items that were added to it on the way (W11.15)."""
    plan, _ = plans.read(markdown)
    if not plan.items:
        return None
    more = listed[len(plan.items) :] if isinstance(listed, list | tuple) else []
    lines = [_line(one) for one in more if isinstance(one, Mapping)]
    return plans.amend(plan, "\n".join(lines)).plan if lines else plan


def _line(item: Mapping[str, object]) -> str:
    label, description = str(item.get("label", "")), str(item.get("description", ""))
    return f"- [ ] {label}{plans.DASH}{description}" if description else f"- [ ] {label}"


def listed(plan: Plan) -> list[dict[str, object]]:
    """Return a plan as the run's context lists it; items that came later say what they are."""
    found: list[dict[str, object]] = []
    for item in plan.items:
        one: dict[str, object] = {"number": item.number, "label": item.label}
        if item.number > plan.original_count and item.description:
            one["description"] = item.description
        found.append(one)
    return found


def plan_view(driving: Driving, known: WorkshopState, request: GetPlan) -> PlanView:
    """Return what a turn found out, planned and reported."""
    turn_id = request.turn_id or known.turn_id
    turn = None if turn_id is None else known.turns.get(turn_id)
    if turn is None or turn.node_id is None or turn.workflow_id not in (None, *BUILTIN):
        return PlanView(turn_id=turn_id)
    found = read(driving, driving.standing(turn.node_id))
    results = {one.number: one for one in found.results}
    items = []
    for item in found.plan.items if found.plan else ():
        result = results.get(item.number)
        items.append(
            PlanItem(
                number=item.number,
                label=item.label,
                description=item.description,
                status=result.status if result else "pending",
                reason=(result.reason or None) if result else None,
                no_effect=result.no_effect if result else False,
            )
        )
    return PlanView(
        turn_id=turn.turn_id,
        research_md=found.research,
        plan_md=found.plan_text,
        items=tuple(items),
        reports=tuple(ItemReport(number=one.number, text=one.report) for one in found.results),
    )
