"""`/`: all workbenches (U5.1), and what every bench page refreshes in place."""

from __future__ import annotations

from .kit import Page, Redirect, Visit, bench_context, route


def benches(visit: Visit) -> Page:
    """Show the benches as cards, the trash below them."""
    found = visit.call("WorkbenchList", limit=200, include_trash=True)["workbenches"]
    context = {
        "benches": [one for one in found if not one.get("deleted_at")],
        "trash": [one for one in found if one.get("deleted_at")],
        "loopback": visit.site.door.loopback,
        "position": visit.site.hub.position,
    }
    return Page(template="benches.html", title="Workbenches", context=context)


def create(visit: Visit) -> Redirect:
    """Make a bench, fill it from a folder of this machine if one was named, and open it."""
    name = str(visit.form.get("name") or "")
    bench_id = visit.call("WorkbenchCreate", name=name)["workbench_id"]
    return Redirect(f"/bench/{bench_id}")


def draft_bar(visit: Visit) -> Page:
    """Return the Draft bar alone."""
    context = bench_context(visit, "")
    return Page(template="draft_bar.html", title="", context=context)


ROUTES = (
    route("/", benches),
    route("/benches", create, "POST"),
    route("/bench/{bench_id}/draft-bar", draft_bar),
)
