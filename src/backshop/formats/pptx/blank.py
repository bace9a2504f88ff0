"""The blank presentation: 16:9, one master, the eleven standard layouts (F16.3)."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from backshop.formats.package.blank import HEAD, packed, relationships

from . import names as n

_NS = f'xmlns:a="{n.A_NS}" xmlns:r="{n.R_NS}" xmlns:p="{n.P_NS}"'
WIDTH, HEIGHT = 12192000, 6858000
_COLOURS = {
    "dk1": "000000",
    "lt1": "FFFFFF",
    "dk2": "1F2A44",
    "lt2": "E9ECF1",
    "accent1": "2F6DB5",
    "accent2": "D9822B",
    "accent3": "5B8C5A",
    "accent4": "8E5EA2",
    "accent5": "3BA7A7",
    "accent6": "B5483A",
    "hlink": "0563C1",
    "folHlink": "6B4C9A",
}


class _Ph(NamedTuple):
    """A placeholder: type, index, name, place in thousandths of an inch (x, y, width, height)."""

    type: str
    idx: int | None
    name: str
    box: tuple[int, int, int, int] | None
    style: str = ""


_TITLE = _Ph("title", None, "Title", None)
_NO_BULLET = '<a:lvl1pPr marL="0" indent="0"><a:buNone/><a:defRPr sz="2400"/></a:lvl1pPr>'
_CENTRED = '<a:lvl1pPr marL="0" indent="0" algn="ctr"><a:buNone/><a:defRPr sz="2400"/></a:lvl1pPr>'


def _obj(idx: int, box: tuple[int, int, int, int] | None = None, style: str = "") -> _Ph:
    return _Ph("obj", idx, "Content Placeholder", box, style)


def _body(idx: int, box: tuple[int, int, int, int] | None, style: str = _NO_BULLET) -> _Ph:
    return _Ph("body", idx, "Text Placeholder", box, style)


_LAYOUTS: tuple[tuple[str, str, tuple[_Ph, ...]], ...] = (
    (
        "title",
        "Title Slide",
        (
            _Ph("ctrTitle", None, "Title", (1667, 1228, 10000, 2611), '<a:lvl1pPr algn="ctr">'
                '<a:defRPr sz="6000"/></a:lvl1pPr>'),
            _Ph("subTitle", 1, "Subtitle", (1667, 3939, 10000, 1811), _CENTRED),
        ),
    ),
    ("obj", "Title and Content", (_TITLE, _obj(1))),
    (
        "secHead",
        "Section Header",
        (
            _Ph("title", None, "Title", (910, 1870, 11500, 3120), '<a:lvl1pPr><a:defRPr sz="6000"/>'
                "</a:lvl1pPr>"),
            _body(1, (910, 5019, 11500, 1641)),
        ),
    ),
    (
        "twoObj",
        "Two Content",
        (_TITLE, _obj(1, (917, 1997, 5667, 4759)), _obj(2, (6750, 1997, 5667, 4759))),
    ),
    (
        "twoTxTwoObj",
        "Comparison",
        (
            _TITLE,
            _body(1, (918, 1839, 5641, 901)),
            _obj(2, (918, 2740, 5641, 4030)),
            _body(3, (6750, 1839, 5668, 901)),
            _obj(4, (6750, 2740, 5668, 4030)),
        ),
    ),
    ("titleOnly", "Title Only", (_TITLE,)),
    ("blank", "Blank", ()),
    (
        "objTx",
        "Content with Caption",
        (
            _Ph("title", None, "Title", (918, 500, 4300, 1750)),
            _obj(1, (5668, 1080, 6750, 5330)),
            _body(2, (918, 2250, 4300, 4168)),
        ),
    ),
    (
        "picTx",
        "Picture with Caption",
        (
            _Ph("title", None, "Title", (918, 500, 4300, 1750)),
            _Ph("pic", 1, "Picture Placeholder", (5668, 1080, 6750, 5330), _NO_BULLET),
            _body(2, (918, 2250, 4300, 4168)),
        ),
    ),
    ("vertTx", "Title and Vertical Text", (_TITLE, _Ph("body", 1, "Vertical Text", None, "vert"))),
    (
        "vertTitleAndTx",
        "Vertical Title and Text",
        (
            _Ph("title", None, "Vertical Title", (9542, 399, 2875, 6356), "vert"),
            _Ph("body", 1, "Vertical Text", (917, 399, 8458, 6356), "vert"),
        ),
    ),
)  # fmt: skip


def _xfrm(box: tuple[int, int, int, int] | None) -> str:
    if box is None:
        return "<p:spPr/>"
    x, y, width, height = (value * 914 for value in box)
    return (
        f'<p:spPr><a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>'
    )


def _shape(number: int, ph: _Ph, text: str = "") -> str:
    vertical = ph.style == "vert"
    idx = f' idx="{ph.idx}"' if ph.idx is not None else ""
    kind = "" if ph.type == "obj" else f' type="{ph.type}"'
    orient = ' orient="vert"' if vertical else ""
    style = "" if vertical or not ph.style else ph.style
    direction = ' vert="eaVert"' if vertical else ""
    run = f'<a:r><a:rPr lang="en-US"/><a:t>{text}</a:t></a:r>' if text else ""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{ph.name} {number - 1}"/><p:cNvSpPr>'
        f'<a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr><p:ph{kind}{orient}{idx}/></p:nvPr></p:nvSpPr>'
        f"{_xfrm(ph.box)}<p:txBody><a:bodyPr{direction}/>"
        f"<a:lstStyle>{style}</a:lstStyle><a:p>{run}</a:p></p:txBody></p:sp>"
    )


def _tree(shapes: str) -> str:
    return (
        '<p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>'
        f"<p:grpSpPr/>{shapes}</p:spTree>"
    )


_FURNITURE = (
    _Ph("dt", 10, "Date Placeholder", (917, 6951, 3000, 399)),
    _Ph("ftr", 11, "Footer Placeholder", (4417, 6951, 4500, 399)),
    _Ph("sldNum", 12, "Slide Number Placeholder", (9417, 6951, 3000, 399)),
)


def _layout(kind: str, name: str, places: tuple[_Ph, ...]) -> str:
    furniture = (ph._replace(box=None) for ph in _FURNITURE)
    shapes = "".join(
        _shape(at, ph, "Click to edit" if ph.idx is None or ph.idx < 10 else "")
        for at, ph in enumerate((*places, *furniture), start=2)
    )
    return (
        f'{HEAD}<p:sldLayout {_NS} type="{kind}" preserve="1"><p:cSld name="{name}">'
        f"{_tree(shapes)}</p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>"
    )


def _levels(tag: str, sizes: tuple[int, ...], bullet: str) -> str:
    levels = "".join(
        f'<a:lvl{at}pPr marL="{(at - 1) * 457200 + (228600 if bullet else 0)}" '
        f'indent="{-228600 if bullet else 0}" algn="l" defTabSz="914400">'
        f'<a:spcBef><a:spcPts val="{500 if bullet else 0}"/></a:spcBef>'
        f'{bullet or "<a:buNone/>"}<a:defRPr sz="{size}" kern="1200"><a:solidFill>'
        '<a:schemeClr val="tx1"/></a:solidFill><a:latin typeface="+mn-lt"/></a:defRPr>'
        f"</a:lvl{at}pPr>"
        for at, size in enumerate(sizes, start=1)
    )
    return f"<p:{tag}>{levels}</p:{tag}>"


def _master() -> str:
    body = _Ph("body", 1, "Text Placeholder", (917, 1997, 11500, 4759))
    title = _Ph("title", None, "Title Placeholder", (917, 399, 11500, 1450))
    shapes = "".join(
        _shape(at, ph, "Click to edit") if at < 4 else _shape(at, ph)
        for at, ph in enumerate((title, body, *_FURNITURE), start=2)
    )
    ids = "".join(
        f'<p:sldLayoutId id="{2147483649 + at}" r:id="rId{at + 1}"/>' for at in range(len(_LAYOUTS))
    )
    bullet = '<a:buFont typeface="Arial"/><a:buChar char="•"/>'
    styles = (
        _levels("titleStyle", (4400,), "")
        + _levels("bodyStyle", (2800, 2400, 2000, 1800, 1800, 1800, 1800, 1800, 1800), bullet)
        + _levels("otherStyle", (1800,), "")
    )
    return (
        f'{HEAD}<p:sldMaster {_NS}><p:cSld><p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/>'
        f"</p:bgRef></p:bg>{_tree(shapes)}</p:cSld>{_CLR_MAP}<p:sldLayoutIdLst>{ids}"
        f"</p:sldLayoutIdLst><p:txStyles>{styles}</p:txStyles></p:sldMaster>"
    )


_CLR_MAP = (
    '<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" '
    'accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" '
    'folHlink="folHlink"/>'
)


def theme() -> str:
    """Return a plain theme."""
    colours = "".join(
        f'<a:{name}><a:srgbClr val="{value}"/></a:{name}>' for name, value in _COLOURS.items()
    )
    font = '<a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/>'
    fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    line = f'<a:ln w="6350">{fill}<a:prstDash val="solid"/></a:ln>'
    effect = "<a:effectStyle><a:effectLst/></a:effectStyle>"
    return (
        f'{HEAD}<a:theme xmlns:a="{n.A_NS}" name="Plain"><a:themeElements>'
        f'<a:clrScheme name="Plain">{colours}</a:clrScheme><a:fontScheme name="Plain">'
        f"<a:majorFont>{font}</a:majorFont><a:minorFont>{font}</a:minorFont></a:fontScheme>"
        f'<a:fmtScheme name="Plain"><a:fillStyleLst>{fill * 3}</a:fillStyleLst>'
        f"<a:lnStyleLst>{line * 3}</a:lnStyleLst><a:effectStyleLst>{effect * 3}"
        f"</a:effectStyleLst><a:bgFillStyleLst>{fill * 3}</a:bgFillStyleLst></a:fmtScheme>"
        "</a:themeElements></a:theme>"
    )


def notes_master() -> str:
    """Return a master for notes pages, for files that have none."""
    image = _Ph("sldImg", 2, "Slide Image Placeholder", (750, 1250, 6000, 3375))
    body = _Ph("body", 3, "Notes Placeholder", (750, 4813, 6000, 3937))
    shapes = _shape(2, image) + _shape(3, body)
    return (
        f'{HEAD}<p:notesMaster {_NS}><p:cSld><p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/>'
        f"</p:bgRef></p:bg>{_tree(shapes)}</p:cSld>{_CLR_MAP}</p:notesMaster>"
    )


def notes_slide() -> str:
    """Return an empty notes page."""
    shapes = _shape(2, _Ph("sldImg", None, "Slide Image Placeholder", None)) + _shape(
        3, _Ph("body", 1, "Notes Placeholder", None)
    )
    return (
        f"{HEAD}<p:notes {_NS}><p:cSld>{_tree(shapes)}</p:cSld>"
        "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:notes>"
    )


def empty_slide() -> str:
    """Return a slide without shapes."""
    return (
        f"{HEAD}<p:sld {_NS}><p:cSld>{_tree('')}</p:cSld>"
        "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>"
    )


@cache
def blank_presentation() -> bytes:
    """Return a presentation without slides."""
    numbered = list(enumerate(_LAYOUTS, start=1))
    kinds = {
        "ppt/presentation.xml": "presentation.main",
        "ppt/slideMasters/slideMaster1.xml": "slideMaster",
        **{f"ppt/slideLayouts/slideLayout{at}.xml": "slideLayout" for at, _ in numbered},
    }
    types = {name: f"{n.CONTENT_TYPE}{kind}+xml" for name, kind in kinds.items()}
    parts = {
        "_rels/.rels": relationships(("officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"{HEAD}<p:presentation {_NS}><p:sldMasterIdLst>"
        '<p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst/>'
        f'<p:sldSz cx="{WIDTH}" cy="{HEIGHT}"/><p:notesSz cx="6858000" cy="9144000"/>'
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relationships(
            ("slideMaster", "slideMasters/slideMaster1.xml"), ("theme", "theme/theme1.xml")
        ),
        "ppt/slideMasters/slideMaster1.xml": _master(),
        "ppt/slideMasters/_rels/slideMaster1.xml.rels": relationships(
            *(("slideLayout", f"../slideLayouts/slideLayout{at}.xml") for at, _ in numbered),
            ("theme", "../theme/theme1.xml"),
        ),
        "ppt/theme/theme1.xml": theme(),
    }
    for at, layout in numbered:
        parts[f"ppt/slideLayouts/slideLayout{at}.xml"] = _layout(*layout)
        parts[f"ppt/slideLayouts/_rels/slideLayout{at}.xml.rels"] = relationships(
            ("slideMaster", "../slideMasters/slideMaster1.xml")
        )
    return packed({**types, "ppt/theme/theme1.xml": n.THEME_TYPE}, parts)
