"""`/bench/{id}/settings`: what is chosen for one workbench alone (U5.4, W1.4)."""

from __future__ import annotations

from .kit import Page, Visit, bench_context, route

FLOWS = {
    "rpi": "The agent researches, plans, works through its plan with tools, and sums up.",
    "compat": "The agent answers, then proposes all changes at once: for models without tools.",
}


def options(visit: Visit) -> Page:
    """Show how turns of this workbench are executed, and let it be chosen."""
    context = {**bench_context(visit, "settings"), "flows": FLOWS}
    return Page(template="options.html", title="Workbench settings", context=context)


ROUTES = (route("/bench/{bench_id}/settings", options),)
