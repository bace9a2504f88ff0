"""OpenAI's Responses API, spoken by the official SDK (M5)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from backshop.models.catalog.catalog import ModelRecord
from backshop.models.catalog.profile import profile, strict_tools
from backshop.models.catalog.strict_schema import OPENAI_LIMITS, relaxed, sent_form, strict
from backshop.models.egress import fault
from backshop.models.egress.assembly import AnswerParts
from backshop.models.egress.gate import Channel
from backshop.models.errors import BadResponse
from backshop.models.messages import (
    Done,
    FinishReason,
    Message,
    ModelRequest,
    ReasoningProgress,
    Role,
    Started,
    StreamEvent,
    ToolSpec,
    Usage,
    UsageReported,
)

from . import openai_sdk
from .shape import Json, Outline, count, data_url, mapping, replayed


def body(request: ModelRequest, model: ModelRecord) -> Json:
    """Return the request body; a field that is not listed in M5.1 is not sent."""
    chosen = profile(request, model)
    dialogue = request.reminded(chosen.reminder)
    sent: Json = {
        "model": model.wire_name,
        "input": [item for message in dialogue for item in _items(request, message)],
        "truncation": "disabled",
        "stream": True,
        "store": False,
    }
    if request.system_text:
        sent["instructions"] = request.system_text
    if request.cache_key is not None:
        sent["prompt_cache_key"] = request.cache_key
    if chosen.effort is not None:
        sent["reasoning"] = {"effort": chosen.effort}
    if chosen.temperature is not None:
        sent |= {"temperature": chosen.temperature, "top_p": chosen.top_p}
    if chosen.tools:
        is_strict = strict_tools(request, model, OPENAI_LIMITS) or ()
        sent["tools"] = [_tool(tool, is_strict=tool.name in is_strict) for tool in request.tools]
        sent["parallel_tool_calls"] = request.is_parallel
        sent["tool_choice"] = chosen.tool_choice
        if model.efforts:
            sent["include"] = ["reasoning.encrypted_content"]
    if request.max_output_tokens is not None:
        sent["max_output_tokens"] = request.max_output_tokens
    if request.response_schema is not None and chosen.strict_response:
        sent["text"] = {
            "format": {
                "type": "json_schema",
                "name": request.response_schema.name,
                "schema": strict(request.response_schema.schema),
                "strict": True,
            }
        }
    return sent


def complete(request: ModelRequest, model: ModelRecord, channel: Channel) -> Iterator[StreamEvent]:
    """Send the request and yield what comes back."""
    with openai_sdk.speaking(channel) as client:
        sent = body(request, model)  # as it is: the SDK would rewrite each schema at every call
        stream: Any = client.responses.create(stream=True, extra_body=sent)
        with closing(stream):
            yield from _read(stream, request)


def models(channel: Channel) -> tuple[str, ...]:
    """Return the names of the provider's models."""
    return tuple(one["id"] for one in openai_sdk.listed(channel))


def _tool(tool: ToolSpec, *, is_strict: bool) -> Json:
    parameters = sent_form(tool.parameters, strict if is_strict else relaxed)
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
        "strict": is_strict,
    }


def _items(request: ModelRequest, message: Message) -> Iterator[Json]:
    match message.role:
        case Role.TOOL:
            yield {
                "type": "function_call_output",
                "call_id": message.tool_call_id or "",
                "output": _content(message),
            }
        case Role.ASSISTANT:
            yield from _assistant_items(message, request.state_for(message))
        case _:
            yield {"role": message.role.value, "content": _content(message)}


def _assistant_items(message: Message, state: Any) -> Iterator[Json]:
    """Replay what the model wrote, its reasoning unchanged and in place (M5.2)."""
    calls = [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.text,
        }
        for call in message.tool_calls
    ]
    text = [{"role": "assistant", "content": message.text}] if message.text else []
    return replayed(state, text, calls)


def _content(message: Message) -> str | list[Json]:
    if not message.images:
        return message.text
    parts: list[Json] = [{"type": "input_text", "text": message.text}] if message.text else []
    for url in map(data_url, message.images):
        parts.append({"type": "input_image", "image_url": url, "detail": "auto"})
    return parts


def _read(stream: Any, request: ModelRequest) -> Iterator[StreamEvent]:
    answer, outline = AnswerParts(), Outline()  # places are output indexes
    refused = False
    for raw in stream:
        event: Json = raw.to_dict(warnings=False)
        kind = str(event.get("type", ""))
        match kind:
            case "response.created":
                yield Started()
            case "response.output_text.delta":
                yield from answer.add_text(event.get("delta"))
            case "response.refusal.delta":
                refused = True
                yield from answer.add_text(event.get("delta"))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield ReasoningProgress(len(str(event.get("delta", ""))))
            case "response.output_item.added" | "response.output_item.done":
                yield from _item(event, answer, outline)
            case "response.function_call_arguments.delta":
                yield from answer.add_arguments(_key(event), event.get("delta"))
            case "response.function_call_arguments.done":
                answer.finish_call(_key(event), event.get("arguments"))
            case "response.completed" | "response.incomplete":
                yield from _end(event, answer, outline, refused=refused, request=request)
                return
            case "response.failed":
                error = mapping(mapping(event.get("response")).get("error"))
                raise fault.from_code(str(error.get("code", "")), str(error.get("message", "")))
            case "error":
                raise fault.from_code(str(event.get("code", "")), str(event.get("message", "")))


def _item(event: Json, answer: AnswerParts, outline: Outline) -> Iterator[StreamEvent]:
    item, place = mapping(event.get("item")), event.get("output_index")
    match item.get("type"):
        case "function_call":
            outline.call(place)
            key = item.get("id") or place
            yield from answer.start_call(key, item.get("call_id"), item.get("name"))
            if event["type"] == "response.output_item.done":
                answer.finish_call(key, item.get("arguments"))
        case "message":
            phase = item.get("phase")  # newer models want back whether it was said on the way
            outline.text(place, {"phase": phase} if isinstance(phase, str) else {})
        case "reasoning" if event["type"] == "response.output_item.done":
            outline.keep(place, item)


def _key(event: Json) -> Any:
    return event.get("item_id") or event.get("output_index")


def _end(
    event: Json,
    answer: AnswerParts,
    outline: Outline,
    *,
    refused: bool,
    request: ModelRequest,
) -> Iterator[StreamEvent]:
    final = mapping(event.get("response"))
    output = final.get("output")
    if isinstance(output, list):
        for place, item in enumerate(output):
            done = {"type": "response.output_item.done", "item": item, "output_index": place}
            yield from _item(done, answer, outline)
        yield from answer.complete_text(_final_text(output) or answer.text)
    reason = _finish(event["type"], final)
    cut = reason is FinishReason.LENGTH
    yield from answer.finished_calls(cut=cut)
    if isinstance(final.get("usage"), dict):
        yield UsageReported(_usage(final["usage"]))
    if answer.has_calls:
        reason = FinishReason.TOOL_CALLS
    elif refused and reason is FinishReason.STOP:
        reason = FinishReason.REFUSAL
    yield Done(reason, outline.state(request.provider_id))


def _finish(kind: str, final: Json) -> FinishReason:
    if kind == "response.completed":
        return FinishReason.STOP
    match mapping(final.get("incomplete_details")).get("reason"):
        case "max_output_tokens":
            return FinishReason.LENGTH
        case "content_filter":
            return FinishReason.CONTENT_FILTER
    raise BadResponse("the answer is incomplete for an unknown reason", reason="finish_reason")


def _final_text(output: list[Any]) -> str:
    parts = (
        part
        for item in output
        if mapping(item).get("type") == "message"
        for part in mapping(item).get("content") or ()
    )
    return "".join(
        str(mapping(part).get("text") or mapping(part).get("refusal") or "") for part in parts
    )


def _usage(data: Json) -> Usage:
    inputs = mapping(data.get("input_tokens_details"))
    outputs = mapping(data.get("output_tokens_details"))
    return Usage(
        input_tokens=count(data.get("input_tokens")),
        cached_input_tokens=count(inputs.get("cached_tokens")),
        cache_write_tokens=count(inputs.get("cache_write_tokens")),
        output_tokens=count(data.get("output_tokens")),
        reasoning_tokens=count(outputs.get("reasoning_tokens")),
    )
