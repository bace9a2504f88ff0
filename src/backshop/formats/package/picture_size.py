"""How large a picture inside an office file is."""

from __future__ import annotations

import warnings
from io import BytesIO

from PIL import Image, UnidentifiedImageError

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")  # others are not opened


def pixels(data: bytes) -> str:
    """Return how large a picture is, `640 x 480`; nothing where that is not known."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(BytesIO(data), formats=FORMATS) as picture:
                return f"{picture.width} x {picture.height}"
    except (OSError, UnidentifiedImageError, ValueError, SyntaxError, Image.DecompressionBombError):
        return ""
