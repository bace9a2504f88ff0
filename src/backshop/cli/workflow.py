"""`backshop workflow`: see what there is, check a file, write one of your own (S4.2)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backshop.base.codec import decode
from backshop.base.command import Nothing

from .bench import BENCH, bench_of
from .door import (
    OF_PROJECT,
    Door,
    DoorGroup,
    clean,
    clean_lines,
    coloured,
    given,
    pass_door,
    read_text,
    table,
    word,
    workspace_option,
)

if TYPE_CHECKING:
    from backshop.app import Backshop
    from backshop.rails import Finding, answers, definitions, run_view
    from backshop.workshop import SavedWorkflow, WorkflowsAsking
    from backshop.workshop.requests import SaveWorkflow

_WATCH_S = 0.5
_ROLES = {"changed": "changed", "created": "made", "read": "read"}
_CONFIRMED = {"none": "", "human": "your approval"}  # any other is asked for in the agent's chat
_COLOURS = {"error": "red", "warning": "yellow"}


_project = workspace_option(
    "A project, whose own workflows count too (default: the configured one)."
)


def _target(command: Any) -> Any:
    return click.option(
        "--project",
        "is_project",
        is_flag=True,
        help="Write into the project's .backshop/workflows instead of this home.",
    )(command)


@click.group(cls=DoorGroup)
def workflow() -> None:
    """List, check, write, copy and delete workflows."""


@workflow.command("list")
@click.option("--query", help="Words that id, name, description or tags must hold.")
@click.option("--kind", type=click.Choice(["workflow", "routine"]), help="Only one kind.")
@_project
@pass_door
def list_(door: Door, query: str | None, kind: str | None, workspace: Path | None) -> None:
    """Show the workflows there are, and the files that cannot run."""
    from backshop.rails import ListWorkflows, Rails  # loaded when needed (S2.4)

    request = given(query=query, kind=kind, limit=200, **_place(workspace))
    door.ask(Rails.workflows, decode(ListWorkflows, request), _listed)
    if door.project_left_out:
        door.tell(OF_PROJECT)


@workflow.command()
@click.argument("workflow_id", metavar="ID")
@click.option(
    "--mode",
    type=click.Choice(["metadata", "preview", "compiled", "source", "pinned"]),
    default="preview",
    show_default=True,
    help="How much to show; pinned takes the workflowHash of a run as ID.",
)
@_project
@pass_door
def inspect(door: Door, workflow_id: str, mode: str, workspace: Path | None) -> None:
    """Show one workflow: its steps, its compiled form, or the file as it was written."""
    from backshop.rails import (  # loaded when needed (S2.4)
        Definitions,
        InspectWorkflow,
        Rails,
        Studio,
        definitions,
    )
    from backshop.rails import studio_requests as requests

    request = {"workflowId": workflow_id, **_place(workspace)}
    if mode == "source":
        asked = decode(definitions.WorkflowSource, request)
        door.ask(Definitions.workflow_source, asked, lambda text: clean_lines(text.source))
    elif mode == "pinned":
        kept = decode(requests.WorkflowPinned, {"workflowHash": workflow_id})
        door.ask(Studio.workflow_pinned, kept, _pinned)
    else:
        door.ask(Rails.workflow, decode(InspectWorkflow, {**request, "mode": mode}), _inspected)


@workflow.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--strict", is_flag=True, help="Unknown fields are errors.")
@click.option("--watch", is_flag=True, help="Check again whenever the file changes; ends with ^C.")
@_project
@pass_door
def validate(door: Door, file: Path, strict: bool, watch: bool, workspace: Path | None) -> None:
    """Check FILE and list everything that is wrong with it; exit code 1 if it cannot run."""
    from backshop.rails import Definitions, definitions  # loaded when needed (S2.4)

    path = str(file.absolute())
    request = decode(
        definitions.WorkflowValidate, {"path": path, "strict": strict, **_place(workspace)}
    )
    before = _state(file)  # taken before the check, so that no change falls between
    with door.shop() as shop:
        found = shop.ask(Definitions.workflow_validate, request)
        door.show(found, _validated)
        try:
            for _ in _changes(file, before) if watch else ():
                found = shop.ask(Definitions.workflow_validate, request)
                door.show(found, _validated)
        except KeyboardInterrupt:  # how watching ends; the last answer counts
            pass
    if not found.valid:
        raise click.exceptions.Exit(1)


@workflow.command()
@click.argument("workflow_id", metavar="ID")
@click.option("--name", help="What people read; made from the id by default.")
@_target
@_project
@pass_door
def new(
    door: Door, workflow_id: str, name: str | None, is_project: bool, workspace: Path | None
) -> None:
    """Write a commented starting point that runs as it is."""
    from backshop.rails import Definitions, definitions  # loaded when needed (S2.4)

    request = given(workflowId=workflow_id, name=name, **_into(is_project, workspace))
    door.ask(Definitions.workflow_new, decode(definitions.WorkflowNew, request), _saved(request))


@workflow.command()
@click.argument("file", type=click.File("r", encoding="utf-8"))
@click.option(
    "--expect",
    "expected",
    metavar="HASH",
    help="Replace only a file with this hash (`inspect ID --mode source --json`); 'none': none.",
)
@_target
@_project
@pass_door
def save(
    door: Door, file: Any, expected: str | None, is_project: bool, workspace: Path | None
) -> None:
    """Check FILE (- for standard input) strictly and put it among the workflows."""
    from backshop.rails import Definitions, definitions  # loaded when needed (S2.4)

    seen = "" if expected == "none" else expected
    request = given(source=read_text(file), expectedHash=seen, **_into(is_project, workspace))
    door.ask(Definitions.workflow_save, decode(definitions.WorkflowSave, request), _saved(request))


@workflow.command("save-turn")
@BENCH
@click.argument("name")
@click.option("--turn", help="This turn; without it, the newest that is finished.")
@click.option("--id", "workflow_id", help="Its id; made from the name by default.")
@click.option("--expect", "expected", metavar="HASH", help="Replace a file with this hash.")
@click.option("--replace", is_flag=True, help="Replace the file of this id, whatever it holds.")
@_target
@_project
@pass_door
def save_turn(
    door: Door,
    bench: str,
    name: str,
    turn: str | None,
    workflow_id: str | None,
    expected: str | None,
    replace: bool,
    is_project: bool,
    workspace: Path | None,
) -> None:
    """Save a finished turn of BENCH as a workflow called NAME, its files as inputs.

    A workflow of that id that was edited since stays, unless --replace or --expect says otherwise.
    """
    from backshop.workshop import requests  # loaded when needed (S2.4)

    if replace and expected is not None:
        raise click.UsageError("say --replace or --expect, not both")
    with door.shop() as shop:
        wish = partial(
            requests.SaveWorkflow,
            workbench_id=bench_of(shop, bench),
            name=name,
            turn_id=turn,
            workflow_id=workflow_id,
            scope="project" if is_project else "user",
            workspace_path=str(workspace.absolute()) if workspace else None,
        )
        is_blind = expected is None and not replace
        saved = _save_turn(shop, wish, expected, replace=replace)
        door.show(saved, partial(_turn_saved, was_same=is_blind))


def _save_turn(
    shop: Backshop, wish: Callable[..., SaveWorkflow], expected: str | None, *, replace: bool
) -> SavedWorkflow:
    """Save a turn; a file that is there and was not expected goes only where somebody said so."""
    from backshop.rails import RailsError  # loaded when needed (S2.4)
    from backshop.workshop import Again

    try:
        return shop.ask(Again.save_workflow, wish(expected_hash=expected))
    except RailsError as refused:
        if refused.rails_code != "PRECONDITION_FAILED" or expected is not None:
            raise
        if not replace:
            raise RailsError(
                refused.rails_code,
                f"{refused.message}: it was written or edited by hand",
                "--replace replaces it; --id ID or another NAME leaves it as it is.",
                details=refused.details,
            ) from refused
        there = str((refused.details or {})["sourceHash"])
        return shop.ask(Again.save_workflow, wish(expected_hash=there))


@workflow.command("inputs")
@BENCH
@click.argument("workflow_id", metavar="[ID]", required=False)
@pass_door
def inputs_(door: Door, bench: str, workflow_id: str | None) -> None:
    """Show the files that the workflow ID asks for, or every workflow of yours that asks."""
    from backshop.workshop import Again, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        wish = requests.GetWorkflowInputs(
            workbench_id=bench_of(shop, bench), workflow_id=workflow_id
        )
        door.show(shop.ask(Again.get_workflow_inputs, wish), _asking)


@workflow.command()
@click.argument("workflow_id", metavar="ID")
@click.argument("new_id", metavar="NEW_ID")
@_target
@_project
@pass_door
def copy(
    door: Door, workflow_id: str, new_id: str, is_project: bool, workspace: Path | None
) -> None:
    """Save a workflow under another id, to change it."""
    from backshop.rails import Definitions, definitions  # loaded when needed (S2.4)

    request = {"workflowId": workflow_id, "newId": new_id, **_into(is_project, workspace)}
    door.ask(Definitions.workflow_copy, decode(definitions.WorkflowCopy, request), _saved(request))


@workflow.command()
@click.argument("workflow_id", metavar="ID")
@click.option(
    "--expect",
    "expected",
    metavar="HASH",
    help="Delete only a file with this hash (`inspect ID --mode source --json`).",
)
@click.option(
    "--project",
    "is_project",
    is_flag=True,
    help="Delete from the project's .backshop/workflows instead of this home.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@_project
@pass_door
def delete(
    door: Door,
    workflow_id: str,
    expected: str | None,
    is_project: bool,
    yes: bool,
    workspace: Path | None,
) -> None:
    """Take a workflow of yours away; runs that began with it go on as they began."""
    from backshop.rails import Definitions, definitions  # loaded when needed (S2.4)

    into = _into(is_project, workspace)
    request = given(workflowId=workflow_id, expectedHash=expected, **into)
    with door.shop() as shop:
        if not yes:
            about = given(workflowId=workflow_id, **_place(workspace))
            shop.ask(Definitions.workflow_source, decode(definitions.WorkflowSource, about))
            door.confirm(f"Delete {clean(workflow_id)}?", "deleting a workflow")
        gone = shop.ask(Definitions.workflow_delete, decode(definitions.WorkflowDelete, request))
        door.show(gone, _deleted)


@workflow.command()
@pass_door
def sync(door: Door) -> None:
    """Fetch the repositories of the setting rails.git_sources."""
    from backshop.rails import Definitions  # loaded when needed (S2.4)

    door.ask(Definitions.sources_sync, Nothing(), _synced)


@workflow.command()
@pass_door
def builtins(door: Door) -> None:
    """List what a workflow can use: templates, features, contracts, refs, capabilities."""
    from backshop.rails import Definitions  # loaded when needed (S2.4)

    door.ask(Definitions.builtins_list, Nothing(), _builtins)


def _place(workspace: Path | None) -> dict[str, str]:
    return {"workspacePath": str(workspace.absolute())} if workspace else {}


def _into(is_project: bool, workspace: Path | None) -> dict[str, str]:
    return {"target": "project" if is_project else "user", **_place(workspace)}


def _changes(file: Path, seen: tuple[int, int] | None) -> Iterator[None]:
    """Yield each time the file has changed, for ever."""
    while True:
        time.sleep(_WATCH_S)
        if (now := _state(file)) != seen:
            seen = now
            yield


def _state(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _listed(found: answers.Listed) -> str:
    rows: list[tuple[str, ...]] = [
        (one.workflow_id, one.kind, one.source_kind, str(one.step_count), one.name)
        for one in found.workflows
    ]
    parts = [table(rows, ("ID", "KIND", "FROM", "STEPS", "NAME"))]
    for broken in found.invalid:
        parts.append(f"{clean(broken.file)} cannot run:\n{_findings(broken.findings)}")
    parts += [f"note: {clean(one.message)}" for one in found.warnings]
    return "\n\n".join(parts)


def _pinned(found: run_view.PinnedPage) -> str:
    return json.dumps(found.compiled, ensure_ascii=False, indent=2)


def _inspected(found: answers.Inspected) -> str:
    if found.compiled is not None:
        return json.dumps(found.compiled, ensure_ascii=False, indent=2)
    facts = found.metadata
    head = f"{found.workflow_id}  {facts['version']}\n{facts['name']}\n{facts['description']}"
    return "\n".join([clean_lines(head), *_outline(found.outline or (), 1)])


def _outline(steps: Any, depth: int) -> Iterator[str]:
    for step in steps:
        marks = [
            "sometimes" if step.get("conditional") else "",
            _CONFIRMED.get(step.get("confirmation", "none"), "the agent asks"),
            step.get("contractRef", ""),
            _loop(step["loop"]) if "loop" in step else "",
        ]
        said = ", ".join(mark for mark in marks if mark)
        text = clean(f"{step['stepId']}: {step['title']}")
        yield "  " * depth + text + (f"  ({said})" if said else "")
        yield from _outline(step.get("body") or (), depth + 1)


def _loop(loop: Mapping[str, Any]) -> str:
    return f"{loop['type']}, at most {loop['maxIterations']} times"


def _validated(found: definitions.WorkflowValidated) -> str:
    name = clean(found.workflow_id or "it")
    if not found.findings:
        return f"{name} is in order ({(found.workflow_hash or '')[:19]})"
    return f"{_findings(found.findings)}\n{name} {'can run' if found.valid else 'cannot run'}"


def _findings(findings: Sequence[Finding | answers.FoundProblem]) -> str:
    lines = []
    for one in findings:
        code = coloured(one.code, _COLOURS.get(one.severity))
        code = code if sys.stdout.isatty() else one.code
        lines.append(f"  {code} {clean(one.pointer or '/')}: {clean(one.message)}")
        if one.fix:
            lines.append(f"    instead: {clean(one.fix)}")
    return "\n".join(lines)


def _saved(request: Mapping[str, Any]) -> Callable[[definitions.WorkflowSaved], str]:
    place = request.get("workspacePath") if request["target"] == "project" else None

    def shown(found: definitions.WorkflowSaved) -> str:
        verb = "replaced" if found.replaced else "wrote"
        text = f"{verb} {clean(found.path)}\nstart it as {clean(found.workflow_id)}"
        text += f" --workspace {word(place)}" if place else ""
        return f"{text}\n{_findings(found.findings)}" if found.findings else text

    return shown


def _turn_saved(found: SavedWorkflow, *, was_same: bool) -> str:
    """Return for people what was saved; `was_same`: a file that was there held just this."""
    done = (
        ("is there already, the same:" if was_same else "replaced") if found.replaced else "wrote"
    )
    lines = [f"{done} {clean(found.path)}"]
    lines += [f"step {clean(one.step_id)}: {clean(one.title)}" for one in found.steps]
    lines += [
        f"input {one.name}: {_ROLES[one.role]}, here {clean(one.path)}" for one in found.inputs
    ]
    lines += [f"note: {clean(note)}" for note in found.notes]
    files = " ".join(f"--input {one.name}=PATH" for one in found.inputs if one.role != "created")
    again = f"backshop send BENCH TEXT --workflow {found.workflow_id} {files}".rstrip()
    return "\n".join([*lines, f"do it again: {again}"])


def _asking(found: WorkflowsAsking) -> str:
    if not found.workflows:
        return "no workflow of yours asks for files (`backshop workflow save-turn` makes one)"
    lines = []
    for one in found.workflows:
        lines.append(f"{clean(one.workflow_id)}  {clean(one.name)}")
        for asked in one.inputs:
            said = f", {clean(asked.proposal)} unless you say" if asked.proposal else ""
            lines.append(f"  {clean(asked.name)}: {clean(asked.prompt)}{said}")
    return "\n".join(lines)


def _deleted(found: definitions.WorkflowDeleted) -> str:
    text = f"deleted {clean(found.path)}"
    if found.uncovered:
        text += f"\n{clean(found.workflow_id)} is {clean(found.uncovered)} now"
    return text


def _synced(found: definitions.SourcesSynced) -> str:
    if not found.repositories:
        return "no repository is configured (setting rails.git_sources)"
    return "\n".join(
        f"{clean(one.url)} {clean(one.ref)}: "
        + (f"failed, {clean(one.error)}" if one.error else f"at {(one.commit or '')[:12]}")
        for one in found.repositories
    )


def _builtins(found: definitions.BuiltinsListed) -> str:
    rows: list[tuple[str, ...]] = [(one.kind, one.id, one.title) for one in found.builtins]
    return table(rows, ("KIND", "ID", "WHAT"))
