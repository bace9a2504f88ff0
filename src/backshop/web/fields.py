"""What the fields of a form stand for.

Their names follow one convention, read here and in `static/page.js`: `paths[]` is a list,
`limit:number` a number, `pinned:boolean` true or false, `value:json` JSON or else plain text, and
null when it is empty; `next` is where to go afterwards.
"""

from __future__ import annotations

from typing import Any

from starlette.datastructures import FormData

from backshop.base.canon import parse
from backshop.base.errors import ValidationFailed

_OURS = frozenset({"next", "back"})


def fields(form: FormData) -> dict[str, Any]:
    """Return the request a form stands for."""
    request: dict[str, Any] = {}
    for key, value in form.multi_items():
        if key in _OURS or not isinstance(value, str):
            continue
        name, _, kind = key.partition(":")
        if name.endswith("[]"):
            request.setdefault(name[:-2], []).append(value)
        elif kind == "number":
            if value:
                request[name] = _number(name, value)
        elif kind == "boolean":
            request[name] = value == "true"
        elif kind == "json":
            request[name] = json_or_text(value)
        else:
            request[name] = value
    return request


def json_or_text(value: str) -> Any:
    """Return what a field stands for: JSON, or else the text itself; nothing where it is empty."""
    try:
        return parse(value) if value else None
    except ValidationFailed:
        return value


def _number(name: str, value: str) -> int | float:
    try:
        return int(value) if value.lstrip("-").isdecimal() else float(value)
    except ValueError:
        raise ValidationFailed(f"{name}: {value!r} is not a number", reason="bad_params") from None
