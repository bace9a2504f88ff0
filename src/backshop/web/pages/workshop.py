"""`/bench/{id}`: the Workshop, a conversation beside the files it is about (U3)."""

from __future__ import annotations

from typing import Any

from .kit import Page, Visit, bench_context, route

FILES_SHOWN = 1000


def workshop(visit: Visit) -> Page:
    """Show the conversation, the files and what can be done next."""
    context = {**bench_context(visit, "workshop"), **files_context(visit)}
    return Page(template="workshop.html", title=context["bench"]["name"], context=context)


def files(visit: Visit) -> Page:
    """Return the list of files alone."""
    context = {**bench_context(visit, "workshop"), **files_context(visit)}
    return Page(template="files.html", title="", context=context)


def files_context(visit: Visit) -> dict[str, Any]:
    """Return what `files.html` shows."""
    listed = visit.bench("WorkbenchFilesList", limit=FILES_SHOWN)
    return {"files": listed["files"], "files_total": listed["total"]}


ROUTES = (
    route("/bench/{bench_id}", workshop),
    route("/bench/{bench_id}/file-list", files),
)
