"""Several user messages in a row; adding to a request alters nothing before (M6.8, M6.9)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from backshop.models import Image
from backshop.models.catalog.catalog import Supports
from backshop.models.messages import (
    Message,
    ModelRequest,
    ProviderState,
    Role,
    ToolCall,
    ToolChoice,
    ToolSpec,
)

from .calling import MODEL, TOOL, WIRES, request

SYSTEM = Message(role=Role.SYSTEM, text="Rules.")
OPENING: tuple[Message, ...] = (
    SYSTEM,
    Message(role=Role.USER, text="Earlier?"),
    Message(role=Role.ASSISTANT, text="Earlier."),
    Message(role=Role.USER, text="Please."),
    Message(role=Role.USER, text="Today is Monday."),
    Message(role=Role.USER, text="Work now."),
)


def step(
    number: int, calls: int = 1, *, thinks: bool = False, shows: bool = False
) -> tuple[Message, ...]:
    """An answer with calls, and their results; `shows`: the first one is a picture."""
    ids = [f"c{number}_{one}" for one in range(calls)]
    thought = ProviderState(
        "local-x", [{"type": "thinking", "thinking": "hm", "signature": "s"}, *["call"] * calls]
    )
    answer = Message(
        role=Role.ASSISTANT,
        tool_calls=tuple(ToolCall(one, "look", {"q": one}, f'{{"q":  "{one}"}}') for one in ids),
        provider_state=thought if thinks else None,
    )
    pictures = {ids[0]: (Image("image/png", f"picture {number}".encode()),)} if shows else {}
    results = (
        Message(role=Role.TOOL, text=f"saw {one}", tool_call_id=one, images=pictures.get(one, ()))
        for one in ids
    )
    return (answer, *results)


def sent(wire: str, *messages: Message, model: Any = MODEL, **fields: Any) -> dict[str, Any]:
    asked: ModelRequest = request(messages=messages, **fields)
    body: dict[str, Any] = WIRES[wire][0].body(asked, model)
    return body


def dialogue(body: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = body["input"] if "input" in body else body["messages"]
    return found


def unmarked(value: Any) -> Any:
    """A body without cache marks."""
    if isinstance(value, dict):
        return {k: unmarked(v) for k, v in value.items() if k != "cache_control"}
    return [unmarked(one) for one in value] if isinstance(value, list) else value


def marks(body: dict[str, Any]) -> list[int]:
    """The places of marked blocks, counted over all messages."""
    blocks = [block for one in body["messages"] for block in one["content"]]
    return [place for place, block in enumerate(blocks) if "cache_control" in block]


@pytest.mark.rule("M6.9")
def test_user_messages_in_a_row_are_told_as_each_wire_takes_them():
    responses = dialogue(sent("responses", *OPENING))
    assert [one["content"] for one in responses[2:]] == ["Please.", "Today is Monday.", "Work now."]

    claude = dialogue(sent("messages", *OPENING))
    assert [one["role"] for one in claude] == ["user", "assistant", "user"]
    assert [block["text"] for block in claude[2]["content"]] == [
        "Please.",
        "Today is Monday.",
        "Work now.",
    ]

    chat = dialogue(sent("chat", *OPENING))
    assert [one["role"] for one in chat] == ["system", "user", "assistant", "user"]
    assert chat[3]["content"] == "Please.\n\nToday is Monday.\n\nWork now."


@pytest.mark.rule("M6.9")
def test_pictures_of_messages_that_are_joined_stay():
    picture = Image("image/png", b"x")
    shown = (Message(role=Role.USER, text="See.", images=(picture,)), OPENING[-1])

    (message,) = dialogue(sent("chat", *shown))

    assert [part["type"] for part in message["content"]] == ["text", "image_url", "text"]
    assert [message["content"][place]["text"] for place in (0, 2)] == ["See.", "Work now."]


@pytest.mark.rule("M6.9", "M5.5", "M16.3")
@pytest.mark.parametrize(
    "supports",
    [Supports(), Supports(tool_choice_required=False), Supports(user_after_tool=False)],
)
@pytest.mark.parametrize("choice", [ToolChoice.AUTO, ToolChoice.FIRST_TURN_REQUIRED])
@pytest.mark.parametrize("wire", WIRES)
def test_a_request_begins_with_the_one_before(wire, choice, supports):
    model = replace(MODEL, supports=supports)
    grown = OPENING
    before: list[Any] = []
    first: dict[str, Any] = {}
    for number in range(12):
        body = unmarked(sent(wire, *grown, model=model, tool_choice=choice))
        now = dialogue(body)
        fixed = {key: body[key] for key in ("system", "instructions", "tools") if key in body}
        first = first or fixed
        assert now[: len(before)] == before
        assert fixed == first
        before = now
        is_shown = number % 2 == 1
        grown = (*grown, *step(number, 1 + number % 3, thinks=wire == "messages", shows=is_shown))


@pytest.mark.rule("M6.9")
@pytest.mark.parametrize("wire", WIRES)
def test_what_is_said_at_the_end_alters_no_byte_before(wire):
    def text(*messages: Message) -> str:
        plain = json.dumps(unmarked(dialogue(sent(wire, *messages, tool_choice=ToolChoice.AUTO))))
        return plain.rstrip('"}]')

    for end in range(2, len(OPENING)):
        assert text(*OPENING[: end + 1]).startswith(text(*OPENING[:end])), end


@pytest.mark.rule("M6.8")
def test_marks_stand_at_the_request_at_the_end_and_between():
    body = sent("messages", *OPENING)
    assert body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert marks(body) == [2, 4]  # "Please.", and the last

    grown = OPENING
    seen: set[int] = set()
    for number in range(20):
        grown = (*grown, *step(number, 3, thinks=True))
        found = marks(sent("messages", *grown))
        blocks = 5 + 7 * (number + 1)
        assert found[0] == 2
        assert found[-1] == blocks - 1
        assert len(found) <= 3  # with the system text's four
        assert all(later - 20 <= max(seen | {2}) for later in found[1:2])
        seen |= set(found)


@pytest.mark.rule("M6.8")
def test_thinking_is_never_marked():
    for calls in range(1, 20):
        body = sent("messages", *OPENING, *step(0, calls, thinks=True), OPENING[-1])
        for message in body["messages"]:
            for block in message["content"]:
                assert block["type"] != "thinking" or "cache_control" not in block


@pytest.mark.rule("M5.1", "M6.1", "M8.1")
@pytest.mark.parametrize(
    ("wire", "auto", "forced"),
    [
        ("responses", ("auto", True), ("required", False)),
        ("chat", ("auto", True), ("required", False)),
        (
            "messages",
            {"type": "auto"},
            {"type": "any", "disable_parallel_tool_use": True},
        ),
    ],
)
def test_choice_and_number_of_calls_are_asked_for(wire, auto, forced):
    def asked(**fields: Any) -> Any:
        body = sent(wire, *OPENING, **fields)
        found = body["tool_choice"]
        return found if wire == "messages" else (found, body["parallel_tool_calls"])

    assert asked(tool_choice=ToolChoice.AUTO, is_parallel=True) == auto
    assert asked(tool_choice=ToolChoice.FIRST_TURN_REQUIRED, is_parallel=False) == forced


@pytest.mark.rule("M9.4", "M9.10")
def test_open_and_strict_tools_stand_side_by_side():
    free = ToolSpec(
        name="operations",
        description="Do.",
        parameters={
            "type": "object",
            "properties": {
                "operations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"op": {"type": "string", "enum": ["a", "b"]}},
                        "required": ["op"],
                        "additionalProperties": True,
                    },
                }
            },
            "required": ["operations"],
            "additionalProperties": False,
        },
    )

    responses = {
        one["name"]: one for one in sent("responses", *OPENING, tools=(TOOL, free))["tools"]
    }
    chat = sent("chat", *OPENING, tools=(TOOL, free))["tools"]
    claude = {one["name"]: one for one in sent("messages", *OPENING, tools=(TOOL, free))["tools"]}

    assert {name: one["strict"] for name, one in responses.items()} == {
        "look": True,
        "operations": False,
    }
    plain = json.loads(json.dumps(free.parameters))
    del plain["properties"]["operations"]["items"]["additionalProperties"]  # open as it is
    assert responses["operations"]["parameters"] == plain
    assert [one["function"]["strict"] for one in chat] == [True, False]
    assert chat[1]["function"]["parameters"] == plain
    assert claude["look"]["strict"] is True
    assert "strict" not in claude["operations"]
    assert claude["operations"]["input_schema"] == plain
