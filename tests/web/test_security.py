"""What the gate lets through and what it does not (S7.2, U7.3)."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from tests.web.browsing import SECRET, serving

from backshop.app import COOKIE_DAYS, Links
from backshop.app.people.login_link import LINK_HOURS
from backshop.app.people.token_throttle import PER_ADDRESS
from backshop.base.ids import UserId
from backshop.store import Store
from backshop.testing.ambient import FixedClock
from backshop.web.security import Door, Login

JSON = {"content-type": "application/json"}


def rpc(client, method, params=None, **headers):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    return client.post("/rpc", content=json.dumps(body), headers={**JSON, **headers})


@pytest.mark.rule("S7.1")
def test_health_needs_no_login(served):
    with served.client(logged_in=False) as client:
        answer = client.get("/healthz")

    assert answer.json()["status"] == "ok"


@pytest.mark.rule("S7.2", "U7.3")
def test_without_a_cookie_nothing_is_served(served):
    bench = served.bench(files={"a.txt": "secret"})
    with served.client(logged_in=False) as client:
        page = client.get("/", headers={"accept": "text/html"})
        reads = [client.get(f"/bench/{bench}/files/a.txt"), client.get("/events")]
        call = rpc(client, "WorkbenchList")

    assert (page.status_code, page.headers["location"]) == (303, "/login")
    assert [one.status_code for one in [*reads, call]] == [401, 401, 401]
    assert b"secret" not in b"".join(one.content for one in reads)


@pytest.mark.rule("S7.2")
def test_a_login_link_works_once_and_the_cookie_is_strict(served):
    link = served.link()
    with httpx2.Client(timeout=60) as first, httpx2.Client(timeout=60) as second:
        welcome = first.get(link)
        again = second.get(link)

    cookie = welcome.headers["set-cookie"].lower()
    assert welcome.status_code == 303
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert again.status_code == 403
    assert "set-cookie" not in again.headers


@pytest.mark.rule("S7.2")
def test_a_browser_that_is_in_is_not_kept_out_by_a_link_that_was_used(served):
    link = served.link()
    with httpx2.Client(timeout=60) as browser:
        browser.get(link)
        again = browser.get(link)
        kept = {"cookie": f"{served.door.cookie}={browser.cookies[served.door.cookie]}"}
        browser.post(f"{served.address}/logout", headers={"origin": served.address})
        after = httpx2.get(link, headers=kept, timeout=60)

    assert (again.status_code, again.headers.get("location")) == (303, "/")
    assert "set-cookie" not in again.headers
    assert after.status_code == 403


@pytest.mark.rule("S7.2")
def test_a_forged_or_altered_cookie_is_no_cookie(served):
    with served.client() as client:
        good = client.cookies[served.door.cookie]
    for bad in ("", "x", good[:-1] + ("0" if good[-1] != "0" else "1"), f"9{good}", "." * 5):
        headers = {"cookie": f"{served.door.cookie}={bad}"}
        with served.client(logged_in=False) as client:
            assert rpc(client, "WorkbenchList", **headers).status_code == 401


@pytest.mark.rule("S7.2", "U7.3")
@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", "", "a:b:c"),
        "192.0.2.7:{port}",  # an address, where only this machine can come in
    ],
)
def test_a_foreign_host_is_refused(served, host):
    with served.client() as client:
        answer = client.get("/", headers={"host": host.format(port=served.door.port)})

    assert answer.status_code == 403 or (host == "" and answer.status_code == 400)


@pytest.mark.rule("S7.2", "U7.3")
@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost.evil:80", "file://"],
)
def test_a_foreign_origin_is_refused_even_with_the_cookie(served, origin):
    with served.client() as client:
        answer = rpc(client, "WorkbenchCreate", {"name": "x"}, origin=origin)
        form = client.post("/do/WorkbenchCreate", data={"name": "x"}, headers={"origin": origin})

    assert (answer.status_code, form.status_code) == (403, 403)


@pytest.mark.rule("U7.3")
def test_a_cross_site_form_post_is_refused_by_its_fetch_headers_too(served):
    headers = {
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "iframe",
    }
    with served.client() as client:
        answer = client.post("/do/WorkbenchCreate", data={"name": "x"}, headers=headers)
        text = client.post("/rpc", content="{}", headers={"content-type": "text/plain"})

    assert answer.status_code == 403
    assert text.status_code == 415


@pytest.mark.rule("S5.1", "U7.3")
def test_a_request_that_is_too_long_is_refused(served, monkeypatch):
    monkeypatch.setattr("backshop.web.rpc.BODY_MAX_BYTES", 100)
    with served.client() as client:
        long = rpc(client, "WorkbenchCreate", {"name": "x" * 100})
        short = rpc(client, "WorkbenchList")

    assert long.json()["error"]["reason"] == "too_large"
    assert "result" in short.json()


@pytest.mark.rule("S7.2")
def test_every_answer_carries_the_policy(served):
    with served.client() as client:
        answers = [
            client.get("/"),
            client.get("/healthz"),
            client.get("/nothing"),
            client.get("/", headers={"host": "evil"}),
        ]

    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.rule("U7.3")
@pytest.mark.parametrize(
    "path",
    [
        "/static/x/..%2f..%2fserver.py",
        "/static/x/%2e%2e/server.py",
        "/bench/{bench}/files/..%2f..%2fstore.db",
        "/bench/{bench}/files/%2fetc%2fpasswd",
        "/bench/..%2f..%2fstore.db/files/a.txt",
        "/bench/{bench}/files/a.txt%00",
        "/bench/{bench}/files/A.TXT%2f",
    ],
)
def test_path_tricks_lead_nowhere(served, path):
    bench = served.bench(files={"a.txt": "content"})
    with served.client() as client:
        answer = client.get(path.format(bench=bench))

    assert answer.status_code in {403, 404, 422}
    assert b"SQLite" not in answer.content
    assert b"root:" not in answer.content


@pytest.mark.rule("U1.7")
@pytest.mark.parametrize("named", ["wb_nope", "gone", "Reports/review"])
def test_an_address_that_can_name_no_workbench_is_not_found(served, named):
    with served.client() as client:
        page = client.get(f"/bench/{named}", headers={"accept": "text/html"})

    assert page.status_code == 404
    assert "There is no such workbench." in page.text


@pytest.mark.rule("S5.3")
def test_errors_are_data_without_a_traceback(served):
    with served.client() as client:
        page = client.get("/bench/wb_01ARZ3NDEKTSV4RRFFQ69G5FAV", headers={"accept": "text/html"})
        call = rpc(client, "WorkbenchOpen", {"workbench_id": "nonsense"}).json()
        broken = client.post("/rpc", content="{", headers=JSON).json()

    assert page.status_code == 404
    assert "NOT_FOUND" in page.text
    assert call["error"]["data"]["error_code"] == "VALIDATION_FAILED"
    assert broken["error"]["code"] == -32700
    assert "Traceback" not in page.text


@pytest.mark.rule("S7.5")
def test_a_server_that_others_can_reach_takes_no_paths_of_the_machine(tmp_path):
    with serving(tmp_path / "home", host="0.0.0.0") as open_one, open_one.client() as client:
        bench = rpc(client, "WorkbenchCreate", {"name": "x"}).json()["result"]["workbench_id"]
        named = {"workbench_id": bench, "source_paths": ["/etc/passwd"]}
        calls = [
            rpc(client, "WorkbenchFilesAdd", named).json(),
            rpc(client, "StoreBackup", {"path": str(tmp_path / "b")}).json(),
            rpc(
                client,
                "ContextProcess",
                {
                    "workbench_id": bench,
                    "category": "situation",
                    "input": {"mode": "file", "source_path": "/etc/passwd"},
                },
            ).json(),
            client.post(
                "/rpc",
                json=[{"jsonrpc": "2.0", "id": 2, "method": "WorkbenchFilesAdd", "params": named}],
            ).json(),
        ]
        form = client.post("/do/StoreBackup", data={"path": str(tmp_path / "b")})

    for call in calls:
        assert call["error"]["data"]["error_code"] == "ACCESS_DENIED"
    assert form.status_code == 403
    assert not (tmp_path / "b").exists()


@pytest.mark.rule("T6.4", "S7.2")
def test_wrong_tokens_are_refused_and_guessing_is_slowed_down(tmp_path):
    with serving(tmp_path / "home") as served, served.client(logged_in=False) as client:
        ada = served.shop.call("UserAdd", {"name": "Ada"})
        gone = served.shop.call("UserAdd", {"name": "Gone"})
        served.shop.call("UserRemove", {"user_id": gone["user_id"]})

        def answer(token: str) -> Any:
            return client.post("/login", data={"token": token})

        ben = served.shop.call("UserAdd", {"name": "Ben"})
        assert answer(ada["token"]).status_code == 303
        wrong = [gone["token"], "", "bsu_", "x" * 4000]
        wrong += [f"bsu_{n}" for n in range(PER_ADDRESS - len(wrong))]
        assert {answer(token).status_code for token in wrong} == {403}
        slowed = answer(ben["token"])  # nothing is learnt from trying on
        link = client.get("/login", params={"token": "guess"})
        known = answer(ada["token"])  # who was let in before is not locked out by others

    assert (slowed.status_code, link.status_code, known.status_code) == (429, 429, 303)
    assert 1 <= int(slowed.headers["retry-after"]) <= 60
    assert slowed.json()["error"]["reason"] == "too_many_guesses"


@pytest.mark.rule("S7.2")
def test_a_cookie_ends_after_its_days_whatever_hour_the_other_server_thinks_it_is(tmp_path):
    clock, back, wrong = FixedClock(), FixedClock(), FixedClock()
    back.move(-3_600_000)
    wrong.move(-25 * 3_600_000)
    with Store.open(tmp_path / "home") as store:
        links = Links(store, SECRET, clock)
        login, behind, lost = (Login(SECRET, one, links) for one in (clock, back, wrong))
        cookie = login.cookie_for(UserId("user_1"))

    assert behind.knows(cookie) == "user_1"  # a server whose clock is an hour back
    assert lost.knows(cookie) is None  # or more than a day: made in a future it does not believe
    clock.move((COOKIE_DAYS * 24 + 1) * 3_600_000)
    assert login.knows(cookie) is None


@pytest.mark.rule("S7.2", "T6.1")
def test_a_login_link_works_once_at_any_server_of_the_home_and_for_a_day(tmp_path):
    clock = FixedClock()
    home = tmp_path / "home"
    with serving(home, clock=clock) as first, serving(home, clock=clock) as second:
        link, late, forged = first.login.new_link(), first.login.new_link(), f"0.x.{'0' * 64}"
        with first.client(logged_in=False) as here, second.client(logged_in=False) as there:

            def opened(client: Any, token: str) -> int:
                client.cookies.clear()  # a browser that is not in
                return int(client.get("/login", params={"token": token}).status_code)

            assert [opened(there, link), opened(here, link), opened(there, link)] == [303, 403, 403]
            assert opened(there, forged) == 403
            clock.move(LINK_HOURS * 3_600_000 + 1)
            assert opened(here, late) == 403


def _broken(*_: object, **__: object) -> Any:
    raise RuntimeError("a secret of the program")


DEFECTS = {
    "markdown": ("backshop.web.server.rendered", "POST", "/markdown"),
    "login": ("backshop.web.security.Login.exchange", "GET", "/login?token=x"),
    "static": ("backshop.web.server.version", "GET", "/static/1/clean.js"),
    "events": ("backshop.web.events._position", "GET", "/events"),
    "page": ("backshop.web.events._position", "GET", "/events"),
    "gate": ("backshop.web.site.Site.run", "GET", "/settings"),
}


@pytest.mark.rule("S5.3")
@pytest.mark.parametrize("where", DEFECTS)
def test_a_defect_behind_any_address_is_told_by_reference_alone(
    served, monkeypatch, capfd, caplog, where
):
    name, method, path = DEFECTS[where]
    accept = "text/html" if where == "page" else "application/json"
    with served.client() as client:
        if where == "gate":  # looks up everybody but the owner
            made = served.call("UserAdd", name="Ada of the gate")
            client.post("/login", data={"token": made["token"]})
        monkeypatch.setattr(name, _broken)
        answer = client.request(method, path, json={"text": "x"}, headers={"accept": accept})

    said = capfd.readouterr()
    (record,) = [one for one in caplog.records if one.message.startswith("internal error")]
    reference = record.message.split()[-1]
    assert (answer.status_code, reference in answer.text) == (500, True)
    assert "a secret of the program" not in answer.text
    assert "a secret of the program" in str(record.exc_info)
    assert "Traceback" not in said.out + said.err


@pytest.mark.rule("S7.2", "T6.1")
@pytest.mark.parametrize(
    ("public_url", "host", "scheme", "is_secure"),
    [
        (None, "127.0.0.1:8421", "http", False),
        ("https://shop.example", "127.0.0.1:8421", "http", False),  # on the machine itself
        ("https://shop.example", "shop.example", "http", True),  # through a proxy, trusted or not
        ("https://shop.example", "127.0.0.1:8421", "https", True),
        ("http://shop.example", "shop.example", "http", False),
    ],
)
def test_a_cookie_is_kept_to_tls_where_the_browser_came_by_it(public_url, host, scheme, is_secure):
    door = Door(host="127.0.0.1", port=8421, public_url=public_url)

    assert door.is_secure_at(host, scheme) is is_secure
