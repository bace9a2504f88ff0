"""Strict schemas: what is sent, and how nulls come back out."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from backshop.base.errors import ValidationFailed
from backshop.models import scripted
from backshop.models.catalog.strict_schema import (
    ANTHROPIC_LIMITS,
    OPENAI_LIMITS,
    StrictLimits,
    can_be_strict,
    check_tool,
    check_tools,
    drop_nulls,
    relaxed,
    strict,
    strict_names,
    strict_optional,
)
from backshop.models.messages import ToolSpec
from backshop.prompts import MarkdownSection, Prompt, Session, Tool, ToolContext, ToolResult

NAMES = st.sampled_from(["a", "b", "c", "d"])
Schema = dict[str, Any]
SCALARS: st.SearchStrategy[Schema] = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "minimum": 1},
        {"type": "boolean", "default": True},
        {"type": "string", "enum": ["x", "y"]},
        {"const": "k"},
        {"type": ["number", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {"$ref": "#/$defs/thing"},
    ]
)


def objects(parts: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    def build(properties: dict[str, Schema], required: set[str]) -> Schema:
        names = sorted(required & set(properties))
        return {"type": "object", "properties": properties, "required": names}

    return st.builds(build, st.dictionaries(NAMES, parts, max_size=4), st.sets(NAMES))


SCHEMAS = objects(
    st.recursive(
        SCALARS,
        lambda inner: objects(inner) | inner.map(lambda one: {"type": "array", "items": one}),
        max_leaves=8,
    )
)


def walk(schema):
    yield schema
    for part in (schema.get("properties") or {}).values():
        yield from walk(part)
    for key in ("items",):
        if key in schema:
            yield from walk(schema[key])
    for part in schema.get("anyOf") or ():
        yield from walk(part)


@pytest.mark.rule("M9.2", "M19.5")
@given(schema=SCHEMAS)
def test_the_strict_form_closes_every_object_and_is_its_own_strict_form(schema):
    before = copy.deepcopy(schema)

    sent = strict(schema)

    assert strict(sent) == sent
    assert schema == before
    for part in walk(sent):
        if part.get("type") == "object" or "properties" in part:
            assert part["additionalProperties"] is False
            assert part["required"] == sorted(part["properties"])


@pytest.mark.rule("M9.2", "M9.3", "M19.5")
def test_an_optional_enum_allows_null_in_type_and_enum():
    schema = {
        "type": "object",
        "properties": {
            "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "fixed": {"type": "string", "const": "k"},
            "kinds": {"type": ["string", "integer"]},
            "any": {"anyOf": [{"type": "string"}]},
            "ref": {"$ref": "#/$defs/x"},
            "must": {"type": "string", "format": "uri"},
        },
        "required": ["must"],
        "$defs": {"x": {"type": "object", "properties": {"y": {"type": "string"}}}},
    }

    assert strict(schema) == {
        "$defs": {
            "x": {
                "additionalProperties": False,
                "properties": {"y": {"type": ["string", "null"]}},
                "required": ["y"],
                "type": "object",
            }
        },
        "additionalProperties": False,
        "properties": {
            "any": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "fixed": {"enum": ["k", None], "type": ["string", "null"]},
            "kinds": {"type": ["string", "integer", "null"]},
            "mode": {"enum": ["a", "b", None], "type": ["string", "null"]},
            "must": {"type": "string"},
            "ref": {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]},
        },
        "required": ["any", "fixed", "kinds", "mode", "must", "ref"],
        "type": "object",
    }


@pytest.mark.rule("M9.4")
@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "properties": {}}, True),
        ({"type": "object"}, False),
        ({"type": "object", "properties": {}, "additionalProperties": True}, False),
        ({"type": "object", "properties": {"a": {"type": "object"}}}, False),
        (
            {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}},
            False,
        ),
    ],
)
def test_a_free_form_object_cannot_be_strict(schema, expected):
    assert can_be_strict(schema) is expected


@pytest.mark.rule("M9.5", "M19.6")
@given(schema=SCHEMAS, chosen=st.sets(NAMES))
def test_nulls_of_optional_properties_come_back_as_absent(schema, chosen):
    required = set(schema["required"])
    value = {name: None for name in schema["properties"] if name in chosen | required}

    back = drop_nulls(value, schema)

    assert set(back) == {name for name in value if name in required}


@pytest.mark.rule("M9.5")
def test_nulls_are_dropped_inside_lists_references_and_alternatives():
    schema = {
        "type": "object",
        "properties": {
            "edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}},
            "where": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "cell"}, "note": {"type": "string"}},
                        "required": ["kind"],
                    },
                    {"type": "null"},
                ]
            },
        },
        "required": ["edits"],
        "$defs": {
            "edit": {
                "type": "object",
                "properties": {"search": {"type": "string"}, "expect": {"type": "integer"}},
                "required": ["search"],
            }
        },
    }
    value = {"edits": [{"search": "a", "expect": None}], "where": {"kind": "cell", "note": None}}

    back = drop_nulls(value, schema)

    assert back == {"edits": [{"search": "a"}], "where": {"kind": "cell"}}
    Draft202012Validator(schema).validate(back)


@pytest.mark.rule("M6.3")
def test_without_strict_tools_the_original_is_sent_less_schema_and_default():
    schema = {
        "$schema": "x",
        "type": "object",
        "properties": {"a": {"type": "integer", "default": 1, "minimum": 0}},
    }

    assert relaxed(schema) == {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 0}},
    }


@pytest.mark.rule("M9.1")
@pytest.mark.parametrize(
    "tool",
    [
        ToolSpec(name="a b", description="d", parameters={"type": "object"}),
        ToolSpec(name="", description="d", parameters={"type": "object"}),
        ToolSpec(name="a" * 65, description="d", parameters={"type": "object"}),
        ToolSpec(name="a", description="", parameters={"type": "object"}),
        ToolSpec(name="a", description="ü" * 601, parameters={"type": "object"}),
        ToolSpec(name="a", description="d", parameters={"type": "string"}),
    ],
)
def test_a_bad_tool_is_refused_when_it_is_registered(tool):
    with pytest.raises(ValidationFailed) as caught:
        check_tool(tool)

    assert caught.value.reason == "bad_tool"


def test_two_tools_of_one_name_are_refused():
    tool = ToolSpec(name="a", description="d", parameters={"type": "object"})

    with pytest.raises(ValidationFailed):
        check_tools([tool, tool])


@dataclass(frozen=True)
class Anything:
    values: dict[str, Any]


@pytest.mark.rule("M9.4")
def test_tools_that_cannot_be_strict_are_named_when_a_conversation_begins_and_once(caplog):
    def keep(params: Anything, *, context: ToolContext) -> ToolResult:
        return ToolResult(ok=True, message="kept")

    tool = Tool("keep_all", "Keep anything.", Anything, keep, effects="read")
    section = MarkdownSection("Do", "Do it.", key="do", tools=(tool,))
    prompt = Prompt("tests/loose", "loose", sections=[section])
    adapter = scripted([{"respond": {"text": "done"}, "times": 0}])
    caplog.set_level("INFO")

    for _ in range(2):
        adapter.evaluate(prompt, session=Session())

    said = [one.getMessage() for one in caplog.records if "cannot be strict" in one.getMessage()]
    assert said == ["these tools cannot be strict and are offered without it: keep_all"]


def tool(name: str, optional: int = 0, unions: int = 0, depth: int = 1) -> ToolSpec:
    """Return a tool with so many optional and union properties, nested so deep."""
    properties: Schema = {f"o{n}": {"type": "string"} for n in range(optional)}
    properties |= {f"u{n}": {"type": ["string", "integer"]} for n in range(unions)}
    required = [one for one in properties if one.startswith("u")]
    schema: Schema = {"type": "object", "properties": properties, "required": required}
    for _ in range(depth - 1):
        schema = {"type": "object", "properties": {"in": schema}, "required": ["in"]}
    return ToolSpec(name=name, description="Look.", parameters=schema)


@pytest.mark.rule("M9.10")
@pytest.mark.parametrize(
    ("tools", "is_strict"),
    [
        ([tool(f"t{n}") for n in range(20)], True),
        ([tool(f"t{n}") for n in range(21)], False),
        ([tool(f"t{n}", optional=4) for n in range(6)], True),
        ([*(tool(f"t{n}", optional=4) for n in range(6)), tool("more", optional=1)], False),
        ([tool("a", unions=8), tool("b", unions=8, depth=3)], True),
        ([tool("a", unions=8), tool("b", unions=9, depth=3)], False),
    ],
)
def test_strict_tools_stay_within_what_a_provider_takes_in_one_request(tools, is_strict):
    names = frozenset(one.name for one in tools)

    assert strict_names(tools, ANTHROPIC_LIMITS) == (names if is_strict else frozenset())
    assert strict_names(tools, OPENAI_LIMITS) == names


@pytest.mark.rule("M9.10", "M9.4")
def test_a_tool_whose_own_schema_is_too_much_is_the_only_one_that_is_not_strict():
    free = ToolSpec(name="free", description="Look.", parameters={"type": "object"})
    many = [tool("five", optional=5), tool("six", optional=6)]
    tools = [tool("deep", depth=11), *many, tool("fit"), free]

    assert strict_names(tools, StrictLimits(properties=4)) == {"fit"}
    assert strict_names(tools, OPENAI_LIMITS) == {"five", "fit"}


def demanded(schema: Schema) -> list[list[str]]:
    return sorted(sorted(part.get("required", ())) for part in walk(schema))


@pytest.mark.rule("M9.10")
@given(SCHEMAS)
def test_a_strict_form_with_optional_properties_takes_the_same_arguments(schema):
    sent = strict_optional(schema)

    assert strict_optional(sent) == sent
    for part in walk(sent):
        if "properties" in part:
            assert part["additionalProperties"] is False
        assert not {"minimum", "default"} & set(part)
    assert demanded(sent) == demanded(schema)
