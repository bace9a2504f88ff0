"""`/bench/{id}/answers`: what two answers to one message made of the files (U3.10)."""

from __future__ import annotations

from backshop.bench import Bench
from backshop.bench.requests import DraftCompareRevisions, DraftGetRevisionDiff

from . import diffs
from .kit import Page, Visit, bench_context, route
from .review import any_view

LISTED = 500


def two_answers(visit: Visit) -> Page:
    """Show the files that differ between two Drafts, and one of them."""
    context = bench_context(visit, "workshop")
    bench_id, a, b = visit.params["bench_id"], visit.query.get("a", ""), visit.query.get("b")
    wish = DraftCompareRevisions(
        workbench_id=bench_id, revision_id=a, other_id=b or None, limit=LISTED
    )
    found = visit.ask(Bench.draft_compare_revisions, wish)
    wanted = visit.query.get("file") or (found.entries[0].path if found.entries else None)
    context |= {"found": found, "wanted": wanted, "a": a, "b": b or "", "view": None}
    if wanted is not None:
        about = DraftGetRevisionDiff(
            workbench_id=bench_id,
            revision_id=a,
            other_id=b or None,
            path=wanted,
            cursor=visit.query.get("cursor") or None,
        )
        view = any_view(visit, visit.ask(Bench.draft_get_revision_diff, about))
        context |= {"view": {**view, "reference": "The other answer"}, "column": diffs.column_name}
    return Page(template="two_answers.html", title="Two answers", context=context)


ROUTES = (route("/bench/{bench_id}/answers", two_answers),)
