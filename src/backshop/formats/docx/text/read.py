"""Reads a document by section, chunk or paragraphs (F9.6, F9.7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from backshop.base import limits as numbers
from backshop.formats import window
from backshop.formats.errors import fail
from backshop.formats.protocol import ChunkInfo, Read, Selector, Source
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import section_hints

from .chunk import Chunk, Slice, chunks_of
from .comment import comments
from .document import Block, Body, Section
from .line import Renderer
from .map import beside
from .revision import revisions
from .source import Document
from .stylesheet import whole

_SPAN = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?")
ASIDES = ("@headers", "@comments", "@changes", "@footnotes")


@dataclass(frozen=True)
class Region:
    """What a read moves in: the document, a section, or what stands beside the text."""

    name: str | None  # the selector's `section`
    blocks: Sequence[Block]
    renderer: Renderer

    @property
    def start(self) -> int:
        """The body index of the first block: selectors count as operations do (F9.9)."""
        return self.blocks[0].index if self.blocks else 0

    def span(self, first: int, last: int) -> str:
        """Return the body indexes of the blocks from one place to another."""
        return f"{self.start + first}-{self.start + last}"

    def units(self, piece: Slice) -> list[str]:
        """Return a slice as pieces that are not cut."""
        return self.renderer.units(self.blocks[piece.place], piece.rows)


def read(source: Source, selector: Selector) -> Read:
    """Return the selected part of a document."""
    window.check_selector(selector, "docx", ("section", "paragraphs"))
    window.refuse_both(selector, "paragraphs")
    document = Document.open(source)
    warnings = Warnings()
    body = document.body()
    changes = revisions(document, body)
    if changes:
        warnings.add("tracked_changes_present", len(changes))
    region = _region(document, body, selector.section, warnings)
    chunks = chunks_of(region.blocks)
    if selector.paragraphs is not None:
        first, last = _span(selector.paragraphs, region, warnings)
        slices = [Slice(place) for place in range(first, last + 1)]
    elif selector.chunk_index is not None:
        window.check_chunk(selector.chunk_index, len(chunks))
        slices = list(chunks[selector.chunk_index].slices) if chunks else []
    else:
        slices = _whole_or_first(region, chunks)
    found = _read(region, chunks, slices, selector.char_offset or 0, warnings)
    shown = {region.blocks[piece.place].index for piece in slices}
    is_aside = region.name is not None and region.name.startswith("@")
    remarks = [] if is_aside else comments(document, body)
    extra = beside(
        [] if is_aside else [one for one in changes if one.place in shown],
        [one for one in remarks if one.block and one.block.index in shown],
    )
    return replace(found, extra=extra)


def extract_lines(source: Source) -> list[str]:
    """Return stable lines for review: the body, then headers, footers and notes (F29.1)."""
    document = Document.open(source)
    body = document.body()
    renderer = Renderer(document, body)
    lines = [line for b in body.blocks for unit in renderer.units(b) for line in unit.split("\n")]
    for margin in document.margins():
        lines.extend(f"[{margin.kind}] {line}" for line in renderer.lines_inside(margin.root))
    for note in document.notes():
        lines.extend(f"[{note.kind}] {line}" for line in renderer.lines_inside(note.element))
    return lines


# --- what is read -------------------------------------------------------------------------------


def find_section(body: Body, wanted: str, warnings: Warnings, where: str | None = None) -> Section:
    """Return the section by heading, else by index (F9.6); `where` is its place in a request.

    Raises:
        FormatError: `unknown_section`, the hints list the headings.
    """
    name = " ".join(wanted.split()).casefold()
    named = [s for s in body.sections if s.heading.casefold() == name]
    if len(named) > 1:
        warnings.add("ambiguous_match", len(named), where=f"section {wanted!r}")
    if named:
        return named[0]
    index = whole(wanted)
    if index is not None:
        for section in body.sections:
            if section.index == index:
                return section
    raise fail(
        "unknown_section",
        f"there is no section {wanted!r}",
        detail=where,
        hints=section_hints(
            wanted, [(section.index, section.heading) for section in body.sections]
        ),
    )


def _region(document: Document, body: Body, section: str | None, warnings: Warnings) -> Region:
    renderer = Renderer(document, body)
    if section is None:
        return Region(None, body.blocks, renderer)
    if section.startswith("@"):
        blocks = aside(document, body, section, renderer)
        return Region(section, blocks, _AsideRenderer(document, body))
    found = find_section(body, section, warnings)
    number = str(found.index)
    shadowed = any(s.heading == number and s is not found for s in body.sections)
    return Region(found.heading if shadowed else number, found.blocks, renderer)


class _AsideRenderer(Renderer):
    """Shows blocks whose text is rendered already."""

    def units(self, block: Block, rows: tuple[int, int] | None = None) -> list[str]:
        return [block.text]


def aside(document: Document, body: Body, name: str, renderer: Renderer) -> list[Block]:
    """Return headers, comments or notes as blocks of finished text."""
    texts: list[str] = []
    if name == "@headers":
        for margin in document.margins():
            label = f"[{margin.kind} {margin.type}]"
            texts.append("\n".join([label, *renderer.lines_inside(margin.root)]))
    elif name == "@comments":
        for comment in comments(document, body):
            place = f" at paragraph {comment.block.index}" if comment.block is not None else ""
            label = f"[comment {comment.id or '?'} by {comment.author}{place}]"
            texts.append("\n".join([label, *renderer.lines_inside(comment.element)]))
    elif name == "@changes":
        for number, one in enumerate(revisions(document, body)):
            texts.append("\n".join(one.lines(number)))
    elif name == "@footnotes":
        for note in document.notes():
            label = f"[{note.kind} {note.id}]"
            texts.append("\n".join([label, *renderer.lines_inside(note.element)]))
    else:
        raise fail("unknown_section", f"there is no section {name!r}", hints=ASIDES)
    return [Block(document.body_element, index, text) for index, text in enumerate(texts)]


def _span(paragraphs: str, region: Region, warnings: Warnings) -> tuple[int, int]:
    """Return the places in a region that a span of body indexes means."""
    match = _SPAN.fullmatch(paragraphs)
    first = int(match[1]) if match else -1
    last = int(match[2] or match[1]) if match else -1
    start, end = region.start, region.start + len(region.blocks) - 1
    if not start <= first <= last or first > end:
        raise fail(
            "bad_range",
            f"{paragraphs!r} is not a span of paragraphs here",
            hints=(f"{start}-{end}",) if region.blocks else ("the section is empty",),
        )
    if last > end:
        warnings.add("span_clipped", where=f"the last paragraph here is {end}")
    return first - start, min(last, end) - start


def _whole_or_first(region: Region, chunks: Sequence[Chunk]) -> list[Slice]:
    """Choose everything when it is small, else the first chunk (F5.5)."""
    everything = [Slice(place) for place in range(len(region.blocks))]
    size = 0
    for piece in everything:
        size += sum(len(unit.encode()) + 1 for unit in region.units(piece))
        if size > numbers.READ_WHOLE_MAX_BYTES:
            return list(chunks[0].slices)
    return everything


# --- how far it goes ----------------------------------------------------------------------------


def _read(
    region: Region, chunks: Sequence[Chunk], slices: list[Slice], offset: int, warnings: Warnings
) -> Read:
    placed = [(piece, unit) for piece in slices for unit in region.units(piece)]
    if offset and slices:
        placed = _after(region, slices, offset)
    cut = window.cut([unit for _, unit in placed])
    following = _following(region, chunks, slices)
    if not cut.complete:
        warnings.add("truncated_to_fit")
        following = _continued(region, slices, placed, cut, offset)
    span = {}
    index = 0
    if slices:
        first, last = slices[0].place, slices[-1].place
        span = {"paragraphs": region.span(first, last)}
        index = next((i for i, c in enumerate(chunks) if slices[0] in c.slices), 0)
        if slices[0].rows is None:
            index = next(i for i, c in enumerate(chunks) if c.slices[-1].place >= first)
    return Read(
        format="docx",
        text=cut.text,
        selector=replace(_selected(region, slices, index), char_offset=offset or None),
        chunk_info=ChunkInfo(
            chunk_index=index, total_chunks=max(len(chunks), 1), next=following, span=span
        ),
        warnings=warnings.all(),
    )


def _selected(region: Region, slices: list[Slice], index: int) -> Selector:
    """Return the selector that reads these slices again."""
    if any(piece.rows for piece in slices):
        return Selector(section=region.name, chunk_index=index)
    if len(slices) == len(region.blocks):
        return Selector(section=region.name)
    return Selector(section=region.name, paragraphs=region.span(slices[0].place, slices[-1].place))


def _after(region: Region, slices: list[Slice], offset: int) -> list[tuple[Slice, str]]:
    """Return the units after `offset` characters of the first block's text."""
    head = "\n".join(region.units(slices[0]))[offset:]
    rest = [(piece, unit) for piece in slices[1:] for unit in region.units(piece)]
    return [*((slices[0], line) for line in head.split("\n") if head), *rest]


def _continued(
    region: Region,
    slices: list[Slice],
    placed: list[tuple[Slice, str]],
    cut: window.Cut,
    offset: int,
) -> Selector:
    """Return the selector that goes on exactly after the cut (F5.4)."""
    piece = placed[cut.units][0]
    started = sum(len(unit) + 1 for owner, unit in placed[: cut.units] if owner is piece)
    inside = started + (cut.char_offset or 0)
    if piece is slices[0]:
        inside += offset
    if piece.rows and piece.rows[0]:
        inside += len("\n".join(region.units(Slice(piece.place, (0, piece.rows[0]))))) + 1
    return Selector(
        section=region.name,
        paragraphs=region.span(piece.place, slices[-1].place),
        char_offset=inside or None,
    )


def _following(region: Region, chunks: Sequence[Chunk], slices: list[Slice]) -> Selector | None:
    """Return the selector of what comes after the slices, None at the region's end."""
    if not slices:
        return None
    last = slices[-1]
    for index, chunk in enumerate(chunks):
        if last in chunk.slices:
            at = chunk.slices.index(last)
            if at == len(chunk.slices) - 1:
                return _chunk(region, index + 1) if index + 1 < len(chunks) else None
            break
    for index, chunk in enumerate(chunks):
        for at, piece in enumerate(chunk.slices):
            if piece.place > last.place:
                if at == 0:
                    return _chunk(region, index)
                return Selector(
                    section=region.name,
                    paragraphs=region.span(piece.place, chunk.slices[-1].place),
                )
    return None


def _chunk(region: Region, index: int) -> Selector:
    return Selector(section=region.name, chunk_index=index)
