"""One section of a document, or all of them, as data for review (F29.2)."""

from __future__ import annotations

from backshop.formats.errors import fail
from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json, Source
from backshop.formats.write.operation import section_hints

from ..edit.builder import HIGHLIGHT
from ..text import name as n
from ..text.comment import comments
from ..text.document import UNTITLED, Block, Body, Section, block_elements, grid_cells, table_rows
from ..text.inline import Shows, pieces, run_of
from ..text.line import Renderer
from ..text.picture import Pictures, body_pictures
from ..text.revision import revisions
from ..text.source import Document
from ..text.stylesheet import child_value, list_place, whole
from .look import Links, Looks

Images = dict[Element, list[Json]]  # by the block they stand in

_ALIGN = {"both": "justify", "start": "left", "end": "right"}
_MARKERS = {stored: name for name, stored in HIGHLIGHT.items()}
_TWIPS_PER_POINT, _TWIPS_PER_INCH, _LINE = 20, 1440, 240


def extract_section(source: Source, section_index: int) -> dict[str, Json]:
    """Return a section by the index the map gives it.

    Section 0 is what stands before the first heading; it is empty where nothing does, so that all
    of 0 to `section_count` - 1 can be asked for.
    """
    document = Document.open(source)
    body, looks = document.body(), Looks(document)
    beside = Beside(document, body)
    count = body.sections[-1].index + 1 if body.sections else 1
    if not 0 <= section_index < count:
        raise fail(
            "unknown_section",
            f"there is no section_index {section_index}",
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
            looks,
            beside,
            found or Section(0, UNTITLED, 0, []),
        ),
    }


def extract_document(source: Source) -> dict[str, Json]:
    """Return every section that has something in it, in order, each as `extract_section` does.

    `asides` are headers, footers and notes, with the lines of `extract_lines`.
    """
    document = Document.open(source)
    body = document.body()
    renderer, looks = Renderer(document, body), Looks(document)
    beside = Beside(document, body)
    return {
        "sections": [_section(renderer, looks, beside, section) for section in body.sections],
        "asides": _asides(document, renderer, beside),
    }


class Beside:
    """What stands in the blocks of a body beside their text: pictures, changes, comments."""

    def __init__(self, document: Document, body: Body) -> None:
        self.images = _images(document, body)
        self._tracked: dict[int | str, list[Json]] = {}
        for one in revisions(document, body):
            place = one.where if one.place is None else one.place
            self._tracked.setdefault(place, []).append({**one.to_json(), "words": one.words})
        self._comments: dict[int, list[Json]] = {}
        for comment in comments(document, body):
            if comment.block is not None:
                self._comments.setdefault(comment.block.index, []).append(comment.to_json())

    def of(self, block: Block) -> dict[str, Json]:
        """Return what stands in a block; keys of what it has none of are left out."""
        found = {
            "pictures": self.images.get(block.element),
            "tracked": self._tracked.get(block.index),
            "comments": self._comments.get(block.index),
        }
        return {name: value for name, value in found.items() if value}

    def tracked_at(self, where: str) -> dict[str, Json]:
        """Return the changes in a header, footer or note."""
        return {"tracked": self._tracked[where]} if where in self._tracked else {}


def _section(renderer: Renderer, looks: Looks, beside: Beside, section: Section) -> dict[str, Json]:
    paragraphs: list[Json] = []
    tables: list[Json] = []
    order: list[Json] = []
    for block in section.blocks:
        if block.table is None:
            order.append({"p": len(paragraphs)})
            paragraph = _paragraph(renderer, looks, block, len(paragraphs))
            paragraphs.append(paragraph | beside.of(block))
        else:
            order.append({"t": len(tables)})
            tables.append(
                {
                    "index": len(tables),
                    "at": block.index,
                    "row_count": len(block.rows),
                    "col_count": max((len(row) for row in block.rows), default=0),
                    "rows": block.rows,
                    "drawn": renderer.drawn(block.element),
                    "look": looks.hash(
                        block.element.find(n.TBL_PR), block.element.find(n.TBL_GRID)
                    ),
                    "marks": looks.marks(block.element),
                    "cells": [_cells(looks, row) for row in table_rows(block.element)],
                    **beside.of(block),
                }
            )
    return {
        "heading": section.heading,
        "level": section.level,
        "paragraphs": paragraphs,
        "tables": tables,
        "images": [one for b in section.blocks for one in beside.images.get(b.element, ())],
        "order": order,
    }


def _asides(document: Document, renderer: Renderer, beside: Beside) -> list[Json]:
    asides = [(one.kind, f"{one.kind} {one.type}", one.root) for one in document.margins()]
    asides += [(one.kind, f"{one.kind} {one.id}", one.element) for one in document.notes()]
    looks: dict[str | None, Looks] = {}
    found: list[Json] = []
    for kind, where, element in asides:
        part = document.trees.part_of(element)
        own = looks[part] = looks.get(part) or Looks(document, part)
        lines = [f"[{kind}] {line}" for line in renderer.lines_inside(element)]
        found.append(
            {
                "text": "\n".join(lines),
                "links": own.links(element).listed(),
                "look": own.hash(*element),
                **beside.tracked_at(where),
            }
        )
    return found


def _paragraph(renderer: Renderer, looks: Looks, block: Block, index: int) -> dict[str, Json]:
    properties = block.element.find(n.PPR)
    links = looks.links(block.element)
    place = list_place(block.element, renderer.styles, renderer.numberings)
    return {
        "index": index,
        "at": block.index,
        "text": block.text,
        "style": renderer.styles.name_of(child_value(properties, n.PSTYLE)),
        "alignment": alignment(properties),
        "layout": {**({"list": place.kind} if place else {}), **_layout(properties)},
        "runs": [{"index": at, **run} for at, run in enumerate(_runs(block.element, links))],
        "drawn": renderer.drawn(block.element),
        "links": links.listed(),
        "look": looks.hash(block.element),
        "marks": looks.marks(block.element),
    }


def _cells(looks: Looks, row: Element) -> list[Json]:
    """Return the looks of the cells of a row, which lie beside their texts in `rows`."""
    properties = row.find(n.TR_PR)
    return [_cell(looks, cell, properties) if cell is not None else {} for cell in grid_cells(row)]


def _cell(looks: Looks, cell: Element, row: Element | None) -> dict[str, Json]:
    found: dict[str, Json] = {"look": looks.hash(row, cell)}
    links = looks.links(cell)
    if links.found:
        found["links"] = links.listed()
    blocks = list(block_elements(cell))
    if next(cell.iter(n.RPR, n.HYPERLINK), None) is not None and all(b.tag == n.P for b in blocks):
        found["runs"] = [
            {key: value for key, value in run.items() if value is not None}
            for at, block in enumerate(blocks)
            for run in ([{"text": "\n"}] if at else []) + _runs(block, links)
        ]
    return found


def _runs(paragraph: Element, links: Links) -> list[dict[str, Json]]:
    texts: dict[Element, str] = {}
    for piece in pieces(paragraph):
        run = run_of(piece.element)
        if piece.shows in (Shows.TEXT, Shows.MARK) and run is not None:
            texts[run] = texts.get(run, "") + piece.text
    return [
        {"text": text, **run_look(run.find(n.RPR)), "link": links.by_run.get(run)}
        for run, text in texts.items()
    ]


def _layout(properties: Element | None) -> dict[str, Json]:
    """Return what a paragraph says itself about its place; what it inherits is left out."""
    if properties is None:
        return {}
    indent, spacing = properties.find(n.w("ind")), properties.find(n.w("spacing"))
    first, hanging = _twips(indent, "firstLine"), _twips(indent, "hanging")
    line = _twips(spacing, "line")
    exact = spacing is not None and spacing.get(n.w("lineRule")) in ("exact", "atLeast")
    inches = {
        "indent_left_in": _twips(indent, "left", "start"),
        "indent_right_in": _twips(indent, "right", "end"),
        "indent_first_line_in": -hanging if hanging else first,
    }
    points = {
        "space_before_pt": _twips(spacing, "before"),
        "space_after_pt": _twips(spacing, "after"),
        "line_height_pt": line if exact else None,
    }
    found: dict[str, Json] = {
        **{
            name: round(size / _TWIPS_PER_INCH, 3)
            for name, size in inches.items()
            if size is not None
        },
        **{name: size / _TWIPS_PER_POINT for name, size in points.items() if size is not None},
    }
    if line is not None and not exact:
        found["line_spacing"] = round(line / _LINE, 3)
    if (breaks := switch(properties, "pageBreakBefore")) is not None:
        found["page_break_before"] = breaks
    return found


def _twips(element: Element | None, *names: str) -> int | None:
    if element is None:
        return None
    found = (whole(element.get(n.w(name))) for name in names)
    return next((number for number in found if number is not None), None)


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
    marker = child_value(properties, n.w("highlight"))
    return {
        "bold": switch(properties, "b"),
        "italic": switch(properties, "i"),
        "underline": None if line is None else line != "none",
        "size_pt": size / 2 if size is not None else None,
        "font_name": fonts.get(n.w("ascii")) or fonts.get(n.w("hAnsi"))
        if fonts is not None
        else None,
        "color": f"#{colour.upper()}" if colour and colour != "auto" else None,
        "highlight": _MARKERS.get(marker, marker) if marker else None,
    }


def switch(properties: Element | None, name: str) -> bool | None:
    """Return an on-off property, None when it is not set."""
    child = properties.find(n.w(name)) if properties is not None else None
    if child is None:
        return None
    return child.get(n.VAL) not in ("0", "false", "off")


def _images(document: Document, body: Body) -> Images:
    """Return the images of the body, each with the block it stands in."""
    pictures = Pictures(document)
    found: Images = {}
    for picture in body_pictures(document):
        block = body.around(picture.drawing)
        if block is not None:
            found.setdefault(block.element, []).append(pictures.described(picture))
    return found
