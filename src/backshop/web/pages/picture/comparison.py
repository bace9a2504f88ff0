"""The picture of a changed file in the review: both versions, or the only one there is (U8.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from backshop.base.errors import NotFound
from backshop.bench import ChangeEntry, CommentList, Diff, Differ, views

from ..kit import Visit, tried
from .deck import deck_picture
from .document import document_picture
from .document_page import document_pages
from .panel import PARTS, PICTURED, SHAPES, Picture, Shown, Version
from .sheet import sheet_picture

_COMPARED = {
    "xlsx": Differ.cell_diff,
    "docx": Differ.document_diff,
    "odt": Differ.document_diff,
    "pptx": Differ.deck_diff,
}
_CHANGED = ("MODIFIED", "RENAMED")
PAGED = ("pptx", "docx")
"""Kinds whose pages of LibreOffice are compared place by place, as pictures are."""


def stage(
    visit: Visit,
    entry: ChangeEntry,
    remarks: CommentList | None,
    since: str | None,
    *,
    is_pages: bool = False,
) -> dict[str, Any]:
    """Return the frame of a picture, which is fetched; without scripts it stands in the page."""
    query = {name: visit.query[name] for name in PARTS if name in visit.query}
    named = urlencode(
        {"file": entry.path, **({"since": since} if since else {}), **query, "as": _way(is_pages)}
    )
    is_still = "still" in visit.query
    return {
        "kind": "stage",
        "address": f"/bench/{visit.params['bench_id']}/review/picture?{named}",
        "still": f"?{named}&still=1",
        "shape": "page" if is_pages else SHAPES[entry.file_kind],
        "made": made(visit, entry, remarks, since, is_pages=is_pages) if is_still else None,
    }


def made(
    visit: Visit,
    entry: ChangeEntry,
    remarks: CommentList | None,
    since: str | None,
    *,
    is_pages: bool = False,
) -> Picture:
    """Return a file as it looks before and after: drawn by us, or as LibreOffice's pages."""
    if entry.file_kind not in (PAGED if is_pages else PICTURED):
        raise NotFound("a file of this kind has no picture")
    named = urlencode({"file": entry.path, **({"since": since} if since else {})})
    shown = Shown(
        visit=visit,
        path=entry.path,
        versions=_versions(entry, since),
        here=f"?{named}&as={_way(is_pages)}",
        is_review=True,
        since=since,
        remarks=remarks.comments if remarks else (),
        is_pages=is_pages,
    )
    diff_of = _differences(visit, entry, since)
    diff = diff_of(None) if entry.kind in _CHANGED else None
    if entry.file_kind == "xlsx":
        return sheet_picture(shown, diff)
    if entry.file_kind == "pptx":
        return deck_picture(shown, diff, diff_of)
    if is_pages:
        return document_pages(shown, diff, diff_of)
    return document_picture(shown, diff, diff_of)


def _way(is_pages: bool) -> str:
    """Return how an address says which of the two is looked at."""
    return "pages" if is_pages else "picture"


def _versions(entry: ChangeEntry, since: str | None) -> tuple[Version, ...]:
    reference, then = ("LAST_LOOK", "at the last look") if since else ("REFERENCE", "")
    before = Version(
        name="before",
        version=reference,
        label=then or "when the Draft began",
        path=entry.old_path or entry.path,
    )
    after = Version(name="after", version="DRAFT", label="in the Draft", path=entry.path)
    return {"ADDED": (after,), "DELETED": (before,)}.get(entry.kind, (before, after))


def _differences(
    visit: Visit, entry: ChangeEntry, since: str | None
) -> Callable[[int | None], Diff | None]:
    """Return what gives the difference, with the slide or section of a number whole."""
    about = views.ReviewPath(workbench_id=visit.params["bench_id"], path=entry.path, since=since)

    def diff_of(index: int | None) -> Diff | None:
        is_deck = entry.file_kind == "pptx"
        wish = replace(
            about,
            slide_index=index if is_deck else None,
            section_index=None if is_deck else index,
        )
        return tried(visit, _COMPARED[entry.file_kind], wish)[0]

    return diff_of
