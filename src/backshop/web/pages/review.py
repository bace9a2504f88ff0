"""`/bench/{id}/review`: what the Draft changes, file by file (U4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.responses import Response

from backshop.base.errors import BackshopError

from . import diffs
from .kit import Page, Visit, attempt, bench_context, number, route
from .pictures import document_pictures, inside, marked_pictures, placed
from .words import FAULTS
from .workshop import files_context

LISTED = 200  # entries in the page itself; scripts fetch the rest
PLAIN_ROWS = 40  # of a sheet where no script draws it
ROW_MAX_DIGITS = 8  # more than any sheet has rows
SECTIONS_SHOWN = 12  # changed sections of a document on one page
LABELS = {
    "draft_start_snapshot": "Reference (Draft start)",
    "published_current_fallback": "Published (current)",
    "none": "no reference",
}
VIEWS = {
    "docx": ("changes", "text", "pages"),
    "odt": ("changes", "text", "pages"),
    "pptx": ("changes", "text", "pages"),
    "xlsx": ("changes", "text"),
    "csv": ("changes", "text"),
    "pdf": ("pages", "text"),
}
_PAGES = {"docx": "Docx", "odt": "Odt", "pdf": "Pdf"}


def review(visit: Visit) -> Page:
    """Show the list beside one file's difference; without a Draft say so."""
    context = bench_context(visit, "review")
    if not context["draft"]["has_draft"]:
        shown = {**context, **files_context(visit)}
        return Page(template="review_none.html", title="Review", context=shown)
    found = visit.bench("ReviewGetChangeSet", limit=LISTED)
    wanted = visit.query.get("file") or (found["entries"][0]["path"] if found["entries"] else None)
    context |= {"set": found, "wanted": wanted, "label": LABELS[found["reference_source"]]}
    context["writers"] = [who for one in found.get("writers", ()) if (who := visit.who(one))]
    context |= _file(visit, wanted) if wanted else {"file": None}
    return Page(template="review.html", title="Review", context=context)


def one_file(visit: Visit) -> Page | Response:
    """Return the view of one file alone."""
    wanted = visit.query.get("file") or ""
    context = {"bench": {"workbench_id": visit.params["bench_id"]}, **_file(visit, wanted)}
    return Page(template="review_file.html", title="", context=context)


def _file(visit: Visit, path: str) -> dict[str, Any]:
    """Return everything the view of one file shows; what fails is shown as an error in it."""
    bench_id = visit.params["bench_id"]
    about = {"workbench_id": bench_id, "path": path}
    entry, error = attempt(visit, "ReviewGetEntry", **about)
    if entry is None:
        return {"file": {"path": path}, "entry": None, "error": error, "view": None}
    summary, _ = attempt(visit, "ReviewGetSummary", **about)
    offered = VIEWS.get(entry["file_kind"], ("changes",))
    shown = visit.query.get("as", offered[0])
    if shown not in offered:
        shown = offered[0]
    view = _view(visit, entry, shown)
    return {
        "file": {"path": path},
        "entry": entry,
        "error": None,
        "summary": summary,
        "offered": offered,
        "shown": shown,
        "view": view,
        "mode": "split" if visit.query.get("mode") == "split" else "unified",
        "column": diffs.column_name,
    }


def _view(visit: Visit, entry: dict[str, Any], shown: str) -> dict[str, Any]:
    """Return the view of a kind, or the best there is where that fails (B12.19)."""
    kind = entry["file_kind"]
    draw: Callable[..., dict[str, Any]] = _any
    if shown == "text":
        draw = _text
    elif shown == "pages":
        draw = _pages
    else:
        draw = _DRAW.get(kind, _any)
    found = draw(visit, entry)
    if found.get("error") and draw is not _any:
        found = {**_any(visit, entry), "note": found["error"]["message"]}
    return found


def _diff(visit: Visit, command: str, entry: dict[str, Any], **more: Any) -> tuple[Any, Any]:
    request = {"workbench_id": visit.params["bench_id"], "path": entry["path"], **more}
    if cursor := visit.query.get("cursor"):
        request["cursor"] = cursor
    return attempt(visit, command, **request)


def _text(visit: Visit, entry: dict[str, Any]) -> dict[str, Any]:
    found, error = _diff(visit, "ReviewGetTextDiff", entry)
    return {"kind": "text", "error": error} if found is None else text_view(visit, found, entry)


def text_view(visit: Visit, found: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """Return a line diff for its template."""
    split = visit.query.get("mode") == "split"
    body = found["body"]
    own_lines = entry["file_kind"] in ("text", "csv") and entry["kind"] in ("MODIFIED", "RENAMED")
    return {
        "kind": "text",
        "diff": found,
        "hunks": diffs.text_rows(body, split=split),
        "rest": diffs.last_line(body),
        "expandable": own_lines and not body["too_large"],
        "split": split,
    }


def _table(visit: Visit, entry: dict[str, Any]) -> dict[str, Any]:
    found, error = _diff(visit, "ReviewGetTableDiff", entry)
    if found is None:
        return {"kind": "table", "error": error}
    return table_view(found) or text_view(visit, found, entry)


def table_view(found: dict[str, Any]) -> dict[str, Any] | None:
    """Return a row diff for its template; None where it is one of lines."""
    if found["strategy"] != "table":
        return None
    return {"kind": "table", "diff": found, "rows": diffs.table_rows(found["body"])}


def _cells(visit: Visit, entry: dict[str, Any]) -> dict[str, Any]:
    sheet = visit.query.get("sheet")
    more = {"sheet": sheet} if sheet else {}
    found, error = _diff(visit, "ReviewGetXlsxCellDiff", entry)
    if found is None:
        return {"kind": "cells", "error": error}
    if found["strategy"] != "cells":  # only one side has it: its sheets as they are
        version = "DRAFT" if entry["kind"] == "ADDED" else "REFERENCE"
        request = {"workbench_id": visit.params["bench_id"], "path": entry["path"], **more}
        grid, error = attempt(
            visit, "ReviewGetXlsxPreviewGrid", version=version, row_count=60, **request
        )
        return {"kind": "sheet", "grid": grid, "version": version, "error": error, "diff": found}
    hint = found.get("focus_hint") or {}
    view = cells_view(found)
    chosen = sheet or hint.get("sheet")
    is_page = visit.path.endswith("/review")  # a part of a page is asked for by scripts
    plain = _plain_sheet(visit, entry, found["body"]["sheets"], chosen) if is_page else None
    return {**view, "sheet": chosen, "row": hint.get("row_start", 0), "plain": plain}


def _plain_sheet(
    visit: Visit, entry: dict[str, Any], sheets: list[dict[str, Any]], sheet: str | None
) -> dict[str, Any] | None:
    """Return the changed part of a sheet for pages without scripts; None if there is none."""
    counts = {one["sheet"]: one for one in sheets if one["cell_count"]}
    names = list(counts)
    shown = sheet if sheet in names else next(iter(names), None)
    if shown is None:
        return None
    asked = visit.query.get("row", "")
    first = max(0, (counts[shown]["bounds"] or {"row_start": 0})["row_start"] - 2)
    if asked.isascii() and asked.isdecimal() and len(asked) < ROW_MAX_DIGITS:
        first = int(asked)
    about = {"workbench_id": visit.params["bench_id"], "path": entry["path"], "sheet": shown}
    about |= {"row_start": first, "row_count": PLAIN_ROWS}
    grid, _ = attempt(visit, "ReviewGetXlsxPreviewGrid", version="DRAFT", **about)
    if grid is None or grid["missing"]:  # a sheet that goes
        grid, _ = attempt(visit, "ReviewGetXlsxPreviewGrid", version="REFERENCE", **about)
    ways = _rows_around(first, grid["row_count"]) if grid else {}
    found = (grid or {}).get("changes")
    marks = {one["cell"]: diffs.shown_cell(one) for one in found or ()}
    about = {"grid": grid, "names": names, "sheet": shown, "first": first, "marks": marks}
    return {**about, "ways": ways, "is_known": found is not None}


def _rows_around(first: int, count: int) -> dict[str, int]:
    """Return where the rows before and after a part of a sheet begin."""
    earlier = {"Earlier rows": max(0, first - PLAIN_ROWS)} if first > 0 else {}
    later = {"Later rows": first + PLAIN_ROWS} if first + PLAIN_ROWS < count else {}
    return earlier | later


def cells_view(found: dict[str, Any]) -> dict[str, Any]:
    """Return a cell diff for its template."""
    body = found["body"]
    return {
        "kind": "cells",
        "diff": found,
        "cells": diffs.cell_list(body),
        "counts": diffs.counts_in_words(body.get("counts") or {}),
        "sheets": [
            {key: one[key] for key in ("sheet", "added", "removed", "cell_count", "bounds")}
            for one in body["sheets"]
        ],
    }


def _document(visit: Visit, entry: dict[str, Any]) -> dict[str, Any]:
    command = "ReviewGetDocxContentDiff"
    found, error = _diff(visit, command, entry)
    if found is None:
        return {"kind": "document", "error": error}
    sections = found["body"]["sections"]
    asked = number(visit, "section")
    wanted = [] if asked is None else [asked]
    pictures = placed(_document_pictures(visit, entry), sections)
    touched = {at for at, some in pictures.items() if any(one["change"] for one in some)}
    wanted = wanted or [
        one["index"] for one in sections if one["kind"] != "same" or one["index"] in touched
    ]
    shown = []
    for index in wanted[:SECTIONS_SHOWN]:
        one, _ = _diff(visit, command, entry, section_index=index)
        if one is not None and one["body"]["section"]:
            section = one["body"]["section"]
            own = {"groups": diffs.folded(section["blocks"]), "pictures": pictures.pop(index, ())}
            shown.append({**section, **own})
    return {
        "kind": "document",
        "diff": found,
        "sections": sections,
        "shown": shown,
        "touched": touched,
        "pictures": [one for some in pictures.values() for one in some],
        "left": max(0, len(wanted) - SECTIONS_SHOWN),
        "asked": asked,
    }


def _document_pictures(visit: Visit, entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pictures the document has now, marked, and those that go."""
    bench_id, path = visit.params["bench_id"], entry["path"]
    viewer = visit.shop.benches.viewer
    try:
        before = viewer.pictures_inside(bench_id, "REFERENCE", path)
        after = viewer.pictures_inside(bench_id, "DRAFT", path)
    except BackshopError:
        return []  # the view itself says what is wrong with the file
    about = {"workbench_id": bench_id, "path": path, "view": "draft"}
    now = partial(inside, bench_id, "DRAFT", path)
    then = partial(inside, bench_id, "REFERENCE", path)
    shown = document_pictures(visit, about, now, None) if after else []
    about |= {"path": entry.get("old_path") or path, "view": "published"}
    gone = document_pictures(visit, about, then, None) if before else []
    return marked_pictures(shown, before, after, gone, then)


def _deck(visit: Visit, entry: dict[str, Any]) -> dict[str, Any]:
    asked = number(visit, "slide")
    more = {} if asked is None else {"slide_index": asked}
    found, error = _diff(visit, "ReviewGetPptxContentDiff", entry, **more)
    if found is None:
        return {"kind": "deck", "error": error}
    slide = found["body"].get("slide")
    sides = {}
    if slide:
        for side in ("before", "after"):
            version = "REFERENCE" if side == "before" else "DRAFT"
            about = (visit.params["bench_id"], version, entry["path"])
            if side == "before" and entry.get("old_path"):
                about = (*about[:2], entry["old_path"])
            sides[side] = diffs.drawn_slide(
                slide.get(side), slide["shapes"], side, partial(inside, *about)
            )
    return {
        "kind": "deck",
        "diff": found,
        "slides": found["body"]["slides"],
        "slide": slide,
        "sides": sides,
    }


def _pages(visit: Visit, entry: dict[str, Any]) -> dict[str, Any]:
    """Return pictures of a page of both versions: those that are versions of one another."""
    kind, bench_id = entry["file_kind"], visit.params["bench_id"]
    slide = kind == "pptx"
    command = "ReviewGetPptxPreviewSlide" if slide else f"ReviewGet{_PAGES[kind]}PreviewPage"
    place = "slide_index" if slide else "page_index"
    request = {"workbench_id": bench_id, "path": entry["path"]}
    told = _paired(visit, entry)
    pairs = told.get("pairs")
    if not pairs:  # nothing to know pages by but their numbers
        index = number(visit, "page") or 0
        return _two_pictures(visit, command, {**request, place: index}, index)
    asked = number(visit, "page")
    first = next((one["index"] for one in pairs if one["kind"] != "same"), 0)
    index = min(first if asked is None else asked, len(pairs) - 1)
    pair = pairs[index]
    sides = {name: pair[f"index_{name}"] for name in ("before", "after")}
    own = {name: None if at is None else {place: at} for name, at in sides.items()}
    found = _two_pictures(visit, command, request, index, own)
    shown = {"pages": len(pairs), "pair": {**pair, "what": "slide" if slide else "page"}}
    return {**found, **shown, "diff": told["diff"]}


def _paired(visit: Visit, entry: dict[str, Any]) -> dict[str, Any]:
    """Return slides or pages of both versions, paired; nothing where only their numbers pair."""
    ways = {
        "pptx": ("ReviewGetPptxContentDiff", "slides"),
        "pdf": ("ReviewGetTextDiff", "pages"),
    }
    if entry["kind"] not in ("MODIFIED", "RENAMED") or entry["file_kind"] not in ways:
        return {}
    command, name = ways[entry["file_kind"]]
    about = {"workbench_id": visit.params["bench_id"], "path": entry["path"]}
    found, _ = attempt(visit, command, **about)
    return {"diff": found, "pairs": found["body"].get(name)} if found else {}


def _image(visit: Visit, entry: dict[str, Any]) -> dict[str, Any]:
    request = {"workbench_id": visit.params["bench_id"], "path": entry["path"]}
    return _two_pictures(visit, "ReviewGetImagePreview", request, 0)


def _two_pictures(
    visit: Visit,
    command: str,
    request: dict[str, Any],
    index: int,
    own: dict[str, dict[str, int] | None] | None = None,
) -> dict[str, Any]:
    """Return both versions; `own` is what each side is asked for, None where it has no such."""
    sides: dict[str, Any] = {}
    problem = None
    for name, version in (("before", "REFERENCE"), ("after", "DRAFT")):
        asked = {} if own is None else own[name]
        if asked is None:
            sides[name] = None
            continue
        request = {**request, **asked}
        sides[name], error = attempt(visit, command, version=version, scale=1.5, **request)
        problem = problem or error
    found = [side for side in sides.values() if side]
    if not found:
        return {"kind": "pictures", "error": problem}
    return {
        "kind": "pictures",
        "sides": sides,
        "page": index,
        "pages": max(side.get("page_count") or 0 for side in found),
        "unavailable": next((s["reason"] for s in found if s["preview_unavailable"]), None),
        "faults": FAULTS,
    }


def _any(visit: Visit, entry: dict[str, Any]) -> dict[str, Any]:
    found, error = _diff(visit, "ReviewGetDiff", entry)
    if found is None:
        return {"kind": "error", "error": error}
    return any_view(visit, found, entry)


def any_view(visit: Visit, found: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """Return the view of whatever strategy a diff has."""
    match found["strategy"]:
        case "text":
            return text_view(visit, found, entry)
        case "table":
            return table_view(found) or {}
        case "cells":
            return {**cells_view(found), "sheet": None, "row": 0}
        case _:
            return {"kind": "facts", "diff": found, "sides": found["body"]}


_DRAW = {
    "text": _text,
    "csv": _table,
    "xlsx": _cells,
    "docx": _document,
    "odt": _document,
    "pptx": _deck,
    "pdf": _pages,
    "image": _image,
}

ROUTES = (
    route("/bench/{bench_id}/review", review),
    route("/bench/{bench_id}/review/file", one_file),
)
