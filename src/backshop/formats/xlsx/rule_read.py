"""Reading the conditional formats and validations of a sheet, a line each (F38.2)."""

from __future__ import annotations

from backshop.formats.errors import fail
from backshop.formats.protocol import ChunkInfo, Read, Selector
from backshop.formats.warning import Warnings
from backshop.formats.window import check_chunk, chunk_count, cut

from .book.workbook import Book, Sheet
from .rule.listing import listed
from .style.rule_look import rule_words
from .syntax.address import parse_area

RULES = "rules"
_CHUNK = 100  # rules


def read_rules(book: Book, sheet: Sheet, selector: Selector, warnings: Warnings) -> Read:
    """Return the rules of a sheet, or those that hold for cells of a range, in chunks of 100."""
    if book.origin is not None:
        raise fail("unsupported_format", f"the rules of a .{book.origin.format} are not read")
    area = parse_area(selector.range) if selector.range is not None else None
    if selector.range is not None and area is None:
        raise fail("bad_range", "this is no range of a sheet", detail=selector.range[:40])
    xml = book.xml(sheet)
    lines = listed(xml.frame(), rule_words(book), area) if xml is not None else []
    index = selector.chunk_index or 0
    total = chunk_count(len(lines), _CHUNK) if area is None else 1
    check_chunk(index, max(total, 1))
    some = lines if area else lines[index * _CHUNK : (index + 1) * _CHUNK]
    taken = cut(some, head=f"# rules\t{sheet.name}\t{len(lines)}")
    if not taken.complete:
        warnings.add("truncated_to_fit")
    chosen = Selector(sheet=sheet.name, range=str(area) if area else None, cells=RULES)
    following = None
    if index + 1 < total:
        following = Selector(sheet=sheet.name, cells=RULES, chunk_index=index + 1)
    return Read(
        format="xlsx",
        text=taken.text,
        selector=chosen,
        chunk_info=ChunkInfo(
            chunk_index=index,
            total_chunks=max(total, 1),
            next=following,
            span={"rules": str(len(lines))},
        ),
        warnings=warnings.all(),
    )
