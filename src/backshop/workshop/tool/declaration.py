"""What a model declares about its own work by a tool: that it needs a plan, or that it failed.

Neither changes a file. The loop's driver reads what was declared once the loop is over (W11.26).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from backshop.base.limits import PLAN_ITEMS_MAX
from backshop.prompts import Tool, ToolContext, ToolResult

from .phase import REPORT_FAILURE, REQUEST_PLAN
from .recall import AgentSpace

FINDINGS_MAX_CHARS = 40_000
REASON_MAX_CHARS = 2_000
ITEMS_MIN = 2
TOO_MANY = "A plan has at most {} items: group them, and ask again."
DO_IT_DIRECTLY = (
    "A plan of fewer than two items is no plan: do it directly, with the tools you have."
)
PLANNED = "The plan is taken up; its items are worked on one by one."
NOTED_TAKEN_BACK = (
    "Noted: what you wrote is taken back. Tell the person what stands in the way, and what they "
    "could do."
)
NOTED_KEPT = "Noted: what you wrote stays. Tell the person what is done, what is not, and why."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedItem:
    """One piece of work."""

    label: str = field(metadata={"min_length": 1, "max_length": 200})
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPlan:
    """Arguments of request_plan."""

    findings: str = field(
        metadata={
            "min_length": 1,
            "max_length": FINDINGS_MAX_CHARS,
        }
    )
    items: list[PlannedItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFailure:
    """Arguments of report_failure."""

    reason: str = field(metadata={"min_length": 1, "max_length": REASON_MAX_CHARS})
    keep_changes: bool = False


@dataclass(slots=True)
class Declared:
    """What was declared in one loop."""

    plan: RequestPlan | None = None
    failure: ReportFailure | None = None


@dataclass(frozen=True, slots=True)
class TurnSpace(AgentSpace):
    """A bench as the tools of a turn's loop see it, with what the model declared in it."""

    declared: Declared = field(default_factory=Declared, kw_only=True)


def _request_plan(params: RequestPlan, *, context: ToolContext) -> ToolResult:
    if len(params.items) < ITEMS_MIN:
        return ToolResult.failure("plan_too_small", DO_IT_DIRECTLY)
    if len(params.items) > PLAN_ITEMS_MAX:
        return ToolResult.failure("plan_too_large", TOO_MANY.format(PLAN_ITEMS_MAX))
    context.resource(TurnSpace).declared.plan = params
    return ToolResult(ok=True, message=PLANNED)


def _report_failure(params: ReportFailure, *, context: ToolContext) -> ToolResult:
    context.resource(TurnSpace).declared.failure = params
    return ToolResult(ok=True, message=NOTED_KEPT if params.keep_changes else NOTED_TAKEN_BACK)


DECLARING_TOOLS = (
    Tool(
        REQUEST_PLAN,
        "Plan a request of several separate pieces of work: what you found, and two or more items, "
        "then worked on one by one. What you wrote stays.",
        RequestPlan,
        _request_plan,
        effects="state",
    ),
    Tool(
        REPORT_FAILURE,
        "Say that the work failed, or is done in part; then tell the person why.",
        ReportFailure,
        _report_failure,
        effects="state",
    ),
)
