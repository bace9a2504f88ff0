"""A turn of the scripted model on a bench: phases, tools and artifacts as the product has them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from backshop.app import Backshop
from backshop.bench import TOOLS, Author, Source, Workspace
from backshop.models.messages import (
    Failed,
    Message,
    ModelRequest,
    Purpose,
    Role,
    TextDelta,
    ToolCall,
    ToolCallDone,
)
from backshop.models.offline import ScriptedAdapter
from backshop.models.wires.scripted import bundled
from backshop.prompts import CancelToken, ToolContext
from backshop.workshop import plan as plans
from backshop.workshop.framing import tool_answer
from backshop.workshop.phases import PHASES, PhaseKey


@dataclass
class Turn:
    """What a turn said and did."""

    research: str = ""
    plan: str = ""
    reports: list[str] = field(default_factory=list)
    answer: str = ""
    tools: list[tuple[str, str]] = field(default_factory=list)  # phase and tool


class Player:
    """Plays turns of the bundled demo on one bench."""

    def __init__(self, shop: Backshop, bench_id: str) -> None:
        self._adapter = ScriptedAdapter(bundled("demo"), "demo")
        author = Author(source=Source(kind="workshop", ref="demo"))
        self._context = ToolContext(workspace=Workspace(shop.benches, bench_id, author))
        self._tools = {tool.name: tool for tool in TOOLS}

    def play(self, text: str) -> Turn:
        """Answer a message: research, plan, each item, summary."""
        turn = Turn()
        turn.research = self._phase(turn, PhaseKey.RESEARCH, "", text)
        turn.plan = self._phase(turn, PhaseKey.PLAN, turn.research, text)
        taken = plans.intake(turn.plan)
        marks: dict[int, plans.Mark] = {}
        if not taken.answer_only:
            assert taken.problem is None
            assert taken.plan is not None
            while (item := plans.next_pending(taken.plan, marks)) is not None:
                shown = plans.render(taken.plan, marks)
                artifacts = "\n\n".join((shown, item.line, *turn.reports))
                turn.reports.append(self._phase(turn, PhaseKey.IMPLEMENT, artifacts, text))
                marks[item.number] = plans.Mark(plans.Status.DONE)
        artifacts = "\n\n".join((turn.research, turn.plan, *turn.reports))
        turn.answer = self._phase(turn, PhaseKey.SUMMARY, artifacts, text)
        return turn

    def _phase(self, turn: Turn, phase: PhaseKey, artifacts: str, text: str) -> str:
        messages = [
            Message(role=Role.SYSTEM, text=f"# Rules\n\n{artifacts}"),
            Message(role=Role.USER, text=f"## Request\n\n{text}"),
        ]
        for _ in range(PHASES[phase].max_turns):
            said, calls = self._ask(phase, messages)
            if not calls:
                return said
            messages.append(Message(role=Role.ASSISTANT, text=said, tool_calls=tuple(calls)))
            for call in calls:
                assert call.name in PHASES[phase].tools, f"{call.name} is not offered in {phase}"
                turn.tools.append((phase.value, call.name))
                messages.append(self._run(call))
        raise AssertionError(f"{phase} does not end")

    def _ask(self, phase: PhaseKey, messages: list[Message]) -> tuple[str, list[ToolCall]]:
        request = ModelRequest(
            model_id="scripted:demo", messages=tuple(messages), purpose=Purpose(phase.value)
        )
        said, calls = "", []
        for event in self._adapter.complete(request, CancelToken()):
            if isinstance(event, TextDelta):
                said += event.text
            elif isinstance(event, ToolCallDone):
                calls.append(ToolCall(event.id, event.name, json.loads(event.arguments)))
            assert not isinstance(event, Failed), event
        return said, calls

    def _run(self, call: ToolCall) -> Message:
        tool: Any = self._tools[call.name]
        result = tool.handler(tool.decode(call.arguments), context=self._context)
        shown = tool_answer(result.text(), tool=call.name, path=str(call.arguments.get("path", "")))
        return Message(role=Role.TOOL, text=shown, tool_call_id=call.id, is_error=not result.ok)
