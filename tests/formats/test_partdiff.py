"""Nothing that changed in an office file is passed over: every part is compared (B12.22)."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from docx import Document as WordDocument
from lxml import etree
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.drawing.image import Image as SheetPicture
from openpyxl.formatting.rule import CellIsRule
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.table import Table
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from backshop.formats import FormatError, Formats

from .office import members, source

KINDS = ("docx", "xlsx", "pptx", "odt")
FOLDERS = ("ooxml-odd", "office-fixtures", "xlsx-features")
PACKAGING = "packaging"
# What may change without a word but this one: the time of saving, counts, ids that programs give.
TRIVIAL = {
    *("modified", "revision", "lastPrinted", "date", "vector", "TotalTime"),
    *("fileVersion", "rsid", "rsidRoot", "dimension", "editing-duration", "editing-cycles"),
    *("document-statistic", "generator", "absPath", "revisionPtr", "creationId", "proofErr"),
}
TRIVIAL_KEYS = {"spans", "Ignorable", "calcId", "dyDescent", "uid", "dirty", "err", "paraId"}
TRIVIAL_KEYS |= {"textId", "fullCalcOnLoad", "smtClean", "anchorId", "editId", "space"}


@pytest.fixture(scope="module")
def formats():
    with Formats(workers=1) as found:
        yield found


def picture(colour: str, size=(8, 6)) -> io.BytesIO:
    made = io.BytesIO()
    Image.new("RGB", size, colour).save(made, "PNG")
    made.seek(0)
    return made


def with_part(path: Path, part: str, change: Any, name: str = "b") -> Path:
    """Write a copy of a package with one part changed."""
    made = path.with_name(f"{name}{path.suffix}")
    with zipfile.ZipFile(made, "w") as new:
        for member, data in members(path).items():
            new.writestr(member, change(data) if member == part else data)
    return made


def swap(old: str, by: str) -> Any:
    def change(data: bytes) -> bytes:
        assert old.encode() in data
        return data.replace(old.encode(), by.encode(), 1)

    return change


def review(formats: Formats, before: Path, after: Path) -> tuple[bool, list[str]]:
    """Return whether the lines differ, and what a review names beside them."""
    old, new = source(before), source(after)
    is_told = bool(formats.diff_text(old, new).hunks)
    also = formats.diff_beside(old, new, is_told=is_told)
    return is_told, [str(one["text"]) for one in also]


# ---------------------------------------------------------------- presentations


@pytest.fixture
def deck(tmp_path):
    made = Presentation()
    for title in ("One", "Two", "Three"):
        slide = made.slides.add_slide(made.slide_layouts[5])
        slide.shapes.title.text = title
    data = CategoryChartData()
    data.categories = ["a", "b"]
    data.add_series("Sales", (1, 2))
    slide.shapes.add_chart(
        XL_CHART_TYPE.BAR_CLUSTERED, Inches(1), Inches(1), Inches(3), Inches(3), data
    )
    slide.shapes.add_picture(picture("red"), Inches(5), Inches(5))
    box = slide.shapes.add_textbox(Inches(1), Inches(5), Inches(2), Inches(1))
    box.text_frame.text = "see"
    box.text_frame.paragraphs[0].runs[0].hyperlink.address = "https://one.example/"
    made.slides[0].notes_slide.notes_text_frame.text = "say this"
    made.save(str(tmp_path / "a.pptx"))
    return tmp_path / "a.pptx"


TRANSITION = '<p:transition spd="slow"><p:fade/></p:transition>'
TIMING = '<p:timing><p:tnLst><p:par><p:cTn id="1" dur="5"/></p:par></p:tnLst></p:timing>'


@pytest.mark.rule("B12.22", "B12.8")
@pytest.mark.parametrize(
    ("part", "old", "by", "said"),
    [
        ("ppt/slides/slide3.xml", "</p:clrMapOvr>", f"</p:clrMapOvr>{TRANSITION}", "transition"),
        ("ppt/slides/slide3.xml", "</p:clrMapOvr>", f"</p:clrMapOvr>{TIMING}", "animations"),
        ("ppt/slides/slide3.xml", "</p:cSld>", "<p:extLst/></p:cSld>", "extensions"),
    ],
)
def test_what_a_slide_does_beside_its_shapes_is_named_with_the_slide(
    formats, deck, part, old, by, said
):
    after = with_part(deck, part, swap(old, by))

    assert review(formats, deck, after) == (False, [f"slide 3: {said}"])
    slides = formats.diff_deck(
        source(deck), source(after), formats.diff_rest(source(deck), source(after))["rest"]
    )
    assert [(s["kind"], s["facts"]) for s in slides] == [
        ("same", []),
        ("same", []),
        ("changed", [said]),
    ]


@pytest.mark.rule("B12.22", "B12.8")
def test_a_change_of_words_does_not_hide_what_else_changed(formats, deck, document):
    slide = with_part(deck, "ppt/slides/slide1.xml", swap("One", "Uno"), "words")
    slide = with_part(
        slide, "ppt/slides/slide3.xml", swap("</p:clrMapOvr>", f"</p:clrMapOvr>{TIMING}")
    )
    text = with_part(document, "word/document.xml", swap("words", "mots"), "words")
    text = with_part(text, "word/settings.xml", swap("</w:settings>", "<w:own/></w:settings>"))

    assert review(formats, deck, slide) == (True, ["slide 3: animations"])
    assert review(formats, document, text) == (True, ["settings: own"])


@pytest.mark.rule("B12.22", "B12.8")
def test_a_chart_that_changed_is_named_with_its_slide_and_what_changed(formats, deck):
    (chart,) = (name for name in members(deck) if name.startswith("ppt/charts/chart"))
    values = with_part(deck, chart, swap("<c:v>2", "<c:v>7"))
    look = with_part(deck, chart, swap('<c:barDir val="bar"/>', '<c:barDir val="col"/>'), "c")
    name = chart.rpartition("/")[2]

    assert review(formats, deck, values) == (False, [f"slide 3: chart {name} of slide 3: values"])
    assert review(formats, deck, look) == (
        False,
        [f"slide 3: chart {name} of slide 3: colours and look"],
    )


@pytest.mark.rule("B12.8")
def test_shapes_of_a_slide_that_lie_in_another_order_are_told(formats, deck):
    def turned(data: bytes) -> bytes:
        root = etree.fromstring(data)
        tree: Any = root.find(".//{*}spTree")
        tree.insert(2, tree[-1])
        return etree.tostring(root)

    after = with_part(deck, "ppt/slides/slide3.xml", turned)

    assert review(formats, deck, after) == (False, ["slide 3: order in which shapes are drawn"])


@pytest.mark.rule("B12.8", "F29.3")
def test_a_link_of_a_slide_that_leads_elsewhere_is_named_with_both_addresses(formats, deck):
    part = "ppt/slides/_rels/slide3.xml.rels"
    after = with_part(deck, part, swap("https://one.example/", "https://two.example/"))

    is_told, also = review(formats, deck, after)

    assert not is_told
    assert "link: https://one.example/ → https://two.example/" in also[0]


@pytest.mark.rule("B12.22")
@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("ppt/slideMasters/slideMaster1.xml", "master slideMaster1.xml: "),
        ("ppt/slideLayouts/slideLayout6.xml", "layout slideLayout6.xml: "),
        ("ppt/theme/theme1.xml", "theme theme1.xml: "),
        ("ppt/presProps.xml", "show settings: "),
        ("ppt/notesSlides/notesSlide1.xml", "slide 1: notes of slide 1: "),
    ],
)
def test_what_lies_behind_the_slides_is_named(formats, deck, part, said):
    def touched(data: bytes) -> bytes:
        root = etree.fromstring(data)
        etree.SubElement(root, "{urn:own}extra")
        return etree.tostring(root)

    is_told, also = review(formats, deck, with_part(deck, part, touched))

    assert not is_told
    assert [one.startswith(said) for one in also] == [True]


@pytest.mark.rule("B12.8")
def test_a_slide_put_in_front_changes_no_other_slide(formats, deck, tmp_path):
    made = Presentation(str(deck))
    made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = "Zero"
    ids = made.slides._sldIdLst
    ids.insert(0, ids[-1])
    made.save(str(tmp_path / "b.pptx"))
    old, new = source(deck), source(tmp_path / "b.pptx")

    slides = formats.diff_deck(old, new, formats.diff_rest(old, new)["rest"])

    assert [(s["title"], s["kind"], s["index_before"]) for s in slides] == [
        ("Zero", "added", None),
        ("One", "same", 0),
        ("Two", "same", 1),
        ("Three", "same", 2),
    ]


# ---------------------------------------------------------------- documents


@pytest.fixture
def document(tmp_path):
    made = WordDocument()
    made.add_heading("Report", 1)
    made.add_paragraph("words")
    made.add_picture(picture("red"))
    made.add_table(1, 2).cell(0, 0).text = "one two three"
    made.save(str(tmp_path / "a.docx"))
    return tmp_path / "a.docx"


@pytest.mark.rule("B12.5", "F29.2")
def test_a_picture_that_was_replaced_in_a_document_is_told_with_name_and_size(formats, document):
    new = picture("blue", (16, 12)).getvalue()
    old = members(document)["word/media/image1.png"]
    after = with_part(document, "word/media/image1.png", lambda _: new)
    sides = (source(document), source(after))

    (section,) = [s for s in formats.diff_document(*sides) if s["kind"] != "same"]

    shown = (
        f"image1.png (8 x 6 pixels, {len(old)} bytes) → "
        f"image1.png (16 x 12 pixels, {len(new)} bytes)"
    )
    assert [b["formats"] for b in section["blocks"] if b["kind"] != "same"] == [
        [f"picture: {shown}"]
    ]
    assert review(formats, document, after) == (
        False,
        [f"section “Report”: picture: {shown}"],
    )


@pytest.mark.rule("B12.5")
def test_the_words_that_changed_in_a_table_cell_are_marked(formats, document):
    after = with_part(document, "word/document.xml", swap("one two three", "one 2 three"))

    sections = formats.diff_document(source(document), source(after))

    (cell,) = [
        cell
        for section in sections
        for block in section["blocks"]
        for row in block.get("rows", ())
        for cell in row["cells"]
        if cell["kind"] == "changed"
    ]
    assert [(one["mark"], one["text"]) for one in cell["pieces"]] == [
        ("same", "one "),
        ("removed", "two"),
        ("added", "2"),
        ("same", " three"),
    ]


@pytest.mark.rule("B12.22")
@pytest.mark.parametrize(
    ("part", "old", "by", "said"),
    [
        (
            "word/styles.xml",
            '<w:name w:val="heading 2"/>',
            '<w:name w:val="heading 2"/><w:hidden/>',
            "styles: heading 2",
        ),
        (
            "word/settings.xml",
            "</w:settings>",
            "<w:trackRevisions/></w:settings>",
            "settings: tracking of changes",
        ),
        ("word/document.xml", '<w:pgSz w:w="', '<w:pgSz w:w="1', "the document: page set-up"),
        (
            "docProps/core.xml",
            "python-docx</dc:creator>",
            "Ann</dc:creator>",
            "file properties: author",
        ),
    ],
)
def test_what_changed_around_a_documents_text_is_named(formats, document, part, old, by, said):
    after = with_part(document, part, swap(old, by))

    assert review(formats, document, after) == (False, [said])


@pytest.mark.rule("B12.22", "B12.5")
def test_a_bookmark_and_a_language_are_told_at_their_paragraph(formats, document):
    marked = (
        '<w:p><w:bookmarkStart w:id="9" w:name="here"/><w:bookmarkEnd w:id="9"/>'
        '<w:r><w:rPr><w:lang w:val="de-DE"/></w:rPr><w:t>words'
    )
    after = with_part(document, "word/document.xml", swap("<w:p><w:r><w:t>words", marked))

    assert review(formats, document, after) == (
        False,
        ["section “Report”: bookmarks changed; language changed"],
    )


# ---------------------------------------------------------------- workbooks


@pytest.fixture
def book(tmp_path):
    made = Workbook()
    sheet: Any = made.active
    sheet.title = "Q1"
    for row in (("a", 1), ("b", 2), ("c", "=SUM(B1:B2)")):
        sheet.append(row)
    sheet.add_data_validation(DataValidation(type="whole", sqref="B1:B2", formula1="0"))
    sheet.conditional_formatting.add("B1:B2", CellIsRule(operator="lessThan", formula=["5"]))
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=2))
    sheet.add_chart(chart, "E2")
    sheet["H1"], sheet["H2"] = "head", "below"
    sheet.add_table(Table(displayName="T", ref="H1:H2"))
    made.create_sheet("Other")["A1"] = "x"
    made.save(str(tmp_path / "a.xlsx"))
    return tmp_path / "a.xlsx"


SHEET = "xl/worksheets/sheet1.xml"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


@pytest.mark.rule("B12.22")
@pytest.mark.parametrize(
    ("part", "old", "by", "said"),
    [
        (
            SHEET,
            "<formula>5</formula>",
            "<formula>6</formula>",
            "sheet Q1: conditional format on B1:B2 changed: "
            "below 5: no format → below 6: no format",
        ),
        (
            SHEET,
            "<formula1>0</formula1>",
            "<formula1>1</formula1>",
            "sheet Q1: validation on B1:B2 changed: "
            "a whole number between 0; not empty; other values are let in → "
            "a whole number between 1; not empty; other values are let in",
        ),
        (SHEET, '<pageMargins left="', '<pageMargins left="1', "sheet Q1: print set-up"),
        (SHEET, 'r:id="rId1"', 'r:id="rId9"', "sheet Q1: drawings"),
        (SHEET, 'r:id="rId2"', 'r:id="rId9"', "sheet Q1: tables"),
        (
            "xl/worksheets/_rels/sheet1.xml.rels",
            "/xl/drawings/drawing1.xml",
            "/xl/drawings/gone.xml",
            "sheet Q1: drawings; which drawing it uses",
        ),
        (SHEET, 't="n"><v>1<', 't="str"><v>1<', "sheet Q1: kinds of values (1)"),
        (SHEET, 't="n"><v>1<', 't="n"><v>1.0<', "sheet Q1: how its cells are stored"),
        (
            SHEET,
            '<row r="2"',
            '<row r="2" ht="40" customHeight="1"',
            "sheet Q1: heights, outline or formats of rows",
        ),
        (
            "xl/charts/chart1.xml",
            '<gapWidth val="150"',
            '<gapWidth val="50"',
            "Chart 1 on sheet Q1: colours and look",
        ),
        (
            "xl/workbook.xml",
            'name="Other" sheetId="2" state="visible"',
            'name="Other" sheetId="2" state="hidden"',
            "workbook: sheet Other hidden",
        ),
        (SHEET, '<row r="2"', '<row r="2" hidden="1" ht="0"', "sheet Q1: row 2 hidden"),
        (
            SHEET,
            '<row r="2"',
            '<row r="2" hidden="1" outlineLevel="1"',
            "sheet Q1: row 2 hidden; heights, outline or formats of rows",
        ),
        (
            SHEET,
            "<sheetData>",
            '<cols><col min="2" max="4" width="0" hidden="1"/><col min="6" max="6" width="9"/>'
            "</cols><sheetData>",
            "sheet Q1: columns B-D hidden; columns",
        ),
        (
            "xl/workbook.xml",
            "<calcPr",
            '<definedNames><definedName name="n">Q1!$A$1</definedName></definedNames><calcPr',
            "workbook: name n added: Q1!$A$1",
        ),
    ],
)
def test_what_changed_in_a_workbook_beside_its_cells_is_named(formats, book, part, old, by, said):
    after = with_part(book, part, swap(old, by))

    assert review(formats, book, after) == (False, [said])


@pytest.mark.rule("B12.22")
def test_a_picture_that_leads_elsewhere_is_named_although_the_links_are_the_same(formats, tmp_path):
    made = Workbook()
    made.worksheets[0].add_image(SheetPicture(picture("red")), "B2")
    made.save(str(tmp_path / "made.xlsx"))
    rels = "".join(
        f'<Relationship Id="{id_}" Type="{RELATIONS}/hyperlink" TargetMode="External"'
        f' Target="https://{id_}.example/"/>'
        for id_ in ("one", "two")
    )
    linked = with_part(
        tmp_path / "made.xlsx",
        "xl/drawings/_rels/drawing1.xml.rels",
        swap("</Relationships>", f"{rels}</Relationships>"),
        "linked",
    )
    click = '<hlinkClick xmlns="{}" xmlns:r="{}" r:id="one"/>'.format(
        "http://schemas.openxmlformats.org/drawingml/2006/main", RELATIONS
    )
    drawing = "xl/drawings/drawing1.xml"
    before = with_part(
        linked, drawing, swap('descr="Picture"/>', f'descr="Picture">{click}</cNvPr>'), "before"
    )

    after = with_part(before, drawing, swap('r:id="one"', 'r:id="two"'))

    said = "charts and pictures on sheet Sheet: picture Image 1: frame and properties"
    assert review(formats, before, after) == (False, [said])


@pytest.mark.rule("B12.22", "F23.2")
def test_a_change_of_cells_alone_names_nothing_beside_them(formats, book, tmp_path):
    from backshop.formats import OpsRequest

    out = tmp_path / "out.xlsx"
    cells = [{"cell": "B1", "value": 9}, {"cell": "A1", "value": "new words"}]
    ops: list[Any] = [{"op": "set_cells", "sheet": "Q1", "cells": cells}]
    style: Any = {"op": "set_style", "sheet": "Q1", "range": "A2:A2", "style": {"font_bold": True}}
    ask = OpsRequest(name="a.xlsx", operations=[*ops, style])
    formats.apply_ops(source(book), ask, out)

    assert review(formats, book, out) == (True, ["sheet Q1: looks of cells (1)"])


@pytest.mark.rule("B12.22")
def test_a_file_that_was_only_packed_anew_says_so(formats, book, deck, document):
    for path in (book, deck, document):
        after = path.with_name(f"again{path.suffix}")
        with zipfile.ZipFile(after, "w", zipfile.ZIP_STORED) as new:
            for name, data in reversed(members(path).items()):
                new.writestr(name, data)

        is_told, also = review(formats, path, after)

        assert not is_told
        assert [one.startswith(PACKAGING) for one in also] == [True]


# ---------------------------------------------------------------- every part of every file


@pytest.mark.rule("B12.22")
@pytest.mark.needs("corpora")
@pytest.mark.timeout(3600)
def test_a_change_of_any_part_of_any_office_file_is_in_its_review(
    formats, corpora, tmp_path, scaled, record_property
):
    rng = random.Random(17)
    files = [
        path
        for folder in FOLDERS
        for path in sorted((corpora / folder).rglob("*"))
        if path.suffix[1:] in KINDS
    ]
    tried = 0
    for path in rng.sample(files, scaled(12, len(files))):
        for part in _some_parts(path, rng, scaled(2, 10_000)):
            found = _mutated(path, part, rng, tmp_path)
            if found is None:
                continue
            after, touched = found
            try:
                is_told, also = review(formats, path, after)
            except FormatError:  # the change, or the file itself, makes it unreadable
                continue
            tried += 1
            assert is_told or also, (path.name, part, touched)
            means = not _is_of_no_part(path, touched) and not _leads_alike(path, part, touched)
            if also and also[0].startswith(PACKAGING) and means:
                assert _is_trivial(part, touched), (path.name, part, touched)
    record_property("count", tried)
    assert tried >= scaled(12, 5_000)


def _some_parts(path: Path, rng: random.Random, most: int) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [one.filename for one in archive.infolist() if not one.is_dir()]
    except zipfile.BadZipFile:
        return []
    return rng.sample(names, min(most, len(names)))


def _mutated(path: Path, part: str, rng: random.Random, folder: Path) -> Any:
    """Write a copy with one attribute of a part changed, or the last bit of one that is no XML."""
    try:
        with zipfile.ZipFile(path) as archive:
            data = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return None  # damaged or encrypted, as some of these are meant to be
    touched = ("", "", "")
    if part.endswith((".xml", ".rels", ".vml")):
        try:
            root = etree.fromstring(data[part])
        except etree.XMLSyntaxError:
            return None
        places = [(e, k) for e in root.iter(etree.Element) for k in e.attrib]
        if not places:
            return None
        element, key = rng.choice(places)
        value = str(element.get(key))
        element.set(key, _another(value))
        touched = (etree.QName(element).localname, etree.QName(key).localname, value)
        data[part] = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    elif data[part]:
        data[part] = data[part][:-1] + bytes([data[part][-1] ^ 1])
    else:
        return None
    made = folder / f"changed{path.suffix}"
    with zipfile.ZipFile(made, "w") as new:
        for name, content in data.items():
            new.writestr(name, content)
    return made, touched


def _another(value: str) -> str:
    by = value[:-1] + ("1" if value[-1:] != "1" else "2")
    return by if value[-1:].isdigit() else f"{value}x"


def _leads_alike(path: Path, part: str, touched: tuple[str, str, str]) -> bool:
    """Whether a part names another of its relationships now, and both lead to the same."""
    folder, _, file = part.rpartition("/")
    with zipfile.ZipFile(path) as archive:
        rels = f"{folder}/_rels/{file}.rels".lstrip("/")
        if rels not in archive.namelist():
            return False
        found = {
            one.get("Id"): (one.get("Type"), one.get("Target"))
            for one in etree.fromstring(archive.read(rels))
        }
    ids = touched[2], _another(touched[2])
    return all(one in found for one in ids) and found[ids[0]] == found[ids[1]]


def _is_of_no_part(path: Path, touched: tuple[str, str, str]) -> bool:
    """Whether a kind was changed of parts of which the file has none."""
    element, key, value = touched
    if element not in ("Default", "Override") or key != "ContentType":
        return False
    with zipfile.ZipFile(path) as archive:
        types = etree.fromstring(archive.read("[Content_Types].xml"))
        names = {f"/{name}".lower() for name in archive.namelist()}
    ends = [  # of the names of parts that are of this kind
        f".{one.get('Extension')}".lower() if element == "Default" else str(one.get("PartName"))
        for one in types
        if etree.QName(one).localname == element and one.get("ContentType") == value
    ]
    return not any(name.endswith(end.lower()) for name in names for end in ends)


def _is_trivial(part: str, touched: tuple[str, str, str]) -> bool:
    element, key, value = touched
    by_part = any(name in part + value for name in ("calcChain", "humbnail", "mimetype"))
    if (element, key) == ("tableParts", "count"):  # a hint beside the list itself
        return True
    if (element, key) == ("Relationship", "Id"):  # one that no part refers to by its id
        return True
    return by_part or element in TRIVIAL or key in TRIVIAL_KEYS or key.startswith("rsid")
