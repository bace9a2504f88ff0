"""`/bench/{id}/review`: what the Draft changes, file by file (U4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from typing import Any

from starlette.responses import Response

from backshop.base.errors import BackshopError
from backshop.base.labels import headline
from backshop.bench import (
    Bench,
    Cells,
    ChangeEntry,
    Diff,
    Differ,
    Discussion,
    PagePreview,
    Parts,
    Selections,
    Viewer,
    requests,
    views,
)
from backshop.formats import TableDiff, TextDiff
from backshop.workshop import changes_said, counted

from . import diffs
from .kit import Page, Visit, bench_context, number, route, tried
from .picture import comparison
from .picture.outline import comment_head
from .picture.sheet_pair import sheet_pairs
from .pictures import document_pictures, inside, marked_pictures, placed
from .words import FAULTS
from .workshop import files_context, follow_ups

LISTED = 200  # entries in the page itself; scripts fetch the rest
PLAIN_ROWS = 40  # of a sheet where no script draws it
ONE_SIDE_ROWS = 60  # of a sheet that has nothing to be compared with
ROW_MAX_DIGITS = 8  # more than any sheet has rows
SECTIONS_SHOWN = 12  # changed sections of a document on one page
CHOICES_SHOWN = 100  # changes one by one on one page
COMMENTS_SHOWN = 100
OPEN_COMMENTS = 1000  # looked through for files that are not listed
ELSEWHERE_SHOWN = 20
TITLE_CHARS = 140  # of what was asked for; more is a click away
PLACES = {
    "xlsx": "Sheet1!B4 or Sheet1!A1:C9",
    "csv": "row 3",
    "text": "line 12 or lines 12-14",
    "docx": 'paragraph 7 or "these words"',
    "odt": 'paragraph 7 or "these words"',
    "pptx": "slide 2 or slide 2 shape 1",
    "pdf": "page 4",
}
"""How a place of a kind of file is typed, as an example."""
LABELS = {
    "draft_start_snapshot": "the files when the Draft began",
    "last_look": "your last look, when changes were asked for",
    "published_current_fallback": "what is Published now",
    "none": "nothing",
}
VIEWS = {
    "docx": ("picture", "changes", "text", "pages"),
    "odt": ("picture", "changes", "text", "pages"),
    "pptx": ("picture", "changes", "text", "pages"),
    "xlsx": ("picture", "changes", "text", "pages"),
    "csv": ("changes", "text"),
    "pdf": ("pages", "text"),
}
SCALE = 1.5
_PAGES = {
    "odt": Viewer.odt_page,
    "pdf": Viewer.pdf_page,
    "image": Viewer.image,
}
_CHANGED = ("MODIFIED", "RENAMED")
Problem = dict[str, Any] | None


def review(visit: Visit) -> Page:
    """Show the list beside one file's difference; without a Draft say so."""
    context = bench_context(visit, "review")
    if not context["draft"].has_draft:
        shown = {**context, **files_context(visit)}
        return Page(template="review_none.html", title="Review", context=shown)
    since = _since(visit)
    request = requests.ReviewGetChangeSet(
        workbench_id=visit.params["bench_id"], limit=LISTED, since=since
    )
    found = visit.ask(Bench.review_get_change_set, request)
    wanted = visit.query.get("file") or (found.entries[0].path if found.entries else None)
    context |= {"set": found, "wanted": wanted, "label": LABELS[found.reference_source]}
    context |= {"since": since, "also": _also(visit), "discarding": "discard" in visit.query}
    context["publishing"] = "publish" in visit.query
    context["asked"] = headline(found.subject, TITLE_CHARS) if found.subject else None
    context["writers"] = [who for one in found.writers if (who := visit.who(one))]
    context["elsewhere"] = _remarked_elsewhere(visit, {one.path for one in found.entries})
    state = context["workshop"]
    context["asks"] = follow_ups(visit, state and state.model_id)
    context |= _file(visit, wanted) if wanted else {"file": None}
    return Page(template="review.html", title="Review", context=context)


def _since(visit: Visit) -> str | None:
    """Return what the Draft is compared with: the last look, where that is asked for (W24.6)."""
    return "last_look" if visit.query.get("since") == "last_look" else None


def _also(visit: Visit) -> str:
    """Return what addresses of this review carry."""
    return "&since=last_look" if _since(visit) else ""


def _reference(visit: Visit) -> str:
    """Return the version that files are compared with."""
    return "LAST_LOOK" if _since(visit) else "REFERENCE"


def one_file(visit: Visit) -> Page | Response:
    """Return the view of one file alone."""
    wanted = visit.query.get("file") or ""
    context = {"bench": {"workbench_id": visit.params["bench_id"]}, **_file(visit, wanted)}
    return Page(template="review_file.html", title="", context=context)


def _file(visit: Visit, path: str) -> dict[str, Any]:
    """Return everything the view of one file shows; what fails is shown as an error in it."""
    about = views.ReviewPath(workbench_id=visit.params["bench_id"], path=path, since=_since(visit))
    entry, error = tried(visit, Bench.review_get_entry, about)
    if entry is None:
        return _file_without_changes(visit, path, error)
    summary, _ = tried(visit, Bench.review_get_summary, about)
    offered = VIEWS.get(entry.file_kind, ("changes",))
    shown = visit.query.get("as", offered[0])
    if shown not in offered:
        shown = offered[0]
    remarks = _remarks(visit, entry.path)
    is_pages = shown == "pages" and entry.file_kind in comparison.PAGED
    if shown == "picture" or is_pages:
        told = remarks["remarks"]
        view = comparison.stage(visit, entry, told, _since(visit), is_pages=is_pages)
    else:
        view = _view(visit, entry, shown)
    return {
        **_choices(visit, entry.path),
        **remarks,
        "file": {"path": path},
        "entry": entry,
        "error": None,
        "summary": summary,
        "written": _written(summary.effects if summary else None),
        "offered": offered,
        "shown": shown,
        "view": {**view, "reference": "At your last look" if _since(visit) else None},
        "also": _also(visit),
        "remarkable_kind": None if entry.kind == "DELETED" else entry.file_kind,
        "mode": "split" if visit.query.get("mode") == "split" else "unified",
        "column": diffs.column_name,
    }


def _written(report: Mapping[str, Any] | None) -> str:
    """Return what writes to a file changed, counted as the facts of a turn count it (U4.48)."""
    return ", ".join(changes_said(counted(report))) if report else ""


def picture(visit: Visit) -> Page | Response:
    """Return the picture of one file alone."""
    path = visit.query.get("file") or ""
    about = views.ReviewPath(workbench_id=visit.params["bench_id"], path=path, since=_since(visit))
    entry = visit.ask(Bench.review_get_entry, about)
    is_pages = visit.query.get("as") == "pages"
    told = _remarks(visit, entry.path)["remarks"]
    made = comparison.made(visit, entry, told, _since(visit), is_pages=is_pages)
    return Page(template="picture_part.html", title="", context={"made": made})


def _file_without_changes(visit: Visit, path: str, error: Problem) -> dict[str, Any]:
    """Return what is left to show: changes that are left out, and comments (U4.7)."""
    about = views.FileRequest(workbench_id=visit.params["bench_id"], path=path, view="draft")
    info, _ = tried(visit, Viewer.info, about)
    return {
        **_choices(visit, path, is_asked=True),
        **_remarks(visit, path),
        "file": {"path": path},
        "entry": None,
        "error": error,
        "view": None,
        "also": _also(visit),
        "is_unchanged": info is not None,
        "remarkable_kind": info and info["kind"],
    }


def choose(visit: Visit) -> Page | Response:
    """Return the changes of one file one by one, alone."""
    path = visit.query.get("file") or ""
    found = _choices(visit, path, is_asked=True)
    own = {"bench": {"workbench_id": visit.params["bench_id"]}, "path": path}
    return Page(
        template="review_choices.html",
        title="",
        context={**own, **found, "error": found["choices_error"]},
    )


def _choices(visit: Visit, path: str, *, is_asked: bool = False) -> dict[str, Any]:
    """Return the changes of a file one by one, where somebody asks for them."""
    first = number(visit, "after") or 0
    if not is_asked and "choose" not in visit.query:
        return {"choices": None, "choices_error": None, "first": first}
    wish = requests.ReviewListChanges(
        workbench_id=visit.params["bench_id"],
        path=path,
        limit=CHOICES_SHOWN,
        cursor=str(first) if first else None,
    )
    found, error = tried(visit, Selections.page, wish)
    told = {"choices_error": error, "comment_head": comment_head}
    return {"choices": found, "first": first, **told}


def _remarks(visit: Visit, path: str) -> dict[str, Any]:
    """Return the comments on a file."""
    wish = requests.ReviewListComments(
        workbench_id=visit.params["bench_id"], path=path, limit=COMMENTS_SHOWN
    )
    found, error = tried(visit, Discussion.page, wish)
    return {"remarks": found, "remarks_error": error, "places": PLACES, "named": visit.who}


def _remarked_elsewhere(visit: Visit, listed: set[str]) -> list[str]:
    """Return files with open comments that this review does not list, so that none is lost."""
    bench_id, since = visit.params["bench_id"], _since(visit)
    wish = requests.ReviewListComments(workbench_id=bench_id, state="open", limit=OPEN_COMMENTS)
    found, _ = tried(visit, Discussion.page, wish)
    others = sorted({one.path for one in (found.comments if found else ())} - listed)
    asked = (views.ReviewPath(workbench_id=bench_id, path=one, since=since) for one in others)
    entries = ((one.path, tried(visit, Bench.review_get_entry, one)[0]) for one in asked)
    unlisted = (path for path, entry in entries if entry is None)  # the list may go on
    return list(islice(unlisted, ELSEWHERE_SHOWN))


def _view(visit: Visit, entry: ChangeEntry, shown: str) -> dict[str, Any]:
    """Return the view of a kind, or the best there is where that fails (B12.19)."""
    own = {"text": _DRAW["text"], "pages": _pages}
    draw = own.get(shown) or _DRAW.get(entry.file_kind, _compared)
    found = draw(visit, entry)
    if found.get("error") and draw is not _compared:
        found = {**_compared(visit, entry), "note": found["error"]["message"]}
    return found


def _about(visit: Visit, entry: ChangeEntry) -> views.ReviewPath:
    bench_id = visit.params["bench_id"]
    return views.ReviewPath(workbench_id=bench_id, path=entry.path, since=_since(visit))


def _diff(
    visit: Visit,
    method: Callable[[Differ, views.ReviewPath], Diff],
    entry: ChangeEntry,
    *,
    section: int | None = None,
    slide: int | None = None,
) -> tuple[Diff | None, Problem]:
    about = replace(_about(visit, entry), cursor=visit.query.get("cursor") or None)
    return tried(visit, method, replace(about, section_index=section, slide_index=slide))


def _compared(
    visit: Visit,
    entry: ChangeEntry,
    method: Callable[[Differ, views.ReviewPath], Diff] = Differ.diff,
) -> dict[str, Any]:
    found, error = _diff(visit, method, entry)
    return {"kind": "error", "error": error} if found is None else any_view(visit, found, entry)


def _cells(visit: Visit, entry: ChangeEntry) -> dict[str, Any]:
    sheet = visit.query.get("sheet") or None
    found, error = _diff(visit, Differ.cell_diff, entry)
    if found is None:
        return {"kind": "cells", "error": error}
    if not isinstance(found.body, Cells):  # only one side has it: its sheets as they are
        version = "DRAFT" if entry.kind == "ADDED" else _reference(visit)
        grid, error = _grid(visit, entry, version, sheet, 0, ONE_SIDE_ROWS)
        return {"kind": "sheet", "grid": grid, "version": version, "error": error, "diff": found}
    hint = found.focus_hint or {}
    chosen = sheet or hint.get("sheet")
    is_page = visit.path.endswith("/review")  # a part of a page is asked for by scripts
    plain = _plain_sheet(visit, entry, found.body, chosen) if is_page else None
    own = {"sheet": chosen, "row": hint.get("row_start", 0), "plain": plain}
    return {**any_view(visit, found, entry), **own}


def _grid(
    visit: Visit, entry: ChangeEntry, version: str, sheet: str | None, first: int, rows: int
) -> tuple[dict[str, Any] | None, Problem]:
    request = views.ReviewGrid(
        workbench_id=visit.params["bench_id"],
        path=entry.path,
        version=version,
        since=_since(visit),
        sheet=sheet,
        row_start=first,
        row_count=rows,
    )
    return tried(visit, Viewer.preview_grid, request)


def _plain_sheet(
    visit: Visit, entry: ChangeEntry, body: Cells, sheet: str | None
) -> dict[str, Any] | None:
    """Return the changed part of a sheet for pages without scripts; None if there is none."""
    own = {one["sheet"]: one for one in reversed(body.lines)}
    counts = {one["sheet"]: one for one in body.sheets if one["cell_count"] or one["sheet"] in own}
    names = list(counts)
    shown = sheet if sheet in names else next(iter(names), None)
    if shown is None:
        return None
    asked = visit.query.get("row", "")
    first = max(0, _first_row(counts[shown], own.get(shown)) - 2)
    if asked.isascii() and asked.isdecimal() and len(asked) < ROW_MAX_DIGITS:
        first = int(asked)
    grid, _ = _grid(visit, entry, "DRAFT", shown, first, PLAIN_ROWS)
    if grid is None or grid["missing"]:  # a sheet that goes
        grid, _ = _grid(visit, entry, _reference(visit), shown, first, PLAIN_ROWS)
    ways = _rows_around(first, grid["row_count"]) if grid else {}
    found = (grid or {}).get("changes")
    marks = {one["cell"]: diffs.shown_cell(one) for one in found or ()}
    about = {"grid": grid, "names": names, "sheet": shown, "first": first, "marks": marks}
    heads = [diffs.marked_lines(body.lines, shown, axis) for axis in ("rows", "columns")]
    lines = {"rows": heads[0], "columns": heads[1]}
    return {**about, "ways": ways, "is_known": found is not None, "lines": lines}


def _first_row(sheet: Mapping[str, Any], lines: Mapping[str, Any] | None) -> int:
    """Return the first row of a sheet, from 0, in which something changed."""
    found = [sheet["bounds"]["row_start"]] if sheet["bounds"] else []
    if lines and lines["axis"] == "rows":
        found.append(lines["beside" if lines["kind"] == "removed" else "at"] - 1)
    return min(found, default=0)


def _rows_around(first: int, count: int) -> dict[str, int]:
    """Return where the rows before and after a part of a sheet begin."""
    earlier = {"Earlier rows": max(0, first - PLAIN_ROWS)} if first > 0 else {}
    later = {"Later rows": first + PLAIN_ROWS} if first + PLAIN_ROWS < count else {}
    return earlier | later


def _document(visit: Visit, entry: ChangeEntry) -> dict[str, Any]:
    found, error = _diff(visit, Differ.document_diff, entry)
    if found is None:
        return {"kind": "document", "error": error}
    assert isinstance(found.body, Parts)
    sections = found.body.listed
    asked = number(visit, "section")
    wanted = [] if asked is None else [asked]
    pictures = placed(_document_pictures(visit, entry), sections)
    touched = {at for at, some in pictures.items() if any(one["change"] for one in some)}
    wanted = wanted or [
        one["index"] for one in sections if one["kind"] != "same" or one["index"] in touched
    ]
    shown = []
    for index in wanted[:SECTIONS_SHOWN]:
        one, _ = _diff(visit, Differ.document_diff, entry, section=index)
        if one is not None and isinstance(one.body, Parts) and (section := one.body.chosen):
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


def _document_pictures(visit: Visit, entry: ChangeEntry) -> list[dict[str, Any]]:
    """Return the pictures the document has now, marked, and those that go."""
    bench_id, path = visit.params["bench_id"], entry.path
    viewer, reference = visit.shop.benches.viewer, _reference(visit)
    try:
        before = viewer.pictures_inside(bench_id, reference, path)
        after = viewer.pictures_inside(bench_id, "DRAFT", path)
    except BackshopError:
        return []  # the view itself says what is wrong with the file
    about = views.FileRequest(workbench_id=bench_id, path=path, view="draft")
    now = partial(inside, bench_id, "DRAFT", path)
    then = partial(inside, bench_id, reference, path)
    shown = document_pictures(visit, about, now, None) if after else []
    about = replace(about, path=entry.old_path or path, view="published")
    is_kept = before and not _since(visit)  # where they stood at a look is not kept
    gone = document_pictures(visit, about, then, None) if is_kept else []
    return marked_pictures(shown, before, after, gone, then)


def _deck(visit: Visit, entry: ChangeEntry) -> dict[str, Any]:
    found, error = _diff(visit, Differ.deck_diff, entry, slide=number(visit, "slide"))
    if found is None:
        return {"kind": "deck", "error": error}
    assert isinstance(found.body, Parts)
    slide = found.body.chosen
    places = {
        "before": (_reference(visit), entry.old_path or entry.path),
        "after": ("DRAFT", entry.path),
    }
    sides = {
        side: diffs.drawn_slide(
            slide[side], slide["shapes"], side, partial(inside, visit.params["bench_id"], *place)
        )
        for side, place in places.items()
        if slide
    }
    slides = found.body.listed
    return {"kind": "deck", "diff": found, "slides": slides, "slide": slide, "sides": sides}


def first_pages(visit: Visit, entry: ChangeEntry) -> None:
    """Have drawn what the tab Pages of a file shows first (U8.8)."""
    if entry.file_kind in comparison.PAGED:
        comparison.made(visit, entry, None, _since(visit), is_pages=True)
    else:
        _pages(visit, entry)


def _pages(visit: Visit, entry: ChangeEntry) -> dict[str, Any]:
    """Return pictures of a page of both versions: those that are versions of one another."""
    asked = number(visit, "page")
    told, pairs = _paired(visit, entry)
    if not pairs:  # nothing to know pages by but their numbers
        index = asked or 0
        return _two_pictures(visit, entry, index, index, index)
    first = next((one["index"] for one in pairs if one["kind"] != "same"), 0)
    index = min(first if asked is None else asked, len(pairs) - 1)
    pair = pairs[index]
    found = _two_pictures(visit, entry, index, pair["index_before"], pair["index_after"])
    if entry.file_kind == "xlsx" and not _fits(found, pairs):
        return _two_pictures(visit, entry, index, index, index)
    what = {"pptx": "slide", "xlsx": "sheet"}.get(entry.file_kind, "page")
    return {**found, "pages": len(pairs), "pair": {**pair, "what": what}, "diff": told}


def _paired(visit: Visit, entry: ChangeEntry) -> tuple[Diff | None, Sequence[Mapping[str, Any]]]:
    """Return slides or pages of both versions, paired; none where only their numbers pair."""
    ways = {"pptx": Differ.deck_diff, "pdf": Differ.text_diff}
    if entry.file_kind == "xlsx" and entry.kind in _CHANGED and not _since(visit):
        return sheet_pairs(visit, entry)
    if entry.kind not in _CHANGED or entry.file_kind not in ways:
        return None, ()
    found, _ = tried(visit, ways[entry.file_kind], _about(visit, entry))
    match found and found.body:
        case Parts(listed=pairs) | TextDiff(pages=pairs):
            return found, pairs or ()
    return found, ()


def _fits(found: Mapping[str, Any], pairs: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether there are as many pages as sheets that are shown: else no page has a name."""
    return all(
        side is None
        or side.preview_unavailable
        or side.page_count == sum(one[f"index_{name}"] is not None for one in pairs)
        for name, side in found.get("sides", {}).items()
    )


def _image(visit: Visit, entry: ChangeEntry) -> dict[str, Any]:
    return _two_pictures(visit, entry, 0, 0, 0)


def _two_pictures(
    visit: Visit, entry: ChangeEntry, index: int, before: int | None, after: int | None
) -> dict[str, Any]:
    """Return a page of both versions, each by its own number; None where it has no such."""
    sides, problem = {}, None
    for name, version, at in (("before", _reference(visit), before), ("after", "DRAFT", after)):
        sides[name], error = (None, None) if at is None else _picture(visit, entry, version, at)
        problem = problem or error
    found = [side for side in sides.values() if side]
    if not found:
        return {"kind": "pictures", "error": problem}
    return {
        "kind": "pictures",
        "sides": sides,
        "page": index,
        "pages": max(side.page_count or 0 for side in found),
        "piece": found[0].piece_index,
        "pieces": max(side.piece_count for side in found),
        "is_cut_short": any(side.is_cut_short for side in found),
        "unavailable": next((one.reason for one in found if one.preview_unavailable), None),
        "faults": FAULTS,
    }


def _picture(
    visit: Visit, entry: ChangeEntry, version: str, index: int
) -> tuple[PagePreview | None, Problem]:
    bench_id, path = visit.params["bench_id"], entry.path
    if entry.file_kind == "pptx":
        slide = views.ReviewSlide(
            workbench_id=bench_id, path=path, version=version, slide_index=index, scale=SCALE
        )
        return tried(visit, Viewer.slide_preview, slide)
    page = views.ReviewPage(
        workbench_id=bench_id, path=path, version=version, page_index=index, scale=SCALE
    )
    if entry.file_kind == "xlsx":
        piece = views.ReviewSheetPage(**asdict(page), piece_index=number(visit, "piece") or 0)
        return tried(visit, Viewer.xlsx_page, piece)
    return tried(visit, _PAGES[entry.file_kind], page)


def any_view(visit: Visit, found: Diff, entry: ChangeEntry | None = None) -> dict[str, Any]:
    """Return a difference for its template; without an entry it is one of two checkpoints."""
    match found.body:
        case TextDiff() as body:
            own = _text_view(visit, body)
            is_own = entry is not None and entry.kind in _CHANGED
            is_text = found.file_kind in ("text", "csv")  # its lines are to be had
            own["expandable"] = is_own and is_text and not body.too_large
        case TableDiff() as body:
            own = {"kind": "table", "rows": diffs.table_rows(body)}
        case Cells() as body:
            own = _cells_view(body)
        case body:
            own = {"kind": "facts", "sides": body}
    return {"diff": found, **own}


def _text_view(visit: Visit, body: TextDiff) -> dict[str, Any]:
    split = visit.query.get("mode") == "split"
    hunks = diffs.text_rows(body, split=split)
    return {"kind": "text", "hunks": hunks, "rest": diffs.last_line(body), "split": split}


def _cells_view(body: Cells) -> dict[str, Any]:
    told = ("sheet", "added", "removed", "cell_count", "bounds")
    return {
        "kind": "cells",
        "cells": diffs.cell_list(body),
        "lines": diffs.line_list(body),
        "heads": [{key: one[key] for key in _HEADS} for one in body.lines],
        "following": diffs.following_in_words(body),
        "counts": diffs.counts_in_words(body.counts or {}),
        "sheets": [{key: one[key] for key in told} for one in body.sheets],
        "sheet": None,
        "row": 0,
    }


_HEADS = ("sheet", "kind", "axis", "at", "count", "beside")  # what a grid needs of lines

_DRAW: dict[str, Callable[[Visit, ChangeEntry], dict[str, Any]]] = {
    "text": partial(_compared, method=Differ.text_diff),
    "csv": partial(_compared, method=Differ.table_diff),
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
    route("/bench/{bench_id}/review/choices", choose),
    route("/bench/{bench_id}/review/picture", picture),
)
