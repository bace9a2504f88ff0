"""The board's slides: made with the operations an agent has too, in the company's own look."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from backshop.formats.package.blank import HEAD, OFFICE_REL, archived
from backshop.formats.pptx import apply_ops
from backshop.formats.protocol import Json, OpsRequest

_SLIDES: tuple[dict[str, Json], ...] = (
    {
        "op": "add_slide",
        "layout": "title_slide",
        "title": "Board meeting",
        "body": "Tarn Outfitters, January 2026",
    },
    {
        "op": "add_slide",
        "title": "Agenda",
        "body": "The year in figures\nShops and people\nWhat we decide today",
    },
    {
        "op": "add_slide",
        "layout": "two_content",
        "title": "Shops",
        "body": "Two new shops, in Kiruna and in Malmö\n  Both were on time and on budget\n"
        "The warehouse in Falun is full",
        "notes": "Ask whether to rent the hall next door.",
    },
    {
        "op": "add_slide",
        "layout": "two_content",
        "title": "What we decide today",
        "body": "The budget for 2026\nA second warehouse",
    },
)
_YEARS = ("2021", "2022", "2023", "2024", "2025")
_SHOPS = (6, 7, 9, 9, 11)

_COLORS = {  # of the plain theme, and those of the company
    "000000": "22302B",
    "1F2A44": "1F4D3F",
    "E9ECF1": "F4EFE4",
    "2F6DB5": "2E6B57",
    "D9822B": "D9772B",
}
_MASTER = "ppt/slideMasters/slideMaster1.xml"
_COVER = "ppt/slideLayouts/slideLayout1.xml"
_SHOPS_SLIDE = "ppt/slides/slide3.xml"
_SHOPS_RELS = "ppt/slides/_rels/slide3.xml.rels"
_CHART = "ppt/charts/chart1.xml"
_CHART_TYPE = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
_CHART_NS = "http://schemas.openxmlformats.org/drawingml/2006/chart"
_DRAWING_NS = "http://schemas.openxmlformats.org/drawingml/2006/main"
_FIRST_SHAPE = "<p:grpSpPr/>"


def write_deck(path: Path) -> None:
    """Write the presentation."""
    request = OpsRequest(name=path.name, operations=list(_SLIDES), create_new=True)
    apply_ops(None, request, path)
    with zipfile.ZipFile(BytesIO(path.read_bytes())) as plain:
        members = {name: plain.read(name).decode() for name in plain.namelist()}
    _dress(members)
    _draw_shops(members)
    path.write_bytes(archived(members))


def _dress(members: dict[str, str]) -> None:
    """Give theme, master and cover the company's colours, and put its hills on them."""
    theme = members["ppt/theme/theme1.xml"]
    for plain, ours in _COLORS.items():
        theme = theme.replace(f'val="{plain}"', f'val="{ours}"')
    members["ppt/theme/theme1.xml"] = theme.replace('name="Plain"', 'name="Tarn"')
    master = members[_MASTER].replace(
        _FIRST_SHAPE,
        _FIRST_SHAPE
        + _shape(20, "Edge", "rect", (0, 0, 228_600, 6_858_000), "tx2")
        + _shape(21, "Edge end", "rect", (0, 5_486_400, 228_600, 1_371_600), "accent2")
        + _caption(22, "Tarn Outfitters  ·  Board, January 2026"),
    )
    title = '<a:defRPr sz="4400" kern="1200"><a:solidFill><a:schemeClr val="tx1"/>'
    master = master.replace(
        title, '<a:defRPr sz="3600" b="1" kern="1200"><a:solidFill><a:schemeClr val="tx2"/>'
    )
    master = master.replace("<a:bodyPr/>", '<a:bodyPr anchor="ctr"/>', 1)
    members[_MASTER] = master.replace('sz="2800"', 'sz="2400"').replace('sz="2400"', 'sz="2200"', 2)
    members[_COVER] = _cover(members[_COVER])


def _cover(layout: str) -> str:
    """Return the layout of the first slide: dark, with hills along its foot."""
    ground = (
        '<p:bg><p:bgPr><a:solidFill><a:schemeClr val="tx2"/></a:solidFill><a:effectLst/></p:bgPr>'
        "</p:bg>"
    )
    hills = (
        _shape(20, "Far hill", "triangle", (5_600_000, 3_500_000, 5_400_000, 3_358_000), "accent1")
        + _shape(
            21, "Near hill", "triangle", (8_100_000, 4_300_000, 4_092_000, 2_558_000), "accent2"
        )
        + _shape(22, "Ground", "rect", (0, 6_629_400, 12_192_000, 228_600), "bg2")
    )
    layout = layout.replace(' type="title"', ' showMasterSp="0" type="title"')
    layout = layout.replace("<p:spTree>", f"{ground}<p:spTree>", 1)
    layout = layout.replace(_FIRST_SHAPE, _FIRST_SHAPE + hills, 1)
    layout = layout.replace('x="1523638"', 'x="838138"').replace('algn="ctr"', 'algn="l"')
    title, _, rest = layout.partition("<a:bodyPr/><a:lstStyle><a:lvl1pPr")
    layout = f'{title}<a:bodyPr anchor="b"/><a:lstStyle><a:lvl1pPr{rest}'
    white = '<a:solidFill><a:schemeClr val="bg1"/></a:solidFill>'
    sand = '<a:solidFill><a:schemeClr val="bg2"/></a:solidFill>'
    layout = layout.replace(
        '<a:defRPr sz="6000"/>', f'<a:defRPr sz="5400" b="1">{white}</a:defRPr>'
    )
    return layout.replace('<a:defRPr sz="2400"/>', f'<a:defRPr sz="2400">{sand}</a:defRPr>')


def _shape(number: int, name: str, form: str, box: Sequence[int], color: str) -> str:
    left, top, width, height = box
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{name}"/><p:cNvSpPr/><p:nvPr userDrawn="1"/>'
        f'</p:nvSpPr><p:spPr><a:xfrm><a:off x="{left}" y="{top}"/>'
        f'<a:ext cx="{width}" cy="{height}"/></a:xfrm>'
        f'<a:prstGeom prst="{form}"><a:avLst/></a:prstGeom>'
        f'<a:solidFill><a:schemeClr val="{color}"/></a:solidFill><a:ln><a:noFill/></a:ln></p:spPr>'
        "<p:txBody><a:bodyPr/><a:lstStyle/><a:p/></p:txBody></p:sp>"
    )


def _caption(number: int, text: str) -> str:
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="Caption"/><p:cNvSpPr txBox="1"/>'
        '<p:nvPr userDrawn="1"/></p:nvSpPr><p:spPr><a:xfrm><a:off x="838138" y="6353214"/>'
        '<a:ext cx="6400000" cy="307777"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom>'
        "<a:noFill/></p:spPr><p:txBody><a:bodyPr/><a:lstStyle/><a:p><a:r>"
        '<a:rPr lang="en-US" sz="1200"><a:solidFill><a:schemeClr val="accent1"/></a:solidFill>'
        f"</a:rPr><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def _draw_shops(members: dict[str, str]) -> None:
    """Put a chart of the number of shops beside what is said of them."""
    frame = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="Shops by year" '
        'descr="Number of shops, 2021 to 2025"/><p:cNvGraphicFramePr/><p:nvPr/>'
        '</p:nvGraphicFramePr><p:xfrm><a:off x="6400000" y="1825258"/>'
        '<a:ext cx="4949138" cy="4100000"/></p:xfrm><a:graphic>'
        f'<a:graphicData uri="{_CHART_NS}"><c:chart xmlns:c="{_CHART_NS}" r:id="rId9"/>'
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )
    members[_SHOPS_SLIDE] = members[_SHOPS_SLIDE].replace("</p:spTree>", f"{frame}</p:spTree>")
    link = f'<Relationship Id="rId9" Type="{OFFICE_REL}chart" Target="../charts/chart1.xml"/>'
    members[_SHOPS_RELS] = members[_SHOPS_RELS].replace("</Rel", f"{link}</Rel")
    kind = f'<Override PartName="/{_CHART}" ContentType="{_CHART_TYPE}"/>'
    types = "[Content_Types].xml"
    members[types] = members[types].replace("</Types>", f"{kind}</Types>")
    members[_CHART] = _chart()


def _chart() -> str:
    """Return columns with the values written above them, on an axis of years."""
    years = "".join(f'<c:pt idx="{at}"><c:v>{one}</c:v></c:pt>' for at, one in enumerate(_YEARS))
    shops = "".join(f'<c:pt idx="{at}"><c:v>{one}</c:v></c:pt>' for at, one in enumerate(_SHOPS))
    count = f'<c:ptCount val="{len(_YEARS)}"/>'
    labels = "".join(
        f'<c:{name} val="{value}"/>'
        for name, value in (
            *(("showLegendKey", 0), ("showVal", 1), ("showCatName", 0)),
            *(("showSerName", 0), ("showPercent", 0), ("showBubbleSize", 0)),
        )
    )
    fill = '<c:spPr><a:solidFill><a:schemeClr val="accent1"/></a:solidFill></c:spPr>'
    series = (
        '<c:ser><c:idx val="0"/><c:order val="0"/><c:tx><c:v>Shops</c:v></c:tx>'
        f'{fill}<c:invertIfNegative val="0"/><c:dLbls>{labels}</c:dLbls>'
        f"<c:cat><c:strLit>{count}{years}</c:strLit></c:cat>"
        f"<c:val><c:numLit><c:formatCode>0</c:formatCode>{count}{shops}</c:numLit></c:val></c:ser>"
    )
    bars = (
        '<c:barChart><c:barDir val="col"/><c:grouping val="clustered"/><c:varyColors val="0"/>'
        f'{series}<c:gapWidth val="60"/><c:axId val="1001"/><c:axId val="1002"/></c:barChart>'
    )
    return (
        f'{HEAD}<c:chartSpace xmlns:c="{_CHART_NS}" xmlns:a="{_DRAWING_NS}"><c:chart>'
        "<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r>"
        '<a:rPr lang="en-US" sz="1600" b="1"/><a:t>Shops at the end of the year</a:t></a:r></a:p>'
        '</c:rich></c:tx><c:overlay val="0"/></c:title><c:autoTitleDeleted val="0"/>'
        f"<c:plotArea><c:layout/>{bars}{_axis('cat', 1001, 1002)}{_axis('val', 1002, 1001)}"
        '</c:plotArea><c:plotVisOnly val="1"/></c:chart></c:chartSpace>'
    )


def _axis(kind: str, number: int, other: int) -> str:
    is_hidden = int(kind == "val")
    place = "b" if kind == "cat" else "l"
    return (
        f'<c:{kind}Ax><c:axId val="{number}"/><c:scaling><c:orientation val="minMax"/></c:scaling>'
        f'<c:delete val="{is_hidden}"/><c:axPos val="{place}"/><c:majorTickMark val="none"/>'
        f'<c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/><c:crossAx val="{other}"/>'
        f'<c:crosses val="autoZero"/></c:{kind}Ax>'
    )
