"""The styles, images, headers and page of a document, as assets that can be copied (F21.2)."""

from __future__ import annotations

import hashlib

from backshop.formats.errors import fail
from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json, Source

from ..review.section_data import alignment, run_look
from ..text import name as n
from ..text.line import Renderer
from ..text.picture import body_pictures
from ..text.source import Document
from ..text.stylesheet import Style, StyleSheet, whole

COPYABLE = ("paragraph_style", "character_style", "table_style", "image", "header", "footer")
_TYPES = ("character", "paragraph", "table")
_TWIPS_PER_INCH = 1440


def get_styles(source: Source, sheet: str | None = None) -> dict[str, Json]:
    """Return what F21.2 lists; sizes of the page in inches, of images in EMU."""
    if sheet is not None:
        raise fail("bad_selector", "sheet has no meaning for docx")
    document = Document.open(source)
    return {
        "format": "docx",
        "styles": _styles(document),
        "image_assets": _images(document),
        "headers_footers": _margins(document),
        "page": _page(document),
        "supported_copy_asset_types": list(COPYABLE),
    }


def asset_id(style: Style) -> str:
    """Return the stable name of a style (F21.4)."""
    return f"{style.type}_style:{style.name}"


def _styles(document: Document) -> list[Json]:
    used = {
        element.get(n.VAL)
        for element in document.body_element.iter(n.PSTYLE, n.RSTYLE, n.TBL_STYLE)
    }
    styles = document.styles
    if next(document.body_element.iter(n.P), None) is not None:
        used.add(styles.default_paragraph)
    listed = [style for style in styles.by_id.values() if style.type in _TYPES]
    listed.sort(key=lambda style: (style.type, asset_id(style)))
    return [
        {
            "asset_id": asset_id(style),
            "name": style.name,
            "style_id": style.id,
            "type": style.type,
            "builtin": style.element.get(n.w("customStyle")) not in ("1", "true", "on"),
            "base_style": styles.by_id[style.based_on].name
            if style.based_on in styles.by_id
            else None,
            **_look(styles, style),
            "in_use": style.id in used,
        }
        for style in listed
    ]


def _look(styles: StyleSheet, style: Style) -> dict[str, Json]:
    """Return the look a style has with all it is based on."""
    found: dict[str, Json] = {}
    for above in styles.chain(style.id):
        own = run_look(above.element.find(n.RPR))
        values: dict[str, Json] = {
            "font_name": own["font_name"],
            "font_size": own["size_pt"],
            "bold": own["bold"],
            "color": own["color"],
            "alignment": alignment(above.element.find(n.PPR)),
        }
        for key, value in values.items():
            if found.get(key) is None:
                found[key] = value
    return found


def _images(document: Document) -> list[Json]:
    body = document.body()
    found: dict[str, dict[str, Json]] = {}
    for picture in body_pictures(document):
        relation, part, drawing = picture.rel_id, picture.part, picture.drawing
        if relation is None or part is None or relation in found:
            continue
        block = body.around(drawing)
        section = body.section_of(block.index) if block is not None else None
        data = document.package.read(part)
        extent = next(drawing.iter(f"{{{n.WP_NS}}}extent"), None)
        found[relation] = {
            "asset_id": f"image:{relation}",
            "rel_id": relation,
            "filename": part.rpartition("/")[2],
            "content_type": document.package.content_type(part),
            "size_bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "width": whole(extent.get("cx")) if extent is not None else None,
            "height": whole(extent.get("cy")) if extent is not None else None,
            "section_index": section.index if section else None,
        }
    return [found[key] for key in sorted(found)]


def _margins(document: Document) -> list[Json]:
    renderer = Renderer(document, document.body())
    found: dict[str, Json] = {}
    for margin in document.margins():
        key = f"{margin.kind}:{margin.type}"
        found.setdefault(
            key,
            {
                "asset_id": key,
                "kind": margin.kind,
                "type": margin.type,
                "text": "\n".join(renderer.lines_inside(margin.root)),
            },
        )
    return [found[key] for key in sorted(found)]


def _page(document: Document) -> dict[str, Json] | None:
    sections = document.sections()
    if not sections:
        return None
    size = sections[-1].find(n.w("pgSz"))
    margins = sections[-1].find(n.w("pgMar"))
    landscape = size is not None and size.get(n.w("orient")) == "landscape"
    return {
        "width": _inches(size, "w"),
        "height": _inches(size, "h"),
        "margins": {name: _inches(margins, name) for name in ("top", "right", "bottom", "left")},
        "orientation": "landscape" if landscape else "portrait",
        "unit": "in",
    }


def _inches(element: Element | None, name: str) -> float | None:
    twips = whole(element.get(n.w(name))) if element is not None else None
    return round(twips / _TWIPS_PER_INCH, 3) if twips is not None else None
