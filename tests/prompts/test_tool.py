"""A tool's definition, its schema and the decoding of calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Literal

import pytest

from backshop.base.errors import ValidationFailed
from backshop.prompts import PromptValidationError, Tool, ToolContext, ToolResult, invoke


class Order(StrEnum):
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCell:
    op: Literal["set_cell"]
    cell: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    op: Literal["sort"]
    order: Order = Order.UP


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    path: str = field(metadata={"description": "Path of a file"})
    ops: tuple[SetCell | Sort, ...] = ()
    limit: int = field(default=200, metadata={"description": "How many", "ge": 1, "le": 1000})
    cursor: str | None = None


def _done(params: Edit, *, context: ToolContext) -> ToolResult:
    return ToolResult(True, params.path)


def tool(**changes) -> Tool:
    given = {
        "name": "edit",
        "description": "Edit a file.",
        "params": Edit,
        "handler": _done,
        "effects": "write",
    }
    return Tool(**{**given, **changes})


@pytest.mark.rule("P1.17")
def test_the_schema_has_descriptions_and_limits_and_no_titles():
    schema = tool().schema

    assert schema["properties"]["path"] == {"type": "string", "description": "Path of a file"}
    assert schema["properties"]["limit"] == {
        "type": "integer",
        "description": "How many",
        "default": 200,
        "minimum": 1,
        "maximum": 1000,
    }
    assert schema["required"] == ["path"]
    assert schema["additionalProperties"] is False
    assert "title" not in str(schema)


@pytest.mark.rule("P1.17", "M9.5")
def test_null_for_an_optional_field_means_its_default():
    arguments = {
        "path": "a.xlsx",
        "limit": None,
        "cursor": None,
        "ops": [{"op": "sort", "order": None}, {"op": "set_cell", "cell": "A1", "note": None}],
    }

    assert tool().decode(arguments) == Edit(
        path="a.xlsx", ops=(Sort(op="sort"), SetCell(op="set_cell", cell="A1"))
    )


@pytest.mark.rule("P1.17")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"path": None},
        {"path": 5},
        {"path": "a", "limit": 0},
        {"path": "a", "limit": "seven"},
        {"path": "a", "other": 1},
        {"path": "a", "ops": [{"op": "nothing"}]},
    ],
)
def test_bad_arguments_are_refused_with_hints(arguments):
    with pytest.raises(ValidationFailed) as caught:
        tool().decode(arguments)

    assert caught.value.reason == "bad_arguments"
    assert caught.value.hints


@pytest.mark.rule("P1.17")
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": "Edit"}, "BAD_TOOL"),
        ({"name": ""}, "BAD_TOOL"),
        ({"description": ""}, "BAD_TOOL"),
        ({"description": "ü" * 601}, "BAD_TOOL"),
        ({"effects": "magic"}, "BAD_TOOL"),
        ({"timeout_s": 0}, "BAD_TOOL"),
        ({"params": dict}, "PARAMS_NOT_DATACLASS"),
    ],
)
def test_bad_definitions_fail_when_they_are_made(changes, code):
    with pytest.raises(PromptValidationError) as caught:
        tool(**changes)

    assert caught.value.code == code


@pytest.mark.rule("P1.17")
def test_field_types_no_model_could_fill_are_refused():
    @dataclass(frozen=True)
    class Odd:
        data: bytes

    with pytest.raises(PromptValidationError) as caught:
        tool(params=Odd)

    assert caught.value.code == "UNSUPPORTED_FIELD"


def _text(params: Edit, *, context: ToolContext) -> str:
    return "done"


def _other(params: Sort, *, context: ToolContext) -> ToolResult:
    return ToolResult(True, "done")


def _alone(params: Edit) -> ToolResult:
    return ToolResult(True, "done")


def _pieces(params: Edit, *, context: ToolContext) -> Iterator[ToolResult]:
    yield ToolResult(True, "done")


async def _later_text(params: Edit, *, context: ToolContext) -> str:
    return "done"


class _Calls:
    def __call__(self, params: Edit) -> ToolResult:
        return ToolResult(True, "done")


@pytest.mark.rule("P1.17")
@pytest.mark.parametrize("handler", [_text, _other, _alone, _pieces, _later_text, _Calls()])
def test_a_handler_that_could_not_answer_fails_where_the_tool_is_defined(handler):
    with pytest.raises(PromptValidationError, match="handler of edit") as caught:
        tool(handler=handler)

    assert caught.value.code == "BAD_TOOL"


async def _later(params: Edit, *, context: ToolContext) -> ToolResult:
    await asyncio.sleep(0)
    return ToolResult(True, f"edited {params.path}")


def _promised(params: Edit, *, context: ToolContext) -> Awaitable[ToolResult]:
    return _later(params, context=context)


class _Later:
    async def __call__(self, params, *, context):
        return await _later(params, context=context)


@pytest.mark.rule("P1.17")
@pytest.mark.parametrize("handler", [_later, _promised, _Later(), partial(_later)])
@pytest.mark.parametrize("in_a_loop", [False, True])
def test_an_async_handler_is_awaited_also_from_within_a_loop(handler, in_a_loop):
    one = tool(handler=handler)
    params = one.decode({"path": "a", "ops": []})

    async def called_in_a_loop() -> ToolResult:
        return invoke(one, params, context=ToolContext())

    result = (
        asyncio.run(called_in_a_loop()) if in_a_loop else invoke(one, params, context=ToolContext())
    )

    assert result == ToolResult(True, "edited a")


@pytest.mark.rule("P1.17")
def test_an_async_handler_that_fails_raises_its_error_from_within_a_loop_too():
    async def broken(params, *, context):
        raise ValueError("it broke")

    one = tool(handler=broken)

    async def called_in_a_loop() -> ToolResult:
        return invoke(one, None, context=ToolContext())

    with pytest.raises(ValueError, match="it broke"):
        invoke(one, None, context=ToolContext())
    with pytest.raises(ValueError, match="it broke"):
        asyncio.run(called_in_a_loop())


@pytest.mark.rule("P1.17")
def test_a_handler_that_gives_something_else_is_told_by_name():
    one = tool(handler=lambda params, context: "done")

    with pytest.raises(PromptValidationError, match="edit returned str, not a ToolResult"):
        invoke(one, None, context=ToolContext())


@pytest.mark.rule("P1.17")
def test_a_tool_without_params_takes_no_arguments():
    plain = tool(params=None, handler=lambda params, context: ToolResult(True, ""))

    assert plain.decode({}) is None
    with pytest.raises(ValidationFailed):
        plain.decode({"path": "a"})


@pytest.mark.rule("P1.17")
def test_the_model_receives_the_message_and_below_it_the_value():
    assert ToolResult(True, "done").text() == "done"
    assert ToolResult(True, "done", {"n": 1}).text() == 'done\n{"n": 1}'
    assert ToolResult(True, "", Sort(op="sort")).text() == '{"op": "sort", "order": "up"}'


@pytest.mark.rule("P1.17")
def test_failures_carry_a_lower_case_code():
    assert ToolResult.failure("not_found", "no such file").code == "not_found"
    with pytest.raises(PromptValidationError):
        ToolResult(False, "no such file")
    with pytest.raises(PromptValidationError):
        ToolResult(False, "no such file", code="NOT_FOUND")


def test_a_resource_is_found_by_its_type_or_named_as_missing():
    context = ToolContext(workspace="files", resources={int: 5})

    assert (context.resource(str), context.resource(int)) == ("files", 5)
    with pytest.raises(ValidationFailed) as caught:
        context.resource(bytes)
    assert caught.value.reason == "no_resource"
