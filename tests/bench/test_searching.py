"""`search_files` on a bench with files of every kind (F33)."""

from __future__ import annotations

import json

import pytest

from backshop.app import Backshop
from backshop.base.ambient import SystemClock
from backshop.base.codec import compact
from backshop.base.limits import SEARCH_TIME_S
from backshop.base.pattern import Search, compiled
from backshop.bench.tools import search as tool
from backshop.formats import Formats, Selector, TextQuery

from .conftest import Room, using
from .every_kind import WORD, files

LONG = "a" * 5000 + "\n" + "".join(map(chr, range(0x4E00, 0x9000))) + "\n"

SELECTORS = set(Selector.__dataclass_fields__)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """One bench with a file of every kind, only read: how its tools are called."""
    folder = tmp_path_factory.mktemp("library")
    with Backshop.open(folder / "home") as shop:
        room = Room(shop, folder)
        room.add({**files(), **{f"z{n}.txt": "x y x\n" * 12 for n in range(3)}})
        room.add({"broken.docx": b"PK\3\4 broken", "long.txt": LONG})
        yield using(room)


def places(answer):
    """What was found, as path and place without the excerpt."""
    return {
        one["path"]: [{k: v for k, v in place.items() if k != "text"} for place in one["places"]]
        for one in answer.value["files"]
    }


@pytest.mark.rule("F33.1", "F33.2", "F33.3", "W7.1")
def test_a_word_is_found_in_every_corner_of_every_kind_of_file(library):
    found = library("search_files", query="acme")

    assert found.ok, found.message
    assert places(found) == {
        "a.md": [{"line_start": 2}],
        "b.csv": [{"line_start": 2}],
        "c.xlsx": [
            {"sheet": "It's A", "range": "C7", "count": 3},
            {"sheet": "B", "range": "A1"},
            {"sheet": "B", "range": "A1", "cells": "formulas"},
        ],
        "d.docx": [
            {"paragraphs": "1"},
            {"paragraphs": "2", "table": 0, "row": 1, "column": 0},
            {"section": "@headers", "paragraphs": "0"},
            {"section": "@comments", "paragraphs": "0"},
        ],
        "e.pptx": [
            {"slide_index": 0, "shape": 0},
            {"slide_index": 0, "shape": 1, "row": 0, "column": 1},
            {"slide_index": 0, "in": "notes"},
        ],
        "f.pdf": [{"pages": "1"}],
        "g.odt": [{"paragraphs": "0"}, {"paragraphs": "1", "table": 0, "row": 0, "column": 0}],
    }
    assert (found.value["matches"], found.value["searched"]) == (17, 11)
    assert found.value["not_searched"] == [
        {"path": "broken.docx", "reason": "corrupt_file"},
        {"path": "h.bin", "reason": "unsupported_format"},
        {"path": "i.png", "reason": "unsupported_format"},
    ]
    assert "incomplete" not in found.value


@pytest.mark.rule("F33.2")
def test_every_place_is_one_that_read_file_takes(library):
    found = library("search_files", query=WORD).value["files"]

    for one in found:
        for place in one["places"]:
            selector = {k: v for k, v in place.items() if k in SELECTORS}
            read = library("read_file", path=one["path"], **selector)
            assert read.ok, (one["path"], place, read.message)
            assert WORD.lower() in read.value["text"].lower(), (one["path"], place)


@pytest.mark.rule("F33.2")
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"query": "ACME", "match_case": True}, {"c.xlsx": 1}),
        ({"query": "by acme ltd."}, {"d.docx": 1, "f.pdf": 1}),
        ({"query": "ac[mn]e ?ltd", "is_regex": True}, {"d.docx": 1, "f.pdf": 1}),
        ({"query": "^for Acme$", "is_regex": True, "match_case": True}, {"a.md": 1, "d.docx": 1}),
        ({"query": "acme", "prefix": "b."}, {"b.csv": 1}),
        ({"query": "acme", "paths": ["./g.odt", "a.md"]}, {"a.md": 1, "g.odt": 2}),
        ({"query": "acme", "paths": []}, {}),
        ({"query": "a.md"}, {}),
    ],
)
def test_case_expressions_and_a_choice_of_files(library, asked, found):
    answer = library("search_files", **asked)

    assert {one["path"]: one["count"] for one in answer.value["files"]} == found


@pytest.mark.rule("F33.3")
def test_the_draft_is_searched_while_there_is_one(room, use):
    room.add({"a.txt": "one\n"})
    room.write({"a.txt": "two\n", "b.txt": "two\n"})

    assert use("search_files", query="one").value["files"] == []
    assert places(use("search_files", query="two")) == {
        "a.txt": [{"line_start": 1}],
        "b.txt": [{"line_start": 1}],
    }


@pytest.mark.rule("F33.4")
def test_pages_of_places_and_of_files_go_on_where_they_ended(library):
    asked = {"query": "x", "prefix": "z", "limit": 15}
    first = library("search_files", **asked).value
    second = library("search_files", **asked, cursor=first["next_cursor"]).value
    asked = {"query": "x", "paths": ["z1.txt"], "limit": 8}
    one = library("search_files", **asked).value
    rest = library("search_files", **asked, cursor=one["next_cursor"]).value

    told = [(f["path"], f["count"], len(f["places"]), f.get("more_places")) for f in first["files"]]
    assert told == [("z0.txt", 24, 10, 2), ("z1.txt", 24, 5, 7)]
    assert "z2.txt" in first["incomplete"]
    assert [f["path"] for f in second["files"]] == ["z2.txt"]
    assert second["next_cursor"] is None
    assert [p["line_start"] for f in (*one["files"], *rest["files"]) for p in f["places"]] == [
        *range(1, 13)
    ]
    assert (one["files"][0]["count"], rest["next_cursor"]) == (24, None)


@pytest.mark.rule("F33.4")
@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"query": ""}, "bad_value"),
        ({"query": " \n"}, "bad_value"),
        ({"query": "x" * 1001}, "bad_value"),
        ({"query": "(", "is_regex": True}, "bad_value"),
        ({"query": r"(a)\1", "is_regex": True}, "bad_value"),
        ({"query": "x", "limit": 0}, "bad_value"),
        ({"query": "x", "limit": 201}, "bad_value"),
        ({"query": "x", "cursor": "a.md"}, "bad_value"),
        ({"query": "x", "cursor": "٣:a.md"}, "bad_value"),
        ({"query": "x", "paths": ["a.md"], "prefix": "a"}, "op_conflict"),
        ({"query": "x", "paths": ["A.md"]}, "not_found"),
        ({"query": "x", "paths": ["../a.md"]}, "bad_path"),
    ],
)
def test_a_wrong_question_is_refused_with_the_reason(library, asked, reason):
    assert library("search_files", **asked).code == reason


@pytest.mark.rule("F33.4")
def test_a_hostile_expression_ends_in_bounded_work(library):
    harmless = library("search_files", query="(a+)+b", is_regex=True, paths=["long.txt"])
    costly = library("search_files", query="(.{0,99}.{0,99}){9}x", is_regex=True)

    assert harmless.ok
    assert (costly.ok, costly.code) == (False, "bad_value")


@pytest.mark.rule("F33.4")
def test_a_file_that_is_too_long_is_searched_to_a_place_that_is_told(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("word\n" * 9)

    with Formats(workers=1) as formats:
        found = formats.search(formats.source(path), TextQuery(text="word", max_chars=20))

    assert (found.count, found.searched_to) == (5, {"line_start": 6})


@pytest.mark.rule("F33.4")
def test_a_search_that_takes_too_long_goes_on_in_the_next_call(tmp_path):
    class Slow(SystemClock):
        passed = 0.0

        def monotonic(self):
            self.passed += SEARCH_TIME_S / 2.5
            return self.passed

    with Backshop.open(tmp_path / "home", clock=Slow()) as shop:
        room = Room(shop, tmp_path)
        room.add({f"{n}.txt": "word\n" for n in range(3)})
        found = using(room)("search_files", query="word").value

    assert (found["searched"], found["next_cursor"]) == (1, "0:1.txt")
    assert "'1.txt'" in found["incomplete"]


@pytest.mark.rule("W7.3")
def test_the_tool_weighs_little():
    shown = {
        "name": tool.SEARCH_FILES.name,
        "description": tool.SEARCH_FILES.description,
        "input_schema": compact(tool.SEARCH_FILES.schema),
    }

    assert len(json.dumps(shown, separators=(",", ":"))) <= 500


@pytest.mark.parametrize(
    ("pattern", "text", "end"),
    [("b+", "abbb", 2), ("x", "abc", None), ("c$", "abc", 3), ("", "abc", 0), ("bc", "abcbc", 3)],
)
def test_an_expression_says_where_its_first_match_ends(pattern, text, end):
    assert Search(compiled(pattern), 1000).first_end(text) == end
