"""PDF, read page by page with pdfium (F11). Nothing in it is run or followed (F4.4)."""

from __future__ import annotations

import ctypes
import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from io import BytesIO

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from backshop.base import limits as numbers
from backshop.base.place import Place

from ..canvas.viewed import fitted, require_page
from ..diff.page_diff import Page, pair_pages
from ..errors import fail
from ..place import require_fields
from ..protocol import ChunkInfo, Json, JsonObject, Map, Passage, Read, Selector, Source
from ..selection.change_unit import Relocated
from ..selection.whole_file import relocated_file
from ..warning import Warnings
from ..window import (
    check_chunk,
    check_selector,
    chunk_count,
    chunk_list,
    chunking,
    cut,
    refuse_both,
)
from .visible import page_text

CHUNK = numbers.PDF_CHUNK_PAGES
_LISTED_PAGES = 200
_LISTED_TOC = 200
_LISTED_FIELDS = 100
_SCAN_MAX_CHARS = 16
_LOOKED_AT = 60  # pages whose looks are compared, from the first on; drawing takes its time
_VIEWED_SCALE = 2 * 96 / 72  # a small page is shown at most twice as large as on a screen
_LOOK_PX = 300  # the longer side of a page that is drawn to be compared
_OBJECT_LIMIT = 2_000  # looked at per page when judging whether it is a scan
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)
_PAGES = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?")
_SCRIPT = re.compile(rb"/(JavaScript|JS)\b")


def get_info(source: Source) -> JsonObject:
    """Return the page count, and form fields where there are any (F11.5)."""
    with opened(source) as document:
        info: dict[str, Json] = {"page_count": len(document)}
        fields = _fields(document)
        if fields:
            info["form_fields"] = fields
        return info


def get_map(source: Source) -> Map:
    """Return pages, contents and flags."""
    with opened(source) as document:
        count = len(document)
        pages = [_page_entry(document, index) for index in range(min(count, _LISTED_PAGES))]
        toc = _toc(document)
        chunks = chunk_count(count, CHUNK)
        data: dict[str, Json] = {
            "page_count": count,
            "has_toc": bool(toc),
            "toc": toc,
            "has_forms": document.get_formtype() != pdfium_c.FORMTYPE_NONE,
            "has_annotations": any(_annotations(document, i) for i in range(len(pages))),
            "has_text_layer": any(page["chars"] and not page["scanned"] for page in pages),
            "pages": pages,
            "chunking": chunking("pages", CHUNK, chunks, 1),
            "chunks": chunk_list([{"pages": _span(i, count)} for i in range(chunks)]),
        }
        warnings = Warnings()
        if count > _LISTED_PAGES:
            data["shortened"] = {"pages": {"kept": _LISTED_PAGES, "total": count}}
        security: dict[str, Json] = {}
        scripts = pdfium_c.FPDFDoc_GetJavaScriptActionCount(document) > 0
        if scripts or _SCRIPT.search(source.path.read_bytes()):
            security["javascript"] = True
        if pdfium_c.FPDFDoc_GetAttachmentCount(document) > 0:
            security["embedded_objects"] = True
    return Map(format="pdf", data=data, warnings=warnings.all(), security=security)


def read(source: Source, selector: Selector) -> Read:
    """Return the text of pages: those named, a chunk, or all of a short document."""
    check_selector(selector, "pdf", ("pages",))
    refuse_both(selector, "pages")
    with opened(source) as document:
        total = len(document)
        chunks = chunk_count(total, CHUNK)
        warnings = Warnings()
        pages, chunked = _chosen(document, selector, total, warnings)
        texts = (_page_block(document, page) for page in pages)
        piece = cut(texts, char_offset=selector.char_offset or 0)
        if pages and all(_page_entry(document, page - 1)["scanned"] for page in pages):
            warnings.add("no_text_layer")
    following: Selector | None = None
    if not piece.complete:
        warnings.add("truncated_to_fit")
        rest = pages[piece.units :]
        following = Selector(pages=_listed(rest), char_offset=piece.char_offset)
    elif pages and pages[-1] < total:
        after = pages[-1] + 1
        following = (
            Selector(chunk_index=pages[-1] // CHUNK)
            if chunked
            else Selector(pages=_listed(list(range(after, min(after + CHUNK, total + 1)))))
        )
    shown = pages[: piece.units] if piece.char_offset is None else pages[: piece.units + 1]
    return Read(
        format="pdf",
        text=piece.text,
        selector=replace(selector, pages=_listed(pages)) if selector.pages else selector,
        chunk_info=ChunkInfo(
            chunk_index=(pages[0] - 1) // CHUNK if pages else 0,
            total_chunks=max(chunks, 1),
            next=following,
            span={"pages": _listed(shown)} if shown else {},
        ),
        warnings=warnings.all(),
    )


def extract_lines(source: Source) -> list[str]:
    """Return the lines of every page under its heading (F29.1)."""
    with opened(source) as document:
        blocks = [_page_block(document, page) for page in range(1, len(document) + 1)]
    return [line for block in blocks for line in block.split("\n")]


def passages(source: Source) -> Iterator[Passage]:
    """Yield the pages; white space counts as one space, since lines end anywhere (F33.1)."""
    with opened(source) as document:
        for index in range(len(document)):
            where = {"pages": str(index + 1)}
            text = _flat(document, index)
            scanned = len(text) < _SCAN_MAX_CHARS and _page_entry(document, index)["scanned"]
            yield Passage(where, "", gap="no_text_layer") if scanned else Passage(where, text)


def diff_pages(before: Source, after: Source) -> list[JsonObject]:
    """Return the pages of two versions, paired by what stands on them (B12.10)."""
    sides = []
    for source in (before, after):
        with opened(source) as document:
            sides.append(
                [
                    Page(
                        "\n".join(_page_block(document, index + 1).split("\n")[1:]),
                        _look(document, index) if index < _LOOKED_AT else None,
                    )
                    for index in range(len(document))
                ]
            )
    return pair_pages(sides[0], sides[1])


def require_place(source: Source, place: Place) -> Place:
    """Return a place of a PDF: a page, or words on one; words alone mean the one page with them.

    Raises:
        FormatError: `bad_selector`, `bad_range`, `no_match` or `ambiguous_match`.
    """
    with opened(source) as document:
        return _placed(document, place)


def relocate(before: Source, after: Source, places: Sequence[Place]) -> list[Relocated]:
    """Return where pages of one version are in another, by what stands on them (B12.10)."""
    pairs = {pair["index_before"]: pair for pair in diff_pages(before, after)}
    found = []
    with opened(before) as old, opened(after) as new:
        for place in places:
            if place.is_file:
                found.append(relocated_file(before, after))
                continue
            there = _placed(old, place)
            pair = pairs[(there.page or 1) - 1]
            now = pair["index_after"]
            if not isinstance(now, int):
                found.append(Relocated(place=None, is_touched=True))
                continue
            has_words = there.words is None or there.words in _flat(new, now)
            moved = replace(there, page=now + 1, words=there.words if has_words else None)
            is_touched = pair["kind"] != "same" or not has_words
            found.append(Relocated(place=moved, is_touched=is_touched))
    return found


def _placed(document: pdfium.PdfDocument, place: Place) -> Place:
    require_fields(place, "pdf", ("page", "words"))
    total = len(document)
    if place.is_file:
        return place
    words = None if place.words is None else " ".join(place.words.split())
    if place.page is not None and not 1 <= place.page <= total:
        raise fail("bad_range", f"there is no page {place.page}", hints=(f"1-{total}",))
    pages = range(1, total + 1) if place.page is None else (place.page,)
    having = [page for page in pages if words is None or words in _flat(document, page - 1)]
    if len(having) != 1:
        reason = "ambiguous_match" if having else "no_match"
        raise fail(reason, f"{len(having)} pages have these words")
    return Place(page=having[0], words=words)


def _flat(document: pdfium.PdfDocument, index: int) -> str:
    """Return the words of a page with single spaces, since lines end anywhere."""
    return " ".join(_page_text(document, index).split())


def _look(document: pdfium.PdfDocument, index: int) -> str:
    """Return a hash of a page drawn small: enough to see that a picture or a line differs."""
    page = document[index]
    fitting = _LOOK_PX / (max(page.get_size()) or 1.0)
    image = page.render(scale=fitting, may_draw_forms=False).to_pil()
    return hashlib.sha256(image.convert("RGB").tobytes()).hexdigest()[:16]


def render_page(source: Source, page_index: int, scale: float) -> tuple[bytes, int, bool]:
    """Return a page as PNG, the page count, and whether it had to be made smaller (F29.8)."""
    with opened(source) as document:
        count = len(document)
        require_index(page_index, count, "pages")
        page = document[page_index]
        wanted = scale * 96 / 72  # pdf units are points; scale 1 is a screen's pixel
        image, is_smaller = drawn_within(page, wanted, max(page.get_size()) or 1.0)
        return image, count, is_smaller


def require_index(index: int, count: int, what: str) -> None:
    """Refuse what is not there.

    Raises:
        FormatError: `bad_index`.
    """
    if not 0 <= index < count:
        raise fail("bad_index", f"{what} are 0 to {count - 1}", hints=(f"0 to {count - 1}",))


def drawn_within(
    page: pdfium.PdfPage,
    wanted: float,
    longest: float,
    without: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0),
) -> tuple[bytes, bool]:
    """Return a page as PNG within the limits, and whether that is smaller than wanted (F29.8).

    `longest` is the longer side of what is drawn, `without` what is cut off at the left, below,
    at the right and above, all in units of the page.
    """
    fitting = min(wanted, numbers.PREVIEW_MAX_SIDE_PX / longest)
    while True:
        image = page.render(scale=fitting, crop=without, may_draw_forms=False).to_pil()
        buffer = BytesIO()
        image.convert("RGB").save(buffer, "PNG", optimize=False)
        if buffer.tell() <= numbers.PREVIEW_MAX_BYTES:
            return buffer.getvalue(), fitting < wanted
        fitting *= 0.7


def view_page(source: Source, page: int) -> tuple[bytes, JsonObject]:
    """Return a page as a picture for who takes pictures, counted from 1 (F43.73)."""
    with opened(source) as document:
        total = len(document)
        require_page(page, total)
        found = document[page - 1]
        longest = max(found.get_size()) or 1.0
        scale = min(_VIEWED_SCALE, numbers.VIEWED_MAX_SIDE_PX / longest)
        image, facts = fitted(found.render(scale=scale, may_draw_forms=False).to_pil())
    about: JsonObject = {"shown": f"page {page} of {total}", "page": page, "page_count": total}
    return image, {**about, **facts, "places": [], "missing": []}


@contextmanager
def opened(source: Source) -> Iterator[pdfium.PdfDocument]:
    """Open a PDF.

    Raises:
        FormatError: `encrypted_file`, `corrupt_file`.
    """
    try:
        document = pdfium.PdfDocument(source.path)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise fail("encrypted_file", "the file is protected by a password") from error
        raise fail("corrupt_file", "the PDF cannot be parsed", detail="PdfiumError") from error
    try:
        yield document
    except pdfium.PdfiumError as error:
        raise fail("corrupt_file", "the PDF cannot be parsed", detail="PdfiumError") from error
    finally:
        document.close()


def _page_text(document: pdfium.PdfDocument, index: int) -> str:
    with closing(document[index]) as page:
        raw = page_text(page)
    clean = raw.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").translate(_LIGATURES)
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in clean)


def _page_block(document: pdfium.PdfDocument, page: int) -> str:
    body = _page_text(document, page - 1).rstrip("\n")
    return f"--- page {page} ---\n{body}" if body else f"--- page {page} ---"


def _page_entry(document: pdfium.PdfDocument, index: int) -> dict[str, Json]:
    chars = len(_page_text(document, index))
    images = _image_share(document, index)
    return {
        "page": index + 1,
        "chars": chars,
        "has_images": images is not None,
        "scanned": chars < _SCAN_MAX_CHARS and (images or 0.0) >= 0.5,
    }


def _image_share(document: pdfium.PdfDocument, index: int) -> float | None:
    """Return which share of the page its largest picture covers, None without pictures."""
    with closing(document[index]) as page:
        width, height = page.get_size()
        area = max(width * height, 1.0)
        best: float | None = None
        found = page.get_objects(filter=(pdfium_c.FPDF_PAGEOBJ_IMAGE,), max_depth=3)
        for count, item in enumerate(found):
            if count >= _OBJECT_LIMIT:
                break
            left, bottom, right, top = item.get_bounds()
            covered = max(0.0, min(right, width) - max(left, 0.0)) * max(
                0.0, min(top, height) - max(bottom, 0.0)
            )
            best = max(best or 0.0, covered / area)
        return best


def _annotations(document: pdfium.PdfDocument, index: int) -> bool:
    with closing(document[index]) as page:
        return bool(pdfium_c.FPDFPage_GetAnnotCount(page) > 0)


def _toc(document: pdfium.PdfDocument) -> list[Json]:
    entries: list[Json] = []
    for item in document.get_toc(max_depth=10):
        if len(entries) >= _LISTED_TOC:
            break
        target = item.get_dest()
        index = target.get_index() if target is not None else None
        entries.append(
            {
                "title": _words(pdfium_c.FPDFBookmark_GetTitle, item),
                "page": None if index is None else index + 1,
                "level": item.level + 1,
            }
        )
    return entries


def _fields(document: pdfium.PdfDocument) -> list[Json]:
    """Return names and values of form fields, at most 100."""
    if document.get_formtype() == pdfium_c.FORMTYPE_NONE:
        return []
    document.init_forms()
    form = document.formenv
    fields: dict[str, str] = {}
    for index in range(len(document)):
        page = document[index]
        for number in range(pdfium_c.FPDFPage_GetAnnotCount(page)):
            annotation = pdfium_c.FPDFPage_GetAnnot(page, number)
            name = _words(pdfium_c.FPDFAnnot_GetFormFieldName, form, annotation)
            if name:
                value = _words(pdfium_c.FPDFAnnot_GetFormFieldValue, form, annotation)
                fields.setdefault(name, value)
            pdfium_c.FPDFPage_CloseAnnot(annotation)
        page.close()
        if len(fields) >= _LISTED_FIELDS:
            break
    return [{"name": n, "value": v} for n, v in list(fields.items())[:_LISTED_FIELDS]]


def _words(function: object, *about: object) -> str:
    """Return a text the library gives in UTF-16, with a mark where half a character stands."""
    assert callable(function)
    size = function(*about, None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*about, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")


def _chosen(
    document: pdfium.PdfDocument, selector: Selector, total: int, warnings: Warnings
) -> tuple[list[int], bool]:
    """Return the pages to read, counted from 1, and whether the reader goes by chunks."""
    if selector.pages is not None:
        return _parse_pages(selector.pages, total, warnings), False
    if selector.chunk_index is not None:
        check_chunk(selector.chunk_index, chunk_count(total, CHUNK))
        start = selector.chunk_index * CHUNK + 1
        return list(range(start, min(start + CHUNK, total + 1))), True
    size = 0
    for index in range(total):
        size += len(_page_block(document, index + 1).encode()) + 1
        if size > numbers.READ_WHOLE_MAX_BYTES:
            return list(range(1, min(CHUNK, total) + 1)), True
    return list(range(1, total + 1)), True


def _parse_pages(text: str, total: int, warnings: Warnings) -> list[int]:
    """Return the pages a selector names; a span that goes on after the last page ends there."""
    pages: list[int] = []
    for part in text.split(","):
        match = _PAGES.fullmatch(part)
        first = int(match.group(1)) if match else 0
        last = int(match.group(2) or first) if match else 0
        if not 1 <= first <= last or first > total:
            raise fail("bad_range", f"{text!r} names no pages", hints=(f"1-{total}",))
        if last > total:
            warnings.add("span_clipped", where=f"the last page is {total}")
            last = total
        wanted = range(first, min(last, first + numbers.PDF_READ_MAX_PAGES) + 1)
        pages.extend(page for page in wanted if page not in pages)
        if len(pages) > numbers.PDF_READ_MAX_PAGES:
            most = numbers.PDF_READ_MAX_PAGES
            near = _listed(sorted(pages[:most]))
            raise fail("bad_range", f"at most {most} pages in one read", hints=(near,))
    return sorted(pages)


def _listed(pages: list[int]) -> str:
    """Return pages the way a selector writes them: `1,4-6`."""
    runs: list[list[int]] = []
    for page in pages:
        if runs and runs[-1][-1] == page - 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    return ",".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)


def _span(index: int, total: int) -> str:
    return _listed(list(range(index * CHUNK + 1, min((index + 1) * CHUNK, total) + 1)))
