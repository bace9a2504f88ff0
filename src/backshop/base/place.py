"""A place in a file, in the words people and agents use: cells, rows, lines, paragraphs, slides.

A place is told by what the file has at one moment. Where it went when the file changed is found by
comparing the two contents; a place itself knows nothing of that.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in a file; nothing set means the whole file.

    Numbers count as they do in reads: rows, lines and pages from 1, paragraphs (F9.9), rows and
    columns of a table in a document, slides (F10.1) and shapes (F10.5) from 0.
    """

    sheet: str | None = None
    range: str | None = None
    """Cells of the sheet, `B4` or `B2:D9`; none: the whole sheet."""
    row_start: int | None = None
    """Data rows of a delimited file."""
    row_end: int | None = None
    line_start: int | None = None
    line_end: int | None = None
    paragraph: int | None = None
    """A block of a document: a paragraph or a table."""
    paragraph_end: int | None = None
    table_row: int | None = None
    table_column: int | None = None
    words: str | None = None
    """Words that stand in the paragraph, lines, cell or shape."""
    slide_index: int | None = None
    shape: int | None = None
    page: int | None = None

    @property
    def is_file(self) -> bool:
        """Whether the whole file is meant."""
        return all(getattr(self, one.name) is None for one in fields(self))


FILE = Place()
