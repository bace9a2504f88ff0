"""A picture from a file, looked at before it goes into an office file (F4.6, F36.12)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from io import BytesIO

from PIL import Image, UnidentifiedImageError

from backshop.base import limits as numbers

from ..errors import fail
from ..kind import classify
from ..protocol import Kind, Source
from .guard import check_size

_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".gif": "GIF"}
_SCREEN_DPI = 96
_LEAST_DPI, _MOST_DPI = 30, 2400  # what is said beyond them is no resolution


@dataclass(frozen=True, slots=True)
class PictureFile:
    """The bytes of a picture that can be shown, its kind, and how large it is on a screen."""

    data: bytes
    ending: str  # png, jpeg, gif
    width: float
    height: float


def read_picture(source: Source) -> PictureFile:
    """Read a picture to its end.

    Raises:
        FormatError: `not_found`, `unsupported_format` (no picture, or one that Excel does not
            open everywhere), `content_mismatch`, `too_large`, `corrupt_file`.
    """
    try:
        with source.path.open("rb") as file:
            head = file.read(numbers.CLASSIFY_HEAD_BYTES)
    except FileNotFoundError as error:
        raise fail("not_found", f"there is no file {source.name!r}") from error
    kind = classify(source.name, head).kind
    if kind is not Kind.IMAGE or source.extension not in _FORMATS:
        what = f"{source.name!r} cannot be put into an office file"
        raise fail("unsupported_format", what, hints=("png, jpg and gif can",))
    check_size(source, Kind.IMAGE, source.limits)
    data = source.path.read_bytes()
    width, height = _measured(data, _FORMATS[source.extension])
    return PictureFile(data, _FORMATS[source.extension].lower(), width, height)


def _measured(data: bytes, name: str) -> tuple[float, float]:
    most = numbers.IMAGE_MAX_PIXELS
    Image.MAX_IMAGE_PIXELS = most
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(BytesIO(data), formats=(name,)) as picture:
                if picture.width * picture.height > most:
                    raise fail("too_large", f"the picture has more than {most} pixels")
                picture.load()
                sides = (float(picture.width), float(picture.height))
                return _on_screen(sides, picture.info.get("dpi"))
    except Image.DecompressionBombError as error:
        raise fail("too_large", f"the picture has more than {most} pixels") from error
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError) as error:
        detail = type(error).__name__
        raise fail("corrupt_file", "the picture cannot be read", detail=detail) from error


def _on_screen(sides: tuple[float, float], dpi: object) -> tuple[float, float]:
    """Return a size in pixels of a screen; a picture may say how many of its own make an inch."""
    if not isinstance(dpi, tuple) or len(dpi) != 2:
        return sides
    try:
        per_inch = float(dpi[0]), float(dpi[1])
    except (TypeError, ValueError, ZeroDivisionError):
        return sides
    if not all(_LEAST_DPI <= one <= _MOST_DPI for one in per_inch):
        return sides
    width, height = (
        max(1.0, side * _SCREEN_DPI / one) for side, one in zip(sides, per_inch, strict=True)
    )
    return width, height
