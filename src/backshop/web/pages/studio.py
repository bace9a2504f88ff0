"""`/studio`: sessions of agents, their runs as graphs, and what people do beside them (U6)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from backshop.base.codec import decode, encode
from backshop.base.errors import NotFound, ValidationFailed
from backshop.rails import (
    PRESETS,
    RailsError,
    SessionExport,
    SessionGet,
    SessionsList,
    Studio,
    answers,
    run_view,
    session_view,
    shown_artifact,
)
from backshop.rails import requests as rails_requests
from backshop.rails import studio_requests as requests

from ..drawing import drawn, timeline
from .kit import Page, Redirect, Visit, route, tried

PAGE_SIZE = 100
GRAPH_NODES = 200  # of a long run drawn at once
STATUSES = ("in_progress", "blocked", "dormant", "complete", "complete_with_gaps", "unknown")
HEALTHS = ("healthy", "corrupt_tail", "corrupt_head", "unknown_version")
FILTERS = {"q": "query", "workflow": "workflowId", "branch": "branch", "workspace": "workspace"}
WORDS = {
    "in_progress": "in progress",
    "complete_with_gaps": "complete with gaps",
    "corrupt_tail": "damaged end",
    "corrupt_head": "damaged",
    "unknown_version": "from a newer program",
}
TONES = {
    "complete": "ok",
    "blocked": "danger",
    "complete_with_gaps": "draft",
    "in_progress": "changed",
}
_EXPORTS = {
    "bundle": ("application/json", "json"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "jsonl": ("application/x-ndjson", "jsonl"),
}


# ------------------------------------------------------------ sessions


def sessions(visit: Visit) -> Page:
    """List the sessions, grouped by workspace."""
    return Page(template="studio.html", title="Studio", context=_listed(visit))


def session_list(visit: Visit) -> Page:
    """Return the list alone, for a page that follows events."""
    return Page(template="studio_list.html", title="", context=_listed(visit))


def _listed(visit: Visit) -> dict[str, Any]:
    query = visit.query
    asked: dict[str, object] = {
        field: query[name] for name, field in FILTERS.items() if query.get(name, "").strip()
    }
    if query.get("status") in STATUSES:
        asked["status"] = query["status"]
    if query.get("health") in HEALTHS:
        asked["health"] = query["health"]
    if query.get("cursor", "").isdecimal():
        asked["cursor"] = query["cursor"]
    request = decode(SessionsList, {"limit": PAGE_SIZE, **asked})
    answer = visit.ask(Studio.sessions_list, request)
    groups: dict[str, list[session_view.SessionRow]] = {}
    for row in answer.sessions:
        groups.setdefault(row.workspace_name or "", []).append(row)
    kept = {name: value for name, value in query.items() if name != "cursor" and value}
    following = answer.next_cursor
    return {
        **common(visit),
        "groups": sorted(groups.items(), key=lambda one: (one[0] == "", one[0])),
        "is_filtered": bool(set(asked) - {"cursor"}),
        "filters": {name: query.get(name, "") for name in (*FILTERS, "status", "health")},
        "statuses": STATUSES,
        "healths": HEALTHS,
        "next_page": f"/studio?{urlencode({**kept, 'cursor': following})}" if following else None,
        "list_query": urlencode(dict(query)),
    }


def common(visit: Visit) -> dict[str, Any]:
    """Return what every page of Studio has at hand."""
    return {
        "words": WORDS,
        "tones": TONES,
        "modes": {one.values.autonomy: one.label for one in PRESETS.values()},
    }


def session(visit: Visit) -> Page:
    """Show one session: its runs, its notes, its timeline, and what can be done with it."""
    wants_timeline = visit.query.get("view") == "timeline"
    found = _session(visit, visit.params["session_id"], with_timeline=wants_timeline)
    context = {
        **common(visit),
        "session": found,
        "run_id": None,
        "timeline": timeline(found) if wants_timeline else None,
        "notes": [_output(one) for one in found.notes],
    }
    title = found.title or "Session"
    return Page(template="studio_session.html", title=title, context=context)


def _session(
    visit: Visit, session_id: str, *, with_timeline: bool = False
) -> session_view.SessionPage:
    with _named("session"):
        request = SessionGet(session_id=session_id, timeline=with_timeline)
        return visit.ask(Studio.session_get, request)


@contextmanager
def _named(what: str) -> Iterator[None]:
    """An address that names nothing is a page that is not there."""
    try:
        yield
    except RailsError as error:
        if error.rails_code not in ("VALIDATION_ERROR", "TOKEN_UNKNOWN_NODE"):
            raise
        raise NotFound(f"there is no such {what}", reason="not_found") from error


def export(visit: Visit) -> Response:
    """Send a session as a file."""
    session_id, kind = visit.params["session_id"], visit.params["format"]
    if kind not in _EXPORTS:
        raise NotFound("there is no such format", reason="not_found")
    asked = {"sessionId": session_id, "format": kind, "salvage": visit.query.get("salvage") == "1"}
    with _named("session"):
        text = visit.ask(Studio.session_export, decode(SessionExport, asked)).text
    media, ending = _EXPORTS[kind]
    headers = {
        "content-disposition": f'attachment; filename="{session_id}.{ending}"',
        "cache-control": "no-store",
    }
    return Response(text, media_type=media, headers=headers)


def reading(visit: Visit) -> Page:
    """Show a session as one text to read or print (R9.7)."""
    session_id = visit.params["session_id"]
    run_id = visit.query.get("run") or None
    asked = SessionExport(session_id=session_id, format="markdown", times=True, run_id=run_id)
    with _named("session"):
        found = visit.ask(Studio.session_export, asked)
    context = {**common(visit), "text": found.text, "session_id": session_id}
    return Page(template="studio_reading.html", title="Session", context=context)


# ------------------------------------------------------------ runs


def run(visit: Visit) -> Page:
    """Show a run as a graph with the chosen node beside it."""
    found = _run(visit)
    wanted = visit.query.get("node") or found.preferred_tip
    node, error = (
        tried(visit, Studio.node_get, requests.NodeGet(node_id=wanted)) if wanted else (None, None)
    )
    if node is not None and node.run_id != found.run_id:
        node = None
    shown = {**_node(node), "node_error": error, "with_node": True}
    context = {**_drawn(visit, found), **shown}
    return Page(template="studio_run.html", title=found.title or "Run", context=context)


def run_graph(visit: Visit) -> Page:
    """Return what changes while an agent works: the graph, the runs, the status."""
    return Page(template="studio_live.html", title="", context=_drawn(visit, _run(visit)))


def _run(visit: Visit) -> run_view.RunGraph:
    request = requests.RunGet(
        run_id=visit.params["run_id"], around=_around(visit), limit=GRAPH_NODES
    )
    with _named("run"):
        return visit.ask(Studio.run_get, request)


def _around(visit: Visit) -> str | None:
    return visit.query.get("around") or visit.query.get("node") or None


def _drawn(visit: Visit, found: run_view.RunGraph) -> dict[str, Any]:
    with_ghosts = visit.query.get("ghosts") == "1"
    return {
        **common(visit),
        "run": found,
        "run_id": found.run_id,
        "session": visit.ask(Studio.session_get, SessionGet(session_id=found.session_id)),
        "graph": drawn(found, with_ghosts=with_ghosts),
        "with_ghosts": with_ghosts,
        "around": _around(visit) or "",
        "ways": _ways(found, with_ghosts),
        "presets": PRESETS.values(),
    }


def _ways(run: run_view.RunGraph, with_ghosts: bool) -> list[dict[str, object]]:
    """Return the ways to the nodes that a long run shows on another page."""
    window, more = run.window, {"ghosts": "1"} if with_ghosts else {}
    ends = window.first + window.count
    ways = (
        ("Earlier", window.earlier, window.first),
        ("Later", window.later, window.total - ends),
    )
    return [
        {"label": label, "count": count, "query": urlencode({"around": to, **more})}
        for label, to, count in ways
        if to
    ]


def node_page(visit: Visit) -> Page:
    """Return what is known of one node, to stand beside the graph."""
    context = {**common(visit), **_node(_named_node(visit)), "presets": PRESETS.values()}
    return Page(template="studio_node.html", title="", context=context)


def _named_node(visit: Visit) -> run_view.NodePage:
    with _named("node"):
        return visit.ask(Studio.node_get, requests.NodeGet(node_id=visit.params["node_id"]))


def fork(visit: Visit) -> Page:
    """Show what to paste into an agent so that it goes on from a node in a branch of its own."""
    node = _named_node(visit)
    forked = visit.ask(Studio.run_fork, requests.NodeGet(node_id=node.node_id))
    answer = decode(answers.Execution, forked)
    context = {
        **common(visit),
        "node": node,
        "step": answer.pending.title if answer.pending else None,
        "is_complete": answer.is_complete,
        "call": json.dumps(forked["nextCall"] or {}, ensure_ascii=False, indent=2),
        "look": json.dumps({"stateToken": answer.state_token}),
        "resume_ref": answer.session.resume_ref,
    }
    return Page(template="studio_fork.html", title="Fork", context=context)


def _node(found: run_view.NodePage | None) -> dict[str, object]:
    """Return a node, and what its page shows of it in a form of its own."""
    if found is None:
        return {"node": None}
    facts: dict[str, list[run_view.FactRow]] = {}
    for one in found.facts:
        facts.setdefault(one.kind, []).append(one)
    call = encode(found.resume.call) if found.resume else None
    return {
        "node": found,
        "outputs": [_output(one) for one in found.outputs],
        "by_kind": facts,
        "resume_call": json.dumps(call, ensure_ascii=False) if call else None,
    }


def _output(row: session_view.OutputRow) -> dict[str, object]:
    """Return an output with its content in the form its contract asks for."""
    if row.channel == "recap" or row.content is None:
        return {"row": row}
    value = shown_artifact(row.kind or "", row.content.encode())
    return {"row": row, "shown": value, "form": type(value).__name__.lower()}


# ------------------------------------------------------------ what people do


def record_input(visit: Visit) -> Redirect:
    """Record what the person decided or gave; a value also goes to the run's inputs."""
    node_id = visit.params["node_id"]
    node = visit.ask(Studio.node_get, requests.NodeGet(node_id=node_id))
    input_id, decision = str(visit.form.get("inputId")), str(visit.form.get("decision"))
    said = str(visit.form.get("summary") or "").strip()
    asked = {one.id: one for one in node.inputs}.get(input_id)
    if asked is None:
        raise ValidationFailed("the step asks for no such input", reason="bad_params")
    if decision == "provided" and not said:
        raise ValidationFailed("say what you provide", reason="bad_params")
    request = {"nodeId": node_id, "inputId": input_id, "decision": decision}
    request |= {"summary": said} if said else {}
    visit.ask(Studio.user_input_record, decode(requests.UserInputRecord, request))
    if decision == "provided" and asked.context_key and node.is_preferred:
        changed = requests.RunSetContext(run_id=node.run_id, set={asked.context_key: said})
        visit.ask(Studio.run_set_context, changed)
    return Redirect(f"/studio/run/{node.run_id}?node={node_id}")


def set_preferences(visit: Visit) -> Redirect:
    """Change the mode of a run from its newest step on, or allow what its agent asked for."""
    run_id = visit.params["run_id"]
    if allowed := visit.form.get("allow"):
        node = visit.ask(Studio.node_get, requests.NodeGet(node_id=str(allowed)))
        if not node.preferences.wished:
            raise ValidationFailed("the agent asks for nothing there", reason="bad_params")
        wanted = decode(rails_requests.Preferences, node.preferences.wished)
    else:
        preset = PRESETS.get(str(visit.form.get("preset")))
        if preset is None:
            raise ValidationFailed("there is no such mode", reason="bad_params")
        mode = preset.values
        wanted = rails_requests.Preferences(autonomy=mode.autonomy, risk_policy=mode.risk_policy)
    visit.ask(
        Studio.run_set_preferences, requests.RunSetPreferences(run_id=run_id, preferences=wanted)
    )
    return Redirect(f"/studio/run/{run_id}")


ROUTES = (
    route("/studio", sessions),
    route("/studio/list", session_list),
    route("/studio/session/{session_id}", session),
    route("/studio/session/{session_id}/read", reading),
    route("/studio/session/{session_id}/export/{format}", export),
    route("/studio/run/{run_id}", run),
    route("/studio/run/{run_id}/graph", run_graph),
    route("/studio/run/{run_id}/preferences", set_preferences, "POST"),
    route("/studio/node/{node_id}", node_page),
    route("/studio/node/{node_id}/fork", fork),
    route("/studio/node/{node_id}/input", record_input, "POST"),
)
