"""`/bench/{id}/settings`: what is chosen for one workbench alone (U5.4, W1.4)."""

from __future__ import annotations

from backshop.base.usage import Used
from backshop.workshop import BenchUsage, Workshop
from backshop.workshop.requests import GetUsage

from .kit import Page, Visit, bench_context, route, tried

FLOWS = {  # what each is called, and what it does
    "auto": (
        "As the request needs it",
        "The agent works directly, and makes a plan where the request needs one.",
    ),
    "rpi": (
        "Always with a plan",
        "The agent researches, plans, works through its plan with tools, and sums up.",
    ),
    "compat": (
        "All changes in one proposal",
        "The agent answers, then proposes all changes at once: for models without tools.",
    ),
}


def options(visit: Visit) -> Page:
    """Show how turns of this workbench are executed, and let it be chosen."""
    wish = GetUsage(workbench_id=visit.params["bench_id"], limit=0)
    used, error = tried(visit, Workshop.get_usage, wish)
    context = {
        **bench_context(visit, "settings"),
        "flows": FLOWS,
        "used": used,
        "used_error": error,
        "used_rows": _rows(used) if used else [],
    }
    return Page(template="options.html", title="Workbench settings", context=context)


def _rows(used: BenchUsage) -> list[tuple[str, Used]]:
    """Return what each model used, and what no turn did, where there is more than one sum."""
    rows: list[tuple[str, Used]] = [(one.model_id, one) for one in used.by_model]
    if used.besides.calls:
        rows.append(("For no turn (context items, digest)", used.besides))
    return rows if len(rows) > 1 else []


ROUTES = (route("/bench/{bench_id}/settings", options),)
