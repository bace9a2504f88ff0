"""The shape of a contract pack, and the words its schema is written in (R8.24).

A pack is an artifact kind, its JSON Schema, and an example that satisfies it. Schemas allow
unknown extra fields. `x-maxBytes` bounds a text in UTF-8 bytes, which JSON Schema cannot say.
"""

from __future__ import annotations

from dataclasses import dataclass

Schema = dict[str, object]

DIVERGENCE_REASONS = (
    "missing_user_context",
    "capability_unavailable",
    "efficiency_skip",
    "safety_stop",
    "policy_constraint",
)  # R8.26
CAPABILITIES = ("delegation", "web_browsing")  # R8.14
LOOP_CONTROL = "wr.contracts.loop_control"
CAPABILITY_OBSERVATION = "wr.contracts.capability_observation"
ASSESSMENT = "wr.contracts.assessment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """One contract; `aliases` are older names of its artifact kind, `renderer` is Studio's."""

    contract_ref: str
    kind: str
    title: str
    schema: Schema
    example: dict[str, object]
    renderer: str = "json"
    aliases: tuple[str, ...] = ()


def text(low: int = 0, high: int | None = None) -> Schema:
    """Return the schema of a text of `low` to `high` characters."""
    schema: Schema = {"type": "string"}
    if low:
        schema["minLength"] = low
    if high is not None:
        schema["maxLength"] = high
    return schema


def one_of(*values: str) -> Schema:
    """Return the schema of a closed set of words."""
    return {"enum": list(values)}


def list_of(items: Schema, most: int | None = None, least: int = 0) -> Schema:
    """Return the schema of a list."""
    schema: Schema = {"type": "array", "items": items}
    if least:
        schema["minItems"] = least
    if most is not None:
        schema["maxItems"] = most
    return schema


def object_of(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """Return the schema of an object that may also have fields not named here."""
    schema: Schema = {"type": "object", "properties": {**required, **(optional or {})}}
    if required:
        schema["required"] = list(required)
    return schema


COUNT: Schema = {"type": "integer", "minimum": 0}
POSITIVE: Schema = {"type": "integer", "minimum": 1}
BOOLEAN: Schema = {"type": "boolean"}
SEVERITY = one_of("info", "warning", "critical")
CONFIDENCE = one_of("high", "medium", "low")
VERSION: Schema = {"const": 1}
DATE_TIME: Schema = {"type": "string", "format": "date-time"}
UUID: Schema = {"type": "string", "format": "uuid"}


def pack(
    name: str,
    title: str,
    required: dict[str, Schema],
    optional: dict[str, Schema] | None = None,
    *,
    example: dict[str, object],
    kind: str | None = None,
    renderer: str = "json",
    aliases: tuple[str, ...] = (),
) -> Pack:
    """Return a pack whose ref and kind follow from its name."""
    kind = kind or f"wr.{name}"
    named: Schema = {"const": kind} if not aliases else {"enum": [kind, *aliases]}
    schema = object_of({"kind": named, **required}, optional)
    return Pack(
        contract_ref=f"wr.contracts.{name}",
        kind=kind,
        title=title,
        schema={"$schema": "https://json-schema.org/draft/2020-12/schema", **schema},
        example={"kind": kind, **example},
        renderer=renderer,
        aliases=aliases,
    )
