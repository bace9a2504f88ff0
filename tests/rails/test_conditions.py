"""Conditions: the tables of R1.20 and R1.21, and that nothing makes them fail."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.rails.definition import condition as definition_condition
from backshop.rails.definition import template

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(-2, 2)
    | st.text("a1 .Yes", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=6,
)
CONTEXTS = st.dictionaries(st.sampled_from(["a", "b", "a.b"]), JSON, max_size=3)
LEAVES = st.builds(
    lambda var, name, value: {"var": var, name: value},
    st.sampled_from(["a", "b", "a.b", "a.length", "c"]),
    st.sampled_from(sorted(definition_condition.OPERATORS)),
    JSON,
)
CONDITIONS = st.recursive(
    LEAVES | st.just({}) | st.builds(lambda var: {"var": var}, st.sampled_from("ab")),
    lambda inner: st.one_of(
        st.builds(lambda parts: {"and": parts}, st.lists(inner, max_size=3)),
        st.builds(lambda parts: {"or": parts}, st.lists(inner, max_size=3)),
        st.builds(lambda part: {"not": part}, inner),
    ),
    max_leaves=5,
)


@pytest.mark.rule("R1.20", "C8")
@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("Yes", True, True),
        (" 3 ", 3, True),
        ("abc", 3, False),
        (None, None, True),
        ([], [], True),
        ("no", False, True),
        ("0", False, True),
        ("1", True, True),
        (1, True, False),
        (" High ", "high", True),
        ("1e2", 100, True),
        ("0x10", 16, False),
        ("٣", 3, False),
        (None, "", False),
        (None, False, False),
        ({"a": [1, 2.0]}, {"a": [1.0, 2]}, True),
        ([1], [True], False),
        ("[]", [], False),
    ],
)
def test_equality(left, right, same):
    assert definition_condition.equal(left, right) is same
    assert definition_condition.equal(right, left) is same


@pytest.mark.rule("R1.21", "R1.19")
@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({}, True),
        ({"and": []}, True),
        ({"or": []}, False),
        ({"not": {}}, False),
        ({"var": "n"}, True),
        ({"var": "zero"}, False),
        ({"var": "empty"}, False),
        ({"var": "list"}, True),
        ({"var": "nothing"}, False),
        ({"var": "n", "gt": "2.5"}, True),
        ({"var": "n", "lte": 3}, True),
        ({"var": "text", "gt": 1}, False),
        ({"var": "list", "gte": 0}, False),
        ({"var": "list.length", "equals": 0}, True),
        ({"var": "tags", "contains": "SEC"}, True),
        ({"var": "text", "startsWith": " review"}, True),
        ({"var": "text", "endsWith": "Auth "}, True),
        ({"var": "text", "matches": r"^review\s+\w+$"}, True),
        ({"var": "nothing", "contains": ""}, True),
        ({"var": "n", "in": [1, "3"]}, True),
        ({"var": "deep.inner", "equals": "x"}, True),
        ({"var": "flat.key", "equals": 7}, True),
        ({"var": "text.inner", "equals": None}, True),
        ({"var": "both.ways", "equals": "flat"}, True),
        ({"var": "text.length", "equals": 11}, True),
        ({"var": "tags.length", "gt": 1}, True),
        ({"var": "sized.length", "equals": "own"}, True),
        ({"var": "deep.length", "equals": None}, True),
        ({"var": "missing", "equals": None}, True),
        ({"var": "missing.inner", "equals": None}, True),
        ({"var": "deep.missing", "equals": None}, True),
        ({"var": "nulled", "equals": None}, True),
    ],
)
def test_operators(condition, expected):
    context = {
        "n": 3,
        "zero": 0,
        "empty": "",
        "list": [],
        "tags": ["security", "ux"],
        "text": "Review auth",
        "deep": {"inner": "X"},
        "flat.key": 7,
        "both.ways": "flat",
        "both": {"ways": "deep"},
        "sized": {"length": "own"},
        "nulled": None,
    }

    assert definition_condition.problems(condition) == ()
    assert definition_condition.holds(condition, context) is expected


@pytest.mark.rule("R1.18", "C7")
@pytest.mark.parametrize(
    ("condition", "pointer"),
    [
        ({"var": "x", "gt": 1, "lt": 5}, ""),
        ({"var": "x", "like": 1}, "/like"),
        ({"var": "x", "matches": "("}, "/matches"),
        ({"var": "x", "matches": 3}, "/matches"),
        ({"var": "x", "in": 3}, "/in"),
        ({"var": "x", "gt": "many"}, "/gt"),
        ({"var": 3}, "/var"),
        ({"and": {}}, "/and"),
        ({"and": [{}, {"or": [1]}]}, "/and/1/or/0"),
        ({"and": [], "or": []}, ""),
        ({"equals": 3}, ""),
        ("risk == high", ""),
        ([], ""),
    ],
)
def test_malformed_conditions_say_where(condition, pointer):
    (problem,) = definition_condition.problems(condition)

    assert problem.pointer == pointer
    if isinstance(condition, dict):
        definition_condition.holds(condition, {"x": 3})  # total all the same


def test_conditions_may_not_nest_without_end():
    condition: dict[str, object] = {"var": "x"}
    for _ in range(60):
        condition = {"not": condition}

    (problem,) = definition_condition.problems(condition)

    assert "nest" in problem.message


@given(condition=CONDITIONS, context=CONTEXTS)
def test_evaluation_is_total_and_not_negates(condition, context):
    result = definition_condition.holds(condition, context)

    assert definition_condition.holds({"not": condition}, context) is (not result)
    assert definition_condition.holds({"and": [condition, {}]}, context) is result
    assert definition_condition.holds({"or": [condition]}, context) is result
    assert definition_condition.describe(condition)


@given(value=JSON, other=JSON)
def test_equality_is_symmetric_and_reflexive(value, other):
    assert definition_condition.equal(value, value)
    assert definition_condition.equal(value, other) is definition_condition.equal(other, value)
    left, right = {"var": "a", "equals": other}, {"var": "a", "not_equals": other}
    assert definition_condition.holds(left, {"a": value}) is not definition_condition.holds(
        right, {"a": value}
    )


@pytest.mark.rule("R1.14", "C13")
@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("{{a.b}}", "[unset: a.b -- 'a' is string, not object]"),
        ("{{i + 1}}", "{{i + 1}}"),
        ("{{ a }}", "{{ a }}"),
        ("{{a}} and {{n}} {{whole}} {{yes}}", "{{n}} and 2.5 3 true"),
        ("{{none}} {{missing.deep}}", "[unset: none] [unset: missing.deep]"),
        ("{{list}} {{list.length}} {{a.length}}", '[1,{"b":2}] 2 5'),
        ("{{o.k}} {{o.length}}", "v 9"),
        ("{single} {{{a}}}", "{single} {{{n}}}"),
    ],
)
def test_tokens_print_context_values(text, printed):
    context = {
        "a": "{{n}}",
        "n": 2.5,
        "whole": 3.0,
        "yes": True,
        "none": None,
        "list": [1, {"b": 2}],
        "o": {"k": "v", "length": 9},
    }

    assert template.render(text, context) == printed


def test_a_long_value_is_cut_at_a_character():
    text = template.render("{{a}}", {"a": ["é" * 3000]})

    assert len(text.encode()) <= template.VALUE_MAX_BYTES
    assert text.endswith("é\n\n[TRUNCATED]")
