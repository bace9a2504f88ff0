"""Opens a workbook to be read, whichever of its formats it is in (F8, F40.10)."""

from __future__ import annotations

import struct
from functools import lru_cache

from backshop.formats.errors import fail
from backshop.formats.kind import OTHER_WORKBOOKS
from backshop.formats.package.package import Package
from backshop.formats.protocol import Source

from .origin import Origin
from .workbook import Book


def open_book(source: Source) -> Book:
    """Return a workbook that is only looked at."""
    if source.extension not in OTHER_WORKBOOKS:
        return Book(Package.open_to_look(source))
    package, origin = _transcript(source)
    return Book(package, origin=origin)


@lru_cache(maxsize=2)  # sources never change, and whoever reads one asks for it again
def _transcript(source: Source) -> tuple[Package, Origin]:
    from .transcript.reader import read_other  # loaded on first use: few files need it

    try:
        ledger = read_other(source)
    except (struct.error, IndexError) as error:  # numbers in the file lead out of it
        detail = type(error).__name__
        raise fail("corrupt_file", "the workbook is damaged", detail=detail) from error
    origin = ledger.origin()
    return ledger.package(), origin
