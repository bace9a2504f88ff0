"""Who reads which of the other formats of workbooks."""

from __future__ import annotations

from backshop.formats.protocol import Source

from .ledger import Ledger
from .open_document import read_open_document
from .xls_workbook import read_xls
from .xlsb_workbook import read_xlsb

_READERS = {
    ".ods": read_open_document,
    ".ots": read_open_document,
    ".xls": read_xls,
    ".xlt": read_xls,
    ".xlsb": read_xlsb,
}


def read_other(source: Source) -> Ledger:
    """Read a workbook that is no xlsx package."""
    return _READERS[source.extension](source)
