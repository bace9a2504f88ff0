"""A database that is away: every way in says so, and nothing shows a bare error (U1.6, T7)."""

from __future__ import annotations

import pytest

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
