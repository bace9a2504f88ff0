"""The structure of a document (F9.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backshop.formats.package.security import outside_kinds, security
from backshop.formats.protocol import Json, Map, Source
from backshop.formats.warning import Warnings
from backshop.formats.write.tracked import LISTED_MAX, Tracked, listed

from . import name as n
from .chunk import chunking, chunks_of
from .comment import Comment, comments
from .document import Block, Body, Section
from .inline import alt_text, text_of
from .picture import body_pictures
from .revision import revisions
from .source import Document
from .stylesheet import child_value

PLACEHOLDERS_MAX = 100  # F9.5
_TOKEN = re.compile(r"\{\{[^{}\n]{1,200}\}\}")
_FIELDS = (n.FLD_CHAR, n.FLD_SIMPLE)


def get_info(source: Source) -> dict[str, Json]:
    """Return the document's own keys of F15.1."""
    body = Document.open(source).body()
    return {"sections": len(body.sections), "tables": len(body.tables)}


def get_map(source: Source) -> Map:
    """Return the full map."""
    document = Document.open(source)
    body = document.body()
    section_of = {block.index: section for section in body.sections for block in section.blocks}
    images = _images(document, body, section_of)
    with_images = {image["section_index"] for image in images}
    warnings = Warnings()
    changes = revisions(document, body)
    if changes:
        warnings.add("tracked_changes_present", len(changes))
    remarks = comments(document, body)
    data: dict[str, Json] = {
        "paragraph_count": len(body.blocks),
        "total_char_count": sum(block.char_count for block in body.blocks),
        **chunking(chunks_of(body.blocks)),
        "sections": [_section(s, s.index in with_images) for s in body.sections],
        "tables": [_table(block, section_of[block.index]) for block in body.tables],
        "images": images,
        "has_headers_footers": bool(document.margins()),
        "has_footnotes": next(document.notes(), None) is not None,
        "has_comments": bool(remarks),
        "has_tracked_changes": bool(changes),
        "has_fields": next(document.body_element.iter(*_FIELDS), None) is not None,
        "placeholders": _placeholders(document, body),
        "styles_in_use": styles_in_use(body),
    }
    data |= beside(changes, remarks)
    data.pop("chunks", None)  # chunks of the whole document are computed, not listed
    found = security(document.package)
    if "attachedTemplate" in outside_kinds(document.package):
        found["remote_template"] = True
    return Map(format="docx", data=data, warnings=warnings.all(), security=found)


def beside(changes: list[Tracked], remarks: list[Comment]) -> dict[str, Json]:
    """Return tracked changes and comments with their places; nothing where there are none."""
    found = listed(changes)
    if remarks:
        found["comment_count"] = len(remarks)
        found["comments"] = [one.to_json() for one in remarks[:LISTED_MAX]]
    return found


def _section(section: Section, has_images: bool) -> dict[str, Json]:
    return {
        "index": section.index,
        "heading": section.heading,
        "level": section.level,
        "body_start": section.start,
        "char_count": sum(block.char_count for block in section.blocks),
        "paragraph_count": len(section.blocks),
        "has_tables": any(block.table is not None for block in section.blocks),
        "has_images": has_images,
        **chunking(chunks_of(section.blocks), section.start),
    }


def _table(block: Block, section: Section) -> dict[str, Json]:
    return {
        "index": block.table,
        "section_index": section.index,
        "section": section.heading,
        "body_index": block.index,
        "rows": len(block.rows),
        "cols": max((len(row) for row in block.rows), default=0),
        "headers": [" ".join(cell.split()) for cell in block.rows[0]] if block.rows else [],
    }


def _images(
    document: Document, body: Body, section_of: dict[int, Section]
) -> list[dict[str, Json]]:
    found: list[dict[str, Json]] = []
    for number, picture in enumerate(body_pictures(document)):
        block = body.around(picture.drawing)
        section = section_of.get(block.index) if block is not None else None
        found.append(
            {
                "index": number,
                "section_index": section.index if section else None,
                "alt_text": alt_text(picture.drawing),
                "name": picture.part.rpartition("/")[2] if picture.part else None,
            }
        )
    return found


def _placeholders(document: Document, body: Body) -> list[str]:
    found: dict[str, None] = {}
    for text in _all_texts(document, body):
        if "{{" in text:
            found.update(dict.fromkeys(_TOKEN.findall(text)))
        if len(found) >= PLACEHOLDERS_MAX:
            break
    return list(found)[:PLACEHOLDERS_MAX]


def _all_texts(document: Document, body: Body) -> Iterator[str]:
    for block in body.blocks:
        if block.table is None:
            yield block.text
        else:
            yield from (cell for row in block.rows for cell in row)
    roots = [margin.root for margin in document.margins()]
    for root in (document.body_element, *roots):
        boxes = root.iter(n.TXBX) if root is document.body_element else (root,)
        for box in boxes:
            yield from (text_of(paragraph) for paragraph in box.iter(n.P))


def styles_in_use(body: Body) -> list[str]:
    """Return the names of the styles the body uses, in the order they first appear."""
    used: dict[str, None] = {}
    if any(
        block.table is None and child_value(block.element.find(n.PPR), n.PSTYLE) is None
        for block in body.blocks
    ):
        used[body.styles.name_of(None)] = None
    for element in body.element.iter(n.PSTYLE, n.RSTYLE, n.TBL_STYLE):
        style_id = element.get(n.VAL)
        if style_id is not None:
            used[body.styles.name_of(style_id)] = None
    return list(used)
