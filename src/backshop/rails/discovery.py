"""Answers of the tools that only look: lists, outlines, sessions (R3.7–R3.11, R7.4, R7.5, R7.9)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from backshop.base.codec import decode, encode

from . import requests
from .answers import FoundProblem, Inspected, InvalidFile, Listed, Warned, WorkflowRow
from .catalog.catalog import Listing
from .catalog.catalog import Workflow as Found
from .compile import CompiledStep, ConfirmationKind, StepKind
from .definition.finding import Finding
from .definition.identity import IdStatus, WorkflowKind
from .errors import RailsError, invalid
from .run import form
from .run.answer import Answer
from .run.judge import warning
from .session.events import ReferenceStatus
from .session.ordinal import attempt_id
from .session.state import SessionState
from .token import token as tk

Json = dict[str, object]


def listed(listing: Listing, request: requests.ListWorkflows) -> tuple[Listed, str]:
    """Return one page of the workflows and everything that cannot run, also in words."""
    kind = WorkflowKind(request.kind) if request.kind else None
    found = listing.workflows(kind=kind, query=request.query)
    start = page_start(request.cursor)
    following = start + request.limit
    page = found[start:following]
    facts = Listed(
        workflows=tuple(_row(listing, one) for one in page),
        invalid=tuple(
            InvalidFile(file=one.file, findings=tuple(map(_finding, one.findings)))
            for one in listing.invalid
        ),
        warnings=tuple(map(_finding, listing.warnings)),
        next_cursor=str(following) if following < len(found) else None,
    )
    lines = [f"{len(found)} workflows:" if found else "No workflow was found."]
    lines += [f"- {one.workflow_id}: {one.name}. {one.description}" for one in facts.workflows]
    for bad in facts.invalid:
        lines.append(f"{bad.file} cannot run:")
        lines += [f"  {_finding_line(one)}" for one in bad.findings]
    lines += [f"Warning: {_finding_line(one)}" for one in facts.warnings]
    if facts.next_cursor:
        lines.append(f"There are more: call again with cursor {facts.next_cursor}.")
    lines.append("Look closer with inspect_workflow; begin with start_workflow.")
    return facts, "\n".join(lines)


def inspected(
    listing: Listing, request: requests.InspectWorkflow, workspace: Path | None
) -> tuple[Inspected, str]:
    """Return one workflow as closely as asked for, and the outline of it in words."""
    found = listing.load(request.workflow_id)
    compiled, entry = found.compiled, found.entry
    references, unresolved = resolved(found, workspace)
    status = {one.id: one.status for one in references}
    warnings = [*id_warnings(listing, found, request.workflow_id), *unresolved]
    is_preview, is_compiled = request.mode == "preview", request.mode == "compiled"
    facts = Inspected(
        workflow_id=request.workflow_id,
        workflow_hash=found.workflow_hash,
        mode=request.mode,
        id_status=entry.id_status.value,
        source_kind=entry.source.kind.value,
        metadata={**_metadata(found), "stepCount": _step_count(found)},
        references=tuple({**encode(one), "status": status[one.id]} for one in compiled.references),
        warnings=tuple(decode(Warned, one) for one in warnings),
        canonical_id=entry.workflow_id if entry.workflow_id != request.workflow_id else None,
        suggested_id=listing.suggestion(entry),
        outline=tuple(map(outline, compiled.steps)) if is_preview else None,
        compiled=encode(compiled) if is_compiled else None,
    )
    lines = [f"{compiled.name} ({entry.workflow_id}): {compiled.description}"]
    lines += [f"{'  ' * depth}- {one.title}" for depth, one in _walk(compiled.steps, 0)]
    lines += [
        f"Reference: {one.title}: {one.source} ({one.purpose}) [{status[one.id]}]"
        for one in compiled.references
    ]
    lines += [f"Warning: {one.code}: {one.message}" for one in facts.warnings]
    return facts, "\n".join(lines)


def id_warnings(listing: Listing, found: Found, requested: str) -> list[Json]:
    """Return what is to be said about the id that was asked for (R3.11)."""
    entry = found.entry
    warnings = []
    if entry.id_status is IdStatus.LEGACY:
        suggestion = listing.suggestion(entry) or ""
        message = f"{entry.workflow_id} has no namespace; rename it to {suggestion}."
        warnings.append(
            warning(
                "LEGACY_WORKFLOW_ID",
                message,
                workflowId=entry.workflow_id,
                suggestedId=suggestion,
            )
        )
    if entry.workflow_id != requested:
        message = f"{requested} is short for {entry.workflow_id}."
        warnings.append(
            warning(
                "WORKFLOW_ID_ALIASED",
                message,
                requestedId=requested,
                canonicalId=entry.workflow_id,
            )
        )
    return warnings


def resolved(
    found: Found, workspace: Path | None
) -> tuple[tuple[ReferenceStatus, ...], list[Json]]:
    """Say which references exist; none is ever read (R1.35)."""
    statuses, warnings = [], []
    for one in found.compiled.references:
        root = found.entry.source.root if one.resolve_from == "package" else workspace
        exists = root is not None and _inside(root, one.source)
        statuses.append(ReferenceStatus(one.id, "resolved" if exists else "unresolved"))
        if not exists:
            message = f"The reference {one.title} was not found."
            warnings.append(warning("REFERENCE_UNRESOLVED", message, id=one.id))
    return tuple(statuses), warnings


def session_answer(keys: tk.Keys, session_id: str, state: SessionState, attempt: int) -> Answer:
    """Return a session's tokens; the checkpoint is the one of attempt number `attempt`."""
    title = state.observations.get("title")
    current = attempt_id(session_id, "checkpoint", attempt)
    tokens: Json = {
        "sessionToken": tk.session_token(keys, session_id),
        "checkpointToken": tk.session_checkpoint_token(keys, session_id, current),
    }
    data: Json = {
        "kind": "ok",
        "session": {"sessionId": session_id, "title": title},
        **tokens,
        "nextCall": note_call(tokens),
    }
    return Answer(data, (_session_text(title, data),))


def note_call(tokens: Json) -> Json:
    """Return the call that records a note of a session, to be filled in (R8.33)."""
    return {
        "tool": "checkpoint_workflow",
        "arguments": {**tokens, "output": {"notesMarkdown": form.KEEP}},
    }


def session_again(keys: tk.Keys, session_id: str, state: SessionState) -> RailsError:
    """Return the refusal of other content for a used token, and the token it needs (R6.16)."""
    current = attempt_id(session_id, "checkpoint", len(state.session_attempts))
    return RailsError(
        "ALREADY_RECORDED",
        "checkpoint_workflow: this checkpointToken was used with other content, which stands; what"
        " was sent now is not recorded",
        "To record it too, make the call again with the checkpointToken of `details`.",
        details={"checkpointToken": tk.session_checkpoint_token(keys, session_id, current)},
    )


def _session_text(title: str | None, data: Json) -> str:
    block = {"next": data["nextCall"]}
    session = data["session"]
    assert isinstance(session, dict)
    head = f"# Session: {title}" if title else "# Session"
    head += f"\n\n{session['sessionId']}"
    return f"{head}\n\nRecord notes with the call below.\n\n```json\n{json.dumps(block)}\n```"


def _row(listing: Listing, found: Found) -> WorkflowRow:
    compiled, entry = found.compiled, found.entry
    wish = compiled.recommended_preferences
    recommended = {
        "autonomy": wish.recommended_autonomy,
        "riskPolicy": wish.recommended_risk_policy,
    }
    return WorkflowRow(
        workflow_id=entry.workflow_id,
        name=compiled.name,
        description=compiled.description,
        version=compiled.version,
        kind=entry.kind.value,
        id_status=entry.id_status.value,
        suggested_id=listing.suggestion(entry),
        source_kind=entry.source.kind.value,
        workflow_hash=found.workflow_hash,
        step_count=_step_count(found),
        recommended={key: value for key, value in recommended.items() if value} or None,
        capabilities=dict(compiled.capabilities) or None,
        examples=found.definition.examples or None,
    )


def _metadata(found: Found) -> Json:
    return {
        "workflowId": found.entry.workflow_id,
        "name": found.compiled.name,
        "description": found.compiled.description,
        "version": found.compiled.version,
    }


def _step_count(found: Found) -> int:
    return sum(1 for step in found.compiled.walk() if step.kind is not StepKind.LOOP)


def outline(step: CompiledStep) -> Json:
    """Return a step as an outline shows it, with what is inside it (R3.8)."""
    confirmation = step.require_confirmation
    word = "conditional" if confirmation.condition else "always"
    if confirmation.kind is ConfirmationKind.NONE:
        word = "none"
    elif confirmation.kind is ConfirmationKind.HUMAN_APPROVAL:
        word = "human"
    found: Json = {
        "stepId": step.step_id,
        "title": step.title,
        "kind": step.kind.value,
        "conditional": step.run_condition is not None,
        "confirmation": word,
    }
    if step.contract is not None:
        found["contractRef"] = step.contract.contract_ref
    if step.loop is not None:
        found["loop"] = {
            "type": step.loop.type.value,
            "maxIterations": step.loop.max_iterations,
        }
    if step.body is not None:
        found["body"] = [outline(one) for one in step.body]
    return found


def _walk(steps: tuple[CompiledStep, ...], depth: int) -> Iterator[tuple[int, CompiledStep]]:
    for step in steps:
        yield depth, step
        yield from _walk(step.body or (), depth + 1)


def _finding(one: Finding) -> FoundProblem:
    return FoundProblem(
        code=one.code,
        severity=one.severity.value,
        pointer=one.pointer,
        message=one.message,
        fix=one.fix,
    )


def _finding_line(one: FoundProblem) -> str:
    line = f"{one.severity} {one.code} at {one.pointer or 'the top'}: {one.message}"
    return f"{line} Fix: {one.fix}" if one.fix else line


def page_start(cursor: str | None) -> int:
    """Return where a page begins; refuses what no page before it gave."""
    if cursor is None:
        return 0
    if not cursor.isdecimal() or not cursor.isascii() or len(cursor) > 9:
        raise invalid("cursor is not one of this tool", "Send the nextCursor of the page before.")
    return int(cursor)


def _inside(root: Path, relative: str) -> bool:
    try:
        path = (root / relative).resolve()
        return path.is_relative_to(root.resolve()) and path.exists()
    except (OSError, ValueError):
        return False
