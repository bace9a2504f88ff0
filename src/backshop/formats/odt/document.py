"""OpenDocument text, read only: sections, chunks and lines as for Word documents (F12)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from backshop.base import limits as numbers

from ..diff import part_diff
from ..errors import fail
from ..package.package import Package
from ..protocol import ChunkInfo, Json, JsonObject, Map, Passage, Read, Selector, Source
from ..warning import Warnings
from ..window import check_chunk, check_selector, chunk_list, chunking, cut, refuse_both
from ..write.operation import section_hints
from ..write.tracked import Tracked, listed
from .body import Block, Document, load
from .flow import draw_document as draw_document
from .flow import view_page as view_page
from .relocation import relocate as relocate
from .relocation import require_place as require_place

CHUNK = numbers.DOCX_CHUNK_CHARS
UNTITLED = "(untitled)"
ASIDES = ("@headers", "@comments", "@changes", "@footnotes")
_SPAN = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what follows it; `start` is the place of its first block."""

    index: int
    heading: str
    level: int
    start: int
    blocks: tuple[Block, ...]

    @property
    def char_count(self) -> int:
        """The number of characters shown."""
        return sum(block.char_count for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a region: which block it belongs to, and where in the block's text it begins."""

    place: int
    offset: int
    text: str


def get_info(source: Source) -> JsonObject:
    """Return how many sections and tables there are."""
    document = load(source)
    return {"sections": len(_sections(document)), "tables": len(document.tables)}


def get_map(source: Source) -> Map:
    """Return sections with their chunks, tables and pictures (F12.1)."""
    document = load(source)
    sections = _sections(document)
    owner = {
        section.start + place: section
        for section in sections
        for place in range(len(section.blocks))
    }
    with_images = {_index(owner.get(image.place)) for image in document.images}
    data: dict[str, Json] = {
        "paragraph_count": len(document.blocks),
        "total_char_count": sum(block.char_count for block in document.blocks),
        "sections": [_section_entry(s, has_images=s.index in with_images) for s in sections],
        "tables": [
            {
                "index": number,
                "section_index": _index(owner.get(place)),
                "section": owner[place].heading if place in owner else None,
                "rows": len(block.rows),
                "cols": max(map(len, block.rows), default=0),
                "headers": list(block.rows[0]) if block.rows else [],
            }
            for number, (place, block) in enumerate(document.tables)
        ],
        "images": [
            {
                "index": number,
                "section_index": _index(owner.get(image.place)),
                "alt_text": image.alt_text,
                "name": image.name,
            }
            for number, image in enumerate(document.images)
        ],
    }
    security = {"macros": True} if document.has_macros else {}
    warnings = Warnings()
    if document.changes:
        warnings.add("tracked_changes_present", len(document.changes))
    data |= listed(list(document.changes))
    return Map(format="odt", data=data, warnings=warnings.all(), security=security)


def diff_rest(before: Source, after: Source) -> JsonObject:
    """Return what changed and the document's own difference does not tell (B12.22)."""
    rules = part_diff.Rules(
        place=lambda part, _: part_diff.Place(part_diff.part_words(part)), told=_told
    )
    return part_diff.Comparison(Package.open(before), Package.open(after), rules).run()


def _told(pair: part_diff.Pair) -> part_diff.Found | None:
    match pair.new_name:
        case "content.xml":
            around = part_diff.groups(pair, frozenset({"text"}))
            return [
                *around,
                *part_diff.of_paragraphs(pair, lambda p: "".join(map(str, p.itertext()))),
            ]
        case "META-INF/manifest.xml":  # a list of the other parts
            return []
    return None


def read(source: Source, selector: Selector) -> Read:
    """Return a section, a chunk of it, or some of its paragraphs."""
    check_selector(selector, "odt", ("section", "paragraphs"))
    refuse_both(selector, "paragraphs")
    document = load(source)
    warnings = Warnings()
    if document.changes:
        warnings.add("tracked_changes_present", len(document.changes))
    name, blocks, start = _region(document, selector.section, warnings)
    chunks = _chunks(blocks)
    chosen, index = _chosen(blocks, chunks, selector, warnings, start)
    piece = cut([line.text for line in chosen])
    following: Selector | None = None
    if not piece.complete:
        warnings.add("truncated_to_fit")
        at = chosen[piece.units]
        following = Selector(
            section=name,
            paragraphs=f"{start + at.place}-{start + chosen[-1].place}",
            char_offset=(at.offset + (piece.char_offset or 0)) or None,
        )
    elif chosen:
        following = _after(name, blocks, chunks, chosen[-1], start)
    first = f"{start + chosen[0].place}-{start + chosen[-1].place}" if chosen else ""
    span = {"paragraphs": first} if chosen else {}
    return Read(
        format="odt",
        text=piece.text,
        selector=selector,
        chunk_info=ChunkInfo(
            chunk_index=index, total_chunks=max(len(chunks), 1), next=following, span=span
        ),
        warnings=warnings.all(),
        extra=listed(_changes_in(document, blocks, chosen)),
    )


def _changes_in(
    document: Document, blocks: Sequence[Block], chosen: Sequence[Line]
) -> list[Tracked]:
    """Return the tracked changes of the blocks that were read."""
    places = {id(block): place for place, block in enumerate(document.blocks)}
    shown = {places.get(id(blocks[line.place])) for line in chosen} - {None}
    return [one for one in document.changes if one.place in shown]


def extract_lines(source: Source) -> list[str]:
    """Return the lines of the body, then those of headers, footers and notes (F29.1)."""
    document = load(source)
    lines = [text for line in _lines(document.blocks) for text in line.text.split("\n")]
    lines += [f"[{kind}] {line}" for kind, line in document.margins]
    for kind, text in document.notes:
        lines += [f"[{kind}] {line}" for line in text.split("\n")]
    return lines


def passages(source: Source) -> Iterator[Passage]:
    """Yield paragraphs and table cells, then what stands beside the text (F33.1)."""
    document = load(source)
    for place, block in enumerate(document.blocks):
        where = {"paragraphs": str(place)}
        for row, cells in enumerate(block.rows):
            for column, text in enumerate(cells):
                at = {"table": block.number, "row": row, "column": column}
                yield Passage({**where, **at}, text)
        if not block.rows:
            yield Passage(where, "\n".join((block.text, *block.below)))
    for name in ("@headers", "@comments", "@footnotes"):
        for place, block in enumerate(_aside(document, name)):
            yield Passage({"section": name, "paragraphs": str(place)}, block.text)


def extract_document(source: Source) -> dict[str, Json]:
    """Return every section as for Word documents; the looks of runs are not read (F29.2)."""
    document = load(source)
    tracked: dict[int | None, list[Json]] = {}
    for one in document.changes:
        tracked.setdefault(one.place, []).append({**one.to_json(), "words": one.words})
    return {"sections": [_extracted(section, tracked) for section in _sections(document)]}


def _extracted(section: Section, tracked: dict[int | None, list[Json]]) -> dict[str, Json]:
    paragraphs: list[Json] = []
    tables: list[Json] = []
    order: list[Json] = []
    for place, block in enumerate(section.blocks, section.start):
        own: dict[str, Json] = {"at": place}
        if place in tracked:
            own["tracked"] = tracked[place]
        if block.rows:
            order.append({"t": len(tables)})
            tables.append({"index": len(tables), "rows": block.rows, **own})
            continue
        order.append({"p": len(paragraphs)})
        style = f"Heading {block.level}" if block.level else "List" if block.prefix else None
        paragraphs.append(
            {
                "index": len(paragraphs),
                "text": block.prefix + block.text,
                "style": style,
                "alignment": None,
                "runs": (),
                "drawn": block.below,
                **own,
            }
        )
    return {
        "heading": section.heading,
        "level": section.level,
        "paragraphs": paragraphs,
        "tables": tables,
        "order": order,
    }


# --- sections and chunks -----------------------------------------------------------------------


def _sections(document: Document) -> list[Section]:
    """Return sections; what stands before the first heading is section 0 when it says anything.

    A text without headings is one section, be it blank.
    """
    starts = [place for place, block in enumerate(document.blocks) if block.level]
    sections = []
    lead = document.blocks[: starts[0]] if starts else document.blocks
    if any(block.char_count for block in lead) or (lead and not starts):
        sections.append(Section(0, UNTITLED, 0, 0, lead))
    for number, (start, end) in enumerate(pairwise([*starts, len(document.blocks)]), 1):
        block = document.blocks[start]
        heading = " ".join(block.text.split())
        blocks = document.blocks[start:end]
        sections.append(Section(number, heading, block.level or 1, start, blocks))
    return sections


def _section_entry(section: Section, *, has_images: bool) -> dict[str, Json]:
    chunks = _chunks(section.blocks)
    entry: dict[str, Json] = {
        "index": section.index,
        "heading": section.heading,
        "level": section.level,
        "body_start": section.start,
        "char_count": section.char_count,
        "paragraph_count": len(section.blocks),
        "has_tables": any(block.rows for block in section.blocks),
        "has_images": has_images,
        "chunking": chunking("chars", CHUNK, len(chunks), 0),
    }
    if len(chunks) > 1:
        entry["chunks"] = chunk_list(
            [
                {
                    "paragraphs": (
                        f"{section.start + chunk[0].place}-{section.start + chunk[-1].place}"
                    ),
                    "char_count": sum(len(line.text) for line in chunk),
                }
                for chunk in chunks
            ]
        )
    return entry


def _lines(blocks: Sequence[Block]) -> list[Line]:
    lines = []
    for place, block in enumerate(blocks):
        offset = 0
        for text in block.lines():
            lines.append(Line(place, offset, text))
            offset += len(text) + 1
    return lines


def _chunks(blocks: Sequence[Block]) -> list[list[Line]]:
    """Group lines so that no chunk exceeds 4,000 characters, unless one block alone does.

    A paragraph stays whole; a table may be parted between its rows (F9.4).
    """
    chunks: list[list[Line]] = []
    size = 0
    for place, group in groupby(_lines(blocks), key=lambda line: line.place):
        lines = list(group)
        units = [[line] for line in lines] if blocks[place].rows else [lines]
        for unit in units:
            chars = sum(len(line.text) for line in unit)
            if not chunks or size + chars > CHUNK:
                chunks.append([])
                size = 0
            chunks[-1].extend(unit)
            size += chars
    return [chunk for chunk in chunks if chunk]


def _region(
    document: Document, section: str | None, warnings: Warnings
) -> tuple[str | None, Sequence[Block], int]:
    """Return what a read moves in, and the body index of its first block (F9.9)."""
    if section is None:
        return None, document.blocks, 0
    if section.startswith("@"):
        return section, _aside(document, section), 0
    sections = _sections(document)
    wanted = " ".join(section.split()).casefold()
    named = [found for found in sections if found.heading.casefold() == wanted]
    if len(named) > 1:
        warnings.add("ambiguous_match", len(named), where=f"section {section!r}")
    if not named and section.strip().isdecimal() and len(section) < 10:
        named = [found for found in sections if found.index == int(section)]
    if not named:
        hints = section_hints(section, [(found.index, found.heading) for found in sections])
        raise fail("unknown_section", f"there is no section {section!r}", hints=hints)
    return section, named[0].blocks, named[0].start


def _aside(document: Document, name: str) -> list[Block]:
    """Return what stands beside the text, each with a line that says what it is (F9.7)."""
    match name:
        case "@headers":
            found = [(kind, line) for kind, line in document.margins]
        case "@comments":
            found = [
                (f"comment by {who}" if who else "comment", text) for who, text in document.comments
            ]
        case "@changes":
            lines = (one.lines(at) for at, one in enumerate(document.changes))
            return [Block("\n".join(each)) for each in lines]
        case "@footnotes":
            found = [(f"{kind} {at}", text) for at, (kind, text) in enumerate(document.notes, 1)]
        case _:
            raise fail("unknown_section", f"there is no section {name!r}", hints=ASIDES)
    return [Block(f"[{label}]\n{text}") for label, text in found]


def _chosen(
    blocks: Sequence[Block],
    chunks: list[list[Line]],
    selector: Selector,
    warnings: Warnings,
    start: int,
) -> tuple[list[Line], int]:
    """Return the lines to read and the chunk the first of them lies in."""
    lines = _lines(blocks)
    if selector.chunk_index is not None:
        check_chunk(selector.chunk_index, len(chunks))
        return (chunks[selector.chunk_index] if chunks else []), selector.chunk_index
    if selector.paragraphs is not None:
        first, last = _span(selector.paragraphs, start, len(blocks), warnings)
        chosen = [line for line in lines if first <= line.place <= last]
    elif sum(len(line.text.encode()) + 1 for line in lines) <= numbers.READ_WHOLE_MAX_BYTES:
        chosen = lines
    else:
        chosen = chunks[0]
    offset = selector.char_offset or 0
    if offset and chosen:
        chosen = _skip(chosen, offset)
    index = next((i for i, chunk in enumerate(chunks) if chosen and chosen[0] in chunk), 0)
    return chosen, index


def _skip(lines: list[Line], offset: int) -> list[Line]:
    """Drop what lies before `offset` in the first block's text."""
    first = lines[0].place
    kept = []
    for line in lines:
        before = offset - line.offset if line.place == first else 0
        if before <= 0:
            kept.append(line)
        elif before < len(line.text):
            kept.append(Line(line.place, offset, line.text[before:]))
    return kept


def _after(
    name: str | None, blocks: Sequence[Block], chunks: list[list[Line]], last: Line, start: int
) -> Selector | None:
    for index, chunk in enumerate(chunks):
        if last in chunk:
            if last == chunk[-1]:
                more = index + 1 < len(chunks)
                return Selector(section=name, chunk_index=index + 1) if more else None
            break
    if last.place + 1 >= len(blocks):
        return None
    following = f"{start + last.place + 1}-{start + len(blocks) - 1}"
    return Selector(section=name, paragraphs=following)


def _span(text: str, start: int, count: int, warnings: Warnings) -> tuple[int, int]:
    """Return the places in a region that a span of body indexes means."""
    match = _SPAN.fullmatch(text)
    first = int(match.group(1)) if match else -1
    last = int(match.group(2) or first) if match else -1
    end = start + count - 1
    if not start <= first <= last or first > end:
        raise fail("bad_range", f"{text!r} names no paragraphs", hints=(f"{start}-{end}",))
    if last > end:
        warnings.add("span_clipped", where=f"the last paragraph here is {end}")
    return first - start, min(last, end) - start


def _index(section: Section | None) -> int | None:
    return section.index if section else None
