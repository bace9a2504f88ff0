"""`/bench/{id}`: the Workshop, a conversation beside the files it is about (U3)."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from backshop.base.labels import PHASES, PROPOSALS
from backshop.base.limits import CHARS_PER_TOKEN

from .kit import Page, Redirect, Visit, attempt, bench_context, route
from .words import FAULTS, REDONE, TOOLS, counts_line, system_line, tool_line

FILES_SHOWN = 1000
WINDOW = 100  # messages of the first paint
OLDER = 25  # and of each step backwards, which has to fit into a frame (U1.5)
LOG_PAGE = 100
SUGGESTIONS = {
    "xlsx": "Which sheets and formulas does {} have? Summarize it in a few lines.",
    "csv": "What is in {}? Give me the totals that matter.",
    "docx": "Summarize {} in five sentences.",
    "pptx": "List the slides of {} and what each one says.",
    "text": "Read {} and correct its spelling.",
}


def workshop(visit: Visit) -> Page | Redirect:
    """Show the conversation, the files and what can be done next."""
    context = bench_context(visit, "workshop")
    state = context["workshop"] or {}
    busy = state.get("active_turn") or state.get("resumable_turn")
    if context["draft"]["has_draft"] and not busy and "stay" not in visit.query:
        return Redirect(f"/bench/{visit.params['bench_id']}/review")  # W18.4
    files = files_context(visit)
    talk = transcript_context(visit)
    if not talk["has_talk"]:
        talk["suggestions"] = suggestions(visit, state.get("model_id"), files["files"])
    context = {
        **context,
        "suggestions": [],
        **files,
        **talk,
        "phases": PHASES,
        "proposals": PROPOSALS,
        "tools": TOOLS,
        "redone": REDONE,
    }
    return Page(template="workshop.html", title=context["bench"]["name"], context=context)


def suggestions(visit: Visit, model_id: str | None, files: list[dict[str, Any]]) -> list[str]:
    """Return a few things to ask, for an empty conversation (U3.3).

    An offline model offers the tasks it was written for and nothing else (M15.9).
    """
    if model_id:
        able, _ = attempt(visit, "ModelsGetCapabilities", model_id=model_id)
        if able and able.get("scripted"):
            return [one["prompt"] for one in able.get("suggestions", ())]
    found = []
    for kind, text in SUGGESTIONS.items():
        path = next((one["path"] for one in files if one["kind"] == kind), None)
        if path is not None:
            found.append(text.format(path))
    return found[:3]


def files(visit: Visit) -> Page:
    """Return the list of files alone."""
    context = {"bench": {"workbench_id": visit.params["bench_id"]}, **files_context(visit)}
    return Page(template="files.html", title="", context=context)


def files_context(visit: Visit) -> dict[str, Any]:
    """Return what `files.html` shows."""
    listed = visit.bench("WorkbenchFilesList", limit=FILES_SHOWN)
    clutter, _ = attempt(visit, "WorkbenchGetClutter", workbench_id=visit.params["bench_id"])
    files = {"files": listed["files"], "files_total": listed["total"], "faults": FAULTS}
    return {**files, "clutter": clutter}


def transcript(visit: Visit) -> Page:
    """Return a window of the conversation alone: the end, or what stands before a message."""
    context = {
        "bench": {"workbench_id": visit.params["bench_id"]},
        "draft": visit.bench("DraftGetState"),
        **transcript_context(visit, before=visit.query.get("before")),
    }
    return Page(template="transcript.html", title="", context=context)


def transcript_context(visit: Visit, before: str | None = None) -> dict[str, Any]:
    """Return what `transcript.html` shows."""
    request = {"limit": OLDER, "before": before} if before else {"limit": WINDOW}
    page = visit.bench("WorkshopGetConversation", **request)
    models, _ = attempt(visit, "ModelsListSupported")
    names = {one["model_id"]: one["display_name"] for one in (models or {}).get("models", ())}
    messages = [_shown(visit, one, names) for one in page["messages"]]
    return {
        "messages": messages,
        "model_names": names,
        "is_shared": bool(visit.shop.people.names()),
        "has_talk": any(one["type"] != "system_event" for one in messages),
        "has_more": page["has_more"],
        "counts_line": counts_line,
    }


def _shown(visit: Visit, message: dict[str, Any], models: dict[str, str]) -> dict[str, Any]:
    """Add what the template needs: a line for system events, and a name for this version of it."""
    text = json.dumps(message, sort_keys=True, ensure_ascii=False)
    version = hashlib.sha256(text.encode()).hexdigest()[:12]
    line = system_line(message, models) if message["type"] == "system_event" else None
    return {**message, "version": version, "line": line, "who": visit.who(message.get("by"))}


def details(visit: Visit) -> Page:
    """Return research, plan, tool log and tokens of a turn, for the drawer (U3.2)."""
    bench_id, turn_id = visit.params["bench_id"], visit.params["turn_id"]
    plan, error = attempt(visit, "WorkshopGetPlan", workbench_id=bench_id, turn_id=turn_id)
    entries = [one for one in _tool_log(visit) if one["turn_id"] == turn_id]
    usage = None
    run_id = next((one["run_id"] for one in entries if one.get("run_id")), None)
    if run_id:
        usage, _ = attempt(visit, "UsageGet", workbench_id=bench_id, run_id=run_id)
    context = {
        "bench": {"workbench_id": bench_id},
        "turn_id": turn_id,
        "plan": plan,
        "plan_error": error,
        "entries": [{**one, "line": tool_line(one["tool"], one.get("path"))} for one in entries],
        "usage": usage,
        "run_id": run_id,
    }
    return Page(template="turn.html", title="Details", context=context)


def _tool_log(visit: Visit) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after = 0
    while True:
        page = visit.bench("WorkshopGetToolLog", after=after, limit=LOG_PAGE)
        found += page["entries"]
        if not page["has_more"] or not page["entries"]:
            return found
        after = page["entries"][-1]["id"]


def entry(visit: Visit) -> Page:
    """Return the arguments and the result of one tool call."""
    found = visit.bench(
        "WorkshopGetToolLogEntry", entry_id=_whole(visit.params["entry_id"]), max_bytes=16_384
    )
    return Page(template="entry.html", title="Tool call", context={"entry": found})


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 12 else 0


def prompt(visit: Visit) -> Page:
    """Show the exact request of a model call, section by section (U5.5)."""
    turn_id, phase = visit.params["turn_id"], visit.query.get("phase")
    request: dict[str, Any] = {"turn_id": turn_id, **({"phase": phase} if phase else {})}
    if visit.query.get("call"):
        request["number"] = _whole(visit.query["call"])
    bench_id = visit.params["bench_id"]
    shown, error = attempt(visit, "PromptShow", workbench_id=bench_id, **request)
    context = {
        **bench_context(visit, "prompt"),
        "turn_id": turn_id,
        "phase": phase,
        "shown": shown,
        "sections": sections(shown["text"], shown["parts"]) if shown else [],
        "error": error,
    }
    return Page(template="prompt.html", title="Prompt", context=context)


def sections(text: str, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cut a prompt at the headings of its sections; the pieces joined are the whole text."""
    cuts: list[tuple[int, dict[str, Any]]] = []
    at = 0
    for part in parts:
        heading = re.compile(rf"^#{{1,6}} {re.escape(part['number'])}\.? (.*)$", re.MULTILINE)
        found = heading.search(text, at)
        if found:
            at = found.end()
            cuts.append((found.start(), {**part, "title": f"{part['number']}. {found[1]}"}))
    starts = [start for start, _ in cuts]
    ends = [*starts[1:], len(text)]
    made = [
        {**part, "text": text[start:end]} for (start, part), end in zip(cuts, ends, strict=True)
    ]
    before = text[: starts[0]] if starts else text
    first = {"title": "Beginning", "tokens": len(before) // CHARS_PER_TOKEN, "text": before}
    return [first, *made] if before else made


ROUTES = (
    route("/bench/{bench_id}", workshop),
    route("/bench/{bench_id}/file-list", files),
    route("/bench/{bench_id}/transcript", transcript),
    route("/bench/{bench_id}/turn/{turn_id}", details),
    route("/bench/{bench_id}/tool/{entry_id}", entry),
    route("/bench/{bench_id}/prompt/{turn_id}", prompt),
)
