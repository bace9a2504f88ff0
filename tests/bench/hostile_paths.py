"""Paths that try to get out, seeded: the same numbers give the same paths in every run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain, islice, repeat

DOTS = [
    "..",
    ".",
    "...",
    ". .",
    "․․",
    "。。",
    "．．",
    "%2e%2e",
    "%252e%252e",
    "..%00",
    "..;",
    "..\u200d",
]
SEPARATORS = [
    "/",
    "\\",
    "//",
    "\\\\",
    "/./",
    "%2f",
    "%5c",
    "%255c",
    "∕",
    "⁄",
    "／",
    "＼",
    "\u29f8",
    "/\\",
]
ROOTS = [
    *(
        "/",
        "//",
        "\\\\server\\share\\",
        "\\\\?\\C:\\",
        "\\\\.\\",
        "C:",
        "C:\\",
        "c:/",
        "Z:",
        "~/",
        "~root/",
    ),
    *(
        "file:///",
        "file://localhost/",
        "//?/",
        "/proc/self/root/",
        "/proc/self/cwd/",
        "/dev/fd/",
        "./",
        "../",
    ),
    *(
        "draft/",
        "published/",
        "draft/../",
        "published/../",
        "draft//",
        "./draft/",
        "meta/",
        "$HOME/",
        "%HOME%/",
    ),
]
DEVICES = [
    *(
        "CON",
        "con.txt",
        "PRN",
        "AUX.csv",
        "NUL",
        "nul.",
        "COM1",
        "LPT9.docx",
        "COM¹",
        "LPT³.x",
        "CONIN$",
    ),
    *(
        "CONOUT$",
        "CLOCK$",
        "com1 ",
        "aux .txt",
        ".bs-tmp-place",
        ".bs-tmp-",
        "AUX/x.txt",
        "d/NUL/x",
    ),
]
NAMES = [
    "a.txt",
    "x",
    "etc/passwd",
    "secrets.enc",
    "store.db",
    "b",
    "new/deep/er.txt",
    "é.txt",
    "e\u0301.txt",
]
ODD = [
    *(
        "\x00",
        "\n",
        "\r",
        "\t",
        "\x1b[2J",
        "\x7f",
        "\x85",
        "\u202e",
        "\u2066",
        "\u200b",
        "\ufeff",
        "\ud800",
        "\udfff",
    ),
    *(
        " ",
        ".",
        ":",
        "::$DATA",
        ":ads",
        "*",
        "?",
        "<",
        ">",
        "|",
        '"',
        "'",
        "`id`",
        "$(id)",
        ";id",
        "\ufffe",
        "\U0001f4a9",
    ),
]
OVERLONG = [
    *(
        "À®À®/",
        "Ã€Â®",
        "\udcc0\udcae\udcc0\udcae/",
        "\udcc0\udcaf",
        "%c0%ae%c0%ae%c0%af",
        "%e0%80%ae",
        "%uff0e%uff0e/",
    ),
    *("+AC4ALg-/", "&#46;&#46;/", "\\u002e\\u002e/", "0x2e0x2e/"),
]
LENGTHS = [254, 255, 256, 1023, 1024, 1025, 4096, 70_000]


def hostile_paths(count: int, seed: int = 20_261) -> Iterator[str]:
    """Yield `count` paths: known tricks first, then seeded mixtures of them."""
    rng = random.Random(seed)
    endless = (_mixed(rng) for _ in repeat(None))
    yield from islice(chain(_known(), endless), count)


def _known() -> Iterator[str]:
    yield ""
    for dots in DOTS:
        yield dots
        for separator in SEPARATORS:
            yield f"{dots}{separator}{dots}{separator}escape.txt"
            yield f"a{separator}{dots}{separator}escape.txt"
    for root in ROOTS:
        yield from (root, f"{root}escape.txt", f"{root}../../escape.txt")
    yield from DEVICES
    for form in OVERLONG:
        yield from (form, f"{form}{form}escape.txt", f"a/{form}escape.txt")
    for odd in ODD:
        yield from (odd, f"a{odd}.txt", f"{odd}/escape.txt", f"escape.txt{odd}")
    for length in LENGTHS:
        yield from ("n" * length, "é" * (length // 2), "d/" * (length // 2) + "x")


def _mixed(rng: random.Random) -> str:
    parts = [rng.choice(ROOTS)] if rng.random() < 0.4 else []
    for _ in range(rng.randint(1, 6)):
        kind = rng.choice((DOTS, NAMES, DEVICES, ODD, OVERLONG, NAMES, DOTS))
        word = rng.choice(kind)
        if rng.random() < 0.2:
            word = word.swapcase()
        if rng.random() < 0.15:
            word += rng.choice(ODD)
        parts += [word, rng.choice(SEPARATORS) if rng.random() < 0.8 else "/"]
    text = "".join(parts)
    if rng.random() < 0.3:
        text += rng.choice(("escape.txt", "x.xlsx", "y.docx", "z.pptx", "t.csv"))
    return text
