"""The page on which LibreOffice put a whole sheet, cut into pieces that can be read (F29.7)."""

from __future__ import annotations

import re

import pypdfium2 as pdfium

from ..protocol import Source
from .document import drawn_within, opened, require_index

_PIECE_WIDTH, _PIECE_HEIGHT = 1_200, 1_400  # about how much is read at once, in pixels of a screen
_COLUMN, _ROW = 80, 24  # that a piece repeats, so that a column or row that is cut is seen whole
_REST = 40  # pixels at the end of a page that may be empty without anything being left out
_PAGES = re.compile(rb"/Type/Page/Parent.*?/MediaBox\[[^\]]*\](?:\s*/UserUnit (\d+))?", re.DOTALL)


def render_piece(
    source: Source, page_index: int, scale: float, piece_index: int, shown: tuple[bool, ...]
) -> tuple[bytes, int, bool, int, bool]:
    """Return a piece of a page as PNG, the page count, whether it had to be made smaller, how many
    pieces the page has, and whether LibreOffice left its end empty.

    Pages are those of sheets that are shown, of which `shown` has one for each sheet. Pieces count
    from 0, across, then down. LibreOffice draws about the first thousand rows of a sheet: there is
    no piece of what is empty below them.

    Raises:
        FormatError: `bad_index`.
    """
    with opened(source) as document:
        places = _places(len(document), shown)
        require_index(page_index, len(places), "pages")
        place = places[page_index]
        page = document[place]
        unit = _unit(source, place, len(document))
        wanted = unit * 96 / 72  # pixels of a screen for one of the page
        width, height = (side * wanted for side in page.get_size())
        drawn = _bottom(page) * wanted
        columns = max(1, round(width / _PIECE_WIDTH))
        rows = max(1, round(drawn / _PIECE_HEIGHT))
        require_index(piece_index, rows * columns, "pieces")
        row, column = divmod(piece_index, columns)
        across = _span(column, columns, (_PIECE_WIDTH, _COLUMN), width)
        down = _span(row, rows, (_PIECE_HEIGHT, _ROW), drawn)
        rest = (across[0], height - down[1], width - across[1], down[0])
        box = [
            max(0.0, side / wanted) for side in rest
        ]  # what is cut off: left, below, right, above
        longest = max(across[1] - across[0], down[1] - down[0], 1.0) / wanted
        image, is_smaller = drawn_within(page, scale * wanted, longest, tuple(box))
        return image, len(places), is_smaller, rows * columns, height - drawn > _REST


def _places(count: int, shown: tuple[bool, ...]) -> list[int]:
    """Return which pages are those of sheets that are shown: LibreOffice draws hidden ones too."""
    if count != len(shown):
        return list(range(count))
    return [place for place, is_shown in enumerate(shown) if is_shown]


def _unit(source: Source, page_index: int, count: int) -> int:
    """Return how many points a unit of a page is: LibreOffice makes it larger for a long sheet."""
    told = _PAGES.findall(source.path.read_bytes())
    return int(told[page_index] or 1) if len(told) == count else 1


def _bottom(page: pdfium.PdfPage) -> float:
    """Return how far down a page anything stands, in its units."""
    height: float = page.get_size()[1]
    lowest = min((one.get_bounds()[1] for one in page.get_objects(max_depth=1)), default=0.0)
    return height - min(max(lowest, 0.0), height)


def _span(index: int, count: int, sides: tuple[int, int], whole: float) -> tuple[float, float]:
    """Return where a piece begins and ends; the last one has what is left."""
    side, more = sides
    return index * side, whole if index == count - 1 else (index + 1) * side + more
