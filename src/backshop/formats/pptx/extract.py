"""One slide or all as data for review, every shape with its place (F29.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from lxml import etree

from backshop.formats.diff.part_diff import printed
from backshop.formats.package.drawing_text import paragraph_text
from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json, Source
from backshop.formats.write.operation import problem

from . import names as n
from .deck import Deck, Slide
from .shape import Shape, level_of, table_grid, whole
from .theme import Theme

DETAILS = ("positioned", "layout_lite")
_NOT_LOOK = frozenset({n.XFRM, n.XFRM_P, n.END_RPR})
_NOT_SHOWN = frozenset({"lang", "altLang", "dirty", "err", "smtClean", "noProof"})
_LINKS = tuple(map(n.a, ("hlinkClick", "hlinkHover", "hlinkMouseOver")))
_BODIES = (n.TX_BODY, n.a("txBody"), n.TBL)
_NOT_TEXT = frozenset({"hlinkClick", "hlinkHover", "hlinkMouseOver"})
_NOT_FRAME = _NOT_TEXT | {"txBody", "tbl", "xfrm"}
_SHOWN = frozenset({"shape", "placeholder", "picture", "table"})


def extract_slide(source: Source, slide_index: int, detail: str = "positioned") -> dict[str, Json]:
    """Return a slide; `layout_lite` leaves the positions out."""
    if detail not in DETAILS:
        raise problem("bad_value", "detail", f"{detail!r} is not a detail", DETAILS)
    deck = Deck.open(source)
    return {
        "slide_index": slide_index,
        "slide_count": len(deck.slides),
        "slide": _slide(deck, deck.slide(slide_index), slide_index, detail),
    }


def extract_deck(source: Source) -> dict[str, Json]:
    """Return every slide in order, each as `extract_slide` does."""
    deck = Deck.open(source)
    slides: list[Json] = [
        _slide(deck, slide, index, "positioned") for index, slide in enumerate(deck.slides)
    ]
    return {"slides": slides}


def _slide(deck: Deck, slide: Slide, index: int, detail: str) -> dict[str, Json]:
    layout = deck.layout_of(slide)
    shapes = [(shape, _shape(deck, slide, shape)) for shape in slide.shapes]
    return {
        "index": index,
        "slide_id": slide.slide_id,
        "title": slide.title,
        "layout": layout.name if layout else None,
        "notes": deck.notes(slide) or None,
        "hidden": slide.is_hidden,
        "shapes": [data for _, data in shapes],
        "positioned": _positioned(deck, slide, shapes) if detail == "positioned" else None,
        "render_mode": detail,
    }


def _shape(deck: Deck, slide: Slide, shape: Shape) -> dict[str, Json]:
    box = deck.box(slide, shape)
    placeholder = shape.placeholder
    relation = shape.image_relation
    image = deck.package.rel_part(slide.part, relation) if relation else None
    table = shape.table
    return {
        "index": shape.index,
        "shape_id": whole(shape.properties.get("id")) if shape.properties is not None else None,
        "name": shape.name,
        "shape_type": shape.kind,
        "z_index": shape.index,
        "left": round(box.left) if box else None,
        "top": round(box.top) if box else None,
        "width": round(box.width) if box else None,
        "height": round(box.height) if box else None,
        "rotation": round(box.rotation % 360, 3) if box else 0,
        "placeholder_type": placeholder.type if placeholder else None,
        "text_blocks": _blocks(shape.text_body),
        "table": table_grid(table) if table is not None else None,
        "drawn": deck.drawn_lines(slide, shape),
        "image_ref": image,
        "image_sha256": deck.digest(image) if image else None,
        "has_image": shape.has_image,
        "look": _look(shape),
        **_beyond_look(deck, slide, shape),
    }


def _beyond_look(deck: Deck, slide: Slide, shape: Shape) -> dict[str, Json]:
    """Return where a shape's links lead, and hashes of all that is in it, words apart.

    What parts of the package it shows is told by those parts.
    """
    rels = {rel.id: rel for rel in reversed(deck.package.rels(slide.part))}
    found = list(shape.element.iter(*_LINKS))
    slides = {one.part: one.slide_id for one in deck.slides} if found else {}
    links: list[Json] = []
    for link in found:
        rel = rels.get(link.get(n.R_ID) or "")
        part = deck.package.find(rel.part) if rel is not None and rel.part else None
        address = f"#slide_id {slides[part]}" if part in slides else rel.target if rel else ""
        action = link.get("action") or ""
        links.append(" ".join(one for one in (address, action) if one) or "nothing")
    outside = {rel.id: rel.target if rel.part is None else "" for rel in rels.values()}
    frame = printed(shape.element, outside, _NOT_FRAME)
    bodies = "".join(printed(body, outside, _NOT_TEXT) for body in shape.element.iter(*_BODIES))
    rest: dict[str, Json] = {
        name: hashlib.sha256(text.encode()).hexdigest()[:16]
        for name, text in (("frame", frame), ("text", bodies))
    }
    return {"links": links, "rest": rest}


def _look(shape: Shape) -> str:
    """Return a hash of what a shape looks like, words included; its place and ids are left out."""
    digest = hashlib.sha256()
    for piece in _pieces(shape.element):
        digest.update(piece.encode() + b"\0")
    return digest.hexdigest()[:16]


def _pieces(element: Element) -> Iterator[str]:
    tag = element.tag
    if not isinstance(tag, str) or tag in _NOT_LOOK or tag.endswith("}extLst"):
        return
    attributes = sorted(
        (str(key), str(value))
        for key, value in element.items()
        if key not in _NOT_SHOWN and not str(key).startswith(f"{{{n.R_NS}}}")
    )
    if tag == n.C_NV_PR:
        attributes = [pair for pair in attributes if pair[0] in ("descr", "title", "hidden")]
    if tag in (n.PPR, n.RPR) and not attributes and next(element.iterchildren("*"), None) is None:
        return
    yield f"{tag}{attributes}{element.text if tag == n.T else ''}"
    for child in element:
        yield from _pieces(child)
    yield "end"


def _blocks(body: Element | None) -> list[Json]:
    if body is None:
        return []
    return [
        {
            "index": index,
            "level": level_of(paragraph),
            "text": paragraph_text(paragraph),
            "runs": [
                {"index": at, "text": text, **run_look(run.find(n.RPR))}
                for at, (run, text) in enumerate(_runs(paragraph))
            ],
        }
        for index, paragraph in enumerate(body.iterchildren(n.P_T))
    ]


def _runs(paragraph: Element) -> Iterator[tuple[Element, str]]:
    for child in paragraph:
        if child.tag == n.BR:
            yield child, "\n"
        elif child.tag in (n.R_T, n.FLD):
            yield child, "".join(text.text or "" for text in child.iterchildren(n.T))


def run_look(properties: Element | None) -> dict[str, Json]:
    """Return what a run says about its look; None where it inherits."""
    if properties is None:
        properties = etree.Element(n.RPR)
    size = whole(properties.get("sz"))
    font = properties.find(n.a("latin"))
    colour = properties.find(f"{n.a('solidFill')}/{n.a('srgbClr')}")
    line = properties.get("u")
    return {
        "bold": _switch(properties.get("b")),
        "italic": _switch(properties.get("i")),
        "underline": None if line is None else line != "none",
        "size_pt": size / 100 if size is not None else None,
        "font_name": font.get("typeface") if font is not None else None,
        "color": f"#{(colour.get('val') or '').upper()}" if colour is not None else None,
    }


def _switch(value: str | None) -> bool | None:
    return None if value is None else value in ("1", "true")


def _positioned(
    deck: Deck, slide: Slide, shapes: list[tuple[Shape, dict[str, Json]]]
) -> dict[str, Json]:
    width, height = deck.size
    placed: list[Json] = []
    missing: set[str] = set()
    for shape, data in shapes:
        box = deck.box(slide, shape)
        if shape.kind not in _SHOWN:
            missing.add(shape.kind)
        if box is None:
            missing.add("geometry")
            continue
        bounds: dict[str, Json] = {
            "x": round(box.left / width, 6) if width else 0,
            "y": round(box.top / height, 6) if height else 0,
            "width": round(box.width / width, 6) if width else 0,
            "height": round(box.height / height, 6) if height else 0,
        }
        placed.append({**data, "bounds": bounds})
    return {
        "coordinate_space": "slide_ratio",
        "slide_size": {"width": width, "height": height, "unit": "emu"},
        "positioned_shapes": placed,
        "font_families": sorted(font_families(deck, slide)),
        "missing_features": sorted(missing),
    }


def font_families(deck: Deck, slide: Slide) -> set[str]:
    """Return the fonts a slide names, and those its theme gives the rest."""
    fonts = Theme(deck, slide).fonts
    found = {name for name in fonts.values() if name}
    for font in slide.root.iter(n.a("latin")):
        name = font.get("typeface") or ""
        found.add(fonts.get(name, name) or name)
    return {name for name in found if name and not name.startswith("+")}
