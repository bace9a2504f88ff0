"""`POST /rpc`: JSON-RPC 2.0 over HTTP, the same commands as every other door (S5.1)."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from backshop import __version__
from backshop.app import Registry, answer, fault_of
from backshop.base.canon import parse
from backshop.base.errors import AccessDenied, LimitExceeded, ValidationFailed
from backshop.base.limits import MIB

from .security import user_of
from .site import Site, fault_response

BODY_MAX_BYTES = 32 * MIB
NOT_LOOPBACK = "this server is not on loopback: files come and go by its pages"


async def rpc(request: Request) -> Response:
    """Answer one request or batch."""
    site: Site = request.app.state.site
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return Response("JSON only", status_code=415)  # a cross-site form cannot send it
    try:
        body = await read_body(request, BODY_MAX_BYTES)
    except LimitExceeded as error:
        return fault_response(error)
    if not site.door.loopback:
        refused = await site.run(_refusal_of_paths, site.shop.commands, body)
        if refused is not None:
            return JSONResponse(refused)
    user = user_of(request)
    result = await site.run(answer, site.shop.commands, body, __version__, user=user)
    return Response(status_code=204) if result is None else JSONResponse(result)


async def read_body(request: Request, limit_bytes: int) -> bytes:
    """Return the body of a request, refusing one that is too long as soon as that is known."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit_bytes:
            raise LimitExceeded("the request is too long", reason="too_large")
        parts.append(part)
    return b"".join(parts)


def _refusal_of_paths(commands: Registry, body: bytes) -> dict[str, Any] | None:
    try:
        data = parse(body)  # as `answer` reads it, so that both see the same
    except ValidationFailed:
        return None  # the answer says what is wrong with it
    for one in data if isinstance(data, list) else [data]:
        if isinstance(one, dict) and _names_a_path(commands, one):
            fault = fault_of(AccessDenied(NOT_LOOPBACK, reason="paths"))
            detail = {"code": -32000, "message": fault.message, "data": fault.envelope}
            return {"jsonrpc": "2.0", "id": one.get("id"), "error": detail}
    return None


def _names_a_path(commands: Registry, call: dict[str, Any]) -> bool:
    method = call.get("method")
    return isinstance(method, str) and commands.names_server_path(method, call.get("params"))
