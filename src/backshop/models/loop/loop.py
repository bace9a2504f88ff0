"""The one tool loop: ask, run the tools, ask again, until there is an answer (P5.3–P5.8)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from backshop.base.errors import BackshopError
from backshop.prompts import (
    ConversationItem,
    OutputParseError,
    PartInfo,
    Prompt,
    PromptExecuted,
    PromptOverridesStore,
    PromptRendered,
    RenderedPrompt,
    Session,
    Tool,
    ToolInvoked,
    output_schema,
    parse_output,
)

from .. import messages as wire
from ..catalog.strict_schema import can_be_strict, check_tools, is_object
from ..messages import (
    FinishReason,
    Message,
    ModelRequest,
    Purpose,
    ResponseSchema,
    Role,
    ToolChoice,
    ToolSpec,
)
from .model_turn import Turns
from .observer import Attendant
from .response import (
    Phase,
    PromptResponse,
    evaluation_error,
)
from .retrying_call import Asker, Completer, ModelAnswer
from .tool_call import parse_arguments
from .tool_run import ToolRunner

BEGIN = "Begin."
_SUMMARY = "What was said before, in short:"
_part_info = lru_cache(1024)(PartInfo)  # most are those of the call before: sessions keep them all


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be evaluated, and how."""

    prompt: Prompt[Any]
    params: tuple[object, ...]
    session: Session
    overrides_store: PromptOverridesStore | None = None
    overrides_tag: str | None = None
    parse_output: bool = True
    repair: bool = True
    offers: Callable[[Tool], bool] = field(default=lambda tool: True)
    aliases: dict[str, str] = field(default_factory=dict)
    workspace: object | None = None
    attendant: Attendant | None = None
    conversation: tuple[ConversationItem, ...] | None = None  # None is the session's own
    max_output_tokens: int | None = None


class Evaluation:
    """One prompt on its way to an answer."""

    def __init__(self, adapter: Completer, task: Task) -> None:
        self._adapter = adapter
        self._task = task
        self._session = task.session
        self._asker = Asker(
            adapter,
            task.session,
            task.prompt.display_name,
            said=task.attendant.said if task.attendant else None,
            unsaid=task.attendant.unsaid if task.attendant else None,
        )
        self._records: list[ToolInvoked] = []
        self._native: ResponseSchema | None = None
        self._sent: PromptRendered | None = None

    @property
    def prompt(self) -> Prompt[Any]:
        """What is evaluated."""
        return self._task.prompt

    def run(self) -> PromptResponse[Any]:
        """Return the answer.

        Raises:
            PromptEvaluationError: with the phase it ended in; nothing is published here.
        """
        began = self._session.monotonic()
        self._preflight()
        rendered, tools = self._render()
        messages = self._messages(rendered)
        answer, finish = self._converse(messages, rendered, tools)
        output = self._parse(answer, messages)
        response: PromptResponse[Any] = PromptResponse(
            prompt_name=self.prompt.display_name,
            model_id=self._adapter.model_id,
            text=answer.text or None,
            output=output,
            tool_results=tuple(self._records),
            usage=self._asker.usage,
            finish_reason=finish,
            rendered_hash=rendered.hash,
            aliases=self._task.aliases,
        )
        self._asker.check_limits()
        self._session.dispatch(
            PromptExecuted(
                rendered_hash=rendered.hash,
                text_ref=self._session.put(answer.text.encode(errors="replace")),
                output_ref=self._put_json(response.structured_output) if output else "",
                usage=self._asker.usage,
                finish_reason=finish,
                turns=self._asker.turns,
                tool_calls=len(self._records),
                duration_ms=max(0, int((self._session.monotonic() - began) * 1000)),
            )
        )
        return response

    def _preflight(self) -> None:
        if self._session.closed:
            raise self._asker.failure("the session is closed", Phase.PREFLIGHT, "SESSION_CLOSED")
        self._asker.check_limits()

    def _render(self) -> tuple[RenderedPrompt, tuple[Tool, ...]]:
        task, prompt = self._task, self.prompt
        wants_output = task.parse_output and prompt.output is not None
        if wants_output and self._adapter.capabilities.native_output:
            schema = self._schema()
            if is_object(schema) and can_be_strict(schema):  # else it is asked for in words
                self._native = ResponseSchema(name="answer", schema=schema)
        try:
            rendered = prompt.render(
                *task.params,
                session=self._session,
                overrides_store=task.overrides_store,
                overrides_tag=task.overrides_tag,
                response_format=wants_output and self._native is None,
                budget_tokens=self._adapter.prompt_budget_tokens,
            )
        except BackshopError as error:
            raise evaluation_error(error, prompt.display_name, Phase.PREFLIGHT) from error
        tools = tuple(tool for tool in rendered.tools if task.offers(tool))
        if tools and not self._adapter.capabilities.tools:
            raise self._asker.failure(
                "the model cannot call tools", Phase.PREFLIGHT, "MODEL_WITHOUT_TOOLS"
            )
        fact = self._rendered_event(rendered, tools)
        self._session.dispatch(fact)
        if task.attendant is not None:
            self._sent = replace(fact, turn_id=task.attendant.turn_id or "")
        return rendered, tools

    def _rendered_event(self, rendered: RenderedPrompt, tools: tuple[Tool, ...]) -> PromptRendered:
        parts = (
            _part_info("/".join(part.path), part.number, part.source, part.tokens)
            for part in rendered.parts
        )
        return PromptRendered(
            namespace=self.prompt.namespace,
            prompt_key=self.prompt.key,
            prompt_name=self.prompt.display_name,
            adapter=self._adapter.adapter_name,
            model_id=self._adapter.model_id,
            overrides_tag=self._task.overrides_tag or "",
            rendered_hash=rendered.hash,
            rendered_ref=self._session.put(rendered.text.encode(errors="replace")),
            token_estimate=rendered.tokens,
            parts=tuple(parts),
            tool_names=tuple(tool.name for tool in tools),
            diagnostics=tuple(one.code for one in rendered.diagnostics),
        )

    def _messages(self, rendered: RenderedPrompt) -> list[Message]:
        found = (
            [Message(role=Role.SYSTEM, text=rendered.system_text)] if rendered.system_text else []
        )
        told: tuple[Message, ...] = ()
        if self.prompt.include_conversation:
            given = self._task.conversation
            items = self._session[ConversationItem].all() if given is None else given
            told = tuple(map(_said_before, items))
        asked = rendered.user_texts or (() if told else (BEGIN,))
        has_said = any(one.role is Role.USER for one in told)
        return [
            *found,
            *told,
            *(Message(role=Role.USER, text=one, is_context=has_said) for one in asked),
        ]

    def _converse(
        self, messages: list[Message], rendered: RenderedPrompt, tools: tuple[Tool, ...]
    ) -> tuple[ModelAnswer, str]:
        """Ask until there is an answer without calls, or the last turn; extends `messages`."""
        runner = ToolRunner(
            prompt=self.prompt,
            rendered=rendered,
            adapter=self._adapter,
            session=self._session,
            tools=tools,
            workspace=self._task.workspace,
        )
        offered = {tool.name for tool in tools}
        specs = check_tools(
            ToolSpec(
                name=one.name,
                description=one.description,
                parameters=one.schema,
                aliases=one.aliases,
            )
            for one in rendered.tool_specs
            if one.name in offered
        )
        self._adapter.offers(specs)
        turns = Turns(
            asker=self._asker,
            session=self._session,
            prompt_name=self.prompt.display_name,
            runner=runner,
            specs=specs,
            send=lambda said, choice: self._ask(said, specs, choice),
            attendant=self._task.attendant,
            provider_id=self._adapter.model_id.partition(":")[0],
        )
        try:
            return turns.run(messages)
        finally:
            self._records = turns.records

    def _ask(
        self, messages: list[Message], tools: tuple[ToolSpec, ...], choice: ToolChoice
    ) -> ModelAnswer:
        first, self._sent = self._sent, None
        attendant = self._task.attendant
        return self._asker.ask(
            ModelRequest(
                prompt=first,
                model_id=self._adapter.model_id,
                messages=tuple(messages),
                purpose=Purpose(self.prompt.purpose),
                tools=tools,
                tool_choice=choice,
                is_parallel=attendant is not None and attendant.is_parallel,
                effort=attendant.effort if attendant else None,
                response_schema=self._native,
                max_output_tokens=self._task.max_output_tokens,
                workbench_id=self._adapter.workbench_id,
                run_id=attendant.run_id if attendant else None,
                timeout_s=self._asker.remaining_s(),
            )
        )

    def _parse(self, answer: ModelAnswer, messages: list[Message]) -> Any:
        if not self._task.parse_output or self.prompt.output is None:
            return None
        if answer.finish in (FinishReason.REFUSAL, FinishReason.CONTENT_FILTER):
            return None  # M8.9: said as it is
        try:
            return parse_output(answer.text, self.prompt)
        except OutputParseError as error:
            if not self._task.repair:
                return None
            repaired = self._ask(self._repair(answer, messages, error), (), ToolChoice.AUTO)
        try:
            output = parse_output(repaired.text, self.prompt)
        except OutputParseError as error:
            failure = self._asker.failure(error.message, Phase.RESPONSE, "OUTPUT_INVALID")
            failure.raw_ref = self._session.put(repaired.text.encode(errors="replace"))
            raise failure from error
        answer.text = repaired.text
        return output

    def _repair(
        self, answer: ModelAnswer, messages: list[Message], error: OutputParseError
    ) -> list[Message]:
        """Return the exchange in plain messages, with what was wrong at its end (P5.5)."""
        plain = [one for one in messages if one.role in (Role.SYSTEM, Role.USER)]
        schema = json.dumps(self._schema(), ensure_ascii=False, sort_keys=True)
        wish = (
            f"Your answer could not be used: {error.message}. "
            f"Answer again with one fenced json block that fits this schema and nothing else:\n"
            f"{schema}"
        )
        said = Message(role=Role.ASSISTANT, text=answer.text or "(nothing)")
        return [*plain, said, Message(role=Role.USER, text=wish)]

    def _schema(self) -> Any:
        return output_schema(self.prompt.output, allow_extra_keys=self.prompt.allow_extra_keys)

    def _put_json(self, value: Any) -> str:
        return self._session.put(json.dumps(dict(value), sort_keys=True, default=str).encode())


def _said_before(item: ConversationItem) -> Message:
    if item.role == "summary":
        return Message(role=Role.USER, text=f"{_SUMMARY}\n\n{item.text}")
    calls = tuple(
        wire.ToolCall(call.id, call.name, parse_arguments(call.arguments)[0])
        for call in item.tool_calls
    )
    return Message(
        role=Role(item.role),
        text=item.text,
        tool_calls=calls,
        tool_call_id=item.tool_call_id or None,
    )
