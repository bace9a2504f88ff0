"""Pictures for who takes pictures and no pages: small enough to be sent, with facts (F43.70)."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

from backshop.base import limits

from ..errors import fail
from ..protocol import Json, JsonObject
from .face import has_letter
from .figure import Canvas, Figure, Frame, Group, Text
from .raster import painted

_LABEL_MAX_CHARS = 60
_COLOURS = 256
_BOXES = (
    "letters other than Latin, Greek and Cyrillic ones, and some signs, are empty boxes in this "
    "picture, not in the file"
)
_SMALLER = 0.8  # of each side, where a picture has too many bytes


def require_page(page: int, count: int, what: str = "page") -> None:
    """Refuse a page that is not there; pages count from 1.

    Raises:
        FormatError: `bad_range`, with the pages there are.
    """
    if not 1 <= page <= count:
        there = f"{what} 1 to {count}" if count > 1 else f"{what} 1" if count else "none"
        raise fail("bad_range", f"there is no {what} {page}", hints=(there,))


def fitted(image: Image.Image) -> tuple[bytes, JsonObject]:
    """Return a picture as PNG within the limits, on white, and its size in pixels."""
    shown = _on_white(image)
    shown.thumbnail((limits.VIEWED_MAX_SIDE_PX, limits.VIEWED_MAX_SIDE_PX))
    data = _png(shown)
    if len(data) > limits.VIEWED_MAX_BYTES:  # photographs and scans: fewer colours, same sharpness
        data = _png(_few_colours(shown))
    while len(data) > limits.VIEWED_MAX_BYTES:
        width, height = (max(1, round(side * _SMALLER)) for side in shown.size)
        shown = shown.resize((width, height))
        data = _png(_few_colours(shown))
    return data, {"width": shown.width, "height": shown.height}


def shown(canvas: Canvas) -> tuple[bytes, JsonObject]:
    """Return a drawn page as PNG, and what is told of it: its size, places and what is missing."""
    longest = max(canvas.width, canvas.height, 1.0)
    data, facts = fitted(painted(canvas, min(1.0, limits.VIEWED_MAX_SIDE_PX / longest)))
    width = facts["width"]
    assert isinstance(width, int)
    scale = width / max(canvas.width, 1.0)
    places: list[Json] = [_told(one, scale) for one in canvas.frames[: limits.VIEWED_PLACES_MAX]]
    more = len(canvas.frames) - len(places)
    left_out: JsonObject = {"places_left_out": more} if more else {}
    unknown = [_BOXES] if any(map(_has_boxes, canvas.figures)) else []
    return data, {**facts, "places": places, **left_out, "missing": [*unknown, *canvas.missing]}


def _has_boxes(figure: Figure) -> bool:
    """Whether letters stand there that no bundled face has, which are empty boxes (F43.5)."""
    if isinstance(figure, Group):
        return any(map(_has_boxes, figure.figures))
    if not isinstance(figure, Text) or figure.text.isascii():
        return False
    return not all(has_letter(figure.face, letter) for letter in set(figure.text))


def _told(frame: Frame, scale: float) -> JsonObject:
    """Return where a thing of the file stands in the picture: left, top, width and height."""
    label = " ".join(frame.label.split())[:_LABEL_MAX_CHARS]
    sides = (frame.x, frame.y, frame.width, frame.height)
    box: list[Json] = [round(side * scale) for side in sides]
    return {"place": frame.place, "kind": frame.kind, "label": label, "box": box}


def _on_white(image: Image.Image) -> Image.Image:
    """Return a copy without transparency, which every model takes in its own way."""
    if image.mode == "RGB":
        return image.copy()
    layer = image.convert("RGBA")
    ground = Image.new("RGBA", layer.size, "#ffffff")
    return Image.alpha_composite(ground, layer).convert("RGB")


def _few_colours(image: Image.Image) -> Image.Image:
    return image.quantize(_COLOURS, method=Image.Quantize.MEDIANCUT)


def _png(image: Image.Image) -> bytes:
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
