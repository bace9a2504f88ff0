"""Cuts text to a number of bytes without breaking a character, and says that it did."""

from __future__ import annotations


def cut_bytes(text: str, max_bytes: int, marker: str = "\n[cut: {} bytes left out]") -> str:
    """Return the text if it fits, else its beginning and how much is missing, together fitting."""
    data = text.encode(errors="replace")
    if len(data) <= max_bytes:
        return text
    room = max(0, max_bytes - len(marker.format(len(data)).encode()))
    kept = data[:room].decode(errors="ignore")
    return kept + marker.format(len(data) - len(kept.encode()))


def slice_bytes(data: bytes, offset: int, max_bytes: int) -> tuple[int, bytes]:
    """Return the start and bytes of a slice of UTF-8 text that begins and ends between characters.

    A character at the offset that began before it is given whole; a slice too small for the
    first character gives that character, so that following slices always come to the end.
    """
    start = min(offset, len(data))
    while start > 0 and start < len(data) and _is_inside(data[start]):
        start -= 1
    end = min(len(data), start + max_bytes)
    while end > start and end < len(data) and _is_inside(data[end]):
        end -= 1
    if end == start and start < len(data):
        end += 1
        while end < len(data) and _is_inside(data[end]):
            end += 1
    return start, data[start:end]


def _is_inside(byte: int) -> bool:
    return byte & 0xC0 == 0x80
