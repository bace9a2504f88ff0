"""Anthropic's Messages API, spoken by the official SDK (M6)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from backshop.base.errors import BackshopError
from backshop.models.catalog.catalog import ModelRecord
from backshop.models.catalog.profile import Profile, profile, strict_tools
from backshop.models.catalog.strict_schema import (
    ANTHROPIC_LIMITS,
    relaxed,
    sent_form,
    strict_optional,
)
from backshop.models.catalog.told import ModelFacts, facts
from backshop.models.egress import fault as egress_fault
from backshop.models.egress.assembly import AnswerParts
from backshop.models.egress.gate import Channel
from backshop.models.errors import BadResponse, ContextExhausted
from backshop.models.messages import (
    Done,
    FinishReason,
    Message,
    ModelRequest,
    ReasoningProgress,
    Role,
    Started,
    StreamEvent,
    ToolCall,
    ToolSpec,
    Usage,
    UsageReported,
)

from .shape import Json, Outline, encoded, is_count, mapping, output_room, replayed

if TYPE_CHECKING:
    from anthropic import Anthropic

_FINISH = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "refusal": FinishReason.REFUSAL,
}
_MARK = {"type": "ephemeral"}
_ROLLING_MARKS = 2  # of the four a request may have; system text and request have one each
_BLOCKS_BETWEEN_MARKS = 15
_UNMARKED = ("thinking", "redacted_thinking")  # refused there
_CHOICES = {"required": "any", "auto": "auto", "none": "none"}
_PAGE = 1000  # the most that one list may hold
_WINDOW_EXCEEDED = "model_context_window_exceeded"


def body(request: ModelRequest, model: ModelRecord) -> Json:
    """Return the request body (M6.1)."""
    chosen = profile(request, model)
    sent: Json = {
        "model": model.wire_name,
        "max_tokens": output_room(request, model),
        "messages": _messages(request, chosen),
        "stream": True,
    }
    if request.system_text:
        sent["system"] = [{"type": "text", "text": request.system_text, "cache_control": _MARK}]
    config: Json = {}
    if chosen.effort is not None:
        config["effort"] = chosen.effort
    if request.response_schema is not None and chosen.strict_response:
        schema = strict_optional(request.response_schema.schema)
        config["format"] = {"type": "json_schema", "schema": schema}
    if config:
        sent["output_config"] = config
    if chosen.tools:
        is_strict = strict_tools(request, model, ANTHROPIC_LIMITS)
        sent["tools"] = [_tool(tool, is_strict) for tool in request.tools]
        choice: Json = {"type": _CHOICES[chosen.tool_choice]}
        if not chosen.tool_none and not request.is_parallel:
            choice["disable_parallel_tool_use"] = True
        sent["tool_choice"] = choice
    return sent


def complete(request: ModelRequest, model: ModelRecord, channel: Channel) -> Iterator[StreamEvent]:
    """Send the request and yield what comes back."""
    with _speaking(channel) as client:
        stream: Any = client.messages.create(**body(request, model))
        with closing(stream):
            yield from _read(stream, request)


def models(channel: Channel) -> tuple[str, ...]:
    """Return the names of the provider's models."""
    return tuple(sorted(described(channel)))


def described(channel: Channel) -> dict[str, ModelFacts]:
    """Return the provider's models, each with window, longest answer and efforts (M1.10)."""
    with _speaking(channel) as client:
        try:
            found = [one.to_dict(warnings=False) for one in client.models.list(limit=_PAGE).data]
        except (TypeError, AttributeError) as error:
            raise ValueError("this is no list of models") from error
    return {str(one["id"]): _facts(one) for one in found if isinstance(one.get("id"), str)}


def _facts(model: Json) -> ModelFacts:
    abilities = mapping(model.get("capabilities"))
    levels = mapping(abilities.get("effort"))
    taken = [name for name, one in levels.items() if mapping(one).get("supported") is True]
    return facts(
        window=model.get("max_input_tokens"),
        output=model.get("max_tokens"),
        efforts=taken if levels else None,
        vision=mapping(abilities.get("image_input")).get("supported"),
    )


@contextmanager
def _speaking(channel: Channel) -> Iterator[Anthropic]:
    """Give a client for one call; what the SDK raises meanwhile becomes an error of ours."""
    import anthropic  # over half a second: on first use

    try:
        with _client(channel) as client:
            yield client
    except (anthropic.AnthropicError, ValueError) as error:
        raise fault(error, channel) from error


def fault(error: Exception, channel: Channel) -> BackshopError:
    """Return our error for one of the SDK's (M11.6)."""
    import anthropic

    from backshop.models.egress.transport import network_fault  # loaded with the SDK

    if isinstance(error, anthropic.APIStatusError):
        body_text = (
            error.body if isinstance(error.body, str) else json.dumps(error.body, default=str)
        )
        if error.response.status_code < 400:  # told inside a stream that began well
            kind = mapping(mapping(error.body).get("error")).get("type")
            return egress_fault.from_code(str(kind or "error"), body_text)
        headers = dict(error.response.headers)
        found = egress_fault.from_status(
            error.response.status_code, headers, body_text, now_ms=channel.now_ms()
        )
        return channel.referred(found, body_text)
    return network_fault(error)


def _client(channel: Channel) -> Anthropic:
    from anthropic import Anthropic

    client = Anthropic(
        api_key=channel.api_key,
        base_url=channel.provider.base_url,
        max_retries=0,
        timeout=None,
        open_telemetry=False,
        http_client=channel.client(),
    )
    client._custom_headers = {}  # what ANTHROPIC_CUSTOM_HEADERS put there
    return client


def _tool(tool: ToolSpec, strict_names: frozenset[str] | None) -> Json:
    is_strict = strict_names is not None and tool.name in strict_names
    schema = sent_form(tool.parameters, strict_optional if is_strict else relaxed)
    sent: Json = {"name": tool.name, "description": tool.description, "input_schema": schema}
    return sent | ({"strict": True} if is_strict else {})


def _messages(request: ModelRequest, chosen: Profile) -> list[Json]:
    """Return alternating turns; all results of one turn go in one user message (M6.2)."""
    sent: list[Json] = []
    blocks: list[Json] = []
    fixed: int | None = None
    for place, message in enumerate(request.reminded(chosen.reminder)):
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        if not sent or sent[-1]["role"] != role:
            sent.append({"role": role, "content": []})
        made = list(_blocks(request, message))
        sent[-1]["content"] += made
        blocks += made
        if place == request.request_end:
            fixed = len(blocks) - 1
    _mark(blocks, fixed)
    return sent


def _mark(blocks: list[Json], fixed: int | None) -> None:
    """Mark where what is sent again ends (M6.8).

    At the person's request, which all phases of a turn share; at the last block; and fifteen before
    that, because the provider looks back twenty blocks from a mark for what it has kept.
    """
    last = len(blocks) - 1
    rolling = range(last, -1, -_BLOCKS_BETWEEN_MARKS)[:_ROLLING_MARKS]
    for place in (*rolling, *(() if fixed is None else (fixed,))):
        free = (one for one in range(place, -1, -1) if blocks[one].get("type") not in _UNMARKED)
        if (found := next(free, None)) is not None:
            blocks[found]["cache_control"] = _MARK


def _blocks(request: ModelRequest, message: Message) -> Iterator[Json]:
    if message.role is Role.TOOL:
        yield {
            "type": "tool_result",
            "tool_use_id": message.tool_call_id or "",
            "content": list(_shown(message)) if message.images else message.text,
            "is_error": message.is_error,
        }
        return
    if message.role is Role.ASSISTANT:
        yield from _assistant_blocks(message, request.state_for(message))
        return
    yield from _shown(message)


def _shown(message: Message) -> Iterator[Json]:
    """Yield text and pictures; in results they stand inside the result's own block (M16.2)."""
    if message.text or not message.images:
        yield {"type": "text", "text": message.text}
    for image in message.images:
        source = {"type": "base64", "media_type": image.media_type, "data": encoded(image)}
        yield {"type": "image", "source": source}


def _assistant_blocks(message: Message, state: Any) -> Iterator[Json]:
    """Replay what the model wrote, thinking unchanged and in place (M6.2)."""
    calls: list[Json] = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call)}
        for call in message.tool_calls
    ]
    text: list[Json] = [{"type": "text", "text": message.text}] if message.text else []
    return replayed(state, text, calls)


def _input(call: ToolCall) -> Json:
    written: Json = json.loads(call.text)
    return written


def _read(stream: Any, request: ModelRequest) -> Iterator[StreamEvent]:
    answer, outline = AnswerParts(), Outline()  # places are block indexes
    usage: Json = {}
    stop: str | None = None
    for raw in stream:
        event: Json = raw.to_dict(warnings=False)
        match event.get("type"):
            case "message_start":
                usage |= _counts(mapping(event.get("message")).get("usage"))
                yield Started()
            case "content_block_start":
                block = mapping(event.get("content_block"))
                yield from _begin(block, event.get("index"), answer, outline)
            case "content_block_delta":
                delta = mapping(event.get("delta"))
                yield from _delta(delta, event.get("index"), answer, outline)
            case "message_delta":
                usage |= _counts(event.get("usage"))
                stop = mapping(event.get("delta")).get("stop_reason") or stop
            case "message_stop":
                yield from _end(answer, outline, usage, stop, request)
                return


def _begin(block: Json, index: Any, answer: AnswerParts, outline: Outline) -> Iterator[StreamEvent]:
    match block.get("type"):
        case "tool_use":
            outline.call(index)
            yield from answer.start_call(index, block.get("id"), block.get("name"))
            if block.get("input"):
                yield from answer.add_arguments(index, json.dumps(block["input"]))
        case "text":
            outline.text(index)
            yield from answer.add_text(block.get("text"))
        case "thinking" | "redacted_thinking":
            outline.keep(index, dict(block))


def _delta(delta: Json, index: Any, answer: AnswerParts, outline: Outline) -> Iterator[StreamEvent]:
    match delta.get("type"):
        case "text_delta":
            yield from answer.add_text(delta.get("text"))
        case "input_json_delta":
            yield from answer.add_arguments(index, delta.get("partial_json"))
        case "thinking_delta":
            thought = str(delta.get("thinking", ""))
            block = outline.block(index)
            if block is not None:
                block["thinking"] = str(block.get("thinking", "")) + thought
            yield ReasoningProgress(len(thought))
        case "signature_delta":
            block = outline.block(index)
            if block is not None:
                block["signature"] = str(block.get("signature", "")) + str(delta.get("signature"))


def _end(
    answer: AnswerParts,
    outline: Outline,
    usage: Json,
    stop: str | None,
    request: ModelRequest,
) -> Iterator[StreamEvent]:
    if stop == _WINDOW_EXCEEDED:
        raise ContextExhausted("the answer does not fit into the model's window")
    reason = _FINISH.get(str(stop))
    if reason is None:
        raise BadResponse("the answer ended for an unknown reason", reason="finish_reason")
    yield from answer.finished_calls(cut=reason is FinishReason.LENGTH)
    if usage:
        yield UsageReported(_usage(usage))
    if answer.has_calls:
        reason = FinishReason.TOOL_CALLS
    yield Done(reason, outline.state(request.provider_id))


def _usage(data: Json) -> Usage:
    """Anthropic counts cached input apart; ours includes it (M13.1)."""
    cached = data.get("cache_read_input_tokens", 0)
    written = data.get("cache_creation_input_tokens", 0)
    return Usage(
        input_tokens=data.get("input_tokens", 0) + cached + written,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=data.get("output_tokens", 0),
        reasoning_tokens=data.get("thinking_tokens", 0),
    )


def _counts(value: Any) -> Json:
    data = mapping(value)
    thinking = mapping(data.get("output_tokens_details")).get("thinking_tokens")
    found = data if thinking is None else data | {"thinking_tokens": thinking}
    return {key: number for key, number in found.items() if is_count(number)}
