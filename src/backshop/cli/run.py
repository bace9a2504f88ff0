"""`backshop run`: runs of workflows by hand (S4.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backshop.base.acting import acting
from backshop.base.canon import parse
from backshop.base.codec import decode, encode
from backshop.base.errors import BackshopError, ValidationFailed
from backshop.base.labels import RUN_STATES

from .door import (
    Door,
    DoorGroup,
    clean,
    clean_lines,
    given,
    one_line,
    pass_door,
    read_text,
    table,
    word,
    workspace_option,
)
from .spoken import advice

if TYPE_CHECKING:
    from backshop.app import Backshop
    from backshop.rails import (
        answers,
        run_view,
        runs_view,
        session_view,
        studio_answers,
        waiting_view,
    )

_MODES = ("guided", "full_auto_stop_on_user_deps", "full_auto_never_stop")
_RISKS = ("conservative", "balanced", "aggressive")
_CONTEXT_CHARS = 280
_OPEN = ("in_progress", "dormant")
_OPEN_TURN = (
    "The run of a turn that failed or paused stays open: `backshop retry BENCH` takes it up again."
)


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
@workspace_option("The project it is about; its own workflows count.")
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
@click.pass_context
@pass_door
def continue_(
    door: Door,
    ctx: click.Context,
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
            ack = _read(found).ack_token
        if ack is None:
            found = found or shop.call("continue_workflow", {"stateToken": run_ref})
        else:
            found = shop.call("continue_workflow", {"ackToken": ack, **content})
        door.show(found, _step)
    if ack is not None and _read(found).kind == "blocked":
        ctx.exit(1)


@run.command()
@click.argument("run_ref", metavar="RUN")
@_output_options
@pass_door
def checkpoint(door: Door, run_ref: str, notes: str | None, artifacts: tuple[Any, ...]) -> None:
    """Record progress at RUN without advancing."""
    with door.shop() as shop:
        here = _read(shop.call("continue_workflow", {"stateToken": _place(shop, run_ref)}))
        request = {
            "stateToken": here.state_token,
            "checkpointToken": here.checkpoint_token,
            "output": _output(notes, artifacts),
        }
        door.show(shop.call("checkpoint_workflow", request), _step)


@run.command()
@click.argument("run_ref", metavar="RUN")
@pass_door
def show(door: Door, run_ref: str) -> None:
    """Show the pending step of RUN, what was handed in for it, and what happened so far."""
    from backshop.rails import Studio  # loaded when needed (S2.4)
    from backshop.rails import studio_requests as requests

    with door.shop() as shop:
        answer = shop.call("continue_workflow", {"stateToken": _place(shop, run_ref)})
        node: run_view.NodePage | None = None
        if answer.get("blockers"):
            request = requests.RunGet(run_id=_read(answer).session.run_id, limit=1)
            tip = shop.ask(Studio.run_get, request).preferred_tip or ""
            node = shop.ask(Studio.node_get, requests.NodeGet(node_id=tip))
            while node.node_kind == "checkpoint":  # it waits with the attempt above
                node = shop.ask(Studio.node_get, requests.NodeGet(node_id=node.lineage[-2]))
        told = _with_context(answer, node) if door.as_json else answer
        door.show(told, partial(_step, node=node))


@run.command()
@click.argument("run_ref", metavar="RUN")
@pass_door
def graph(door: Door, run_ref: str) -> None:
    """Show RUN as a graph of its nodes."""
    from backshop.rails import Studio  # loaded when needed (S2.4)
    from backshop.rails import studio_requests as requests

    with door.shop() as shop:
        request = requests.RunGet(run_id=_run_id(shop, run_ref))
        door.show(shop.ask(Studio.run_get, request), _graph)


@run.command()
@click.argument("node_id", metavar="NODE")
@pass_door
def fork(door: Door, node_id: str) -> None:
    """Show NODE with an ack that branches from it."""
    from backshop.rails import Studio  # loaded when needed (S2.4)
    from backshop.rails import studio_requests as requests

    _require_node(node_id)
    with door.shop() as shop:
        found = shop.ask(Studio.run_fork, requests.NodeGet(node_id=node_id))
        door.show(found, partial(_step, ack=_read(found).ack_token))  # RUN alone is its newest step


@run.command()
@click.argument("node_id", metavar="NODE")
@click.option("--note", help="What is to be done differently; the agent reads it.")
@pass_door
def branch(door: Door, node_id: str, note: str | None) -> None:
    """Begin a branch at NODE; whoever resumes the run goes on there."""
    from backshop.rails import Studio
    from backshop.rails import studio_requests as requests

    _require_node(node_id)
    request = decode(requests.RunBranch, given(nodeId=node_id, note=note))
    door.ask(
        Studio.run_branch,
        request,
        lambda made: f"{made.node_id}\nsay to an agent: resume {made.resume.resume_ref}",
    )


@run.command("list")
@click.option("--status", type=click.Choice(RUN_STATES), help="Only runs in this state.")
@click.option("--workflow", "workflow_id", help="Only runs of this workflow.")
@click.option("--workspace", help="Only runs in this workspace, by its name.")
@click.option("--agent", help="Only runs where this agent acted last, as `mcp:NAME`.")
@click.option("--at-work", is_flag=True, help="Only where an agent acted within the last minutes.")
@click.option("--query", help="Words of title, step, workflow or resume ref.")
@click.option("--limit", default=50, show_default=True)
@pass_door
def list_(
    door: Door,
    status: str | None,
    workflow_id: str | None,
    workspace: str | None,
    agent: str | None,
    at_work: bool,
    query: str | None,
    limit: int,
) -> None:
    """List runs of all sessions, the most recently used first."""
    from backshop.rails import Studio
    from backshop.rails import studio_requests as requests

    request = given(
        status=status,
        workflowId=workflow_id,
        workspace=workspace,
        agent=agent,
        atWork=at_work,
        query=query,
        limit=limit,
    )
    is_filtered = bool(status or workflow_id or workspace or agent or at_work or query)
    none = "no run is like that" if is_filtered else "no runs yet"
    wish = decode(requests.RunsList, request)
    door.ask(Studio.runs_list, wish, lambda found: _runs(found) if found.runs else none)


@run.command()
@pass_door
def waiting(door: Door) -> None:
    """List what waits for a person; `run answer` answers it."""
    from backshop.rails import Studio
    from backshop.rails import studio_requests as requests

    door.ask(Studio.waiting_list, requests.WaitingList(), _waiting)


@run.command("set")
@click.argument("run_ref", metavar="RUN")
@click.option("--context", type=Json(), help="Inputs to set; null deletes a key.")
@_mode_options
@pass_door
def set_(
    door: Door, run_ref: str, context: Any, autonomy: str | None, risk_policy: str | None
) -> None:
    """Change the mode or the inputs of RUN from its newest node on."""
    from backshop.rails import Studio  # loaded when needed (S2.4)
    from backshop.rails import studio_requests as requests

    mode = given(autonomy=autonomy, riskPolicy=risk_policy)
    if not mode and not context:
        raise click.UsageError("give --autonomy, --risk-policy or --context")
    with door.shop() as shop:
        run_id = _run_id(shop, run_ref)
        if mode:
            wish = decode(requests.RunSetPreferences, {"runId": run_id, "preferences": mode})
            found = shop.ask(Studio.run_set_preferences, wish)
        if context:
            values = {key: value for key, value in context.items() if value is not None}
            removed = tuple(key for key in context if key not in values)
            changes = requests.RunSetContext(run_id=run_id, set=values, removed=removed)
            found = shop.ask(Studio.run_set_context, changes)
        door.show(found, lambda changed: f"changed at {changed.node_id}")


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
    from backshop.rails import Studio
    from backshop.rails import studio_requests as requests

    with door.shop() as shop:
        run_id = _run_id(shop, run_ref)
        tip = shop.ask(Studio.run_get, requests.RunGet(run_id=run_id, limit=1)).preferred_tip or ""
        request = given(nodeId=tip, inputId=input_id, decision=decision, summary=summary)
        found = shop.ask(Studio.user_input_record, decode(requests.UserInputRecord, request))
        inputs = shop.ask(Studio.node_get, requests.NodeGet(node_id=tip)).inputs
        key = next(one for one in inputs if one.id == input_id).context_key
        if decision == "provided" and key:
            shop.ask(
                Studio.run_set_context, requests.RunSetContext(run_id=run_id, set={key: summary})
            )
        door.show(found, lambda _: f"{decision}: the agent goes on with its next call")


def _output(notes: str | None, artifacts: tuple[Any, ...]) -> dict[str, Any]:
    if notes is not None and notes.startswith("@"):
        notes = read_text(Path(notes[1:]))
    return given(notesMarkdown=notes, artifacts=list(artifacts) or None)


def _place(shop: Backshop, run_ref: str) -> str:
    """Return what fetches the step: a token as it is, of anything else the resume ref."""
    from backshop.rails import resume_ref  # loaded by now (S2.4)

    return run_ref if _is_token(run_ref) else resume_ref(shop.rails.run_id(run_ref))


def _require_node(text: str) -> None:
    """Refuse what is no node, such as a run, and say where nodes are found."""
    if not text.startswith("node_"):
        raise ValidationFailed(
            f"{text[:80]!r} is no node",
            reason="bad_params",
            hints=(f"`backshop run graph {word(text[:80])}` lists the nodes of a run, node_…",),
        )


def _run_id(shop: Backshop, run_ref: str) -> str:
    if not _is_token(run_ref):
        return shop.rails.run_id(run_ref)
    return _read(shop.call("continue_workflow", {"stateToken": run_ref})).session.run_id


def _is_token(text: str) -> bool:
    return ".v" in text  # ids and resume refs have no dots


def _read(answer: Mapping[str, object]) -> answers.Execution:
    """Return an answer as it is recorded, to be read."""
    from backshop.rails import answers  # loaded by now (S2.4)

    return decode(answers.Execution, answer)


def _with_context(answer: dict[str, object], node: run_view.NodePage | None) -> dict[str, object]:
    """Return an answer with the context that was handed in for the step (R10.17)."""
    if node is None or not node.handed_context:
        return answer
    handed = answer.get("handedIn")
    known = handed if isinstance(handed, dict) else {}
    return {**answer, "handedIn": {**known, "context": dict(node.handed_context)}}


def _step(
    recorded: Mapping[str, object], node: run_view.NodePage | None = None, ack: str | None = None
) -> str:
    answer = _read(recorded)
    place = answer.session
    lines = [f"{place.workflow_id}  {place.resume_ref}"]
    for entry in answer.recap.entries if answer.recap else ():
        lines += [f"  {clean(entry.title)}: {clean_lines(entry.notes_markdown[:200], '    ')}"]
    for said in answer.person_said or ():
        lines += [f"you said ({said.input_id} {said.decision}): {clean(said.words)}"]
    for blocker in answer.blockers or ():
        lines += [f"blocked: {clean(blocker.message)}"]
        if blocker.suggested_fix:
            lines += [f"  fix: {clean(advice(blocker.suggested_fix, place.resume_ref))}"]
    if answer.preferences.wished:
        lines += [f"the agent asks for: {', '.join(map(str, answer.preferences.wished.values()))}"]
    lines += [f"warning: {clean(one.message)}" for one in answer.warnings]
    lines += [f"gap ({one.severity}): {clean(one.summary)}" for one in answer.gaps]
    lines += [_output_text(one) for one in node.outputs if one.is_current] if node else []
    lines += _context_lines(node.handed_context if node else None)
    pending = answer.pending
    if pending is None:
        return "\n".join([*lines, "complete"])
    lines += ["", f"{clean(pending.title)} [{pending.step_id}]", ""]
    lines += [clean_lines(pending.prompt.rstrip("\n"))]
    form = " ".join((*(("--ack", ack) if ack else ()), *_form(answer)))
    lines += ["", f"then: backshop run continue {place.resume_ref} {form}".rstrip()]
    lines += ["      with every <…> replaced: no step takes one for an answer"] * ("<" in form)
    return "\n".join(lines)


def _form(answer: answers.Execution) -> Iterator[str]:
    """Yield the options that make the suggested call, blanks as they are (S4.13)."""
    call = answer.next_call.arguments if answer.next_call else {}
    if "ackToken" not in call:
        return  # nothing that is handed in now would help
    output = call.get("output")
    asked = output if isinstance(output, Mapping) else {}
    artifacts = asked.get("artifacts")
    if context := call.get("context"):
        yield f"--context {word(_json(context))}"
    if notes := asked.get("notesMarkdown"):
        yield f"--notes {word(str(notes))}"
    for one in artifacts if isinstance(artifacts, list | tuple) else ():
        yield f"--artifact {word(_json(one))}"
    if not context and not asked:
        yield "--done"


def _output_text(one: session_view.OutputRow) -> str:
    """Return what was handed in, whole: who approves it has to see it (R10.16)."""
    text = one.full_markdown or one.notes_markdown or one.content or ""
    return f"handed in ({one.kind or 'notes'}):\n  {clean_lines(text.rstrip(), '  ')}"


def _context_lines(handed: Mapping[str, object] | None) -> list[str]:
    """Return the context that was handed in, whole: it is approved with the rest (R10.17)."""
    if not handed:
        return []
    rows = (f"  {clean(key)}: {clean(_json(value))}" for key, value in handed.items())
    return ["handed in (context; null takes a key away):", *rows]


def _beginning(text: str) -> str:
    return text if len(text) <= _CONTEXT_CHARS else text[: _CONTEXT_CHARS - 1] + "…"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _runs(found: runs_view.RunsFound) -> str:
    rows = [
        (one.resume_ref, one.status, one.agent or "", one.last_activity, one_line(one.title or ""))
        for one in found.runs
    ]
    shown = table(rows, ("run", "status", "agent", "last activity", "title"))
    if any(one.driver == "builtin" and one.status in _OPEN for one in found.runs):
        shown += f"\n{_OPEN_TURN}"
    return shown


def _waiting(found: studio_answers.WaitingListed) -> str:
    if not found.waiting:
        return "nothing waits for you"
    rows = [
        (
            one.resume_ref,
            one.kind,
            one.input.id if one.input else "",
            one.since,
            one_line(one.title or ""),
            one_line(one.text),
        )
        for one in found.waiting
    ]
    lines = [table(rows, ("run", "waits with", "input", "since", "title", "what"))]
    handed = [line for one in found.waiting for line in _handed_lines(one)]
    lines += dict.fromkeys(handed)  # of one run several things may wait
    lines += ["`backshop run show RUN` shows all that was handed in."] if handed else []
    return "\n".join(lines)


def _handed_lines(one: waiting_view.Waiting) -> list[str]:
    """Return the beginning of what was handed in; context on a line of its own (R10.17)."""
    lines = []
    if one.handed_in:
        lines += [f"{one.resume_ref} handed in: {clean(one_line(one.handed_in))}"]
    for key, value in (one.handed_context or {}).items():
        lines += [f"{one.resume_ref} context: {clean(_beginning(f'{key} = {_json(value)}'))}"]
    if one.input and one.input.is_early:
        lines += [f"{one.resume_ref}: nothing handed in yet; approve what the agent hands in"]
    return lines


def _graph(found: run_view.RunGraph) -> str:
    rows = [
        (
            node.node_id,
            node.node_kind,
            node.completed_step_id or "(start)",
            node.pending_step_id or "(complete)",
            ", ".join(node.badges) + (" *" if node.node_id == found.preferred_tip else ""),
        )
        for node in found.nodes
    ]
    head = f"{clean(found.title or '')}  {found.workflow_id}  {found.status}"
    return head + "\n" + table(rows, ("node", "kind", "after", "pending", "badges"))
