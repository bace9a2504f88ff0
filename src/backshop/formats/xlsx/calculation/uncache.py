"""Stored results taken out of very many cells, in one pass over a sheet's bytes (F24.2).

Where a change reaches more formulas than a write has time to compute, it must still have the time
to forget what they showed, and to see that it did nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..book.cell_xml import recached
from ..book.sheet_xml import RowSpan, SheetXml, attributes, reference
from ..syntax.address import column_number

_USUAL = re.compile(rb' r="([A-Z]{1,3})[0-9]{1,7}"')


def without_results(
    xml: SheetXml, wanted: Mapping[int, set[int]]
) -> tuple[bytes, set[tuple[int, int]]]:
    """Return the part without the results of the wanted cells (columns by row), and who is there.

    A formula keeps its text; a cell that only showed a value of another one is left empty.
    """
    data, pieces, at = xml.data, [], 0
    seen: set[tuple[int, int]] = set()
    for row in xml.iter_rows():
        cols = wanted.get(row.number)
        if not cols:
            continue
        for col, match in _cells(xml, row):
            if col not in cols:
                continue
            seen.add((row.number, col))
            if _holds_result(xml, match):
                pieces += [data[at : match.start()], recached(match[0], None, xml.words)]
                at = match.end()
    pieces.append(data[at:])
    return b"".join(pieces), seen


def lost_results(
    before: SheetXml, first: RowSpan, after: SheetXml, second: RowSpan
) -> list[int] | None:
    """Return the columns whose results went when nothing else differs in a row, else None."""
    old, new = before.data, after.data
    from_, to = first.start, second.start
    found: list[int] = []
    for col, match in _cells(before, first):
        between = old[from_ : match.start()]
        if not new.startswith(between, to):
            return None
        to += len(between)
        now = match[0]
        if not new.startswith(now, to):
            now = recached(now, None, before.words)
            if not new.startswith(now, to) or not _holds_result(before, match):
                return None
            found.append(col)
        from_, to = match.end(), to + len(now)
    return found if old[from_ : first.end] == new[to : second.end] else None


def _cells(xml: SheetXml, row: RowSpan) -> Iterator[tuple[int, re.Match[bytes]]]:
    """Go through the cells of a row by column, without reading them."""
    col = 0
    for match in xml.words.cell.finditer(xml.data, row.inner, row.close):
        if usual := _USUAL.match(match[1]):
            col = column_number(usual[1].decode())
        elif place := reference(attributes(match[1]).get(b"r")):
            col = place[1]
        else:
            col += 1
        yield col, match


def _holds_result(xml: SheetXml, match: re.Match[bytes]) -> bool:
    value = xml.words.value.search(match[2] or b"")
    return bool(value and (value[2] or b'"str"' in match[1]))
