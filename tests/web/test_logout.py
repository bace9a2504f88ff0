"""Logging out: the cookie is worth nothing afterwards, here, in every browser, at every server."""

from __future__ import annotations

import hmac
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.web.browsing import SECRET, serving

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.cli import main


def is_in(client: Any) -> bool:
    """Say whether a browser with its cookie gets a page."""
    return bool(client.get("/settings", headers={"accept": "text/html"}).status_code == 200)


@pytest.mark.rule("S7.6")
def test_a_browser_that_logged_out_is_out_and_a_kept_cookie_does_not_help(served):
    with served.client() as here, served.client() as there:
        kept = here.cookies[served.door.cookie]
        assert is_in(here)
        assert "Log out" in here.get("/").text

        done = here.post("/logout")

        assert (done.status_code, done.headers["location"]) == (303, "/login?left=1")
        assert f'{served.door.cookie}=""' in done.headers["set-cookie"]
        assert not is_in(here)
        stolen = {"cookie": f"{served.door.cookie}={kept}"}
        with served.client(logged_in=False) as other:
            assert other.get("/settings", headers=stolen).status_code == 401
            assert other.post("/rpc", content="{}", headers=stolen).status_code == 401
        assert is_in(there)  # another browser of the same person stays in


@pytest.mark.rule("S7.6", "T6.1")
def test_logging_out_everywhere_ends_every_login_at_every_server_and_lets_in_again(tmp_path: Path):
    home = tmp_path / "home"
    with (
        serving(home) as first,
        serving(home) as second,
        first.client() as here,
        second.client() as there,
    ):
        here.post("/logout", data={"everywhere": "1"})

        assert (is_in(here), is_in(there)) == (False, False)
        here.get("/login", params={"token": first.login.new_link()})
        assert is_in(here)


@pytest.mark.rule("S7.6", "T6.4")
def test_a_person_logged_out_by_command_is_out_and_others_stay(tmp_path: Path, capsys):
    home = tmp_path / "home"
    with serving(home) as served, served.client(logged_in=False) as ada, served.client() as owner:
        token = served.call("UserAdd", name="Ada")["token"]
        ada.post("/login", data={"token": token})
        assert is_in(ada)

        assert main(["user", "logout", "Ada", "--home", str(home)]) == 0

        assert (is_in(ada), is_in(owner)) == (False, True)
        ada.post("/login", data={"token": token})
        assert is_in(ada)
        assert main(["user", "logout", "--home", str(home)]) == 0
        assert (is_in(ada), is_in(owner)) == (True, False)
    capsys.readouterr()


@pytest.mark.rule("S7.6")
def test_a_cookie_from_before_there_was_a_logout_is_good_until_somebody_logs_out(tmp_path: Path):
    with serving(tmp_path / "home") as served, served.client(logged_in=False) as client:
        head = f"{served.shop.clock.now_ms()}..{'n' * 16}"  # as 0.1.0 wrote the owner's
        signed = hmac.new(SECRET.encode(), head.encode(), sha256).hexdigest()
        client.cookies[served.door.cookie] = f"{head}.{signed}"

        before = is_in(client)
        served.call("UserLogout")

        assert (before, is_in(client)) == (True, False)


@pytest.mark.rule("S7.6", "S5.2")
def test_a_stream_of_events_ends_when_its_browser_logs_out(served):
    with served.client() as client, served.client() as same:
        same.cookies = client.cookies
        with client.stream("GET", "/events") as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("retry")
            same.post("/logout")
            served.bench("After the logout")

            rest = []
            for line in lines:  # to the end of the stream, unless something is still told
                rest.append(line)
                if line.startswith("data:"):
                    break

    assert not any("WorkbenchListChanged" in line or line.startswith("data:") for line in rest)


@pytest.mark.rule("S7.6")
def test_a_foreign_page_cannot_log_anybody_out(served):
    with served.client() as client:
        refused = client.post("/logout", headers={"origin": "https://evil.example"})

        assert refused.status_code == 403
        assert is_in(client)


@pytest.mark.rule("S7.6")
def test_a_person_nobody_knows_cannot_be_logged_out(tmp_path: Path):
    with Backshop.open(tmp_path) as shop, pytest.raises(BackshopError) as refused:
        shop.call("UserLogout", {"user_id": "user_" + "0" * 26})

    assert refused.value.code == "NOT_FOUND"


@pytest.mark.rule("U9.6", "S4.11")
def test_the_page_to_log_in_names_the_command_that_prints_a_new_link(served):
    with served.client(logged_in=False) as client:
        page = client.get("/login?token=used").text

    assert "<code>backshop serve --link</code>" in page
