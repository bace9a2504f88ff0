"""A model that does a task in the fewest sensible calls, from what requests show and nothing else.

It answers requests in the shape of OpenAI's Responses API. It reads what it has not seen, does the
work, looks at it where the answer to a write does not show it, and says so; tools are known by
their names, phases by the words of their prompts. It knows nothing of the flow it works in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .costtasks import Call, Task, as_json

PHASES = {  # a sentence of each phase's prompt
    "research": "Find out what the request asks and what the files hold",
    "plan": "Turn the research into a plan",
    "item": "Carry out item",
    "summary": "Write the answer to the person who made the request",
    "reply": "The changes are worked out in a separate step",
    "proposal": "Work out the changes to files that the conversation asks for",
}
LOOP = "loop"  # none of them: one loop that ends with the answer


@dataclass(frozen=True, slots=True)
class Done:
    """A call the model made in this loop, and what came back."""

    tool: str
    arguments: str
    result: str

    @property
    def is_refused(self) -> bool:
        """Whether the tool did nothing."""
        return '"ok": true' not in self.result and '"ok":true' not in self.result


class Shown:
    """A request, as the model sees it."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        items = body.get("input", [])
        calls = {one["call_id"]: one for one in items if one.get("type") == "function_call"}
        results = [one for one in items if one.get("type") == "function_call_output"]
        self.said = "\n".join([str(body.get("instructions", "")), *map(_text, items)])
        self.seen = "\n".join([self.said, *(str(one["output"]) for one in results)])
        self.done = [
            Done(calls[one["call_id"]]["name"], calls[one["call_id"]]["arguments"], one["output"])
            for one in results
        ]
        tools = body.get("tools", [])
        self.tools = {one["name"] for one in tools}
        self.known = self.said + json.dumps(tools)
        choice = body.get("tool_choice", "auto")
        self.may_call = bool(self.tools) and choice != "none"
        self.must_call = self.may_call and choice == "required"
        self.takes_many = bool(body.get("parallel_tool_calls"))

    @property
    def phase(self) -> str:
        """Return the phase whose words come last."""
        flat = " ".join(self.said.split()).lower()
        found = {name: flat.rfind(words.lower()) for name, words in PHASES.items()}
        name = max(found, key=found.__getitem__)
        return name if found[name] >= 0 else LOOP


@dataclass(frozen=True, slots=True)
class Said:
    """What the model answers: a text, or calls."""

    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(slots=True)
class MinimalModel:
    """Does one task."""

    task: Task
    phases: list[str] = field(default_factory=list)

    def answer(self, body: Mapping[str, Any]) -> Said:
        """Answer one request."""
        shown = Shown(body)
        self.phases.append(shown.phase)
        match shown.phase:
            case "research":
                return self._reading(shown) or self._forced(shown) or Said(self._findings(shown))
            case "plan":
                return self._forced(shown) or Said(_plan(self.task.plan_item))
            case "summary" | "reply":
                return Said(self.task.answer(shown.seen))
            case "proposal":
                return Said(as_json(self.task.changeset(shown.seen)))
            case "item":
                return self._working(shown) or Said(f"Done: {self.task.plan_item}")
        return self._working(shown) or Said(self.task.answer(shown.seen))

    def _working(self, shown: Shown) -> Said | None:
        writes = self.task.writes(shown.known)
        tried = [one for one in shown.done if one.tool in {call.tool for call in writes}]
        if any(not one.is_refused for one in tried):
            return self._looking(shown)
        reading = self._reading(shown)
        if reading is not None:
            return reading
        left = writes[len(tried) :] if shown.may_call else ()
        return Said(calls=left[:1]) if left else self._forced(shown)

    def _looking(self, shown: Shown) -> Said | None:
        check = self.task.check()
        if check is None or not shown.may_call or _was_made(check, shown):
            return None
        return Said(calls=(check,))

    def _reading(self, shown: Shown) -> Said | None:
        missing = [one.call for one in self.task.reads() if one.shown_by not in shown.seen]
        calls = [one for one in missing if one.tool in shown.tools and not _was_made(one, shown)]
        if not calls or not shown.may_call:
            return None
        return Said(calls=tuple(calls if shown.takes_many else calls[:1]))

    def _forced(self, shown: Shown) -> Said | None:
        """Return a call that serves nothing, where one is demanded."""
        if not shown.must_call:
            return None
        usable = [one.call for one in self.task.reads() if one.call.tool in shown.tools]
        return Said(calls=(usable[0],))

    def _findings(self, shown: Shown) -> str:
        found = (
            fact
            for read, fact in zip(self.task.reads(), self.task.facts(), strict=True)
            if read.shown_by in shown.seen
        )
        lines = "\n".join(f"- {one}" for one in found)
        return f"## Asked\n{self.task.request}\n\n## Found\n{lines}\n\n## Open\nnothing"


def _was_made(call: Call, shown: Shown) -> bool:
    made = [(one.tool, json.loads(one.arguments)) for one in shown.done]
    return (call.tool, dict(call.arguments)) in made


def _plan(item: str) -> str:
    items = item if item == "none" else f"- [ ] 1. {item}"
    return f"# Execution Plan\n\n## Task\nWhat was asked.\n\n## Items\n{items}\n"


def _text(item: Mapping[str, Any]) -> str:
    content = item.get("content", "")
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content)


def stream(said: Said, number: int, usage: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield an answer as the events of a Responses stream."""
    output: list[dict[str, Any]] = []
    if said.text:
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        message = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
        output.append({**message, "status": "completed", "content": content})
    for place, call in enumerate(said.calls):
        name = f"{number}_{place}"
        made = {"type": "function_call", "id": f"fc_{name}", "call_id": f"call_{name}"}
        arguments = as_json(dict(call.arguments))
        output.append({**made, "name": call.tool, "arguments": arguments, "status": "completed"})
    yield _event({"type": "response.created", "response": {"id": f"resp_{number}"}})
    for place, item in enumerate(output):
        at = {"output_index": place, "item": item}
        yield _event({"type": "response.output_item.added", **at})
        if item["type"] == "message":
            delta = {"item_id": item["id"], "content_index": 0, "delta": said.text}
            yield _event({"type": "response.output_text.delta", "output_index": place, **delta})
        yield _event({"type": "response.output_item.done", **at})
    final = {"id": f"resp_{number}", "output": output, "usage": usage}
    yield _event({"type": "response.completed", "response": final})


def _event(data: Mapping[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
