from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.formats import FormatError, OpsRequest, Source, Warn
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import (
    Arg,
    OpSpec,
    decode,
    nearest,
    resolve_base,
    strip_controls,
)

from .archives import source

SPECS = (
    OpSpec("replace", (Arg("search", str, required=True, aliases=("find",)), Arg("count", int))),
    OpSpec("scale", (Arg("by", float, required=True), Arg("rows", list), Arg("on", bool))),
)


def reason_and_detail(operations):
    with pytest.raises(FormatError) as caught:
        decode(operations, SPECS)
    return caught.value.reason, caught.value.detail


@pytest.mark.rule("F16.5", "F16.6", "W7.5")
def test_operations_are_decoded_with_every_field():
    decoded = decode(
        [
            {"op": "replace", "find": "a", "count": "3", "by": None},
            {"op": "scale", "by": 2, "rows": "[1]", "on": None},
            {"operation": "scale", "by": "0.5", "on": "True"},
        ],
        SPECS,
    )

    assert [(op.index, op.name, dict(op.args)) for op in decoded.ops] == [
        (0, "replace", {"search": "a", "count": 3}),
        (1, "scale", {"by": 2, "rows": [1], "on": None}),
        (2, "scale", {"by": 0.5, "rows": None, "on": True}),
    ]
    assert decoded.warnings == (
        Warn("alias_used", where="operations[0].find"),
        Warn("alias_used", where="operations[2].operation"),
    )


@pytest.mark.rule("F16.4", "F16.5", "F16.6", "F3.1")
@pytest.mark.parametrize(
    ("operation", "reason", "where"),
    [
        ({"op": "replac", "search": "a"}, "unknown_op", "operations[1].op"),
        ({"op": None}, "missing_field", "operations[1].op"),
        ({"op": ["replace"]}, "bad_type", "operations[1].op"),
        ({"replace": {"search": "a"}}, "missing_field", "operations[1].op"),
        ({"op": "replace", "search": "a", "colour": 1}, "unknown_field", "operations[1].colour"),
        ({"op": "replace", "serach": "a"}, "unknown_field", "operations[1].serach"),
        ({"op": "replace"}, "missing_field", "operations[1].search"),
        ({"op": "replace", "search": None}, "missing_field", "operations[1].search"),
        ({"op": "replace", "search": 1}, "bad_type", "operations[1].search"),
        ({"op": "replace", "search": "a", "count": True}, "bad_type", "operations[1].count"),
        ({"op": "replace", "search": "a", "count": 1.5}, "bad_type", "operations[1].count"),
        ({"op": "replace", "search": "a", "find": "b"}, "op_conflict", "operations[1].find"),
        ({"op": "replace", "search": "a", "by": 2}, "unknown_field", "operations[1].by"),
        ({"op": "scale", "by": "2 m"}, "bad_type", "operations[1].by"),
        ({"op": "scale", "by": True}, "bad_type", "operations[1].by"),
        ({"op": "scale", "by": 1, "rows": "abc"}, "bad_type", "operations[1].rows"),
        (["op"], "bad_type", "operations[1]"),
    ],
)
def test_a_mistake_is_named_with_its_place(operation, reason, where):
    good = {"op": "replace", "search": "a"}

    found, detail = reason_and_detail([good, operation])

    assert found == reason
    assert str(detail).startswith(where + ": ")


@pytest.mark.rule("F2.5")
@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        ([], "missing_field"),
        ({}, "bad_type"),
        ("replace", "bad_type"),
        (None, "bad_type"),
        ([{"op": "replace", "search": "a"}] * 101, "too_large"),
    ],
)
def test_a_list_of_operations_has_a_size(operations, reason):
    assert reason_and_detail(operations)[0] == reason


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)


@pytest.mark.rule("F16.4")
@given(operations=json_values)
def test_whatever_is_sent_gets_a_reason_or_operations(operations):
    try:
        decode(operations, SPECS)
    except FormatError as error:
        assert error.code in {"VALIDATION_FAILED", "LIMIT_EXCEEDED"}


@pytest.mark.rule("F16.2", "F16.15")
def test_what_operations_start_from(tmp_path):
    here = source(tmp_path, "a.docx", b"x")
    other = Source(here.path, here.sha256, "b.docx")
    ask = OpsRequest(name="a.docx", operations=[])

    def base(existing, **options):
        request = OpsRequest(name=ask.name, operations=[], **options)
        try:
            found = resolve_base(existing, request)
        except FormatError as error:
            return error.reason
        return found.source, found.created, [warning.code for warning in found.warnings]

    assert base(here) == (here, False, [])
    assert base(None) == "not_found"
    assert base(None, create_new=True) == (None, True, [])
    assert base(None, create_if_missing=True) == (None, True, [])
    assert base(None, create_new=False, create_if_missing=True) == "not_found"
    assert base(None, create_new=False) == "not_found"
    assert base(None, create_if_missing=False) == "not_found"
    assert base(here, create_if_missing=True) == (here, False, [])
    assert base(here, create_new=True) == (None, False, ["replaced_existing"])
    assert base(None, copy_from=other) == (other, True, [])
    assert base(here, copy_from=other) == "op_conflict"
    assert base(here, copy_from=other, create_new=True) == (other, False, ["replaced_existing"])
    wrong = Source(here.path, here.sha256, "b.xlsx")
    assert base(None, copy_from=wrong) == "unsupported_format"


@pytest.mark.rule("F16.12")
def test_control_characters_are_taken_out_and_counted():
    warnings = Warnings()

    assert strip_controls("a\0b\tc\x0bd\ud800\ufffe\n😀", warnings) == "ab\tcd\n😀"
    assert warnings.all() == (Warn("control_chars_removed", 4),)


@pytest.mark.rule("F3.1")
def test_hints_are_the_closest_names():
    assert nearest("Sumary", ["Costs", "Summary", "SUMMARY 2"], 2) == ["Summary", "SUMMARY 2"]
