"""Chat Completions, as OpenAI's SDK speaks it to every compatible server (M6)."""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import groupby
from typing import Any

from backshop.base.limits import WINDOW_MIN_TOKENS
from backshop.models.catalog.catalog import ModelRecord
from backshop.models.catalog.profile import Profile, profile, strict_tools
from backshop.models.catalog.strict_schema import OPENAI_LIMITS, relaxed, sent_form, strict
from backshop.models.catalog.told import ModelFacts, facts
from backshop.models.egress.assembly import AnswerParts
from backshop.models.egress.gate import Channel
from backshop.models.errors import BadResponse
from backshop.models.messages import (
    Done,
    FinishReason,
    Message,
    ModelRequest,
    ProviderState,
    ReasoningProgress,
    Role,
    Started,
    StreamEvent,
    ToolSpec,
    Usage,
    UsageReported,
)

from . import openai_sdk
from .shape import Json, count, data_url, local_output, mapping

_NOTHING_SAID = "(nothing)"
_PICTURE = "The picture of result {} of {} above:"
_SHORT_ID_CHARS = 9  # M6.4
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_FINISH = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
_CALL_FIELDS = frozenset(("index", "id", "type", "function"))
_DELTA_FIELDS = frozenset(
    ("role", "content", "refusal", "tool_calls", "function_call", "reasoning_content", "reasoning")
)


def body(request: ModelRequest, model: ModelRecord) -> Json:
    """Return the request body; a field is sent only when the server's flag is set (M6.3)."""
    chosen, supports = profile(request, model), model.supports
    sent: Json = {
        "model": model.wire_name,
        "messages": _messages(request, model, chosen),
        "stream": True,
    }
    if supports.cache_key and request.cache_key is not None:
        sent["prompt_cache_key"] = request.cache_key
    if supports.usage:
        sent["stream_options"] = {"include_usage": True}
    if chosen.effort is not None:
        sent["reasoning_effort"] = chosen.effort
    if chosen.temperature is not None:
        sent |= {"temperature": chosen.temperature, "top_p": chosen.top_p}
    if chosen.tools:
        is_strict = strict_tools(request, model, OPENAI_LIMITS)
        sent["tools"] = [_tool(tool, is_strict) for tool in request.tools]
        sent["tool_choice"] = chosen.tool_choice
        if supports.parallel_flag:
            sent["parallel_tool_calls"] = request.is_parallel
    if (most := request.max_output_tokens or local_output(request, model)) is not None:
        sent["max_tokens"] = most
    if request.response_schema is not None and chosen.strict_response:
        sent["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": request.response_schema.name,
                "schema": strict(request.response_schema.schema),
                "strict": True,
            },
        }
    return sent


def complete(request: ModelRequest, model: ModelRecord, channel: Channel) -> Iterator[StreamEvent]:
    """Send the request and yield what comes back."""
    with openai_sdk.speaking(channel) as client:
        sent = body(request, model)  # as it is: the SDK would rewrite each schema at every call
        stream: Any = client.chat.completions.create(
            model=model.wire_name, messages=[], stream=True, extra_body=sent
        )
        with closing(stream):
            yield from _read(stream, request, sent.get("max_tokens"))


def models(channel: Channel) -> tuple[str, ...]:
    """Return the names of the provider's models."""
    return tuple(described(channel))


def described(channel: Channel) -> dict[str, ModelFacts]:
    """Return the server's models, each with what it tells of it (M1.10, M6.5)."""
    return {
        one["id"]: facts(
            window=_window(one),
            vision=mapping(one.get("capabilities")).get("vision"),
        )
        for one in openai_sdk.listed(channel)
    }


def short_id(call_id: str) -> str:
    """Return the nine-character id a server with `short_call_ids` knows a call by (M6.4)."""
    if len(call_id) == _SHORT_ID_CHARS and call_id.isascii() and call_id.isalnum():
        return call_id
    number = int.from_bytes(hashlib.sha256(call_id.encode()).digest(), "big")
    digits = []
    for _ in range(_SHORT_ID_CHARS):
        number, digit = divmod(number, 62)
        digits.append(_BASE62[digit])
    return "".join(digits)


def _window(model: Json) -> int | None:
    """Read vLLM's, llama.cpp's and other servers' words for the window."""
    meta = mapping(model.get("meta"))
    for found in (
        model.get("max_model_len"),
        meta.get("n_ctx"),
        model.get("context_length"),
        model.get("context_window"),
        model.get("max_context_length"),
        meta.get("n_ctx_train"),
    ):
        if isinstance(found, int) and found >= WINDOW_MIN_TOKENS:
            return found
    return None


def _messages(request: ModelRequest, model: ModelRecord, chosen: Profile) -> list[Json]:
    short = model.supports.short_call_ids
    names = {call.id: call.name for message in request.messages for call in message.tool_calls}
    sent: list[Json] = []
    if request.system_text:
        sent.append({"role": "system", "content": request.system_text})
    dialogue = _with_pictures(request.reminded(chosen.reminder))
    for role, group in groupby(dialogue, key=lambda one: one.role):
        if role is Role.USER:  # in a row as one: many templates ask for that
            sent += _before_user(sent, model)
            sent.append({"role": role.value, "content": _content(tuple(group))})
        else:
            sent += [_message(request, one, names, short=short) for one in group]
    return sent


def _with_pictures(dialogue: Iterable[Message]) -> Iterator[Message]:
    """Give the messages, the pictures of results behind all results of an answer.

    Results are text in this API; pictures are shown as a person shows them, each with the number
    of its result, because some results have none (M16.2).
    """
    for role, group in groupby(dialogue, key=lambda one: one.role):
        together = tuple(group)
        yield from together
        for number, one in enumerate(together if role is Role.TOOL else (), 1):
            if one.images:
                said = _PICTURE.format(number, len(together))
                yield Message(role=Role.USER, text=said, images=one.images)


def _before_user(sent: list[Json], model: ModelRecord) -> list[Json]:
    """Return what stands between a result and the next thing said, where a server wants it."""
    if model.supports.user_after_tool or not sent or sent[-1]["role"] != "tool":
        return []
    return [{"role": "assistant", "content": _NOTHING_SAID}]


def _message(
    request: ModelRequest, message: Message, names: dict[str, str], *, short: bool
) -> Json:
    def wire_id(call_id: str) -> str:
        return short_id(call_id) if short else call_id

    match message.role:
        case Role.TOOL:
            call_id = message.tool_call_id or ""
            named = {"name": names.get(call_id, "")} if short else {}
            answered = {"role": "tool", "tool_call_id": wire_id(call_id), "content": message.text}
            return answered | named
        case Role.ASSISTANT:
            extra = request.state_for(message)
            extra = extra if isinstance(extra, dict) else {}
            sent: Json = {"role": "assistant", "content": message.text or None}
            sent |= extra.get("message", {})
            if message.tool_calls:
                kept = extra.get("calls", [])
                sent["tool_calls"] = [
                    {
                        "id": wire_id(call.id),
                        "type": "function",
                        "function": {
                            "name": call.name,
                            "arguments": call.text,
                        },
                        **(kept[place] if place < len(kept) else {}),
                    }
                    for place, call in enumerate(message.tool_calls)
                ]
            return sent
        case _:
            return {"role": message.role.value, "content": message.text}


def _content(said: tuple[Message, ...]) -> str | list[Json]:
    """Return what a person says in a row; with pictures as parts, in their order."""
    if not any(one.images for one in said):
        return "\n\n".join(one.text for one in said if one.text or len(said) == 1)
    parts: list[Json] = []
    for one in said:
        if one.text and parts and "text" in parts[-1]:
            parts[-1]["text"] += f"\n\n{one.text}"
        elif one.text:
            parts.append({"type": "text", "text": one.text})
        urls = map(data_url, one.images)
        parts += [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return parts


def _tool(tool: ToolSpec, strict_names: frozenset[str] | None) -> Json:
    is_strict = strict_names is not None and tool.name in strict_names
    function: Json = {
        "name": tool.name,
        "description": tool.description,
        "parameters": sent_form(tool.parameters, strict if is_strict else relaxed),
    }
    if strict_names is not None:
        function["strict"] = is_strict
    return {"type": "function", "function": function}


class _Extras:
    """What a server adds to its message and calls and wants back unchanged (M6.3)."""

    def __init__(self) -> None:
        self.message: Json = {}
        self.calls: dict[int, Json] = {}

    def take(self, delta: Json) -> None:
        self.message |= {k: v for k, v in delta.items() if k not in _DELTA_FIELDS and v is not None}

    def take_call(self, index: int, call: Json) -> None:
        extra = {k: v for k, v in call.items() if k not in _CALL_FIELDS and v is not None}
        self.calls.setdefault(index, {}).update(extra)

    def state(self, provider_id: str) -> ProviderState | None:
        calls = [self.calls[index] for index in sorted(self.calls)]
        if not self.message and not any(calls):
            return None
        return ProviderState(provider_id, {"message": self.message, "calls": calls})


def _read(stream: Any, request: ModelRequest, most: int | None) -> Iterator[StreamEvent]:
    answer, extras = AnswerParts(), _Extras()
    finish: str | None = None
    usage: Usage | None = None
    refused = False
    yield Started()
    for raw in stream:
        chunk: Json = raw.to_dict(warnings=False)
        if isinstance(chunk.get("usage"), dict):
            usage = _usage(chunk["usage"])
        choices = chunk.get("choices")
        choice = mapping(choices[0]) if isinstance(choices, list) and choices else {}
        delta = mapping(choice.get("delta")) or mapping(choice.get("message"))
        extras.take(delta)
        for text, thought in _pieces(delta.get("content")):
            yield from answer.add_text(text)
            if thought:
                yield ReasoningProgress(len(thought))
        if isinstance(delta.get("refusal"), str) and delta["refusal"]:
            refused = True
            yield from answer.add_text(delta["refusal"])
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str):
            yield ReasoningProgress(len(reasoning))
        yield from _calls(delta, answer, extras)
        finish = choice.get("finish_reason") or finish
    if finish is None:
        return
    reason = _FINISH.get(str(finish))
    if reason is None:
        raise BadResponse("the answer ended for an unknown reason", reason="finish_reason")
    is_full = usage is not None and most is not None and usage.output_tokens >= most
    yield from answer.finished_calls(cut=is_full or reason is FinishReason.LENGTH)
    if usage is not None:
        yield UsageReported(usage)
    if answer.has_calls:
        reason = FinishReason.TOOL_CALLS
    elif refused and reason is FinishReason.STOP:
        reason = FinishReason.REFUSAL
    yield Done(reason, extras.state(request.provider_id))


def _pieces(content: Any) -> Iterator[tuple[str, str]]:
    """Give text and thought of a piece; some models stream them as a list of parts."""
    if isinstance(content, str):
        yield content, ""
    for part in content if isinstance(content, list) else ():
        one = mapping(part)
        inner = one.get("thinking")
        if isinstance(inner, list):
            inner = "".join(str(mapping(each).get("text") or "") for each in inner)
        text = one.get("text")
        yield text if isinstance(text, str) else "", inner if isinstance(inner, str) else ""


def _calls(delta: Json, answer: AnswerParts, extras: _Extras) -> Iterator[StreamEvent]:
    pieces = delta.get("tool_calls")
    for place, piece in enumerate(pieces if isinstance(pieces, list) else ()):
        call = mapping(piece)
        index = call.get("index")
        key = index if isinstance(index, int) else place
        function = mapping(call.get("function"))
        yield from answer.start_call(key, call.get("id"), function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # some servers send the object itself
            arguments = json.dumps(arguments)
        yield from answer.add_arguments(key, arguments)
        extras.take_call(key, call)


def _usage(data: Json) -> Usage:
    """Read what a server counted; some leave the tokens of thinking out of the answer's (M13.1)."""
    inputs = mapping(data.get("prompt_tokens_details"))
    outputs = mapping(data.get("completion_tokens_details"))
    asked, said = count(data.get("prompt_tokens")), count(data.get("completion_tokens"))
    apart = max(0, count(data.get("total_tokens")) - asked - said)
    cached = next((n for n in map(count, _cached(data, inputs)) if n), 0)
    return Usage(
        input_tokens=asked,
        cached_input_tokens=min(cached, asked),
        cache_write_tokens=min(count(inputs.get("cache_write_tokens")), asked),
        output_tokens=said + apart,
        reasoning_tokens=max(apart, count(outputs.get("reasoning_tokens"))),
    )


def _cached(data: Json, inputs: Json) -> tuple[Any, ...]:
    """Return where servers say how much of a prompt they read from their cache."""
    return (
        inputs.get("cached_tokens"),
        data.get("cached_tokens"),
        data.get("prompt_cache_hit_tokens"),
    )
