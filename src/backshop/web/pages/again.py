"""`/bench/{id}/again`: a finished turn kept as a workflow, and saved ones run here (U3.11, W25)."""

from __future__ import annotations

from backshop.bench import Bench
from backshop.bench.requests import WorkbenchFilesList
from backshop.workshop import Again
from backshop.workshop.requests import GetWorkflowInputs

from .kit import Page, Visit, bench_context, route, tried

FILES_SHOWN = 1000


def again(visit: Visit) -> Page:
    """Show a name to give to a finished turn, and workflows with their inputs to choose."""
    bench_id = visit.params["bench_id"]
    listed = visit.ask(
        Bench.files_list, WorkbenchFilesList(workbench_id=bench_id, limit=FILES_SHOWN)
    )
    wish = GetWorkflowInputs(workbench_id=bench_id)
    found, error = tried(visit, Again.get_workflow_inputs, wish)
    context = {
        **bench_context(visit, "again"),
        "turn_id": visit.query.get("turn") or None,
        "may_save": visit.user is None,
        "files": [one.path for one in listed.files],
        "workflows": found.workflows if found else (),
        "workflows_error": error,
    }
    return Page(template="again.html", title="Do it again", context=context)


ROUTES = (route("/bench/{bench_id}/again", again),)
