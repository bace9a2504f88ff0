"""The annual report: headings, tables, and changes two people are still discussing."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

from backshop.formats.docx.edit.blank import blank_document
from backshop.formats.package.blank import archived

_DOCUMENT = "word/document.xml"
_SECTION = b"<w:sectPr>"
_MARA = 'w:author="Mara Lind" w:date="2026-01-12T09:30:00Z"'
_JONAS = 'w:author="Jonas Weir" w:date="2026-01-14T16:05:00Z"'


def write_report(path: Path) -> None:
    """Write the document: the blank one with a body of our own."""
    with zipfile.ZipFile(BytesIO(blank_document())) as blank:
        members = {name: blank.read(name) for name in blank.namelist()}
    body = _body().encode()
    members[_DOCUMENT] = members[_DOCUMENT].replace(_SECTION, body + _SECTION)
    path.write_bytes(archived(members))


def _body() -> str:
    return "".join(
        (
            _styled("Title", "Annual report 2025"),
            _styled("Subtitle", "Tarn Outfitters. Draft for the board, January 2026."),
            _styled("Heading1", "Summary"),
            _paragraph(
                _text("2025 was a year of "),
                _deleted(1, _MARA, "moderate"),
                _inserted(2, _MARA, "steady"),
                _text(" growth. We opened two shops and closed none."),
            ),
            _paragraph(_text("The figures below were checked by our accountants in December.")),
            _styled("Heading1", "Results"),
            _paragraph(_text("Revenue by region, in thousands of euros, as planned:")),
            _table((("Region", "2024", "2025"), *_RESULTS)),
            _paragraph(
                _text("Costs stayed within the plan"),
                _inserted(3, _JONAS, ", apart from freight"),
                _text("."),
            ),
            _styled("Heading2", "Products"),
            _paragraph(_text("Boots and packs sold best; tents brought most per sale.")),
            _bullet("Boots: two models, sold in every shop."),
            _bullet("Packs: the larger one was sold out twice."),
            _styled("Heading1", "People"),
            _paragraph(
                _text("We are "),
                _deleted(4, _JONAS, "64"),
                _inserted(5, _JONAS, "67"),
                _text(" people in four regions."),
            ),
            _table((("Team", "People"), ("Shops", "41"), ("Warehouse", "15"), ("Office", "11"))),
            _styled("Heading1", "Outlook"),
            _paragraph(_text("We expect things to go on more or less as they have been going.")),
            _paragraph(_text("More details will follow when they are available.")),
            _styled("Heading1", "Thanks"),
            _paragraph(
                _text("We thank everybody who works here"),
                _inserted(6, _MARA, " and everybody who shops here"),
                _text("."),
            ),
        )
    )


_RESULTS = (
    ("North", "5,710", "5,984"),
    ("South", "4,560", "4,752"),
    ("East", "3,690", "3,872"),
    ("West", "2,960", "2,992"),
)


def _paragraph(*runs: str, style: str = "") -> str:
    look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{look}{''.join(runs)}</w:p>"


def _styled(style: str, text: str) -> str:
    return _paragraph(_text(text), style=style)


def _bullet(text: str) -> str:
    return _styled("ListBullet", text)


def _text(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def _inserted(number: int, who: str, text: str) -> str:
    return f'<w:ins w:id="{number}" {who}>{_text(text)}</w:ins>'


def _deleted(number: int, who: str, text: str) -> str:
    run = f'<w:r><w:delText xml:space="preserve">{escape(text)}</w:delText></w:r>'
    return f'<w:del w:id="{number}" {who}>{run}</w:del>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    width = 9026 // len(rows[0])
    grid = f'<w:gridCol w:w="{width}"/>' * len(rows[0])
    lines = "".join(f"<w:tr>{''.join(_cell(text, width) for text in row)}</w:tr>" for row in rows)
    return (
        '<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="0" w:type="auto"/></w:tblPr>'
        f"<w:tblGrid>{grid}</w:tblGrid>{lines}</w:tbl><w:p/>"
    )


def _cell(text: str, width: int) -> str:
    return (
        f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr>'
        f"{_paragraph(_text(text))}</w:tc>"
    )
