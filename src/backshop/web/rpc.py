"""`POST /rpc`: JSON-RPC 2.0 over HTTP, the same commands as every other door (S5.1)."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from backshop import __version__
from backshop.app import answer, fault_of
from backshop.base.errors import AccessDenied, LimitExceeded
from backshop.base.limits import MIB

from .security import user_of
from .site import Site, fault_response

BODY_MAX_BYTES = 32 * MIB

PATH_FIELDS: dict[str, tuple[str, ...]] = {
    "WorkbenchFilesAdd": ("source_paths",),
    "WorkbenchFilesExtract": ("destination_dir",),
    "StoreBackup": ("path",),
    "AuditExport": ("path",),
    "RailsWorkflowValidate": ("path", "workspacePath"),
}
"""Fields that name a path of the server: refused where it can be reached from elsewhere (S7.5)."""
PATH_WORDS = frozenset(
    {"workspacePath", "workspace_path", "destination_dir", "source_path", "source_paths"}
)
"""Fields that do so in whatever command they occur, however deep."""


async def rpc(request: Request) -> Response:
    """Answer one request or batch."""
    site: Site = request.app.state.site
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return Response("JSON only", status_code=415)  # a cross-site form cannot send it
    try:
        body = await read_body(request, BODY_MAX_BYTES)
    except LimitExceeded as error:
        return fault_response(error)
    refused = None if site.door.loopback else _names_a_path(body)
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


def _names_a_path(body: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(body)
    except ValueError:
        return None  # the answer says what is wrong with it
    for one in data if isinstance(data, list) else [data]:
        if isinstance(one, dict) and names_server_path(one.get("method"), one.get("params")):
            error = AccessDenied("this server is not on loopback: files come and go by its pages")
            fault = fault_of(error)
            detail = {"code": -32000, "message": fault.message, "data": fault.envelope}
            return {"jsonrpc": "2.0", "id": one.get("id"), "error": detail}
    return None


def names_server_path(command: object, params: object) -> bool:
    """Say whether a call names a path of the machine the server runs on."""
    if not isinstance(command, str) or not isinstance(params, dict):
        return False
    here = (params.get(word) for word in PATH_FIELDS.get(command, ()))
    return any(value is not None for value in here) or _has_path(params)


def _has_path(value: object) -> bool:
    if isinstance(value, dict):
        return any(
            (key in PATH_WORDS and part is not None) or _has_path(part)
            for key, part in value.items()
        )
    return isinstance(value, list) and any(_has_path(part) for part in value)
