"""Documents: review sections, style reports and copied assets."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import pytest
from docx import Document as WordDocument
from docx.enum.style import WD_STYLE_TYPE
from docx.shared import Inches, Pt, RGBColor
from lxml import etree
from PIL import Image

from backshop.formats import FormatError, Selector
from backshop.formats import docx as docx_format

from .office import W, members, source, warnings, word

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


@pytest.fixture
def giver(tmp_path):
    document: Any = WordDocument()
    base = document.styles.add_style("House Base", WD_STYLE_TYPE.PARAGRAPH)
    base.font.name = "Georgia"
    house = document.styles.add_style("House Text", WD_STYLE_TYPE.PARAGRAPH)
    house.base_style = base
    house.font.size = Pt(13)
    house.font.bold = True
    house.font.color.rgb = RGBColor(0x12, 0x34, 0x56)
    document.add_heading("One", 1)
    document.add_paragraph("styled", style="House Text")
    paragraph = document.add_paragraph("mixed ")
    run = paragraph.add_run("bold")
    run.bold, run.font.size = True, Pt(15)
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "x"
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "blue").save(buffer, "PNG")
    buffer.seek(0)
    document.add_picture(buffer, width=Inches(1.5))
    document.sections[0].header.paragraphs[0].text = "House header"
    path = tmp_path / "giver.docx"
    document.save(str(path))
    return path


@pytest.fixture
def taker(tmp_path):
    document: Any = WordDocument()
    document.add_paragraph("first")
    document.add_paragraph("second")
    path = tmp_path / "taker.docx"
    document.save(str(path))
    return path


def copy(giver, taker, *assets):
    out = taker.with_name("out.docx")
    return docx_format.copy_assets(source(giver), source(taker), list(assets), out), out


@pytest.mark.rule("F29.2")
def test_a_section_is_extracted_with_runs_tables_images_and_order(giver):
    data: Any = docx_format.extract_section(source(giver), 1)

    section = data["section"]
    assert (data["section_index"], data["section_count"]) == (1, 2)
    assert (section["heading"], section["level"]) == ("One", 1)
    assert section["order"] == [{"p": 0}, {"p": 1}, {"p": 2}, {"t": 0}, {"p": 3}]
    mixed = section["paragraphs"][2]
    assert mixed["text"] == "mixed bold"
    assert mixed["runs"][1] == {
        "index": 1,
        "text": "bold",
        "bold": True,
        "italic": None,
        "underline": None,
        "size_pt": 15.0,
        "font_name": None,
        "color": None,
        "highlight": None,
        "link": None,
    }
    (table,) = section["tables"]
    assert (table["index"], table["row_count"], table["col_count"]) == (0, 1, 2)
    assert (table["rows"], table["drawn"]) == ([["x", ""]], [])
    assert [sorted(cell) for row in table["cells"] for cell in row] == [["look"], ["look"]]
    assert section["images"][0]["target"] == "word/media/image1.png"
    before: Any = docx_format.extract_section(source(giver), 0)
    assert before["section"]["paragraphs"] == []


def test_an_unknown_section_is_refused(giver):
    with pytest.raises(FormatError) as caught:
        docx_format.extract_section(source(giver), 7)

    assert (caught.value.reason, caught.value.hints) == ("unknown_section", ("1: One",))


@pytest.mark.rule("F21.2", "F21.4")
def test_styles_images_headers_and_page_are_listed(giver):
    data: Any = docx_format.get_styles(source(giver))

    styles = {entry["asset_id"]: entry for entry in data["styles"]}
    assert styles["paragraph_style:House Text"] == {
        "asset_id": "paragraph_style:House Text",
        "name": "House Text",
        "style_id": "HouseText",
        "type": "paragraph",
        "builtin": False,
        "base_style": "House Base",
        "font_name": "Georgia",
        "font_size": 13.0,
        "bold": True,
        "color": "#123456",
        "count": 1,
        "paragraphs": "1",
    }
    assert "Heading 9" in data["other_styles"]["paragraph"]
    order = [(entry["type"], entry["asset_id"]) for entry in data["styles"]]
    assert order == sorted(order)
    image = data["image_assets"][0]
    assert (image["filename"], image["content_type"], image["width"]) == (
        "image1.png",
        "image/png",
        Inches(1.5),
    )
    assert data["headers_footers"] == [
        {
            "asset_id": "header:default",
            "kind": "header",
            "type": "default",
            "text": "House header",
        }
    ]
    assert data["page"]["orientation"] == "portrait"


@pytest.mark.rule("F22.3", "F32.87")
def test_a_style_is_copied_with_its_base_chain(giver, taker):
    applied, out = copy(giver, taker, "paragraph_style:House Text")

    styles = word(out).styles
    assert styles["House Text"].base_style.name == "House Base"
    assert styles["House Text"].font.size == Pt(13)
    assert styles["House Base"].font.name == "Georgia"
    assert applied.extra == {"copied_count": 1, "copied": ["paragraph_style:House Text"]}
    assert applied.effects.collateral == ()
    assert applied.changed_parts == ("word/styles.xml",)


@pytest.mark.rule("F22.3")
def test_a_style_of_the_same_name_is_overwritten_only_when_asked(giver, taker, tmp_path):
    _, with_style = copy(giver, taker, "paragraph_style:House Text")
    other = with_style.rename(tmp_path / "other.docx")
    document = word(other)
    document.styles["House Text"].font.size = Pt(40)
    document.save(str(other))

    kept, out = copy(giver, other, "paragraph_style:House Text")
    assert warnings(kept) == {"asset_exists": 1}
    assert word(out).styles["House Text"].font.size == Pt(40)

    forced, out = copy(giver, other, {"asset_id": "paragraph_style:House Text", "overwrite": True})
    assert word(out).styles["House Text"].font.size == Pt(13)
    assert forced.effects.collateral == ()


@pytest.mark.rule("F22.3")
def test_a_list_style_brings_its_list(giver, taker):
    document = word(taker)
    styles = document.styles.element
    styles.remove(document.styles["List Bullet"].element)
    document.save(str(taker))

    applied, out = copy(giver, taker, "paragraph_style:List Bullet")

    number = word(out).styles["List Bullet"].element.pPr.numPr.numId.val
    assert f'w:numId="{number}"'.encode() in members(out)["word/numbering.xml"]
    assert applied.effects.collateral == ()


@pytest.mark.rule("F22.3", "F22.6")
def test_an_image_is_inserted_at_its_size_after_the_target(giver, taker):
    data: Any = docx_format.get_styles(source(giver))
    asset = data["image_assets"][0]["asset_id"]

    applied, out = copy(giver, taker, f"{asset}->0")

    document = word(out)
    assert [p.text for p in document.paragraphs] == ["first", "", "second"]
    assert document.inline_shapes[0].width == Inches(1.5)
    assert applied.effects.collateral == ()
    assert members(out)["word/media/image1.png"] == members(giver)["word/media/image1.png"]


@pytest.mark.rule("F22.3")
def test_a_header_is_copied(giver, taker):
    applied, out = copy(giver, taker, {"asset_id": "header:default"})

    assert word(out).sections[0].header.paragraphs[0].text == "House header"
    assert applied.effects.collateral == ()


CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def with_header(path, tmp_path, kind, inner, rels=""):
    """Write a copy of a document that has a header of this kind, with relationships of its own."""
    document = word(path)
    document.sections[0].header.paragraphs[0].text = "placeholder"
    document.save(str(tmp_path / "plain.docx"))
    out = tmp_path / "with-header.docx"
    with zipfile.ZipFile(out, "w") as new:
        for name, data in members(tmp_path / "plain.docx").items():
            if name.startswith("word/header"):
                words = f'xmlns:w="{W}" xmlns:r="{OFFICE}" xmlns:c="{CHART}" xmlns:mc="{MC}"'
                data = f"<w:hdr {words}>{inner}</w:hdr>".encode()
                lines = f'<Relationships xmlns="{PACKAGE}">{rels}</Relationships>'
                new.writestr(name.replace("word/", "word/_rels/") + ".rels", lines)
            if name == "word/document.xml":
                data = data.replace(
                    b'headerReference w:type="default"', f'headerReference w:type="{kind}"'.encode()
                )
            new.writestr(name, data)
    return out


def header_of(path):
    names = [name for name in members(path) if name.startswith("word/header")]
    return members(path)[names[-1]].decode()


@pytest.mark.rule("F22.3", "F22.6", "F21.2")
def test_a_header_is_used_in_the_sections_there_are_not_in_those_before_a_change(giver, taker):
    document = word(taker)
    section = document.sections[0]._sectPr
    old = f'<w:sectPr xmlns:w="{W}"><w:pgSz w:w="1440" w:h="1440"/></w:sectPr>'
    change = f'<w:sectPrChange xmlns:w="{W}" w:id="1" w:author="a">{old}</w:sectPrChange>'
    section.append(etree.fromstring(change))
    document.save(str(taker))

    applied, out = copy(giver, taker, "header:default")

    assert members(out)["word/document.xml"].count(b"headerReference") == 1
    data: Any = docx_format.get_styles(source(out))
    assert data["page"]["width"] == 8.5
    assert applied.effects.collateral == ()


@pytest.mark.rule("F22.3")
def test_a_header_keeps_links_and_loses_what_cannot_come_along_whole(giver, taker, tmp_path):
    chart = '<w:r><w:drawing><c:chart r:id="rId1"/></w:drawing></w:r>'
    both = f'<mc:Choice Requires="c">{chart}</mc:Choice><mc:Fallback>{chart}</mc:Fallback>'
    link = '<w:hyperlink r:id="{}"><w:r><w:t>{}</w:t></w:r></w:hyperlink>'
    inner = (
        f"<w:p>{chart}<mc:AlternateContent>{both}</mc:AlternateContent>"
        f"{link.format('rId2', 'site')}{link.format('rId3', 'file')}</w:p>"
    )
    rels = (
        f'<Relationship Id="rId1" Type="{OFFICE}/chart" Target="charts/none.xml"/>'
        f'<Relationship Id="rId2" Type="{OFFICE}/hyperlink" Target="https://a.example/" '
        'TargetMode="External"/>'
        f'<Relationship Id="rId3" Type="{OFFICE}/hyperlink" Target="file:///c:/x" '
        'TargetMode="External"/>'
    )
    path = with_header(giver, tmp_path, "default", inner, rels)

    applied, out = copy(path, taker, "header:default")

    header = header_of(out)
    assert ("chart r:" in header, "Choice" in header) == (False, False)
    assert "<w:drawing" not in header
    links = word(out).sections[0].header.paragraphs[0].hyperlinks
    assert [(one.text, one.url) for one in links] == [("site", "https://a.example/")]
    assert "<w:r><w:t>file</w:t></w:r></w:p>" in header
    assert warnings(applied) == {"content_removed": 2}
    assert applied.effects.collateral == ()


@pytest.mark.rule("F22.3")
def test_a_header_names_the_styles_and_lists_of_its_new_document(giver, taker, tmp_path):
    document = word(taker)
    document.styles["Header"].element.set(f"{{{W}}}styleId", "Kopfzeile")
    document.save(str(taker))
    item = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{}"/></w:numPr>'
    use = '<w:p><w:pPr><w:pStyle w:val="{}"/>{}</w:pPr><w:r><w:t>x</w:t></w:r></w:p>'
    inner = (
        use.format("Header", item.format(1))
        + use.format("HouseText", item.format(1))
        + use.format("NoStyle", item.format(999))
    )
    path = with_header(giver, tmp_path, "default", inner)

    applied, out = copy(path, taker, "header:default")

    first, second, third = word(out).sections[0].header.paragraphs
    assert [p.style.name for p in (first, second)] == ["Header", "House Text"]
    assert second.style.base_style.name == "House Base"
    numbers = [p._p.pPr.numPr.numId.val for p in (first, second)]
    assert numbers[0] == numbers[1]
    assert f'w:num w:numId="{numbers[0]}"'.encode() in members(out)["word/numbering.xml"]
    assert f'w:numId="{numbers[0]}"'.encode() not in members(taker)["word/numbering.xml"]
    assert len(third._p.pPr) == 0
    assert applied.effects.collateral == ()


@pytest.mark.rule("F22.6")
@pytest.mark.parametrize("pages", ["even", "first"])
@pytest.mark.parametrize("off", [True, False])
def test_the_pages_of_a_copied_header_are_told_apart(giver, taker, tmp_path, pages, off):
    document = word(taker)
    document.sections[0].footer.paragraphs[0].text = "everywhere"
    if off:
        document.settings.odd_and_even_pages_header_footer = True
        document.sections[0].different_first_page_header_footer = True
        for tag in ("evenAndOddHeaders", "titlePg"):
            for root in (document.settings.element, document.element):
                for switch in root.iter(f"{{{W}}}{tag}"):
                    switch.set(f"{{{W}}}val", "0")
    document.save(str(taker))
    inner = "<w:p><w:r><w:t>mine</w:t></w:r></w:p>"
    path = with_header(giver, tmp_path, pages, inner)

    applied, out = copy(path, taker, f"header:{pages}")

    written = word(out)
    section = written.sections[0]
    assert getattr(section, f"{pages}_page_header").paragraphs[0].text == "mine"
    assert getattr(section, f"{pages}_page_footer").paragraphs[0].text == "everywhere"
    told = (written.settings.odd_and_even_pages_header_footer, pages == "even")
    assert told[0] == told[1]
    assert section.different_first_page_header_footer == (pages == "first")
    assert applied.effects.collateral == ()


def with_lists(path, numbering, styles="", bullet=""):
    """Write these list definitions, styles and the picture of a bullet into a document."""
    parts = members(path)
    words = f'xmlns:w="{W}" xmlns:r="{OFFICE}" xmlns:v="urn:schemas-microsoft-com:vml"'
    parts["word/numbering.xml"] = f"<w:numbering {words}>{numbering}</w:numbering>".encode()
    lines = f'<Relationships xmlns="{PACKAGE}">{bullet}</Relationships>'
    parts["word/_rels/numbering.xml.rels"] = lines.encode()
    parts["word/styles.xml"] = parts["word/styles.xml"].replace(
        b"</w:styles>", f"{styles}</w:styles>".encode()
    )
    with zipfile.ZipFile(path, "w") as new:
        for name, data in parts.items():
            new.writestr(name, data)
    return path


def level(number: int, shown: str, inside: str = "") -> str:
    return f'<w:lvl w:ilvl="{number}"><w:numFmt w:val="{shown}"/>{inside}</w:lvl>'


def item(words: str, number: int, level: int = 0) -> str:
    place = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return f"<w:p><w:pPr>{place}</w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"


LINKED = (
    '<w:abstractNum w:abstractNumId="1">{}</w:abstractNum>'
    '<w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="Dots"/></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="2"/>{}</w:num>'
)
DOTS = (
    '<w:style w:type="numbering" w:styleId="Dots"><w:name w:val="Dots"/><w:pPr><w:numPr>'
    '<w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
)


@pytest.mark.rule("F22.3")
def test_a_list_comes_with_the_levels_of_its_list_style_and_its_own(giver, taker, tmp_path):
    own = (
        '<w:lvlOverride w:ilvl="1"><w:startOverride w:val="5"/></w:lvlOverride>'
        f'<w:lvlOverride w:ilvl="2">{level(2, "bullet")}</w:lvlOverride>'
    )
    levels = level(0, "bullet") + level(1, "lowerRoman") + level(2, "decimal")
    inner = item("x", 2) + item("y", 2, 1) + item("z", 2, 2)
    path = with_header(giver, tmp_path, "default", inner)
    with_lists(path, LINKED.format('<w:styleLink w:val="Dots"/>' + levels, own), DOTS)

    applied, out = copy(path, taker, "header:default")

    read = docx_format.read(source(out), Selector(section="@headers")).text
    assert read.endswith("\n- x\n  1. y\n    - z")
    numbering = members(out)["word/numbering.xml"].decode()
    assert '<w:startOverride w:val="5"/>' in numbering
    assert "lowerRoman" in numbering
    assert "Dots" not in numbering
    assert applied.effects.collateral == ()


@pytest.mark.rule("F22.3")
@pytest.mark.parametrize("has_picture", [True, False])
def test_the_picture_of_a_bullet_comes_with_its_list(giver, taker, tmp_path, has_picture):
    picture = '<w:pict><v:shape><v:imagedata r:id="rId1"/></v:shape></w:pict>'
    bullet = f'<w:numPicBullet w:numPicBulletId="3">{picture}</w:numPicBullet>'
    own = f'<w:lvlOverride w:ilvl="1">{level(1, "bullet", LEADS)}</w:lvlOverride>'
    path = with_header(giver, tmp_path, "default", item("x", 2) + item("y", 2, 1))
    relation = f'<Relationship Id="rId1" Type="{OFFICE}/image" Target="media/image1.png"/>'
    with_lists(
        path,
        bullet + LINKED.format(level(0, "bullet", LEADS), own),
        DOTS,
        relation if has_picture else "",
    )

    applied, out = copy(path, taker, "header:default")

    root = etree.fromstring(members(out)["word/numbering.xml"])
    made = [one.get(f"{{{W}}}numPicBulletId") for one in root.findall(f"{{{W}}}numPicBullet")]
    used = [one.get(f"{{{W}}}val") for one in root.iter(f"{{{W}}}lvlPicBulletId")]
    assert (made, used) == ((["0"], ["0", "0"]) if has_picture else ([], []))
    assert root[0].tag == f"{{{W}}}{'numPicBullet' if has_picture else 'abstractNum'}"
    relations = members(out).get("word/_rels/numbering.xml.rels", b"")
    assert (b"media/image1.png" in relations) is has_picture
    assert applied.effects.collateral == ()


LEADS = '<w:lvlText w:val="o"/><w:lvlPicBulletId w:val="3"/>'
PHOTO = "http://schemas.microsoft.com/office/2007/relationships/hdphoto"


@pytest.mark.rule("F22.3")
def test_a_picture_in_a_header_keeps_the_layer_it_was_made_from(giver, taker, tmp_path):
    layer = f'<a14:imgLayer xmlns:a14="{A}/2010" r:embed="rId2"/>'
    blip = f'<a:blip xmlns:a="{A}" r:embed="rId1"><a:ext>{layer}</a:ext></a:blip>'
    rels = (
        f'<Relationship Id="rId1" Type="{OFFICE}/image" Target="media/image1.png"/>'
        f'<Relationship Id="rId2" Type="{PHOTO}" Target="media/hdphoto1.png"/>'
    )
    inner = f"<w:p><w:r><w:drawing>{blip}</w:drawing></w:r></w:p>"
    path = with_header(giver, tmp_path, "default", inner, rels)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("word/media/hdphoto1.png", b"photo")

    applied, out = copy(path, taker, "header:default")

    name = next(name for name in members(out) if name.startswith("word/_rels/header"))
    relations = {line.get("Id"): line for line in etree.fromstring(members(out)[name])}
    names = re.findall('r:embed="(.*?)"', header_of(out))
    assert [relations[one].get("Type") for one in names] == [f"{OFFICE}/image", PHOTO]
    assert applied.effects.collateral == ()


def footers(path, pages):
    """Return what the footers of such pages show, section by section."""
    document = word(path)
    shown = []
    for section in document.sections:
        told = {
            "first": section.different_first_page_header_footer,
            "even": document.settings.odd_and_even_pages_header_footer,
        }
        footer = getattr(section, f"{pages}_page_footer") if told[pages] else section.footer
        shown.append(footer.paragraphs[0].text)
    return shown


@pytest.mark.rule("F22.6")
@pytest.mark.parametrize(
    ("pages", "sections"),  # of each section: whether it tells, default footer, footer of pages
    [
        ("first", [(False, "D", "stale")]),
        ("first", [(False, None, "stale")]),
        ("first", [(True, "D", "F"), (False, None, None)]),
        ("first", [(True, None, "F"), (False, None, None), (False, None, None)]),
        ("first", [(False, "D", "stale"), (True, None, None)]),
        ("first", [(False, "D", None), (True, None, None), (False, "E", None)]),
        ("first", [(False, None, "stale"), (True, "D", None), (False, None, None)]),
        ("first", [(False, "D", None), (False, None, None), (True, None, "F")]),
        ("even", [(False, "D", "stale"), (False, None, "old")]),
        ("even", [(False, None, "stale"), (False, "D", None)]),
        ("even", [(True, "D", "F"), (True, None, None)]),
    ],
)
def test_footers_show_what_they_showed_when_a_header_is_copied(
    giver, taker, tmp_path, pages, sections
):
    document = word(taker)
    for number, (tells, default, own) in enumerate(sections):
        section = document.add_section() if number else document.sections[0]
        for footer, text in (
            (section.footer, default),
            (getattr(section, f"{pages}_page_footer"), own),
        ):
            if text is not None:
                footer.is_linked_to_previous = False
                footer.paragraphs[0].text = text
        if pages == "first":
            section.different_first_page_header_footer = tells
        else:
            document.settings.odd_and_even_pages_header_footer = tells
    document.save(str(taker))
    before = footers(taker, pages)
    path = with_header(giver, tmp_path, pages, "<w:p><w:r><w:t>mine</w:t></w:r></w:p>")

    applied, out = copy(path, taker, f"header:{pages}")

    assert footers(out, pages) == before
    headers = [getattr(one, f"{pages}_page_header") for one in word(out).sections]
    assert [header.paragraphs[0].text for header in headers] == ["mine"] * len(sections)
    assert all(one.different_first_page_header_footer for one in word(out).sections) == (
        pages == "first"
    )
    assert applied.effects.collateral == ()


@pytest.mark.rule("F22.6")
def test_a_header_is_used_in_the_last_section_whatever_programs_noted_behind_it(giver, taker):
    document = word(taker)
    document.element.body.append(etree.Comment("x"))
    document.save(str(taker))

    _, out = copy(giver, taker, "header:default")

    assert members(out)["word/document.xml"].count(b"<w:sectPr") == 1


@pytest.mark.rule("F22.5", "F22.1")
@pytest.mark.parametrize(
    ("asset", "reason"),
    [
        ("paragraph_style:House Txt", "unknown_asset"),
        ("footer:first", "unknown_asset"),
        ("nonsense", "unknown_asset"),
        ("IMAGE", "asset_target_missing"),
        ("IMAGE->99", "asset_target_missing"),
        ({"target": "0"}, "missing_field"),
        (7, "bad_type"),
    ],
)
def test_bad_assets_get_their_reason_and_leave_nothing(giver, taker, asset, reason):
    data: Any = docx_format.get_styles(source(giver))
    image = data["image_assets"][0]["asset_id"]
    wish = asset.replace("IMAGE", image) if isinstance(asset, str) else asset

    with pytest.raises(FormatError) as caught:
        copy(giver, taker, "paragraph_style:House Base", wish)

    assert caught.value.reason == reason
    assert not taker.with_name("out.docx").exists()
    if reason == "unknown_asset" and "Txt" in str(asset):
        assert "paragraph_style:House Text" in caught.value.hints
