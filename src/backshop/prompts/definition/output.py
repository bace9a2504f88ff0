"""Structured output: the schema a model is asked for and the reading of its answer (P1.19)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from ..errors import OutputParseError, PromptValidationError
from .template import fenced

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`\n]*")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.A)
_INTEGER = re.compile(r"-?\d{1,300}", re.A)
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


class HasOutput(Protocol):
    """A prompt as far as its output goes."""

    @property
    def output(self) -> Any: ...

    @property
    def allow_extra_keys(self) -> bool: ...


def check_output(output: Any) -> None:
    """Refuse an output that is neither a dataclass nor a list of one."""
    item = item_type(output)
    if not (isinstance(item, type) and is_dataclass(item)):
        raise PromptValidationError(
            "an output is a dataclass type or list[…] of one", code="OUTPUT_NOT_DATACLASS"
        )
    output_schema(output)


def item_type(output: Any) -> Any:
    """Return T of `T` or `list[T]`."""
    return get_args(output)[0] if get_origin(output) is list and get_args(output) else output


def is_array(output: Any) -> bool:
    """Say whether the output is a list."""
    return get_origin(output) is list


def output_schema(output: Any, *, allow_extra_keys: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of an output; hidden fields are absent."""
    schema = _schema(item_type(output), allow_extra_keys, ())
    return {"type": "array", "items": schema} if is_array(output) else schema


def response_format(prompt: HasOutput) -> str:
    """Return the body of the section that asks for the output in text."""
    container = "array" if is_array(prompt.output) else "object"
    extra = "may have further keys" if prompt.allow_extra_keys else "must not have further keys"
    schema = output_schema(prompt.output, allow_extra_keys=prompt.allow_extra_keys)
    shown = fenced(json.dumps(schema, ensure_ascii=False, indent=2), "json")
    return (
        "Return exactly one fenced `json` code block and nothing else.\n"
        f"Its top level is one JSON {container}; objects {extra}.\n"
        f"It must satisfy this JSON Schema:\n\n{shown}"
    )


def parse_output(text: str, prompt: HasOutput) -> Any:
    """Return the output a model's answer holds.

    Raises:
        OutputParseError: `NO_JSON`, `WRONG_CONTAINER`, `MISSING_FIELD`, `EXTRA_KEY`, `BAD_VALUE`.
    """
    if prompt.output is None:
        raise OutputParseError("the prompt declares no output", code="NO_JSON", raw=text)
    data = _found(text, is_array(prompt.output))
    reader = _Reader(text, prompt.allow_extra_keys)
    kind = item_type(prompt.output)
    if is_array(prompt.output):
        return [reader.read(kind, item, f"[{place}]") for place, item in enumerate(data)]
    return reader.read(kind, data, "")


def _found(text: str, wants_array: bool) -> Any:
    seen = False
    for candidate in _candidates(text, wants_array):
        seen = True
        if wants_array and isinstance(candidate, dict):
            items = candidate.get("items")
            if len(candidate) == 1 and isinstance(items, list):
                return items
        elif isinstance(candidate, list if wants_array else dict):
            return candidate
    if seen:
        wanted = "array" if wants_array else "object"
        raise OutputParseError(f"the JSON is not an {wanted}", code="WRONG_CONTAINER", raw=text)
    raise OutputParseError("the answer holds no JSON", code="NO_JSON", raw=text)


def _candidates(text: str, wants_array: bool) -> Iterator[Any]:
    for block in reversed(list(_json_fences(text))):
        yield from _decoded(block)
    yield from _decoded(text)
    yield from _embedded(text, "[{" if wants_array else "{")


def _decoded(text: str) -> Iterator[Any]:
    try:
        yield json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _json_fences(text: str) -> Iterator[str]:
    fence, info = "", ""
    block: list[str] = []
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line.rstrip("\r"))
        if fence and match and match[1].startswith(fence) and not match[2]:
            if info == "json":
                yield "\n".join(block)
            fence = ""
        elif fence:
            block.append(line)
        elif match:
            fence, info, block = match[1], match[2].lower(), []


def _embedded(text: str, openers: str) -> Iterator[Any]:
    """Yield JSON values that start somewhere in the text; bounded on hostile text."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    budget = 20 * len(text) + 100_000  # characters read in vain before giving up
    position = 0
    while budget > 0:
        starts = [at for at in (text.find(opener, position) for opener in openers) if at >= 0]
        if not starts:
            return
        position = min(starts)
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            budget -= error.pos - position + 1
            position += 1
        except (ValueError, RecursionError):
            budget -= 1000
            position += 1
        else:
            yield value
            position = end


class _Reader:
    """Turns JSON into values of declared types with the few coercions models need."""

    def __init__(self, raw: str, allow_extra_keys: bool) -> None:
        self._raw = raw
        self._allow_extra_keys = allow_extra_keys

    def read(self, kind: Any, value: Any, where: str) -> Any:
        """Return `value` as `kind`."""
        kind = _plain(kind)
        origin, inner = get_origin(kind), get_args(kind)
        if isinstance(kind, type) and is_dataclass(kind):
            return self._object(kind, value, where)
        if origin in (Union, UnionType):
            return self._union(inner, value, where)
        if origin in (list, tuple):
            return self._sequence(origin, inner, value, where)
        if origin is dict:
            if not isinstance(value, dict):
                raise self._bad(where, "an object")
            return {key: self.read(inner[1], item, f"{where}.{key}") for key, item in value.items()}
        if origin is Literal:
            if not any(value == option and type(value) is type(option) for option in inner):
                raise self._bad(where, f"one of {list(inner)}")
            return value
        return self._scalar(kind, value, where)

    def _object(self, kind: Any, value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise self._bad(where, "an object")
        hints, shown = _hints(kind), _shown(kind)
        extra = value.keys() - {one.name for one in shown}
        if extra and not self._allow_extra_keys:
            raise self._error("EXTRA_KEY", where, f"unknown key {min(extra)!r}")
        given = {}
        for one in shown:
            inside = f"{where}.{one.name}" if where else one.name
            if one.name in value:
                given[one.name] = self.read(hints[one.name], value[one.name], inside)
            elif not _has_default(one):
                raise self._error("MISSING_FIELD", inside, "the field is missing")
        try:
            return kind(**given)
        except (TypeError, ValueError) as error:
            raise self._error("BAD_VALUE", where, str(error)) from error

    def _union(self, options: tuple[Any, ...], value: Any, where: str) -> Any:
        if value is None and NoneType in options:
            return None
        rest = [option for option in options if option is not NoneType]
        failures = []
        for option in rest:
            try:
                return self.read(option, value, where)
            except OutputParseError as error:
                failures.append(error)
        raise failures[0] if len(failures) == 1 else self._bad(where, "one of the allowed types")

    def _sequence(self, origin: Any, inner: tuple[Any, ...], value: Any, where: str) -> Any:
        if not isinstance(value, list):
            raise self._bad(where, "an array")
        kinds = inner or (object,)
        if origin is tuple and not (len(kinds) == 2 and kinds[1] is Ellipsis):
            if len(kinds) != len(value):
                raise self._bad(where, f"an array of {len(kinds)}")
        else:
            kinds = (kinds[0],) * len(value)
        items = [
            self.read(kind, item, f"{where}[{place}]")
            for place, (kind, item) in enumerate(zip(kinds, value, strict=True))
        ]
        return tuple(items) if origin is tuple else items

    def _scalar(self, kind: Any, value: Any, where: str) -> Any:
        if kind in (object, Any):
            return value
        if kind is bool:
            if isinstance(value, bool) or value in ("true", "false"):
                return value in (True, "true")
            raise self._bad(where, "true or false")
        if isinstance(value, bool):
            raise self._bad(where, getattr(kind, "__name__", str(kind)))
        try:
            return _coerced(kind, value)
        except (TypeError, ValueError, InvalidOperation, OverflowError) as error:
            raise self._bad(where, getattr(kind, "__name__", str(kind))) from error

    def _bad(self, where: str, wanted: str) -> OutputParseError:
        return self._error("BAD_VALUE", where, f"expected {wanted}")

    def _error(self, code: str, where: str, message: str) -> OutputParseError:
        return OutputParseError(
            f"{where or '(whole)'}: {message}", code=code, raw=self._raw, path=where
        )


def _coerced(kind: Any, value: Any) -> Any:
    """Return a non-boolean JSON scalar as `kind`, or raise ValueError."""
    text = value if isinstance(value, str) else None
    if kind is str and text is not None:
        return text
    if kind is NoneType and value is None:
        return None
    if kind is int:
        if text is not None and _INTEGER.fullmatch(text.strip()):
            return int(text)
        if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
            return int(value)
    if kind is float:
        if text is not None and _NUMBER.fullmatch(text.strip()):
            return float(text)
        if isinstance(value, (int, float)):
            return float(value)
    if kind is Decimal and isinstance(value, (int, float, str)):
        return Decimal(str(value))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if text is not None and kind in (date, datetime, UUID):
        return kind(text) if kind is UUID else kind.fromisoformat(text)
    raise ValueError("another type")


def _plain(kind: Any) -> Any:
    kind = getattr(kind, "__supertype__", kind)
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


@lru_cache(maxsize=512)
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _has_default(one: Field[Any]) -> bool:
    return one.default is not MISSING or one.default_factory is not MISSING


def _shown(kind: Any) -> list[Field[Any]]:
    return [one for one in fields(kind) if one.init and not one.metadata.get("model_hidden")]


def _schema(kind: Any, extra: bool, seen: tuple[Any, ...]) -> dict[str, Any]:
    kind = _plain(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return _object_schema(kind, extra, seen)
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(part, extra, seen) for part in inner]}
    if origin in (list, tuple):
        if origin is tuple and inner and inner[-1] is not Ellipsis:
            parts = [_schema(part, extra, seen) for part in inner]
            return {
                "type": "array",
                "prefixItems": parts,
                "minItems": len(parts),
                "maxItems": len(parts),
            }
        return {"type": "array", "items": _schema(inner[0], extra, seen) if inner else {}}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1], extra, seen)}
    if origin is Literal:
        return {"enum": list(inner)}
    return _scalar_schema(kind)


def _scalar_schema(kind: Any) -> dict[str, Any]:
    if kind in (object, Any):
        return {}
    if kind is NoneType:
        return {"type": "null"}
    if kind in _JSON_TYPES:
        return {"type": _JSON_TYPES[kind]}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    formats = {datetime: "date-time", date: "date", UUID: "uuid"}
    if kind in formats:
        return {"type": "string", "format": formats[kind]}
    if kind is Decimal:
        return {"type": "number"}
    raise PromptValidationError(
        f"an output cannot hold {getattr(kind, '__name__', kind)}", code="UNSUPPORTED_FIELD"
    )


def _object_schema(kind: Any, extra: bool, seen: tuple[Any, ...]) -> dict[str, Any]:
    if kind in seen:
        raise PromptValidationError(
            f"{kind.__name__} contains itself", code="UNSUPPORTED_FIELD", params_type=kind.__name__
        )
    try:
        hints = _hints(kind)
    except NameError as error:
        raise PromptValidationError(
            f"a type in {kind.__name__} cannot be found: {error}", code="UNSUPPORTED_FIELD"
        ) from error
    for one in fields(kind):
        if one.metadata.get("model_hidden") and not _has_default(one):
            raise PromptValidationError(
                f"{kind.__name__}.{one.name} is hidden and has no default", code="HIDDEN_FIELD"
            )
    properties = {}
    for one in _shown(kind):
        part = _schema(hints[one.name], extra, (*seen, kind))
        description = one.metadata.get("description")
        properties[one.name] = part | ({"description": description} if description else {})
    return {
        "type": "object",
        "properties": properties,
        "required": [one.name for one in _shown(kind) if not _has_default(one)],
        "additionalProperties": extra,
    }
