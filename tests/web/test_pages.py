"""Every page opens, runs no foreign script, and is accessible (U7.1, U7.2, U7.3)."""

from __future__ import annotations

import pytest
from tests.web.accessible import violations

pytestmark = pytest.mark.needs("browser")

HOSTILE = "<img src=x onerror=alert(1)>"
PAGES = ["/", "/settings", "/bench/{bench}?stay=1", "/bench/{bench}/context", "/nothing-here"]


@pytest.fixture(scope="module")
def bench(served):
    made = served.bench(
        "Quarter & friends",
        {"notes.md": "# Notes\n", "q1/sales.csv": "region,amount\nnorth,1\n", "a'&b.bin": b"\0\1"},
    )
    text = f"Look at **{HOSTILE}** [click](javascript:alert(1)) ![p](http://evil.example/p.png)"
    served.call("WorkshopSendUserMessage", workbench_id=made, text=text)
    return made


SIZE = """["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind))
   .map((one) => one.decodedBodySize).reduce((sum, one) => sum + one, 0)"""


@pytest.mark.rule("U7.1", "U7.2", "S7.3", "U2.2", "U1.1")
@pytest.mark.parametrize("path", PAGES)
def test_a_page_opens_is_light_accessible_and_fits_its_window(bench, new_page, path):
    page = new_page(path.format(bench=bench), viewport={"width": 900, "height": 800})
    size_bytes = page.evaluate(SIZE)
    wider, faults = {}, {}
    for width in (900, 1280, 3840):
        page.set_viewport_size({"width": width, "height": 800})
        wider[width] = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    page.set_viewport_size({"width": 1280, "height": 800})
    for look in ("light", "dark"):
        page.emulate_media(color_scheme=look)
        faults[look] = violations(page)

    assert page.locator("main").is_visible()
    assert 1_000 < size_bytes < 226_000
    assert [width for width, over in wider.items() if over > 0] == []
    assert faults == {"light": [], "dark": []}


@pytest.mark.rule("U7.3", "S7.4")
def test_nothing_foreign_runs_or_is_loaded(served, bench, new_page):
    page = new_page("/", own=True)
    asked: list[str] = []
    dialogs: list[str] = []

    def close(dialog):
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", close)
    served.call("WorkbenchRename", workbench_id=bench, new_name=HOSTILE)
    for path in PAGES:
        page.goto(served.address + path.format(bench=bench))
    served.call("WorkbenchRename", workbench_id=bench, new_name="Quarter & friends")

    assert dialogs == []
    assert [url for url in asked if not url.startswith((served.address, "data:"))] == []
    assert page.locator("img[src='x']").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


@pytest.mark.rule("W2.1")
@pytest.mark.parametrize(
    ("origin", "said"), [("cli", "from the terminal"), ("mcp", "over MCP"), ("rpc", None)]
)
def test_a_message_says_in_words_where_it_came_in(served, new_page, origin, said):
    bench = served.bench("Origins", {"a.txt": "a\n"})
    served.call("WorkshopSendUserMessage", workbench_id=bench, text="Hello", origin=origin)

    page = new_page(f"/bench/{bench}?stay=1")

    badges = page.locator(".message.user .message-head .badge").all_inner_texts()
    assert badges == ([said] if said else [])
