"""The frame of every page: places, the person's menu, keys, the text face, and one scale."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.web.drafts import Drafting

from backshop.web.render import STATIC, version

SHEETS = ("style.css", "review.css", "studio.css")
LOOSE = re.compile(
    r"(?:padding|margin|gap|border-radius|font-size)[a-z-]*:[^;}]*?(?<![\w.])(?!0?[12]px)\d[\d.]*px"
)
DRAWN = re.compile(r"\.(?:shape|size-|slide-table)")  # of a document, in its own units


@pytest.mark.rule("U2.1")
def test_spaces_sizes_and_radii_are_tokens():
    loose = [
        f"{name}: {found}"
        for name in SHEETS
        for line in (STATIC / name).read_text(encoding="utf-8").splitlines()
        if not DRAWN.search(line)
        for found in LOOSE.findall(line)
    ]

    assert loose == []


@pytest.mark.rule("U2.1", "U1.1")
def test_the_text_face_is_ours_small_preloaded_and_kept(served):
    faces = sorted(Path(STATIC).glob("*.woff2"))
    with served.client(logged_in=False) as client:
        page = client.get("/login").text
        got = [client.get(f"/static/{version()}/{one.name}") for one in faces]

    assert 0 < sum(one.stat().st_size for one in faces) <= 120_000
    assert re.search(
        '<link rel="preload" href="[^"]+/geist-latin-wght-normal.woff2" as="font"', page
    )
    assert {one.headers["content-type"] for one in got} == {"font/woff2"}
    assert all("immutable" in one.headers["cache-control"] for one in got)
    assert (STATIC / "geist-LICENSE.txt").read_text(encoding="utf-8").startswith("Copyright 2024")


@pytest.mark.rule("U2.1", "U2.2")
@pytest.mark.needs("browser")
def test_the_head_has_the_places_the_count_and_the_menu_of_the_person(served, new_page):
    bench = served.bench("Framed", {"a.txt": "a\n", "b.txt": "b\n"})
    page = new_page(f"/bench/{bench}/context")
    nav = page.get_by_role("navigation", name="Workbench")
    before = [one.strip() for one in nav.get_by_role("link").all_inner_texts()]
    Drafting(served, bench).put({"a.txt": "x\n", "b.txt": "y\n"})
    nav.get_by_role("link", name="Review 2").wait_for()
    current = nav.locator("[aria-current=page]").all_inner_texts()
    face = page.evaluate("document.fonts.ready.then(() => document.fonts.check('14px Geist'))")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_label("Menu of Owner of this home").click()
    page.locator(".menu-items").get_by_role("link", name="History").click()
    page.wait_for_url("**/checkpoints")

    assert before == ["Workshop", "Review", "History", "Context"]
    assert (current, face) == (["Context"], True)


@pytest.mark.rule("U2.2", "S7.6")
@pytest.mark.needs("browser")
def test_the_menu_of_the_person_logs_out(served, new_page):
    page = new_page(f"/bench/{served.bench('Left')}/context", own=True)
    page.get_by_label("Menu of Owner of this home").click()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login?left=1")
    page.get_by_text("You are logged out.").wait_for()
    page.goto(f"{served.address}/settings")

    assert page.url.endswith("/login")


@pytest.mark.rule("W20.2", "U3.7")
@pytest.mark.needs("browser")
def test_the_keys_work_on_every_page(served, new_page):
    bench = served.bench("Keyed", {"a.txt": "a\n"})
    Drafting(served, bench).put({"a.txt": "x\n"})
    page = new_page(f"/bench/{bench}/context")
    page.keyboard.press("Alt+Shift+V")
    page.wait_for_url("**/review")
    page.locator("body[data-ready]").wait_for()
    page.keyboard.press("Alt+Shift+P")
    page.get_by_role("dialog", name="Publish the Draft?").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+Shift+X")
    page.get_by_role("dialog", name="Discard the Draft?").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+Shift+C")
    page.wait_for_url("**stay=1#message")
    heard = []
    for path in ("/", "/studio", "/settings", f"/bench/{bench}/checkpoints"):
        page.goto(served.address + path)
        page.locator("[data-keys]:not([hidden])").wait_for(state="attached")
        page.keyboard.press("?")
        page.get_by_role("dialog", name="Keyboard").wait_for()
        heard.append(path)
        page.keyboard.press("Escape")

    assert len(heard) == 4


@pytest.mark.rule("U5.1", "U1.1")
def test_many_workbenches_come_in_parts_and_are_found_by_name(served):
    names = [f"Branch {number:03}" for number in range(110)]
    for name in names:
        served.bench(name)
    with served.client() as client:
        first, last = client.get("/").text, client.get("/?part=3").text
        found = client.get("/?q=branch+007").text
        none = client.get("/?q=nobody+calls+it+so").text
        beyond = client.get("/bench-cards?part=99999").text

    cards = [text.count("data-bench-card=") for text in (first, last, found, none)]
    assert len(first.encode()) < 200_000
    assert cards[0] == 48
    assert 0 < cards[1] <= 48
    assert cards[2:] == [1, 0]
    assert "No workbench is called that" in none
    assert "data-bench-card" in beyond
