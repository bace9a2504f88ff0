"""What is wrong with the arguments of a call, in words for who made it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base.tool_argument import argument_problems, forgiven, near, told

ITEM = {
    "type": "object",
    "properties": {"search": {"type": "string"}, "expect": {"type": "integer"}},
    "required": ["search"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "maxLength": 9},
        "rows": {"type": ["integer", "null"], "minimum": 1, "maximum": 5},
        "mode": {"enum": ["append_rows", "write_range"]},
        "cell": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "edits": {"type": "array", "items": ITEM, "minItems": 1},
        "free": {"type": "object", "additionalProperties": True},
    },
    "required": ["path"],
    "additionalProperties": False,
}


@pytest.mark.rule("W7.13", "M9.6")
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"path": "a"}, ()),
        ({"pathh": "a"}, ("pathh: there is no such argument; did you mean path?",
                          "path: this is needed")),
        ({"path": 5}, ("path: must be text, not a number",)),
        ({"path": None}, ("path: must be text, not null",)),
        ({"path": "a" * 10}, ("path: must be at most 9 characters",)),
        ({"path": "a", "rows": 0}, ("rows: must be at least 1",)),
        ({"path": "a", "rows": 6}, ("rows: must be at most 5",)),
        ({"path": "a", "rows": True}, ("rows: must be a whole number, not true or false",)),
        ({"path": "a", "rows": [1]}, ("rows: must be a whole number, not a list",)),
        ({"path": "a", "mode": "append"},
         ('mode: must be "append_rows" or "write_range"; did you mean append_rows?',)),
        ({"path": "a", "cell": {}}, ("cell: must be text or a number",)),
        ({"path": "a", "name": "A"}, ("name: does not fit (pattern ^[a-z]+$)",)),
        ({"path": "a", "edits": []}, ("edits: must be at least 1 items",)),
        ({"path": "a", "edits": {}}, ("edits: must be a list, not an object",)),
        ({"path": "a", "edits": [{"search": "a"}, {"find": "b"}]},
         ("edits[1].find: there is no such argument", "edits[1].search: this is needed")),
        ({"path": "a", "free": 5}, ()),
    ],
)  # fmt: skip
def test_a_problem_is_said_in_words_with_its_place(value, said):
    assert argument_problems(value, SCHEMA) == said


@pytest.mark.rule("W7.13")
def test_how_a_tool_is_called_shows_what_its_lists_hold():
    shown = "look(path, rows?, mode?, cell?, name?, edits?: [{search, expect?}], free?)"

    assert told("look", SCHEMA, ("path: this is needed",)) == (
        f"path: this is needed (called as {shown})"
    )
    assert near("pth", ["rows", "path"]) == ["path"]
    assert near("nothing like it", ["rows", "path"]) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=300), inner),
    max_leaves=8,
)


@pytest.mark.rule("W7.13", "M9.6")
@given(value=st.dictionaries(st.sampled_from([*SCHEMA["properties"], "x" * 500]), JSON))
def test_no_arguments_are_too_odd_to_be_answered(value):
    found = argument_problems(forgiven(value, SCHEMA), SCHEMA)

    assert len(found) <= 10
    assert all(len(one) < 300 for one in found)
