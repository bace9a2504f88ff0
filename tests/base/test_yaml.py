"""YAML definitions: the usual forms are read, what acts is refused, nothing hangs."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base.yaml import BadYaml, read, write

KEYS = st.text("abAZ09 _-éß", min_size=1, max_size=6)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=12),
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
        ("a: 1\n   b: 2", 2),
        ("{<<: {a: 1}}", 1),
        ("a: 1\nb: {? c: d}", 2),
        ("a: 1\n? [b]\n: c", 2),
        ("[a]: b", 1),
        ("{[a]: b}", 1),
        ("a: 1\nb: {c, d: 1}", 2),
        ("a: {b:1}", 1),
        ("a:\n- b\n - c", 3),
        ("a: b\n  - c", 2),
        ("a: [b\n  c]", 1),
        ("a: -", 1),
        ("a: 1\n\t\nb: 2", 2),
        ("\n" * 9 + 'a: "x\n\n\n', 10),
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


@pytest.mark.rule("R1.1")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"x\\\n y"', "xy"),
        ("a: |+\n  x\n", {"a": "x\n"}),
        ("a: |+\n  x\n\n", {"a": "x\n\n"}),
        ("a: >+\n  x\n  y\n\n", {"a": "x y\n\n"}),
        ("- |\n x", ["x\n"]),
        ("- >-\n x\n y\n- z", ["x y", "z"]),
        ("[b, c: d]", ["b", {"c": "d"}]),
        ("[a, # said\n b]", ["a", "b"]),
        ("a: |\n  no line end", {"a": "no line end\n"}),
    ],
)
def test_yaml_texts_that_end_fold_and_pair_as_yaml_says(text, value):
    assert read(text) == value


@pytest.mark.rule("R1.1")
@pytest.mark.parametrize(
    ("word", "value"),
    [
        *[(word, word) for word in ("on", "off", "yes", "no", "y", "N", "12:30", "1:2:3", "=")],
        *[(word, word) for word in ("2026-11-16", "2026-11-16 12:30:00", "1_000", "0b1", "0777x")],
        *[(word, None) for word in ("null", "~", "")],
        *[("true", True), ("FALSE", False), ("0777", 777), ("0o17", 15), ("0x1F", 31)],
        *[("1e3", 1000.0), (".5", 0.5), ("+1", 1), ("-0", 0), ("1.", 1.0)],
    ],
)
def test_a_plain_yaml_word_means_what_the_core_schema_says(word, value):
    found = read(f"a: {word}\n{word or 'k'}: b")

    assert found == {"a": value, word or "k": "b"}
    assert type(found["a"]) is type(value)


@pytest.mark.rule("R1.1")
@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029", "\x7f", "\x0c", "\ufffe", "\ue000"])
def test_a_character_that_ends_no_line_in_yaml_stays_in_its_text(char):
    text = f"p: a{char}b\nd: \"a{char}b\"\ns: 'a{char}b'\nt: |\n  a{char}b\n{char}k: 1\n"

    said = f"a{char}b"
    assert read(text) == {"p": said, "d": said, "s": said, "t": said + "\n", f"{char}k": 1}


@pytest.mark.rule("R1.1")
def test_json_escapes_of_one_character_are_joined_only_where_yaml_has_escapes():
    pair = "\\ud83d\\ude00"
    text = f"d: \"{pair} \\\\ud83d\"\np: {pair}\ns: '{pair}'\n"

    assert read(text) == {"d": "\U0001f600 \\ud83d", "p": pair, "s": pair}


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
        "? " * 500_000,
        "\u2028" * 300_000,
        '"' + "\\ud83d" * 150_000 + '"',
        "- |\n x\n" * 100_000,
        "{" * 500_000,
        "a: x\n" + "  - y\n" * 150_000,
        "".join(map(chr, range(0xE000, 0xF900))) * 40 + "\u2028",
    ],
)
def test_hostile_texts_end_quickly(text):
    start = time.process_time()
    try:
        read(text)
    except BadYaml as error:
        assert len(str(error)) < 300

    assert time.process_time() - start < 6


@given(text=st.text("abk:- \n#[]{}'\",|>&*!?%\\0ud8\t\r\x00\x85\u2028\ud800\ufeff", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        json.dumps(read(text))
    except BadYaml as error:
        assert str(error).startswith("line ")


@given(JSON | st.text(max_size=30))
def test_what_is_written_is_read_as_it_was(value):
    assert read(write(value)) == value


def test_lines_are_written_as_lines():
    written = write({"id": "a.b", "steps": [{"prompt": 'One: "x"\n\n- two'}]})

    assert written == 'id: a.b\nsteps:\n- prompt: |-\n    One: "x"\n\n    - two\n'
