"""Pictures on a drawn page, made anew: no byte of the file itself is shown (F43.4)."""

from __future__ import annotations

import io

from PIL import Image, ImageOps

from backshop.base import limits

_OPEN = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
_PER_PIXEL = 2.0  # so sharp on a fine screen


def bitmap(
    data: bytes,
    width: float,
    height: float,
    crop: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
) -> bytes | None:
    """Return a picture no finer than it is shown, as PNG or JPEG; None where it is none.

    `crop` are the parts of left, top, right and bottom that are cut off, from 0 to 1.
    """
    try:
        with Image.open(io.BytesIO(data), formats=_OPEN) as image:
            if image.width * image.height > limits.IMAGE_MAX_PIXELS:
                return None
            shown = ImageOps.exif_transpose(image)
            shown = _cropped(shown, crop)
            most = (max(1, round(width * _PER_PIXEL)), max(1, round(height * _PER_PIXEL)))
            if shown.width > most[0] and shown.height > most[1]:
                shown = shown.convert("RGBA").resize(most, Image.Resampling.LANCZOS)
            return _written(shown)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def tiled(
    data: bytes, width: float, height: float, share_x: float = 1.0, share_y: float = 1.0
) -> bytes | None:
    """Return an area covered with a picture side by side, each of its own size or a share of it."""
    try:
        with Image.open(io.BytesIO(data), formats=_OPEN) as image:
            if image.width * image.height > limits.IMAGE_MAX_PIXELS:
                return None
            dots = image.info.get("dpi") or (96.0, 96.0)
            per_inch = [float(one) if 10 < float(one) < 2_000 else 96.0 for one in dots]
            size = (
                max(4, round(image.width * share_x * 96 / per_inch[0])),
                max(4, round(image.height * share_y * 96 / per_inch[1])),
            )
            area = (max(1, round(width)), max(1, round(height)))
            tile = image.convert("RGBA").resize((min(size[0], 4_000), min(size[1], 4_000)))
            whole = Image.new("RGBA", area)
            for x in range(0, area[0], tile.width):
                for y in range(0, area[1], tile.height):
                    whole.paste(tile, (x, y))
            return _written(whole)
    except (OSError, ValueError, TypeError, SyntaxError, Image.DecompressionBombError):
        return None


def _cropped(image: Image.Image, crop: tuple[float, float, float, float]) -> Image.Image:
    left, top, right, bottom = (min(max(side, 0.0), 1.0) for side in crop)
    if left + right >= 1 or top + bottom >= 1 or not any(crop):
        return image
    return image.crop(
        (
            round(image.width * left),
            round(image.height * top),
            max(round(image.width * (1 - right)), round(image.width * left) + 1),
            max(round(image.height * (1 - bottom)), round(image.height * top) + 1),
        )
    )


def _written(image: Image.Image) -> bytes:
    out = io.BytesIO()
    plain = image.convert("RGBA")
    low, _ = plain.getchannel("A").getextrema()
    photo = low == 255 and image.width * image.height > 40_000  # a drawing stays sharp
    if photo:
        plain.convert("RGB").save(out, "JPEG", quality=85)
    else:
        plain.save(out, "PNG")
    return out.getvalue()
