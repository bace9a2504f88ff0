"""`backshop run` and `backshop session`: workflows by hand, and what agents left behind (S4.2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backshop.base.canon import parse
from backshop.base.errors import BackshopError

from .door import Door, DoorGroup, clean, pass_door, table

if TYPE_CHECKING:
    from backshop.app import Backshop

_MODES = ("guided", "full_auto_stop_on_user_deps", "full_auto_never_stop")
_RISKS = ("conservative", "balanced", "aggressive")
_FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)


class Json(click.ParamType[Any]):
    """An option whose value is JSON."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse strictly; what is not JSON is a usage error."""
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except BackshopError as error:
            self.fail(str(error), param, ctx)


def _mode_options(command: Any) -> Any:
    command = click.option("--risk-policy", type=click.Choice(_RISKS), help="How bold.")(command)
    return click.option("--autonomy", type=click.Choice(_MODES), help="How far without you.")(
        command
    )


def _output_options(command: Any) -> Any:
    command = click.option(
        "--artifact", "artifacts", type=Json(), multiple=True, help="A typed output, as JSON."
    )(command)
    return click.option("--notes", help="What was done; @FILE reads a file.")(command)


# ---------------------------------------------------------------- run


@click.group(cls=DoorGroup)
def run() -> None:
    """Start, continue and look at runs of workflows. RUN is a resume ref (r-…) or a token."""


@run.command()
@click.argument("workflow_id", metavar="WORKFLOW")
@click.option("--goal", help="What the run is for.")
@click.option("--context", type=Json(), help="External inputs, a JSON object.")
@click.option("--workspace", type=_FOLDER, help="The project it is about.")
@click.option("--session", "session_token", help="Join the session of this sessionToken.")
@_mode_options
@pass_door
def start(
    door: Door,
    workflow_id: str,
    goal: str | None,
    context: Any,
    workspace: Path | None,
    session_token: str | None,
    autonomy: str | None,
    risk_policy: str | None,
) -> None:
    """Start WORKFLOW and show its first step."""
    request = _given(
        workflowId=workflow_id,
        goal=goal,
        context=context,
        workspacePath=str(workspace.absolute()) if workspace else None,
        sessionToken=session_token,
        preferences=_given(autonomy=autonomy, riskPolicy=risk_policy) or None,
    )
    door.call("start_workflow", request, _step)


@run.command("continue")
@click.argument("run_ref", metavar="RUN")
@click.option("--ack", help="The ackToken to use (default: the current one of RUN).")
@click.option("--done", is_flag=True, help="Acknowledge the step without output.")
@click.option("--context", type=Json(), help="External inputs that changed.")
@_output_options
@_mode_options
@pass_door
def continue_(
    door: Door,
    run_ref: str,
    ack: str | None,
    done: bool,
    context: Any,
    notes: str | None,
    artifacts: tuple[Any, ...],
    autonomy: str | None,
    risk_policy: str | None,
) -> None:
    """Acknowledge the pending step of RUN; without any output or --done, only show it."""
    content = _given(
        output=_output(notes, artifacts) or None,
        context=context,
        preferences=_given(autonomy=autonomy, riskPolicy=risk_policy) or None,
    )
    with door.shop() as shop:
        found = None
        if ack is None and (content or done):
            found = shop.call("continue_workflow", {"stateToken": run_ref})
            ack = found.get("ackToken")
        if ack is None:
            found = found or shop.call("continue_workflow", {"stateToken": run_ref})
        else:
            found = shop.call("continue_workflow", {"ackToken": ack, **content})
        door.show(found, _step)


@run.command()
@click.argument("run_ref", metavar="RUN")
@_output_options
@pass_door
def checkpoint(door: Door, run_ref: str, notes: str | None, artifacts: tuple[Any, ...]) -> None:
    """Record progress at RUN without advancing."""
    with door.shop() as shop:
        here = shop.call("continue_workflow", {"stateToken": run_ref})
        request = {
            "stateToken": here["stateToken"],
            "checkpointToken": here["checkpointToken"],
            "output": _output(notes, artifacts),
        }
        door.show(shop.call("checkpoint_workflow", request), _step)


@run.command()
@click.argument("run_ref", metavar="RUN")
@pass_door
def show(door: Door, run_ref: str) -> None:
    """Show the pending step of RUN and what happened so far."""
    door.call("continue_workflow", {"stateToken": run_ref}, _step)


@run.command()
@click.argument("run_ref", metavar="RUN")
@pass_door
def graph(door: Door, run_ref: str) -> None:
    """Show RUN as a graph of its nodes; RUN may also be a run id."""
    with door.shop() as shop:
        door.show(shop.call("RailsRunGet", {"runId": _run_id(shop, run_ref)}), _graph)


@run.command()
@click.argument("node_id", metavar="NODE")
@pass_door
def fork(door: Door, node_id: str) -> None:
    """Show NODE with an ack that branches from it."""
    door.call("RailsRunFork", {"nodeId": node_id}, _step)


@run.command("set")
@click.argument("run_ref", metavar="RUN")
@click.option("--context", type=Json(), help="Inputs to set; null deletes a key.")
@_mode_options
@pass_door
def set_(
    door: Door, run_ref: str, context: Any, autonomy: str | None, risk_policy: str | None
) -> None:
    """Change the mode or the inputs of RUN from its newest node on."""
    mode = _given(autonomy=autonomy, riskPolicy=risk_policy)
    if not mode and not context:
        raise click.UsageError("give --autonomy, --risk-policy or --context")
    with door.shop() as shop:
        run_id, found = _run_id(shop, run_ref), None
        if mode:
            found = shop.call("RailsRunSetPreferences", {"runId": run_id, "preferences": mode})
        if context:
            changes = {
                "set": {key: value for key, value in context.items() if value is not None},
                "removed": [key for key, value in context.items() if value is None],
            }
            found = shop.call("RailsRunSetContext", {"runId": run_id, **changes})
        door.show(found, lambda value: f"changed at {value['nodeId']}")


# ---------------------------------------------------------------- session


@click.group(cls=DoorGroup)
def session() -> None:
    """Find, show, export, import and delete sessions."""


@session.command("list")
@click.option("--status", help="Only sessions in this state.")
@click.option("--workflow", "workflow_id", help="Only sessions with a run of this workflow.")
@click.option("--query", help="Words of title, workflow or resume ref.")
@click.option("--limit", default=50, show_default=True)
@pass_door
def list_(
    door: Door, status: str | None, workflow_id: str | None, query: str | None, limit: int
) -> None:
    """List sessions, the most recently used first."""
    request = _given(status=status, workflowId=workflow_id, query=query, limit=limit)
    door.call("RailsSessionsList", request, _sessions)


@session.command("show")
@click.argument("session_id", metavar="SESSION")
@pass_door
def session_show(door: Door, session_id: str) -> None:
    """Show SESSION: its runs and its own notes."""
    door.call("RailsSessionGet", {"sessionId": session_id}, _session)


@session.command("start")
@click.option("--title", help="What the work is about.")
@click.option("--workspace", type=_FOLDER, help="The project it is about.")
@pass_door
def session_start(door: Door, title: str | None, workspace: Path | None) -> None:
    """Make a session for notes outside any run."""
    request = _given(title=title, workspacePath=str(workspace.absolute()) if workspace else None)
    door.call("start_session", request, lambda value: value["session"]["sessionId"])


@session.command()
@click.argument("query", required=False)
@click.option("--workspace", type=_FOLDER, help="Prefer work of this project.")
@pass_door
def resume(door: Door, query: str | None, workspace: Path | None) -> None:
    """Find earlier work by words, or simply the most recent."""
    request = _given(query=query, workspacePath=str(workspace.absolute()) if workspace else None)
    door.call("resume_session", request, _candidates)


@session.command()
@click.argument("session_id", metavar="SESSION")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["bundle", "markdown", "jsonl"]),
    default="bundle",
    show_default=True,
)
@click.option("--run", "run_id", help="Only this run (Markdown).")
@click.option("--salvage", is_flag=True, help="Export a damaged session as far as it is proved.")
@click.option("--times", is_flag=True, help="Show times (Markdown).")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@pass_door
def export(
    door: Door,
    session_id: str,
    kind: str,
    run_id: str | None,
    salvage: bool,
    times: bool,
    output: Path | None,
) -> None:
    """Export SESSION to standard output or to a file."""
    request = _given(sessionId=session_id, format=kind, runId=run_id, salvage=salvage, times=times)
    with door.shop() as shop:
        found = shop.call("RailsSessionExport", request)
    if output is None:
        door.show(found, lambda value: str(value["text"]).rstrip("\n"))
        return
    output.write_text(found["text"], encoding="utf-8")
    door.show({"path": str(output), "format": kind}, lambda value: f"wrote {value['path']}")


@session.command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@pass_door
def import_(door: Door, file: Path) -> None:
    """Bring in the session of a bundle; under new ids if it is here already."""
    request = {"bundle": file.read_text(encoding="utf-8", errors="replace")}
    door.call("RailsSessionImport", request, lambda value: value["sessionId"])


@session.command()
@click.argument("session_id", metavar="SESSION")
@click.option("--off", is_flag=True, help="Let retention have it again.")
@pass_door
def keep(door: Door, session_id: str, off: bool) -> None:
    """Keep SESSION for good."""
    request = {"sessionId": session_id, "keep": not off}
    door.call("RailsSessionSetKeep", request, lambda value: "kept" if value["keep"] else "not kept")


@session.command()
@click.argument("session_id", metavar="SESSION")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_door
def delete(door: Door, session_id: str, yes: bool) -> None:
    """Delete SESSION; its tokens end with it."""
    if not yes and not door.as_json:
        click.confirm(f"Delete {session_id} for good?", abort=True)
    request = {"sessionId": session_id, "confirm": session_id}
    door.call("RailsSessionDelete", request, lambda value: f"deleted {value['sessionId']}")


@session.command("rotate-keys")
@pass_door
def rotate_keys(door: Door) -> None:
    """Sign tokens with a new key; tokens older than the last rotation end."""
    door.call("RailsKeysRotate", {}, lambda _: "tokens are signed with a new key")


# ---------------------------------------------------------------- shared


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _output(notes: str | None, artifacts: tuple[Any, ...]) -> dict[str, Any]:
    if notes is not None and notes.startswith("@"):
        notes = Path(notes[1:]).read_text(encoding="utf-8")
    return _given(notesMarkdown=notes, artifacts=list(artifacts) or None)


def _run_id(shop: Backshop, run_ref: str) -> str:
    if run_ref.startswith("run_"):
        return run_ref
    found = shop.call("continue_workflow", {"stateToken": run_ref})
    return str(found["session"]["runId"])


def _step(answer: dict[str, Any]) -> str:
    place = answer["session"]
    where = f"{place['workflowId']}  {place['resumeRef']}"
    lines = [where]
    for entry in answer.get("recap", {}).get("entries", ()):
        lines += [f"  {clean(entry['title'])}: {clean(entry['notesMarkdown'][:200])}"]
    for blocker in answer.get("blockers", ()):
        lines += [f"blocked: {clean(blocker['message'])}"]
        lines += [f"  fix: {clean(blocker['suggestedFix'])}"] if "suggestedFix" in blocker else []
    lines += [f"warning: {clean(one['message'])}" for one in answer["warnings"]]
    lines += [f"gap ({one['severity']}): {clean(one['summary'])}" for one in answer["gaps"]]
    if answer["isComplete"]:
        return "\n".join([*lines, "complete"])
    pending = answer["pending"]
    lines += ["", f"{clean(pending['title'])} [{pending['stepId']}]", ""]
    lines += [clean(line) for line in pending["prompt"].splitlines()]
    lines += ["", f"then: backshop run continue {place['resumeRef']} --notes '…'"]
    return "\n".join(lines)


def _graph(found: dict[str, Any]) -> str:
    rows = [
        (
            node["nodeId"],
            node["nodeKind"],
            node["completedStepId"] or "(start)",
            node["pendingStepId"] or "(complete)",
            ", ".join(node["badges"]) + (" *" if node["nodeId"] == found["preferredTip"] else ""),
        )
        for node in found["nodes"]
    ]
    head = f"{clean(found['title'] or '')}  {found['workflowId']}  {found['status']}"
    return head + "\n" + table(rows, ("node", "kind", "after", "pending", "badges"))


def _sessions(found: dict[str, Any]) -> str:
    if not found["sessions"]:
        return "no sessions yet"
    rows = [
        (
            one["sessionId"],
            one["status"] if one["health"] == "healthy" else one["health"],
            one.get("currentStepId") or "",
            one.get("lastActivity") or "",
            one["title"] or "",
        )
        for one in found["sessions"]
    ]
    return table(rows, ("session", "status", "step", "last activity", "title"))


def _session(found: dict[str, Any]) -> str:
    rows = [
        (one["runId"], one["resumeRef"], one["workflowId"], one["status"], one["title"] or "")
        for one in found["runList"]
    ]
    text = f"{found['sessionId']}  {clean(found['title'] or '')}  {found['health']}"
    if rows:
        text += "\n" + table(rows, ("run", "resume ref", "workflow", "status", "title"))
    for note in found["notes"]:
        text += f"\nnote: {clean(str(note.get('notesMarkdown', note.get('kind')))[:200])}"
    return text


def _candidates(found: dict[str, Any]) -> str:
    if not found["candidates"]:
        return "no earlier work here"
    rows = [
        (
            one["resumeRef"] or one["sessionId"],
            one["status"],
            one["pendingStepId"] or "",
            ", ".join(one["whyMatched"]),
            one["title"] or "",
        )
        for one in found["candidates"]
    ]
    return table(rows, ("work", "status", "step", "why", "title"))
