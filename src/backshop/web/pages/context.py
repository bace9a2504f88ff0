"""`/bench/{id}/context`: what every call is told besides the files, and the digest (U5.3)."""

from __future__ import annotations

from typing import Any

from .kit import Page, Redirect, Visit, attempt, bench_context, route

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
    listed = visit.bench("ContextList")["items"]
    digest, digest_error = attempt(visit, "DigestGet", workbench_id=bench_id)
    made = {
        **bench_context(visit, "context"),
        "items": [_card(visit, one) for one in listed],
        "digest": digest,
        "digest_error": digest_error,
        "loopback": visit.site.door.loopback,
    }
    return Page(template="context.html", title="Context", context=made)


def _card(visit: Visit, item: dict[str, Any]) -> dict[str, Any]:
    category = item["category"]
    title, hint = TITLES[category]
    files: list[dict[str, Any]] = []
    error = None
    if item["status"] == "active":
        found, error = attempt(
            visit,
            "ContextGetArtifact",
            workbench_id=visit.params["bench_id"],
            category=category,
        )
        files = found["files"] if found else []
    main = MAIN_FILES.get(category, "SKILL.md")
    start = STARTS.get(category) or f"---\nname: {category}\ndescription: \n---\n\n"
    return {
        **item,
        "title": title,
        "hint": hint,
        "files": files or [{"path": main, "content": start}],
        "error": error,
    }


def write(visit: Visit) -> Redirect:
    """Keep an item as the person wrote it; fields `path[]` and `content[]` side by side."""
    form = visit.form
    pairs = zip(form.getlist("path[]"), form.getlist("content[]"), strict=False)
    files = [
        {"path": str(path), "content": str(text).replace("\r\n", "\n")} for path, text in pairs
    ]
    category = visit.params["category"]
    visit.bench("ContextUpdateDirect", category=category, files=files, create=True)
    return Redirect(f"/bench/{visit.params['bench_id']}/context#{category}")


def process(visit: Visit) -> Redirect:
    """Let a model make an item of a text."""
    form = visit.form
    given = {"mode": "text", "text": str(form.get("text") or "")}
    visit.bench(
        "ContextProcess",
        category=visit.params["category"],
        input=given,
        overwrite_direct_edits=form.get("overwrite_direct_edits") == "true",
    )
    return Redirect(f"/bench/{visit.params['bench_id']}/context#{visit.params['category']}")


ROUTES = (
    route("/bench/{bench_id}/context", context),
    route("/bench/{bench_id}/context/{category}", write, "POST"),
    route("/bench/{bench_id}/context/{category}/process", process, "POST"),
)
