"""The codec: strict one way, faithful the other, and facts that cannot be stored wrongly."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

import pytest

from backshop.base.codec import camel, compact, decode, decode_json, encode, renamed, schema
from backshop.base.errors import ValidationFailed
from backshop.base.event import UnknownEvent, event, from_data, to_data


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    size: int
    name: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    first_name: str
    colour: Colour = Colour.RED
    parts: tuple[Inner, ...] = ()
    free: dict[str, Any] = field(default_factory=dict)
    from_: Annotated[int | None, renamed("from")] = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    next_step: str | None
    by_whom: str | None = None
    inside: Answered | None = None
    reason: str | None = None
    is_odd: bool = False

    @property
    def nulls(self) -> tuple[str, ...]:
        return ("reason",) if self.is_odd else ()


WHOLE = Outer(first_name="A", parts=(Inner(size=1),), free={"x_y": None}, from_=3)


def test_values_come_back_as_they_went():
    data = encode(WHOLE)

    assert data == {
        "firstName": "A",
        "colour": "red",
        "parts": [{"size": 1}],
        "free": {"x_y": None},
        "from": 3,
    }
    assert decode(Outer, data) == WHOLE


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ({}, "firstName"),
        ({"firstName": 1}, "firstName"),
        ({"firstName": "A", "first_name": "B"}, "first_name"),
        ({"firstName": "A", "parts": [{"size": True}]}, "parts.0.size"),
        ({"firstName": "A", "parts": [{"size": "1"}]}, "parts.0.size"),
        ({"firstName": "A", "parts": [{"size": 1.5}]}, "parts.0.size"),
        ({"firstName": "A", "colour": "blue"}, "colour"),
        ([], "(whole)"),
        (None, "(whole)"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(data, where):
    with pytest.raises(ValidationFailed) as refused:
        decode(Outer, data)

    assert refused.value.reason == "bad_request"
    assert any(hint.startswith(where) for hint in refused.value.hints)


@pytest.mark.parametrize(
    "text", ['{"firstName":"A","free":{"a":NaN}}', '{"firstName":"\\ud800"}', "{"]
)
def test_text_that_is_not_strict_json_is_refused(text):
    with pytest.raises(ValidationFailed):
        decode_json(Outer, text)


def test_a_value_that_would_not_read_back_is_not_written():
    broken = Inner(size="many")  # type: ignore[arg-type]  # what a careless caller does

    with pytest.raises(ValidationFailed) as refused:
        encode(broken)

    assert refused.value.reason == "bad_value"


def test_schemas_for_models_say_only_what_is_needed():
    described = compact(schema(Inner))

    assert described == {
        "type": "object",
        "properties": {"size": {"type": "integer"}, "name": {"type": "string"}},
        "required": ["size"],
        "additionalProperties": False,
    }


@pytest.mark.rule("T5.2")
def test_facts_are_registered_once_and_cannot_lose_a_none():
    @event("codec.test")
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Fact:
        number: int | None = None

    assert from_data("codec.test", 1, to_data(Fact(number=None))) == Fact()
    with pytest.raises(UnknownEvent):
        from_data("codec.test", 2, {})
    with pytest.raises(UnknownEvent):
        from_data("codec.nothing", 1, {})
    with pytest.raises(ValueError, match="taken"):

        @event("codec.test")
        @dataclass(frozen=True, slots=True, kw_only=True)
        class Other:
            number: int

    assert event("codec.test")(Fact) is Fact  # the same definition may run again
    with pytest.raises(ValueError, match="default"):

        @event("codec.lossy")
        @dataclass(frozen=True, slots=True, kw_only=True)
        class Lossy:
            number: int | None = 5

    with pytest.raises(ValueError, match="upgraders"):
        event("codec.gap", v=3, upgraders={1: lambda old: old})


def test_a_field_without_a_default_is_written_as_null_in_its_place():
    plain, odd = Answered(next_step=None), Answered(next_step=None, is_odd=True)
    found = encode(Answered(next_step="x", inside=odd))

    assert list(encode(plain).items()) == [("nextStep", None), ("isOdd", False)]
    assert found["inside"] == {"nextStep": None, "reason": None, "isOdd": True}
    assert list(found) == ["nextStep", "inside", "isOdd"]
    assert decode(Answered, found) == Answered(next_step="x", inside=odd)
