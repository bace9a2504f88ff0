"""Answers of the execution tools: text first, the same facts as data, replayable (R7.12–R7.16).

A body is what is recorded: everything but the tokens. `filled` puts in the tokens, which are pure
functions of recorded nodes, so a repeated call gives back the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backshop.base.ids import b32
from backshop.base.limits import GUIDANCE_MAX_BYTES

from . import preferences, tokens
from .compile import Compiled
from .errors import cut
from .events import Effective, ReferenceStatus
from .prompt import Rendered

Json = dict[str, object]

_ORDER = (
    *("kind", "stateToken", "ackToken", "checkpointToken", "sessionToken", "isComplete"),
    *("pending", "blockers", "retryable", "validation", "example", "nextIntent", "nextCall"),
    *("session", "preferences", "warnings", "gaps", "stepContext", "fork", "checkpoint"),
    *("recap", "branches"),
)
_CLOSING = {
    "perform_pending_then_continue": (
        "Do this step now, then make the call below with what you did. The next step is unknown"
        " until you fetch it that way."
    ),
    "await_user_confirmation": (
        "Show the person what you have and wait for their answer before you make the call below."
        " The next step is unknown until you fetch it that way."
    ),
    "rehydrate_only": (
        "This step cannot be retried. Fetch it again with the call below once the cause is gone;"
        " what comes next is unknown until then."
    ),
    "complete": "The run is complete; there is no next step.",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool call comes to: text for the model, and the same facts as data."""

    structured: Json
    texts: tuple[str, ...] = ()
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Whose tokens an answer carries, and which attempts they are for."""

    node_id: str
    workflow_hash: str
    ack: str | None  # attempt id; None when nothing is pending
    checkpoint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an answer belongs, for people and for the next call."""

    session_id: str
    run_id: str
    workflow_id: str
    resume_ref: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "resume_ref", resume_ref(self.run_id))

    def wire(self) -> Json:
        """Return it as answers show it."""
        return {
            "sessionId": self.session_id,
            "runId": self.run_id,
            "resumeRef": self.resume_ref,
            "workflowId": self.workflow_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything an execution answer tells, before it is put into words."""

    place: Place
    mode: Effective
    rendered: Rendered | None
    warnings: Sequence[Json] = ()
    gaps: Sequence[Json] = ()
    blockers: Sequence[Json] = ()
    is_retryable: bool = True
    validation: Json | None = None
    example: Mapping[str, object] | None = None
    more: Mapping[str, object] = field(default_factory=dict)  # recap, branches, fork, …
    guidance: str = ""


def resume_ref(run_id: str) -> str:
    """Return the short name of a run that people can say (R6.15)."""
    return "r-" + b32(hashlib.sha256(run_id.encode()).digest())[:10]


def next_intent(facts: Facts) -> str:
    """Return what the agent should do now (R7.15)."""
    if facts.rendered is None:
        return "complete"
    if facts.blockers and not facts.is_retryable:
        return "rehydrate_only"
    if any(one["code"] == "USER_ONLY_DEPENDENCY" for one in facts.blockers):
        return "await_user_confirmation"
    if facts.rendered.requires_confirmation and facts.mode.autonomy == "guided":
        return "await_user_confirmation"
    return "perform_pending_then_continue"


def body(facts: Facts, offer: Offer) -> Json:
    """Return the recorded form of an answer."""
    intent, rendered = next_intent(facts), facts.rendered
    data: Json = {
        "kind": "blocked" if facts.blockers else "ok",
        "isComplete": rendered is None,
        "pending": dict(rendered.data) if rendered else None,
        "nextIntent": intent,
        "session": facts.place.wire(),
        "preferences": preferences.wire(facts.mode),
        "warnings": list(facts.warnings),
        "gaps": list(facts.gaps),
        **facts.more,
    }
    if facts.blockers:
        data["blockers"] = list(facts.blockers)
        data["retryable"] = facts.is_retryable
        if facts.validation is not None:
            data["validation"] = facts.validation
        if facts.example is not None:
            data["example"] = dict(facts.example)
    return {
        "data": data,
        "offer": {
            "nodeId": offer.node_id,
            "workflowHash": offer.workflow_hash,
            "ack": offer.ack,
            "checkpoint": offer.checkpoint,
        },
        "output": dict(rendered.example) if rendered else None,
        "text": _text(facts, intent),
        "guidance": facts.guidance,
    }


def stored(found: Json) -> bytes:
    """Return a body as bytes; the order of keys is part of the answer."""
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()


def filled(
    keys: tokens.Keys,
    data: bytes,
    *,
    warning: Json | None = None,
    also: Mapping[str, str] | None = None,
    with_session: str | None = None,
) -> Answer:
    """Return the answer a body stands for: its tokens minted, its text finished.

    `warning` and `also` (a token by name, shown with the call) are what a replay adds.
    """
    found = json.loads(data)
    offer = found["offer"]
    node_id = offer["nodeId"]
    answer: Json = dict(found["data"])
    state = tokens.state_token(keys, node_id, offer["workflowHash"])
    checkpoint = tokens.checkpoint_token(keys, node_id, offer["checkpoint"])
    answer |= {"stateToken": state, "checkpointToken": checkpoint}
    arguments: Json = {"stateToken": state}
    if offer["ack"] is not None:
        answer["ackToken"] = tokens.ack_token(keys, node_id, offer["ack"])
        if answer["nextIntent"] != "rehydrate_only":
            arguments |= {"ackToken": answer["ackToken"], "output": found["output"]}
    if with_session is not None:
        answer["sessionToken"] = tokens.session_token(keys, with_session)
    answer["nextCall"] = (
        None if answer["isComplete"] else {"tool": "continue_workflow", "arguments": arguments}
    )
    text = found["text"]
    if warning is not None:
        answer["warnings"] = [*found["data"]["warnings"], warning]
        text = f"Note: {warning['message']}\n\n{text}"
    block: Json = {} if answer["isComplete"] else {"next": answer["nextCall"]}
    block["checkpointToken"] = checkpoint
    if with_session is not None:
        block["sessionToken"] = answer["sessionToken"]
    block |= also or {}
    fenced = f"{text}\n\n```json\n{json.dumps(block, ensure_ascii=False)}\n```"
    texts = (fenced, found["guidance"]) if found["guidance"] else (fenced,)
    return Answer({key: answer[key] for key in _ORDER if key in answer}, texts)


def start_guidance(
    compiled: Compiled, references: Sequence[ReferenceStatus], *, is_start: bool
) -> str:
    """Return the second text of start and rehydrate: advice and references (R7.12)."""
    parts = []
    if compiled.meta_guidance:
        parts.append(_list("Guidance for the whole workflow:", compiled.meta_guidance))
    if compiled.preconditions:
        parts.append(_list("Preconditions:", compiled.preconditions))
    if is_start and compiled.clarification_prompts:
        parts.append(_list("Worth clarifying first:", compiled.clarification_prompts))
    unresolved = {one.id for one in references if one.status == "unresolved"}
    lines = []
    for one in compiled.references:
        line = f"{one.title}: {one.source}"
        if is_start:
            line += (
                f" ({one.purpose}; {'authoritative' if one.authoritative else 'for orientation'})"
            )
            line += " [unresolved]" if one.id in unresolved else ""
        lines.append(line)
    if lines:
        parts.append(_list("References:", lines))
    return cut("\n\n".join(parts), GUIDANCE_MAX_BYTES)


def _text(facts: Facts, intent: str) -> str:
    rendered, place = facts.rendered, facts.place
    where = f"workflow {place.workflow_id} · resume ref {place.resume_ref}"
    if rendered is None:
        parts = ["# Complete", where[0].upper() + where[1:]]
    else:
        parts = [f"# {rendered.title}", f"Step {rendered.step.step_id} · {where}"]
    if facts.blockers:
        parts.append(_blocked_text(facts.blockers))
    if facts.gaps:
        parts.append(_list("Gaps recorded by this call:", [str(g["summary"]) for g in facts.gaps]))
    if facts.warnings:
        parts.append(_list("Warnings:", [str(one["message"]) for one in facts.warnings]))
    if rendered is not None:
        parts.append(rendered.prompt)
    parts += _recap_text(facts.more)
    parts.append(_CLOSING[intent])
    return "\n\n".join(filter(None, parts))


def _blocked_text(blockers: Sequence[Json]) -> str:
    lines = []
    for one in blockers:
        lines.append(f"- {one['code']}: {one['message']}")
        if "suggestedFix" in one:
            lines.append(f"  Fix: {one['suggestedFix']}")
    return "\n".join(("Blocked. This step is still pending:", *lines))


def _recap_text(more: Mapping[str, object]) -> list[str]:
    parts = []
    recap, branches = more.get("recap"), more.get("branches")
    if isinstance(recap, Mapping):
        parts += _entries("## So far", recap)
    if isinstance(branches, Mapping):
        children = branches["children"]
        assert isinstance(children, list)
        lines = [
            f"- {one['stepId']} ({one['cause']}{', the newest' if one['isPreferred'] else ''}):"
            f" {one['snippet']}"
            for one in children
        ]
        head = "## Already done from here\nAcknowledging this step again makes a new branch."
        parts.append("\n".join((head, *lines)))
        downstream = branches["downstream"]
        assert isinstance(downstream, Mapping)
        parts += _entries("## What the newest branch went on to do", downstream)
    return parts


def _entries(heading: str, recap: Mapping[str, object]) -> list[str]:
    entries = recap["entries"]
    assert isinstance(entries, list)
    if not entries and not recap["omittedEntries"]:
        return []
    parts = [heading]
    if recap["omittedEntries"]:
        parts.append(
            f"{recap['omittedEntries']} older entries were left out; the newest were kept."
        )
    for one in entries:
        mark = " (checkpoint)" if one.get("checkpoint") else ""
        parts.append(f"### {one['title']} [{one['stepId']}]{mark}\n{one['notesMarkdown']}")
    return ["\n\n".join(parts)]


def _list(heading: str, lines: Sequence[str]) -> str:
    return "\n".join((heading, *(f"- {line}" for line in lines)))
