"""LibreOffice's pages with what changed outlined on them (U8.15), a program in its place."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.formats.test_render import program
from tests.web.accessible import violations
from tests.web.browsing import Served, serving
from tests.web.drafts import Drafting

from backshop.web.preparation import prepare
from backshop.web.site import Site

# Writes a page for each slide, with a line of text at the same place on each.
PRINTS_SLIDES = """#!{python}
import json, pathlib, re, sys, zipfile
wish = json.loads(pathlib.Path({wish!r}).read_text())
given, out = sys.argv[-1], pathlib.Path(sys.argv[sys.argv.index("--outdir") + 1])
names = zipfile.ZipFile(given).namelist()
count = max(1, sum(bool(re.fullmatch("ppt/slides/slide[0-9]+.xml", name)) for name in names))
count += wish["more"]
kids = " ".join(f"{{4 + 2 * at}} 0 R" for at in range(count))
parts = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Count {{count}}/Kids[{{kids}}]>>"]
parts.append("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
for at in range(count):
    text = f"BT /F 20 Tf 96 440 Td (Page {{at + 1}}) Tj ET"
    parts.append(f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 960 {{wish['height']}}]"
        f"/Resources<</Font<</F 3 0 R>>>>/Contents {{5 + 2 * at}} 0 R>>")
    parts.append(f"<</Length {{len(text)}}>>stream\\n{{text}}\\nendstream")
body = "".join(f"{{at}} 0 obj{{part}} endobj\\n" for at, part in enumerate(parts, 1))
(out / "page.pdf").write_text(f"%PDF-1.4\\n{{body}}trailer<</Root 1 0 R>>\\n")
pathlib.Path({wish!r}).with_name("runs").open("a").write("run\\n")
sys.exit(wish["code"])
"""
AS_FILES_SAY = {"more": 0, "height": 540, "code": 0}
NEAR = """(named) => {
  const [a, b] = named.map((one) => document.querySelector(one).getBoundingClientRect());
  return Math.max(...['left', 'top', 'right', 'bottom'].map((side) => Math.abs(a[side] - b[side])));
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the program is, and what it is to do."""
    return tmp_path_factory.mktemp("office")


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """A web app for which the program above is LibreOffice."""
    (folder / "wish").write_text(json.dumps(AS_FILES_SAY))
    soffice = program(folder, PRINTS_SLIDES, wish=str(folder / "wish"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        with serving(folder / "home", settings={"formats.renderer_path": soffice}) as made:
            yield made


@pytest.fixture(scope="module")
def draft(served: Served) -> Drafting:
    return deck_draft(served, "Slides")


def deck_draft(served: Served, name: str) -> Drafting:
    """Make a Draft that changes the second of two slides and adds a third one."""
    draft = Drafting(served, served.bench(name))
    slides = [
        {"op": "add_slide", "title": name, "body": "Revenue grew"},
        {"op": "add_slide", "title": "Plan", "body": "Open three shops"},
    ]
    draft.use("pptx_operations", path="deck.pptx", operations=slides)
    draft.call("DraftPublish")
    change = {"op": "replace_text", "find": "three", "replace": "four"}
    more = {"op": "add_slide", "title": "Risks", "body": "Energy prices"}
    draft.use("pptx_operations", path="deck.pptx", operations=[change, more])
    return draft


@contextmanager
def drawing(folder: Path, **otherwise: int) -> Iterator[None]:
    """Have the program draw in another way meanwhile."""
    (folder / "wish").write_text(json.dumps({**AS_FILES_SAY, **otherwise}))
    yield
    (folder / "wish").write_text(json.dumps(AS_FILES_SAY))


def asked(served: Served, draft: Drafting, query: str) -> str:
    """Return a part of a picture as the page gets it."""
    with served.client() as client:
        found = client.get(f"/bench/{draft.id}/review/picture?file={query}")
    assert found.status_code == 200
    return html.unescape(found.text)


def rings(text: str) -> list[tuple[str, ...]]:
    """Return what outlines are called and where they stand."""
    head = r'<a class="ring[^>]*aria-label="([^"]*)"[^>]*>\s*<rect class="around" '
    return re.findall(head + r'x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)"', text)


@pytest.mark.rule("U8.15", "U8.3", "U8.6", "F29.12")
def test_slides_of_libreoffice_have_the_outlines_that_the_drawn_ones_have(served, draft):
    drawn, paged = (asked(served, draft, f"deck.pptx&as={way}") for way in ("picture", "pages"))
    texts = re.findall(r'data-texts="(\[\[.*?\]\])"', paged)

    assert rings(paged) == rings(drawn)
    assert len(rings(paged)) == 3
    assert re.findall('id="entry-[0-9]+"', paged) == re.findall('id="entry-[0-9]+"', drawn)
    assert (paged.count("Drawn by LibreOffice"), paged.count("Drawn by Backshop")) == (1, 0)
    assert re.findall(r'<img class="drawing" src="[^"]*/preview/(\w+/\d)/', paged) == [
        "REFERENCE/1",
        "DRAFT/1",
        "DRAFT/2",
    ]
    assert len(texts) == 3
    x, y, width, height = json.loads(texts[0])[0]
    assert (x, y) == (pytest.approx(130, abs=6), pytest.approx(115, abs=10))
    assert (width > 40, 10 < height < 40) == (True, True)
    assert "as=pages&slide=0" in paged


@pytest.mark.rule("U8.15")
@pytest.mark.parametrize(
    ("way", "told", "outlined"),
    [
        ({"height": 720}, 'alt="Slide 2"', ["Change 2, added: Slide 3"]),
        ({"more": 1}, "which one this slide is, is not known", []),
        ({"code": 77}, "LibreOffice could not show it", []),
    ],
)
def test_a_page_that_may_be_another_or_is_laid_out_otherwise_has_no_outline_of_a_shape(
    served, folder, way, told, outlined
):
    own = deck_draft(served, f"Otherwise {way}")
    with drawing(folder, **way):
        found = asked(served, own, "deck.pptx&as=pages")

    assert [name for name, *_ in rings(found)] == outlined
    assert 'id="entry-1"' in found
    assert told in found


@pytest.mark.rule("U8.15", "U4.3")
def test_without_libreoffice_pages_say_so_and_nothing_else(served, draft, folder):
    (folder / "soffice").rename(folder / "gone")
    missing = asked(served, draft, "deck.pptx&as=pages")
    (folder / "gone").rename(folder / "soffice")

    assert "need LibreOffice, which is not installed here" in missing
    assert "entry" not in missing


@pytest.mark.rule("U8.8", "B12.15")
def test_pages_are_drawn_when_a_turn_is_over_and_only_once(served, folder):
    own = deck_draft(served, "Ready")
    site = Site(served.shop, served.door, served.login)
    (folder / "runs").unlink(missing_ok=True)
    made = prepare(site, own.id, None)
    ready = (folder / "runs").read_text()
    found = asked(served, own, "deck.pptx&as=pages")
    again = prepare(site, own.id, None)
    broken = deck_draft(served, "Not ready")
    with drawing(folder, code=77):
        undrawn = prepare(site, broken.id, None)

    assert (made, again, undrawn) == (1, 1, 1)
    assert ready == "run\n" * 2
    assert found.count('<img class="drawing"') == 3
    assert (folder / "runs").read_text() == "run\n" * 4


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.15", "U8.3", "U8.12", "U4.4", "B24.1")
def test_outlines_entries_and_comments_of_pages_lead_to_one_another(draft, new_page):
    at = {"slide_index": 1, "shape": 1}
    draft.call("ReviewAddComment", path="deck.pptx", place=at, text="Why four?")
    page = new_page(f"/bench/{draft.id}/review?file=deck.pptx&as=pages&slide=0")
    page.locator("img.drawing").first.wait_for()
    page.locator("a[data-remark-link]").click()
    page.locator("a.ring.remark.at-place").wait_for()
    slides = [one.get_attribute("alt") for one in page.locator("img.drawing").all()]
    page.locator('[data-side=after] [data-outline="1"] .around').click()
    page.locator("#entry-1.at-place").wait_for()
    page.locator("#entry-1 [data-remark]").click()
    place = page.locator("#remark-at").input_value()
    page.locator("#review-heading").focus()
    page.keyboard.press("j")
    page.locator('[data-side=after] [data-outline="1"].at-place').wait_for()
    apart = page.evaluate(NEAR, ["img.drawing", "svg.outlines"])

    assert [alt[:7] for alt in slides] == ["Slide 2"] * 2
    assert place == "slide 2 shape 2"
    assert apart < 1
    assert violations(page) == []
