"""Slides that Backshop draws itself: everything in its place, and nothing that runs (F43.30)."""

from __future__ import annotations

import datetime
import io
import time
from typing import Any

import pytest
from lxml import etree
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.enum.shapes import MSO_CONNECTOR, MSO_SHAPE
from pptx.oxml.ns import qn
from pptx.util import Emu, Inches, Pt

from backshop.base import limits
from backshop.formats import Formats
from backshop.formats.canvas.face import face
from backshop.formats.canvas.figure import Canvas, Group, Oval, Path, Picture
from backshop.formats.pptx.canvas.colour import Colour, colour_in
from backshop.formats.pptx.canvas.preset import NAMES, preset
from backshop.formats.pptx.canvas.slide import painted
from backshop.formats.pptx.deck import Deck
from backshop.formats.protocol import Limits, Source

SVG = "{http://www.w3.org/2000/svg}"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"


def a_picture(size=(40, 20), color="#ff0000"):
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, "PNG")
    out.seek(0)
    return out


class Drawn:
    """A deck being made, and its slides drawn."""

    def __init__(self, folder, layout=6):
        self.deck = Presentation()
        self.slide = self.deck.slides.add_slide(self.deck.slide_layouts[layout])
        self.shapes = self.slide.shapes
        self._path = folder / "d.pptx"

    def canvas(self, index=0) -> Canvas:
        deck = Deck.open(self.source())
        return painted(deck, deck.slide(index))

    def source(self):
        self.deck.save(str(self._path))
        return Source(self._path, "0" * 64, "d.pptx", Limits())

    def box(self, text="", kind=MSO_SHAPE.RECTANGLE, at=(1, 1, 3, 1)):
        shape = self.shapes.add_shape(kind, *map(Inches, at))
        shape.text_frame.text = text
        return shape


@pytest.fixture
def drawn(tmp_path):
    return Drawn(tmp_path)


def flat(figures):
    for figure in figures:
        yield figure
        if isinstance(figure, Group):
            yield from flat(figure.figures)


def texts(canvas):
    return [figure for figure in flat(canvas.figures) if type(figure).__name__ == "Text"]


def words(canvas):
    return [figure.text for figure in texts(canvas)]


@pytest.mark.rule("F43.30", "F43.6", "F43.3")
def test_a_slide_is_drawn_through_the_door_with_a_frame_for_each_shape(tmp_path):
    made = Drawn(tmp_path, layout=0)
    made.shapes.title.text = "Plan <2026>"
    made.slide.placeholders[1].text = "By & for us"
    source = made.source()

    with Formats(cache=tmp_path / "cache", plugins={}) as formats:
        source = formats.source(source.path)
        found: Any = formats.draw_slide(source, 0)
        again = formats.draw_slide(source, 0)
        picture = formats.draw_slide_picture(source, 0, 0.5)
        with pytest.raises(Exception, match="slide_index 5: there is 1 slide"):
            formats.draw_slide(source, 5)

    root = etree.fromstring(found["svg"])
    assert again == found
    assert [one.text for one in root.iter(SVG + "text")] == ["Plan <2026>", "By & for us"]
    assert (found["width"], found["height"], found["slide_count"]) == (960, 720, 1)
    assert found["label"] == "Slide 1: Plan <2026>"
    assert [(one["kind"], one["place"]) for one in found["frames"]] == [
        ("shape", "slide 1 shape 1"),
        ("shape", "slide 1 shape 2"),
    ]
    assert found["missing"] == []
    assert Image.open(io.BytesIO(picture.image or b"")).size == (480, 360)
    assert (picture.page_count, picture.scaled_down) == (1, False)


@pytest.mark.rule("F43.33")
def test_text_takes_size_place_and_alignment_from_layout_and_master(tmp_path):
    made = Drawn(tmp_path, layout=0)
    made.shapes.title.text = "Middle"
    canvas = made.canvas()

    (title,) = texts(canvas)
    frame = canvas.frames[0]
    assert title.size == pytest.approx(44 * 96 / 72)
    assert title.face == face("Calibri")
    assert title.x + title.face.width("Middle", title.size) / 2 == pytest.approx(
        frame.x + frame.width / 2, abs=0.5
    )


@pytest.mark.rule("F43.33")
def test_runs_keep_their_looks_and_paragraphs_their_lines(drawn):
    frame = drawn.box().text_frame
    frame.word_wrap = True
    run = frame.paragraphs[0].add_run()
    run.text, run.font.bold, run.font.size = "Bold", True, Pt(20)
    run.font.color.rgb = RGBColor(0x12, 0x34, 0x56)
    second = frame.add_paragraph()
    second.text = "a wide line of words that is broken where the shape ends, here"
    second.line_spacing = 1.5

    first, *rest = texts(drawn.canvas())

    assert (first.text, first.face.bold, first.color) == ("Bold", True, "#123456")
    assert first.size == pytest.approx(20 * 96 / 72)
    assert len(rest) > 1
    assert " ".join(one.text.strip() for one in rest) == second.text
    step = rest[1].y - rest[0].y
    assert step == pytest.approx(1.5 * rest[0].face.line_height * rest[0].size, rel=0.02)


@pytest.mark.rule("F43.34")
def test_bullets_and_numbers_stand_before_their_paragraphs(tmp_path):
    made = Drawn(tmp_path, layout=1)
    body = made.slide.placeholders[1].text_frame
    body.text = "one"
    body.add_paragraph().text = "two"
    body.add_paragraph().text = "three"
    for paragraph in body.paragraphs[1:]:
        number = paragraph._p.get_or_add_pPr().makeelement(qn("a:buAutoNum"), {})
        number.set("type", "romanUcParenR")
        paragraph._p.pPr.append(number)

    assert words(made.canvas()) == ["•", "one", "I)", "two", "II)", "three"]


@pytest.mark.rule("F43.31")
def test_shapes_have_their_outlines_turned_and_mirrored(drawn):
    arrow = drawn.box("go", MSO_SHAPE.RIGHT_ARROW)
    arrow.rotation = 30
    line = drawn.shapes.add_connector(MSO_CONNECTOR.STRAIGHT, *map(Inches, (5, 5, 2, 3)))
    line.line.color.rgb = RGBColor(255, 0, 0)
    canvas = drawn.canvas()

    turned = [figure for figure in canvas.figures if isinstance(figure, Group)]
    assert [round(one.turn) for one in turned] == [30, 30, 0]
    assert turned[2].mirror_x
    assert turned[2].mirror_y
    red = next(f for f in flat(turned[2].figures) if isinstance(f, Path))
    assert red.stroke is not None
    assert red.stroke.color == "#ff0000"
    assert canvas.missing == ()


@pytest.mark.rule("F43.31")
def test_every_preset_is_drawn_at_any_size_and_others_are_said_to_be_boxes(drawn):
    for name in sorted(NAMES):
        for size in ((100.0, 40.0), (0.0, 0.0), (3.0, 900.0)):
            for adjust in ((), (99.0, -99.0, 5.0)):
                made = preset(name, *size, adjust)
                assert made, name
                for outline in made:
                    assert outline.steps, name
                    assert outline.steps[0][0] == "M", name
                    numbers = [float(v) for step in outline.steps for v in step[1:]]
                    assert all(abs(v) < 1e6 for v in numbers), name
    assert len(NAMES) > 100
    shape = drawn.box()
    shape._element.spPr.find(qn("a:prstGeom")).set("prst", "gear9")

    assert drawn.canvas().missing == ("a shape of the form gear9 is drawn as its box",)


@pytest.mark.rule("F43.31")
def test_an_outline_of_the_file_is_followed_with_its_formulas(drawn):
    shape = drawn.box(at=(0, 0, 2, 1))
    own = etree.fromstring(
        f'<a:custGeom xmlns:a="{A}"><a:gdLst><a:gd name="half" fmla="*/ w 1 2"/></a:gdLst>'
        '<a:pathLst><a:path><a:moveTo><a:pt x="0" y="0"/></a:moveTo><a:lnTo><a:pt x="half" y="h"/>'
        "</a:lnTo><a:close/></a:path></a:pathLst></a:custGeom>"
    )
    old = shape._element.spPr.find(qn("a:prstGeom"))
    old.getparent().replace(old, own)

    (path,) = [figure for figure in drawn.canvas().figures if isinstance(figure, Path)]
    assert path.steps == (("M", 0.0, 0.0), ("L", 96.0, 96.0), ("Z",))


@pytest.mark.rule("F43.32")
def test_theme_colours_are_changed_as_the_file_says(drawn):
    shape = drawn.box()
    shape.fill.solid()
    shape.fill.fore_color.theme_color = MSO_THEME_COLOR.ACCENT_1
    shape.fill.fore_color.brightness = 0.4  # lumMod 60 %, lumOff 40 %
    shape.line.fill.background()

    _, box = drawn.canvas().figures  # the ground, the shape
    assert box.fill == "#95b3d7"  # what programs show for this colour of the usual theme
    assert box.stroke is None
    holder = etree.fromstring(
        f'<a:x xmlns:a="{A}"><a:srgbClr val="FF0000"><a:alpha val="50000"/></a:srgbClr></a:x>'
    )
    assert colour_in(holder, {}) == Colour("#ff0000", 0.5)


@pytest.mark.rule("F43.35")
def test_tables_have_fills_merges_and_rows_that_grow(drawn):
    frame = drawn.shapes.add_table(2, 2, *map(Inches, (1, 1, 4, 1)))
    table = frame.table
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(0, 0).text = "Head"
    table.cell(1, 0).text = "many words " * 20
    canvas = drawn.canvas()

    assert "Head" in words(canvas)
    head = next(one for one in texts(canvas) if one.text == "Head")
    assert (head.face.bold, head.color) == (True, "#ffffff")
    fills = [f for f in canvas.figures if getattr(f, "fill", None) and hasattr(f, "width")]
    assert fills[1].width == pytest.approx(4 * 96)  # after the ground
    (table_frame,) = canvas.frames
    assert table_frame.kind == "table"
    assert table_frame.height > 2 * 96


@pytest.mark.rule("F43.36")
def test_pictures_charts_and_words_of_diagrams_are_drawn(drawn):
    picture = drawn.shapes.add_picture(a_picture(), Inches(1), Inches(1), Inches(2))
    picture.crop_left = 0.5
    picture._element.spPr.find(qn("a:prstGeom")).set("prst", "ellipse")
    data = CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("Sales", (3, 7))
    drawn.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(4), Inches(1), Inches(5), Inches(3), data
    )
    canvas = drawn.canvas()

    assert [frame.kind for frame in canvas.frames] == ["picture", "chart"]
    cut = next(f for f in canvas.figures if isinstance(f, Group) and f.outline)
    assert isinstance(cut.figures[0], Picture)
    assert {"North", "South"} <= set(words(canvas))


@pytest.mark.rule("F43.32")
@pytest.mark.parametrize("effect", ["grayscl", "duotone", "lum"])
def test_a_picture_in_other_colours_is_said_to_be_drawn_in_its_own(drawn, effect):
    blip = drawn.shapes.add_picture(a_picture(), 0, 0)._element.find(f".//{{{A}}}blip")
    etree.SubElement(blip, f"{{{A}}}lum")  # says nothing
    assert drawn.canvas().missing == ()
    changed = etree.SubElement(blip, f"{{{A}}}{effect}")
    changed.set("bright", "20000")
    assert drawn.canvas().missing == ("recoloured pictures are drawn in their own colours",)


@pytest.mark.rule("F43.82")
def test_charts_on_slides_have_the_number_formats_of_workbooks(drawn):
    data = CategoryChartData(number_format="0.0E+00")
    data.categories = [datetime.date(2024, 1, 15), datetime.date(2024, 2, 15)]
    data.add_series("Sales", (0.125, 5000))
    place = map(Inches, (1, 1, 8, 5))
    chart = drawn.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.plots[0].has_data_labels = True
    chart.category_axis.tick_labels.number_format = "d mmm yyyy"
    chart.category_axis.tick_labels.number_format_is_linked = False

    assert {"15 Jan 2024", "1.3E-01", "5.0E+03"} <= set(words(drawn.canvas()))


@pytest.mark.rule("F43.30")
def test_what_master_and_layout_show_is_below_and_their_places_are_not_drawn(tmp_path):
    made = Drawn(tmp_path, layout=6)
    master = made.deck.slide_master
    shape = master.shapes._spTree
    extra = made.box("from the master")._element
    shape.append(extra)
    made.box("own")

    assert words(made.canvas()) == ["from the master", "own"]
    made.slide._element.set("showMasterSp", "0")
    assert words(made.canvas()) == ["own"]


@pytest.mark.rule("F43.37")
def test_a_slide_of_two_thousand_shapes_is_drawn_in_part_and_says_so(drawn):
    shape = drawn.box("x", at=(1, 1, 1, 1))._element
    for _ in range(1_999):
        drawn.shapes._spTree.append(etree.fromstring(etree.tostring(shape)))
    source = drawn.source()
    deck = Deck.open(source)

    begin = time.process_time()
    canvas = painted(deck, deck.slide(0))

    assert time.process_time() - begin < 10
    assert len(canvas.frames) == 2_000
    assert len(texts(canvas)) == limits.DRAWN_SHAPES_MAX
    assert canvas.missing == ("1,500 of 2,000 shapes are drawn",)


@pytest.mark.rule("F43.76", "F43.37")
def test_of_a_text_that_is_too_long_its_beginning_is_drawn(drawn):
    drawn.box("word " * 60_000, at=(1, 1, 5, 1))

    canvas = drawn.canvas()

    assert texts(canvas)
    assert canvas.missing == ("100,000 of 300,000 letters of a paragraph are drawn",)


@pytest.mark.rule("F43.37", "F43.4")
def test_hostile_sizes_groups_fonts_and_pictures_do_not_hurt(drawn):
    huge = drawn.box("big")
    huge.text_frame.paragraphs[0].runs[0].font.size = Pt(4000)
    wrong = drawn.box("negative")
    wrong._element.spPr.xfrm.ext.set("cx", "-5")
    far = drawn.box("far")
    far._element.spPr.xfrm.off.set("x", "99999999999999")
    rtl = drawn.box("\u0645\u0631\u062d\u0628\u0627")
    rtl.text_frame.paragraphs[0]._p.get_or_add_pPr().set("rtl", "1")
    broken = drawn.shapes.add_picture(a_picture(), Inches(1), Inches(1))
    relation = broken._element.blipFill.blip.rEmbed
    drawn.slide.part.related_part(relation)._blob = b"\x89PNG nothing"
    group = drawn.shapes.add_group_shape()
    for _ in range(60):
        group = group.shapes.add_group_shape()
    group.shapes.add_shape(MSO_SHAPE.OVAL, Emu(0), Emu(0), Emu(9525), Emu(9525))
    canvas = drawn.canvas()

    assert len(canvas.frames) == 6
    assert any("picture that cannot be drawn" in one for one in canvas.missing)
    assert "negative" in "".join(words(canvas))
    numbers = [v for f in canvas.frames for v in (f.x, f.y, f.width, f.height)]
    assert all(abs(v) <= 20_000 for v in numbers)
    assert not any(isinstance(figure, Oval) and figure.width < 0 for figure in flat(canvas.figures))
