"""A presentation with a little of everything, and edits another program makes of it."""

from __future__ import annotations

import copy
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import etree
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.shapes import MSO_CONNECTOR
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Inches, Pt

P = "http://schemas.openxmlformats.org/presentationml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
P14 = "http://schemas.microsoft.com/office/powerpoint/2010/main"
SECTIONS = "{521415D9-36F7-43E2-AB2F-B90AF26B5E84}"
Edit = Callable[[Any, random.Random], None]


def picture(colour: str) -> io.BytesIO:
    """Return a small picture."""
    made = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(made, "PNG")
    made.seek(0)
    return made


def timing(*numbers: int) -> Any:
    """Return animations that speak of shapes."""
    spoken = "".join(f'<p:bldP spid="{number}" grpId="0"/>' for number in numbers)
    return etree.fromstring(f'<p:timing xmlns:p="{P}"><p:bldLst>{spoken}</p:bldLst></p:timing>')


def rich_deck(path: Path) -> Path:
    """Write a presentation with text, notes, a table, a chart, pictures, groups and sections."""
    made = Presentation()
    first = made.slides.add_slide(made.slide_layouts[0])
    first.shapes.title.text = "Spring plan"
    first.placeholders[1].text = "for everyone"
    second = made.slides.add_slide(made.slide_layouts[1])
    second.shapes.title.text = "Points"
    second.placeholders[1].text = "alpha\nbeta\ngamma"
    second.notes_slide.notes_text_frame.text = "say alpha"
    third = made.slides.add_slide(made.slide_layouts[6])
    table = third.shapes.add_table(2, 2, 0, Inches(4), Inches(4), Inches(1)).table
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = f"cell {row}{column}"
    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("Sales", (1, 2))
    kind = XL_CHART_TYPE.COLUMN_CLUSTERED
    third.shapes.add_chart(kind, Inches(1), Inches(2), Inches(3), Inches(1), data)
    third.shapes.add_picture(picture("red"), Inches(1), Inches(1))
    fourth = made.slides.add_slide(made.slide_layouts[5])
    fourth.shapes.title.text = "Drawn"
    group = fourth.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "in a group"
    box = fourth.shapes.add_textbox(Inches(3), 0, Inches(1), Inches(1))
    box.text_frame.text = "animated"
    fourth._element.append(timing(box.shape_id))
    fifth = made.slides.add_slide(made.slide_layouts[5])
    fifth.shapes.title.text = "Linked"
    fifth.shapes.title.click_action.target_slide = second
    fifth.shapes.add_picture(picture("red"), Inches(1), Inches(1))
    sixth = made.slides.add_slide(made.slide_layouts[1])
    sixth.shapes.title.text = "End"
    _add_lists(made)
    made.save(str(path))
    return path


def _add_lists(made: Any) -> None:
    root = made.part._element
    entries = list(made.slides._sldIdLst)
    shows = etree.fromstring(
        f'<p:custShowLst xmlns:p="{P}" xmlns:r="{R}"><p:custShow name="short" id="0"><p:sldLst>'
        f'<p:sld r:id="{entries[0].rId}"/></p:sldLst></p:custShow></p:custShowLst>'
    )
    root.find(f"{{{P}}}notesSz").addnext(shows)
    halves = (entries[:3], entries[3:])
    sections = "".join(
        f'<p14:section name="Part {at}" id="{{0000000{at}-0000-0000-0000-000000000000}}">'
        f"<p14:sldIdLst>{''.join(f'<p14:sldId id={one.id!r}/>' for one in map(_numbered, half))}"
        "</p14:sldIdLst></p14:section>"
        for at, half in enumerate(halves)
    )
    extension = etree.fromstring(
        f'<p:ext xmlns:p="{P}" uri="{SECTIONS}"><p14:sectionLst xmlns:p14="{P14}">{sections}'
        "</p14:sectionLst></p:ext>"
    )
    holder = root.find(f"{{{P}}}extLst")
    if holder is None:
        holder = etree.SubElement(root, f"{{{P}}}extLst")
    holder.append(extension)


class _Numbered:
    def __init__(self, number: str) -> None:
        self.id = number


def _numbered(entry: Any) -> _Numbered:
    return _Numbered(str(entry.get("id")))


# --- edits --------------------------------------------------------------------------------------


def _slide(made: Any, rng: random.Random) -> Any:
    return rng.choice(list(made.slides))


def set_text(made: Any, rng: random.Random) -> None:
    for shape in _slide(made, rng).shapes:
        if shape.has_text_frame:
            shape.text_frame.text = f"text {rng.random():.4f}"
            return


def make_bold(made: Any, rng: random.Random) -> None:
    for shape in _slide(made, rng).shapes:
        if shape.has_text_frame and shape.text_frame.paragraphs[0].runs:
            shape.text_frame.paragraphs[0].runs[0].font.bold = True
            shape.text_frame.paragraphs[0].runs[0].font.size = Pt(rng.randint(9, 40))
            return


def move_shape(made: Any, rng: random.Random) -> None:
    shapes = list(_slide(made, rng).shapes)
    if shapes:
        shape = rng.choice(shapes)
        shape.left, shape.top = Inches(rng.random()), Inches(rng.random())
        shape.width, shape.height = Inches(2), Inches(1)


def add_box(made: Any, rng: random.Random) -> None:
    box = _slide(made, rng).shapes.add_textbox(0, 0, Inches(1), Inches(1))
    box.text_frame.text = f"box {rng.random():.4f}"


def add_picture(made: Any, rng: random.Random) -> None:
    colour = rng.choice(["red", "green", "blue"])
    _slide(made, rng).shapes.add_picture(picture(colour), 0, 0)


def remove_shape(made: Any, rng: random.Random) -> None:
    shapes = list(_slide(made, rng).shapes)
    if shapes:
        element = rng.choice(shapes)._element
        element.getparent().remove(element)


def raise_shape(made: Any, rng: random.Random) -> None:
    shapes = list(_slide(made, rng).shapes)
    if shapes:
        element = rng.choice(shapes)._element
        element.getparent().append(element)


def add_slide(made: Any, rng: random.Random) -> None:
    slide = made.slides.add_slide(made.slide_layouts[rng.choice([1, 5, 6])])
    if slide.shapes.title is not None:
        slide.shapes.title.text = f"added {rng.random():.4f}"
    slide.shapes.add_picture(picture(rng.choice(["red", "yellow"])), 0, 0)
    if rng.random() < 0.5:
        slide.notes_slide.notes_text_frame.text = "notes of the added one"
    entries = made.slides._sldIdLst
    entry = entries[-1]
    entries.remove(entry)
    entries.insert(rng.randint(0, len(entries)), entry)


def remove_slide(made: Any, rng: random.Random) -> None:
    entries = made.slides._sldIdLst
    entry = rng.choice(list(entries))
    linked = {
        rel.target_part
        for slide in made.slides
        for rel in slide.part.rels.values()
        if rel.reltype.endswith("/slide")
    }
    listed = {one.get(f"{{{R}}}id") for one in made.part._element.iter(f"{{{P}}}sld")}
    if len(entries) > 2 and entry.rId not in listed and entry.rId:
        if made.part.related_part(entry.rId) in linked:
            return
        for one in list(made.part._element.iter(f"{{{P14}}}sldId")):
            if one.get("id") == entry.get("id"):
                one.getparent().remove(one)
        made.part.drop_rel(entry.rId)
        entries.remove(entry)


def move_slide(made: Any, rng: random.Random) -> None:
    entries = made.slides._sldIdLst
    entry = rng.choice(list(entries))
    entries.remove(entry)
    entries.insert(rng.randint(0, len(entries)), entry)


def set_notes(made: Any, rng: random.Random) -> None:
    _slide(made, rng).notes_slide.notes_text_frame.text = f"notes {rng.random():.4f}"


def set_background(made: Any, rng: random.Random) -> None:
    fill = _slide(made, rng).background.fill
    fill.solid()
    fill.fore_color.rgb = RGBColor(rng.randrange(255), 1, 2)


def set_cell(made: Any, rng: random.Random) -> None:
    for slide in made.slides:
        for shape in slide.shapes:
            if shape.has_table:
                shape.table.cell(1, 1).text = f"{rng.random():.4f}"


def set_values(made: Any, rng: random.Random) -> None:
    for slide in made.slides:
        for shape in slide.shapes:
            if shape.has_chart:
                data = CategoryChartData()
                data.categories = ["East", "West"]
                data.add_series("Sales", (rng.random(), 4))
                shape.chart.replace_data(data)


def exchange_picture(made: Any, rng: random.Random) -> None:
    for slide in made.slides:
        for shape in slide.shapes:
            if shape.shape_type is not None and hasattr(shape, "image"):
                _, rel_id = slide.part.get_or_add_image_part(picture("purple"))
                shape._element.blipFill.blip.rEmbed = rel_id
                return


def connect_new(made: Any, rng: random.Random) -> None:
    slide = _slide(made, rng)
    box = slide.shapes.add_textbox(0, 0, Inches(1), Inches(1))
    line = slide.shapes.add_connector(MSO_CONNECTOR.STRAIGHT, 0, 0, 9, 9)
    line.begin_connect(box, 0)


def animate_new(made: Any, rng: random.Random) -> None:
    slide = _slide(made, rng)
    box = slide.shapes.add_textbox(0, 0, Inches(1), Inches(1))
    for old in slide._element.findall(f"{{{P}}}timing"):
        slide._element.remove(old)
    slide._element.append(timing(box.shape_id))


def rename_section(made: Any, rng: random.Random) -> None:
    for section in made.part._element.iter(f"{{{P14}}}section"):
        section.set("name", f"Renamed {rng.random():.4f}")
        return


def hide_slide(made: Any, rng: random.Random) -> None:
    _slide(made, rng)._element.set("show", "0")


def change_layout(made: Any, rng: random.Random) -> None:
    made.slide_layouts[1].placeholders[0].name = f"place {rng.random():.4f}"


def change_size(made: Any, rng: random.Random) -> None:
    made.slide_width = Inches(rng.randint(8, 12))


def change_title(made: Any, rng: random.Random) -> None:
    made.core_properties.title = f"title {rng.random():.4f}"


def link_new(made: Any, rng: random.Random) -> None:
    target = made.slides.add_slide(made.slide_layouts[6])
    for shape in _slide(made, rng).shapes:
        if shape.has_text_frame:
            shape.click_action.target_slide = target
            return


def copy_shape(made: Any, rng: random.Random) -> None:
    slide = _slide(made, rng)
    shapes = [shape for shape in slide.shapes if shape.has_text_frame]
    if shapes:
        made_again = copy.deepcopy(shapes[0]._element)
        slide.shapes._spTree.append(made_again)  # with the id of another


def add_comment(made: Any, rng: random.Random) -> None:
    slide = _slide(made, rng).part
    kind = "application/vnd.openxmlformats-officedocument.presentationml.{}+xml"
    head = f'<p:{{0}} xmlns:p="{P}">{{1}}</p:{{0}}>'
    author = '<p:cmAuthor id="7" name="A. Reviewer" initials="A" lastIdx="1" clrIdx="0"/>'
    note = '<p:cm authorId="7" idx="1"><p:pos x="9" y="9"/><p:text>look here</p:text></p:cm>'
    for owner, name, word, root, inner in (
        (made.part, "/ppt/commentAuthors.xml", "commentAuthors", "cmAuthorLst", author),
        (slide, "/ppt/comments/comment1.xml", "comments", "cmLst", note),
    ):
        blob = head.format(root, inner).encode()
        part = Part(PackURI(name), kind.format(word), made.part.package, blob)
        owner.relate_to(part, f"{R}/{word}")


EDITS: tuple[Edit, ...] = (
    *(set_text, make_bold, move_shape, add_box, add_picture, remove_shape, raise_shape, add_slide),
    *(remove_slide, move_slide, set_notes, set_background, set_cell, set_values, exchange_picture),
    *(connect_new, animate_new, rename_section, hide_slide, change_layout, change_size),
    *(change_title, link_new, copy_shape, add_comment),
)


def edited(path: Path, out: Path, *edits: Edit, seed: int = 0) -> Path:
    """Write a copy with edits, as another program saves it."""
    made = Presentation(str(path))
    rng = random.Random(seed)
    for edit in sorted(edits, key=lambda one: one is remove_slide):  # else names are used twice
        edit(made, rng)
    made.save(str(out))
    return out
