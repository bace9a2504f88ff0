"""Bench paths: what is one, what is not, and which cannot live together."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base import paths
from backshop.base.errors import ValidationFailed

BAD = {
    "": "empty",
    "/etc/passwd": "absolute",
    "C:/x": "absolute",
    "C:x": "absolute",
    "\\\\host\\share": "absolute",
    "a\\b": "backslash",
    ".": "dot_segment",
    "..": "dot_segment",
    "a/../b.txt": "dot_segment",
    "a/./b": "dot_segment",
    "a//b": "empty_segment",
    "a/": "empty_segment",
    "a\x00b": "control_character",
    "a\nb": "control_character",
    "a\x7f": "control_character",
    "a\x85": "control_character",
    "a\u2028# b": "control_character",
    "a\u2029b": "control_character",
    "a\u202eb": "bidi_control",
    "a\u2066b": "bidi_control",
    "a\ud800": "invalid_utf8",
    'a"b': "forbidden_character",
    "a?b": "forbidden_character",
    "ab:c": "forbidden_character",
    "a ": "trailing_space_or_dot",
    "a./b": "trailing_space_or_dot",
    "CON": "device_name",
    "x/nul.txt": "device_name",
    "com¹.log": "device_name",
    "conin$": "device_name",
    ".bs-tmp-1": "reserved_prefix",
    ".BS-tmp-1": "reserved_prefix",
    "NUL .txt": "device_name",
    "x" * 256: "segment_too_long",
    "é" * 128: "segment_too_long",
    "/".join(["x" * 200] * 6): "path_too_long",
    "/".join(["é" * 100] * 6): "path_too_long",
    "/".join(["x"] * 40): "too_deep",
}


@pytest.mark.rule("B4.1", "B4.2")
@pytest.mark.parametrize(("raw", "rule"), BAD.items())
def test_a_bad_path_is_refused_with_the_rule_it_breaks(raw, rule):
    with pytest.raises(ValidationFailed) as refused:
        paths.parse(raw)

    assert (refused.value.reason, refused.value.detail) == ("bad_path", rule)


@pytest.mark.rule("B4.1", "U9.1")
def test_a_bad_path_is_refused_in_words():
    with pytest.raises(ValidationFailed, match=r'^this path .* a name in it is "\." or "\.\."$'):
        paths.parse("a/../b.txt")


@pytest.mark.rule("B4.6")
@pytest.mark.parametrize(
    "raw", ["_notes.md", ".env", "a b/c.txt", "console.txt", "com10", "日本/表.xlsx", "-rf", "~x"]
)
def test_ordinary_names_are_taken_as_they_are(raw):
    assert paths.parse(raw) == paths.Parsed(paths.BenchPath(raw))


@pytest.mark.rule("B4.3")
def test_other_normal_forms_are_normalised_and_said():
    raw = unicodedata.normalize("NFD", "Zoë/é.txt")

    assert paths.parse(raw) == paths.Parsed(paths.BenchPath("Zoë/é.txt"), raw)


@pytest.mark.rule("B4.4")
def test_names_that_differ_only_by_case_or_form_share_a_key():
    keys = {paths.collision_key(name) for name in ("Straße", "STRASSE", "strasse")}

    assert len(keys) == 1
    assert paths.collision_key("É") == paths.collision_key("e\u0301")


@given(st.text(max_size=40))
def test_parsing_is_total_and_idempotent(raw):
    try:
        parsed = paths.parse(raw)
    except ValidationFailed as refused:
        assert refused.reason == "bad_path"
        return

    assert paths.parse(parsed.path) == paths.Parsed(parsed.path)
    assert not parsed.path.startswith("/")
    assert ".." not in parsed.path.split("/")


@pytest.mark.needs("corpora")
def test_naughty_strings_are_paths_or_refusals(corpora):
    lines = (corpora / "strings" / "naughty.txt").read_text(encoding="utf-8").split("\n")
    for raw in lines:
        try:
            path = paths.parse(raw).path
        except ValidationFailed as refused:
            assert refused.reason == "bad_path"
        else:
            assert all(part not in {"", ".", ".."} for part in path.split("/"))
