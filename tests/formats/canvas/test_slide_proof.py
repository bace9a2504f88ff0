"""Drawn slides beside LibreOffice's: every text there, and in its place (F43.39).

LibreOffice has to have faces as wide as the bundled ones (Carlito, Caladea, Liberation).
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from backshop.formats import FormatError, write_samples
from backshop.formats.canvas.figure import Canvas, Figure, Group, Text
from backshop.formats.pptx import names as n
from backshop.formats.pptx.canvas.slide import painted
from backshop.formats.pptx.deck import Deck, Slide
from backshop.formats.protocol import Limits, Source

_HERE = Path(__file__).resolve()
CORPORA = Path(os.environ.get("BACKSHOP_CORPORA") or _HERE.parents[4] / "shared" / "corpora")
NEAR = 0.03  # of the page's width
WORD = re.compile(
    r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="[-\d.]+" yMax="([-\d.]+)">(.*?)</word>'
)
PAGE = re.compile(r'<page width="([\d.]+)"')

Spots = dict[str, tuple[float, float]]  # of words that stand once on a page, in parts of its width


def decks(folder: Path) -> list[Path]:
    write_samples(folder)
    return [*sorted(CORPORA.rglob("*.pptx")), *sorted(folder.glob("*.pptx"))]


def upright(figures: tuple[Figure, ...]) -> list[Text]:
    """Return the texts that are not turned."""
    found: list[Text] = []
    for figure in figures:
        if isinstance(figure, Text):
            found.append(figure)
        elif isinstance(figure, Group) and not figure.turn:
            found += upright(figure.figures)
    return found


def all_text(figures: tuple[Figure, ...]) -> str:
    inner = (
        figure.text if isinstance(figure, Text) else all_text(figure.figures)
        for figure in figures
        if isinstance(figure, Text | Group)
    )
    return "".join("".join(inner).split()).casefold()


def own_spots(canvas: Canvas) -> Spots:
    found: list[tuple[str, float, float]] = []
    for text in upright(canvas.figures):
        for match in re.finditer(r"\S+", text.text):
            x = text.x + text.face.width(text.text[: match.start()], text.size)
            found.append((match[0], x / canvas.width, (text.y - text.size / 4) / canvas.width))
    return once(found)


def their_spots(page: str) -> Spots:
    width = float(PAGE.findall(page)[0])
    return once(
        [
            (html.unescape(word), float(x) / width, (float(top) + float(bottom)) / 2 / width)
            for x, top, bottom, word in WORD.findall(page)
        ]
    )


def once(found: list[tuple[str, float, float]]) -> Spots:
    counts = Counter(word for word, _, _ in found)
    return {word: (x, y) for word, x, y in found if counts[word] == 1 and len(word) > 1}


def pages_of(deck: Path, folder: Path) -> list[str]:
    program = shutil.which("soffice")
    assert program
    here = [program, "--headless", f"-env:UserInstallation=file://{folder}/profile"]
    subprocess.run(
        [*here, "--convert-to", "pdf", "--outdir", str(folder), str(deck)],
        check=True,
        capture_output=True,
        timeout=120,
    )
    boxes = subprocess.run(
        ["pdftotext", "-bbox", str(folder / f"{deck.stem}.pdf"), "-"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    return boxes.split("<page ")[1:]


def unsaid(slide: Slide, canvas: Canvas) -> list[str]:
    """Return the texts of a slide that its drawing does not have."""
    drawn = all_text(canvas.figures)
    shapes = (shape for shape in slide.shapes if not shape.is_hidden)
    texts = (
        "".join(text.text or "" for text in paragraph.iterfind(f"{n.R_T}/{n.T}"))
        for shape in shapes
        for paragraph in shape.element.iter(n.P_T)
    )
    return [text for text in texts if "".join(text.split()).casefold() not in drawn]


@pytest.mark.proof
@pytest.mark.needs("libreoffice")
@pytest.mark.needs("corpora")
@pytest.mark.rule("F43.39")
def test_slides_of_the_corpora_are_drawn_as_libreoffice_draws_them(tmp_path):
    faces = subprocess.run(["fc-list"], capture_output=True, text=True, check=True).stdout
    if "Carlito" not in faces:
        pytest.skip("LibreOffice has no Carlito here")
    slides, near, far, lost = 0, 0, [], []
    for path in decks(tmp_path):
        try:
            deck = Deck.open(Source(path, "0" * 64, path.name, Limits()))
        except FormatError:
            continue
        pages = pages_of(path, tmp_path)
        for slide, page in zip(deck.slides, pages, strict=False):
            canvas = painted(deck, slide)
            slides += 1
            lost += [(path.name, slide.index, text) for text in unsaid(slide, canvas)]
            own, their = own_spots(canvas), their_spots("<page " + page)
            for frame in (one for one in canvas.frames if one.kind != "chart"):
                left, top = frame.x / canvas.width, frame.y / canvas.width
                right, bottom = left + frame.width / canvas.width, top + frame.height / canvas.width
                gaps = [
                    max(abs(x - their[word][0]), abs(y - their[word][1]))
                    for word, (x, y) in own.items()
                    if word in their and left <= x <= right and top <= y <= bottom
                ]
                if gaps and median(gaps) <= NEAR:
                    near += 1
                elif gaps:
                    far.append((path.name, frame.place, round(median(gaps), 3)))

    share = near / (near + len(far))
    print(f"{slides} slides, {near} of {near + len(far)} shapes near ({share:.1%}); far: {far}")
    assert slides >= 30
    assert lost == []
    assert share >= 0.95, far
