"""The faces that drawn pages are set in, and how wide text is in them (F43.2).

The faces are bundled, metric-compatible with those documents name: a line ends where it does in
the person's own program. Letters that no bundled file has are measured by a rule of thumb.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PIL import ImageFont

from .face_folder import faces_folder

CARLITO, CALADEA, ARIMO, TINOS, COUSINE = "Carlito", "Caladea", "Arimo", "Tinos", "Cousine"
_EM = 1000  # the size at which files are measured
_SCRIPTS = ("latin", "latin-ext", "cyrillic", "greek")
_NAMED = {
    CARLITO: ("calibri", "carlito", "aptos", "candara", "corbel", "gill sans", "segoe ui"),
    CALADEA: ("cambria", "caladea", "georgia", "constantia", "bookman"),
    TINOS: (
        "times",
        "tinos",
        "garamond",
        "palatino",
        "century",
        "serif",
        "roman",
        "minion",
        "song",
    ),
    COUSINE: ("courier", "cousine", "consolas", "menlo", "monaco", "mono", "typewriter"),
}


@dataclass(frozen=True, slots=True)
class Face:
    """A bundled face in one cut."""

    family: str = CARLITO
    bold: bool = False
    italic: bool = False

    @property
    def ascent(self) -> float:
        """Height above the base line, in parts of the size."""
        return _metrics(self)[0]

    @property
    def descent(self) -> float:
        """Depth below the base line, in parts of the size."""
        return _metrics(self)[1]

    @property
    def line_height(self) -> float:
        """From one base line to the next, in parts of the size."""
        return self.ascent + self.descent

    def width(self, text: str, size: float) -> float:
        """Return how wide a line of text is."""
        return sum(map(_advances(self).__getitem__, text)) * size


def face(name: str | None, *, bold: bool = False, italic: bool = False) -> Face:
    """Return the bundled face that stands for one a document names."""
    return Face(family(name), bold, italic)


def family(name: str | None) -> str:
    """Return the bundled family for a name of a document; sans serif unless it is known better."""
    if not name:
        return CARLITO
    lowered = name.strip().lower()
    if "sans" in lowered:
        return ARIMO
    for bundled, words in _NAMED.items():
        if any(word in lowered for word in words):
            return bundled
    return ARIMO


def file_of(cut: Face, script: str) -> Path:
    """Return the file of a cut for a script; not every family has every script."""
    weight = 700 if cut.bold else 400
    style = "italic" if cut.italic else "normal"
    return faces_folder() / f"{cut.family.lower()}-{script}-{weight}-{style}.woff2"


@cache
def opened(cut: Face, script: str, size: float = _EM) -> ImageFont.FreeTypeFont | None:
    """Return a file at a size, None where the family lacks the script."""
    path = file_of(cut, script)
    if not path.exists():
        return None
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


def script_of(letter: str) -> str:
    """Return in which of the files a letter would be."""
    code = ord(letter)
    if code < 0x100 or 0x2000 <= code < 0x2070 or letter in "€™−ŒœŠšŸŽž":
        return "latin" if code < 0x100 or letter not in "ŠšŸŽž" else "latin-ext"
    if 0x370 <= code < 0x400:
        return "greek"
    return "cyrillic" if 0x400 <= code < 0x460 else "latin-ext"


@cache
def has_letter(cut: Face, letter: str) -> bool:
    """Whether the bundled file of its script shows a letter."""
    font = opened(cut, script_of(letter))
    if font is None:
        return False
    missing = font.getmask("\U0010ffff")
    shown = font.getmask(letter)
    return letter.isspace() or shown.size != missing.size or bytes(shown) != bytes(missing)


@cache
def _metrics(cut: Face) -> tuple[float, float]:
    font = opened(cut, "latin")
    if font is None:
        return 0.95, 0.25
    ascent, descent = font.getmetrics()
    return ascent / _EM, descent / _EM


class _Advances(dict[str, float]):
    """How wide letters are in a cut, in parts of the size; each is measured once."""

    def __init__(self, cut: Face) -> None:
        super().__init__()
        self._cut = cut

    def __missing__(self, letter: str) -> float:
        self[letter] = found = _advance(self._cut, letter)
        return found


@cache
def _advances(cut: Face) -> _Advances:
    return _Advances(cut)


def _advance(cut: Face, letter: str) -> float:
    font = opened(cut, script_of(letter))
    if font is not None and has_letter(cut, letter):
        return font.getlength(letter) / _EM
    if unicodedata.combining(letter) or unicodedata.category(letter) in {"Mn", "Cf", "Cc"}:
        return 0.0
    return 1.0 if unicodedata.east_asian_width(letter) in {"W", "F"} else 0.56
