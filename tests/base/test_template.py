"""The template engine: tokens with their filters, and paths through JSON by name and number."""

from __future__ import annotations

import pytest

from backshop.base.template import Found, Obstacle, Token, fill, follow, tokens, whole


@pytest.mark.rule("R1.14", "M15.4")
def test_template_tokens_carry_path_and_filters_as_written():
    text = "a {{b.c}} {{ d[0] | number 2 | table}} {{e | 9}} {f} {{g}"

    assert list(tokens(text)) == [
        Token("{{b.c}}", "b.c"),
        Token("{{ d[0] | number 2 | table}}", " d[0] ", (("number", "2"), ("table", ""))),
        Token("{{e | 9}}", "e | 9"),
    ]
    assert whole("{{b}}") == Token("{{b}}", "b")
    assert whole("{{b}} ") is None


def test_template_filling_never_reads_what_it_put_in():
    assert fill("{{a}}{{b}}", lambda token: "{{b}}" if token.path == "a" else "x") == "{{b}}x"


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        (["rows", 1, "name"], Found("b")),
        (["rows", "length"], Found(2)),
        (["rows", 7, "name"], Found(None)),
        (["rows", -1], Found(None)),
        (["nothing", "there"], Found(None)),
        (["title", "length"], Found(5)),
        (["title", 0], Obstacle("title", "string")),
        (["rows", "name"], Obstacle("rows", "list")),
        ([], Found({"title": "Title", "rows": [{"name": "a"}, {"name": "b"}]})),
    ],
)
def test_template_path_goes_by_name_in_objects_and_by_number_in_lists(steps, found):
    assert follow(steps, {"title": "Title", "rows": [{"name": "a"}, {"name": "b"}]}) == found
