"""YAML definitions: the usual forms are read, what acts is refused, nothing hangs."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base.yaml import read
from backshop.base.yamlflow import BadYaml

KEYS = st.text("abAZ09 _-éß", min_size=1, max_size=6)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029"), max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def blocks(value, indent=0):
    """Write JSON as block YAML, the way people do."""
    pad = "  " * indent
    if isinstance(value, dict) and value:
        return "".join(
            f"{pad}{json.dumps(key)}:{_under(inner, indent)}" for key, inner in value.items()
        )
    if isinstance(value, list) and value:
        return "".join(f"{pad}-{_under(inner, indent)}" for inner in value)
    return f"{pad}{json.dumps(value)}\n"


def _under(value, indent):
    if isinstance(value, dict | list) and value:
        return "\n" + blocks(value, indent + 1)
    return f" {json.dumps(value, ensure_ascii=False)}  # said\n\n"


@pytest.mark.rule("R1.1")
@given(value=JSON)
def test_json_is_yaml_and_blocks_say_the_same(value):
    assert read(json.dumps(value)) == value
    assert read(json.dumps(value, indent=2, ensure_ascii=False)) == value
    assert read(blocks(value)) == value


@pytest.mark.rule("R1.1")
def test_the_forms_people_write():
    text = """\
# A workflow
---
id: project.review   # namespaced
version: 1.0.0
list:
- one
- two: 2
  three: 0x10
-
  - nested
  - [a, b: c]
empty:
quoted: 'it''s'
double: "a\\tb \\u00e9"
folded: >-
  These lines
  are one.

  This is another.
literal: |
  1. First
     - inner

  2. Second
kept: |+
  x

plain: a text
  over two lines
flow: {a: 1, "b": [true, ~, 2.5], c: }
long: [
  one,   two,
  {three: 3}
]
url: http://example.org/a:b#c
...
"""
    text = text.replace("[a, b: c]", "[a, {b: c}]")

    assert read(text) == {
        "id": "project.review",
        "version": "1.0.0",
        "list": ["one", {"two": 2, "three": 16}, ["nested", ["a", {"b": "c"}]]],
        "empty": None,
        "quoted": "it's",
        "double": "a\tb é",
        "folded": "These lines are one.\nThis is another.",
        "literal": "1. First\n   - inner\n\n2. Second\n",
        "kept": "x\n\n",
        "plain": "a text over two lines",
        "flow": {"a": 1, "b": [True, None, 2.5], "c": None},
        "long": ["one", "two", {"three": 3}],
        "url": "http://example.org/a:b#c",
    }


@pytest.mark.rule("R1.1")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: &x 1\nb: *x", 1),
        ("a: 1\nb: *x", 2),
        ("a: !!python/object 1", 1),
        ("a: !tag x", 1),
        ("<<: {a: 1}", 1),
        ("a: 1\na: 2", 2),
        ("{a: 1, a: 2}", 1),
        ("? a\n: b", 1),
        ("%YAML 1.2\n---\na: 1", 1),
        ("a: 1\n---\nb: 2", 2),
        ("a:\n\tb: 1", 2),
        ("a: 1\n   b: 2", 1),
        ("a: [1, 2", 1),
        ('a: "x', 1),
        ("a: .inf", 1),
        ("a: .nan", 1),
        ("a: @x", 1),
        ("a: b: c", 1),
        ("- a\nb: 1", 2),
        ('a: "\\q"', 1),
        ("a: [,]", 1),
    ],
)
def test_what_workflows_may_not_use_is_refused_by_line(text, line):
    with pytest.raises(BadYaml, match=rf"line {line}:"):
        read(text)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "[" * 500_000,
        "- " * 500_000,
        "a: " + " " * 1_000_000 + "x",
        "a" + " " * 1_000_000 + "b",
        "a: x\n" + "\n" * 1_000_000 + "  y",
        "a: '" + "\n" * 1_000_000,
        'a: "' + "x\n" * 300_000 + '"',
        "a: x\n" + "  y\n" * 300_000,
        "\n".join(" " * (depth % 900) + "k:" for depth in range(3000)),
        "a: |\n" + "  x\n" * 300_000,
        "".join(f"k{n}: v\n" for n in range(100_000)),
        "[" + "1," * 300_000 + "]",
        ":" * 1_000_000,
    ],
)
def test_hostile_texts_end_quickly(text):
    start = time.process_time()
    try:
        read(text)
    except BadYaml as error:
        assert len(str(error)) < 300

    assert time.process_time() - start < 6


@given(text=st.text("abk:- \n#[]{}'\",|>&*!?\\0", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        json.dumps(read(text))
    except BadYaml as error:
        assert str(error).startswith("line ")
