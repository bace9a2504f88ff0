"""Tool schemas in the form strict mode asks for; the original stays what is validated (M9)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from backshop.base.errors import ValidationFailed
from backshop.base.limits import TOOL_DESCRIPTION_MAX_BYTES

from ..messages import ToolSpec

Schema = Mapping[str, Any]
Form = Callable[[Schema], dict[str, Any]]

_KEPT_MAX = 512  # schemas of the tools a process knows, in up to three forms
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
_ONE = ("items", "additionalProperties", "not")  # keywords holding one schema
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")  # a list of schemas
_NAMED = ("properties", "$defs")  # schemas by name
_KEPT = frozenset(  # M9.3: what strict mode takes; everything else leaves the sent copy
    (
        *("type", "enum", "const", "description", "title", "required", "$ref", "pattern", "format"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems"),
        *_ONE,
        *_MANY,
        *_NAMED,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictLimits:
    """How much of a request may be strict: of all its tools together, and of one schema (M9.10)."""

    tools: int | None = None
    optional: int | None = None
    unions: int | None = None
    properties: int = 5000
    depth: int = 10
    own_optional: int = 5
    """Of one tool: a model writes each of them in every strict call, most of them as null."""


OPENAI_LIMITS = StrictLimits()
ANTHROPIC_LIMITS = StrictLimits(tools=20, optional=24, unions=16)
NUMERIC = frozenset(  # Anthropic's strict mode refuses these as well
    (
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "pattern"),
    )
)


def check_tool(tool: ToolSpec) -> ToolSpec:
    """Return the tool if it may be registered (M9.1).

    Raises:
        ValidationFailed: `bad_tool`.
    """
    if _TOOL_NAME.fullmatch(tool.name) is None:
        raise _bad_tool(tool, "the name has other characters than letters, digits, _ and -")
    if not 0 < len(tool.description.encode()) <= TOOL_DESCRIPTION_MAX_BYTES:
        raise _bad_tool(tool, f"the description is not 1–{TOOL_DESCRIPTION_MAX_BYTES} bytes")
    if tool.parameters.get("type") != "object":
        raise _bad_tool(tool, "the parameters are not an object schema")
    return tool


def check_tools(tools: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Return the tools if each may be registered and no name occurs twice."""
    checked = tuple(map(check_tool, tools))
    names = [tool.name for tool in checked]
    for name in names:
        if names.count(name) > 1:
            raise ValidationFailed(f"two tools are called {name}", reason="bad_tool")
    return checked


def can_be_strict(schema: Schema) -> bool:
    """Return whether no object in the schema is free-form (M9.4)."""
    if is_object(schema):
        if not isinstance(schema.get("properties"), Mapping):
            return False
        if schema.get("additionalProperties", False) is not False:
            return False
        if schema.get("patternProperties"):
            return False
    return all(map(can_be_strict, _children(schema)))


def sent_strict(schema: Schema, limits: StrictLimits = OPENAI_LIMITS) -> bool:
    """Return whether a tool of this schema alone is sent strict (M9.10)."""
    return _measure(json.dumps(dict(schema))).is_within(limits)


def strict_names(tools: Iterable[ToolSpec], limits: StrictLimits) -> frozenset[str]:
    """Return which tools of a request are sent strict: none where all together are too many."""
    measured = [(tool.name, _measure(json.dumps(dict(tool.parameters)))) for tool in tools]
    chosen = [(name, size) for name, size in measured if size.is_within(limits)]
    for count, most in (
        (len(chosen), limits.tools),
        (sum(size.optional for _, size in chosen), limits.optional),
        (sum(size.unions for _, size in chosen), limits.unions),
    ):
        if most is not None and count > most:
            return frozenset()
    return frozenset(name for name, _ in chosen)


def sent_form(schema: Schema, form: Form) -> dict[str, Any]:
    """Return a schema in one of its forms; not to be changed, since the next call gets it too.

    Tools are the same from call to call, and making their forms takes longer than sending them.
    """
    return _formed(json.dumps(dict(schema)), form)


def strict(schema: Schema) -> dict[str, Any]:
    """Return OpenAI's strict form (M9.2): every property required, optional ones nullable.

    Pure and idempotent.
    """
    sent = _reduced(schema, strict)
    if is_object(schema):
        properties = sent.get("properties") or {}
        before = set(schema.get("required") or ())
        sent["properties"] = {
            name: part if name in before else _nullable(part) for name, part in properties.items()
        }
        sent["required"] = sorted(properties)
        sent["additionalProperties"] = False
    return dict(sorted(sent.items()))


def strict_optional(schema: Schema) -> dict[str, Any]:
    """Return Anthropic's strict form: closed objects whose optional properties stay optional."""
    sent = _reduced(schema, strict_optional)
    for key in NUMERIC:
        sent.pop(key, None)
    if is_object(schema):
        sent["additionalProperties"] = False
    return dict(sorted(sent.items()))


def relaxed(schema: Schema) -> dict[str, Any]:
    """Return the original less what is not for a model, where strict is not asked for (M6.3)."""
    plain: dict[str, Any] = {}
    for key, value in sorted(schema.items()):
        if key in ("$schema", "default") or (key == "additionalProperties" and value is not False):
            continue
        if key in _NAMED:
            plain[key] = {name: _relax(part) for name, part in value.items()}
        elif key in _MANY:
            plain[key] = [_relax(part) for part in value]
        elif key in _ONE:
            plain[key] = _relax(value)
        else:
            plain[key] = value
    return plain


def drop_nulls(value: Any, schema: Schema | bool, root: Schema | None = None) -> Any:
    """Return arguments without the nulls that stand for absent optional properties (M9.5)."""
    if not isinstance(schema, Mapping):  # `true` and `false` are schemas too
        return value
    root = schema if root is None else root
    options = list(_options(schema, root))
    if isinstance(value, Mapping):
        known = [one for one in options if isinstance(one.get("properties"), Mapping)]
        chosen = _best(value, known)
        if chosen is None:
            return dict(value)
        required = set(chosen.get("required") or ())
        parts = chosen["properties"]
        return {
            name: drop_nulls(item, parts[name], root) if name in parts else item
            for name, item in value.items()
            if item is not None or name in required or name not in parts
        }
    if isinstance(value, list):
        items: Schema = next(
            (one["items"] for one in options if isinstance(one.get("items"), Mapping)), {}
        )
        return [drop_nulls(item, items, root) for item in value]
    return value


def is_object(schema: Schema) -> bool:
    """Return whether a schema describes an object (possibly or null)."""
    kind = schema.get("type")
    return (
        kind == "object" or "properties" in schema or (isinstance(kind, list) and "object" in kind)
    )


def _bad_tool(tool: ToolSpec, what: str) -> ValidationFailed:
    return ValidationFailed(f"tool {tool.name[:64]!r}: {what}", reason="bad_tool")


def _children(schema: Schema) -> Iterable[Schema]:
    for key in _ONE:
        if isinstance(schema.get(key), Mapping):
            yield schema[key]
    for key in _MANY:
        yield from (part for part in schema.get(key) or () if isinstance(part, Mapping))
    for key in _NAMED:
        parts = schema.get(key)
        if isinstance(parts, Mapping):
            yield from (part for part in parts.values() if isinstance(part, Mapping))


def _keeps(key: str, value: Any) -> bool:
    return key in _KEPT and (key != "format" or value in _FORMATS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """What limits are about, of one schema."""

    can_be_strict: bool
    depth: int
    properties: int
    optional: int
    unions: int

    def is_within(self, limits: StrictLimits) -> bool:
        is_small = self.depth <= limits.depth and self.properties <= limits.properties
        return self.can_be_strict and is_small and self.optional <= limits.own_optional


@lru_cache(maxsize=_KEPT_MAX)
def _measure(text: str) -> _Size:
    schema = json.loads(text)
    parts = list(_parts(schema))
    return _Size(
        can_be_strict=can_be_strict(schema),
        depth=_depth(schema),
        properties=sum(len(part.get("properties") or ()) for part in parts),
        optional=sum(map(_optional, parts)),
        unions=sum(map(_is_union, parts)),
    )


@lru_cache(maxsize=_KEPT_MAX)
def _formed(text: str, form: Form) -> dict[str, Any]:
    return form(json.loads(text))


def _parts(schema: Schema) -> Iterable[Schema]:
    yield schema
    for part in _children(schema):
        yield from _parts(part)


def _depth(schema: Schema) -> int:
    deepest = max(map(_depth, _children(schema)), default=0)
    return deepest + is_object(schema)


def _optional(schema: Schema) -> int:
    return len(set(schema.get("properties") or ()) - set(schema.get("required") or ()))


def _is_union(schema: Schema) -> bool:
    return "anyOf" in schema or "oneOf" in schema or isinstance(schema.get("type"), list)


def _reduced(schema: Schema, form: Form) -> dict[str, Any]:
    """Return what strict mode takes of a schema, its parts in a form of their own."""
    return {key: _copy(key, value, form) for key, value in schema.items() if _keeps(key, value)}


def _copy(key: str, value: Any, form: Form) -> Any:
    def part(one: Any) -> Any:
        return form(one) if isinstance(one, Mapping) else one

    if key in _NAMED and isinstance(value, Mapping):
        return {name: part(value[name]) for name in sorted(value)}
    if key in _MANY and isinstance(value, list):
        return [part(one) for one in value]
    if key in _ONE:
        return part(value)
    return list(value) if isinstance(value, list) else value


def _relax(part: Any) -> Any:
    return relaxed(part) if isinstance(part, Mapping) else part


def _nullable(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    changed = dict(part)
    kind = part.get("type")
    if "anyOf" in part and kind is None:
        if {"type": "null"} not in part["anyOf"]:
            changed["anyOf"] = [*part["anyOf"], {"type": "null"}]
    elif kind is None or "$ref" in part:
        return {"anyOf": [dict(part), {"type": "null"}]}
    else:
        kinds = [kind] if isinstance(kind, str) else list(kind)
        changed["type"] = kinds if "null" in kinds else [*kinds, "null"]
    if "const" in changed and changed["const"] is not None:
        changed["enum"] = [changed.pop("const"), None]
    elif "enum" in changed and None not in changed["enum"]:
        changed["enum"] = [*changed["enum"], None]
    return dict(sorted(changed.items()))


def _options(schema: Schema, root: Schema, depth: int = 0) -> Iterable[Schema]:
    if depth > 32:  # a reference that leads back to itself describes nothing
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        target = (root.get("$defs") or {}).get(reference.removeprefix("#/$defs/"))
        if isinstance(target, Mapping):
            yield from _options(target, root, depth + 1)
    yield schema
    for key in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(key) or ():
            if isinstance(part, Mapping):
                yield from _options(part, root, depth + 1)


def _best(value: Mapping[str, Any], options: list[Schema]) -> Schema | None:
    """Choose the branch whose properties fit best, its constants first."""

    def score(option: Schema) -> tuple[int, int]:
        parts = option["properties"]
        marks = sum(
            1
            for name, part in parts.items()
            if isinstance(part, Mapping) and "const" in part and value.get(name) == part["const"]
        )
        return marks, sum(1 for name in value if name in parts)

    return max(options, key=score, default=None)
