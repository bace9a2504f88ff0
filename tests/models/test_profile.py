"""The request bodies, field by field, as they leave each wire."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from backshop.base.errors import ValidationFailed
from backshop.models import Image
from backshop.models.catalog import catalog
from backshop.models.catalog.profile import REMINDER, Efforts, check_efforts, nearest_effort
from backshop.models.errors import ContextExhausted
from backshop.models.messages import (
    Message,
    ModelRequest,
    ProviderState,
    Purpose,
    ResponseSchema,
    Role,
    ToolCall,
    ToolChoice,
    ToolSpec,
)
from backshop.models.wires import anthropic_messages, openai_chat, openai_responses
from backshop.models.wires.shape import Outline

CATALOG = catalog.builtin()
TOOL = ToolSpec(
    name="look",
    description="Look.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "line": {"type": "integer", "minimum": 1}},
        "required": ["path"],
    },
)
STRICT = {
    "additionalProperties": False,
    "properties": {"line": {"minimum": 1, "type": ["integer", "null"]}, "path": {"type": "string"}},
    "required": ["line", "path"],
    "type": "object",
}
MARK = {"type": "ephemeral"}
SYSTEM = Message(role=Role.SYSTEM, text="Rules")
USER = Message(role=Role.USER, text="Hi")


def request(model_id, *more, **fields):
    return ModelRequest(model_id=model_id, messages=(SYSTEM, USER, *more), **fields)


def chain(provider_id, data=None, call_id="c1"):
    state = ProviderState(provider_id, data) if data is not None else None
    called = Message(
        role=Role.ASSISTANT,
        text="Looking",
        tool_calls=(ToolCall(call_id, "look", {"path": "ä"}),),
        provider_state=state,
    )
    return called, Message(role=Role.TOOL, tool_call_id=call_id, text="found", is_error=False)


@pytest.mark.rule("M5.1", "M19.1")
def test_the_first_tool_turn_on_gpt_5():
    model, _ = CATALOG.resolve("openai:gpt-5.2")

    assert openai_responses.body(request("openai:gpt-5.2", tools=(TOOL,)), model) == {
        "model": "gpt-5.2",
        "input": [{"role": "user", "content": "Hi"}],
        "instructions": "Rules",
        "truncation": "disabled",
        "reasoning": {"effort": "medium"},
        "tools": [
            {
                "type": "function",
                "name": "look",
                "description": "Look.",
                "parameters": STRICT,
                "strict": True,
            }
        ],
        "parallel_tool_calls": False,
        "tool_choice": "required",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }


@pytest.mark.rule("M5.1", "M5.2", "M19.1")
def test_the_second_tool_turn_replays_reasoning_in_place():
    model, _ = CATALOG.resolve("openai:gpt-5.2")
    reasoning = {"type": "reasoning", "id": "rs", "encrypted_content": "xyz", "summary": []}

    body = openai_responses.body(
        request("openai:gpt-5.2", *chain("openai", [reasoning, "text", "call"]), tools=(TOOL,)),
        model,
    )

    assert body["tool_choice"] == "auto"
    assert body["input"] == [
        {"role": "user", "content": "Hi"},
        reasoning,
        {"role": "assistant", "content": "Looking"},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"path": "ä"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
    ]


@pytest.mark.rule("M2.5")
def test_another_providers_state_is_dropped():
    model, _ = CATALOG.resolve("openai:gpt-5.2")

    body = openai_responses.body(
        request("openai:gpt-5.2", *chain("anthropic", [{"type": "thinking"}]), tools=(TOOL,)), model
    )

    assert {"type": "thinking"} not in body["input"]


@pytest.mark.rule("M5.1", "M5.4", "M19.2")
def test_sampling_is_fixed_outside_the_gpt_5_family_only():
    model, _ = CATALOG.resolve("openai:gpt-5.2")
    other = replace(model, wire_name="gpt-4.1", efforts=(), sampling=catalog.Sampling.DETERMINISTIC)
    five = replace(model, sampling=catalog.Sampling.DETERMINISTIC)

    plain = openai_responses.body(request("openai:gpt-5.2"), other)

    assert plain == {
        "model": "gpt-4.1",
        "input": [{"role": "user", "content": "Hi"}],
        "instructions": "Rules",
        "truncation": "disabled",
        "temperature": 0,
        "top_p": 1,
        "stream": True,
        "store": False,
    }
    assert "temperature" not in openai_responses.body(
        request("openai:gpt-5.2", effort="none"), five
    )


@pytest.mark.rule("M5.1")
def test_structured_output_and_an_output_bound():
    model, _ = CATALOG.resolve("openai:gpt-5.2")
    schema = ResponseSchema(name="review", schema=TOOL.parameters)

    body = openai_responses.body(
        request("openai:gpt-5.2", response_schema=schema, max_output_tokens=9), model
    )

    assert body["max_output_tokens"] == 9
    assert body["text"] == {
        "format": {"type": "json_schema", "name": "review", "schema": STRICT, "strict": True}
    }


@pytest.mark.rule("M6.1", "M6.2", "M19.13")
def test_anthropic_gets_results_of_one_turn_in_one_message_and_thinking_unchanged():
    model, _ = CATALOG.resolve("anthropic:claude-opus-4-6")
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    calls = (ToolCall("c1", "look", {"path": "a"}), ToolCall("c2", "look", {"path": "b"}))
    turn = Message(
        role=Role.ASSISTANT,
        tool_calls=calls,
        provider_state=ProviderState("anthropic", [thinking, "call", "call"]),
    )
    results = [
        Message(role=Role.TOOL, tool_call_id="c1", text="A"),
        Message(role=Role.TOOL, tool_call_id="c2", text="no", is_error=True),
    ]

    body = anthropic_messages.body(
        request("anthropic:claude-opus-4-6", turn, *results, tools=(TOOL,), effort="max"), model
    )

    assert body == {
        "model": "claude-opus-4-6",
        "max_tokens": 32768,
        "system": [{"type": "text", "text": "Rules", "cache_control": MARK}],
        "stream": True,
        "output_config": {"effort": "max"},
        "tools": [
            {
                "name": "look",
                "description": "Look.",
                "input_schema": {
                    **STRICT,
                    "properties": {"line": {"type": "integer"}, "path": {"type": "string"}},
                    "required": ["path"],
                },
                "strict": True,
            }
        ],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "content": [
                    thinking,
                    {"type": "tool_use", "id": "c1", "name": "look", "input": {"path": "a"}},
                    {"type": "tool_use", "id": "c2", "name": "look", "input": {"path": "b"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "A", "is_error": False},
                    {
                        "type": "tool_result",
                        "tool_use_id": "c2",
                        "content": "no",
                        "is_error": True,
                        "cache_control": MARK,
                    },
                ],
            },
        ],
    }


@pytest.mark.rule("M6.1", "M6.2")
def test_anthropic_first_turn_bound_and_effort():
    model, _ = CATALOG.resolve("anthropic:claude-sonnet-4-6")
    small = replace(model, context_tokens_estimate=5000)

    body = anthropic_messages.body(
        request("anthropic:claude-sonnet-4-6", tools=(TOOL,), effort="max"), small
    )

    assert body["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}
    assert body["output_config"] == {"effort": "high"}
    assert 4096 <= body["max_tokens"] < 5000
    with pytest.raises(ContextExhausted):
        anthropic_messages.body(
            request("anthropic:claude-sonnet-4-6"), replace(model, context_tokens_estimate=4000)
        )


@pytest.mark.rule("M6.1", "M6.3", "M19.14")
def test_gemini_gets_its_thought_signature_back_and_nothing_it_does_not_know():
    model, _ = CATALOG.resolve("google:gemini-3-pro")
    extra = {"extra_content": {"google": {"thought_signature": "s"}}}

    body = openai_chat.body(
        request(
            "google:gemini-3-pro",
            *chain("google", {"message": {}, "calls": [extra]}),
            tools=(TOOL,),
            effort="low",
        ),
        model,
    )

    assert body == {
        "model": "gemini-3-pro",
        "stream": True,
        "stream_options": {"include_usage": True},
        "reasoning_effort": "low",
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "look",
                    "description": "Look.",
                    "parameters": dict(sorted(TOOL.parameters.items())),
                },
            }
        ],
        "tool_choice": "auto",
        "messages": [
            {"role": "system", "content": "Rules"},
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": "Looking",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "look", "arguments": '{"path": "ä"}'},
                        **extra,
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
        ],
    }


@pytest.mark.rule("M6.4", "M19.15")
def test_mistral_gets_short_ids_that_match_their_results():
    model, _ = CATALOG.resolve("mistral:mistral-large")
    long = "call_0123456789abcdef"

    body = openai_chat.body(
        request("mistral:mistral-large", *chain("openai", call_id=long), tools=(TOOL,)), model
    )

    called, result = body["messages"][2:]
    short = called["tool_calls"][0]["id"]
    assert len(short) == 9
    assert short.isalnum()
    assert result == {"role": "tool", "tool_call_id": short, "content": "found", "name": "look"}
    assert (body["temperature"], body["top_p"]) == (0, 1)
    assert openai_chat.short_id("abcDEF123") == "abcDEF123"
    assert openai_chat.short_id("a") != openai_chat.short_id("b")


@pytest.mark.rule("M6.1")
def test_a_server_that_cannot_force_a_call_gets_a_reminder():
    model, _ = CATALOG.resolve("mistral:mistral-large")
    weak = replace(model, supports=replace(model.supports, tool_choice_required=False))

    body = openai_chat.body(request("mistral:mistral-large", tools=(TOOL,)), weak)

    assert body["tool_choice"] == "auto"
    assert body["messages"][-1] == {"role": "user", "content": f"Hi\n\n{REMINDER}"}


def test_pictures_reach_every_wire():
    picture = Message(role=Role.USER, text="See", images=(Image("image/png", b"\x89P"),))
    url = "data:image/png;base64,iVA="

    bodies = [
        wire.body(request(model_id, picture), CATALOG.resolve(model_id)[0])
        for wire, model_id in (
            (openai_responses, "openai:gpt-5.2"),
            (openai_chat, "google:gemini-3-pro"),
            (anthropic_messages, "anthropic:claude-opus-4-6"),
        )
    ]

    assert bodies[0]["input"][-1]["content"][1]["image_url"] == url
    assert bodies[1]["messages"][-1]["content"][1] == {
        "type": "image_url",
        "image_url": {"url": url},
    }
    assert bodies[2]["messages"][-1]["content"][-1]["source"]["data"] == "iVA="


@pytest.mark.rule("M5.5")
@pytest.mark.parametrize(
    ("wire", "model_id"),
    [
        (openai_responses, "openai:gpt-5.2"),
        (openai_chat, "mistral:mistral-large"),
        (anthropic_messages, "anthropic:claude-opus-4-6"),
    ],
)
def test_the_same_request_gives_the_same_bytes(wire, model_id):
    model, _ = CATALOG.resolve(model_id)
    swapped = replace(
        TOOL, parameters={key: TOOL.parameters[key] for key in reversed(list(TOOL.parameters))}
    )

    first, second = (
        json.dumps(wire.body(request(model_id, tools=(tool,)), model)) for tool in (TOOL, swapped)
    )

    assert first == second


@pytest.mark.rule("M7.2", "M19.3")
def test_phases_have_their_effort_and_everything_else_is_medium():
    efforts = Efforts(research="high", plan="low", implement="none")

    assert [efforts.of(purpose) for purpose in Purpose] == [
        *("none", "high", "low", "none"),  # direct work as implement
        *["medium"] * 7,
    ]


@pytest.mark.rule("M7.2")
@pytest.mark.parametrize(
    ("wanted", "offered", "got"),
    [
        ("high", ("low", "medium"), "medium"),
        ("none", ("low", "medium"), "low"),
        ("xhigh", ("low", "high", "max"), "high"),
        ("medium", (), None),
    ],
)
def test_an_effort_the_model_lacks_falls_to_the_nearest_lower(wanted, offered, got):
    assert nearest_effort(wanted, offered) == got


@pytest.mark.rule("M7.1", "M19.4")
def test_efforts_are_checked_against_the_provider():
    xhigh = Efforts(plan="xhigh")

    assert check_efforts("openai-codex", xhigh, ("low", "medium", "xhigh")) == xhigh
    for provider, efforts, offered in (
        ("openai", xhigh, ("low", "medium", "high")),
        ("mistral", Efforts(), ()),
        ("local-x", Efforts(), ()),
    ):
        with pytest.raises(ValidationFailed) as caught:
            check_efforts(provider, efforts, offered)
        assert caught.value.reason == "bad_effort"


@pytest.mark.rule("M6.7", "M17", "M19.44")
def test_what_a_model_cannot_do_is_refused_before_any_call():
    model, _ = CATALOG.resolve("openai:gpt-5.2")
    weak = replace(model, supports=replace(model.supports, tools=False))
    loose = ResponseSchema(name="x", schema={"type": "object"})

    with pytest.raises(ValidationFailed) as no_tools:
        openai_responses.body(request("openai:gpt-5.2", tools=(TOOL,)), weak)
    with pytest.raises(ValidationFailed) as no_schema:
        openai_responses.body(request("openai:gpt-5.2", response_schema=loose), model)

    assert no_tools.value.reason == "model_without_tools"
    assert no_schema.value.reason == "schema_not_strict"


@pytest.mark.rule("W16.3")
def test_no_tools_on_the_last_turn():
    asked = {"tools": (TOOL,), "tool_choice": ToolChoice.NONE}

    openai = openai_responses.body(
        request("openai:gpt-5.2", **asked), CATALOG.resolve("openai:gpt-5.2")[0]
    )
    claude = anthropic_messages.body(
        request("anthropic:claude-opus-4-6", **asked),
        CATALOG.resolve("anthropic:claude-opus-4-6")[0],
    )

    assert openai["tool_choice"] == "none"
    assert claude["tool_choice"] == {"type": "none"}


@pytest.mark.rule("M6.1")
def test_a_model_that_refuses_a_forced_tool_is_reminded_instead():
    model, _ = CATALOG.resolve("anthropic:claude-opus-4-6")
    unforced = replace(model, supports=replace(model.supports, tool_choice_required=False))

    body = anthropic_messages.body(request("anthropic:claude-opus-4-6", tools=(TOOL,)), unforced)

    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert body["messages"][-1]["content"][-1] == {
        "type": "text",
        "text": REMINDER,
        "cache_control": MARK,
    }


@pytest.mark.rule("M5.1", "M6.1", "M8.1")
def test_a_request_may_take_several_calls_at_once_and_plain_schemas():
    asked = {
        "tools": (TOOL,),
        "tool_choice": ToolChoice.AUTO,
        "is_parallel": True,
        "is_strict": False,
    }

    def body(wire, model_id):
        return wire.body(request(model_id, **asked), CATALOG.resolve(model_id)[0])

    responses = body(openai_responses, "openai:gpt-5.2")
    messages = body(anthropic_messages, "anthropic:claude-opus-4-6")
    chat = body(openai_chat, "mistral:mistral-large")
    assert (responses["parallel_tool_calls"], responses["tool_choice"]) == (True, "auto")
    assert (chat["parallel_tool_calls"], chat["tool_choice"]) == (True, "auto")
    assert messages["tool_choice"] == {"type": "auto"}
    assert [one["strict"] for one in responses["tools"]] == [False]
    assert [one["function"]["strict"] for one in chat["tools"]] == [False]
    assert "strict" not in messages["tools"][0]
    assert messages["tools"][0]["input_schema"] == TOOL.parameters


@pytest.mark.rule("M6.2")
def test_a_server_of_ones_own_is_told_where_an_answer_ends():
    local = catalog.ModelRecord(
        model_id="local-x:m",
        provider_id="local-x",
        wire_name="m",
        display_name="M",
        context_tokens_estimate=8000,
        max_output_tokens=2000,
    )
    long = Message(role=Role.USER, text="x" * 4 * 6000)

    assert openai_chat.body(request("local-x:m"), local)["max_tokens"] == 2000
    assert 256 <= openai_chat.body(request("local-x:m", long), local)["max_tokens"] < 1000
    far, _ = CATALOG.resolve("mistral:mistral-large")
    assert "max_tokens" not in openai_chat.body(request("mistral:mistral-large"), far)


@pytest.mark.rule("M1.6", "M5.4")
def test_a_model_of_ones_own_adds_to_what_the_catalog_knows():
    entries = [
        {"model_id": "openai:gpt-5.2", "context_tokens_estimate": 64_000},
        {"model_id": "openai:gpt-4.1", "context_tokens_estimate": 1_000_000},
        {"model_id": "anthropic:claude-x", "context_tokens_estimate": 8000},
        {
            "model_id": "mistral:small",
            "context_tokens_estimate": 32_000,
            "supports": {"vision": True},
        },
    ]

    found = catalog.with_overlay(CATALOG, entries).models

    known = found["openai:gpt-5.2"]
    assert known == replace(CATALOG.models["openai:gpt-5.2"], context_tokens_estimate=64_000)
    plain, claude, small = (found[str(one["model_id"])] for one in entries[1:])
    assert (plain.sampling, plain.max_output_tokens) == (catalog.Sampling.DETERMINISTIC, 16_384)
    assert (claude.sampling, claude.max_output_tokens) == (catalog.Sampling.OMIT, 2000)
    assert (small.supports.vision, small.supports.short_call_ids) == (True, True)
    body = openai_responses.body(request("openai:gpt-4.1"), plain)
    assert (body["temperature"], body["top_p"]) == (0, 1)


def looks(number: int) -> list[Message]:
    """So many calls of a loop with their results, one after another."""
    found: list[Message] = []
    for n in range(number):
        call = ToolCall(f"c{n}", "look", {"path": "a", "line": n}, f'{{"line": {n}, "path": "a"}}')
        found.append(Message(role=Role.ASSISTANT, tool_calls=(call,)))
        found.append(Message(role=Role.TOOL, tool_call_id=call.id, text=f"line {n}"))
    return found


def unmarked(value):
    if isinstance(value, dict):
        return {key: unmarked(one) for key, one in value.items() if key != "cache_control"}
    return [unmarked(one) for one in value] if isinstance(value, list) else value


@pytest.mark.rule("M6.8")
@pytest.mark.parametrize("number", [0, 1, 10, 40])
def test_anthropic_keeps_what_is_sent_again_up_to_marks_it_can_find(number):
    model, _ = CATALOG.resolve("anthropic:claude-opus-4-6")

    def body(calls: int) -> dict[str, Any]:
        asked = request("anthropic:claude-opus-4-6", *looks(calls), tools=(TOOL,))
        return anthropic_messages.body(asked, model)

    now, following = body(number), body(number + 1)
    blocks = [block for message in now["messages"] for block in message["content"]]
    marks = [place for place, block in enumerate(blocks) if "cache_control" in block]
    assert now["system"][-1]["cache_control"] == MARK
    assert marks[-1] == len(blocks) - 1
    assert len(marks) <= 3
    assert all(later - place < 20 for place, later in pairwise(marks))
    assert unmarked(following["messages"])[: len(now["messages"])] == unmarked(now["messages"])


@pytest.mark.rule("M5.1", "M8.1")
def test_requests_about_one_workbench_share_a_key_for_what_openai_keeps():
    model, _ = CATALOG.resolve("openai:gpt-5.2")

    def key(bench: str | None) -> Any:
        asked = request("openai:gpt-5.2", workbench_id=bench)
        return openai_responses.body(asked, model).get("prompt_cache_key")

    assert key("wb_1") == key("wb_1") != key("wb_2")
    assert "wb_1" not in key("wb_1")
    assert key(None) is None


@pytest.mark.rule("M5.2", "M6.3")
def test_arguments_go_back_as_the_model_wrote_them():
    written = '{"path": "ä",  "line": 1}'
    call = ToolCall("c1", "look", {"line": 1, "path": "ä"}, written)
    said = Message(role=Role.ASSISTANT, tool_calls=(call,))
    result = Message(role=Role.TOOL, tool_call_id="c1", text="found")

    def body(wire, model_id):
        model, _ = CATALOG.resolve(model_id)
        return wire.body(request(model_id, said, result, tools=(TOOL,)), model)

    responses = body(openai_responses, "openai:gpt-5.2")["input"]
    chat = body(openai_chat, "google:gemini-3-pro")["messages"]
    messages = body(anthropic_messages, "anthropic:claude-opus-4-6")["messages"]
    assert responses[1]["arguments"] == written
    assert chat[2]["tool_calls"][0]["function"]["arguments"] == written
    assert list(messages[1]["content"][0]["input"]) == ["path", "line"]


@pytest.mark.rule("M6.4")
def test_mistral_is_told_nothing_between_a_result_and_the_next_thing_said():
    more = Message(role=Role.USER, text="Go on.")

    def roles(model_id):
        model, _ = CATALOG.resolve(model_id)
        asked = request(model_id, *chain("x"), more, tools=(TOOL,))
        return [one["role"] for one in openai_chat.body(asked, model)["messages"]]

    begun = ["system", "user", "assistant", "tool"]
    assert roles("mistral:mistral-large") == [*begun, "assistant", "user"]
    assert roles("google:gemini-3-pro") == [*begun, "user"]


@pytest.mark.rule("M5.2")
def test_a_message_said_on_the_way_goes_back_as_such():
    model, _ = CATALOG.resolve("openai:gpt-5.2")
    outline = Outline()
    outline.text(0, {"phase": "commentary"})
    outline.call(1)
    state = outline.state("openai")
    assert state is not None

    body = openai_responses.body(
        request("openai:gpt-5.2", *chain("openai", state.data), tools=(TOOL,)), model
    )

    assert body["input"][1] == {"role": "assistant", "content": "Looking", "phase": "commentary"}
    assert [one.get("type") for one in body["input"][2:]] == [
        "function_call",
        "function_call_output",
    ]
