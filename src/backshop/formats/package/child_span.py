"""Where the children of the root of an XML part stand, so that one comes or goes alone.

Every other byte stays: attributes keep their quotes, empty elements their form. The part is known
to be well-formed and in UTF-8.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import fail

_PIECE = re.compile(
    rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
    rb"|<(/?)([^\s<>\"'/!?]+)(?:[^<>\"'/]|/(?!>)|\"[^\"]*\"|'[^']*')*(/?)>",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ChildSpans:
    """The bytes of a part, and from where to where each element below its root stands."""

    data: bytes
    spans: tuple[tuple[int, int], ...]
    root: tuple[int, int]  # the tag of the root
    close: int | None  # where its end tag begins; None where it has none: `<root/>`
    name: bytes

    @classmethod
    def of(cls, data: bytes) -> ChildSpans:
        """Find the children of the root."""
        depth, start = 0, 0
        root: tuple[int, int] | None = None
        name = b""
        spans: list[tuple[int, int]] = []
        for piece in _PIECE.finditer(data):
            if piece[2] is None:
                continue
            is_end, is_empty = bool(piece[1]), bool(piece[3])
            if root is None:
                root, name = piece.span(), piece[2]
                if is_empty:
                    return cls(data, (), root, None, name)
                depth = 1
                continue
            if is_end:
                depth -= 1
                if depth == 0:
                    return cls(data, tuple(spans), root, piece.start(), name)
            elif depth == 1:
                start = piece.start()
            if not is_end and not is_empty:
                depth += 1
            if depth == 1:
                spans.append((start, piece.end()))
        raise fail("corrupt_file", "a part of the package breaks off")

    def child(self, at: int) -> bytes:
        """Return the bytes of a child."""
        start, end = self.spans[at]
        return self.data[start:end]

    def without(self, at: int) -> bytes:
        """Return the part without a child."""
        start, end = self.spans[at]
        return self.data[:start] + self.data[end:]

    def replaced(self, at: int, child: bytes) -> bytes:
        """Return the part with another child in the place of one."""
        start, end = self.spans[at]
        return self.data[:start] + child + self.data[end:]

    def with_child(self, child: bytes, at: int | None = None) -> bytes:
        """Return the part with one more child: before the one at a place, else the last."""
        if self.close is None:
            tag = self.data[slice(*self.root)]
            opened = tag[: tag.rindex(b"/")].rstrip() + b">"
            closed = b"</" + self.name + b">"
            return self.data[: self.root[0]] + opened + child + closed + self.data[self.root[1] :]
        place = self.close if at is None or at >= len(self.spans) else self.spans[at][0]
        return self.data[:place] + child + self.data[place:]
