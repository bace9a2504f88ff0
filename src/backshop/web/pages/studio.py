"""`/studio`: sessions of agents, their runs as graphs, and what people do beside them (U6)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from backshop.base.errors import NotFound, ValidationFailed
from backshop.rails import PRESETS, RailsError, shown_artifact

from ..drawing import drawn, timeline
from .kit import Page, Redirect, Visit, attempt, route

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
    asked: dict[str, Any] = {
        field: query[name] for name, field in FILTERS.items() if query.get(name, "").strip()
    }
    if query.get("status") in STATUSES:
        asked["status"] = query["status"]
    if query.get("health") in HEALTHS:
        asked["health"] = query["health"]
    if query.get("cursor", "").isdecimal():
        asked["cursor"] = query["cursor"]
    answer = visit.call("RailsSessionsList", limit=PAGE_SIZE, **asked)
    groups: dict[str, list[Any]] = {}
    for row in answer["sessions"]:
        groups.setdefault(row.get("workspaceName") or "", []).append(row)
    kept = {name: value for name, value in query.items() if name != "cursor" and value}
    following = answer.get("nextCursor")
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
        "notes": [_output(one) for one in found["notes"]],
    }
    title = found.get("title") or "Session"
    return Page(template="studio_session.html", title=title, context=context)


def _session(visit: Visit, session_id: str, *, with_timeline: bool = False) -> Any:
    with _named("session"):
        return visit.call("RailsSessionGet", sessionId=session_id, timeline=with_timeline)


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
    asked = {"salvage": True} if visit.query.get("salvage") == "1" else {}
    with _named("session"):
        text = visit.call("RailsSessionExport", sessionId=session_id, format=kind, **asked)["text"]
    media, ending = _EXPORTS[kind]
    headers = {
        "content-disposition": f'attachment; filename="{session_id}.{ending}"',
        "cache-control": "no-store",
    }
    return Response(text, media_type=media, headers=headers)


def reading(visit: Visit) -> Page:
    """Show a session as one text to read or print (R9.7)."""
    session_id = visit.params["session_id"]
    asked = {"runId": visit.query["run"]} if visit.query.get("run") else {}
    with _named("session"):
        found = visit.call(
            "RailsSessionExport", sessionId=session_id, format="markdown", times=True, **asked
        )
    context = {**common(visit), "text": found["text"], "session_id": session_id}
    return Page(template="studio_reading.html", title="Session", context=context)


# ------------------------------------------------------------ runs


def run(visit: Visit) -> Page:
    """Show a run as a graph with the chosen node beside it."""
    context = _run(visit)
    wanted = visit.query.get("node") or context["run"].get("preferredTip")
    node, error = (None, None)
    if wanted:
        node, error = attempt(visit, "RailsNodeGet", nodeId=wanted)
    if node is not None and node["runId"] != context["run"]["runId"]:
        node = None
    context |= {"node": _node(node), "node_error": error, "with_node": True}
    title = context["run"].get("title") or "Run"
    return Page(template="studio_run.html", title=title, context=context)


def run_graph(visit: Visit) -> Page:
    """Return what changes while an agent works: the graph, the runs, the status."""
    return Page(template="studio_live.html", title="", context=_run(visit))


def _run(visit: Visit) -> dict[str, Any]:
    around = visit.query.get("around") or visit.query.get("node")
    asked = {"around": around} if around else {}
    with _named("run"):
        found = visit.call("RailsRunGet", runId=visit.params["run_id"], limit=GRAPH_NODES, **asked)
    with_ghosts = visit.query.get("ghosts") == "1"
    return {
        **common(visit),
        "run": found,
        "run_id": found["runId"],
        "session": visit.call("RailsSessionGet", sessionId=found["sessionId"]),
        "graph": drawn(found, with_ghosts=with_ghosts),
        "with_ghosts": with_ghosts,
        "around": around or "",
        "ways": _ways(found, with_ghosts),
        "presets": PRESETS.values(),
    }


def _ways(run: dict[str, Any], with_ghosts: bool) -> list[dict[str, Any]]:
    """Return the ways to the nodes that a long run shows on another page."""
    window, more = run["window"], {"ghosts": "1"} if with_ghosts else {}
    ends = window["first"] + window["count"]
    ways = (
        ("Earlier", window["earlier"], window["first"]),
        ("Later", window["later"], window["total"] - ends),
    )
    return [
        {"label": label, "count": count, "query": urlencode({"around": to, **more})}
        for label, to, count in ways
        if to
    ]


def node_page(visit: Visit) -> Page:
    """Return what is known of one node, to stand beside the graph."""
    with _named("node"):
        found = visit.call("RailsNodeGet", nodeId=visit.params["node_id"])
    context = {**common(visit), "node": _node(found), "presets": PRESETS.values()}
    return Page(template="studio_node.html", title="", context=context)


def fork(visit: Visit) -> Page:
    """Show what to paste into an agent so that it goes on from a node in a branch of its own."""
    with _named("node"):
        node = visit.call("RailsNodeGet", nodeId=visit.params["node_id"])
    answer = visit.call("RailsRunFork", nodeId=visit.params["node_id"])
    call = answer.get("nextCall") or {}
    context = {
        **common(visit),
        "node": node,
        "step": (answer.get("pending") or {}).get("title"),
        "is_complete": answer["isComplete"],
        "call": json.dumps(call, ensure_ascii=False, indent=2),
        "look": json.dumps({"stateToken": answer["stateToken"]}),
        "resume_ref": answer["session"]["resumeRef"],
    }
    return Page(template="studio_fork.html", title="Fork", context=context)


def _node(found: Any) -> Any:
    """Add to a node what its page shows in a form of its own."""
    if found is None:
        return None
    facts: dict[str, list[Any]] = {}
    for one in found["facts"]:
        facts.setdefault(one["kind"], []).append(one)
    resume = found.get("resume")
    return {
        **found,
        "outputs": [_output(one) for one in found["outputs"]],
        "by_kind": facts,
        "trace": [
            entry
            for one in facts.get("decision_trace_appended", ())
            for entry in one["data"]["entries"]
        ],
        "resume_call": json.dumps(resume["call"], ensure_ascii=False) if resume else None,
        "context_text": json.dumps(found["context"], ensure_ascii=False, indent=2),
    }


def _output(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output with its content in the form its contract asks for."""
    if one["channel"] == "recap" or one.get("content") is None:
        return dict(one)
    value = shown_artifact(str(one.get("kind") or ""), str(one["content"]).encode())
    return {**one, "shown": value, "form": type(value).__name__.lower()}


# ------------------------------------------------------------ what people do


def record_input(visit: Visit) -> Redirect:
    """Record what the person decided or gave; a value also goes to the run's inputs."""
    node_id = visit.params["node_id"]
    node = visit.call("RailsNodeGet", nodeId=node_id)
    input_id, decision = str(visit.form.get("inputId")), str(visit.form.get("decision"))
    said = str(visit.form.get("summary") or "").strip()
    asked = {one["id"]: one for one in node["inputs"]}.get(input_id)
    if asked is None:
        raise ValidationFailed("the step asks for no such input", reason="bad_params")
    if decision == "provided" and not said:
        raise ValidationFailed("say what you provide", reason="bad_params")
    request = {"nodeId": node_id, "inputId": input_id, "decision": decision}
    visit.call("RailsUserInputRecord", **request, **({"summary": said} if said else {}))
    key = asked.get("contextKey")
    if decision == "provided" and key and node["isPreferred"]:
        visit.call("RailsRunSetContext", runId=node["runId"], set={key: said})
    return Redirect(f"/studio/run/{node['runId']}?node={node_id}")


def set_preferences(visit: Visit) -> Redirect:
    """Change the mode of a run from its newest step on, or allow what its agent asked for."""
    run_id = visit.params["run_id"]
    if allowed := visit.form.get("allow"):
        wished = visit.call("RailsNodeGet", nodeId=str(allowed))["preferences"].get("wished")
        if not wished:
            raise ValidationFailed("the agent asks for nothing there", reason="bad_params")
        visit.call("RailsRunSetPreferences", runId=run_id, preferences=wished)
        return Redirect(f"/studio/run/{run_id}")
    preset = PRESETS.get(str(visit.form.get("preset")))
    if preset is None:
        raise ValidationFailed("there is no such mode", reason="bad_params")
    wanted = {"autonomy": preset.values.autonomy, "riskPolicy": preset.values.risk_policy}
    visit.call("RailsRunSetPreferences", runId=run_id, preferences=wanted)
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
