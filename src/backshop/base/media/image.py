"""A picture on its way to a model: its bytes, and how large it is."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

PNG = "image/png"
_PNG_START = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class Image:
    """A picture shown to a model."""

    media_type: str
    data: bytes = field(repr=False)

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height in pixels, as a PNG says them; None where the bytes do not."""
        if self.data[:8] != _PNG_START or self.data[12:16] != b"IHDR" or len(self.data) < 24:
            return None
        width, height = struct.unpack(">II", self.data[16:24])
        return width, height
