"""A database that is away: every way in says so, and nothing shows a bare error (U1.6, T7)."""

from __future__ import annotations

import threading

import pytest

from backshop.bench import Bench
from backshop.rails import Rails
from backshop.store import StoreUnavailable

PAGE = {"accept": "text/html"}


@pytest.fixture
def away(served, monkeypatch):
    """Return what takes the database of the server away until the test ends."""

    def refuse(*_: object, **__: object) -> None:
        raise StoreUnavailable("the database cannot be reached")

    def take() -> None:
        for name in ("reader", "transaction"):
            monkeypatch.setattr(served.shop.store.database, name, refuse)

    return take


def is_told(answer) -> bool:
    """Say whether a person reads what is wrong and how to go on."""
    shown = answer.text
    return answer.status_code == 503 and "STORE_UNAVAILABLE" in shown and "Traceback" not in shown


@pytest.mark.rule("U1.6", "T6.4")
def test_every_way_in_says_that_the_database_is_away(served, away):
    bench = served.bench("Away", {"a.txt": "a\n"})
    token = served.call("UserAdd", name="Anna")["token"]
    link = served.link()
    with served.client(logged_in=False) as entering:
        entered = entering.post("/login", data={"token": token})
    with (
        served.client() as owner,
        served.client(logged_in=False) as stranger,
        served.client(logged_in=False) as person,
    ):
        person.cookies = entered.cookies
        before = person.get("/", headers=PAGE).status_code
        away()
        pages = [owner.get(path, headers=PAGE) for path in ("/", "/settings", f"/bench/{bench}")]
        gate = [person.get("/", headers=PAGE), person.get("/events")]
        login = [
            stranger.get(link.removeprefix(served.address), headers=PAGE),
            stranger.post("/login", data={"token": "x" * 40}, headers=PAGE),
            stranger.get("/login", headers=PAGE),
        ]
        file = owner.get(f"/bench/{bench}/files/a.txt")
        lives = owner.get("/healthz")

    assert before == 200
    assert [is_told(one) for one in (*pages, *gate, *login, file)] == [True] * 9
    assert gate[1].json()["error"]["error_code"] == "STORE_UNAVAILABLE"
    assert lives.status_code == 200


@pytest.mark.rule("U1.6")
def test_a_script_that_asks_for_a_part_of_a_page_gets_a_refusal_as_data(served):
    address = "/bench/wb_01ARZ3NDEKTSV4RRFFQ69G5FAV/file-list"
    with served.client() as client:
        part = client.get(address, headers={**PAGE, "x-fragment": "1"})
        page = client.get(address, headers=PAGE)

    assert (part.status_code, part.json()["error"]["error_code"]) == (404, "NOT_FOUND")
    assert (page.status_code, "<h1>Not found</h1>" in page.text) == (404, True)


@pytest.mark.needs("browser")
@pytest.mark.rule("U1.6", "U3.5")
def test_a_part_that_is_refused_says_so_in_its_place_and_what_was_shown_stays(
    served, new_page, monkeypatch
):
    bench = served.bench("Parts", {"a.txt": "a\n"})
    page = new_page(f"/bench/{bench}")
    page.locator("html[data-live]").wait_for()
    ask, here = served.shop.ask, threading.current_thread()

    def away(method, *args, **kwargs):
        if method == Bench.files_list and threading.current_thread() is not here:
            raise StoreUnavailable("the database cannot be reached")
        return ask(method, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(served.shop, "ask", away)
        served.call("WorkbenchFileRename", workbench_id=bench, path="a.txt", new_path="b.txt")
        page.locator("#files > [data-error=STORE_UNAVAILABLE]").wait_for()
        kept = page.locator("#files .file-name").all_text_contents()
        inside = page.locator("#files nav, #files #toasts, #files h1").count()
    served.call("WorkbenchFileRename", workbench_id=bench, path="b.txt", new_path="c.txt")
    page.locator("#files .file-name", has_text="c.txt").wait_for()

    assert (kept, inside) == (["a.txt"], 0)
    assert page.locator("#files [data-error]").count() == 0


@pytest.mark.rule("U1.6")
def test_the_page_of_a_workflow_shows_a_refusal_that_is_none_of_rails(served, monkeypatch):
    ask = served.shop.ask

    def away(method, *args, **kwargs):
        if method == Rails.workflow:
            raise StoreUnavailable("the database cannot be reached")
        return ask(method, *args, **kwargs)

    monkeypatch.setattr(served.shop, "ask", away)
    with served.client() as client:
        page = client.get("/workflows/wr.rpi", headers=PAGE)

    assert "STORE_UNAVAILABLE" in page.text
    assert 'data-error="INTERNAL_ERROR"' not in page.text
