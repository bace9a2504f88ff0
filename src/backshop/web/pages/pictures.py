"""`/bench/{id}/preview/…`: the bytes behind every `image_ref` (S7.5, B12.11); `/drawn/…`: SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from backshop.base.errors import NotFound
from backshop.base.limits import GRID_MAX_COLUMNS, GRID_MAX_ROWS
from backshop.bench import Picture, Viewer, views

from ..render import visible
from ..svg import is_inert
from .kit import Visit, number, route, tried

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
        number(visit, "piece") or 0,
    )
    return sent(visit, found)


def drawn(visit: Visit) -> Response:
    """Send what Backshop draws of one version: a slide, or a window of a sheet (U8.4)."""
    params, viewer = visit.params, visit.shop.benches.viewer
    about = (params["bench_id"], params["version"], params["path"])
    if params["what"] == "slide":
        found = viewer.drawn_slide_of(*about, number(visit, "slide") or 0)
    elif params["what"] == "sheet":
        row, col, rows, cols = (number(visit, name) or 0 for name in ("row", "col", "rows", "cols"))
        window = (row, col, min(rows, GRID_MAX_ROWS), min(cols, GRID_MAX_COLUMNS))
        found = viewer.drawn_sheet_of(*about, visit.query.get("sheet") or None, window)
    else:
        raise NotFound("there is no such picture")
    svg = visible(found.data.decode())
    if not is_inert(svg):
        raise NotFound("this drawing holds more than figures and is not shown")
    return sent(visit, replace(found, data=svg.encode()))


def glance(visit: Visit) -> Response:
    """Send a small picture of a file in a version of the history (U5.24)."""
    params = visit.params
    about = (params["bench_id"], params["version"], params["path"])
    since = visit.query.get("since") or None
    return sent(visit, visit.shop.benches.glance(*about, since))


def sent(visit: Visit, found: Picture) -> Response:
    """Return a picture; the browser keeps it where its address names its content."""
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
    visit: Visit, about: views.FileRequest, address: Callable[[str], str], section: int | None
) -> list[dict[str, Any]]:
    """Return the pictures of a document, or of one of its sections, with their descriptions."""
    mapped = tried(visit, Viewer.map, about)[0] or {}
    found = mapped.get("images") or ()
    # A map counts headings; pages count what there is, with or without text before the first one.
    place = {one["index"]: at for at, one in enumerate(mapped.get("sections") or ())}
    return [
        {
            "picture": address(one["name"]),
            "name": one["name"],
            "alt": one.get("alt_text") or f"Picture {one['index'] + 1}",
            "section": place.get(one.get("section_index")),
        }
        for one in found
        if one.get("name") and section in (None, place.get(one.get("section_index")))
    ]


def marked_pictures(
    shown: list[dict[str, Any]],
    before: dict[str, str],
    after: dict[str, str],
    gone: list[dict[str, Any]],
    then: Callable[[str], str],
) -> list[dict[str, Any]]:
    """Say which pictures of a document are new, which were others before, and add what goes.

    `before` and `after` are hashes by name, `gone` is what the old document showed, in its words.
    """
    old, new = _by_name(before), _by_name(after)
    left = [name for name in old if old[name] not in after.values()]  # programs number anew
    made = []
    for one in shown:
        change = ""
        if before and new.get(one["name"]) not in before.values():
            change = "changed" if one["name"] in left else "added"
        was = then(one["name"]) if change == "changed" else ""
        made.append({**one, "change": change, "was": was})
    replaced = {one["name"] for one in made if one["was"]}
    told = {one["name"]: one for one in gone}
    return made + [
        {
            "alt": "Picture that goes",
            **told.get(name, {}),
            "picture": then(name),
            "change": "removed",
        }
        for name in left
        if name not in replaced
    ]


def placed(
    pictures: list[dict[str, Any]], sections: Sequence[dict[str, Any]]
) -> dict[int | None, Any]:
    """Return the pictures by the compared section they stand in; None is none of them."""
    found: dict[int | None, list[dict[str, Any]]] = {}
    sides = {
        side: {
            one[f"index_{side}"]: one["index"]
            for one in sections
            if one[f"index_{side}"] is not None
        }
        for side in ("before", "after")
    }
    for one in pictures:
        side = sides["before" if one["change"] == "removed" else "after"]
        found.setdefault(side.get(one.get("section")), []).append(one)
    return found


def _by_name(parts: dict[str, str]) -> dict[str, str]:
    """Return hashes by the last part of a name, which is what maps call a picture."""
    return {name.rpartition("/")[2]: found for name, found in parts.items()}


ROUTES = (
    route("/bench/{bench_id}/preview/{version}/{index}/{scale}/{path:path}", preview),
    route("/bench/{bench_id}/glance/{version}/{path:path}", glance),
    route("/bench/{bench_id}/drawn/{version}/{what}/{path:path}", drawn),
)
