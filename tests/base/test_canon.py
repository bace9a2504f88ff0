"""Canonical JSON: the reference vectors, numbers as every other implementation writes them."""

from __future__ import annotations

import json
import math
import random
import struct
import subprocess

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from backshop.base.canon import MAX_SAFE_INTEGER, canonical, digest, parse
from backshop.base.errors import ValidationFailed

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.rule("T1.2")
@pytest.mark.needs("corpora")
@pytest.mark.parametrize("name", ["arrays", "french", "structures", "unicode", "values", "weird"])
def test_reference_vectors_come_out_byte_for_byte(corpora, name):
    folder = corpora / "json-canonical"

    value = parse((folder / "input" / f"{name}.json").read_bytes())

    assert canonical(value) == (folder / "output" / f"{name}.json").read_bytes()


@given(JSON)
def test_both_ways_of_writing_agree(value):
    assert canonical(value) == rfc8785.dumps(value)


@given(JSON)
def test_canonical_form_is_a_fixed_point(value):
    once = canonical(value)

    assert canonical(parse(once)) == once


@pytest.mark.needs("node")
def test_numbers_are_written_as_node_writes_them(scaled):
    rng = random.Random(8785)
    numbers: list[float] = []
    while len(numbers) < scaled(20_000, 1_000_000):
        number = struct.unpack(">d", rng.randbytes(8))[0]
        if math.isfinite(number):
            numbers.append(number)
    script = """
    const text = require('fs').readFileSync(0), out = [];
    for (let i = 0; i < text.length; i += 8) out.push(JSON.stringify(text.readDoubleBE(i)));
    console.log(out.join(','));
    """
    packed = b"".join(struct.pack(">d", number) for number in numbers)

    node = subprocess.run(["node", "-e", script], input=packed, capture_output=True, check=True)

    assert canonical(numbers) == b"[" + node.stdout.strip() + b"]"


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        MAX_SAFE_INTEGER + 1,
        [-(2**60)],
        "\ud800",
        {"\udfff": 1},
        {1: 2},
        b"bytes",
        {"deep": {1, 2}},
    ],
)
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(ValidationFailed) as refused:
        canonical(value)

    assert refused.value.reason == "bad_json"


def test_nesting_without_end_is_refused():
    value: object = 1
    for _ in range(100_000):
        value = [value]

    with pytest.raises(ValidationFailed):
        canonical(value)


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "1e999",
        "-1e999",
        '"\\ud800"',
        '{"\\udfff":1}',
        "9007199254740993",
        '{"a":1,"a":2}',
        "[1,]",
        b"\xff",
        "[]".encode("utf-16"),
        "[" * 300 + "]" * 300,
        "[" * 100_000,
        "",
    ],
)
def test_parsing_refuses_what_is_not_json(text):
    with pytest.raises(ValidationFailed) as refused:
        parse(text)

    assert refused.value.reason == "bad_json"


def test_digest_is_written_with_its_algorithm():
    assert digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert json.loads(canonical({"b": 1, "a": 2})) == {"a": 2, "b": 1}
