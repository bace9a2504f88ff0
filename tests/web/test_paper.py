"""LibreOffice's pages of a document with their outlines (U8.16), a program in its place."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.formats.office import with_body
from tests.formats.test_render import program
from tests.web.accessible import violations
from tests.web.browsing import Served, serving
from tests.web.drafts import Drafting
from tests.web.test_page_places import NEAR, rings

# Writes each block of a document as a line of text, ten to a page, and says where they stand.
PRINTS_BLOCKS = """#!{python}
import pathlib, re, sys, zipfile
given, out = sys.argv[-1], pathlib.Path(sys.argv[sys.argv.index("--outdir") + 1])
body = zipfile.ZipFile(given).read("word/document.xml").decode()
named = any("ExportBookmarksToPDFDestination" in one for one in sys.argv)
mark = 'bookmarkStart [^>]*w:name="(Backshop[A-Za-z]+[0-9]+)"'
names = re.findall(mark, body) if named else []
where = {{name: divmod(int(re.sub("[A-Za-z]", "", name)), 10) for name in names}}
pages = 1 + max([page for page, _ in where.values()] or [0])
lines = {{}}
for name, (page, line) in where.items():
    lines.setdefault(page, {{}})[line] = f"Block {{10 * page + line}}"
kids = " ".join(f"{{4 + 2 * at}} 0 R" for at in range(pages))
places = "".join(f"/{{name}}[{{4 + 2 * page}} 0 R/XYZ 96 {{680 - 60 * at}} 0]"
    for name, (page, at) in where.items())
parts = [f"<</Type/Catalog/Pages 2 0 R/Dests<<{{places}}>>>>"]
parts.append(f"<</Type/Pages/Count {{pages}}/Kids[{{kids}}]>>")
parts.append("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
for page in range(pages):
    drawn = "".join(f"BT /F 12 Tf 96 {{668 - 60 * at}} Td ({{text}}) Tj ET "
        for at, text in lines.get(page, {{}}).items())
    drawn += "BT /F 12 Tf 96 760 Td (Head) Tj ET BT /F 12 Tf 96 20 Td (Foot) Tj ET"
    parts.append(f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]"
        f"/Resources<</Font<</F 3 0 R>>>>/Contents {{5 + 2 * page}} 0 R>>")
    parts.append(f"<</Length {{len(drawn)}}>>stream\\n{{drawn}}\\nendstream")
numbered = "".join(f"{{at}} 0 obj{{part}} endobj\\n" for at, part in enumerate(parts, 1))
(out / "page.pdf").write_text(f"%PDF-1.4\\n{{numbered}}trailer<</Root 1 0 R>>\\n")
"""
SECTION = (
    '<w:sectPr><w:pgSz w:w="12000" w:h="16000"/><w:pgMar w:top="1440" w:right="1440"'
    ' w:bottom="1000" w:left="1440"/>{columns}</w:sectPr>'
)
LEFT, HIGH = 128.0, 160.0  # of the first line of a page: 96 and 800 - 680 points
STEP = 80.0  # from line to line


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A web app for which the program above is LibreOffice."""
    folder = tmp_path_factory.mktemp("paper")
    soffice = program(folder, PRINTS_BLOCKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        with serving(folder / "home", settings={"formats.renderer_path": soffice}) as made:
            yield made


def paragraphs(*texts: str, columns: str = "", before: str = "") -> str:
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in texts)
    return f"{body}{SECTION.format(columns=columns)}"


def changed(served: Served, folder: Path, name: str, before: str, after: str) -> Drafting:
    """Make a Draft in which a document has another body."""
    files = [with_body(folder / f"{at}.docx", body) for at, body in enumerate((before, after))]
    draft = Drafting(served, served.bench(name, {"report.docx": files[0].read_bytes()}))
    draft.put({"report.docx": files[1].read_bytes()})
    return draft


def words(count: int) -> list[str]:
    return [
        f"Number {n} says that shop {n} sold {n * 7} pieces in week {n * 3}." for n in range(count)
    ]


def asked(served: Served, draft: Drafting, query: str = "") -> str:
    with served.client() as client:
        found = client.get(f"/bench/{draft.id}/review/picture?file=report.docx&as=pages{query}")
    assert found.status_code == 200
    return html.unescape(found.text)


def shown(text: str) -> list[str]:
    """Return which page of which version is shown."""
    return re.findall(r'<img class="drawing" src="[^"]*/preview/(\w+/\d+)/', text)


@pytest.mark.rule("U8.16", "U8.3", "F29.13")
def test_pages_of_a_document_are_paired_by_what_stands_on_them(served, tmp_path):
    old = words(34)
    new = [*old[:2], *(f"A wholly new paragraph, the {n}th." for n in range(11)), *old[2:]]
    new[3 + 22] = new[25].replace("pieces", "boxes")
    draft = changed(served, tmp_path, "Paired", paragraphs(*old), paragraphs(*new))

    found = asked(served, draft)
    later = asked(served, draft, "&page=3")

    assert shown(found) == [
        "REFERENCE/0",
        "DRAFT/0",
        "REFERENCE/0",
        "DRAFT/1",
        "REFERENCE/1",
        "DRAFT/2",
    ]
    assert [name.split(":")[0] for name, *_ in rings(found)] == [
        "Change 1, added",
        "Change 1, added",
        "Change 2, changed",
        "Change 2, changed",
    ]
    first, second, before, after = ([float(one) for one in where] for _, *where in rings(found))
    assert first[:2] == [pytest.approx(LEFT - 2, abs=2), pytest.approx(HIGH + 2 * STEP - 2, abs=2)]
    assert first[3] == pytest.approx(7 * STEP + 20, abs=8)  # the third to the tenth line
    assert second[1] == pytest.approx(HIGH - 2, abs=34)
    assert before[1] == pytest.approx(HIGH + 4 * STEP - 2, abs=2)
    assert after[1] == pytest.approx(HIGH + 5 * STEP - 2, abs=2)
    assert len(re.findall('id="entry-[0-9]+"', found)) == 2
    assert [html.unescape(one) for one in re.findall('stage-tab-name">([^<]*)', found)] == [
        f"Page {n}" for n in range(1, 6)
    ]
    assert shown(later) == ["REFERENCE/1", "DRAFT/3"]
    assert rings(later) == []


@pytest.mark.rule("U8.16")
def test_what_went_is_outlined_before_beside_the_page_where_it_was(served, tmp_path):
    old = words(14)
    draft = changed(served, tmp_path, "Gone", paragraphs(*old), paragraphs(*old[:11], *old[12:]))

    found = asked(served, draft)

    assert shown(found) == ["REFERENCE/1", "DRAFT/1"]
    assert [name.split(":")[0] for name, *_ in rings(found)] == ["Change 1, removed"]


@pytest.mark.rule("U8.16")
@pytest.mark.parametrize(
    "way",
    ['<w:cols w:num="2"/>', "framed"],
)
def test_a_block_whose_place_is_not_certain_is_an_entry_without_an_outline(served, tmp_path, way):
    old = words(4)
    new = [old[0], old[1].replace("pieces", "boxes"), *old[2:]]
    bodies = [paragraphs(*one, columns="" if way == "framed" else way) for one in (old, new)]
    if way == "framed":
        mark = "<w:p><w:pPr><w:framePr/></w:pPr>"
        bodies = [mark.join(body.split("<w:p>")) for body in bodies]
    draft = changed(served, tmp_path, f"Uncertain {way}", *bodies)

    found = asked(served, draft)

    assert shown(found) == ["REFERENCE/0", "DRAFT/0"]
    assert rings(found) == []
    assert len(re.findall('id="entry-[0-9]+"', found)) == 1


@pytest.mark.rule("F29.13", "F29.7")
def test_the_marks_of_pages_are_in_no_file_and_no_answer(served, tmp_path):
    body = paragraphs(*words(3))
    draft = changed(served, tmp_path, "Unmarked", body, paragraphs(*words(2)))
    asked(served, draft)
    viewer = served.shop.benches.viewer
    content = viewer.content(draft.id, "DRAFT", "report.docx")
    kept = Path(served.shop.store.blobs.path(content)).read_bytes()

    assert b"Backshop" not in kept
    assert kept == (tmp_path / "1.docx").read_bytes()


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.16", "U8.3", "U4.4", "B24.1")
def test_outlines_of_a_page_lead_to_entries_and_comments(served, tmp_path, new_page):
    old = words(14)
    new = [*old[:12], old[12].replace("pieces", "boxes"), old[13]]
    draft = changed(served, tmp_path, "Led", paragraphs(*old), paragraphs(*new))
    draft.call("ReviewAddComment", path="report.docx", place={"paragraph": 12}, text="Why boxes?")
    page = new_page(f"/bench/{draft.id}/review?file=report.docx&as=pages&page=0")
    page.locator("[data-side=after] img.drawing").first.wait_for()
    page.locator("a[data-remark-link]").click()
    page.locator("a.ring.remark.at-place").wait_for()
    pictures = [one.get_attribute("alt") for one in page.locator("img.drawing").all()]
    page.locator('[data-side=after] [data-outline="1"] .around').click(position={"x": 5, "y": 5})
    page.locator("#entry-1.at-place").wait_for()
    page.locator("#entry-1 [data-remark]").click()
    place = page.locator("#remark-at").input_value()
    apart = page.evaluate(NEAR, ["img.drawing", "svg.outlines"])
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    page.set_viewport_size({"width": 390, "height": 844})
    narrow = page.evaluate("document.documentElement.scrollWidth - innerWidth")

    assert pictures == ["Page 2", "Page 2"]
    assert place == "paragraph 12"
    assert apart < 1
    assert (wide, narrow) == (0, 0)
    assert violations(page) == []
