"""A tool's definition, its schema and the decoding of calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import pytest

from backshop.base.errors import ValidationFailed
from backshop.prompts import PromptValidationError, Tool, ToolContext, ToolResult


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
        {"path": "a", "limit": "7"},
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


@pytest.mark.rule("P1.17")
def test_a_tool_without_params_takes_no_arguments():
    plain = tool(params=None)

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
