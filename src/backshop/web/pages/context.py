"""`/bench/{id}/context`: what every call is told besides the files, and the digest (U5.3)."""

from __future__ import annotations

import json
import re
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
_PLAIN = re.compile(
    r"\A---\nname: [^\n]*\ndescription: (?P<about>[^\n]*)\n---\n+(?P<text>.*)\Z", re.DOTALL
)
_BARE = re.compile(r"[^\W_][\w ,.()-]*")  # a line of YAML that means what it says
MAIN_FILES = {"situation": "context.md"}
STARTS = {
    "situation": "- Task:\n- Audience:\n- Deadline:\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What somebody wrote of an item and why it was not kept."""

    category: str
    files: tuple[ContextFile, ...]
    error: dict[str, Any]


def context(visit: Visit, *, refused: Refused | None = None) -> Page:
    """Show the four cards with the exact text that is sent, and the digest."""
    bench_id = visit.params["bench_id"]
    listed = visit.ask(Bench.context_list, requests.BenchRequest(workbench_id=bench_id)).items
    digest, digest_error = tried(visit, Digests.get, DigestGet(workbench_id=bench_id))
    made = {
        **bench_context(visit, "context"),
        "cards": [_card(visit, one, refused) for one in listed],
        "digest": digest,
        "digest_error": digest_error,
        "loopback": visit.site.door.loopback,
    }
    return Page(template="context.html", title="Context", context=made)


@dataclass(frozen=True, slots=True)
class Plain:
    """An item as people write one: a line of what it is, and the text."""

    about: str
    text: str


def _plain(files: tuple[ContextFile, ...]) -> Plain | None:
    """Read an item that has the form `write` gives it; any other is edited as its files are."""
    found = _PLAIN.match(files[0].content) if len(files) == 1 else None
    if found is None:
        return None
    about = found["about"].strip()
    try:
        return Plain(str(json.loads(about)) if about else "", found["text"].strip("\n"))
    except ValueError:
        return Plain(about, found["text"].strip("\n")) if _BARE.fullmatch(about) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A context item as its card shows it; an empty one has a file to begin with."""

    item: ContextItem
    title: str
    hint: str
    files: tuple[ContextFile, ...]
    plain: Plain | None
    """What people write of it, where it is no more than that."""
    error: dict[str, Any] | None
    typed: tuple[ContextFile, ...]
    """What stands in the form: the files, or what was not kept for the reason of `refusal`."""
    refusal: dict[str, Any] | None


def _card(visit: Visit, item: ContextItem, refused: Refused | None) -> Card:
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
    mine = refused if refused and refused.category == category else None
    typed = mine.files if mine else files
    return Card(
        item=item,
        title=title,
        hint=hint,
        files=files,
        plain=_plain(typed),
        error=error,
        typed=typed,
        refusal=mine.error if mine else None,
    )


def write(visit: Visit) -> Page | Redirect:
    """Keep an item as the person wrote it: a line and a text, or files side by side.

    What is refused stays in the form, with the reason.
    """
    bench_id, category = visit.params["bench_id"], visit.params["category"]
    files = _written(visit, category)
    wish = ContextUpdateDirect(workbench_id=bench_id, category=category, files=files, create=True)
    _, error = tried(visit, Bench.context_update_direct, wish)
    if error:
        return context(visit, refused=Refused(category=category, files=files, error=error))
    return Redirect(f"/bench/{bench_id}/context#{category}")


def _written(visit: Visit, category: str) -> tuple[ContextFile, ...]:
    """Return the files a form stands for: `about` and `text`, or `path[]` and `content[]`."""
    form = visit.form
    if "about" in form:
        about = json.dumps(" ".join(str(form["about"]).split()), ensure_ascii=False)  # YAML too
        text = str(form.get("text") or "").replace("\r\n", "\n").strip("\n")
        whole = f"---\nname: {category}\ndescription: {about}\n---\n\n{text}\n"
        return (ContextFile(path=MAIN_FILES.get(category, "SKILL.md"), content=whole),)
    pairs = zip(form.getlist("path[]"), form.getlist("content[]"), strict=False)
    return tuple(
        ContextFile(path=str(path), content=str(text).replace("\r\n", "\n")) for path, text in pairs
    )


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
    route("/bench/{bench_id}/context/{category}", context),  # where a refusal was shown
    route("/bench/{bench_id}/context/{category}", write, "POST"),
    route("/bench/{bench_id}/context/{category}/process", process, "POST"),
)
