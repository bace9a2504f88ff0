"""Charts and diagrams of documents: their words are read, replaced and reviewed."""

from __future__ import annotations

import zipfile
from typing import Any

import pytest
from pptx.chart.data import CategoryChartData
from pptx.chart.xmlwriter import ChartXmlWriter
from pptx.enum.chart import XL_CHART_TYPE

from backshop.formats import FormatError, Formats, Selector
from backshop.formats import docx as docx_format

from .archives import file_source
from .office import edit, members, paragraph, raw_members, source, warnings, with_body

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
C = "http://schemas.openxmlformats.org/drawingml/2006/chart"
DGM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
DSP = "http://schemas.microsoft.com/office/drawing/2008/diagram"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WP = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
OFFICE = "application/vnd.openxmlformats-officedocument.drawingml"
MICROSOFT = "http://schemas.microsoft.com/office/2007/relationships/diagramDrawing"
DRAWING_TYPE = "application/vnd.ms-office.drawingml.diagramDrawing+xml"


def chart(*, title: str) -> str:
    data = CategoryChartData()
    data.categories = ["East one", "two"]
    data.add_series("Sales East", (1, 2))
    xml: str = ChartXmlWriter(XL_CHART_TYPE.COLUMN_CLUSTERED, data).xml
    runs = "".join(f"<a:r><a:t>{piece}</a:t></a:r>" for piece in title.split("|"))
    head = f"<c:title><c:tx><c:rich><a:bodyPr/><a:p>{runs}</a:p></c:rich></c:tx></c:title>"
    return xml.replace("<c:chart>", f"<c:chart>{head}", 1)


def words(prefix: str, *texts: str) -> str:
    return "".join(
        f"<{prefix}:t><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></{prefix}:t>"
        for text in texts
    )


def diagram_data(*texts: str) -> str:
    points = "".join(
        f'<dgm:pt modelId="{at}">{words("dgm", t)}</dgm:pt>' for at, t in enumerate(texts)
    )
    ext = f'<a:ext uri="x"><dsp:dataModelExt xmlns:dsp="{DSP}" relId="rW" minVer="1"/></a:ext>'
    return (
        f'<dgm:dataModel xmlns:dgm="{DGM}" xmlns:a="{A}"><dgm:ptLst>{points}</dgm:ptLst>'
        f"<dgm:extLst>{ext}</dgm:extLst></dgm:dataModel>"
    )


def diagram_drawing(*texts: str) -> str:
    shapes = "".join(
        f"<dsp:sp>{words('dsp', text).replace('dsp:t>', 'dsp:txBody>')}</dsp:sp>" for text in texts
    )
    tree = f"<dsp:spTree>{shapes}</dsp:spTree>"
    return f'<dsp:drawing xmlns:dsp="{DSP}" xmlns:a="{A}">{tree}</dsp:drawing>'


def shows_chart(rel_id: str) -> str:
    return _drawing(C, f'<c:chart xmlns:c="{C}" r:id="{rel_id}"/>')


def shows_diagram() -> str:
    return _drawing(DGM, f'<dgm:relIds xmlns:dgm="{DGM}" r:dm="rD" r:lo="rD" r:qs="rD" r:cs="rD"/>')


def _drawing(uri: str, inside: str) -> str:
    return (
        '<w:r><w:drawing><wp:inline><wp:extent cx="5000000" cy="3000000"/>'
        '<wp:docPr id="1" name="x"/><a:graphic>'
        f'<a:graphicData uri="{uri}">{inside}</a:graphicData></a:graphic>'
        "</wp:inline></w:drawing></w:r>"
    )


PARTS = {
    "rC": ("charts/chart1.xml", "chart", f"{OFFICE}chart+xml"),
    "rT": ("charts/chart2.xml", "chart", f"{OFFICE}chart+xml"),
    "rD": ("diagrams/data1.xml", "diagramData", f"{OFFICE}ml.diagramData+xml"),
    "rW": ("diagrams/drawing1.xml", MICROSOFT, DRAWING_TYPE),
}


def drawn(path, body):
    """Write a document whose body may show two charts (rC, rT) and a diagram (rD)."""
    plain = members(with_body(path, body))
    contents = {
        "rC": chart(title="Sales in the Ea|st"),
        "rT": chart(title="East of the table"),
        "rD": diagram_data("Plan the East", "Act"),
        "rW": diagram_drawing("Plan the East", "Act"),
    }
    rels = types = ""
    for rel_id, (name, kind, content_type) in PARTS.items():
        full = kind if "/" in kind else f"{REL}/{kind}"
        rels += f'<Relationship Id="{rel_id}" Type="{full}" Target="{name}"/>'
        types += f'<Override PartName="/word/{name}" ContentType="{content_type}"/>'
        plain[f"word/{name}"] = contents[rel_id].encode()
    for name, end, more in (
        ("word/_rels/document.xml.rels", b"</Relationships>", rels),
        ("[Content_Types].xml", b"</Types>", types),
    ):
        plain[name] = plain[name].replace(end, more.encode() + end)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in plain.items():
            archive.writestr(name, data)
    return path


@pytest.fixture
def report(tmp_path):
    """A document with a chart, a chart in a table, and a diagram after it."""
    cell = f"<w:tc><w:p>{shows_chart('rT')}</w:p></w:tc>"
    body = (
        paragraph("East and West")
        + f"<w:p>{shows_chart('rC')}</w:p>"
        + f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>"
        + f"<w:p>{shows_diagram()}</w:p>"
    )
    return drawn(tmp_path / "a.docx", body)


LINES = [
    "East and West",
    "[chart: bar; Sales East; East one, two]",
    "[chart] Sales in the East",
    "[table 0: 1x1]",
    "|  |",
    "[chart: bar; Sales East; East one, two]",
    "[chart] East of the table",
    "[diagram]",
    "[diagram] Plan the East",
    "[diagram] Act",
]


@pytest.mark.rule("F9.10", "F29.1")
def test_words_of_charts_and_diagrams_are_read(report):
    assert docx_format.extract_lines(source(report)) == LINES
    assert docx_format.read(source(report), Selector()).text.split("\n") == LINES


@pytest.mark.rule("F19.4", "F23.2", "F16.11", "F16.14")
def test_their_words_are_replaced_and_the_data_of_charts_is_left_and_counted(report):
    applied, out = edit(report, {"op": "replace_text", "search": "the east", "replace": "North"})

    assert docx_format.extract_lines(source(out)) == [
        line.replace("the East", "North") for line in LINES
    ]
    assert applied.changes == ((0, "2 occurrences replaced"),)
    assert applied.changed_parts == (
        "word/charts/chart1.xml",
        "word/diagrams/data1.xml",
        "word/diagrams/drawing1.xml",
    )
    assert applied.effects.collateral == ()
    assert applied.focus == {"section_index": 0, "paragraph": 1}
    before, after = raw_members(report), raw_members(out)
    assert {name for name in before if before[name] != after[name]} == set(applied.changed_parts)
    assert b"Plan North" in members(out)["word/diagrams/drawing1.xml"]

    again, _ = edit(report, {"op": "replace_text", "search": "east", "replace": "x", "expect": 4})
    assert warnings(again) == {"occurrences_left": 4}  # a series and a category of each chart


@pytest.mark.rule("F19.4")
@pytest.mark.parametrize(
    ("scope", "changed"),
    [
        ("body", ["chart1.xml", "data1.xml", "drawing1.xml"]),
        ("tables", ["chart2.xml"]),
    ],
)
def test_scope_holds_for_charts_and_diagrams(report, scope, changed):
    applied, _ = edit(
        report,
        {
            "op": "replace_text",
            "search": "east",
            "replace": "x",
            "match_case": False,
            "scope": scope,
        },
    )

    drawn_parts = [name for name in applied.changed_parts if name != "word/document.xml"]
    assert [name.rpartition("/")[2] for name in drawn_parts] == changed


@pytest.mark.rule("F19.4", "F19.13")
def test_a_scope_without_charts_finds_nothing_in_them(report):
    headers = {"op": "replace_text", "search": "east", "replace": "x", "scope": "headers"}

    with pytest.raises(FormatError) as caught:
        edit(report, headers)
    assert caught.value.reason == "no_match"


@pytest.mark.rule("F19.4", "F19.13")
def test_a_chart_that_is_shown_outside_the_scope_too_is_left(tmp_path):
    cell = f"<w:tc><w:p>{shows_chart('rC')}</w:p></w:tc>"
    body = f"<w:p>{shows_chart('rC')}</w:p><w:tbl><w:tr>{cell}</w:tr></w:tbl>"
    path = drawn(tmp_path / "a.docx", body)

    with pytest.raises(FormatError) as caught:
        edit(
            path, {"op": "replace_text", "search": "in the east", "replace": "x", "scope": "tables"}
        )
    assert caught.value.reason == "no_match"


@pytest.mark.rule("F19.4")
def test_a_deleted_chart_is_neither_read_nor_changed(tmp_path):
    deleted = f'<w:p><w:del w:id="1" w:author="a">{shows_chart("rC")}</w:del></w:p>'
    path = drawn(tmp_path / "a.docx", deleted + paragraph("kept"))

    with pytest.raises(FormatError) as caught:
        edit(path, {"op": "replace_text", "search": "sales", "replace": "x"})

    assert caught.value.reason == "no_match"
    assert docx_format.extract_lines(source(path)) == ["", "kept"]


@pytest.mark.rule("F9.10")
def test_a_damaged_chart_is_named_and_keeps_nothing_from_being_read(report):
    parts = members(report) | {"word/charts/chart1.xml": b"<broken", "word/diagrams/data1.xml": b""}
    with zipfile.ZipFile(report, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)

    lines = docx_format.extract_lines(source(report))

    assert lines[:2] == ["East and West", "[chart]"]
    assert lines[-1] == "[diagram]"


@pytest.mark.rule("F29.2", "B12.5")
def test_review_of_a_document_shows_what_charts_and_text_boxes_say(report, tmp_path):
    box = (
        "<w:p><w:r><w:t>Anchor</w:t></w:r><w:r><w:pict><v:shape><v:textbox><w:txbxContent>"
        f"{paragraph('Costs in the box')}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
        "</w:p>"
    )
    path = drawn(tmp_path / "b.docx", f"<w:p>{shows_chart('rC')}</w:p>{box}")
    _, out = edit(path, {"op": "replace_text", "search": "in the", "replace": "of"})

    with Formats(plugins={}) as formats:
        sections: Any = formats.diff_document(file_source(path), file_source(out))

    changed = [b for section in sections for b in section["blocks"] if b["kind"] == "changed"]
    shown = ["".join(p["text"] for p in b["pieces"] if p["mark"] != "removed") for b in changed]
    assert shown == ["[chart] Sales of East", "[text box] Costs of box"]


@pytest.mark.needs("libreoffice")
@pytest.mark.rule("F19.4", "F23.4")
def test_libreoffice_shows_the_new_title_of_a_chart(report, tmp_path):
    _, out = edit(report, {"op": "replace_text", "search": "in the East", "replace": "xyz"})

    with Formats(cache=tmp_path / "cache", plugins={}) as formats:
        assert formats.render_page(file_source(out), 0).available
        (pdf,) = (tmp_path / "cache").rglob("*.pdf")
        assert "Sales xyz" in formats.read(file_source(pdf)).text
