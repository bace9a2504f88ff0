"""Finds out how the bytes of a text file become characters (F6.1).

A mark at the start or strict UTF-8 is certain. Everything else is a guess and says so: UTF-16
without a mark by its NUL bytes, western text in cp1252 first (short samples fool every statistic),
then Japanese and Chinese by what they decode to, then charset-normalizer. A guess always decodes
the whole file.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO

from backshop.base import limits as numbers

from ..protocol import Source
from ..utf16 import unmarked_utf16

_MARKS = (  # longest first: the mark of utf-32-le begins with that of utf-16-le
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_STEP = 4 * numbers.MIB
_SAMPLE_BYTES = numbers.MIB
_START_BYTES = 64 * numbers.KIB  # for charset-normalizer, which is slow
_INSIDE = bytes(range(0x30, 0x100))  # what characters of several bytes are made of
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # no character in cp1252
_RUN = re.compile(rb"[\x80-\xff]+")
_WESTERN_SHARE = 0.9  # of runs of high bytes that look western
_CJK_SHARE = 0.7
_CERTAIN, _LIKELY, _GUESS = 1.0, 0.7, 0.3


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file is written: Python's codec name, its mark, and how sure we are."""

    name: str
    mark: bytes = b""
    confidence: float = _CERTAIN

    @property
    def guessed(self) -> bool:
        """Whether the warning `encoding_guessed` is due."""
        return self.confidence < _CERTAIN

    def encode(self, text: str) -> bytes:
        """Return `text` in this encoding with its mark; `UnicodeEncodeError` when it cannot be."""
        return self.mark + text.encode(self.name)


UTF8 = Encoding("utf-8")


def detect(source: Source) -> Encoding:
    """Return the encoding of a file; reads it once, in steps."""
    with source.path.open("rb") as file:
        head = file.read(numbers.CLASSIFY_HEAD_BYTES)
    for mark, name in _MARKS:
        if head.startswith(mark) and decodes(source.path, name, len(mark)):
            return Encoding(name, mark)
    wide = unmarked_utf16(head) if b"\0" in head else None
    if wide and decodes(source.path, wide):
        return Encoding(wide, confidence=_LIKELY)
    if decodes(source.path, "utf-8"):
        return UTF8
    sample = _sample(source.path)
    for name, confidence in _guesses(sample):
        if decodes(source.path, name):
            return Encoding(name, confidence=confidence)
    return Encoding("latin-1", confidence=_GUESS)


def open_text(source: Source, encoding: Encoding) -> IO[str]:
    """Open a file as text without its mark; lines end as they do in the file."""
    file = source.path.open("rb")
    file.seek(len(encoding.mark))
    return TextIOWrapper(file, encoding=encoding.name, newline="")  # closes the file with itself


def decode(data: bytes, encoding: Encoding) -> str:
    """Return the text of bytes that begin with the encoding's mark."""
    return data[len(encoding.mark) :].decode(encoding.name)


def transcode(source: Source, encoding: Encoding, out: Path, skip: int = 0) -> None:
    """Write the file again as UTF-8 without a mark and its first `skip` lines, in steps."""
    with open_text(source, encoding) as file, out.open("wb") as target:
        for _ in range(skip):
            file.readline()
        while block := file.read(_STEP):
            target.write(block.encode())


def mark_of(source: Source, name: str) -> bytes:
    """Return the mark of an encoding where a file begins with it, else nothing."""
    with source.path.open("rb") as file:
        head = file.read(4)
    return next((mark for mark, of in _MARKS if of == name and head.startswith(mark)), b"")


def decodes(path: Path, name: str, skip: int = 0) -> bool:
    """Whether all bytes behind the first `skip` are text in an encoding."""
    decoder = codecs.getincrementaldecoder(name)()
    with path.open("rb") as file:
        file.seek(skip)
        try:
            while block := file.read(_STEP):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeError:
            return False
    return True


def _sample(path: Path) -> bytes:
    """Return a part of the file that begins where its first high bytes are."""
    with path.open("rb") as file:
        at = 0
        while block := file.read(_SAMPLE_BYTES):
            found = _RUN.search(block)
            if found:
                start = max(block.rfind(b"\n", 0, found.start()) + 1, found.start() - 4096)
                file.seek(at + start)
                data = file.read(_SAMPLE_BYTES)
                end = data.rfind(b"\n")
                return data[: end + 1] if end > len(data) // 2 else data
            at += len(block)
    return b""


def _guesses(sample: bytes) -> Iterator[tuple[str, float]]:
    if not _UNDEFINED.search(sample) and _looks_western(sample):
        yield "cp1252", _LIKELY
    yield from _asian(sample)
    from charset_normalizer import from_bytes  # loaded on first use

    best = from_bytes(_start(sample)).best()
    if best is not None and best.encoding not in {"ascii", "utf_8"}:
        yield best.encoding.replace("_", "-"), round(max(0.0, _LIKELY - best.chaos), 2)
    yield "cp1252", _GUESS


def _start(sample: bytes) -> bytes:
    """Return the start of a sample; half a character at its end would rule its encoding out."""
    if len(sample) <= _START_BYTES:
        return sample
    start = sample[:_START_BYTES]
    return start.rstrip(_INSIDE) or start


def _looks_western(sample: bytes) -> bool:
    """Tell text with single accented letters and typographic marks from runs of high bytes."""
    good = total = 0
    for run in _RUN.finditer(sample):
        total += 1
        before = sample[run.start() - 1 : run.start()]
        after = sample[run.end() : run.end() + 1]
        letters = run.group().decode("cp1252").isalpha()
        beside_letter = before.isalpha() or after.isalpha()
        alone = before in b"\n\r\t ,;\"'(|" and (not after or after in b"\n\r\t .,;:\"')|")
        short = len(run.group()) == 1 or (len(run.group()) == 2 and beside_letter)
        good += (short and (beside_letter if letters else True)) or (short and letters and alone)
    return total > 0 and good / total >= _WESTERN_SHARE


def _asian(sample: bytes) -> Iterator[tuple[str, float]]:
    scores = sorted(
        ((_score(sample, name), name) for name in ("cp932", "gb18030")),
        reverse=True,
    )
    for score, name in scores:
        if score >= _CJK_SHARE:
            yield name, round(min(0.95, score), 2)


def _score(sample: bytes, name: str) -> float:
    """Return which share of the decoded foreign characters is common in that language."""
    text = codecs.getincrementaldecoder(name)("ignore").decode(sample)
    if "\ufffd" in text or len(text.encode(name, "ignore")) < len(sample) - 4:
        return 0.0
    foreign = [char for char in text if ord(char) > 0x7F]
    if not foreign:
        return 0.0
    common = _japanese if name == "cp932" else _chinese
    return sum(common(char) for char in foreign) / len(foreign)


def _japanese(char: str) -> float:
    code = ord(char)
    if 0x3000 <= code <= 0x30FF or 0xFF01 <= code <= 0xFF5E:
        return 1.0
    if 0x4E00 <= code <= 0x9FFF:
        raw = char.encode("cp932", "ignore")
        return 0.85 if 0x88 <= raw[0] <= 0x97 else 0.4  # the first level: everyday characters
    return -0.5  # half-width katakana: what Chinese looks like when read as Japanese


def _chinese(char: str) -> float:
    raw = char.encode("gb18030", "ignore")
    if len(raw) == 2 and 0xB0 <= raw[0] <= 0xD7 and raw[1] >= 0xA1:
        return 0.95  # the first level of GB 2312: everyday characters
    if len(raw) == 2 and raw[0] in (0xA1, 0xA3) and raw[1] >= 0xA1:
        return 0.95  # punctuation and full-width forms
    if len(raw) == 2 and raw[0] <= 0xF7 and raw[1] >= 0xA1:
        return 0.5
    return -0.5
