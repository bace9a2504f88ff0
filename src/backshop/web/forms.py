"""`POST /do/{command}`: every command as a plain form post, for pages without scripts (U1.4).

Field names follow one convention, read here and in `static/page.js`: `paths[]` is a list,
`limit:number` a number, `pinned:boolean` true or false, `value:json` JSON or else plain text, and
null when it is empty; `next` is where to go afterwards.
"""

from __future__ import annotations

from typing import Any

from starlette.datastructures import FormData
from starlette.routing import Route

from backshop.base.canon import parse
from backshop.base.errors import AccessDenied, ValidationFailed
from backshop.base.labels import FOLDERS

from .pages.kit import DONE, Redirect, Visit, route, safe_path
from .rpc import NOT_LOOPBACK

_OURS = frozenset({"next", "back"})


def do(visit: Visit) -> Redirect:
    """Run the command, then go on; a refusal becomes a page with a way back."""
    command, request = visit.params["command"], fields(visit.form)
    if not visit.site.door.loopback and visit.shop.commands.names_server_path(command, request):
        raise AccessDenied(NOT_LOOPBACK, reason="paths")
    answer = visit.call(command, **request)
    return Redirect(safe_path(visit.form.get("next")) or "/", proof=_proof_of(command, answer))


def _proof_of(command: str, answer: Any) -> tuple[str, int, int, str] | None:
    """Return what was done, how many files were read back as they should be, how many not, and
    which warnings about folders there are (B3.12)."""
    answer = answer if isinstance(answer, dict) else {}
    changed = answer.get("changed", ())
    seen = [one["verified"] for one in changed if one.get("verified") is not None]
    told = command if command in DONE and not answer.get("no_changes") else ""
    warned = [one for one in answer.get("warnings", ()) if one in FOLDERS]
    warned += ["outside_edits_salvaged"] * bool(answer.get("salvaged") and not warned)
    counts = (seen.count(True), seen.count(False))
    return (told, *counts, ".".join(warned)) if seen or told or warned else None


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
            request[name] = _json(value)
        else:
            request[name] = value
    return request


def _number(name: str, value: str) -> int | float:
    try:
        return int(value) if value.lstrip("-").isdecimal() else float(value)
    except ValueError:
        raise ValidationFailed(f"{name}: {value!r} is not a number", reason="bad_params") from None


def _json(value: str) -> Any:
    try:
        return parse(value) if value else None
    except ValidationFailed:
        return value


ROUTES: tuple[Route, ...] = (route("/do/{command}", do, "POST"),)
