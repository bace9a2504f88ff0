"""`validationCriteria`: rules over the text of the notes, read into one form (R1.32)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from backshop.base import pattern

from .fields import Fields

RULES = ("contains", "regex", "length", "schema")
MAX_DEPTH = 8
_CODE = "WF_VALIDATION_RULE_INVALID"
# Keywords that let a schema run away: patterns backtrack, references can recurse for ever.
_FORBIDDEN = frozenset({"pattern", "patternProperties", "$ref", "$dynamicRef"})

Criteria = dict[str, object]


def read_criteria(owner: Fields) -> Criteria | None:
    """Read criteria as one rule or one composition; a list means that all must hold."""
    key = "validationCriteria"
    if not owner.has(key):
        return None
    value = owner.raw(key)
    if isinstance(value, list):
        parts = [_criteria(owner, f"{key}/{index}", item, 1) for index, item in enumerate(value)]
        found = [part for part in parts if part is not None]
        return {"and": found} if found else None
    return _criteria(owner, key, value, 0)


def _criteria(owner: Fields, where: str, value: object, depth: int) -> Criteria | None:
    fields = owner.inner(where, value, code=_CODE)
    if fields is None:
        return None
    if depth > MAX_DEPTH:
        owner.findings.error(_CODE, fields.pointer, f"rules nest at most {MAX_DEPTH} deep")
        return None
    forms = [key for key in ("and", "or", "not") if fields.has(key)]
    if not forms:
        return _rule(fields)
    if len(fields.data) != 1:
        owner.findings.error(_CODE, fields.pointer, "one of `and`, `or`, `not`, and nothing else")
        return None
    (form,) = forms
    if form == "not":
        part = _criteria(owner, f"{where}/not", fields.raw("not"), depth + 1)
        return {"not": part} if part is not None else None
    parts = [
        _criteria(owner, f"{where}/{form}/{index}", item, depth + 1)
        for index, item in enumerate(fields.items(form))
    ]
    return {form: [part for part in parts if part is not None]}


def _rule(fields: Fields) -> Criteria | None:
    kind = fields.choice("type", RULES, required=True)
    message = fields.text("message", required=True)
    rule: Criteria = {"type": kind, "message": message}
    if fields.has("condition"):
        rule["condition"] = fields.condition("condition") or {}
    match kind:
        case "contains":
            rule["value"] = fields.text("value", required=True)
        case "regex":
            rule |= _regex(fields)
        case "length":
            rule |= _length(fields)
        case "schema":
            rule["schema"] = _schema(fields)
    fields.done()
    return rule if kind and message else None


def _regex(fields: Fields) -> Criteria:
    source = fields.text("pattern", required=True) or ""
    flags = fields.text("flags", 0) or ""
    try:
        pattern.compiled(source, flags)
    except pattern.BadPattern as error:
        fields.error("pattern", f"bad regular expression: {error}")
    return {"pattern": source, "flags": flags}


def _length(fields: Fields) -> Criteria:
    bounds = {key: fields.integer(key, 0, 1_000_000) for key in ("min", "max")}
    given = {key: value for key, value in bounds.items() if value is not None}
    if not given:
        fields.findings.error(_CODE, fields.pointer, "`length` has `min` or `max`")
    if given.get("min", 0) > given.get("max", 1_000_000):
        fields.error("max", "`max` is smaller than `min`")
    return dict(given)


def _schema(fields: Fields) -> Criteria:
    from jsonschema import Draft202012Validator, SchemaError  # loaded on first use: 0.1 s

    inner = fields.members("schema")
    fields.need("schema")
    if inner is None:
        return {}
    for keyword in sorted(_FORBIDDEN & set(_keywords(inner.data))):
        fields.error("schema", f"`{keyword}` is not supported in rules")
    try:
        Draft202012Validator.check_schema(dict(inner.data))
    except SchemaError as error:
        fields.error("schema", f"not a JSON Schema: {error.message[:200]}")
    return dict(inner.data)


def _keywords(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield key
            yield from _keywords(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keywords(inner)
