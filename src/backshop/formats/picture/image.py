"""Pictures: what they are and how large, never what they show (F13, F4.5, F4.6)."""

from __future__ import annotations

import hashlib
import re
import warnings as python_warnings
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from backshop.base import limits as numbers

from ..canvas.viewed import fitted, require_page
from ..errors import fail
from ..package.guard import parse_xml
from ..package.package import Package
from ..package.picture_size import FORMATS
from ..protocol import Json, JsonObject, Map, Read, Selector, Source
from ..warning import Warn
from ..window import check_selector

_DEPTH = {"1": 1, "L": 8, "P": 8, "RGB": 24, "RGBA": 32, "CMYK": 32, "YCbCr": 24, "LA": 16}
_DEPTH |= {"I": 32, "F": 32, "I;16": 16, "PA": 16, "LAB": 24, "HSV": 24}
_LENGTH = re.compile(
    r"((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?)\s*(px|pt|pc|mm|cm|in|q)?", re.IGNORECASE
)
_PIXELS = {"px": 1.0, "pt": 96 / 72, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}
_PIXELS |= {"q": 96 / 101.6}
_ENDINGS = frozenset({"png", "jpg", "jpeg", "gif", "webp"})
_ODF_CONTENT = "content.xml"


def get_info(source: Source) -> JsonObject:
    """Return format, width and height (F15.1)."""
    data = _describe(source)
    return {key: data[key] for key in ("format", "width", "height")}


def get_map(source: Source) -> Map:
    """Return the picture's measures."""
    data = _describe(source)
    rest = {key: value for key, value in data.items() if key != "format"}
    return Map(format=str(data["format"]), data=rest)


def read(source: Source, selector: Selector) -> Read:
    """Return one line of description; a picture has no text (F13.2)."""
    check_selector(selector, "image", ())
    if selector.chunk_index not in (None, 0):
        raise fail("bad_index", f"there is no chunk {selector.chunk_index}", hints=("0 to 0",))
    data = _describe(source)
    kind = str(data["format"])
    words = [kind, f"{data['width']}x{data['height']} pixels"]
    if data["color_depth"] is not None:
        words.append(f"{data['color_depth']} bits per pixel")
    if data["frames"] != 1:
        words.append(f"{data['frames']} frames")
    words.append("with transparency" if data["has_alpha"] else "without transparency")
    words.append(f"{source.size_bytes} bytes")
    return Read(format=kind, text=", ".join(words), warnings=(Warn("content_not_textual"),))


def extract_lines(source: Source) -> list[str]:
    """Return the description as review's one line."""
    return [read(source, Selector()).text]


def render_page(source: Source, page_index: int, scale: float) -> tuple[bytes, int, bool]:
    """Return the picture (or one of its frames) as PNG that fits a screen (F29.8)."""
    data = _describe(source)
    frames = data["frames"] if isinstance(data["frames"], int) else 1
    if not 0 <= page_index < frames:
        raise fail("bad_index", f"frames are 0 to {frames - 1}", hints=(f"0 to {frames - 1}",))
    image, is_smaller = _fitted(source.path, page_index, scale)
    return image, frames, is_smaller


def view_page(source: Source, page: int) -> tuple[bytes, JsonObject]:
    """Return the picture, or one of its frames, for who takes pictures; from 1 (F43.73)."""
    if source.extension == ".svg":
        raise fail("unsupported_format", "an SVG picture is not drawn", hints=("read_file",))
    data = _describe(source)
    total = data["frames"] if isinstance(data["frames"], int) else 1
    require_page(page, total, "frame")
    try:
        with Image.open(source.path, formats=FORMATS) as image:
            image.seek(page - 1)
            sent, facts = fitted(image)
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        detail = type(error).__name__
        raise fail("corrupt_file", "the picture cannot be read", detail=detail) from error
    name = "the picture" if total == 1 else f"frame {page} of {total}"
    about: JsonObject = {"shown": name, "page": page, "page_count": total}
    whole: JsonObject = {"file_width": data["width"], "file_height": data["height"]}
    return sent, {**about, **facts, **whole, "places": [], "missing": []}


def render_part(source: Source, part: str) -> tuple[bytes, int, bool]:
    """Return a picture that lies inside an office file, by its name there, as PNG (U4.2)."""
    package = Package.open(source)
    alike = (name for name in _pictures(package) if part in (name, name.rpartition("/")[2]))
    name = next(alike, None)
    if name is None:
        raise fail("bad_index", "there is no such picture in this file")
    image, is_smaller = _fitted(BytesIO(package.read(name)), 0, 1.0)
    return image, 1, is_smaller


def picture_parts(source: Source) -> dict[str, str]:
    """Return the pictures that lie inside an office file: their names there, and their hashes."""
    package = Package.open(source)
    return {name: hashlib.sha256(package.read(name)).hexdigest() for name in _pictures(package)}


def _pictures(package: Package) -> Iterator[str]:
    """Yield the parts that are pictures, by their types or, in OpenDocument, their endings."""
    is_odf = package.find(_ODF_CONTENT) is not None
    for name in package.names:
        if is_odf:
            fits = name.rpartition(".")[2].lower() in _ENDINGS
        else:
            fits = (package.content_type(name) or "").startswith("image/")
        if fits:
            yield name


def _fitted(given: Path | BytesIO, page_index: int, scale: float) -> tuple[bytes, bool]:
    """Return one frame as PNG that fits a screen, and whether it had to be made smaller."""
    Image.MAX_IMAGE_PIXELS = numbers.IMAGE_MAX_PIXELS
    try:
        with Image.open(given, formats=FORMATS) as image:
            if image.size[0] * image.size[1] > numbers.IMAGE_MAX_PIXELS:
                raise fail("too_large", "the picture has too many pixels")
            image.seek(page_index)
            wanted = [max(1, round(side * scale)) for side in image.size]
            fitting = min(1.0, numbers.PREVIEW_MAX_SIDE_PX / max(wanted))
            while True:
                size = [max(1, round(side * fitting)) for side in wanted]
                shown = image.convert("RGBA").resize((size[0], size[1]))
                buffer = BytesIO()
                shown.save(buffer, "PNG")
                if buffer.tell() <= numbers.PREVIEW_MAX_BYTES:
                    return buffer.getvalue(), fitting < 1.0
                fitting *= 0.7
    except Image.DecompressionBombError as error:
        raise fail("too_large", "the picture has too many pixels") from error
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        detail = type(error).__name__
        raise fail("corrupt_file", "the picture cannot be read", detail=detail) from error


def _describe(source: Source) -> dict[str, Json]:
    return _svg(source) if source.extension == ".svg" else _raster(source)


def _raster(source: Source) -> dict[str, Json]:
    Image.MAX_IMAGE_PIXELS = numbers.IMAGE_MAX_PIXELS
    try:
        with python_warnings.catch_warnings():
            python_warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(source.path, formats=FORMATS) as image:
                width, height = image.size
                if width * height > numbers.IMAGE_MAX_PIXELS:
                    raise fail("too_large", f"the picture has {width * height} pixels")
                frames = getattr(image, "n_frames", 1)
                alpha = "A" in image.mode or "transparency" in image.info
                name = (image.format or "").lower()
                mode = image.mode
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise fail("too_large", "the picture has too many pixels") from error
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError) as error:
        detail = type(error).__name__
        raise fail("corrupt_file", "the picture cannot be read", detail=detail) from error
    return {
        "format": name,
        "width": width,
        "height": height,
        "color_depth": _DEPTH.get(mode, 24),
        "frames": frames,
        "has_alpha": alpha,
    }


def _svg(source: Source) -> dict[str, Json]:
    root = parse_xml(source.path.read_bytes())
    if str(root.tag).rpartition("}")[2] != "svg":
        raise fail("content_mismatch", "the content is not an SVG picture")
    box = (root.get("viewBox") or "").replace(",", " ").split()
    sides = [_length(root.get("width")), _length(root.get("height"))]
    if len(box) == 4:
        sides = [side or _length(part) for side, part in zip(sides, box[2:], strict=True)]
    return {
        "format": "svg",
        "width": sides[0],
        "height": sides[1],
        "color_depth": None,
        "frames": 1,
        "has_alpha": True,
    }


def _length(text: str | None) -> int | None:
    match = _LENGTH.fullmatch((text or "").strip())
    if match is None:
        return None
    value = float(match.group(1)) * _PIXELS[(match.group(2) or "px").lower()]
    return round(value) if 0 < value < 1e9 else None
