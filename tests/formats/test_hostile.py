"""Odd, damaged and hostile files made by others: a result or a clean reason, in time and memory."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from backshop.base.limits import GIB, MIB
from backshop.formats import FormatError, Formats, Source, reasons

CLEAN = reasons() - {"worker_crashed", "guard_refused", "timeout", "memory_limit"}


@pytest.fixture(scope="module")
def formats(tmp_path_factory):
    with Formats(cache=tmp_path_factory.mktemp("cache"), plugins={}) as formats:
        yield formats


def outcome(call, source: Source) -> str:
    try:
        call(source)
    except FormatError as error:
        return error.reason
    return "ok"


def peak_bytes() -> int:
    """Return the largest resident size any living child of this process has had."""
    peaks = [0]
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
            parent = Path("/proc/self").resolve().name
            if fields["PPid"].strip() == parent:
                peaks.append(int(fields["VmHWM"].split()[0]) * 1024)
        except (OSError, KeyError, ValueError):
            continue
    return max(peaks)


@pytest.mark.needs("corpora")
@pytest.mark.rule("F3", "F3.2", "F4", "F2.7")
def test_every_odd_file_gets_an_answer(formats, corpora, scaled, record_property):
    files = sorted([*(corpora / "ooxml-odd").rglob("*.*"), *(corpora / "pdf").rglob("*.pdf")])
    files = files[:: scaled(3, 1)]
    record_property("odd files", len(files))
    for path in files:
        source = formats.source(path)
        for call in (formats.get_info, formats.get_map, formats.read, formats.extract_lines):
            started = time.monotonic()
            found = outcome(call, source)

            assert found == "ok" or found in CLEAN, (path.name, found)
            assert time.monotonic() - started < 30, path.name
    assert peak_bytes() < GIB


@pytest.mark.rule("F4.6")
def test_a_picture_of_too_many_pixels_is_refused(formats, tmp_path):
    import struct
    import zlib

    def chunk(name: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", crc)

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0))
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", b"") + chunk(b"IEND", b""))

    assert outcome(formats.get_map, formats.source(path)) == "too_large"


@pytest.mark.rule("F4.5", "F4.2")
@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>',
        "<svg>" + "<g>" * 400 + "</g>" * 400 + "</svg>",
        "<html/>",
    ],
)
def test_hostile_drawings_are_refused(formats, tmp_path, text):
    path = tmp_path / "a.svg"
    path.write_text(text, encoding="utf-8")

    assert outcome(formats.get_map, formats.source(path)) in CLEAN


@pytest.mark.rule("F32.4", "F4.7")
def test_a_worker_stays_small_on_many_files(formats, tmp_path):
    for number in range(20):
        path = tmp_path / f"{number}.txt"
        path.write_bytes(b"x" * number * 50_000)
        formats.get_map(formats.source(path))

    assert peak_bytes() < 700 * MIB


@pytest.mark.rule("F4.7", "F6.4")
@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("a.md", ("# a" + " " * 60_000 + "b\n") * 20, {"kind": "md"}),
        ("a.yaml", ("a" + " " * 60_000 + "\n") * 20, {"kind": "yaml", "keys": []}),
        ("a.html", "<a>" * 140_000 + "</b>" * 140_000, {"kind": "html", "root": "a"}),
    ],
)
def test_an_outline_is_drawn_in_time_whatever_the_lines_say(formats, tmp_path, name, text, wanted):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    found: Any = formats.get_map(formats.source(path))["structure"]

    assert wanted.items() <= found.items()
