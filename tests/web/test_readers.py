"""Who may only read or write is offered what they may do, on every page (U5.53)."""

from __future__ import annotations

import json
import re
from contextlib import closing

import httpx2
import pytest
from tests.rails.agent import Agent
from tests.rails.workflows import flow, step
from tests.web.browsing import PLAIN
from tests.web.drafts import Drafting

from backshop.app import Role

COMMAND = re.compile(r'data-command="(\w+)"')
PLACES = (
    *("?stay=1", "/review?file=a.txt&choose=1", "/checkpoints", "/context", "/again"),
    *("/sharing", "/settings", "/file/a.txt", "/file/a.txt?view=published"),
)
ACTS = (  # what acts by script, or by an address of its own
    *(
        "#composer",
        "#note",
        "#stop",
        "#add-files",
        "#ask-changes-box",
        "[data-rewind]",
        "[data-regenerate]",
    ),
    *("[data-opens=ask-publish]", "[data-opens=ask-discard]", "[data-opens=ask-remove]"),
    *("form[action*='/context/']", "form[action$='/turn']", "form[action$='/files']"),
)


AS_IN_A_TURN = """() => document.querySelectorAll("#turn-line, #note").forEach(
    (one) => { one.hidden = false; })"""


@pytest.fixture(scope="module")
def bench(served):
    made = served.bench("Looked at", {"a.txt": "one\n", "b.txt": "b\n"})
    served.call("CheckpointCreate", workbench_id=made, description="kept")
    served.call("WorkshopSendUserMessage", workbench_id=made, text="Hello")
    drafting = Drafting(served, made)
    drafting.use("write_text_file", path="a.txt", content="two\n")
    drafting.call("DraftDeletePath", path="b.txt")
    drafting.call("ReviewAddComment", path="a.txt", text="why?")
    return made


def cookies_of(served, bench, role):
    made = served.call("UserAdd", name=f"Person {len(served.call('UserList')['users'])}")
    served.call("AccessSet", workbench_id=bench, user_id=made["user_id"], role=role)
    with httpx2.Client(base_url=served.address, timeout=60, verify=PLAIN) as entering:
        return dict(entering.post("/login", data={"token": made["token"]}).cookies)


@pytest.mark.rule("U5.53", "T6.6")
@pytest.mark.parametrize("role", ["read", "write"])
def test_no_page_has_a_form_that_would_be_refused(served, bench, role):
    has = Role(role)
    cookies = cookies_of(served, bench, role)
    with httpx2.Client(
        base_url=served.address, cookies=cookies, timeout=60, verify=PLAIN
    ) as client:
        pages = {place: client.get(f"/bench/{bench}{place}") for place in PLACES}
        pages |= {path: client.get(path) for path in ("/", "/settings", "/settings/models")}
    offered = {place: set(COMMAND.findall(one.text)) for place, one in pages.items()}
    found = {
        (place, name)
        for place, names in offered.items()
        for name in names - {"WorkbenchFork", "WorkbenchRename"}
        if (needed := served.shop.commands.find(name).command.role) == "owner"
        or not has.includes(Role(needed))
    }

    assert {one.status_code for one in pages.values()} == {200}
    assert found == set()
    assert bool(offered["/context"]) == (role == "write")


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.53")
def test_who_may_only_read_sees_no_way_to_act_and_is_told_so(served, bench, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    cookies = cookies_of(served, bench, "read").items()
    context.add_cookies([{"name": n, "value": v, "url": served.address} for n, v in cookies])
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    seen = {}
    for place in PLACES:
        page.goto(f"{served.address}/bench/{bench}{place}")
        page.wait_for_load_state("load")
        if "/review" in place:
            page.wait_for_selector("body[data-ready=yes]")
        page.evaluate(AS_IN_A_TURN)
        shown = [one for one in ACTS if page.locator(f"{one}:visible").count()]
        is_told = page.get_by_text("You may look at everything here").count() == 1
        page.keyboard.press("Alt+Shift+P")
        seen[place] = (shown, is_told, page.locator("dialog[open]").count())
    context.close()

    assert seen == dict.fromkeys(PLACES, ([], True, 0))
    assert problems == []


@pytest.mark.rule("U5.53")
def test_what_stands_in_the_composers_place_promises_only_what_a_role_allows(served, bench):
    said = {}
    for role in ("read", "write", "publish"):
        with httpx2.Client(
            base_url=served.address,
            cookies=cookies_of(served, bench, role),
            timeout=60,
            verify=PLAIN,
        ) as client:
            page = client.get(f"/bench/{bench}?stay=1").text
        place = re.search(r'<section id="draft-actions".*?</p>', page, re.DOTALL)
        assert place
        said[role] = re.sub(r"<svg.*?</svg>", "", place[0])

    assert "publish" in said["publish"]
    assert "or publish" not in said["write"]
    assert "ask for changes" in said["write"]
    assert not re.search("ask for changes|publish|discard|blocked|you write", said["read"])


SIGN = flow(
    step("draft"),
    step("sign", requireConfirmation={"kind": "human_approval"}),
    step("end"),
    name="user.sign",
)
WORK = ("/input", "/preferences", "/fork")


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.53", "U1.3")
@pytest.mark.parametrize("was", ["write", "publish"])
def test_a_page_offers_no_longer_what_was_taken_while_it_was_open(served, browser, was):
    bench = served.bench("Lowered", {"a.txt": "one\n"})
    made = served.call("UserAdd", name=f"Lowered from {was}")
    served.call("AccessSet", workbench_id=bench, user_id=made["user_id"], role=was)
    with closing(browser.new_context()) as context:
        page = context.new_page()
        page.goto(f"{served.address}/login")
        page.locator("input[name=token]").fill(made["token"])
        page.keyboard.press("Enter")
        page.wait_for_url(f"{served.address}/")
        page.goto(f"{served.address}/bench/{bench}?stay=1")
        page.locator("html[data-live=yes]").wait_for()
        before = page.locator("#composer").is_visible()
        served.call("AccessSet", workbench_id=bench, user_id=made["user_id"], role="read")
        page.get_by_text("You may look at everything here").wait_for()
        after = page.locator("#composer").is_visible()

    assert (before, after) == (True, False)


@pytest.mark.rule("U5.53", "T6.6")
@pytest.mark.parametrize("role", ["read", "write", "publish"])
def test_studio_offers_of_a_session_what_a_role_allows_and_refuses_the_rest(served, role):
    folder = served.shop.config.home / "workflows"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sign.json").write_text(json.dumps(SIGN), encoding="utf-8")
    ann = Agent(served.shop.rails)
    begun = ann.start("user.sign", goal=f"Looked at by {role}", preferences={"autonomy": "guided"})
    ann.go(ann.go(begun, "Drafted."), "Ready.")
    session, run = begun["session"]["sessionId"], begun["session"]["runId"]
    tip = served.call("RailsRunGet", runId=run)["preferredTip"]
    made = served.call("UserAdd", name=f"Studio {role}")
    served.call("AccessSet", session_id=session, user_id=made["user_id"], role=role)
    places = ("", f"/session/{session}", f"/run/{run}", f"/node/{tip}", f"/node/{tip}/fork")
    with httpx2.Client(base_url=served.address, timeout=60, verify=PLAIN) as client:
        client.post("/login", data={"token": made["token"]})
        client.headers["accept"] = "text/html"
        pages = {place: client.get(f"/studio{place}") for place in places}
        keeping = {"sessionId": session, "keep:boolean": "true"}
        refused = [
            client.post(f"/studio/node/{tip}/input", data=ANSWER).status_code,
            client.post(f"/studio/run/{run}/preferences", data={"preset": "guided"}).status_code,
            client.post(f"/studio/node/{tip}/fork").status_code,
            client.post("/do/RailsSessionSetKeep", data=keeping).status_code,
        ]
    offered = {name for one in pages.values() for name in COMMAND.findall(one.text)}
    text = "".join(one.text for one in pages.values())
    forms = {end for end in WORK if re.search(rf'action="/studio/[^"]+{end}"', text)}

    assert {one.status_code for one in pages.values()} == {200}
    assert offered & KEEPING == (KEEPING if role == "publish" else set())
    assert forms == (set() if role == "read" else set(WORK))
    assert ("You may look at everything here" in text) == (role == "read")
    assert "/workflows/pinned/" not in text  # for the home's owner
    assert (
        refused
        == {
            "read": [403] * 4,
            "write": [303, 303, 303, 403],
            "publish": [303] * 4,
        }[role]
    )


ANSWER = {"inputId": "approval", "decision": "approved"}
KEEPING = {"RailsSessionSetKeep", "RailsSessionDelete"}
