"""`/workflows`: what there is to start, what is wrong with it, an editor for one's own (U6.5)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from backshop.base.errors import AccessDenied, NotFound
from backshop.rails import RailsError

from ..place import line_of
from .kit import Page, Redirect, Visit, attempt, route

LISTED_MAX = 1000
SESSIONS_SHOWN = 20
SOURCES = {
    "bundled": "comes with Backshop",
    "user": "yours",
    "project": "of the project",
    "git": "from a repository",
}
BLOCKS = {  # kinds of building blocks, as people read them
    "capability": "Capabilities an agent may have",
    "contract": "Contracts for outputs",
    "feature": "Features",
    "preset": "Presets of preferences",
    "ref": "Texts to refer to",
    "template": "Templates of steps",
}


def catalogue(visit: Visit) -> Page:
    """List the workflows there are, and the files that cannot run."""
    place = workspace_of(visit)
    query = visit.query.get("q", "").strip()
    kind = visit.query.get("kind", "")
    asked: dict[str, Any] = {**place, "limit": 200}
    if query:
        asked["query"] = query[:256]
    if kind in ("workflow", "routine"):
        asked["kind"] = kind
    found: list[Any] = []
    page = visit.call("list_workflows", **asked)
    while True:
        found += page["workflows"]
        if "nextCursor" not in page or len(found) >= LISTED_MAX:
            break
        page = visit.call("list_workflows", **asked, cursor=page["nextCursor"])
    context = {
        **_common(visit),
        "workflows": found,
        "invalid": page["invalid"],
        "warnings": page["warnings"],
        "query": query,
        "kind": kind,
    }
    return Page(template="workflows.html", title="Workflows", context=context)


def detail(visit: Visit) -> Page:
    """Show one workflow: outline, compiled form, findings, source, how to start it."""
    place, workflow_id = workspace_of(visit), visit.params["workflow_id"]
    shown, error = attempt(visit, "inspect_workflow", workflowId=workflow_id, **place)
    if error is not None and error.get("code") == "WORKFLOW_NOT_FOUND":
        raise NotFound(error["message"], reason="not_found", hints=(error["suggestion"],))
    compiled, _ = attempt(
        visit, "inspect_workflow", workflowId=workflow_id, mode="compiled", **place
    )
    source, _ = attempt(visit, "RailsWorkflowSource", workflowId=workflow_id, **place)
    checked = None
    if source is not None and not source["file"].startswith("bundled"):  # nobody can mend those
        checked, _ = attempt(visit, "RailsWorkflowValidate", source=source["source"], **place)
    used = visit.call("RailsSessionsList", workflowId=workflow_id, limit=SESSIONS_SHOWN)
    current = shown["workflowHash"] if shown else None
    context = {
        **_common(visit),
        "workflow_id": workflow_id,
        "shown": shown,
        "error": error,
        "compiled_text": json.dumps(compiled["compiled"], ensure_ascii=False, indent=2)
        if compiled
        else None,
        "source": source,
        "findings": _placed(checked, source["source"]) if checked and source else [],
        "used": [
            {**row, "has_drifted": bool(current) and current not in row.get("workflowHashes", ())}
            for row in used["sessions"]
        ],
        "clients": clients(shown["workflowId"] if shown else workflow_id),
    }
    title = shown["metadata"].get("name", workflow_id) if shown else workflow_id
    return Page(template="workflow.html", title=title, context=context)


def pinned(visit: Visit) -> Page:
    """Show a workflow as a run keeps it, whatever its source says by now."""
    found, _ = attempt(
        visit, "RailsWorkflowPinned", workflowHash=f"sha256:{visit.params['digest']}"
    )
    if found is None:
        raise NotFound("no run of this home keeps such a workflow", reason="not_found")
    current, _ = attempt(visit, "inspect_workflow", workflowId=found["workflowId"], mode="metadata")
    context = {
        **_common(visit),
        "pinned": found,
        "is_current": bool(current) and current["workflowHash"] == found["workflowHash"],
        "compiled_text": json.dumps(found["compiled"], ensure_ascii=False, indent=2),
    }
    return Page(template="workflow_pinned.html", title=found["name"], context=context)


def new(visit: Visit) -> Page:
    """Show the editor with a starting point."""
    return _editor(visit, STARTING_POINT, None)


def edit(visit: Visit) -> Page:
    """Show the editor with a workflow as it was written."""
    workflow_id = visit.params["workflow_id"]
    try:
        source = visit.call("RailsWorkflowSource", workflowId=workflow_id, **workspace_of(visit))
    except RailsError as error:
        if error.rails_code != "WORKFLOW_NOT_FOUND":
            raise
        raise NotFound(error.message, reason="not_found") from error
    return _editor(visit, source["source"], source)


def _editor(
    visit: Visit,
    text: str,
    source: Mapping[str, Any] | None,
    error: Any = None,
    *,
    is_taken: bool = False,
) -> Page:
    checked, _ = attempt(
        visit, "RailsWorkflowValidate", source=text, strict=True, **workspace_of(visit)
    )
    file = str(source["file"]) if source else ""
    context = {
        **_common(visit),
        "text": text,
        "file": file,
        "target": "project" if file.startswith("project") else "user",
        "is_own": file.startswith(OWN),
        "was": source["sourceHash"] if source else str(visit.form.get("was") or ""),
        "is_taken": is_taken,
        "checked": checked,
        "findings": _placed(checked, text) if checked else [],
        "error": error,
        "builtins": visit.call("RailsBuiltinsList")["builtins"],
        "block_words": BLOCKS,
    }
    status = 422 if error else 200
    return Page(
        template="workflow_edit.html", title="Edit a workflow", context=context, status=status
    )


def save(visit: Visit) -> Page | Redirect:
    """Save what passes every check; what does not comes back as it was typed."""
    text, target = str(visit.form.get("source") or ""), str(visit.form.get("target") or "user")
    text = text.replace("\r\n", "\n")
    request = {"source": text, "target": target, **workspace_of(visit)}
    if visit.form.get("replace") != "true":
        request["expectedHash"] = str(visit.form.get("was") or "")
    saved, error = attempt(visit, "RailsWorkflowSave", **request)
    if error is not None:
        return _editor(visit, text, None, error, is_taken=error.get("code") == TAKEN)
    return Redirect(f"/workflows/{saved['workflowId']}{_suffix(visit)}")


def check(visit: Visit) -> JSONResponse:
    """Return the findings of a text, each with the line it is about."""
    text = str(visit.form.get("source") or "").replace("\r\n", "\n")
    checked, error = attempt(
        visit, "RailsWorkflowValidate", source=text, strict=True, **workspace_of(visit)
    )
    if checked is None:
        return JSONResponse({"error": error}, status_code=422)
    return JSONResponse(
        {
            "valid": checked["valid"],
            "workflowId": checked.get("workflowId"),
            "findings": _placed(checked, text),
        }
    )


def workspace_of(visit: Visit) -> dict[str, Any]:
    """Return the project the address names; only a server on loopback looks at its own folders."""
    given = (visit.query.get("workspace") or str(visit.form.get("workspace") or "")).strip()
    if not given:
        return {}
    if not visit.site.door.loopback:
        raise AccessDenied("this server is not on loopback: it does not open folders by name")
    return {"workspacePath": given}


def _suffix(visit: Visit) -> str:
    from urllib.parse import urlencode

    place = workspace_of(visit)
    return f"?{urlencode({'workspace': place['workspacePath']})}" if place else ""


def _common(visit: Visit) -> dict[str, Any]:
    return {
        "sources": SOURCES,
        "loopback": visit.site.door.loopback,
        "workspace": visit.query.get("workspace") or str(visit.form.get("workspace") or ""),
        "suffix": _suffix(visit),
    }


def _placed(checked: Mapping[str, Any], text: str) -> list[dict[str, Any]]:
    return [{**one, "line": line_of(text, one["pointer"])} for one in checked["findings"]]


def clients(workflow_id: str) -> list[dict[str, str]]:
    """Return how each client is told about Backshop once (S6.3), and what to say to start."""
    servers = {"backshop": {"command": "backshop", "args": ["mcp"]}}
    typed = {"backshop": {"type": "stdio", **servers["backshop"]}}
    return [
        {
            "name": "Claude Code",
            "where": "in a terminal",
            "text": "claude mcp add backshop -- backshop mcp",
        },
        {
            "name": "Codex",
            "where": "in a terminal",
            "text": "codex mcp add backshop -- backshop mcp",
        },
        {"name": "Cursor", "where": ".cursor/mcp.json", "text": _json({"mcpServers": servers})},
        {"name": "VS Code", "where": ".vscode/mcp.json", "text": _json({"servers": typed})},
        {"name": "Any other client", "where": "mcp.json", "text": _json({"mcpServers": servers})},
        {
            "name": "No agent, in a terminal",
            "where": "one step at a time",
            "text": f"backshop run start {workflow_id}",
        },
    ]


def _json(value: object) -> str:
    return json.dumps(value)


TAKEN = "PRECONDITION_FAILED"
OWN = ("user", "project")  # sources that can be written to
STARTING_POINT = """\
id: user.my_workflow
name: My workflow
description: What it is for, in one sentence.
version: 1.0.0
steps:
  - id: look
    title: Look
    prompt: |
      Read {{ticket}} and say what is asked.
  - id: do
    title: Do
    prompt: Do it, the smallest change first.
  - id: check
    title: Check
    prompt: Check the result and say how you know.
    requireConfirmation: true
"""

ROUTES = (
    route("/workflows", catalogue),
    route("/workflows/new", new),
    route("/workflows/save", save, "POST"),
    route("/workflows/check", check, "POST"),
    route("/workflows/pinned/{digest}", pinned),
    route("/workflows/{workflow_id}", detail),
    route("/workflows/{workflow_id}/edit", edit),
)
