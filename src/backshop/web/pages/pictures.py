"""`/bench/{id}/preview/…`: the bytes behind every `image_ref` (S7.5, B12.11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from backshop.base.errors import NotFound

from .kit import Visit, attempt, route

# A picture is shown by <img>, which runs nothing; opened by itself it may not either.
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
KEPT = "private, max-age=31536000, immutable"


def preview(visit: Visit) -> Response:
    """Send a picture of a page, slide or image of one version, or of one inside the file."""
    params = visit.params
    try:
        index, scale = int(params["index"]), float(params["scale"])
    except ValueError:
        raise NotFound("there is no such picture") from None
    found = visit.shop.benches.viewer.picture(
        params["bench_id"],
        params["version"],
        params["path"],
        index,
        scale,
        visit.query.get("part"),
    )
    is_named = visit.query.get("content") == found.sha256[:16]
    return Response(
        found.data,
        media_type=found.mime_type,
        headers={
            "cache-control": KEPT if is_named else "no-store",
            "content-security-policy": PICTURE_POLICY,
            "content-disposition": "inline",
        },
    )


def inside(bench_id: str, version: str, path: str, part: str) -> str:
    """Return the address of a picture inside an office file."""
    return f"/bench/{bench_id}/preview/{version}/0/1.00/{quote(path)}?part={quote(part)}"


def document_pictures(
    visit: Visit, about: dict[str, Any], address: Callable[[str], str], section: int | None
) -> list[dict[str, str]]:
    """Return the pictures of a document, or of one of its sections, with their descriptions."""
    mapped, _ = attempt(visit, "WorkbenchFileGetMap", **about)
    found = (mapped or {}).get("images") or ()
    return [
        {"picture": address(one["name"]), "alt": one.get("alt_text") or f"Picture {one['index']}"}
        for one in found
        if one.get("name") and section in (None, one.get("section_index"))
    ]


ROUTES = (route("/bench/{bench_id}/preview/{version}/{index}/{scale}/{path:path}", preview),)
