"""`/bench/{id}`: the Workshop, a conversation beside the files it is about (U3)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from starlette.responses import Response

from backshop.base.codec import encode
from backshop.base.command import NOTHING
from backshop.base.errors import BackshopError
from backshop.base.labels import MODEL_STATES, NOTES, PHASES, PROPOSALS, REDONE
from backshop.base.limits import CHARS_PER_TOKEN
from backshop.base.usage import used_line
from backshop.bench import Bench, DraftState, FileEntry, Picture, requests
from backshop.bench.requests import WorkbenchFilesList
from backshop.models import ModelRequestById, Models, Providers
from backshop.models.requests import ServerFound, Suggestion
from backshop.workshop import Cluttering, Digests, PartShown, Workshop
from backshop.workshop.answers import Message, ToolLogEntry, TurnUsage
from backshop.workshop.requests import (
    GetConversation,
    GetPlan,
    GetToolLog,
    GetToolLogEntry,
    GetUsage,
    PromptShow,
    WorkbenchOnly,
)

from ..answer_link import FileLinks, file_links
from ..answer_place import AnswerPlaces, Parts
from .kit import Page, Redirect, Visit, bench_context, route, tried
from .model_way import SERVERS, ways
from .pictures import sent
from .suggestion import SIZE_MAX, suggested
from .words import FAULTS, TOOLS, counts_line, system_line, tool_line
from .work import done_line, work_so_far

FILES_SHOWN = 1000
WINDOW = 50  # messages of the first paint
OLDER = 25  # and of each step backwards, which has to fit into a frame (U1.5)
LOG_PAGE = 100
_COMMENT = re.compile(r"^<!--.*?-->\s*")  # at the head of plan.md, of the engine's own (W11.6)


def look(visit: Visit) -> Page | Redirect:
    """Look which servers answer on this machine, because somebody pressed the button (M6.11)."""
    found = visit.ask(Providers.find_local, NOTHING).servers
    if not visit.is_part:
        return workshop(visit, servers=found)
    bench = {"workbench_id": visit.params["bench_id"]}
    context = {"bench": bench, "servers": found, "server_names": SERVERS}
    return Page(template="model_servers.html", title="", context=context)


def workshop(visit: Visit, *, servers: Sequence[ServerFound] | None = None) -> Page | Redirect:
    """Show the conversation, the files and what can be done next."""
    context = bench_context(visit, "workshop")
    state = context["workshop"]
    busy = state and (state.active_turn or state.resumable_turn)
    before = visit.query.get("before")
    talk = transcript_context(visit, context["draft"], before=before, limit=WINDOW)
    is_quiet = not busy and not has_late_note(talk["entries"])
    if context["draft"].has_draft and is_quiet and "stay" not in visit.query:
        return Redirect(f"/bench/{visit.params['bench_id']}/review")  # W18.4
    files = files_context(visit)
    model_id = state.model_id if state else None
    context = {
        **context,
        **files,
        **talk,
        **welcome_context(visit, model_id, files["files"]),
        "ways": ways(visit, model_id, context["models"]) if state else None,
        "servers": servers,
        "server_names": SERVERS,
        "phases": PHASES,
        "proposals": PROPOSALS,
        "model_states": MODEL_STATES,
        "tools": TOOLS,
        "redone": REDONE,
    }
    return Page(template="workshop.html", title=context["bench"].name, context=context)


def welcome(visit: Visit) -> Page:
    """Return what stands in an empty conversation alone, with suggestions made from the files."""
    context = _asking_context(visit)
    if context["suggestions"] is None:
        context["suggestions"] = suggested(context["files"], partial(_map, visit))
    return Page(template="welcome.html", title="", context=context)


def tasks(visit: Visit) -> Page:
    """Return what an offline model offers where one types, alone (U3.29)."""
    return Page(template="tasks.html", title="", context=_asking_context(visit))


def _asking_context(visit: Visit) -> dict[str, Any]:
    bench_id = visit.params["bench_id"]
    state = visit.ask(Workshop.get_state, WorkbenchOnly(workbench_id=bench_id))
    wish = WorkbenchFilesList(workbench_id=bench_id, limit=FILES_SHOWN)
    listed = visit.ask(Bench.files_list, wish)
    context = {
        "bench": {"workbench_id": bench_id},
        "files": listed.files,
        "files_total": listed.total,
    }
    return context | welcome_context(visit, state.model_id, listed.files)


def welcome_context(
    visit: Visit, model_id: str | None, files: Sequence[FileEntry]
) -> dict[str, Any]:
    """Return what `welcome.html` shows besides the files; suggestions made of them come later.

    An offline model offers the tasks it was written for and nothing else (M15.9), of these the
    ones whose files are there; `lacks_files` says that there is none such.
    """
    known: list[Suggestion] | None = None
    if model_id:
        able, _ = tried(visit, Models.capabilities, ModelRequestById(model_id=model_id))
        if able and able.scripted:
            known = [one for one in able.suggestions if one.follows is None]
    there = {one.path for one in files if one.draft_status != "DELETED"}
    tasks = [one.prompt for one in known or () if there.issuperset(one.needs)]
    return {
        "suggestions": None if known is None else tasks,
        "is_scripted": known is not None,
        "lacks_files": bool(known) and not tasks,
        "may_set_up": visit.user is None,
        "may_open_folders": visit.user is None and visit.site.door.loopback,
    }


def _map(visit: Visit, path: str) -> dict[str, Any] | None:
    """Return the map of a file; None where it has none."""
    try:
        found = visit.call("WorkbenchFileGetMap", workbench_id=visit.params["bench_id"], path=path)
    except BackshopError:
        return None
    return found if isinstance(found, dict) else None


def follow_ups(visit: Visit, model_id: str | None) -> list[str]:
    """Return what an offline model can be asked to change of the Draft it made (M15.9).

    The Draft is of the task that was asked for last; what is about it was said since then.
    """
    if not model_id or not model_id.startswith("scripted:"):
        return []
    able, _ = tried(visit, Models.capabilities, ModelRequestById(model_id=model_id))
    wish = GetConversation(workbench_id=visit.params["bench_id"], limit=20)
    talk, _ = tried(visit, Workshop.get_conversation, wish)
    if able is None or talk is None:
        return []
    said = [one for one in talk.messages if one.type == "user_message"]
    plain = [at for at, one in enumerate(said) if not one.metadata.get("on_draft")]
    if not plain:
        return []
    task, *since = (one.text.strip() for one in said[plain[-1] :])
    prompts = {one.id: one.prompt for one in able.suggestions}
    found = (one for one in able.suggestions if one.follows and prompts.get(one.follows) == task)
    return [one.prompt for one in found if not any(one.prompt in text for text in since)]


def files(visit: Visit) -> Page:
    """Return the list of files alone."""
    context = {"bench": {"workbench_id": visit.params["bench_id"]}, **files_context(visit)}
    return Page(template="files.html", title="", context=context)


def files_context(visit: Visit) -> dict[str, Any]:
    """Return what `files.html` shows."""
    bench_id = visit.params["bench_id"]
    wish = WorkbenchFilesList(workbench_id=bench_id, limit=FILES_SHOWN)
    listed = visit.ask(Bench.files_list, wish)
    clutter, _ = tried(visit, Cluttering.get_clutter, WorkbenchOnly(workbench_id=bench_id))
    files = {"files": listed.files, "files_total": listed.total, "faults": FAULTS}
    return {**files, "clutter": clutter}


def transcript(visit: Visit) -> Page:
    """Return a window of the conversation alone: the end, or what stands before a message."""
    bench_id, before = visit.params["bench_id"], visit.query.get("before")
    draft = visit.ask(Bench.draft_get_state, requests.BenchRequest(workbench_id=bench_id))
    context = {
        "bench": {"workbench_id": bench_id},
        "draft": draft,
        **transcript_context(visit, draft, before=before, limit=OLDER if before else WINDOW),
    }
    return Page(template="transcript.html", title="", context=context)


def transcript_context(
    visit: Visit, draft: DraftState, *, before: str | None, limit: int
) -> dict[str, Any]:
    """Return what `transcript.html` shows."""
    bench_id = visit.params["bench_id"]
    wish = GetConversation(workbench_id=bench_id, limit=limit, before=before or None)
    page = visit.ask(Workshop.get_conversation, wish)
    models, _ = tried(visit, Models.models, NOTHING)
    names = {one.model_id: one.display_name for one in (models.models if models else ())}
    used = _used(visit, {one.turn_id for one in page.messages if one.turn_id})
    last = next((one.message_id for one in reversed(page.messages) if _is_change(one)), None)
    newest = None if before else last  # of Published, as far as the conversation tells
    gone = draft.discarded_message_id
    return {
        "entries": [_entry(visit, one, names, used, newest, gone) for one in page.messages],
        "model_names": names,
        "is_shared": bool(visit.shop.people.names()),
        "has_talk": any(one.type != "system_event" for one in page.messages),
        "has_more": page.has_more,
        "has_newer": bool(before),
        "counts_line": counts_line,
        "notes": NOTES,
        "links": _links(visit, page.messages),
    }


def _links(visit: Visit, messages: Sequence[Message]) -> FileLinks:
    """Return what answers may link to: the files there are now (U3.24)."""
    base = f"/bench/{visit.params['bench_id']}"
    if not any(one.type == "assistant_message" for one in messages):
        return file_links(base, ())
    wish = WorkbenchFilesList(workbench_id=visit.params["bench_id"], limit=FILES_SHOWN)
    found, _ = tried(visit, Bench.files_list, wish)
    if found is None:
        return file_links(base, ())
    there = [one for one in found.files if one.draft_status != "DELETED"]
    sizes = {one.path: one.size or 0 for one in there}
    places = AnswerPlaces(
        {one.path: str(one.kind) for one in there},
        lambda path: _parts(visit, path) if sizes[path] <= SIZE_MAX else None,
        lambda turn_id: {path for one in _tool_log(visit, turn_id) for path in _used_by(one)},
    )
    is_whole = found.total <= len(found.files)  # else another file may be meant
    return file_links(base, sizes, places if is_whole else None)


def _parts(visit: Visit, path: str) -> Parts | None:
    """Return what of a file can be named; None where it cannot be told."""
    found = _map(visit, path)
    if found is None:
        return None
    sheets = (
        str(one["name"])
        for one in found.get("sheets", ())
        if one.get("kind") == "worksheet" and one.get("state") == "visible"
    )
    count = found.get("slide_count") or found.get("page_count") or 0
    return Parts(sheets=frozenset(sheets), count=int(count))


def _used_by(entry: ToolLogEntry) -> Iterator[str]:
    yield from entry.written
    if entry.path is not None:
        yield entry.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record as the transcript shows it: `version` names it as it is, `line` tells an event."""

    message: Message
    version: str
    line: str | None
    who: str | None
    done: str | None
    """What the turn of an answer that is over came to (U3.20)."""
    used: str | None
    """What models used for it (U3.9)."""
    is_newest: bool
    """Whether it is the card of the last publish, with no restore after it (U4.44)."""
    comes_back: bool
    """Whether it tells of a discarded Draft that can be brought back (U4.45)."""


def _is_change(message: Message) -> bool:
    return message.event_kind in ("checkpoint_published", "checkpoint_restored")


def has_late_note(entries: Sequence[Entry]) -> bool:
    """Whether the last message has a note that came too late and was not sent (U3.21)."""
    said = [at for at, one in enumerate(entries) if one.message.type == "user_message"]
    since = entries[said[-1] :] if said else ()
    return any(one.message.metadata.get("became") == "late" for one in since)


def _entry(
    visit: Visit,
    message: Message,
    models: dict[str, str],
    used: dict[str, TurnUsage],
    newest: str | None,
    gone: str | None,
) -> Entry:
    is_over = message.type == "assistant_message" and message.status != "streaming"
    turn = used.get(message.turn_id or "") if is_over else None
    cost = used_line(turn) if turn is not None and turn.calls else None
    is_newest = message.message_id == newest
    comes_back = gone is not None and message.message_id == gone
    about = [encode(message), cost, is_newest, comes_back]
    text = json.dumps(about, sort_keys=True, ensure_ascii=False)
    return Entry(
        message=message,
        version=hashlib.sha256(text.encode()).hexdigest()[:12],
        line=system_line(message, models) if message.type == "system_event" else None,
        who=visit.who(message.by),
        done=done_line(message) if cost is not None else None,
        used=cost,
        is_newest=is_newest,
        comes_back=comes_back,
    )


def _used(visit: Visit, turn_ids: set[str]) -> dict[str, TurnUsage]:
    """Return what turns used; nothing where that cannot be told."""
    bench_id, wanted = visit.params["bench_id"], tuple(sorted(turn_ids))
    wish = GetUsage(workbench_id=bench_id, turn_ids=wanted, limit=len(wanted))
    found, _ = tried(visit, Workshop.get_usage, wish)
    return {one.turn_id: one for one in (found.turns if found else ())}


def details(visit: Visit) -> Page:
    """Return research, plan, tool log and tokens of a turn, for the drawer (U3.2)."""
    bench_id, turn_id = visit.params["bench_id"], visit.params["turn_id"]
    wish = GetPlan(workbench_id=bench_id, turn_id=turn_id)
    plan, error = tried(visit, Workshop.get_plan, wish)
    state, _ = tried(visit, Workshop.get_state, WorkbenchOnly(workbench_id=bench_id))
    entries = _tool_log(visit, turn_id)
    run_id = next((one.run_id for one in entries if one.run_id), None)
    context = {
        "bench": {"workbench_id": bench_id},
        "turn_id": turn_id,
        "plan": plan,
        "plan_text": _COMMENT.sub("", plan.plan_md) if plan else "",
        "plan_error": error,
        "entries": [(one, tool_line(one.tool, one.path)) for one in entries],
        "used": _used(visit, {turn_id}).get(turn_id),
        "run_id": run_id,
        "is_over": not (state and state.active_turn and state.active_turn.turn_id == turn_id),
    }
    return Page(template="turn.html", title="Details", context=context)


def _tool_log(visit: Visit, turn_id: str) -> list[ToolLogEntry]:
    found: list[ToolLogEntry] = []
    bench_id, after = visit.params["bench_id"], 0
    while True:
        wish = GetToolLog(workbench_id=bench_id, after=after, limit=LOG_PAGE, turn_id=turn_id)
        page = visit.ask(Workshop.get_tool_log, wish)
        found += page.entries
        if not page.has_more or not page.entries:
            return found
        after = page.entries[-1].id


def work(visit: Visit) -> Page:
    """Return what the turn that runs has done so far, for its card in the talk (U3.2)."""
    bench_id = visit.params["bench_id"]
    state = visit.ask(Workshop.get_state, WorkbenchOnly(workbench_id=bench_id))
    turn = state.active_turn
    if turn is None:
        return Page(template="work.html", title="", context={"work": None})
    wish = GetPlan(workbench_id=bench_id, turn_id=turn.turn_id)
    plan, _ = tried(visit, Workshop.get_plan, wish)
    used = _used(visit, {turn.turn_id}).get(turn.turn_id)
    context = {
        "bench": {"workbench_id": bench_id},
        "work": work_so_far(turn, plan, _tool_log(visit, turn.turn_id), used),
    }
    return Page(template="work.html", title="", context=context)


def entry(visit: Visit) -> Page:
    """Return the arguments and the result of one tool call."""
    bench_id, entry_id = visit.params["bench_id"], _whole(visit.params["entry_id"])
    wish = GetToolLogEntry(workbench_id=bench_id, entry_id=entry_id, max_bytes=16_384)
    found = visit.ask(Workshop.get_tool_log_entry, wish)
    return Page(
        template="entry.html", title="Tool call", context={"entry": found, "bench_id": bench_id}
    )


def entry_picture(visit: Visit) -> Response:
    """Send the picture a tool call showed the model, to who may read its entry."""
    bench_id, entry_id = visit.params["bench_id"], _whole(visit.params["entry_id"])
    found = visit.ask(
        Workshop.get_tool_log_entry,
        GetToolLogEntry(workbench_id=bench_id, entry_id=entry_id, max_bytes=1),
    )
    data = visit.shop.workshops.tool_picture(bench_id, entry_id)
    named = (found.image_ref or "").removeprefix("sha256:")
    return sent(visit, Picture(data, "image/png", named))


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 12 else 0


def prompt(visit: Visit) -> Page:
    """Show the exact request of a model call, section by section (U5.5)."""
    turn_id, phase = visit.params["turn_id"], visit.query.get("phase")
    wish = PromptShow(
        workbench_id=visit.params["bench_id"],
        turn_id=turn_id,
        phase=phase or None,
        number=_whole(visit.query["call"]) if visit.query.get("call") else None,
    )
    shown, error = tried(visit, Digests.prompt_show, wish)
    context = {
        **bench_context(visit, "prompt"),
        "turn_id": turn_id,
        "phase": phase,
        "shown": shown,
        "sections": sections(shown.text, shown.parts) if shown else [],
        "error": error,
    }
    return Page(template="prompt.html", title="Prompt", context=context)


def sections(text: str, parts: Sequence[PartShown]) -> list[dict[str, Any]]:
    """Cut a prompt at the headings of its sections; the pieces joined are the whole text."""
    cuts: list[tuple[int, dict[str, Any]]] = []
    at = 0
    for part in parts:
        heading = re.compile(rf"^#{{1,6}} {re.escape(part.number)}\.? (.*)$", re.MULTILINE)
        found = heading.search(text, at)
        if found:
            at = found.end()
            cuts.append((found.start(), {**asdict(part), "title": f"{part.number}. {found[1]}"}))
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
    route("/bench/{bench_id}/welcome", welcome),
    route("/bench/{bench_id}/tasks", tasks),
    route("/bench/{bench_id}/look", look, "POST"),
    route("/bench/{bench_id}/transcript", transcript),
    route("/bench/{bench_id}/turn/{turn_id}", details),
    route("/bench/{bench_id}/work", work),
    route("/bench/{bench_id}/tool/{entry_id}", entry),
    route("/bench/{bench_id}/tool/{entry_id}/picture", entry_picture),
    route("/bench/{bench_id}/prompt/{turn_id}", prompt),
)
