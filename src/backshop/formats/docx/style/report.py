"""The styles, images, headers and page of a document, as assets that can be copied (F21.2)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from backshop.formats.cell_range import runs
from backshop.formats.errors import fail
from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json, Source
from backshop.formats.write.asset_request import asset_ids

from ..review.section_data import alignment, run_look
from ..text import name as n
from ..text.line import Renderer
from ..text.picture import body_pictures
from ..text.source import Document
from ..text.stylesheet import Style, StyleSheet, whole

COPYABLE = ("paragraph_style", "character_style", "table_style", "image", "header", "footer")
_TYPES = ("character", "paragraph", "table")
_TWIPS_PER_INCH = 1440
_SPANS = 10  # of places where a style is used


def get_styles(source: Source, sheet: str | None = None) -> dict[str, Json]:
    """Return what F21.2 lists; sizes of the page in inches, of images in EMU."""
    if sheet is not None:
        raise fail("bad_selector", "sheet has no meaning for docx")
    document = Document.open(source)
    styles, others = _styles(document)
    return {
        "format": "docx",
        "styles": styles,
        "other_styles": others,
        "image_assets": _images(document),
        "headers_footers": _margins(document),
        "page": _page(document),
        "supported_copy_asset_types": list(COPYABLE),
    }


def known_assets(source: Source) -> list[str]:
    """Return the ids of all that could be copied, in use or not."""
    document = Document.open(source)
    styles = [asset_id(one) for one in document.styles.by_id.values() if one.type in _TYPES]
    found: dict[str, Json] = {"images": _images(document), "margins": _margins(document)}
    return [*sorted(styles), *asset_ids(found, "images", "margins")]


def asset_id(style: Style) -> str:
    """Return the stable name of a style (F21.4)."""
    return f"{style.type}_style:{style.name}"


def _styles(document: Document) -> tuple[list[Json], dict[str, Json]]:
    """Return the styles in use with their looks and places, and the names of the others by type."""
    styles = document.styles
    used = _used(document)
    listed = [style for style in styles.by_id.values() if style.type in _TYPES]
    listed.sort(key=lambda style: (style.type, asset_id(style)))
    told: list[Json] = []
    others: dict[str, list[Json]] = {}
    for style in listed:
        places = used.get(style.id)
        if places is None:
            others.setdefault(style.type, []).append(style.name)
            continue
        base = styles.by_id.get(style.based_on or "")
        look = {key: value for key, value in _look(styles, style).items() if value is not None}
        told.append(
            {
                "asset_id": asset_id(style),
                "name": style.name,
                "style_id": style.id,
                "type": style.type,
                "builtin": style.element.get(n.w("customStyle")) not in ("1", "true", "on"),
                **({"base_style": base.name} if base else {}),
                **look,
                "count": sum(places.values()),
                "paragraphs": _spans(places),
            }
        )
    return told, {**others}


def _used(document: Document) -> dict[str, Counter[int]]:
    """Return the styles in use: how often in which block of the body."""
    body = document.body()
    default = document.styles.default_paragraph
    found: dict[str, Counter[int]] = {}
    for block in body.blocks:
        for element in block.element.iter(n.PSTYLE, n.RSTYLE, n.TBL_STYLE):
            found.setdefault(element.get(n.VAL) or "", Counter())[block.index] += 1
        plain = [p for p in block.element.iter(n.P) if p.find(f"{n.PPR}/{n.PSTYLE}") is None]
        if plain and default is not None:
            found.setdefault(default, Counter())[block.index] += len(plain)
    return found


def _spans(places: Iterable[int]) -> str:
    """Return body indexes as a selector of reads writes them, the first few."""
    spans = runs(sorted(places))
    said = [f"{a}" if a == b else f"{a}-{b}" for a, b in spans[:_SPANS]]
    return ", ".join([*said, f"and {len(spans) - _SPANS} more"] if len(spans) > _SPANS else said)


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
