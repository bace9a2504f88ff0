"""Every page, with something on it, in both looks and three sizes: accessible, fitting, light."""

from __future__ import annotations

import html
import re
from urllib.parse import urlsplit

import pytest
from tests.conftest import PROOF
from tests.web.accessible import violations
from tools.screenshots import LOOKS, SIZES, scene

from backshop.web.pages import ROUTES

pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(300)]
LIGHT_BYTES = 226_000
VIEWS = (  # a page is loaded in the first of several, and looked at in the others as well
    [[(look, size)] for look in LOOKS for size in SIZES]
    if PROOF
    else [list(zip((*LOOKS, "light"), SIZES, strict=True))]
)
PARTS = {  # of pages, fetched by scripts, and what is no page
    *("/bench-cards", "/bench/{bench_id}/draft-bar", "/bench/{bench_id}/file-list"),
    *("/bench/{bench_id}/folder-bar", "/bench/{bench_id}/work", "/bench/{bench_id}/welcome"),
    *("/bench/{bench_id}/transcript", "/bench/{bench_id}/turn/{turn_id}"),
    *("/bench/{bench_id}/tasks", "/bench/{bench_id}/context/{category}"),  # context, once more
    *("/bench/{bench_id}/tool/{entry_id}", "/bench/{bench_id}/tool/{entry_id}/picture"),
    "/bench/{bench_id}/review/file",
    *("/bench/{bench_id}/review/choices", "/bench/{bench_id}/review/picture"),
    *("/bench/{bench_id}/picture/{path:path}", "/bench/{bench_id}/glance/{version}/{path:path}"),
    "/bench/{bench_id}/drawn/{version}/{what}/{path:path}",
    *("/settings/disk", "/settings/usage", "/settings/backups/{name}"),
    *("/studio/list", "/studio/parts"),
    *("/studio/run/{run_id}/graph", "/studio/node/{node_id}"),
    "/bench/{bench_id}/preview/{version}/{index}/{scale}/{path:path}",
    "/studio/session/{session_id}/export/{format}",
}
CONTENT = {"review", "compare-file"}  # its list of changed cells is in the page
# what is in files comes by those addresses, in the faces that files name
TRANSFER = """(kinds) => kinds.flatMap((kind) => performance.getEntriesByType(kind))
   .filter((one) => !/[/](preview|rpc|drawn|picture|glance)/.test(one.name))
   .filter((one) => !/[/](carlito|caladea|arimo|tinos|cousine)-/.test(one.name))
   .reduce((sum, one) => sum + one.decodedBodySize, 0)"""


# What is wider than its place, though a person could only see it by scrolling sideways: the page
# itself and the columns that scroll by themselves. Boxes made for wide things are not among them.
WIDER = """() => [document.documentElement, ...document.querySelectorAll(
     "main, .bench-main, .side-scroll, #scroll, .drawer, .studio-main, .studio-side, .studio-node")]
   .filter((one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).display !== "none")
   .filter((one) => one.clientWidth > 0)
   .map((one) => `${one.tagName}.${one.className} ${one.scrollWidth} in ${one.clientWidth}`)"""


@pytest.fixture(scope="module")
def pages(served):
    """The scene of the pictures in the README: benches with a story, a run on rails."""
    return scene(served)


def test_the_scene_has_every_page_there_is(served, pages):
    whole = [one for one in ROUTES if "GET" in (one.methods or ()) and one.path not in PARTS]
    shown = [urlsplit(path).path for path in pages.values()]

    assert {one.path for one in ROUTES} >= PARTS
    assert [one.path for one in whole if not any(map(one.path_regex.match, shown))] == []


@pytest.mark.rule("U5.5", "P7.5")
def test_every_call_of_a_phase_can_be_looked_at(served, pages):
    path = pages["prompt"]
    _, _, bench, _, turn = path.split("/")
    about = {"workbench_id": bench, "turn_id": turn, "phase": "implement"}
    sent = served.call("PromptShow", **about)["sent"]
    texts = [
        served.call("PromptShow", **about, number=number)["text"] for number in range(1, sent + 1)
    ]
    with served.client() as client:
        shown = [
            client.get(f"{path}?phase=implement&call={number}").text
            for number in range(1, sent + 1)
        ]
        absent = client.get(f"{path}?phase=implement&call={sent + 1}").text

    pieces = [re.findall(r"<pre class=\"plain\">(.*?)</pre>", page, re.DOTALL) for page in shown]
    assert len(set(texts)) == sent > 1
    assert [html.unescape("".join(one)) for one in pieces] == texts
    assert "NOT_FOUND" in absent


@pytest.mark.rule("U7.1", "U7.2", "U2.1", "U2.2", "S7.3", "U1.1", "S7.1")
@pytest.mark.parametrize("views", VIEWS)
def test_every_page_is_accessible_fits_and_is_light(
    served, pages, new_page, views, record_property
):
    page = new_page("/login", own=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    found = {}
    for name, path in pages.items():
        look_in(page, *views[0])
        page.goto(served.address + path)
        page.wait_for_load_state("load")
        kinds = ["resource"] if name in CONTENT else ["navigation", "resource"]
        size_bytes = page.evaluate(TRANSFER, kinds)
        found[name] = [f"{size_bytes} bytes"] if not 1_000 < size_bytes < LIGHT_BYTES else []
        for view in views:
            look_in(page, *view)
            found[name] += [f"{view}: wider than its place: {one}" for one in page.evaluate(WIDER)]
            if view is views[-1] or view[0] == "dark":  # of the sample: both looks, the least room
                found[name] += [f"{view}: {one}" for one in violations(page)]

    assert found == {name: [] for name in pages}
    record_property("pages looked at by axe, none with a serious violation", len(found))
    assert [url for url in asked if not url.startswith((served.address, "data:"))] == []


def look_in(page, look, size):
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=look)
