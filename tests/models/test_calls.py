"""Tool calls as models write them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.models.loop.tool_call import normalise, parse_arguments
from backshop.models.messages import ToolCall, ToolCallDone, ToolSpec

LOOK = ToolSpec(
    name="look",
    description="Look.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "line": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)


def call(arguments, *, name="look", call_id="c1", index=0):
    return ToolCallDone(index, call_id, name, arguments)


@pytest.mark.rule("M9.5", "M19.8")
@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"path": "a"}, {"path": "a"}),
        ('{"path": "a"}', {"path": "a"}),
        (json.dumps('{"path": "a"}'), {"path": "a"}),
        ("", {}),
        ("  \n", {}),
        (None, {}),
        ("null", {}),
    ],
)
def test_arguments_are_read_however_they_are_wrapped(raw, expected):
    assert parse_arguments(raw) == (expected, None)


@pytest.mark.rule("M9.5", "M19.8")
@pytest.mark.parametrize(
    "raw", ["[1]", "1", '"text"', '{"path": ', "NaN", [1], 3, '"[1]"', "{" * 5000]
)
def test_arguments_that_are_no_object_are_not_run(raw):
    arguments, problem = parse_arguments(raw)

    assert arguments == {}
    assert problem is not None
    assert problem.reason == "bad_arguments"


@pytest.mark.rule("M9.6")
@pytest.mark.parametrize(
    "raw",
    [
        '{"value": 1e999}',
        '{"value": [-1e999]}',
        {"value": float("nan")},
        '{"value": 9007199254740993}',
        {"value": b"bytes"},
        '{"value": ' + "[" * 300 + "]" * 300 + "}",
    ],
)
def test_values_that_nothing_can_store_are_answered(raw):
    arguments, problem = parse_arguments(raw)

    assert arguments == {}
    assert problem is not None
    assert problem.reason == "bad_arguments"


@given(raw=st.text() | st.none() | st.integers() | st.lists(st.text()))
def test_reading_arguments_never_fails(raw):
    arguments, _ = parse_arguments(raw)

    assert isinstance(arguments, dict)


@pytest.mark.rule("M9.5", "M19.6")
def test_null_for_an_optional_property_means_absent():
    (checked,) = normalise([call('{"path": "a", "line": null}')], [LOOK], turn=1)

    assert checked.problem is None
    assert checked.call == ToolCall("c1", "look", {"path": "a"})


@pytest.mark.rule("M9.6")
def test_what_does_not_fit_is_answered_with_what_is_wrong():
    bad = [
        call('{"line": "x", "other": 1}'),
        call("{}", name="fly", call_id="c2"),
        call('{"path": ', call_id="c3"),
    ]

    checked = normalise(bad, [LOOK], turn=1)

    reasons = [one.problem.reason for one in checked if one.problem]
    assert reasons == ["bad_arguments", "tool_not_available", "bad_arguments"]
    assert checked[0].problem is not None
    first = json.loads(checked[0].problem.payload())["error"]
    assert first["error_code"] == "VALIDATION_FAILED"
    assert len(first["hints"]) == 3
    assert first["hints"] == [
        "other: there is no such argument",
        "path: this is needed",
        "line: must be a whole number, not text",
    ]
    assert first["detail"] == f"{first['hints'][0]} (called as look(path, line?))"
    flown = checked[1].problem
    assert flown is not None
    assert flown.hints == ("look",)


@pytest.mark.rule("M9.5", "M19.7", "W7.12")
def test_a_tool_answers_to_the_names_it_had_before():
    tool = replace(LOOK, aliases=("glance",))
    other = replace(LOOK, name="glance_at")

    old, wrong = normalise(
        [call({"path": "a"}, name="glance"), call({"path": "a"}, name="glanze")],
        [tool, other],
        turn=1,
    )

    assert (old.call.name, old.problem) == ("look", None)
    assert wrong.call.name == "glanze"
    assert wrong.problem is not None
    assert wrong.problem.detail == "there is no tool 'glanze' here; did you mean glance_at?"


@pytest.mark.rule("W7.4", "M9.6")
def test_what_a_schema_leaves_open_is_left_to_the_tool():
    item = {"type": "object", "properties": {"op": {"enum": ["a"]}}, "additionalProperties": True}
    schema = {"type": "object", "properties": {"operations": {"type": "array", "items": item}}}
    tool = ToolSpec(name="t", description="d", parameters=schema)
    given = [
        {"operations": [{"op": "b", "any": 1}]},
        {"operations": {}},
        {"operations": '[{"x":1}]'},
    ]

    found = normalise([call(one, name="t") for one in given], [tool], turn=1)

    assert [one.problem for one in found] == [None] * 3
    assert [one.call.arguments for one in found] == [*given[:2], {"operations": [{"x": 1}]}]


@pytest.mark.rule("W7.5", "M9.5")
def test_values_in_the_wrong_form_are_read_where_there_is_no_doubt():
    said = {"type": "object", "properties": {"text": {"type": "string"}, "level": {}}}
    schema = {
        "type": "object",
        "properties": {
            "count": {"type": ["integer", "null"]},
            "whole": {"type": "boolean"},
            "cell": {"anyOf": [{"type": "string"}, {"type": "number"}]},
            "bullets": {"type": "array", "items": said | {"required": ["text"]}},
            "edit": said | {"required": ["search", "text"]},
        },
    }
    tool = ToolSpec(name="t", description="d", parameters=schema)
    good = {"count": " 12 ", "whole": "True", "cell": "12", "bullets": ["one", {"text": "two"}]}

    first, *bad = normalise(
        [
            call(good, name="t"),
            call({"count": "1.5"}, name="t"),
            call({"whole": "yes"}, name="t"),
            call({"edit": "text"}, name="t"),
        ],
        [tool],
        turn=1,
    )

    assert first.call.arguments == {
        "count": 12,
        "whole": True,
        "cell": "12",
        "bullets": [{"text": "one"}, {"text": "two"}],
    }
    assert [one.problem and one.problem.reason for one in bad] == ["bad_arguments"] * 3


@pytest.mark.rule("M9.7")
def test_every_call_has_an_id_of_its_own():
    calls = [call("{}", call_id=one) for one in ("", "x", "x", "", "x_2")]

    ids = [one.call.id for one in normalise(calls, [LOOK], turn=3)]

    assert ids == ["call_3_1", "x", "x_2", "call_3_4", "x_2_2"]


@pytest.mark.rule("M9.8", "M19.9")
def test_the_fifty_first_call_of_a_turn_is_not_run():
    calls = [call('{"path": "a"}', call_id=f"c{n}") for n in range(51)]

    checked = normalise(calls, [LOOK], turn=1)

    assert [one.problem for one in checked[:50]] == [None] * 50
    assert checked[50].problem is not None
    assert checked[50].problem.reason == "too_many_calls"
