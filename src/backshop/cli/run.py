"""`backshop run`: runs of workflows by hand (S4.2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backshop.base.acting import acting
from backshop.base.canon import parse
from backshop.base.codec import decode, encode
from backshop.base.errors import BackshopError

from .door import Door, DoorGroup, clean, clean_lines, given, pass_door, read_text, table

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


@click.group(cls=DoorGroup)
def run() -> None:
    """Start, continue and look at runs of workflows. RUN is a resume ref (r-…), a run id,
    the beginning of one, or a token.
    """


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
    request = given(
        workflowId=workflow_id,
        goal=goal,
        context=context,
        workspacePath=str(workspace.absolute()) if workspace else None,
        sessionToken=session_token,
        preferences=given(autonomy=autonomy, riskPolicy=risk_policy) or None,
    )
    with door.shop() as shop:
        asked = decode(shop.commands.find("start_workflow").command.request, request)
        with acting(None):  # the record says who, and through which program
            answer = shop.rails.start_workflow(asked, driver="cli")
        door.show(encode(answer.structured), _step)


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
    content = given(
        output=_output(notes, artifacts) or None,
        context=context,
        preferences=given(autonomy=autonomy, riskPolicy=risk_policy) or None,
    )
    with door.shop() as shop:
        found, run_ref = None, _place(shop, run_ref)
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
        here = shop.call("continue_workflow", {"stateToken": _place(shop, run_ref)})
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
    with door.shop() as shop:
        door.show(shop.call("continue_workflow", {"stateToken": _place(shop, run_ref)}), _step)


@run.command()
@click.argument("run_ref", metavar="RUN")
@pass_door
def graph(door: Door, run_ref: str) -> None:
    """Show RUN as a graph of its nodes."""
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
    mode = given(autonomy=autonomy, riskPolicy=risk_policy)
    if not mode and not context:
        raise click.UsageError("give --autonomy, --risk-policy or --context")
    with door.shop() as shop:
        run_id, found = _run_id(shop, run_ref), {}
        if mode:
            found = shop.call("RailsRunSetPreferences", {"runId": run_id, "preferences": mode})
        if context:
            changes = {
                "set": {key: value for key, value in context.items() if value is not None},
                "removed": [key for key, value in context.items() if value is None],
            }
            found = shop.call("RailsRunSetContext", {"runId": run_id, **changes})
        door.show(found, lambda value: f"changed at {value['nodeId']}")


@run.command()
@click.argument("run_ref", metavar="RUN")
@click.argument("decision", type=click.Choice(("approved", "rejected", "provided")))
@click.option("--input", "input_id", default="approval", show_default=True, help="What is asked.")
@click.option("--summary", help="Your answer or reason, in words; needed with `provided`.")
@pass_door
def answer(door: Door, run_ref: str, decision: str, input_id: str, summary: str | None) -> None:
    """Answer what the pending step of RUN asks of you; the agent's next call counts it."""
    if decision == "provided" and not (summary or "").strip():
        raise click.UsageError("say what you provide with --summary")
    with door.shop() as shop:
        run_id = _run_id(shop, run_ref)
        tip = shop.call("RailsRunGet", {"runId": run_id, "limit": 1})["preferredTip"]
        request = given(nodeId=tip, inputId=input_id, decision=decision, summary=summary)
        found = shop.call("RailsUserInputRecord", request)
        asked = {one["id"]: one for one in shop.call("RailsNodeGet", {"nodeId": tip})["inputs"]}
        if decision == "provided" and (key := asked[input_id].get("contextKey")):
            shop.call("RailsRunSetContext", {"runId": run_id, "set": {key: summary}})
        door.show(found, lambda _: f"{decision}: the agent goes on with its next call")


def _output(notes: str | None, artifacts: tuple[Any, ...]) -> dict[str, Any]:
    if notes is not None and notes.startswith("@"):
        notes = read_text(Path(notes[1:]))
    return given(notesMarkdown=notes, artifacts=list(artifacts) or None)


def _place(shop: Backshop, run_ref: str) -> str:
    """Return what fetches the step: a token as it is, of anything else the resume ref."""
    from backshop.rails import resume_ref  # loaded by now (S2.4)

    return run_ref if _is_token(run_ref) else resume_ref(shop.rails.run_id(run_ref))


def _run_id(shop: Backshop, run_ref: str) -> str:
    if not _is_token(run_ref):
        return shop.rails.run_id(run_ref)
    found = shop.call("continue_workflow", {"stateToken": run_ref})
    return str(found["session"]["runId"])


def _is_token(text: str) -> bool:
    return ".v" in text  # ids and resume refs have no dots


def _step(answer: dict[str, Any]) -> str:
    place = answer["session"]
    where = f"{place['workflowId']}  {place['resumeRef']}"
    lines = [where]
    for entry in answer.get("recap", {}).get("entries", ()):
        notes = clean_lines(entry["notesMarkdown"][:200], "    ")
        lines += [f"  {clean(entry['title'])}: {notes}"]
    for blocker in answer.get("blockers", ()):
        lines += [f"blocked: {clean(blocker['message'])}"]
        lines += [f"  fix: {clean(blocker['suggestedFix'])}"] if "suggestedFix" in blocker else []
    wished = answer["preferences"].get("wished")
    if wished:
        lines += [f"the agent asks for: {', '.join(wished.values())}"]
    lines += [f"warning: {clean(one['message'])}" for one in answer["warnings"]]
    lines += [f"gap ({one['severity']}): {clean(one['summary'])}" for one in answer["gaps"]]
    if answer["isComplete"]:
        return "\n".join([*lines, "complete"])
    pending = answer["pending"]
    lines += ["", f"{clean(pending['title'])} [{pending['stepId']}]", ""]
    lines += [clean_lines(pending["prompt"].rstrip("\n"))]
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
