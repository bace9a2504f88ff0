"""The bench-path grammar: the only place where a path from outside is parsed (B4)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import NewType

from .errors import ValidationFailed

BenchPath = NewType("BenchPath", str)

PATH_MAX_BYTES = 1024
SEGMENT_MAX_BYTES = 255
DEFAULT_MAX_DEPTH = 32
TEMP_PREFIX = ".bs-tmp-"
"""How the name of a file begins that is being written and gets its own name when it is whole."""

UNUSABLE = "this path cannot be used: "
_WORDS = {
    "path_too_long": f"it is longer than {PATH_MAX_BYTES} bytes",
    "segment_too_long": f"a name in it is longer than {SEGMENT_MAX_BYTES} bytes",
    "too_deep": "it goes through too many folders",
    "empty": "it is empty",
    "empty_segment": "a name in it is empty",
    "trailing_space_or_dot": "a name in it ends with a space or a dot",
    "absolute": "it begins at the root of a disk",
    "backslash": "it has a backslash",
    "dot_segment": 'a name in it is "." or ".."',
    "control_character": "it has a control character",
    "bidi_control": "it has a sign that turns the direction of writing",
    "invalid_utf8": "it is no valid text",
    "forbidden_character": "it has the forbidden character",
    "device_name": "a name in it is that of a device of Windows, such as CON or NUL",
    "reserved_prefix": f"names that begin with {TEMP_PREFIX} are kept for Backshop",
}
"""What is wrong with a path, for each rule; a character that is forbidden follows."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_BIDI = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_DEVICE = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|COM[1-9¹²³]|LPT[1-9¹²³])( *\..*)?", re.I)
_DRIVE = re.compile(r"[A-Za-z]:")


def is_line(text: str) -> bool:
    """Say whether a text is one line that reads as what it is; a name may be in any script.

    What joins letters and faces (U+200C, U+200D) and spaces that do not break belong to it.
    """
    is_text = not any("\ud800" <= char <= "\udfff" for char in text)
    return is_text and _CONTROL.search(text) is None and _BIDI.search(text) is None


def as_seen(line: str) -> str:
    """Return what people see of a line: not which space it is, and not what has no width."""
    shown = "".join(char for char in line if unicodedata.category(char) != "Cf")
    return " ".join(shown.split())


@dataclass(frozen=True, slots=True)
class Parsed:
    """A valid path; `normalized_from` is what was given if NFC changed it."""

    path: BenchPath
    normalized_from: str | None = None


def parse(raw: str, *, max_depth: int = DEFAULT_MAX_DEPTH) -> Parsed:
    """Return the canonical path. Nothing is cleaned into validity; NFC is the one exception.

    Raises:
        ValidationFailed: `bad_path`, with the broken rule in `detail`.
    """
    _refuse_if(not raw, "empty")
    _refuse_if(any("\ud800" <= char <= "\udfff" for char in raw), "invalid_utf8")
    _refuse_if(raw.startswith(("/", "\\")) or _DRIVE.match(raw) is not None, "absolute")
    _refuse_if("\\" in raw, "backslash")
    _refuse_if(_CONTROL.search(raw) is not None, "control_character")
    _refuse_if(_BIDI.search(raw) is not None, "bidi_control")
    bad = _FORBIDDEN.search(raw)
    _refuse_if(bad is not None, "forbidden_character", bad[0] if bad else "")
    path = unicodedata.normalize("NFC", raw)
    _refuse_if(len(path.encode()) > PATH_MAX_BYTES, "path_too_long")
    segments = path.split("/")
    _refuse_if(len(segments) > max_depth, "too_deep")
    for segment in segments:
        _check_segment(segment)
    return Parsed(BenchPath(path), raw if path != raw else None)


def bench_path(raw: str) -> BenchPath:
    """Return the canonical path where the caller has no use for `normalized_from`."""
    return parse(raw).path


def collision_key(path: str) -> str:
    """Return the key under which two paths of one tree may not meet (B4.4)."""
    folded = unicodedata.normalize("NFC", path).casefold()
    return unicodedata.normalize("NFC", folded)


def _check_segment(segment: str) -> None:
    _refuse_if(not segment, "empty_segment")
    _refuse_if(segment in (".", ".."), "dot_segment")
    _refuse_if(len(segment.encode()) > SEGMENT_MAX_BYTES, "segment_too_long")
    _refuse_if(segment[-1] in " .", "trailing_space_or_dot")
    _refuse_if(_DEVICE.fullmatch(segment) is not None, "device_name")
    _refuse_if(segment.lower().startswith(TEMP_PREFIX), "reserved_prefix")


def _refuse_if(broken: bool, rule: str, found: str = "") -> None:
    if broken:
        said = f"{_WORDS[rule]} {found}".rstrip()
        raise ValidationFailed(f"{UNUSABLE}{said}", reason="bad_path", detail=rule)
