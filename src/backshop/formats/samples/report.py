"""The annual report: headings, tables, and changes two people are still discussing."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

from backshop.formats.docx.edit.blank import blank_document
from backshop.formats.package.blank import HEAD, OFFICE_REL, archived

_DOCUMENT = "word/document.xml"
_RELATIONS = "word/_rels/document.xml.rels"
_STYLES = "word/styles.xml"
_TYPES = "[Content_Types].xml"
_SECTION = "<w:sectPr>"
_RIGHT = '<w:jc w:val="right"/>'
_PINE, _SAND = "1F4D3F", "F4EFE4"
_REL_NS = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_WORD_NS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml."
_MARA = 'w:author="Mara Lind" w:date="2026-01-12T09:30:00Z"'
_JONAS = 'w:author="Jonas Weir" w:date="2026-01-14T16:05:00Z"'


def write_report(path: Path) -> None:
    """Write the document: the blank one with a body and a look of our own."""
    with zipfile.ZipFile(BytesIO(blank_document())) as blank:
        members = {name: blank.read(name).decode() for name in blank.namelist()}
    document = members[_DOCUMENT].replace(_SECTION, _body() + _SECTION)
    members[_DOCUMENT] = document.replace(
        _SECTION,
        f'{_SECTION}<w:headerReference {_REL_NS} w:type="default" r:id="rIdHead"/>'
        f'<w:footerReference {_REL_NS} w:type="default" r:id="rIdFoot"/>',
    )
    _dress(members)
    path.write_bytes(archived(members))


def _dress(members: dict[str, str]) -> None:
    """Give the styles the company's colours, and the pages a head and a foot."""
    styles = members[_STYLES].replace('w:val="1F3864"', f'w:val="{_PINE}"')
    line = f'<w:pBdr><w:bottom w:val="single" w:sz="12" w:space="6" w:color="{_PINE}"/></w:pBdr>'
    plain = '<w:pPr><w:spacing w:after="120"/><w:contextualSpacing/></w:pPr><w:rPr>'
    members[_STYLES] = styles.replace(
        plain,
        f'<w:pPr>{line}<w:spacing w:after="120"/><w:contextualSpacing/></w:pPr>'
        f'<w:rPr><w:b/><w:color w:val="{_PINE}"/>',
    )
    small = '<w:rPr><w:color w:val="595959"/><w:sz w:val="18"/></w:rPr>'
    head = f"<w:p><w:r>{small}<w:t>Tarn Outfitters</w:t></w:r></w:p>"
    foot = (
        f'<w:p><w:pPr>{_RIGHT}</w:pPr><w:r>{small}<w:t xml:space="preserve">Page </w:t></w:r>'
        f'<w:fldSimple w:instr=" PAGE "><w:r>{small}<w:t>1</w:t></w:r></w:fldSimple></w:p>'
    )
    for name, root, kind, text in (
        ("Head", "hdr", "header", head),
        ("Foot", "ftr", "footer", foot),
    ):
        members[f"word/{kind}1.xml"] = f"{HEAD}<w:{root} {_WORD_NS}>{text}</w:{root}>"
        link = f'<Relationship Id="rId{name}" Type="{OFFICE_REL}{kind}" Target="{kind}1.xml"/>'
        members[_RELATIONS] = members[_RELATIONS].replace("</Rel", f"{link}</Rel")
        told = f'<Override PartName="/word/{kind}1.xml" ContentType="{_WORD_TYPE}{kind}+xml"/>'
        members[_TYPES] = members[_TYPES].replace("</Types>", f"{told}</Types>")


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


def _text(text: str, look: str = "") -> str:
    return f'<w:r>{look}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def _inserted(number: int, who: str, text: str) -> str:
    return f'<w:ins w:id="{number}" {who}>{_text(text)}</w:ins>'


def _deleted(number: int, who: str, text: str) -> str:
    run = f'<w:r><w:delText xml:space="preserve">{escape(text)}</w:delText></w:r>'
    return f'<w:del w:id="{number}" {who}>{run}</w:del>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    width = 9026 // len(rows[0])
    grid = f'<w:gridCol w:w="{width}"/>' * len(rows[0])
    lines = "".join(_row(row, width, at) for at, row in enumerate(rows))
    return (
        '<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="0" w:type="auto"/></w:tblPr>'
        f"<w:tblGrid>{grid}</w:tblGrid>{lines}</w:tbl><w:p/>"
    )


def _row(texts: Sequence[str], width: int, at: int) -> str:
    """Return a row: the first dark, the others light by turns, numbers at the right."""
    fill = _SAND if at and at % 2 == 0 else "FFFFFF" if at else _PINE
    look = "" if at else '<w:rPr><w:b/><w:color w:val="FFFFFF"/></w:rPr>'
    cells = (
        f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/>'
        f'<w:shd w:val="clear" w:color="auto" w:fill="{fill}"/></w:tcPr>'
        f'<w:p><w:pPr><w:spacing w:before="60" w:after="60"/>'
        f"{_RIGHT if place else ''}</w:pPr>{_text(text, look)}</w:p></w:tc>"
        for place, text in enumerate(texts)
    )
    return f"<w:tr>{''.join(cells)}</w:tr>"
