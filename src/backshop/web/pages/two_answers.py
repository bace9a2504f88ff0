"""`/bench/{id}/answers`: what two answers to one message made of the files (U3.10)."""

from __future__ import annotations

from backshop.bench import Bench
from backshop.bench.requests import DraftCompareRevisions, DraftGetRevisionDiff
from backshop.workshop import Workshop
from backshop.workshop.answers import Message
from backshop.workshop.requests import GetConversation

from . import diffs
from .kit import Page, Visit, bench_context, route, tried
from .review import any_view

LISTED = 500
LOOKED_THROUGH = 1000  # newest messages, those of replaced answers among them


def two_answers(visit: Visit) -> Page:
    """Show the files that differ between two Drafts, and one of them."""
    context = bench_context(visit, "answers")
    bench_id, a, b = visit.params["bench_id"], visit.query.get("a", ""), visit.query.get("b")
    wish = DraftCompareRevisions(
        workbench_id=bench_id, revision_id=a, other_id=b or None, limit=LISTED
    )
    found = visit.ask(Bench.draft_compare_revisions, wish)
    wanted = visit.query.get("file") or (found.entries[0].path if found.entries else None)
    context |= {"found": found, "wanted": wanted, "a": a, "b": b or "", "view": None}
    context["words"] = _words(visit, a, b)
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


def _words(visit: Visit, a: str, b: str | None) -> tuple[str, str] | None:
    """Return what both answers said; None where the conversation does not have both any more."""
    wish = GetConversation(
        workbench_id=visit.params["bench_id"], limit=LOOKED_THROUGH, include_inactive=True
    )
    talk, _ = tried(visit, Workshop.get_conversation, wish)
    said = {one.message_id: one for one in talk.messages} if talk else {}
    record = next((one.metadata for one in said.values() if _is_about(one, a, b)), {})
    named = (record.get(name) for name in ("replaced_message_id", "new_message_id"))
    before, after = (said.get(str(one)) for one in named)
    return None if before is None or after is None else (before.text, after.text)


def _is_about(message: Message, a: str, b: str | None) -> bool:
    """Return whether a message is the record that one answer came instead of the other."""
    told = message.metadata
    is_pair = (told.get("replaced_revision_id"), told.get("new_revision_id")) == (a, b)
    return message.event_kind == "regenerate" and is_pair


ROUTES = (route("/bench/{bench_id}/answers", two_answers),)
