"""A block of the body, or a row of a table, as it is compared."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.formats.package.guard import Element


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """What stands in a body: a paragraph, a table, something around or between them; or a row."""

    type: str  # p, t, row, control (around blocks), mark (between them)
    element: Element
    print: str
    text: str
    ident: str | None = None  # what programs know it by
    is_blank: bool = False  # nothing shows in it
    shape: str | None = None  # of a table: its columns
    first: int = 0  # the number of its first block (F9.9)
    count: int = 1  # of its blocks
