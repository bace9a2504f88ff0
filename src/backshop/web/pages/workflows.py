"""`/workflows`: what there is to start, what is wrong with it, an editor for one's own (U6.5)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse

from backshop.base.codec import decode, encode
from backshop.base.command import Nothing
from backshop.base.errors import AccessDenied, NotFound
from backshop.rails import (
    Definitions,
    Finding,
    InspectWorkflow,
    ListWorkflows,
    Rails,
    RailsError,
    SessionsList,
    Studio,
    definitions,
)
from backshop.rails import studio_requests as requests

from ..place import line_of
from .kit import Page, Redirect, Visit, route, tried

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
    query = visit.query.get("q", "").strip()
    kind = visit.query.get("kind", "")
    asked: dict[str, object] = {"workspacePath": workspace_of(visit), "limit": 200}
    if query:
        asked["query"] = query[:256]
    if kind in ("workflow", "routine"):
        asked["kind"] = kind
    request = decode(ListWorkflows, asked)
    page = visit.ask(Rails.workflows, request)
    found = page.workflows
    while page.next_cursor and len(found) < LISTED_MAX:
        page = visit.ask(Rails.workflows, replace(request, cursor=page.next_cursor))
        found += page.workflows
    context = {
        **_common(visit),
        "workflows": found,
        "invalid": page.invalid,
        "warnings": page.warnings,
        "query": query,
        "kind": kind,
    }
    return Page(template="workflows.html", title="Workflows", context=context)


def detail(visit: Visit) -> Page:
    """Show one workflow: outline, compiled form, findings, source, how to start it."""
    place, workflow_id = workspace_of(visit), visit.params["workflow_id"]
    request = InspectWorkflow(workflow_id=workflow_id, workspace_path=place)
    shown, error = tried(visit, Rails.workflow, request)
    if error is not None and error.get("code") == "WORKFLOW_NOT_FOUND":
        raise NotFound(error["message"], reason="not_found", hints=(error["suggestion"],))
    compiled, _ = tried(visit, Rails.workflow, replace(request, mode="compiled"))
    named = definitions.WorkflowSource(workflow_id=workflow_id, workspace_path=place)
    source, _ = tried(visit, Definitions.workflow_source, named)
    checked = None
    if source is not None and not source.file.startswith("bundled"):  # nobody can mend those
        text = definitions.WorkflowValidate(source=source.source, workspace_path=place)
        checked, _ = tried(visit, Definitions.workflow_validate, text)
    used = SessionsList(workflow_id=workflow_id, limit=SESSIONS_SHOWN)
    current = shown.workflow_hash if shown else None
    context = {
        **_common(visit),
        "workflow_id": workflow_id,
        "shown": shown,
        "error": error,
        "compiled_text": _indented(compiled.compiled) if compiled else None,
        "source": source,
        "findings": _placed(checked, source.source) if checked and source else [],
        "used": [
            (row, bool(current) and current not in (row.workflow_hashes or ()))
            for row in visit.ask(Studio.sessions_list, used).sessions
        ],
        "clients": clients(shown.workflow_id if shown else workflow_id),
    }
    title = str(shown.metadata.get("name", workflow_id)) if shown else workflow_id
    return Page(template="workflow.html", title=title, context=context)


def pinned(visit: Visit) -> Page:
    """Show a workflow as a run keeps it, whatever its source says by now."""
    kept = requests.WorkflowPinned(workflow_hash=f"sha256:{visit.params['digest']}")
    try:
        found = visit.ask(Studio.workflow_pinned, kept)
    except RailsError as error:
        raise NotFound("no run of this home keeps such a workflow", reason="not_found") from error
    request = InspectWorkflow(workflow_id=found.workflow_id, mode="metadata")
    current, _ = tried(visit, Rails.workflow, request)
    context = {
        **_common(visit),
        "pinned": found,
        "is_current": current is not None and current.workflow_hash == found.workflow_hash,
        "compiled_text": _indented(found.compiled),
    }
    return Page(template="workflow_pinned.html", title=found.name, context=context)


def new(visit: Visit) -> Page:
    """Show the editor with a starting point."""
    return _editor(visit, STARTING_POINT, None)


def edit(visit: Visit) -> Page:
    """Show the editor with a workflow as it was written."""
    request = definitions.WorkflowSource(
        workflow_id=visit.params["workflow_id"], workspace_path=workspace_of(visit)
    )
    try:
        source = visit.ask(Definitions.workflow_source, request)
    except RailsError as error:
        if error.rails_code != "WORKFLOW_NOT_FOUND":
            raise
        raise NotFound(error.message, reason="not_found") from error
    return _editor(visit, source.source, source)


def _editor(
    visit: Visit,
    text: str,
    source: definitions.WorkflowText | None,
    error: Mapping[str, object] | None = None,
    *,
    is_taken: bool = False,
) -> Page:
    checked, _ = _checked(visit, text)
    file = source.file if source else ""
    context = {
        **_common(visit),
        "text": text,
        "file": file,
        "target": "project" if file.startswith("project") else "user",
        "is_own": file.startswith(OWN),
        "was": source.source_hash if source else str(visit.form.get("was") or ""),
        "is_taken": is_taken,
        "checked": checked,
        "findings": _placed(checked, text) if checked else [],
        "error": error,
        "builtins": visit.ask(Definitions.builtins_list, Nothing()).builtins,
        "block_words": BLOCKS,
        "templates": TEMPLATES,
    }
    status = 422 if error else 200
    return Page(
        template="workflow_edit.html", title="Edit a workflow", context=context, status=status
    )


def save(visit: Visit) -> Page | Redirect:
    """Save what passes every check; what does not comes back as it was typed."""
    text, target = str(visit.form.get("source") or ""), str(visit.form.get("target") or "user")
    text = text.replace("\r\n", "\n")
    request = {"source": text, "target": target, "workspacePath": workspace_of(visit)}
    if visit.form.get("replace") != "true":
        request["expectedHash"] = str(visit.form.get("was") or "")
    saved, error = tried(
        visit, Definitions.workflow_save, decode(definitions.WorkflowSave, request)
    )
    if saved is None:
        is_taken = error is not None and error.get("code") == TAKEN
        return _editor(visit, text, None, error, is_taken=is_taken)
    return Redirect(f"/workflows/{saved.workflow_id}{_suffix(visit)}")


def check(visit: Visit) -> JSONResponse:
    """Return the findings of a text, each with the line it is about."""
    text = str(visit.form.get("source") or "").replace("\r\n", "\n")
    checked, error = _checked(visit, text)
    if checked is None:
        return JSONResponse({"error": error}, status_code=422)
    return JSONResponse(
        {
            "valid": checked.valid,
            "workflowId": checked.workflow_id,
            "findings": [{**encode(one), "line": line} for one, line in _placed(checked, text)],
        }
    )


def _checked(
    visit: Visit, text: str
) -> tuple[definitions.WorkflowValidated | None, Mapping[str, object] | None]:
    request = definitions.WorkflowValidate(
        source=text, strict=True, workspace_path=workspace_of(visit)
    )
    return tried(visit, Definitions.workflow_validate, request)


def workspace_of(visit: Visit) -> str | None:
    """Return the project the address names; only a server on loopback looks at its own folders."""
    given = (visit.query.get("workspace") or str(visit.form.get("workspace") or "")).strip()
    if given and not visit.site.door.loopback:
        raise AccessDenied("this server is not on loopback: it does not open folders by name")
    return given or None


def _suffix(visit: Visit) -> str:
    from urllib.parse import urlencode

    place = workspace_of(visit)
    return f"?{urlencode({'workspace': place})}" if place else ""


def _common(visit: Visit) -> dict[str, Any]:
    return {
        "sources": SOURCES,
        "loopback": visit.site.door.loopback,
        "workspace": visit.query.get("workspace") or str(visit.form.get("workspace") or ""),
        "suffix": _suffix(visit),
    }


def _placed(checked: definitions.WorkflowValidated, text: str) -> list[tuple[Finding, int]]:
    """Return findings, each with the line it is about."""
    return [(one, line_of(text, one.pointer)) for one in checked.findings]


def _indented(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


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


TEMPLATES = {  # pieces of a definition to begin from, under `steps`
    "a step": """\
  - id: new_step
    title: New step
    prompt: |
      What is to be done.
""",
    "a step you approve": """\
  - id: sign_off
    title: Sign off
    prompt: Say what is ready and what it changes.
    requireConfirmation:
      kind: human_approval
""",
    "a step only in some cases": """\
  - id: deep_look
    title: Look deeper
    prompt: Look at what the first pass left open.
    runCondition:
      var: risk
      equals: high
""",
    "a loop": """\
  - id: passes
    title: Passes
    type: loop
    loop:
      type: for
      count: 3
      maxIterations: 3
    body:
      - id: pass
        title: Pass {{currentIteration}}
        prompt: Do one pass and say what it found.
""",
}
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
