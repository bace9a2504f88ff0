"""A scripted agent that walks any workflow to its end, reading nothing but the tools' answers.

It knows no workflow. It fills in the forms that answers hold; where it is blocked it does what the
blockers' fixes say; where notes must say something it says that; where only the person can answer
it asks them, if there is somebody.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Call = Callable[[str, Json], Json]
"""Calls a tool and returns its structured content, `{"error": …}` for a refusal."""
Ask = Callable[[Json, str], object]
"""Has the person approve an input of the step an answer stands at."""

CALLS_MAX = 600
PASSES = 2  # of a loop the agent decides about, then it stops
_CONTAINS = re.compile(r"notes contain (['\"])(.*?)\1(?=[);\n]|$)", re.MULTILINE)
_AT_LEAST = re.compile(r"notes have (?:at least )?(\d+)")
_MATCH = re.compile(r"notes match /(.*)/")


@dataclass
class Walk:
    """How far a walk came."""

    steps: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    gaps: list[Json] = field(default_factory=list)
    answers: list[Json] = field(default_factory=list)

    @property
    def last(self) -> Json:
        """The last answer."""
        return self.answers[-1]

    @property
    def is_complete(self) -> bool:
        """Whether the run reached its end."""
        return self.last.get("isComplete") is True


def walk(
    call: Call,
    workflow_id: str,
    *,
    autonomy: str | None = None,
    goal: str = "walk",
    ask: Ask | None = None,
    seen: Callable[[Json], object] = id,
) -> Walk:
    """Start a workflow and answer every requirement until it is complete.

    `seen` gets every answer before it is acted on.
    """
    found = Walk()
    answer = _started(call, workflow_id, autonomy, goal)
    for _ in range(CALLS_MAX):
        found.answers.append(answer)
        found.gaps += answer.get("gaps", ())
        if "error" in answer or answer["isComplete"]:
            return found
        found.blocked += [one["code"] for one in answer.get("blockers", ())]
        found.steps.append(answer["pending"]["stepId"])
        seen(answer)
        if ask is not None:
            for input_id in _asked(answer):
                ask(answer, input_id)
        answer = call("continue_workflow", _arguments(answer))
    raise AssertionError(f"{workflow_id}: still not complete after {CALLS_MAX} calls")


def _started(call: Call, workflow_id: str, autonomy: str | None, goal: str) -> Json:
    arguments: Json = {"workflowId": workflow_id, "goal": goal}
    if autonomy is not None:
        arguments["preferences"] = {"autonomy": autonomy}
    answer = call("start_workflow", arguments)
    for _ in range(5):
        suggested = _assigned(answer.get("error", {}).get("suggestion", ""), "context")
        if suggested is None:
            break
        arguments["context"] = {**arguments.get("context", {}), **_filled(suggested)}
        answer = call("start_workflow", arguments)
    return answer


def _arguments(answer: Json) -> Json:
    arguments: Json = _filled(answer["nextCall"]["arguments"])
    output: Json = dict(arguments.get("output") or {})
    artifacts = [dict(one) for one in output.get("artifacts", ())]
    pending, blockers = answer["pending"], answer.get("blockers", [])
    _decide_loop(artifacts, pending)
    for blocker in blockers:
        if blocker["code"] == "ASSESSMENT_FOLLOWUP_REQUIRED":
            _judge_better(artifacts, blocker["pointer"], pending["prompt"], blocker["message"])
    for artifact in artifacts:
        if artifact["kind"] == "wr.capability_observation":
            artifact |= {"status": "available", "attempt": {"result": "success"}}
    output["notesMarkdown"] = _notes(pending, blockers)
    if artifacts:
        output["artifacts"] = artifacts
    arguments["output"] = output
    return arguments


def _asked(answer: Json) -> Iterator[str]:
    """Yield the inputs that only the person's own call gives."""
    for blocker in answer.get("blockers", ()):
        yield from re.findall(r"--input ([a-z0-9_-]+)", blocker.get("suggestedFix", ""))


_WORDS = {
    "<a whole number>": 2,
    "<a list>": ["walked"],
    "<a list of objects>": [{"name": "walked"}],
    "<an object>": {"walked": True},
    "<uuid>": "7d9f4c1e-2b43-4e58-9d51-0a6b1c2d3e40",
}


def _filled(form: Any) -> Any:
    """Return a form with something true of the walk in every blank."""
    if isinstance(form, dict):
        return {key: _filled(value) for key, value in form.items()}
    if isinstance(form, list):
        return [_filled(value) for value in form]
    if not isinstance(form, str) or not (form.startswith("<") and form.endswith(">")):
        return form
    if form in _WORDS:
        return _WORDS[form]
    if "|" in form:
        options = form[1:-1].split("|")
        return options == ["true", "false"] or options[-1]
    if form.startswith(("<whole number", "<number")):
        return 1
    if form.startswith("<date"):
        return "2026-02-01T00:00:00Z"
    return "The walk came by here."


def _decide_loop(artifacts: list[Json], pending: Json) -> None:
    for artifact in artifacts:
        if artifact["kind"] == "wr.loop_control":
            again = pending.get("loop", {}).get("iteration", PASSES) < PASSES
            artifact["decision"] = "continue" if again else "stop"


def _judge_better(artifacts: list[Json], pointer: Json, prompt: str, message: str) -> None:
    """Choose another level for a dimension whose level asked for more work."""
    dimension = pointer["dimensionId"]
    line = re.search(rf"^  {re.escape(dimension)}: ([^(\n]*)", prompt, re.MULTILINE)
    fired = re.search(r" is (.*?): ", message)
    levels = [one.strip() for one in line[1].replace(", optional", "").split("|")] if line else []
    for artifact in artifacts:
        if artifact.get("assessmentId") == pointer["assessmentId"]:
            others = [level for level in levels if not fired or level != fired[1]]
            if others:
                artifact["dimensions"] = {**artifact["dimensions"], dimension: others[0]}


def _notes(pending: Json, blockers: list[Json]) -> str:
    wishes = "\n".join(
        [
            pending["prompt"],
            *(one.get("suggestedFix", "") + "\n" + one["message"] for one in blockers),
        ]
    )
    notes = [f"Did {pending['stepId']}."]
    notes += [found for _, found in _CONTAINS.findall(wishes)]
    notes += _MATCH.findall(wishes)
    text = "\n".join(notes)
    least = max((int(number) for number in _AT_LEAST.findall(wishes)), default=0)
    return text + " and more" * (max(0, least - len(text)) // 9 + 1)


def _assigned(text: str, name: str) -> Any:
    """Return the JSON that a text assigns to `name`: `name = {…}`."""
    for candidate in _values(text, name):
        return candidate
    return None


def _values(text: str, name: str) -> Iterator[Any]:
    for match in re.finditer(rf"\b{re.escape(name)} = ", text):
        try:
            yield json.JSONDecoder().raw_decode(text, match.end())[0]
        except ValueError:
            continue
