"""Which module reads and writes which kind, and the entry points of F1.4 over all of them.

To plug in a kind: put its module in `BUILTIN` under its dotted name (or, outside this package,
declare an entry point in the group `backshop.formats` whose name is the kind) and run
`backshop.testing.conformance.formats` on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from .protocol import Kind

BUILTIN: Mapping[Kind, str] = {
    Kind.TEXT: "backshop.formats.text",
    Kind.CSV: "backshop.formats.delimited",
    Kind.XLSX: "backshop.formats.xlsx",
    Kind.DOCX: "backshop.formats.docx",
    Kind.PPTX: "backshop.formats.pptx",
    Kind.PDF: "backshop.formats.pdf",
    Kind.ODT: "backshop.formats.odt",
    Kind.IMAGE: "backshop.formats.image",
}
