"""Pictures of pages: PDF by pdfium in a worker, office files through LibreOffice where it is
installed, and what formats draw by themselves (F29.7, F29.8, F43.6).

LibreOffice is asked once per file, however many ask for its pages at the same time. Its PDF and
every picture are kept under the content's hash; the folder may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from backshop.base import limits as numbers

from ..dispatch import HERE, Dispatcher
from ..errors import FormatError, fail
from ..kind import OTHER_WORKBOOKS
from ..protocol import JsonObject, Kind, Source, as_object
from . import libreoffice
from .shelf import Shelf

MIN_SCALE, MAX_SCALE, STEP = 0.25, 2.0, 0.25
_THROUGH_OFFICE = frozenset({Kind.DOCX, Kind.ODT, Kind.PPTX, Kind.XLSX})
DRAWN = "drawn-5"  # counts on when drawings look different
_LANDMARKS = f"{HERE}docx.flow.landmark"
_ASKED = "landmarks-1"  # counts on when LibreOffice is asked for other pages
_FAILURE_S = 120.0  # what could not be drawn is not tried again for so long
_FAILURES = 256  # that are remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A picture of a page, or why there is none.

    `reason`: `renderer_missing`, `no_pages`, `render_failed` or `timeout`.
    """

    available: bool
    reason: str | None = None
    image: bytes | None = None
    mime_type: str | None = None
    page_count: int | None = None
    scaled_down: bool = False
    piece_count: int = 1
    """How many pieces the page is cut into, which only that of a sheet is."""
    is_cut_short: bool = False
    """The renderer left the end of the page empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """A picture of a part of a file for who takes pictures, and what is told of it (F43.70)."""

    image: bytes
    facts: JsonObject


class Renderer:
    """Draws pages; `program` is `formats.renderer_path`, else a LibreOffice is looked for."""

    def __init__(self, do: Dispatcher, cache: Path | None, program: str | None = None) -> None:
        self._do = do
        self._program = program
        folder = None if cache is None else cache / "previews"
        self._shelf = Shelf(folder, do.limits.preview_cache_bytes)
        self._queue = _Queue(numbers.RENDERERS_MAX)
        self._failed: dict[str, tuple[float, Preview]] = {}  # by content: until when, and why

    def has_office(self) -> bool:
        """Whether there is a LibreOffice."""
        return libreoffice.find_program(self._program) is not None

    def page(
        self, source: Source, page_index: int, scale: float = 1.0, piece_index: int = 0
    ) -> Preview:
        """Return one page, or a piece of a sheet's, as PNG; what cannot be drawn says why.

        Raises:
            FormatError: `bad_index`, `bad_value`; and those of a file that cannot be opened at all.
        """
        if not math.isfinite(scale):
            raise fail("bad_value", "a scale is a number")
        module, kind = self._do.readable(source)
        bucket = min(max(round(scale / STEP) * STEP, MIN_SCALE), MAX_SCALE)
        is_sheet = kind is Kind.XLSX
        if piece_index and not is_sheet:
            raise fail("bad_index", "a page of this kind is one piece", hints=("0",))
        if kind in _THROUGH_OFFICE and source.extension not in OTHER_WORKBOOKS:
            program = libreoffice.find_program(self._program)
            if program is None:
                return Preview(available=False, reason="renderer_missing")
            name = _name(source, _identity(program))
            piece = piece_index if is_sheet else None
            return self._kept(name, page_index, bucket, piece) or self._office(
                source, program, name, page_index, bucket, piece
            )
        if kind is Kind.PDF or (kind is Kind.IMAGE and source.extension != ".svg"):
            name = _name(source, "pdfium")
            return self._kept(name, page_index, bucket) or self._draw(
                source, module, name, page_index, bucket
            )
        return Preview(available=False, reason="no_pages")

    def drawing(self, source: Source, function: str, *args: object) -> JsonObject:
        """Return what the format of a file draws by itself, kept by content (F43.6)."""
        name = _drawing_name(source, function, args)
        kept = self._shelf.get(name)
        if kept is not None:
            with contextlib.suppress(ValueError):
                return as_object(json.loads(kept))
        module, _ = self._do.readable(source)
        limit = self._do.limits.render_timeout_s
        made = as_object(self._do.read_call(module, function, source, *args, timeout_s=limit))
        data = json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()
        self._shelf.put(name, data)
        return as_object(json.loads(data))

    def drawing_picture(self, source: Source, function: str, *args: object) -> Preview:
        """Return as PNG what the format of a file draws by itself, kept by content (F43.6)."""
        name = _drawing_name(source, function, args)
        if (kept := self._kept(name, 0, 1.0)) is not None:
            return kept
        module, _ = self._do.readable(source)
        return self._drawn(_picture(name, 0, 1.0), module, function, source, *args)

    def view(self, source: Source, function: str, *args: object) -> PageView:
        """Return what the format of a file shows of it, kept by content (F43.70)."""
        return self._viewed(source, _drawing_name(source, function, args), function, *args)

    def office_view(self, source: Source, page: int) -> PageView | None:
        """Return LibreOffice's page of a document; None where there is none, or it draws none.

        Raises:
            FormatError: `bad_range`, and those of a file that cannot be opened at all.
        """
        program = libreoffice.find_program(self._program)
        if program is None:
            return None
        name = _name(source, _identity(program))
        kept = f"{name}-{page}-view"
        if (found := self._kept_view(kept)) is not None:
            return found
        with self._pages(source, program, name) as pages:
            return (
                None if isinstance(pages, Preview) else self._viewed(pages, kept, "view_page", page)
            )

    def office_layout(self, source: Source, page_index: int) -> JsonObject | None:
        """Return where text stands on LibreOffice's page (F29.12); None where there is none.

        Raises:
            FormatError: `bad_index`, and those of a file that cannot be opened at all.
        """
        program = libreoffice.find_program(self._program)
        if program is None:
            return None
        name = _name(source, _identity(program))
        kept = f"{name}-{page_index}-layout"
        if (data := self._shelf.get(kept)) is not None:
            with contextlib.suppress(ValueError):
                return as_object(json.loads(data))
        with self._pages(source, program, name) as pages:
            if isinstance(pages, Preview):
                return None
            limit = self._do.limits.render_timeout_s
            about = (f"{HERE}pdf.page_layout", "page_layout", pages, page_index)
            made = as_object(self._do.read_call(*about, timeout_s=limit))
        self._shelf.put(kept, json.dumps(made, separators=(",", ":")).encode())
        return made

    def office_landmarks(self, source: Source) -> JsonObject | None:
        """Return where blocks stand on LibreOffice's pages (F29.13); None where there are none.

        Raises:
            FormatError: those of a file that cannot be opened at all.
        """
        program = libreoffice.find_program(self._program)
        if program is None:
            return None
        name = _name(source, _identity(program))
        kept = f"{name}-landmarks"
        if (data := self._shelf.get(kept)) is not None:
            with contextlib.suppress(ValueError):
                return as_object(json.loads(data))
        with self._pages(source, program, name) as pages:
            if isinstance(pages, Preview):
                return None
            layout = as_object(self._do.map_call(_LANDMARKS, "layout", source))
            about = (pages, layout["block_count"])
            made = as_object(self._do.map_call(f"{HERE}pdf.landmark", "landmarks", *about))
        told = json.dumps({**made, **layout}, separators=(",", ":"))
        self._shelf.put(kept, told.encode())
        return as_object(json.loads(told))

    def _viewed(self, source: Source, kept: str, function: str, *args: object) -> PageView:
        if (found := self._kept_view(kept)) is not None:
            return found
        module, _ = self._do.readable(source)
        limit = self._do.limits.render_timeout_s
        drawn = self._do.read_call(module, function, source, *args, timeout_s=limit)
        assert isinstance(drawn, tuple)
        image, facts = drawn
        head = json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode()
        self._shelf.put(kept, head + b"\n" + image)
        return PageView(image=image, facts=as_object(json.loads(head)))

    def _kept_view(self, name: str) -> PageView | None:
        head, _, image = (self._shelf.get(name) or b"").partition(b"\n")
        with contextlib.suppress(ValueError):
            return PageView(image=image, facts=as_object(json.loads(head)))
        return None

    def part(self, source: Source, part: str) -> Preview:
        """Return a picture inside an office file as PNG; what cannot be drawn says why."""
        key = hashlib.sha256(part.encode(errors="surrogatepass")).hexdigest()[:24]
        name = _name(source, f"pillow-{key}")
        if (kept := self._kept(name, 0, 1.0)) is not None:
            return kept
        self._do.readable(source)
        try:
            return self._drawn(
                _picture(name, 0, 1.0), HERE + "picture.image", "render_part", source, part
            )
        except FormatError as error:
            return Preview(available=False, reason=error.reason)

    def _office(
        self,
        source: Source,
        program: str,
        name: str,
        page_index: int,
        scale: float,
        piece: int | None,
    ) -> Preview:
        """Draw a page of an office file from its PDF; of a workbook one piece of a sheet."""
        with self._pages(source, program, name) as pages:
            if isinstance(pages, Preview):
                return pages
            try:
                if piece is None:
                    return self._draw(pages, f"{HERE}pdf.document", name, page_index, scale)
                kept = _picture(name, page_index, scale, piece)
                shown = self._do.read_call(f"{HERE}xlsx", "shown_sheets", source)
                about = (pages, page_index, scale, piece, shown)
                return self._drawn(kept, f"{HERE}pdf.sheet_page", "render_piece", *about)
            except FormatError as error:
                if error.reason == "bad_index":
                    raise
                return self._note_failure(name, error)

    @contextmanager
    def _pages(self, source: Source, program: str, name: str) -> Iterator[Source | Preview]:
        """Give the PDF of an office file, made first where it is missing; or why there is none."""
        with tempfile.TemporaryDirectory(prefix="backshop-render-") as folder:
            pdf = Path(folder) / "pages.pdf"
            failed = None
            if not self._shelf.take(f"{name}.pdf", pdf):
                with self._queue.turn(name):
                    if not self._shelf.take(f"{name}.pdf", pdf):
                        failed = self._failure(name) or self._convert(source, program, name, pdf)
            yield failed or replace(source, path=pdf, name=f"{source.name}.pdf")

    def _convert(self, source: Source, program: str, name: str, pdf: Path) -> Preview | None:
        """Have LibreOffice write `pdf`; return why it could not."""
        self._do.read_call(libreoffice.__name__, "check", source)
        given = self._with_landmarks(source, pdf.parent)
        try:
            made = libreoffice.to_pdf(program, given, pdf.parent, self._do.limits.render_timeout_s)
        except FormatError as error:
            return self._note_failure(name, error)
        made.replace(pdf)
        self._shelf.keep(f"{name}.pdf", pdf)
        return None

    def _with_landmarks(self, source: Source, folder: Path) -> Source:
        """Return a copy of a Word document in which its blocks are marked (F29.13); of what we
        cannot write, and of other files, the file itself.
        """
        if self._do.classify(source).kind is not Kind.DOCX:
            return source
        out = folder / "marked"
        try:
            self._do.write_call(_LANDMARKS, "put_landmarks", out, source, out)
        except FormatError:
            return source
        return replace(source, path=out)

    def _draw(
        self, pages: Source, module: str, name: str, page_index: int, scale: float
    ) -> Preview:
        kept = _picture(name, page_index, scale)
        return self._drawn(kept, module, "render_page", pages, page_index, scale)

    def _drawn(self, kept: str, module: str, function: str, *args: object) -> Preview:
        """Have a worker draw a picture, and keep it under a name."""
        limit = self._do.limits.render_timeout_s
        drawn = self._do.read_call(module, function, *args, timeout_s=limit)
        assert isinstance(drawn, tuple)
        image, *facts = drawn
        self._shelf.put(kept, b" ".join(b"%d" % one for one in facts) + b"\n" + image)
        return _preview(image, *facts)

    def _kept(
        self, name: str, page_index: int, scale: float, piece: int | None = None
    ) -> Preview | None:
        data = self._shelf.get(_picture(name, page_index, scale, piece))
        head, _, image = (data or b"").partition(b"\n")
        facts = head.split(b" ")
        if not all(one.isdigit() for one in facts):
            return None
        return _preview(image, *map(int, facts))

    def _failure(self, name: str) -> Preview | None:
        until, preview = self._failed.get(name, (0.0, None))
        return preview if time.monotonic() < until else None

    def _note_failure(self, name: str, error: FormatError) -> Preview:
        reason = "timeout" if error.reason == "timeout" else "render_failed"
        preview = Preview(available=False, reason=reason)
        self._failed[name] = (time.monotonic() + _FAILURE_S, preview)
        while len(self._failed) > _FAILURES:
            self._failed.pop(next(iter(self._failed)), None)
        return preview


def _preview(image: bytes, count: int, smaller: int, pieces: int = 1, short: int = 0) -> Preview:
    return Preview(
        available=True,
        image=image,
        mime_type="image/png",
        page_count=count,
        scaled_down=bool(smaller),
        piece_count=pieces,
        is_cut_short=bool(short),
    )


def _name(source: Source, drawn_by: str) -> str:
    return f"{source.sha256}-{source.extension.lstrip('.')}-{drawn_by}"


def _drawing_name(source: Source, function: str, args: tuple[object, ...]) -> str:
    key = hashlib.sha256(repr((function, args)).encode(errors="surrogatepass")).hexdigest()[:24]
    return _name(source, f"{DRAWN}-{key}")


def _picture(name: str, page_index: int, scale: float, piece: int | None = None) -> str:
    part = "" if piece is None else f"-part{piece}"
    return f"{name}-{page_index}-{scale:.2f}{part}"


def _identity(program: str) -> str:
    """Return what tells one LibreOffice from another; it is part of a picture's name."""
    with contextlib.suppress(OSError):
        status = Path(program).resolve().stat()
        program = f"{program} {status.st_size} {status.st_mtime_ns} {_ASKED}"
    return hashlib.sha256(program.encode()).hexdigest()[:12]


class _Queue:
    """Lets few in at a time, and only one of each name."""

    def __init__(self, places: int) -> None:
        self._places = threading.Semaphore(places)
        self._guard = threading.Lock()
        self._names: dict[str, tuple[threading.Lock, list[None]]] = {}

    @contextmanager
    def turn(self, name: str) -> Iterator[None]:
        with self._guard:
            lock, waiting = self._names.setdefault(name, (threading.Lock(), []))
            waiting.append(None)
        try:
            with lock, self._places:
                yield
        finally:
            with self._guard:
                waiting.pop()
                if not waiting:
                    del self._names[name]
