"""Structured output: what is asked for and what is accepted."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.prompts import (
    OutputParseError,
    Prompt,
    PromptValidationError,
    output_schema,
    parse_output,
)


class Level(StrEnum):
    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True)
class Item:
    name: str
    count: int = 0
    done: bool = False
    level: Level | None = None


@dataclass(frozen=True)
class Report:
    title: str = field(metadata={"description": "One line"})
    items: tuple[Item, ...] = ()
    score: float = 0.0
    due: date | None = None
    internal: str = field(default="kept", metadata={"model_hidden": True})


def prompt(output, **attributes) -> Prompt[Any]:
    return Prompt("tests", "p", sections=[], output=output, **attributes)


def code_of(text: str, output=Report, **attributes) -> str:
    with pytest.raises(OutputParseError) as caught:
        parse_output(text, prompt(output, **attributes))
    assert caught.value.raw == text
    return caught.value.code


@pytest.mark.rule("P1.19", "P11.18")
def test_an_output_is_a_dataclass_or_a_list_of_one():
    for bad in (str, dict, list[str], list, tuple[Item, ...], Item("x")):
        with pytest.raises(PromptValidationError) as caught:
            prompt(bad)
        assert caught.value.code == "OUTPUT_NOT_DATACLASS"
    items = prompt(list[Item])
    assert items.parse_output('[{"name": "a"}]') == [Item("a")]
    assert items.parse_output('{"items": [{"name": "a"}]}') == [Item("a")]


@pytest.mark.rule("P1.19")
def test_the_schema_leaves_hidden_fields_out():
    assert output_schema(Item) == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "count": {"type": "integer"},
            "done": {"type": "boolean"},
            "level": {"anyOf": [{"enum": ["low", "high"]}, {"type": "null"}]},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    assert "internal" not in output_schema(Report)["properties"]
    assert output_schema(Report)["properties"]["title"]["description"] == "One line"


@pytest.mark.rule("P1.19")
def test_the_response_format_section_stands_last_in_the_system_text():
    rendered = prompt(Report).render(response_format=True)

    assert rendered.text.startswith("## 1. Response Format\n\nReturn exactly one fenced `json`")
    assert json.loads(rendered.text.split("```json\n")[1].split("\n```")[0]) == output_schema(
        Report
    )
    assert rendered.descriptor.sections == ()


@pytest.mark.rule("P1.19", "P11.19")
def test_the_last_fitting_fence_is_used():
    text = (
        'Think.\n```json\n{"title": "first"}\n```\n'
        'then\n```json\n{"title": "second"}\n```\n```json\n[1]\n```\n'
    )

    assert parse_output(text, prompt(Report)) == Report("second")
    assert code_of('{"title": "a", "other": 1}') == "EXTRA_KEY"
    assert parse_output('{"title": "a", "other": 1}', prompt(Report, allow_extra_keys=True)) == (
        Report("a")
    )


@pytest.mark.rule("P1.19")
def test_json_is_found_in_the_whole_text_and_inside_prose():
    assert parse_output(' {"title": "a"} ', prompt(Report)) == Report("a")
    assert parse_output('Sure [1]: {"title": "a"} ok', prompt(Report)) == Report("a")


@pytest.mark.rule("P1.19")
def test_the_few_coercions():
    text = json.dumps(
        {
            "title": "t",
            "items": [{"name": "n", "count": "3", "done": "true", "level": "high"}],
            "score": "1.5",
            "due": "2026-01-02",
        }
    )

    assert parse_output(text, prompt(Report)) == Report(
        "t", (Item("n", 3, True, Level.HIGH),), 1.5, date(2026, 1, 2)
    )


@pytest.mark.rule("P1.19")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("no json here", "NO_JSON"),
        ("", "NO_JSON"),
        ("[1]", "WRONG_CONTAINER"),
        ("{}", "MISSING_FIELD"),
        ('{"title": 5}', "BAD_VALUE"),
        ('{"title": null}', "BAD_VALUE"),
        ('{"title": "a", "score": true}', "BAD_VALUE"),
        ('{"title": "a", "score": "NaN"}', "BAD_VALUE"),
        ('{"title": "a", "items": {}}', "BAD_VALUE"),
        ('{"title": "a", "items": [{"name": "x", "count": 1.5}]}', "BAD_VALUE"),
        ('{"title": "a", "due": "tomorrow"}', "BAD_VALUE"),
        ('{"title": "a", "internal": "x"}', "EXTRA_KEY"),
        ('{"title": NaN}', "NO_JSON"),
    ],
)
def test_what_does_not_fit_has_its_code(text, code):
    assert code_of(text) == code


@given(st.text(st.sampled_from('{}[]",:1a\n`json '), max_size=200))
def test_any_text_gives_an_output_or_a_refusal(text):
    try:
        assert isinstance(parse_output(text, prompt(list[Item])), list)
    except OutputParseError as error:
        assert error.code in {
            "NO_JSON",
            "WRONG_CONTAINER",
            "MISSING_FIELD",
            "EXTRA_KEY",
            "BAD_VALUE",
        }


@pytest.mark.parametrize("text", ["[" * 300_000, '{"a":[' * 50_000, "[1," * 200_000])
def test_hostile_nesting_ends_soon(text):
    assert code_of(text) == "NO_JSON"
