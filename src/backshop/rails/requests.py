"""What the tools take: one definition for arguments, JSON Schemas and the reference (R7.1)."""

# ruff: noqa: RUF009  # the calls make dataclass fields with their descriptions
from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Literal, TypeVar

from backshop.base.codec import camel, decode, to_camel
from backshop.base.errors import ValidationFailed
from backshop.base.limits import QUERY_MAX_CHARS

from .errors import invalid
from .run import inputs
from .session.events import Autonomy, RiskPolicy

T = TypeVar("T")
Json = dict[str, object]


def _says(description: str, default: Any = None, **limits: object) -> Any:
    return field(default=default, metadata={"description": description, **limits})


def _needs(description: str, **limits: object) -> Any:
    return field(metadata={"description": description, **limits})


_WORKSPACE = "Absolute project path"


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """A wanted mode."""

    autonomy: Autonomy | None = _says("How far the agent goes without the person")
    risk_policy: RiskPolicy | None = _says("How bold it may be")


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a step brought."""

    notes_markdown: str | None = _says("Short recap of this step only, at most 10 lines")
    artifacts: tuple[Json, ...] | None = _says("Typed outputs; each an object with a `kind`")


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class ListWorkflows:
    """Arguments of list_workflows."""

    workspace_path: str | None = _says(_WORKSPACE)
    kind: Literal["workflow", "routine"] | None = _says("Only workflows or only routines")
    query: str | None = _says("Words that must all occur", max_length=QUERY_MAX_CHARS)
    limit: int = _says("How many at most", 100, ge=1, le=200)
    cursor: str | None = _says("nextCursor of the page before")


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class InspectWorkflow:
    """Arguments of inspect_workflow."""

    workflow_id: str = _needs("Id as list_workflows gives it")
    mode: Literal["metadata", "preview", "compiled"] = _says("How much to show", "preview")
    workspace_path: str | None = _says(_WORKSPACE)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class StartWorkflow:
    """Arguments of start_workflow."""

    workflow_id: str = _needs("Id as list_workflows gives it")
    goal: str | None = _says("What this run is for, in one sentence", max_length=500)
    context: Json | None = _says("External inputs: ids, parameters, constraints")
    workspace_path: str | None = _says(_WORKSPACE)
    preferences: Preferences | None = _says("A more careful mode; more is noted as a wish")
    session_token: str | None = _says("Put the run into this session")
    parent_state_token: str | None = _says("The step of another run this one is done for")
    idempotency_key: str | None = _says(
        "Repeating a call with the same key returns the same run",
        pattern=r"^[A-Za-z0-9._-]{8,128}$",
    )


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class ContinueWorkflow:
    """Arguments of continue_workflow."""

    state_token: str | None = _says("Where the run stands; alone it fetches the step again")
    ack_token: str | None = _says("Says the pending step is done; from the same answer")
    output: Output | None = _says("What the step brought; only with ackToken")
    context: Json | None = _says("External inputs that changed; null deletes a key")
    preferences: Preferences | None = _says("As in start_workflow, from here on")


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointWorkflow:
    """Arguments of checkpoint_workflow."""

    checkpoint_token: str = _needs("From the same answer as the other token")
    output: Output = _needs("Notes or artifacts to keep")
    state_token: str | None = _says("The step the work belongs to")
    session_token: str | None = _says("The session, for work outside any run")


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class StartSession:
    """Arguments of start_session."""

    title: str | None = _says("What the work is about", max_length=200)
    workspace_path: str | None = _says(_WORKSPACE)
    idempotency_key: str | None = _says(
        "Repeating a call with the same key returns the same session",
        pattern=r"^[A-Za-z0-9._-]{8,128}$",
    )


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSession:
    """Arguments of resume_session."""

    query: str | None = _says("Words about the work to find", max_length=QUERY_MAX_CHARS)
    resume_ref: str | None = _says("Short name of a run, r-…")
    session_id: str | None = _says("Exact session")
    run_id: str | None = _says("Exact run")
    git_branch: str | None = _says("Branch the work was on", max_length=256)
    git_head_sha: str | None = _says("Commit the work was at", max_length=64)
    workspace_path: str | None = _says(_WORKSPACE)
    same_workspace_only: bool = _says("Leave out work of other repositories", False)


def parsed(cls: type[T], tool: str, arguments: object, *, hidden: Collection[str] = ()) -> T:
    """Return a tool's arguments, or the refusal that says what to send instead.

    Null for an optional argument means that it is absent.
    """
    if not isinstance(arguments, Mapping):
        raise invalid(f"{tool}: the arguments are not an object", f"Call {tool} with an object.")
    given = {key: value for key, value in arguments.items() if value is not None}
    names = [to_camel(one.name) for one in fields(cls)]  # type: ignore[arg-type]  # request classes
    known = [name for name in names if name not in hidden]
    for key in given:
        if key not in known:
            raise _unknown(tool, str(key), known)
    output = given.get("output")
    if isinstance(output, Mapping):
        given["output"] = inputs.wrapped(output)
    try:
        return decode(cls, given)
    except ValidationFailed as error:
        hint = error.hints[0] if error.hints else error.message
        raise invalid(
            f"{tool}: {error.message}",
            f"Correct {hint}." if error.hints else "Send plain JSON.",
            problems=list(error.hints),
        ) from error


def raw_output(output: Output | None) -> inputs.Submitted:
    """Return the checked output of a request."""
    if output is None:
        return inputs.Submitted()
    raw: Json = {}
    if output.notes_markdown is not None:
        raw["notesMarkdown"] = output.notes_markdown
    if output.artifacts is not None:
        raw["artifacts"] = list(output.artifacts)
    return inputs.output(raw)


def _unknown(tool: str, key: str, known: list[str]) -> Exception:
    if key in ("notes", "notesMarkdown", "artifacts") and "output" in known:
        return invalid(
            f"{tool}: {key} is not an argument of its own",
            f"Put it inside output: {inputs.SHAPE}.",
        )
    near = get_close_matches(key, known, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}."
    return invalid(f"{tool}: unknown argument {key[:60]!r}", hint)
