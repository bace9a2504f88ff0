"""`/bench/{id}/context`: what every call is told besides the files, and the digest (U5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backshop.bench import Bench, ContextItem, requests
from backshop.bench.requests import ContextFile, ContextSlot, ContextUpdateDirect
from backshop.workshop import Contextual, Digests
from backshop.workshop.requests import ContextInput, ContextProcess, DigestGet

from .kit import Page, Redirect, Visit, bench_context, route, tried

TITLES = {
    "company-context": ("Company", "Who you are: industry, products, audience, terms."),
    "department-context": ("Department", "What your team does: goals, figures, workflows."),
    "situation": ("Situation", "What this is about now: task, deadline, audience, limits."),
    "document-style": ("Document style", "How your documents look and sound."),
}
MAIN_FILES = {"situation": "context.md"}
STARTS = {
    "situation": "- Task:\n- Audience:\n- Deadline:\n",
}


def context(visit: Visit) -> Page:
    """Show the four cards with the exact text that is sent, and the digest."""
    bench_id = visit.params["bench_id"]
    listed = visit.ask(Bench.context_list, requests.BenchRequest(workbench_id=bench_id)).items
    digest, digest_error = tried(visit, Digests.get, DigestGet(workbench_id=bench_id))
    made = {
        **bench_context(visit, "context"),
        "cards": [_card(visit, one) for one in listed],
        "digest": digest,
        "digest_error": digest_error,
        "loopback": visit.site.door.loopback,
    }
    return Page(template="context.html", title="Context", context=made)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A context item as its card shows it; an empty one has a file to begin with."""

    item: ContextItem
    title: str
    hint: str
    files: tuple[ContextFile, ...]
    error: dict[str, Any] | None = None


def _card(visit: Visit, item: ContextItem) -> Card:
    category = item.category
    title, hint = TITLES[category]
    main = MAIN_FILES.get(category, "SKILL.md")
    start = STARTS.get(category) or f"---\nname: {category}\ndescription: \n---\n\n"
    files: tuple[ContextFile, ...] = (ContextFile(path=main, content=start),)
    error = None
    if item.status == "active":
        wish = ContextSlot(workbench_id=visit.params["bench_id"], category=category)
        found, error = tried(visit, Bench.context_get_artifact, wish)
        files = found.files if found and found.files else files
    return Card(item=item, title=title, hint=hint, files=files, error=error)


def write(visit: Visit) -> Redirect:
    """Keep an item as the person wrote it; fields `path[]` and `content[]` side by side."""
    form = visit.form
    pairs = zip(form.getlist("path[]"), form.getlist("content[]"), strict=False)
    files = tuple(
        ContextFile(path=str(path), content=str(text).replace("\r\n", "\n")) for path, text in pairs
    )
    bench_id, category = visit.params["bench_id"], visit.params["category"]
    wish = ContextUpdateDirect(workbench_id=bench_id, category=category, files=files, create=True)
    visit.ask(Bench.context_update_direct, wish)
    return Redirect(f"/bench/{bench_id}/context#{category}")


def process(visit: Visit) -> Redirect:
    """Let a model make an item of a text."""
    form = visit.form
    bench_id, category = visit.params["bench_id"], visit.params["category"]
    wish = ContextProcess(
        workbench_id=bench_id,
        category=category,
        input=ContextInput(mode="text", text=str(form.get("text") or "")),
        overwrite_direct_edits=form.get("overwrite_direct_edits") == "true",
    )
    visit.ask(Contextual.process, wish)
    return Redirect(f"/bench/{bench_id}/context#{category}")


ROUTES = (
    route("/bench/{bench_id}/context", context),
    route("/bench/{bench_id}/context/{category}", write, "POST"),
    route("/bench/{bench_id}/context/{category}/process", process, "POST"),
)
