"""JSON-RPC 2.0 over the command registry, and the OpenRPC document that describes it (S5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backshop.base.canon import JsonValue, parse
from backshop.base.codec import compact, encode, schema
from backshop.base.errors import BackshopError, NotFound, ValidationFailed
from backshop.base.ids import UserId

from ..fault import fault_of
from .registry import Registry

BATCH_MAX = 100
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
REFUSED = -32000  # with the envelope of M11.1 as data
DISCOVER = "rpc.discover"


@dataclass(frozen=True, slots=True)
class Asked:
    """What one request asks for; a notification is not answered."""

    id: JsonValue
    method: str
    params: JsonValue
    is_answered: bool


def answer(
    registry: Registry, text: str | bytes, version: str, *, user: UserId | None = None
) -> Any | None:
    """Return the response to one request or batch, or None where none is due (notifications)."""
    try:
        request = parse(text)
    except ValidationFailed as error:
        return _error(None, PARSE_ERROR, error.message)
    if not isinstance(request, list):
        return _answer_one(registry, request, version, user)
    if not 1 <= len(request) <= BATCH_MAX:
        return _error(None, INVALID_REQUEST, f"a batch has 1 to {BATCH_MAX} requests")
    answers = [_answer_one(registry, one, version, user) for one in request]
    return [one for one in answers if one is not None] or None


def discover(registry: Registry, version: str) -> dict[str, Any]:
    """Return the OpenRPC document of every command, as a client generator reads it."""
    shared: dict[str, Any] = {}
    methods = [
        {
            "name": bound.command.name,
            "summary": bound.command.summary,
            "paramStructure": "by-name",
            "params": _params(_shown(bound.command.request, shared)),
            "result": {"name": "response", "schema": _shown(bound.command.response, shared)},
        }
        for bound in registry
    ]
    return {
        "openrpc": "1.3.2",
        "info": {"title": "Backshop", "version": version},
        "methods": methods,
        "components": {"schemas": shared},
    }


def _params(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of a request, each a parameter of its own; those that must be come first.

    OpenRPC wants that order, although all are given by name.
    """
    required = set(request.get("required", ()))
    fields = [
        {"name": name, "required": name in required, "schema": field}
        for name, field in request.get("properties", {}).items()
    ]
    return sorted(fields, key=lambda one: not one["required"])


def _shown(kind: type, shared: dict[str, Any]) -> dict[str, Any]:
    """Return a type's schema; what it refers to goes to `shared`, where the document looks."""
    whole: dict[str, Any] = compact(schema(kind))
    own: dict[str, Any] = whole.pop("$defs", {})
    names = {name: _free_name(name, kind, own, shared) for name in own}
    for name, definition in own.items():
        shared[names[name]] = _repointed(definition, names)
    found: dict[str, Any] = _repointed(whole, names)
    return found


def _free_name(name: str, kind: type, own: dict[str, Any], shared: dict[str, Any]) -> str:
    """Return the name a definition is shared under: its own, unless another type has it."""
    same = {one: one for one in own}
    taken = shared.get(name)
    return (
        name if taken is None or taken == _repointed(own[name], same) else f"{kind.__name__}{name}"
    )


def _repointed(node: Any, names: dict[str, str]) -> Any:
    if isinstance(node, list):
        return [_repointed(one, names) for one in node]
    if not isinstance(node, dict):
        return node
    target = node.get("$ref")
    name = target.removeprefix("#/$defs/") if isinstance(target, str) else ""
    changed = {key: _repointed(one, names) for key, one in node.items()}
    return {**changed, "$ref": f"#/components/schemas/{names[name]}"} if name in names else changed


def _answer_one(
    registry: Registry, request: JsonValue, version: str, user: UserId | None
) -> dict[str, Any] | None:
    asked = asked_for(request)
    if asked is None:
        return _error(None, INVALID_REQUEST, "not a JSON-RPC 2.0 request")
    response = _run(registry, asked, version, user)
    return response if asked.is_answered else None


def asked_for(request: JsonValue) -> Asked | None:
    """Return what a document asks for, None if it is no request."""
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
        return None
    call_id, method = request.get("id"), request.get("method")
    if not isinstance(method, str) or isinstance(call_id, (bool, list, dict)):
        return None
    return Asked(call_id, method, request.get("params", {}), "id" in request)


def refusal(call_id: JsonValue, error: Exception, phase: str) -> dict[str, Any]:
    """Return the response for whatever went wrong with a request."""
    fault = fault_of(error, phase)
    bad = isinstance(error, BackshopError) and error.reason == "bad_request"
    return _error(call_id, INVALID_PARAMS if bad else REFUSED, fault.message, fault.envelope)


def _run(registry: Registry, asked: Asked, version: str, user: UserId | None) -> dict[str, Any]:
    call_id, method, params = asked.id, asked.method, asked.params
    if method == DISCOVER:
        return {"jsonrpc": "2.0", "id": call_id, "result": discover(registry, version)}
    if method not in registry:
        near = _nearest(registry, method)
        return _error(call_id, METHOD_NOT_FOUND, f"there is no command {method!r}", {"hints": near})
    if not isinstance(params, dict):
        return _error(call_id, INVALID_PARAMS, "params are an object with named fields")
    phase = registry.find(method).command.phase
    try:
        result = encode(registry.run(method, params, user=user))
        return {"jsonrpc": "2.0", "id": call_id, "result": result}
    except Exception as error:  # a surface's outermost handler
        return refusal(call_id, error, phase)


def _nearest(registry: Registry, method: str) -> list[str]:
    try:
        registry.find(method)
    except NotFound as error:
        return list(error.hints)
    return []


def _error(call_id: JsonValue, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": call_id, "error": error}
