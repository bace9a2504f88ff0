"""Invitations: a link lets one person in, once (T6.7)."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
from tests.web.accessible import violations
from tests.web.browsing import serving

from backshop.app import INVITE_DAYS
from backshop.base.errors import AccessDenied
from backshop.testing.ambient import FixedClock

DAY_MS = 86_400_000


def joined(server, token):
    """Open a link and press its button, in a browser nobody knows; return both answers."""
    with closing(server.client(logged_in=False)) as client:
        looked = client.get("/join", params={"token": token})
        taken = client.post("/join", data={"token": token})
        inside = client.get("/settings", headers={"accept": "text/html"})
    return looked, taken, inside


@pytest.mark.needs("browser")
@pytest.mark.rule("T6.7", "U5.51", "S7.7")
def test_the_owner_makes_a_link_and_whoever_opens_it_is_in_with_the_role_that_was_chosen(
    served, new_page, browser
):
    bench = served.bench("For Ida", {"a.txt": "a"})
    page = new_page("/settings/people")
    page.get_by_label("Name of the person").fill("Ida <b>")
    page.get_by_label("Workbench").select_option("For Ida")
    page.get_by_label("Role there").select_option("write")
    page.get_by_role("button", name="Make an invitation").click()
    link = page.locator("#login-link").inner_text()
    told = page.locator(".shown-once").inner_text()
    box, height = page.locator(".shown-once").bounding_box(), page.viewport_size["height"]
    found = violations(page)
    page.goto(f"{served.address}/settings/people")
    waiting = page.get_by_role("region", name="Invitations that wait").inner_text()
    hidden = link.partition("token=")[2] not in page.content()
    theirs = browser.new_context()
    guest = theirs.new_page()
    guest.goto(link)
    guest.get_by_role("button", name="Come in").click()
    token = guest.locator("#person-token").inner_text()
    found += violations(guest)
    guest.get_by_role("link", name="Go to the workbenches").click()
    guest.get_by_role("link", name="For Ida").click()
    guest.get_by_text("You may work here; publishing is for others.").wait_for()
    ends = guest.locator("#composer").evaluate("one => one.getBoundingClientRect().bottom")
    inside = ends <= guest.viewport_size["height"]
    page.locator("#people td.wrap", has_text="Ida <b>").wait_for()  # the page of the owner follows
    theirs.close()
    grants = served.call("AccessList", workbench_id=bench)["access"]

    assert link.startswith(f"{served.address}/join?token=")
    assert "works on this machine only" in told
    assert inside
    assert box["y"] + box["height"] < height / 2
    assert "Ida <b>" in waiting
    assert "write" in waiting
    assert (hidden, found) == (True, [])
    assert [(one["name"], one["role"]) for one in grants] == [("Ida <b>", "write")]
    assert served.shop.people.who(token) is not None


@pytest.mark.rule("T6.7")
def test_a_link_works_once_and_looking_at_it_does_not_use_it(served):
    made = served.call("UserInvite", name="Once")
    looked, taken, inside = joined(served, made["token"])
    again = joined(served, made["token"])

    assert "Once" in looked.text
    assert (looked.status_code, taken.status_code, inside.status_code) == (200, 200, 200)
    assert [one.status_code for one in again[:2]] == [403, 403]
    assert "set-cookie" not in again[1].headers
    assert served.call("UserInviteList")["invites"] == []


@pytest.mark.rule("T6.7")
def test_a_link_that_was_withdrawn_or_has_expired_lets_nobody_in(tmp_path):
    clock = FixedClock()
    with serving(tmp_path / "home", clock=clock) as server:
        gone, old = (server.call("UserInvite", name=name) for name in ("Gone", "Old"))
        server.call("UserInviteWithdraw", invite_id=gone["invite_id"])
        withdrawn = joined(server, gone["token"])
        clock.move(INVITE_DAYS * DAY_MS)
        expired = joined(server, old["token"])
        waiting, people = server.call("UserInviteList"), server.call("UserList")

    assert [one.status_code for one in (*withdrawn[:2], *expired[:2])] == [403] * 4
    assert (waiting["invites"], people["users"]) == ([], [])


@pytest.mark.rule("T6.7")
def test_only_the_owner_invites_and_no_agent_has_a_tool_for_it(served):
    user = served.call("UserAdd", name="No owner")["user_id"]
    with pytest.raises(AccessDenied):
        served.shop.call("UserInvite", {"name": "Friend"}, user=user)
    with closing(served.client()) as client:
        log = client.get("/settings/people").text

    tools = {
        bound.command.name for bound in served.shop.commands if bound.command.name[0].islower()
    }
    assert [one for one in tools if re.search("invite|user|people", one)] == []
    assert "Friend" not in log
