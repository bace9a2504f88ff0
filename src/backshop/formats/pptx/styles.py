"""The layouts, theme, fonts, text styles and images of a presentation, as assets (F21.3)."""

from __future__ import annotations

import hashlib
from collections import Counter

from backshop.formats.errors import fail
from backshop.formats.protocol import Json, Source
from backshop.formats.write.asset_request import asset_ids

from . import names as n
from .deck import Deck
from .extract import run_look
from .theme import Theme

COPYABLE = ("text_style", "image", "layout")
_SHAPES = 10  # told of one look; all are counted


def get_styles(source: Source, sheet: str | None = None) -> dict[str, Json]:
    """Return what F21.3 lists."""
    if sheet is not None:
        raise fail("bad_selector", "sheet has no meaning for pptx")
    deck = Deck.open(source)
    return {
        "format": "pptx",
        "layouts": _layouts(deck),
        "theme": _theme(deck),
        "fonts": _fonts(deck),
        "text_style_assets": _by_look(_text_styles(deck)),
        "image_assets": _images(deck),
        "supported_copy_asset_types": list(COPYABLE),
    }


def known_assets(source: Source) -> list[str]:
    """Return the ids of all that could be copied."""
    deck = Deck.open(source)
    found: dict[str, Json] = {
        "layouts": _layouts(deck),
        "texts": [*_text_styles(deck)],
        "images": _images(deck),
    }
    return asset_ids(found, "layouts", "texts", "images")


def _layouts(deck: Deck) -> list[Json]:
    numbered = sorted(enumerate(deck.layouts), key=lambda pair: pair[1].name)
    return [
        {
            "asset_id": f"layout:{layout.name}",
            "name": layout.name,
            "index": index,
            "placeholders": [
                {"idx": placeholder.idx, "type": placeholder.type, "name": shape.name}
                for shape, placeholder in layout.placeholders
            ],
        }
        for index, layout in numbered
    ]


def _theme(deck: Deck) -> dict[str, Json] | None:
    master = next(iter(deck.masters), None)
    part = deck.trees.first_related(master, "theme") if master else None
    if part is None:
        return None
    root = deck.trees.root(part)
    colours: dict[str, Json] = {}
    for scheme in root.iter(n.a("clrScheme")):
        for entry in scheme.iterchildren("*"):
            value = next((c.get("lastClr") or c.get("val") for c in entry.iterchildren("*")), None)
            if value is not None:
                colours[str(entry.tag).rpartition("}")[2]] = f"#{value.upper()}"
        break
    fonts = Theme(deck, None).fonts
    return {
        "name": root.get("name"),
        "colors": colours,
        "fonts": {"major": fonts.get("+mj-lt"), "minor": fonts.get("+mn-lt")},
    }


def _fonts(deck: Deck) -> list[Json]:
    names = Theme(deck, None).fonts
    counts: Counter[str] = Counter()
    for slide in deck.slides:
        for font in slide.root.iter(n.a("latin")):
            name = font.get("typeface") or ""
            counts[names.get(name, name)] += 1
    return [{"family": name, "count": counts[name]} for name in sorted(counts) if name]


def _text_styles(deck: Deck) -> list[dict[str, Json]]:
    """Return the looks of the texts of all shapes, one by one."""
    found: list[dict[str, Json]] = []
    for slide in deck.slides:
        for shape in slide.shapes:
            body = shape.text_body
            run = next(body.iter(n.R_T), None) if body is not None else None
            if run is None:
                continue
            look = run_look(run.find(n.RPR))
            found.append(
                {
                    "asset_id": f"text_style:{slide.index}:{shape.index}",
                    "font_name": look["font_name"],
                    "font_size": look["size_pt"],
                    "bold": look["bold"],
                    "color": look["color"],
                }
            )
    return found


def _by_look(texts: list[dict[str, Json]]) -> list[Json]:
    """Return each look once, with the shapes that have it as `slide:shape`, the first few."""
    same: dict[tuple[Json, ...], list[dict[str, Json]]] = {}
    for one in texts:
        look = tuple(value for key, value in one.items() if key != "asset_id")
        same.setdefault(look, []).append(one)
    told: list[Json] = []
    for shapes in same.values():
        shown = {key: value for key, value in shapes[0].items() if value is not None}
        places = [str(one["asset_id"]).partition(":")[2] for one in shapes[:_SHAPES]]
        told.append({**shown, "count": len(shapes), "shapes": places})
    return told


def _images(deck: Deck) -> list[Json]:
    found: list[Json] = []
    for slide in deck.slides:
        for shape in slide.shapes:
            relation = shape.image_relation
            part = deck.package.rel_part(slide.part, relation) if relation else None
            if part is None:
                continue
            data = deck.package.read(part)
            box = deck.box(slide, shape)
            found.append(
                {
                    "asset_id": f"image:{slide.index}:{shape.index}",
                    "slide_index": slide.index,
                    "shape_index": shape.index,
                    "filename": part.rpartition("/")[2],
                    "content_type": deck.package.content_type(part),
                    "size_bytes": len(data),
                    "sha256": hashlib.sha256(data).hexdigest(),
                    "width": round(box.width) if box else None,
                    "height": round(box.height) if box else None,
                }
            )
    return found
