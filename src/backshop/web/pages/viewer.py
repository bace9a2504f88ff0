"""`/bench/{id}/file/{path}`: one file as it is, in the way its kind has (U3.5)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from markupsafe import Markup

from backshop.base.errors import NotFound
from backshop.base.labels import count_text
from backshop.bench import PagePreview, Viewer, views

from ..markdown import highlighted
from . import diffs
from .kit import Page, Visit, bench_context, number, route, tried
from .picture.deck import deck_picture
from .picture.document import document_picture
from .picture.panel import PARTS, PICTURED, SHAPES, Picture, Shown, Version
from .picture.sheet import sheet_picture
from .picture.sheet_pair import piece_told, sheet_names
from .pictures import document_pictures, inside
from .words import FAULTS, KINDS
from .workshop import files_context

LINES = 500  # of a text on one page
PAGES = 20  # pictures of pages on one page (B12.12)
ROWS = 60  # of a sheet in the page itself; scripts show all of it
QUERY_ROWS = 200
SCALE = 1.5
PAGE_WIDTH = 900  # of a picture of a page on the page, in its pixels
Found = dict[str, Any]
Looked = TypeVar("Looked", bound=views.FileRequest)


def viewer(visit: Visit) -> Page:
    """Show a file of Published or of the Draft."""
    path = visit.params["path"]
    context = {**bench_context(visit, "file"), **files_context(visit)}
    has_draft = context["draft"].has_draft
    view = visit.query.get("view") or ("draft" if has_draft else "published")
    about = views.FileRequest(workbench_id=visit.params["bench_id"], path=path, view=view)
    info = visit.ask(Viewer.info, about)
    ways = _WAYS.get(info["kind"], {})
    way = visit.query.get("as", "") if visit.query.get("as") in ways else ""
    shown = _shown(visit, about, info, way)
    here = f"/bench/{visit.params['bench_id']}/file/{quote(path)}?view={view}"
    context |= {"info": info, "view": view, "shown": shown, "file_path": path, "at": here}
    context |= {"ways": ways, "way": way, "faults": FAULTS}
    context |= {"column": diffs.column_name, "kind_words": KINDS}
    return Page(template="viewer.html", title=path, context=context)


def picture(visit: Visit) -> Page:
    """Return the picture of a file alone."""
    view = visit.query.get("view") or "published"
    about = views.FileRequest(
        workbench_id=visit.params["bench_id"], path=visit.params["path"], view=view
    )
    info = visit.ask(Viewer.info, about)
    if info["kind"] not in PICTURED:
        raise NotFound("a file of this kind has no picture")
    made = _picture_of(visit, about, info)
    return Page(template="picture_part.html", title="", context={"made": made})


def _stage(visit: Visit, about: views.FileRequest, info: Found) -> Found:
    """Return the frame of a picture, which is fetched; without scripts it stands in the page."""
    query = {name: visit.query[name] for name in PARTS if name in visit.query}
    named = urlencode({"view": about.view or "published", **query})
    place = f"/bench/{about.workbench_id}/picture/{quote(about.path)}"
    is_still = "still" in visit.query
    return {
        "kind": "stage",
        "address": f"{place}?{named}",
        "still": f"?{named}&still=1",
        "shape": SHAPES[info["kind"]],
        "made": _picture_of(visit, about, info) if is_still else None,
    }


def _picture_of(visit: Visit, about: views.FileRequest, info: Found) -> Picture:
    version = "DRAFT" if about.view == "draft" else "PUBLISHED"
    only = Version(name="only", version=version, label="", path=about.path)
    here = f"/bench/{about.workbench_id}/file/{quote(about.path)}?view={about.view}"
    shown = Shown(visit=visit, path=about.path, versions=(only,), here=here)
    if info["kind"] == "xlsx":
        return sheet_picture(shown, None)
    if info["kind"] == "pptx":
        return deck_picture(shown, None)
    return document_picture(shown, None)


def _shown(visit: Visit, about: views.FileRequest, info: Found, way: str) -> Found:
    if not way and info["kind"] in PICTURED:
        return _stage(visit, about, info)
    if way == "pages" and info["kind"] == "xlsx":
        return _sheet_page(visit, about)
    if way == "pages" or (info["kind"] == "pdf" and not way):
        return _pages(visit, about)
    if way == "text" and info["kind"] == "pdf":
        found, error = tried(visit, Viewer.read, _at(about, views.FileRead))
        return {"kind": "plain", "text": found and found["text"], "error": error}
    return _SHOW.get(info["kind"], _facts)(visit, about, info)


def _at(about: views.FileRequest, kind: Callable[..., Looked], **more: float | str) -> Looked:
    """Return a request of another kind about the same file."""
    own = {"workbench_id": about.workbench_id, "path": about.path, "view": about.view}
    return kind(**own, **more)


def _number(visit: Visit, name: str, default: int = 0) -> int:
    found = number(visit, name)
    return default if found is None else found


def _text(visit: Visit, about: views.FileRequest, info: Found) -> Found:
    """Return a window of lines, coloured where the language is known."""
    first = max(1, _number(visit, "line", 1))
    window = _at(about, views.FileRead, line_start=first, line_count=LINES)
    found, error = tried(visit, Viewer.read, window)
    if found is None:
        return {"kind": "error", "error": error}
    is_markdown = about.path.lower().endswith((".md", ".markdown"))
    rendered = is_markdown and visit.query.get("as") != "source" and first == 1
    text = found["text"]
    return {
        "kind": "text",
        "first": first,
        "lines": _coloured(text, about.path),
        "markdown": text if rendered and not found["chunk_info"]["has_more"] else None,
        "is_markdown": is_markdown,
        "next": (found["chunk_info"].get("next") or {}).get("line_start"),
        "before": max(1, first - LINES) if first > 1 else None,
        "total": info.get("line_count"),
    }


def _coloured(text: str, path: str) -> list[Markup]:
    """Return highlighted lines; Pygments closes its spans at the end of each line."""
    language = _LANGUAGES.get(path.rpartition(".")[2].lower(), "")
    whole = str(highlighted(text, language))
    lines = whole.split("\n")
    plain = text.split("\n")
    if len(lines) < len(plain):
        lines += [""] * (len(plain) - len(lines))
    return [Markup(line) for line in lines[: len(plain)]]  # noqa: S704  # escaped by `highlighted`


def _table(visit: Visit, about: views.FileRequest, _: Found) -> Found:
    """Return the first rows, or the answer to a question."""
    sql = visit.query.get("sql", "").strip()
    if sql:
        question = _at(about, views.TableQuery, query=sql, window_rows=QUERY_ROWS)
        found, error = tried(visit, Viewer.query, question)
    else:
        found, error = tried(visit, Viewer.rows, _at(about, views.TableReadRows, row_count=ROWS))
    total = None if found is None else found.get("total_rows", found.get("total_row_count"))
    return {"kind": "table", "sql": sql, "found": found, "error": error, "total": total}


def _sheet(visit: Visit, about: views.FileRequest, _: Found) -> Found:
    grid, error = tried(visit, Viewer.grid, _at(about, views.FileGrid, row_count=ROWS))
    return {"kind": "sheet", "grid": grid, "error": error}


def _document(visit: Visit, about: views.FileRequest, _: Found) -> Found:
    asked = {"section_index": _number(visit, "section")} if visit.query.get("section") else {}
    found, error = tried(visit, Viewer.section, _at(about, views.FileSection, **asked))
    shown = None if found is None else found["section_index"]
    pictures = document_pictures(visit, about, _inside(about), shown)
    return {"kind": "document", "found": found, "error": error, "pictures": pictures}


def _inside(about: views.FileRequest) -> Callable[[str], str]:
    version = "DRAFT" if about.view == "draft" else "PUBLISHED"
    return partial(inside, about.workbench_id, version, about.path)


def _deck(visit: Visit, about: views.FileRequest, _: Found) -> Found:
    index = _number(visit, "slide")
    found, error = tried(visit, Viewer.slide, _at(about, views.FileSlide, slide_index=index))
    if found is None:
        return {"kind": "error", "error": error}
    mapped = tried(visit, Viewer.map, about)[0] or {}
    slide = found["slide"]
    return {
        "kind": "deck",
        "slide": slide,
        "count": found["slide_count"],
        "titles": [one.get("title") for one in mapped.get("slides", ())],
        "drawn": diffs.drawn_slide(slide["positioned"], (), "after", _inside(about)),
    }


def _pages(visit: Visit, about: views.FileRequest) -> Found:
    """Return pictures of some pages, each drawn when the browser asks for it (U4.3)."""
    first = _number(visit, "page")
    wish = _at(about, views.FilePage, page_index=first, scale=SCALE)
    page, error = tried(visit, Viewer.page, wish)
    if page is not None and page.preview_unavailable:
        return {"kind": "pages", "unavailable": page.reason}
    if page is None or page.image_ref is None:
        return {"kind": "error", "error": error or _no_picture(page)}
    count, ref = page.page_count or 0, page.image_ref
    shown = range(first, min(count, first + PAGES))
    return {
        "kind": "pages",
        "told": count_text(count, "page"),
        "first": first,
        "pages": [(f"Page {index + 1}", _ref(ref, index)) for index in shown],
        **_shown_size(page),
        "next": first + PAGES if first + PAGES < count else None,
        "before": max(0, first - PAGES) if first else None,
    }


def _sheet_page(visit: Visit, about: views.FileRequest) -> Found:
    """Return the page of one sheet in pieces that can be read, with a way to each other sheet."""
    index, first = _number(visit, "page"), _number(visit, "piece")
    wish = _at(about, views.FilePage, page_index=index, scale=SCALE, piece_index=first)
    page, error = tried(visit, Viewer.page, wish)
    if page is not None and page.preview_unavailable:
        return {"kind": "pages", "unavailable": page.reason}
    if page is None or page.image_ref is None:
        return {"kind": "error", "error": error or _no_picture(page)}
    count, ref = page.piece_count, page.image_ref.partition("&piece")[0]
    names = sheet_names(visit, about, page.page_count or 0)
    pieces = range(first, min(count, first + PAGES))
    return {
        "kind": "pages",
        "told": count_text(count, "part") if count > 1 else "",
        "sheets": names,
        "sheet": index,
        "is_cut_short": page.is_cut_short,
        "pages": [(piece_told(names[index], at, count), f"{ref}&piece={at}") for at in pieces],
        **_shown_size(page),
        "next": first + PAGES if first + PAGES < count else None,
        "before": max(0, first - PAGES) if first else None,
    }


def _shown_size(page: PagePreview) -> Found:
    """Return how large the pictures of pages are shown, so that those out of sight can wait."""
    width = min(PAGE_WIDTH, page.width or PAGE_WIDTH)
    return {"width": width, "height": round(width * (page.height or 1) / (page.width or 1))}


def _no_picture(page: PagePreview | None) -> Found:
    reason = page and page.reason
    return {"error_code": "NOT_FOUND", "message": "there is no such page", "reason": reason}


def _ref(ref: str, index: int) -> str:
    """Return the address of another page's picture, from that of one (B12.11)."""
    head, _, tail = ref.partition("/preview/")
    version, _, rest = tail.split("/", 2)
    return f"{head}/preview/{version}/{index}/{rest}"


def _image(visit: Visit, about: views.FileRequest, _: Found) -> Found:
    page, error = tried(visit, Viewer.page, _at(about, views.FilePage, scale=SCALE))
    return {"kind": "image", "page": page, "error": error}


def _facts(_: Visit, __: views.FileRequest, ___: Found) -> Found:
    return {"kind": "facts"}


_SHOW = {
    "text": _text,
    "csv": _table,
    "xlsx": _sheet,
    "docx": _document,
    "odt": _document,
    "pptx": _deck,
    "image": _image,
}
_WAYS = {  # of looking at a file of a kind: what the address says, what people read
    "xlsx": {"": "Picture", "cells": "Cells", "pages": "Pages"},
    "docx": {"": "Picture", "text": "Text", "pages": "Pages"},
    "odt": {"": "Picture", "text": "Text", "pages": "Pages"},
    "pptx": {"": "Picture", "text": "Text", "pages": "Pages"},
    "pdf": {"": "Pages", "text": "Text"},
}
_LANGUAGES = {
    **{name: name for name in ("json", "xml", "yaml", "html", "css", "sql", "ini", "toml", "java")},
    **{"py": "python", "js": "javascript", "ts": "typescript", "rs": "rust", "rb": "ruby"},
    **{"c": "c", "h": "c", "cpp": "cpp", "go": "go", "sh": "bash", "yml": "yaml", "md": "markdown"},
}

ROUTES = (
    route("/bench/{bench_id}/file/{path:path}", viewer),
    route("/bench/{bench_id}/picture/{path:path}", picture),
)
