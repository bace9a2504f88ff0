"""Drawn slides beside LibreOffice's: every text there, text and frames in their places (F43.39).

LibreOffice has to have faces as wide as the bundled ones (Carlito, Caladea, Liberation).
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest
from lxml import etree

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

_IN_PX = {"cm": 96 / 2.54, "mm": 96 / 25.4, "in": 96.0, "pt": 96 / 72}

Spots = dict[str, tuple[float, ...]]  # of words that stand once on a page, in parts of its width


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
    found: list[tuple[str, tuple[float, ...]]] = []
    for text in upright(canvas.figures):
        for match in re.finditer(r"\S+", text.text):
            x = text.x + text.face.width(text.text[: match.start()], text.size)
            spot = x / canvas.width, (text.y - text.size / 4) / canvas.width
            found.append((match[0], spot))
    return once(found)


def their_spots(page: str) -> Spots:
    width = float(PAGE.findall(page)[0])
    return once(
        [
            (html.unescape(word), (float(x) / width, (float(top) + float(bottom)) / 2 / width))
            for x, top, bottom, word in WORD.findall(page)
        ]
    )


def once(found: list[tuple[str, tuple[float, ...]]]) -> Spots:
    counts = Counter(word for word, _ in found)
    return {word: spot for word, spot in found if counts[word] == 1 and len(word) > 1}


def converted(deck: Path, kind: str, folder: Path) -> Path:
    program = shutil.which("soffice")
    assert program
    here = [program, "--headless", f"-env:UserInstallation=file://{folder}/profile"]
    subprocess.run(
        [*here, "--convert-to", kind, "--outdir", str(folder), str(deck)],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return folder / f"{deck.stem}.{kind}"


def own_edges(canvas: Canvas) -> Spots:
    return once(
        [
            (one.label, (one.x, one.y, one.x + one.width, one.y + one.height))
            for one in canvas.frames
        ]
    )


def their_edges(deck: Path, folder: Path) -> list[Spots]:
    """Return the edges, in pixels, of what stands on each slide, by names one thing on it has."""
    path = converted(deck, "fodp", folder)
    if not path.exists():  # a deck with sound: LibreOffice writes no fodp of it
        return []
    root = etree.parse(path, etree.XMLParser(huge_tree=True)).getroot()
    return [once(list(things(page))) for page in root.iterfind("{*}body/{*}presentation/{*}page")]


def things(page: etree._Element) -> Iterator[tuple[str, tuple[float, ...]]]:
    for one in page.iter("{*}frame", "{*}custom-shape"):
        held = {etree.QName(key).localname: str(value) for key, value in one.items()}
        is_noted = next(one.iterancestors("{*}notes"), None) is not None
        sides = [held.get(name, "") for name in ("x", "y", "width", "height")]
        if held.get("name") and all(sides) and not is_noted:  # turned ones have no corner
            x, y, width, height = (float(side[:-2]) * _IN_PX[side[-2:]] for side in sides)
            yield held["name"], (x, y, x + width, y + height)


def pages_of(deck: Path, folder: Path) -> list[str]:
    converted(deck, "pdf", folder)
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
    framed, away = 0, []
    for path in decks(tmp_path):
        try:
            deck = Deck.open(Source(path, "0" * 64, path.name, Limits()))
        except FormatError:
            continue
        pages, edges = pages_of(path, tmp_path), their_edges(path, tmp_path)
        for slide, page in zip(deck.slides, pages, strict=False):
            canvas = painted(deck, slide)
            slides += 1
            places = edges[slide.index] if slide.index < len(edges) else {}
            for name, sides in own_edges(canvas).items():
                if name in places:
                    framed += 1
                    gap = max(abs(a - b) for a, b in zip(sides, places[name], strict=True))
                    if gap > NEAR * canvas.width:
                        away.append((path.name, slide.index, name, round(gap / canvas.width, 3)))
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
    print(f"{framed} frames, {len(away)} away: {away}")
    assert slides >= 30
    assert framed >= 100
    assert len(away) <= 0.05 * framed, away
    assert lost == []
    assert share >= 0.95, far
