"""`/studio`: what waits for a person, runs as graphs and over time, what people do (U6)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from backshop.app import Server, servers
from backshop.base.codec import decode, encode
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.labels import RUN_STATES
from backshop.base.limits import AGENT_AT_WORK_MINUTES
from backshop.rails import (
    PRESETS,
    RailsError,
    SessionExport,
    SessionGet,
    SessionImport,
    SessionsList,
    Studio,
    run_view,
    session_view,
    shown_artifact,
)
from backshop.rails import requests as rails_requests
from backshop.rails import studio_requests as requests
from backshop.workshop import Workshop
from backshop.workshop import requests as workshop_requests
from backshop.workshop.answers import RunUsage

from ..drawing import BADGES, Call, drawn, model_took, work_before
from ..timeline import ZOOMS, timeline
from .kit import Page, Redirect, Visit, number, route, safe_path, told, tried

PAGE_SIZE = 100
WAITS_SHOWN, WAITS_MOST = 20, 500  # of what waits at once; one takes about 2 KB
GRAPH_NODES = 200  # of a long run drawn at once
HEALTHS = ("healthy", "corrupt_tail", "corrupt_head", "unknown_version")
FILTERS = {"q": "query", "workflow": "workflowId", "branch": "branch", "workspace": "workspace"}
RUN_FILTERS = {"q": "query", "workflow": "workflowId", "workspace": "workspace", "agent": "agent"}
PERIODS = {"1": "the last hour", "24": "the last day", "168": "the last 7 days", "720": "30 days"}
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
WAITS = {  # what waits, as people read it
    "approval": "Approval",
    "question": "Question",
    "confirmation": "Go-ahead",
    "blocked": "Blocked",
    "wish": "More automation",
}
_EXPORTS = {
    "bundle": ("application/json", "json"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "jsonl": ("application/x-ndjson", "jsonl"),
}


# ------------------------------------------------------------ the front page


def front(visit: Visit) -> Page:
    """Show what waits for the person, who is at work, and the runs there are."""
    context = {**_front(visit), "notices": told(visit)}
    return Page(template="studio.html", title="Studio", context=context)


def front_parts(visit: Visit) -> Page:
    """Return what changes on it while agents work, for a page that follows events."""
    return Page(template="studio_front.html", title="", context=_front(visit))


def _front(visit: Visit) -> dict[str, Any]:
    query = visit.query
    asked: dict[str, object] = {
        field: query[name] for name, field in RUN_FILTERS.items() if query.get(name, "").strip()
    }
    if query.get("when") in PERIODS:
        asked["withinHours"] = int(query["when"])
    is_filtered = bool(asked) or query.get("status") in RUN_STATES
    if query.get("status") in RUN_STATES:
        asked["status"] = query["status"]
    if query.get("cursor", "").isdecimal():
        asked["cursor"] = query["cursor"]
    found = visit.ask(Studio.runs_list, decode(requests.RunsList, {"limit": PAGE_SIZE, **asked}))
    kept = {name: value for name, value in query.items() if name != "cursor" and value}
    other = {name: value for name, value in kept.items() if name != "status"}
    shown = min(max(WAITS_SHOWN, number(visit, "waits") or 0), WAITS_MOST)
    waits = visit.ask(Studio.waiting_list, requests.WaitingList(limit=shown))
    more = {**kept, "waits": shown + WAITS_SHOWN}
    return {
        **common(visit),
        "found": found,
        "waits": waits,
        "more_waits": f"/studio?{urlencode(more)}#more-waits"
        if len(waits.waiting) < min(waits.total, WAITS_MOST)
        else None,
        "waits_from": shown - WAITS_SHOWN + 1,
        "at_work": found.at_work,
        "connected": _connected(visit),
        "at_work_minutes": AGENT_AT_WORK_MINUTES,
        "wait_words": WAITS,
        "is_filtered": is_filtered,
        "filters": {name: query.get(name, "") for name in (*RUN_FILTERS, "status", "when")},
        "states": _states(found.by_status, other, query.get("status", "")),
        "periods": PERIODS,
        "next_page": f"/studio?{urlencode({**kept, 'cursor': found.next_cursor})}"
        if found.next_cursor
        else None,
        "list_query": urlencode(dict(query)),
    }


def _connected(visit: Visit) -> list[Server]:
    """Return the programs that hold a connection over MCP; which run is whose nothing tells."""
    if visit.user is not None:
        return []
    return [one for one in servers(visit.shop.config) if one.door == "mcp" and not one.is_this]


def _states(
    counts: Mapping[str, int], other: Mapping[str, str], chosen: str
) -> list[dict[str, object]]:
    """Return the states there are with their counts, each as an address that keeps the rest."""
    rows = [("", "all", sum(counts.values()))]
    rows += [(one, WORDS.get(one, one), counts[one]) for one in RUN_STATES if counts.get(one)]
    if chosen in RUN_STATES and not counts.get(chosen):
        rows.append((chosen, WORDS.get(chosen, chosen), 0))
    return [
        {
            "words": words,
            "count": count,
            "is_chosen": name == (chosen if chosen in RUN_STATES else ""),
            "href": f"/studio?{urlencode({**other, **({'status': name} if name else {})})}",
        }
        for name, words, count in rows
    ]


# ------------------------------------------------------------ sessions


def sessions(visit: Visit) -> Page:
    """List the sessions, grouped by workspace."""
    return Page(template="studio_sessions.html", title="Sessions", context=_listed(visit))


def session_list(visit: Visit) -> Page:
    """Return the list alone, for a page that follows events."""
    return Page(template="studio_list.html", title="", context=_listed(visit))


def _listed(visit: Visit) -> dict[str, Any]:
    query = visit.query
    asked: dict[str, object] = {
        field: query[name] for name, field in FILTERS.items() if query.get(name, "").strip()
    }
    if query.get("status") in RUN_STATES:
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
        "statuses": RUN_STATES,
        "healths": HEALTHS,
        "next_page": f"/studio/sessions?{urlencode({**kept, 'cursor': following})}"
        if following
        else None,
        "list_query": urlencode(dict(query)),
    }


def common(visit: Visit) -> dict[str, Any]:
    """Return what every page of Studio has at hand."""
    return {
        "words": WORDS,
        "tones": TONES,
        "modes": {one.values.autonomy: one.label for one in PRESETS.values()},
        "badge_words": BADGES,
    }


def session(visit: Visit) -> Page:
    """Show one session: its runs, its notes, its timeline, and what can be done with it."""
    wants_timeline = visit.query.get("view") == "timeline"
    found = _session(visit, visit.params["session_id"], with_timeline=wants_timeline)
    zoom = number(visit, "zoom")
    zoom = zoom if zoom in ZOOMS else 1
    context = {
        **common(visit),
        "session": found,
        "run_id": None,
        "timeline": timeline(found, zoom=zoom) if wants_timeline else None,
        "zoom": zoom,
        "zooms": ZOOMS,
        "notices": told(visit),
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
    drawing = _drawn(visit, found)
    shown = {**_node(node, drawing["used"]), "node_error": error, "notices": told(visit)}
    context = {**drawing, **shown}
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
    used = _used(visit, found.run_id) if found.driver == "builtin" else None
    calls = _calls(used)
    work = {one.node_id: did for one in found.nodes if (did := work_before(one, calls))}
    return {
        **common(visit),
        "used": used,
        "run": found,
        "run_id": found.run_id,
        "session": visit.ask(Studio.session_get, SessionGet(session_id=found.session_id)),
        "graph": drawn(found, with_ghosts=with_ghosts, work=work),
        "with_ghosts": with_ghosts,
        "around": _around(visit) or "",
        "ways": _ways(found, with_ghosts),
        "presets": PRESETS.values(),
    }


def _used(visit: Visit, run_id: str) -> RunUsage | None:
    """Return what models used in a run of the built-in agent; of others nothing is recorded."""
    request = workshop_requests.GetRunUsage(run_id=run_id)
    return tried(visit, Workshop.get_run_usage, request)[0]


def _calls(used: RunUsage | None) -> list[Call]:
    rows = used.by_call if used else ()
    return [Call(one.at, one.usage.total_tokens, one.took_ms) for one in rows]


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
    node = _named_node(visit)
    shown = _node(node, _used(visit, node.run_id))
    context = {**common(visit), **shown, "presets": PRESETS.values()}
    return Page(template="studio_node.html", title="", context=context)


def _named_node(visit: Visit) -> run_view.NodePage:
    with _named("node"):
        return visit.ask(Studio.node_get, requests.NodeGet(node_id=visit.params["node_id"]))


def fork(visit: Visit) -> Page:
    """Ask what is to be different, before a branch begins at a node."""
    node = _named_node(visit)
    usage = _used(visit, node.run_id)
    context = {
        **common(visit),
        "node": node,
        "bench_id": usage.workbench_id if usage else None,
    }
    return Page(template="studio_fork.html", title="Branch from here", context=context)


def make_fork(visit: Visit) -> Redirect:
    """Begin the branch and show it; the page says how an agent goes on there."""
    note = str(visit.form.get("note") or "").strip() or None
    request = requests.RunBranch(node_id=visit.params["node_id"], note=note)
    made = visit.ask(Studio.run_branch, request)
    return Redirect(
        f"/studio/run/{made.run_id}?node={made.node_id}", proof=("RailsRunBranch", 0, 0, "")
    )


def _node(found: run_view.NodePage | None, used: RunUsage | None) -> dict[str, object]:
    """Return a node, and what its page shows of it in a form of its own."""
    if found is None:
        return {"node": None}
    facts: dict[str, list[run_view.FactRow]] = {}
    for one in found.facts:
        facts.setdefault(one.kind, []).append(one)
    call = encode(found.resume.call) if found.resume else None
    cause = found.edge.cause.kind if found.edge else None
    return {
        "node": found,
        "model_took": model_took(work_before(found, _calls(used))),
        "begins_branch": found.node_kind == "checkpoint" and cause == "intentional_fork",
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
    here = f"/studio/run/{node.run_id}?node={node_id}"
    return Redirect(_next(visit) or here, proof=("RailsUserInputRecord", 0, 0, ""))


def set_preferences(visit: Visit) -> Redirect:
    """Change the mode of a run from its newest step on, or allow what its agent asked for."""
    run_id = visit.params["run_id"]
    if allowed := visit.form.get("allow"):
        node = visit.ask(Studio.node_get, requests.NodeGet(node_id=str(allowed)))
        if not node.preferences.wished:
            raise ValidationFailed("the agent asks for nothing there", reason="bad_params")
        wanted = decode(rails_requests.Preferences, node.preferences.wished)
    elif refused := visit.form.get("refuse"):
        node = visit.ask(Studio.node_get, requests.NodeGet(node_id=str(refused)))
        mode_now = node.preferences
        wanted = rails_requests.Preferences(
            autonomy=mode_now.autonomy, risk_policy=mode_now.risk_policy
        )
    else:
        preset = PRESETS.get(str(visit.form.get("preset")))
        if preset is None:
            raise ValidationFailed("there is no such mode", reason="bad_params")
        mode = preset.values
        wanted = rails_requests.Preferences(autonomy=mode.autonomy, risk_policy=mode.risk_policy)
    visit.ask(
        Studio.run_set_preferences, requests.RunSetPreferences(run_id=run_id, preferences=wanted)
    )
    here = f"/studio/run/{run_id}"
    return Redirect(_next(visit) or here, proof=("RailsRunSetPreferences", 0, 0, ""))


def import_session(visit: Visit) -> Redirect:
    """Bring a session in and show it."""
    request = SessionImport(bundle=str(visit.form.get("bundle") or ""))
    made = visit.ask(Studio.session_import, request)
    return Redirect(f"/studio/session/{made.session_id}", proof=("RailsSessionImport", 0, 0, ""))


def _next(visit: Visit) -> str | None:
    return safe_path(visit.form.get("next"))


ROUTES = (
    route("/studio", front),
    route("/studio/parts", front_parts),
    route("/studio/sessions", sessions),
    route("/studio/list", session_list),
    route("/studio/import", import_session, "POST"),
    route("/studio/session/{session_id}", session),
    route("/studio/session/{session_id}/read", reading),
    route("/studio/session/{session_id}/export/{format}", export),
    route("/studio/run/{run_id}", run),
    route("/studio/run/{run_id}/graph", run_graph),
    route("/studio/run/{run_id}/preferences", set_preferences, "POST"),
    route("/studio/node/{node_id}", node_page),
    route("/studio/node/{node_id}/fork", fork),
    route("/studio/node/{node_id}/fork", make_fork, "POST"),
    route("/studio/node/{node_id}/input", record_input, "POST"),
)
