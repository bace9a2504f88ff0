"""The blank document, and the built-in styles that are lent to documents that lack them (F16.3)."""

from __future__ import annotations

from functools import cache

from backshop.formats.package.blank import HEAD, packed, relationships
from backshop.formats.package.guard import Element, parse_xml

from ..text import name as n
from ..text.stylesheet import StyleSheet

_W = f'xmlns:w="{n.W_NS}"'
BULLETS = ("•", "o", "▪")
_NUMBERS = ("decimal", "lowerLetter", "lowerRoman")


def _paragraph_style(style_id: str, name: str, ppr: str = "", rpr: str = "", more: str = "") -> str:
    default = ' w:default="1"' if style_id == "Normal" else ""
    based = "" if style_id == "Normal" else '<w:basedOn w:val="Normal"/>'
    return (
        f'<w:style w:type="paragraph"{default} w:styleId="{style_id}"><w:name w:val="{name}"/>'
        f"{based}{more}<w:qFormat/>"
        f"{f'<w:pPr>{ppr}</w:pPr>' if ppr else ''}"
        f"{f'<w:rPr>{rpr}</w:rPr>' if rpr else ''}</w:style>"
    )


def _heading(level: int) -> str:
    size = {1: 32, 2: 26, 3: 24}.get(level, 22)
    space = 360 if level == 1 else 160
    slant = "<w:i/>" if level in (4, 6, 8) else ""
    return _paragraph_style(
        f"Heading{level}",
        f"heading {level}",
        f'<w:keepNext/><w:keepLines/><w:spacing w:before="{space}" w:after="80"/>'
        f'<w:outlineLvl w:val="{level - 1}"/>',
        f'<w:b/>{slant}<w:color w:val="1F3864"/><w:sz w:val="{size}"/><w:szCs w:val="{size}"/>',
        '<w:next w:val="Normal"/>',
    )


def _list(style_id: str, name: str, num_id: int) -> str:
    return _paragraph_style(
        style_id,
        name,
        f'<w:numPr><w:numId w:val="{num_id}"/></w:numPr><w:contextualSpacing/>',
    )


def _styles() -> str:
    title = '<w:spacing w:after="120"/><w:contextualSpacing/>'
    border = "".join(
        f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="auto"/>'
        for side in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    margins = (
        '<w:tblCellMar><w:top w:w="0" w:type="dxa"/><w:left w:w="108" w:type="dxa"/>'
        '<w:bottom w:w="0" w:type="dxa"/><w:right w:w="108" w:type="dxa"/></w:tblCellMar>'
    )
    tabs = (
        '<w:tabs><w:tab w:val="center" w:pos="4513"/><w:tab w:val="right" w:pos="9026"/></w:tabs>'
    )
    return "".join(
        [
            f"{HEAD}<w:styles {_W}><w:docDefaults><w:rPrDefault><w:rPr>",
            '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Calibri" w:cs="Calibri"/>',
            '<w:sz w:val="22"/><w:szCs w:val="22"/><w:lang w:val="en-US"/></w:rPr></w:rPrDefault>',
            '<w:pPrDefault><w:pPr><w:spacing w:after="160" w:line="259" w:lineRule="auto"/>',
            "</w:pPr></w:pPrDefault></w:docDefaults>",
            _paragraph_style("Normal", "Normal"),
            *(_heading(level) for level in range(1, 10)),
            _paragraph_style("Title", "Title", title, '<w:sz w:val="56"/><w:szCs w:val="56"/>'),
            _paragraph_style("Subtitle", "Subtitle", "", '<w:color w:val="595959"/>'),
            _paragraph_style("ListParagraph", "List Paragraph", '<w:ind w:left="720"/>'),
            _list("ListBullet", "List Bullet", 1),
            _list("ListNumber", "List Number", 2),
            _paragraph_style("NoSpacing", "No Spacing", '<w:spacing w:after="0"/>'),
            _paragraph_style(
                "Quote", "Quote", '<w:ind w:left="864" w:right="864"/>', "<w:i/><w:iCs/>"
            ),
            _paragraph_style("Caption", "caption", "", '<w:i/><w:sz w:val="18"/>'),
            _paragraph_style("Header", "header", tabs),
            _paragraph_style("Footer", "footer", tabs),
            '<w:style w:type="character" w:default="1" w:styleId="DefaultParagraphFont">',
            '<w:name w:val="Default Paragraph Font"/><w:uiPriority w:val="1"/></w:style>',
            '<w:style w:type="character" w:styleId="Hyperlink"><w:name w:val="Hyperlink"/><w:rPr>',
            '<w:color w:val="0563C1"/><w:u w:val="single"/></w:rPr></w:style>',
            '<w:style w:type="character" w:styleId="Strong"><w:name w:val="Strong"/><w:qFormat/>',
            "<w:rPr><w:b/><w:bCs/></w:rPr></w:style>",
            '<w:style w:type="character" w:styleId="Emphasis"><w:name w:val="Emphasis"/>',
            "<w:qFormat/><w:rPr><w:i/><w:iCs/></w:rPr></w:style>",
            '<w:style w:type="table" w:default="1" w:styleId="TableNormal">',
            '<w:name w:val="Normal Table"/><w:tblPr><w:tblInd w:w="0" w:type="dxa"/>',
            f"{margins}</w:tblPr></w:style>",
            '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/>',
            '<w:basedOn w:val="TableNormal"/><w:pPr><w:spacing w:after="0"/></w:pPr>',
            f"<w:tblPr><w:tblBorders>{border}</w:tblBorders></w:tblPr></w:style>",
            "</w:styles>",
        ]
    )


def _level(kind: str, level: int) -> str:
    if kind == "bullet":
        shown, text = "bullet", BULLETS[level % 3]
    else:
        shown, text = _NUMBERS[level % 3], f"%{level + 1}."
    return (
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{shown}"/>'
        f'<w:lvlText w:val="{text}"/><w:lvlJc w:val="left"/><w:pPr>'
        f'<w:ind w:left="{720 + 360 * level}" w:hanging="360"/></w:pPr></w:lvl>'
    )


def abstract_list(kind: str, abstract_id: int) -> str:
    """Return the definition of a bulleted or numbered list with nine levels."""
    levels = "".join(_level(kind, level) for level in range(9))
    return (
        f'<w:abstractNum {_W} w:abstractNumId="{abstract_id}">'
        f'<w:multiLevelType w:val="hybridMultilevel"/>{levels}</w:abstractNum>'
    )


def empty_part(kind: str) -> Element:
    """Return the root of a part of styles, numbering or settings that holds nothing."""
    return parse_xml(f"<w:{kind} {_W}/>".encode())


def _numbering() -> str:
    plain = f" {_W}"
    return (
        f"{HEAD}<w:numbering {_W}>{abstract_list('bullet', 0).replace(plain, '')}"
        f"{abstract_list('number', 1).replace(plain, '')}"
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>'
    )


_BODY = (
    f'{HEAD}<w:document {_W} xmlns:r="{n.R_NS}"><w:body><w:sectPr>'
    '<w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:right="1440" w:bottom="1440" '
    'w:left="1440" w:header="708" w:footer="708" w:gutter="0"/></w:sectPr></w:body></w:document>'
)
_KINDS = ("styles", "numbering", "settings")


@cache
def blank_document() -> bytes:
    """Return an A4 document without text and with the built-in styles."""
    main = f"{n.CONTENT_TYPE}document.main+xml"
    types = {f"word/{kind}.xml": f"{n.CONTENT_TYPE}{kind}+xml" for kind in _KINDS}
    parts = {
        "_rels/.rels": relationships(("officeDocument", "word/document.xml")),
        "word/document.xml": _BODY,
        "word/_rels/document.xml.rels": relationships(*((kind, f"{kind}.xml") for kind in _KINDS)),
        "word/styles.xml": _styles(),
        "word/numbering.xml": _numbering(),
        "word/settings.xml": f'{HEAD}<w:settings {_W}><w:defaultTabStop w:val="720"/></w:settings>',
    }
    return packed({"word/document.xml": main, **types}, parts)


@cache
def template_styles() -> StyleSheet:
    """Return the built-in styles; copy their elements before putting them into a file."""
    return StyleSheet(parse_xml(_styles().encode()))
