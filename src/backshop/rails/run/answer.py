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
from backshop.base.limits import GUIDANCE_MAX_BYTES, NOTES_KEPT_MAX_BYTES

from ..compile import Compiled, Reference
from ..errors import cut
from ..session.events import Effective, PreferenceChange, ReferenceStatus
from ..token import token
from . import preference
from .inputs import Submitted
from .prompt import Rendered

Json = dict[str, object]
BODY_VERSION = 2  # of recorded answers; those of version 1 do not say theirs

_ORDER = (
    *("kind", "stateToken", "ackToken", "checkpointToken", "sessionToken", "isComplete"),
    *("pending", "blockers", "retryable", "validation", "example", "nextIntent", "nextCall"),
    *("session", "preferences", "warnings", "gaps", "handedIn", "personSaid", "stepContext"),
    *("fork", "checkpoint", "goal", "guidance", "recap", "branches"),
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
class AnswerFacts:
    """Everything an execution answer tells, before it is put into words."""

    place: Place
    mode: Effective
    rendered: Rendered | None
    wished: Sequence[PreferenceChange] = ()
    context: Mapping[str, object] = field(default_factory=dict)  # of the next call, to be filled in
    warnings: Sequence[Json] = ()
    gaps: Sequence[Json] = ()
    blockers: Sequence[Json] = ()
    is_retryable: bool = True
    validation: Json | None = None
    example: Mapping[str, object] | None = None
    more: Mapping[str, object] = field(default_factory=dict)  # recap, branches, fork, …
    guidance: Mapping[str, object] = field(default_factory=dict)


def resume_ref(run_id: str) -> str:
    """Return the short name of a run that people can say (R6.15)."""
    return "r-" + b32(hashlib.sha256(run_id.encode()).digest())[:10]


def next_intent(facts: AnswerFacts) -> str:
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


def body(facts: AnswerFacts, offer: Offer) -> Json:
    """Return the recorded form of an answer."""
    intent, rendered = next_intent(facts), facts.rendered
    data: Json = {
        "kind": "blocked" if facts.blockers else "ok",
        "isComplete": rendered is None,
        "pending": dict(rendered.data) if rendered else None,
        "nextIntent": intent,
        "session": facts.place.wire(),
        "preferences": preference.wire(facts.mode, facts.wished),
        "warnings": list(facts.warnings),
        "gaps": list(facts.gaps),
        **facts.more,
    }
    if facts.guidance:
        data["guidance"] = dict(facts.guidance)
    if facts.blockers:
        data["blockers"] = list(facts.blockers)
        data["retryable"] = facts.is_retryable
        if facts.validation is not None:
            data["validation"] = facts.validation
        if facts.example is not None:
            data["example"] = dict(facts.example)
    return {
        "v": BODY_VERSION,
        "data": data,
        "offer": {
            "nodeId": offer.node_id,
            "workflowHash": offer.workflow_hash,
            "ack": offer.ack,
            "checkpoint": offer.checkpoint,
        },
        "output": dict(rendered.form) if rendered else None,
        "context": dict(facts.context if facts.blockers or not rendered else rendered.context),
        "text": _text(facts, intent),
        "guidance": _guidance_text(facts.guidance),
    }


def stored(found: Json) -> bytes:
    """Return a body as bytes; the order of keys is part of the answer."""
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()


def filled(
    keys: token.Keys,
    data: bytes,
    *,
    with_session: str | None = None,
) -> Answer:
    """Return the answer a body stands for: its tokens minted, its text finished."""
    found = json.loads(data)
    offer = found["offer"]
    node_id = offer["nodeId"]
    answer: Json = dict(found["data"])
    state = token.state_token(keys, node_id, offer["workflowHash"])
    checkpoint = token.checkpoint_token(keys, node_id, offer["checkpoint"])
    answer |= {"stateToken": state, "checkpointToken": checkpoint}
    arguments: Json = {"stateToken": state}
    if offer["ack"] is not None:
        answer["ackToken"] = token.ack_token(keys, node_id, offer["ack"])
        if answer["nextIntent"] != "rehydrate_only":
            arguments["ackToken"] = answer["ackToken"]
            arguments |= {key: found[key] for key in ("context", "output") if found.get(key)}
    if with_session is not None:
        answer["sessionToken"] = token.session_token(keys, with_session)
    answer["nextCall"] = (
        None if answer["isComplete"] else {"tool": "continue_workflow", "arguments": arguments}
    )
    text = found["text"]
    block: Json = {"next": answer["nextCall"]}
    if answer["isComplete"]:  # an answer of the first version stays as it was given
        block = {"stateToken": state} if found.get("v", 1) > 1 else {}
    block["checkpointToken"] = checkpoint
    if with_session is not None:
        block["sessionToken"] = answer["sessionToken"]
    fenced = f"{text}\n\n```json\n{json.dumps(block, ensure_ascii=False)}\n```"
    texts = (fenced, found["guidance"]) if found["guidance"] else (fenced,)
    return Answer({key: answer[key] for key in _ORDER if key in answer}, texts)


def guidance_of(
    compiled: Compiled, references: Sequence[ReferenceStatus], *, is_start: bool
) -> Json:
    """Return the advice and references of a workflow, as start and rehydrate give them (R7.12).

    What does not fit the budget is counted, not cut.
    """
    resolved = {one.id: one.status for one in references}
    groups: dict[str, list[Json | str]] = {
        "metaGuidance": list(compiled.meta_guidance),
        "preconditions": list(compiled.preconditions),
        "clarificationPrompts": list(compiled.clarification_prompts) if is_start else [],
        "references": [_reference(one, resolved, is_start) for one in compiled.references],
    }
    found: Json = {}
    left, omitted = GUIDANCE_MAX_BYTES, 0
    for name, lines in groups.items():
        kept = []
        for line in lines:
            left -= len(json.dumps(line, ensure_ascii=False).encode())
            if left >= 0:
                kept.append(line)
            else:
                omitted += 1
        if kept:
            found[name] = kept
    return {**found, "omitted": omitted} if omitted else found


def handed_in(output: Submitted, still_asked: Mapping[str, object]) -> Json:
    """Return what a blocked step has got and need not be sent again (R6.14)."""
    found: Json = {}
    if output.notes is not None and "notesMarkdown" not in still_asked:
        found["notesMarkdown"] = cut(output.notes, NOTES_KEPT_MAX_BYTES)
    asked = still_asked.get("artifacts")
    wrong = {one["kind"] for one in asked} if isinstance(asked, list) else set()
    kinds = {str(one["kind"]) for one in output.artifacts} - wrong
    if kinds:
        found["artifactKinds"] = sorted(kinds)
    return {"handedIn": found} if found else {}


def details_text(details: object) -> str:
    """Return small facts as text: JSON, as the structured view has them."""
    return json.dumps(details, ensure_ascii=False)


def _reference(one: Reference, status: Mapping[str, str], is_start: bool) -> Json:
    found: Json = {"title": one.title, "source": one.source}
    if is_start:
        found |= {"purpose": one.purpose, "authoritative": one.authoritative}
        found["status"] = status.get(one.id, "unresolved")
    return found


_GUIDANCE = {
    "metaGuidance": "Guidance for the whole workflow:",
    "preconditions": "Preconditions:",
    "clarificationPrompts": "Worth clarifying first:",
}


def _guidance_text(guidance: Mapping[str, object]) -> str:
    parts = []
    for name, heading in _GUIDANCE.items():
        lines = guidance.get(name)
        if isinstance(lines, list):
            parts.append(_list(heading, lines))
    references = guidance.get("references")
    if isinstance(references, list):
        parts.append(_list("References:", [_reference_line(one) for one in references]))
    if guidance.get("omitted"):
        parts.append(f"Omitted {guidance['omitted']} lines.")
    return "\n\n".join(parts)


def _reference_line(one: Json) -> str:
    line = f"{one['title']}: {one['source']}"
    if "purpose" in one:
        word = "authoritative" if one["authoritative"] else "for orientation"
        line += f" ({one['purpose']}; {word}) [{one['status']}]"
    return line


def _text(facts: AnswerFacts, intent: str) -> str:
    rendered, place = facts.rendered, facts.place
    where = f"workflow {place.workflow_id} · resume ref {place.resume_ref}"
    if rendered is None:
        parts = ["# Complete", where[0].upper() + where[1:]]
    else:
        parts = [f"# {rendered.title}", f"Step {rendered.step.step_id} · {where}"]
    parts.append(_place_text(facts))
    if facts.blockers:
        parts.append(_blocked_text(facts))
    if facts.gaps:
        lines = [_gap_line(one) for one in facts.gaps]
        parts.append(_list("Gaps recorded by this call:", lines))
    if facts.warnings:
        lines = [_warning_line(one) for one in facts.warnings]
        parts.append(_list("Warnings:", lines))
    parts += _more_text(facts.more)
    if rendered is not None:
        parts += [_about_step(rendered), rendered.prompt]
    parts += _recap_text(facts.more)
    parts.append(_CLOSING[intent])
    return "\n\n".join(filter(None, parts))


def _place_text(facts: AnswerFacts) -> str:
    mode = f"mode {facts.mode.autonomy}, {facts.mode.risk_policy}"
    line = f"Session {facts.place.session_id} · run {facts.place.run_id} · {mode}"
    if facts.wished:
        wishes = ", ".join(f"{one.key} {one.value}" for one in facts.wished)
        line += f"\nThe agent's wish waits for the person: {wishes}"
    return line


def _about_step(rendered: Rendered) -> str:
    lines = []
    loop = rendered.data.get("loop")
    if isinstance(loop, Mapping):
        place = f"pass {loop['iteration']} of at most {loop['maxIterations']}"
        is_told = rendered.prompt.startswith(f"P{place[1:]}.")
        lines.append(f"Loop {loop['loopId']}." if is_told else f"Loop {loop['loopId']}, {place}.")
    if "modelTier" in rendered.data:
        lines.append(f"Model tier: {rendered.data['modelTier']}.")
    if rendered.requires_confirmation:
        lines.append("This step asks for the person's confirmation.")
    if rendered.step.collapsed:
        lines.append("This step was added by Backshop, not by the workflow's author.")
    return "\n".join(lines)


def _blocked_text(facts: AnswerFacts) -> str:
    lines = []
    for one in facts.blockers:
        pointer = one["pointer"]
        assert isinstance(pointer, Mapping)
        rest = (str(value) for key, value in sorted(pointer.items()) if key != "kind")
        about = " ".join((str(pointer["kind"]), *rest))
        lines.append(f"- {one['code']} ({about}): {one['message']}")
        if "suggestedFix" in one:
            lines.append(f"  Fix: {one['suggestedFix']}")
    head = "Blocked. This step is still pending:"
    if not facts.is_retryable:
        head = "Blocked, and not by anything you can send. This step is still pending:"
    parts = ["\n".join((head, *lines))]
    if facts.validation is not None:
        issues, more = facts.validation["issues"], facts.validation["suggestions"]
        assert isinstance(issues, list)
        assert isinstance(more, list)
        more = [one for one in more if not any(one in line for line in lines)]
        parts.append(_list("What was wrong with the output:", [*issues, *more]))
    if facts.example is not None:
        shown = details_text(dict(facts.example))
        parts.append(f"An example from other work; its texts are refused: {shown}")
    return "\n\n".join(parts)


def _gap_line(one: Json) -> str:
    reason, resolution = one["reason"], one["resolution"]
    assert isinstance(reason, Mapping)
    assert isinstance(resolution, Mapping)
    line = f"{one['gapId']} ({one['severity']}, {reason['category']}: {reason['detail']}):"
    line += f" {one['summary']}"
    if resolution.get("resolvesGapId"):
        line += f" Resolves {resolution['resolvesGapId']}."
    return line


def _warning_line(one: Json) -> str:
    line = f"{one['code']}: {one['message']}"
    return f"{line} {details_text(one['details'])}" if "details" in one else line


def _more_text(more: Mapping[str, object]) -> list[str]:
    """Put the rest of what a call led to into words."""
    parts = []
    match more.get("handedIn"):
        case {**handed}:
            head = "Already handed in for this step; it counts with the next call:"
            kinds = handed.get("artifactKinds")
            shown = [f"artifacts: {', '.join(kinds)}"] if isinstance(kinds, list) else []
            shown += [f"notes: {handed['notesMarkdown']}"] if "notesMarkdown" in handed else []
            parts.append(_list(head, shown))
    if isinstance(said := more.get("personSaid"), list):
        parts.append(_list("The person said:", [person_line(one) for one in said]))
    match more.get("stepContext"):
        case {"assessments": list() as assessments}:
            parts.append(_list("Assessments recorded:", [_assessed(one) for one in assessments]))
    match more.get("fork"):
        case {"fromNodeId": origin, "siblings": list() as siblings}:
            parts.append(f"A new branch from {origin}, beside {', '.join(siblings)}.")
    match more.get("checkpoint"):
        case {"nodeId": node_id}:
            parts.append(f"Recorded as checkpoint {node_id}.")
    if more.get("goal"):
        parts.append(f"Goal: {more['goal']}")
    return parts


def person_line(one: Mapping[str, object]) -> str:
    """Return what the person said to an input as a line."""
    return f"{one['inputId']} {one['decision']}: {one['words']}"


def _assessed(one: Json) -> str:
    dimensions = one["dimensions"]
    assert isinstance(dimensions, list)
    shown = (
        f"{each['dimensionId']} {each['level']}"
        + (f" ({each['rationale']})" if "rationale" in each else "")
        for each in dimensions
    )
    notes = one["normalizationNotes"]
    assert isinstance(notes, list)
    return f"{one['assessmentId']}: {'; '.join((*shown, *notes))}"


def _recap_text(more: Mapping[str, object]) -> list[str]:
    parts = []
    recap, branches = more.get("recap"), more.get("branches")
    if isinstance(recap, Mapping):
        parts += _entries("## So far", recap)
    if isinstance(branches, Mapping):
        children = branches["children"]
        assert isinstance(children, list)
        lines = [
            f"- {one['title']} [{one['stepId']}, {one['nodeId']}] ({one['cause']}"
            f"{', the newest' if one['isPreferred'] else ''}): {one['snippet']}"
            for one in children
        ]
        head = "## Already done from here\nAcknowledging this step again makes a new branch."
        if branches["omittedChildren"]:
            head += f" {branches['omittedChildren']} older branches are left out."
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
        lines = [f"### {one['title']} [{one['stepId']}, {one['nodeId']}]{mark}"]
        lines += [one["notesMarkdown"]] if one["notesMarkdown"] else []
        lines += [f"{each['kind']}: {each['preview']}" for each in one.get("artifacts", ())]
        lines += [f"The person said: {person_line(each)}" for each in one.get("personSaid", ())]
        parts.append("\n".join(lines))
    return ["\n\n".join(parts)]


def _list(heading: str, lines: Sequence[str]) -> str:
    return "\n".join((heading, *(f"- {line}" for line in lines)))
