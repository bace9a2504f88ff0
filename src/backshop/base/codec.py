"""Dataclass ⇄ JSON with locations in errors, and JSON Schema; the only user of pydantic.

Frozen dataclasses are the types of the product. A class marked with `@camel` is written in
camelCase on the wire; all others as they are spelt. Decoding is strict: no unknown keys, no
`false` for an integer, no text for a number.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from .canon import parse
from .errors import ValidationFailed

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
C = TypeVar("C", bound=type)

_MAX_PROBLEMS = 10
_NULL = {"type": "null"}


def camel(cls: C) -> C:
    """Mark a dataclass as written in camelCase on the wire.

    Its fields without a default are always written, None as null; so are those that a value names
    in `nulls`, if its class has such a property.
    """
    cls.__pydantic_config__ = {  # type: ignore[attr-defined]  # the name pydantic reads
        "alias_generator": to_camel,
        "validate_by_name": False,
        "validate_by_alias": True,
    }
    cls.__get_pydantic_core_schema__ = classmethod(_with_nulls)  # type: ignore[attr-defined]  # as above
    return cls


def renamed(name: str) -> Any:
    """Return the annotation of a field whose JSON name is no Python name, such as `from`."""
    from pydantic import Field  # loaded on first use: 0.1 s

    return Field(alias=name)


def told(schema: dict[str, Any]) -> Any:
    """Return the annotation of a field that takes any JSON, and whose schema says what fits."""
    from pydantic import WithJsonSchema  # loaded on first use: 0.1 s

    return WithJsonSchema(schema)


class OwnJson:
    """The annotation of a field whose values make a JSON object themselves, by `to_json`."""

    def __get_pydantic_core_schema__(self, *_: object) -> Any:
        from pydantic_core import core_schema  # loaded on first use: 0.1 s

        made = core_schema.plain_serializer_function_ser_schema(lambda value: value.to_json())
        return core_schema.dict_schema(core_schema.str_schema(), serialization=made)


@overload
def decode(cls: type[T], data: object) -> T: ...
@overload
def decode(cls: Any, data: object) -> Any: ...
def decode(cls: Any, data: object) -> Any:
    """Return the value of type `cls` that parsed JSON describes.

    Raises:
        ValidationFailed: `bad_request`, with up to ten `where: what` hints.
    """
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValidationFailed(f"not JSON: {error}", reason="bad_json") from error
    return decode_stored(cls, text)


@overload
def decode_json(cls: type[T], text: str | bytes) -> T: ...
@overload
def decode_json(cls: Any, text: str | bytes) -> Any: ...
def decode_json(cls: Any, text: str | bytes) -> Any:
    """Return the value of type `cls` that JSON text from anywhere describes; all of it strict."""
    parse(text)  # what pydantic's reader forgives: NaN, duplicate keys, lone surrogates
    return decode_stored(cls, text)


def decode_stored(cls: Any, text: str | bytes, *, ignore_unknown: bool = False) -> Any:
    """Return the value of type `cls` that canonical JSON of our own describes.

    Unknown keys are refused, or passed over where a later program may have added them.
    """
    from pydantic import ValidationError  # loaded on first use: 0.1 s

    try:
        data = text.encode() if isinstance(text, str) else text
        extra: Literal["ignore", "forbid"] = "ignore" if ignore_unknown else "forbid"
        return _adapter(cls).validate_json(data, strict=True, extra=extra)
    except UnicodeEncodeError as error:
        raise ValidationFailed("text holds a lone surrogate", reason="bad_json") from error
    except ValidationError as error:
        raise _refusal(error) from error


def encode(value: object, *, omit_none: bool = True) -> Any:
    """Return `value` as parsed JSON; fields that are None are left out unless asked for."""
    from pydantic_core import PydanticSerializationError  # loaded on first use: 0.1 s

    kind: Any = type(value)
    try:
        return _adapter(kind).dump_python(
            value, mode="json", by_alias=True, exclude_none=omit_none, warnings="error"
        )
    except PydanticSerializationError as error:  # it would not read back as it was written
        raise ValidationFailed(
            f"a value does not fit {kind.__name__}: {error}", reason="bad_value"
        ) from error


def schema(cls: Any) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of what `decode` accepts for `cls`."""
    return _adapter(cls).json_schema(by_alias=True, mode="validation")


def compact(node: Any) -> Any:
    """Return a schema without what costs tokens and says nothing to a model.

    Titles, class docstrings, and the null of optional fields go; objects say they are closed,
    unless they say that they are open.
    """
    if isinstance(node, list):
        return [compact(one) for one in node]
    if not isinstance(node, dict):
        return node
    found: dict[str, Any] = {}
    is_optional = "default" in node and node["default"] is None
    for key, value in node.items():
        if key in ("properties", "$defs"):
            found[key] = {name: compact(part) for name, part in value.items()}
        elif key == "anyOf" and is_optional and _NULL in value:
            options = [one for one in value if one != _NULL]
            found |= compact(options[0]) if len(options) == 1 else {"anyOf": compact(options)}
        elif not (key == "title" or (key == "default" and is_optional)) and not (
            key == "description" and "properties" in node
        ):
            found[key] = value if key in ("enum", "const", "required") else compact(value)
    return {"additionalProperties": False} | found if "properties" in found else found


@cache
def _adapter(cls: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter  # loaded on first use: 0.1 s

    return TypeAdapter(cls)


def _with_nulls(_: type, source: Any, handler: Any) -> Any:
    found = handler(source)
    whole = handler.resolve_ref_schema(found)
    fields = whole["schema"]["fields"]
    names = {one["name"]: one["serialization_alias"] for one in fields}
    always = {names[one["name"]] for one in fields if one["schema"]["type"] == "nullable"}

    def written(value: Any, inner: Any) -> dict[str, Any]:
        said, kept = inner(value), always.union(names[one] for one in getattr(value, "nulls", ()))
        return {one: said.get(one) for one in names.values() if one in said or one in kept}

    if always or hasattr(source, "nulls"):
        whole["serialization"] = {"type": "function-wrap", "function": written}
    return found


def _refusal(error: Any) -> ValidationFailed:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    hints = tuple(f"{_where(one['loc'])}: {one['msg']}" for one in problems[:_MAX_PROBLEMS])
    return ValidationFailed(
        f"the request has {len(problems)} problem(s), first {hints[0]}",
        reason="bad_request",
        hints=hints,
    )


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "(whole)"


def to_camel(name: str) -> str:
    """Return a name as JSON in camel case has it."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
