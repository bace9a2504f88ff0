"""Documents as they look, before and after, with what changed outlined (U8)."""

from __future__ import annotations

import html
import io
import threading
import zipfile
from typing import Any

import pytest
from tests.web.accessible import violations
from tests.web.browsing import Served
from tests.web.drafts import Drafting, full_draft

from backshop.base.errors import ValidationFailed
from backshop.bench import Bench, views
from backshop.web.pages.kit import Visit
from backshop.web.pages.picture.outline import Region, regions
from backshop.web.pages.picture.sheet_pair import sheet_pairs
from backshop.web.preparation import prepare
from backshop.web.site import Site
from backshop.web.svg import is_inert
from backshop.web.turns import begin

IN_SIGHT = """() => {
  const at = (selector) => document.querySelector(`[data-side=after] ${selector}`);
  const [one, box] = [at('.paper-mark'), at('.leaf')].map((part) => part.getBoundingClientRect());
  return one.top >= box.top && one.bottom <= box.bottom;
}"""


@pytest.fixture(scope="module")
def draft(served):
    return full_draft(served)


@pytest.fixture
def opened(draft, new_page):
    """Open the picture of a changed file and wait until it is drawn."""

    def make(path: str, query: str = "", **options):
        page = new_page(f"/bench/{draft.id}/review?file={path}{query}", **options)
        page.wait_for_selector("body[data-ready=yes]")
        page.locator(".desk .drawing, .desk .paper").first.wait_for()
        return page

    return make


def names(page: Any, side: str) -> list[str]:
    """Return what the outlines of a side are called."""
    found = page.locator(f"[data-side={side}] a.ring, [data-side={side}] a.paper-sign")
    return [one.get_attribute("aria-label") for one in found.all()]


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.1", "U8.2", "U8.3", "U8.5")
def test_changed_cells_are_outlined_on_both_sides_and_lead_to_their_entries(opened):
    page = opened("ledger.xlsx", "&sheet=Ledger")
    tab = page.get_by_role("link", name="Picture", exact=True).get_attribute("aria-current")
    before, after = names(page, "before"), names(page, "after")
    signs = page.locator("[data-side=after] .ring .sign").all_text_contents()
    page.locator("[data-side=after] a.ring[aria-label*='B5']").click()
    entry = page.locator(".entry.at-place")

    assert tab == "true"
    assert "Region 4" in page.locator("[data-side=after] .drawing").text_content()
    assert [one for one in after if one.endswith("changed: B5")]
    assert [one for one in before if one.endswith("changed: B5")]
    assert {one[0] for one in signs} <= {"~", "+", "−"}
    assert entry.locator("del").first.inner_text() == "40"
    assert entry.locator("ins").first.inner_text() == "44"
    assert page.locator(".ring.at-place").count() == 2
    assert page.evaluate("document.activeElement.id") == entry.get_attribute("id")


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.3", "U4.4", "U4.7")
def test_picture_list_and_comment_lead_to_one_another(opened):
    page = opened("ledger.xlsx", "&sheet=Ledger&row=3")
    page.locator(".ring[aria-label*='C7']").first.wait_for()
    page.locator("#file-view").focus()
    page.keyboard.press("j")
    walked = page.locator(".ring.at-place").count()
    entry = page.locator(".entry", has_text="C7")
    entry.click()
    entry.get_by_role("button", name="Comment").click()
    place = page.locator("#remark-at").input_value()
    page.locator("#remark").fill("Are you sure?")
    page.get_by_role("button", name="Comment", exact=True).click()
    page.locator("[data-side=after] .ring.remark").wait_for()
    stayed = page.url
    page.get_by_role("link", name="Summary").click()
    page.locator(".stage-tabs [aria-current]", has_text="Summary").wait_for()
    page.locator(".ring.remark").wait_for(state="detached")
    page.locator(".comment-place").click()
    page.locator(".ring.remark.at-place").wait_for()

    assert "row=3" in stayed
    assert walked == 2
    assert place == "Ledger!C7"
    assert page.locator(".stage-tabs [aria-current]").inner_text().startswith("Ledger")
    page.locator(".ring.remark.at-place").evaluate("one => one.focus()")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "comment-1"


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.6", "U2.4")
def test_changed_slides_stand_before_and_after_with_their_shapes_outlined(opened):
    page = opened("deck.pptx")
    titles = page.locator(".scene-title").all_inner_texts()
    before, after = names(page, "before"), names(page, "after")
    page.locator(".stage-tabs a", has_text="Risks").click()
    page.get_by_text("This slide is new.").wait_for()
    page.locator("[data-side=after] .drawing").wait_for()

    assert len(titles) == len(page.locator(".stage-tabs .badge").all())
    assert [sum("changed: " in one for one in side) for side in (before, after)] == [1, 1]
    assert [one for one in after if "added: Slide" in one]
    assert names(page, "after") == [f"Change 1, added: Slide {_number(page)}"]


def _number(page: Any) -> str:
    return str(page.locator(".stage-tabs [aria-current]").inner_text().split()[0])


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.7", "U8.2", "U8.9", "B12.5")
def test_a_document_flows_with_its_first_change_in_sight(served, new_page):
    text = [{"text": f"Paragraph {n} of a long text."} for n in range(120)]
    draft = Drafting(served, served.bench("Long", {"a.txt": "a"}))
    fill = {"op": "set_paragraphs", "paragraphs": text}
    draft.use("docx_operations", path="long.docx", operations=[fill])
    draft.call("DraftPublish")
    change = {"op": "replace_text", "search": "Paragraph 90 of a", "replace": "Section 90 of one"}
    draft.use("docx_operations", path="long.docx", operations=[change])
    page = new_page(
        f"/bench/{draft.id}/review?file=long.docx", viewport={"width": 390, "height": 844}
    )
    mark = page.locator("[data-side=after] .paper-mark")
    mark.wait_for()
    page.wait_for_function(IN_SIGHT)

    assert page.locator("[data-side=before]").first.is_hidden()  # a narrow window shows one side
    page.get_by_role("button", name="Before").click()
    page.locator("[data-side=before] .paper-mark").wait_for()
    assert "Section 90 of one" in mark.text_content()
    assert page.locator(".entry del").first.text_content() == "Paragraph"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page) == []


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.9", "U4.3", "U1.6")
def test_the_shape_of_what_comes_shows_at_once_and_what_fails_says_so(served, draft, new_page):
    page = new_page("/")
    page.route("**/drawn/**", lambda route: route.abort())
    page.goto(f"{served.address}/bench/{draft.id}/review?file=deck.pptx")
    page.get_by_text("This picture could not be fetched").first.wait_for()
    held: list[Any] = []
    page.route("**/review/file?*as=pages*", lambda route: held.append(route))
    page.get_by_role("link", name="Pages", exact=True).click()
    page.locator("#file-view .skeleton").wait_for()
    chosen = page.locator("nav.tabs a[aria-current]").inner_text()
    held[0].fulfill(body="<p>the pages</p>", content_type="text/html")
    page.get_by_text("the pages").wait_for()

    assert chosen == "Pages"


@pytest.mark.rule("U8.1", "U1.4", "U8.3")
def test_a_picture_stands_in_a_page_without_scripts(served, draft):
    with served.client() as client:
        begun = client.get(f"/bench/{draft.id}/review?file=ledger.xlsx&sheet=Ledger").text
        still = client.get(f"/bench/{draft.id}/review?file=ledger.xlsx&sheet=Ledger&still=1").text
        viewed = client.get(f"/bench/{draft.id}/file/deck.pptx?still=1").text

    assert "still=1" in begun.split('class="stage"')[1].split("</noscript>")[0]
    assert 'class="desk"' not in begun
    assert still.count('<noscript><img src="/bench/') == 2
    assert 'href="#entry-1"' in still
    assert 'id="entry-1"' in still
    assert viewed.count('<noscript><img src="/bench/') == 1


def _address(part: str) -> str:
    return html.unescape(part.split('data-svg="')[-1].split('"')[0])


@pytest.mark.rule("U8.4", "F43.3", "U7.3")
def test_drawings_are_named_by_their_content_and_hold_nothing_that_runs(served, draft):
    with served.client() as client:
        part = client.get(f"/bench/{draft.id}/review/picture?file=ledger.xlsx&sheet=Ledger").text
        address = _address(part)
        named = client.get(address)
        other = client.get(address.replace("content=", "content=0"))
        odd = client.get(address.replace("/sheet/", "/chart/"))

    assert named.headers["content-type"] == "image/svg+xml"
    assert "immutable" in named.headers["cache-control"]
    assert named.headers["content-security-policy"].startswith("default-src 'none'")
    assert other.headers["cache-control"] == "no-store"
    assert odd.status_code == 404
    assert "&lt;script&gt;" in named.text  # a cell says so
    assert is_inert(named.text)


@pytest.mark.rule("U8.4")
@pytest.mark.parametrize(
    "svg",
    [
        "<svg><script>1</script></svg>",
        '<svg><rect onclick="x()"/></svg>',
        '<svg><image href="https://example.org/a.png"/></svg>',
        '<svg><a href="#x"></a></svg>',
        '<svg><rect fill="url(https://example.org)"/></svg>',
        "<svg><style>a{}</style></svg>",
        "<svg><rect/><!-- x --></svg>",
        "no drawing",
    ],
)
def test_what_runs_or_leads_elsewhere_is_no_drawing(svg):
    assert not is_inert(svg)


@pytest.mark.rule("U8.4")
def test_figures_with_any_words_are_a_drawing():
    assert is_inert('<svg width="1"><text x="1">on = 1 &lt;b onclick=1&gt; href=x</text><g/></svg>')


@pytest.mark.rule("U8.5")
def test_cells_beside_one_another_to_which_the_same_happened_are_one_outline():
    new, old = ("added", "value"), ("changed", "value")
    cells = {(row, col): new for row in range(3) for col in (1, 2)} | {(0, 3): old, (5, 1): new}

    found = regions(cells)

    assert found == [Region(0, 1, 2, 2, new), Region(0, 3, 0, 3, old), Region(5, 1, 5, 1, new)]


def _hostile() -> dict[str, bytes]:
    import openpyxl
    from pptx import Presentation
    from pptx.util import Emu

    wide = openpyxl.Workbook()
    assert wide.active is not None
    wide.active["XFD1"] = "last"
    wide.active["A1"] = "שלום \u202eabc"
    wide.active.sheet_view.rightToLeft = True
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(Emu(1000), Emu(1000), Emu(9000), Emu(9000)).text = "x"
    saved = io.BytesIO(), io.BytesIO()
    wide.save(saved[0])
    deck.save(saved[1])
    return {
        "wide.xlsx": saved[0].getvalue(),
        "crowd.pptx": _crowded(saved[1]),
        "broken.docx": saved[0].getvalue()[:3000],
        "broken.xlsx": b"PK\x03\x04" + b"x" * 99,
    }


def _crowded(deck: io.BytesIO) -> bytes:
    """Return a deck whose shape stands there 2,000 times."""
    made = io.BytesIO()
    with zipfile.ZipFile(deck) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "ppt/slides/slide1.xml":
                shape = text[text.index(b"<p:sp>") : text.index(b"</p:sp>") + 7]
                text = text.replace(shape, shape * 2000)
            new.writestr(name, text)
    return made.getvalue()


@pytest.mark.rule("U8.9", "U4.9", "F43.22", "F43.37")
def test_odd_and_broken_files_have_a_picture_that_says_so(served):
    bench = served.bench("Odd", _hostile())
    with served.client() as client:
        pages = {
            name: client.get(f"/bench/{bench}/picture/{name}?view=published")
            for name in ("wide.xlsx", "crowd.pptx", "broken.docx", "broken.xlsx")
        }
        viewed = client.get(f"/bench/{bench}/file/broken.xlsx").status_code
        drawing = client.get(_address(pages["wide.xlsx"].text)).text

    assert "Drawn by Backshop;" in pages["wide.xlsx"].text
    assert "⟦U+202E⟧" in drawing
    assert "right to left" in pages["wide.xlsx"].text
    assert "Columns to the right" in pages["wide.xlsx"].text
    assert "Drawn by Backshop;" in pages["crowd.pptx"].text
    assert [pages[name].status_code for name in ("broken.docx", "broken.xlsx")] == [200, 200]
    assert "This cannot be drawn" in pages["broken.xlsx"].text
    assert viewed == 200


@pytest.mark.rule("U4.3")
def test_pages_of_a_workbook_are_its_sheets_paired_by_name(served: Served, draft):
    site = Site(served.shop, served.door, served.login)
    visit = Visit(site=site, params={"bench_id": draft.id}, query={}, cookies={}, path="")
    about = views.ReviewPath(workbench_id=draft.id, path="ledger.xlsx")
    entry = visit.ask(Bench.review_get_entry, about)

    _, pairs = sheet_pairs(visit, entry)

    assert [tuple(one.values()) for one in pairs] == [(0, 0, 0, "changed"), (1, None, 1, "added")]


@pytest.mark.rule("U8.8", "F43.6")
def test_what_the_review_shows_first_is_drawn_when_a_turn_is_over(served: Served, draft):
    site = Site(served.shop, served.door, served.login)
    folder = served.shop.config.home / "cache"
    made = prepare(site, draft.id, None)
    kept = sorted(one.name for one in folder.rglob("*drawn-*"))
    with served.client() as client:
        client.get(f"/bench/{draft.id}/review/picture?file=ledger.xlsx")
        client.get(f"/bench/{draft.id}/review/picture?file=deck.pptx")

    assert made == 3
    assert kept
    assert sorted(one.name for one in folder.rglob("*drawn-*")) == kept
    assert prepare(site, served.bench("Nothing"), None) == 0


@pytest.mark.rule("U8.8")
def test_pictures_are_made_ready_after_a_turn_and_not_after_a_refused_one():
    prepared = threading.Event()

    def call(command: str, _: object) -> Any:
        return {"message_id": "m", "command": command}

    def refuse(command: str, _: object) -> Any:
        raise ValidationFailed(f"{command} is refused", reason="bad_params")

    done = begin(call, "b", {"text": "go"}, prepared.set)
    assert prepared.wait(10)
    prepared.clear()
    refused = begin(refuse, "b", {"message_id": "m"}, prepared.set)

    assert done["result"]["command"] == "WorkshopRunAgent"
    assert "error" in refused
    assert not prepared.is_set()


@pytest.mark.rule("U8.5")
def test_a_workbook_of_which_only_a_chart_changed_opens_on_its_sheet(served):
    made = Drafting(served, served.bench("Chart alone", {}))
    rows = [["Month", "Sum"], ["Jan", 1], ["Feb", 2]]
    sheets = [{"op": "ensure_sheet", "sheet": one} for one in ("First", "Plan")]
    filled = {"op": "set_range", "sheet": "Plan", "start": "A1", "values": rows}
    made.use("xlsx_operations", path="c.xlsx", operations=[*sheets, filled])
    made.call("DraftPublish")
    chart = {"op": "add_chart", "sheet": "Plan", "cell": "D2", "kind": "line", "data": "A1:B3"}
    made.use("xlsx_operations", path="c.xlsx", operations=[chart])

    with served.client() as client:
        page = client.get(f"/bench/{made.id}/review/picture?file=c.xlsx").text

    tabs = page[page.index("stage-tabs") : page.index("</nav>")]
    assert tabs.count("aria-current") == 1
    assert "Plan" in tabs[tabs.index("aria-current") :]
    assert "1 change in sight" in page
