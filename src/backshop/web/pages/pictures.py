"""`/bench/{id}/preview/…`: the bytes behind every `image_ref` (S7.5, B12.11)."""

from __future__ import annotations

from starlette.responses import Response

from backshop.base.errors import NotFound

from .kit import Visit, route

# A picture is shown by <img>, which runs nothing; opened by itself it may not either.
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
KEPT = "private, max-age=31536000, immutable"


def preview(visit: Visit) -> Response:
    """Send a picture of a page, slide or image of one version."""
    params = visit.params
    try:
        index, scale = int(params["index"]), float(params["scale"])
    except ValueError:
        raise NotFound("there is no such picture") from None
    found = visit.shop.benches.viewer.picture(
        params["bench_id"], params["version"], params["path"], index, scale
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


ROUTES = (route("/bench/{bench_id}/preview/{version}/{index}/{scale}/{path:path}", preview),)
