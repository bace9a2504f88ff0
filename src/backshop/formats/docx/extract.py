"""One section of a document, or all of them, as data for review (F29.2)."""

from __future__ import annotations

from lxml import etree

from backshop.formats.errors import fail
from backshop.formats.ops import section_hints
from backshop.formats.protocol import Json, Source

from . import names as n
from .document import UNTITLED, Block, Body, Section
from .inline import Shows, alt_text, image_relation, pieces, run_of
from .render import Renderer, image_numbers
from .source import Document
from .stylesheet import child_value, whole

Element = etree._Element
Images = dict[Element, list[Json]]  # by the block they stand in

_ALIGN = {"both": "justify", "start": "left", "end": "right"}


def extract_section(source: Source, section_index: int) -> dict[str, Json]:
    """Return a section by the index the map gives it.

    Section 0 is what stands before the first heading; it is empty where nothing does, so that all
    of 0 to `section_count` - 1 can be asked for.
    """
    document = Document.open(source)
    body = document.body()
    count = body.sections[-1].index + 1 if body.sections else 1
    if not 0 <= section_index < count:
        raise fail(
            "unknown_section",
            f"there is no section {section_index}",
            hints=section_hints(
                str(section_index), [(section.index, section.heading) for section in body.sections]
            ),
        )
    found = next((s for s in body.sections if s.index == section_index), None)
    return {
        "section_index": section_index,
        "section_count": count,
        "section": _section(
            Renderer(document, body),
            _images(document, body),
            found or Section(0, UNTITLED, 0, []),
        ),
    }


def extract_document(source: Source) -> dict[str, Json]:
    """Return every section that has something in it, in order, each as `extract_section` does."""
    document = Document.open(source)
    body = document.body()
    renderer = Renderer(document, body)
    images = _images(document, body)
    return {"sections": [_section(renderer, images, section) for section in body.sections]}


def _section(renderer: Renderer, images: Images, section: Section) -> dict[str, Json]:
    paragraphs: list[Json] = []
    tables: list[Json] = []
    order: list[Json] = []
    for block in section.blocks:
        if block.table is None:
            order.append({"p": len(paragraphs)})
            paragraphs.append(_paragraph(renderer, block, len(paragraphs)))
        else:
            order.append({"t": len(tables)})
            tables.append(
                {
                    "index": len(tables),
                    "row_count": len(block.rows),
                    "col_count": max((len(row) for row in block.rows), default=0),
                    "rows": block.rows,
                    "drawn": renderer.drawn(block.element),
                }
            )
    return {
        "heading": section.heading,
        "level": section.level,
        "paragraphs": paragraphs,
        "tables": tables,
        "images": [one for block in section.blocks for one in images.get(block.element, ())],
        "order": order,
    }


def _paragraph(renderer: Renderer, block: Block, index: int) -> dict[str, Json]:
    properties = block.element.find(n.PPR)
    return {
        "index": index,
        "text": block.text,
        "style": renderer.styles.name_of(child_value(properties, n.PSTYLE)),
        "alignment": alignment(properties),
        "runs": _runs(block.element),
        "drawn": renderer.drawn(block.element),
    }


def _runs(paragraph: Element) -> list[Json]:
    texts: dict[Element, str] = {}
    for piece in pieces(paragraph):
        run = run_of(piece.element)
        if piece.shows in (Shows.TEXT, Shows.MARK) and run is not None:
            texts[run] = texts.get(run, "") + piece.text
    return [
        {"index": index, "text": text, **run_look(run.find(n.RPR))}
        for index, (run, text) in enumerate(texts.items())
    ]


def alignment(properties: Element | None) -> str | None:
    """Return how paragraph properties align text; None where they do not say."""
    align = child_value(properties, n.w("jc"))
    return _ALIGN.get(align, align) if align else None


def run_look(properties: Element | None) -> dict[str, Json]:
    """Return what a run says about its look; None where it inherits."""
    size = whole(child_value(properties, n.w("sz")))
    fonts = properties.find(n.w("rFonts")) if properties is not None else None
    colour = child_value(properties, n.w("color"))
    line = child_value(properties, n.w("u"))
    return {
        "bold": switch(properties, "b"),
        "italic": switch(properties, "i"),
        "underline": None if line is None else line != "none",
        "size_pt": size / 2 if size is not None else None,
        "font_name": fonts.get(n.w("ascii")) or fonts.get(n.w("hAnsi"))
        if fonts is not None
        else None,
        "color": f"#{colour.upper()}" if colour and colour != "auto" else None,
    }


def switch(properties: Element | None, name: str) -> bool | None:
    """Return an on-off property, None when it is not set."""
    child = properties.find(n.w(name)) if properties is not None else None
    if child is None:
        return None
    return child.get(n.VAL) not in ("0", "false", "off")


def _images(document: Document, body: Body) -> Images:
    """Return the images of the body, each with the block it stands in."""
    blocks = {block.element for block in body.blocks}
    targets = document.targets()
    found: Images = {}
    for drawing in image_numbers(document.body_element):
        block = next((a for a in drawing.iterancestors() if a in blocks), None)
        if block is None:
            continue
        relation = image_relation(drawing)
        image: Json = {
            "rel_id": relation,
            "target": targets.get(relation or ""),
            "alt_text": alt_text(drawing),
        }
        found.setdefault(block, []).append(image)
    return found
