"""People who share a home: a personal token opens the pages, and only what is theirs (T6.4)."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack, closing
from typing import Any

import httpx2
import pytest
from tests.web.accessible import violations
from tests.web.browsing import PLAIN, serving

from backshop.app.operation.upload import PARCELS_MAX
from backshop.testing.ambient import FixedClock


@pytest.fixture
def anna(served):
    made = served.call("UserAdd", name=f"Anna {len(served.call('UserList')['users'])}")
    with httpx2.Client(base_url=served.address, timeout=60, verify=PLAIN) as entering:
        answer = entering.post("/login", data={"token": made["token"]})
        cookies = dict(answer.cookies)
    assert answer.status_code == 303
    with httpx2.Client(
        base_url=served.address, cookies=cookies, timeout=60, verify=PLAIN
    ) as client:
        yield client, made["user_id"]


def rpc(client, method, /, **params):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"content-type": "application/json"}
    return client.post("/rpc", content=json.dumps(body), headers=headers).json()


@pytest.mark.rule("T6.4")
def test_a_person_sees_their_own_benches_and_nothing_else(served, anna):
    client, _ = anna
    secret = served.bench("The owner's", {"a.txt": "secret"})
    mine = rpc(client, "WorkbenchCreate", name="Anna's")["result"]["workbench_id"]
    refused = [
        client.get(f"/bench/{secret}"),
        client.get(f"/bench/{secret}/files/a.txt"),
        client.get(f"/bench/{secret}/files.zip"),
        client.get(f"/bench/{secret}/preview/published/0/1.0/a.txt"),
        client.post(f"/bench/{secret}/files", files={"files": ("b.txt", b"b")}),
        client.post("/do/WorkbenchDelete", data={"workbench_id": secret, "confirm": secret}),
        client.get("/settings/disk"),
        client.post("/settings/link"),
    ]
    page = client.get("/", headers={"accept": "text/html"})
    upload = client.post(f"/bench/{mine}/files", files={"files": ("b.txt", b"b")})

    assert [one.status_code for one in refused] == [403] * len(refused)
    assert b"secret" not in b"".join(one.content for one in refused)
    assert "Anna&#39;s" in page.text
    assert "The owner&#39;s" not in page.text
    assert upload.status_code == 200
    assert client.get(f"/bench/{mine}").status_code == 200
    assert client.get("/settings").status_code == 200


@pytest.mark.rule("T6.4", "S7.5")
def test_files_are_added_by_who_may_publish_and_an_upload_ends_with_who_began_it(served, anna):
    client, user_id = anna
    bench = served.bench("Shared", {"a.txt": "a"})
    begun = {"step": "more", "upload": "one of hers"}

    def send(who, name, words):
        return who.post(f"/bench/{bench}/files", files={"files": (name, b"b")}, data=words)

    served.call("AccessSet", workbench_id=bench, user_id=user_id, role="write")
    as_writer = send(client, "b.txt", {})
    served.call("AccessSet", workbench_id=bench, user_id=user_id, role="publish")
    piece = send(client, "c.txt", begun)
    with served.client() as owner:
        ended = send(owner, "d.txt", {"upload": begun["upload"]})
    paths = served.paths(bench)
    added = send(client, "e.txt", {"upload": begun["upload"]})

    assert (as_writer.status_code, piece.status_code, ended.status_code) == (403, 200, 403)
    assert paths == {"a.txt"}
    assert added.status_code == 200
    assert served.paths(bench) == {"a.txt", "c.txt", "e.txt"}


@pytest.mark.rule("T6.4")
def test_a_person_hears_only_of_what_they_may_read(served, anna):
    client, user_id = anna
    hidden, shared = served.bench("Hidden"), served.bench("Shared")
    served.call("AccessSet", workbench_id=shared, user_id=user_id, role="read")
    start = served.shop.hub.position
    for bench in (hidden, shared):
        served.call("WorkbenchRename", workbench_id=bench, new_name="Other")
    with client.stream("GET", f"/events?after={start}") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                first = json.loads(line[6:])
                break
    with client.stream("GET", f"/events?after={start}&workbench_id={hidden}") as stream:
        refused = stream.status_code

    assert first["workbench_id"] == shared
    assert refused == 403


@pytest.mark.rule("T6.4", "U9.6")
def test_a_removed_person_is_out_at_once_and_a_wrong_token_never_in(served, anna):
    client, user_id = anna
    served.call("UserRemove", user_id=user_id)
    with httpx2.Client(base_url=served.address, timeout=60, verify=PLAIN) as stranger:
        wrong = stranger.post("/login", data={"token": "bsu_nonsense"})

    assert wrong.status_code == 403
    assert "set-cookie" not in wrong.headers
    assert [client.post("/rpc").status_code, client.get("/settings").status_code] == [401, 401]
    assert client.get("/", headers={"accept": "text/html"}).headers["location"] == "/login?ended=1"
    assert "Your login here has ended" in client.get("/login?ended=1").text
    assert "has ended" not in client.get("/login").text


def following(stack, client, start, bench="", about="workbench_id"):
    """Return the events of a stream, by name and bench; it ends when the server ends it."""
    wish = f"/events?after={start}" + (f"&{about}={bench}" if bench else "")
    lines = stack.enter_context(client.stream("GET", wish)).iter_lines()
    names = (line[7:] for line in lines if line.startswith("event: "))
    return ((name, json.loads(next(lines)[6:]).get(about)) for name in names)


@pytest.mark.rule("T6.4", "S5.2")
def test_streams_that_were_open_when_access_is_taken_bring_nothing_more_of_it(served, anna):
    client, user_id = anna
    bench, other = served.bench("Taken"), served.bench("Kept")
    for one in (bench, other):
        served.call("AccessSet", workbench_id=one, user_id=user_id, role="read")
    start = served.shop.hub.position
    with ExitStack() as stack:
        of_bench = following(stack, client, start, bench)
        of_all = following(stack, client, start)
        served.call("WorkbenchRename", workbench_id=bench, new_name="Before")
        before = [next(of_bench), next(of_all)]
        served.call("AccessSet", workbench_id=bench, user_id=user_id, role="none")
        served.call("WorkbenchRename", workbench_id=bench, new_name="After")
        served.shop.hub.signals.send("UsageUpdated", {"n": 1}, workbench_id=bench)
        served.call("WorkbenchRename", workbench_id=other, new_name="Still heard")
        last_of_bench = list(of_bench)  # the server ends it
        rest_of_all = [next(of_all), next(of_all)]
        again = client.get(f"/events?workbench_id={bench}&after={start}")

    assert before == [("WorkbenchChanged", bench)] * 2
    assert last_of_bench == [("AccessChanged", bench)]
    assert rest_of_all == [("AccessChanged", bench), ("WorkbenchChanged", other)]
    assert again.status_code == 403


@pytest.mark.rule("T6.4", "S5.2")
def test_streams_of_a_session_bring_nothing_more_of_it_when_access_is_taken(served, anna):
    client, user_id = anna
    taken, kept = (begun(served, user_id, goal)["sessionId"] for goal in ("Taken", "Kept"))
    start = served.shop.hub.position
    with ExitStack() as stack:
        of_session = following(stack, client, start, taken, about="session_id")
        everything = stack.enter_context(client.stream("GET", f"/events?after={start}"))
        of_all = (json.loads(line[6:]) for line in everything.iter_lines() if line[:4] == "data")
        served.call("RailsSessionSetKeep", sessionId=taken, keep=True)
        before = [next(of_session)[1], next(of_all)["session_id"]]
        served.call("AccessSet", session_id=taken, user_id=user_id, role="none")
        served.call("RailsSessionSetKeep", sessionId=taken, keep=False)
        served.shop.hub.signals.send("UsageUpdated", {"n": 1}, session_id=taken)
        served.call("RailsSessionSetKeep", sessionId=kept, keep=True)
        last_of_session = list(of_session)  # the server ends it
        rest_of_all = [next(of_all), next(of_all)]
        again = client.get(f"/events?session_id={taken}&after={start}")

    assert before == [taken] * 2
    assert last_of_session == [("AccessChanged", taken)]
    assert [one["session_id"] for one in rest_of_all] == [taken, kept]
    assert (rest_of_all[0]["user_id"], rest_of_all[0]["role"]) == (user_id, "none")
    assert again.status_code == 403


def begun(served, user_id, goal):
    """Begin a session of the owner's that somebody else may read."""
    made = served.call("start_workflow", workflowId="wr.change_review", goal=goal)["session"]
    grant = {"session_id": made["sessionId"], "user_id": user_id, "role": "read"}
    served.call("AccessSet", **grant)
    return made


@pytest.mark.rule("T6.4")
def test_pages_of_a_session_are_refused_when_access_is_taken(served, anna):
    client, user_id = anna
    made = begun(served, user_id, "Salaries")
    session, run = made["sessionId"], made["runId"]
    node = served.call("RailsRunGet", runId=run)["nodes"][0]["nodeId"]
    places = [
        *(f"/studio/session/{session}{part}" for part in ("", "/read", "/export/bundle")),
        *(f"/studio/run/{run}{part}" for part in ("", "/graph")),
        *(f"/studio/node/{node}{part}" for part in ("", "/fork")),
    ]
    before = [client.get(place).status_code for place in places]
    had = client.get("/studio/list").text
    served.call("AccessSet", session_id=session, user_id=user_id, role="none")
    after = [client.get(place) for place in places]

    assert max(before[:-1]) < 400, before
    assert [one.status_code for one in after] == [403] * len(places)
    assert "Salaries" not in "".join(one.text for one in after)
    assert "Salaries" in had
    assert "Salaries" not in client.get("/studio/list").text


@pytest.mark.rule("T6.4", "S5.2")
def test_the_streams_of_somebody_who_is_removed_end_and_are_refused(served, anna):
    client, user_id = anna
    session = begun(served, user_id, "Theirs")["sessionId"]
    position = served.shop.hub.position
    with ExitStack() as stack:
        stream = following(stack, client, position)
        of_session = following(stack, client, position, session, about="session_id")
        served.call("UserRemove", user_id=user_id)
        served.call("UserAdd", name=f"After {user_id}")

        assert list(stream) == [("PeopleChanged", None)]
        assert list(of_session) in ([], [("PeopleChanged", None)])

    again = [client.get(f"/events{about}") for about in ("", f"?session_id={session}")]
    assert [one.status_code for one in again] == [401, 401]


@pytest.mark.rule("U5.4", "U1.6", "T6.7")
def test_a_name_that_cannot_be_used_is_said_beside_it_and_what_was_typed_stays(served):
    bench = served.bench("For Cleo")
    served.call("UserAdd", name="Cleo <b>")
    wish = {"name": "Cleo <b>", "workbench_id": bench, "role": "write"}
    with closing(served.client()) as client:
        client.headers.update({"accept": "text/html", "origin": served.address})
        added = client.post("/settings/people", data={"name": "Cleo <b>"})
        invited = client.post("/settings/invitations", data=wish)

    for answer in (added, invited):
        assert answer.status_code == 422
        assert "is here already" in answer.text
        assert answer.text.count('value="Cleo &lt;b&gt;" autofocus') == 1
        assert "shown now and never again" not in answer.text
    assert f'<option value="{bench}" selected>For Cleo' in invited.text
    assert '<option value="write" selected>' in invited.text


@pytest.mark.needs("browser")
@pytest.mark.rule("T6.4", "U1.3")
@pytest.mark.parametrize("place", ["session", "run"])
def test_a_page_of_studio_leaves_when_access_is_taken(served, browser, anna, place):
    client, user_id = anna
    made = begun(served, user_id, f"Confidential {place}")
    with closing(browser.new_context()) as theirs:
        theirs.add_cookies(
            [{"name": n, "value": v, "url": served.address} for n, v in client.cookies.items()]
        )
        page, listed = theirs.new_page(), theirs.new_page()
        for one, address in ((page, f"/{place}/{made[f'{place}Id']}"), (listed, "")):
            one.goto(f"{served.address}/studio{address}")
            one.locator("html[data-live=yes]").wait_for()
        had = page.content()
        served.call("AccessSet", session_id=made["sessionId"], user_id=user_id, role="none")
        page.get_by_role("link", name="Back", exact=True).wait_for()
        left = page.content()
        listed.get_by_text(f"Confidential {place}").first.wait_for(state="detached")

    assert "Confidential" in had
    assert "No access" in left
    assert "Confidential" not in left


@pytest.mark.needs("browser")
@pytest.mark.rule("T6.4", "U1.3")
@pytest.mark.parametrize("place", ["", "/checkpoints"])
def test_a_page_leaves_when_access_is_taken_and_the_list_forgets_the_bench(
    served, browser, anna, place
):
    client, user_id = anna
    bench = served.bench("Confidential", {"salaries.txt": "much"})
    served.call("AccessSet", workbench_id=bench, user_id=user_id, role="read")
    with closing(browser.new_context()) as theirs:
        theirs.add_cookies(
            [{"name": n, "value": v, "url": served.address} for n, v in client.cookies.items()]
        )
        page, cards = theirs.new_page(), theirs.new_page()
        for one, address in ((page, f"/bench/{bench}{place}"), (cards, "/")):
            one.goto(f"{served.address}{address}")
            one.locator("html[data-live=yes]").wait_for()
        had = page.get_by_role("link", name="Confidential").count()
        served.call("AccessSet", workbench_id=bench, user_id=user_id, role="none")
        page.get_by_role("link", name="Back", exact=True).wait_for()
        left = page.content()
        cards.get_by_role("link", name="Confidential").wait_for(state="detached")

    assert had == 1
    assert "No access" in left
    assert "Confidential" not in left
    assert "salaries" not in left


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.4", "U5.51", "T6.4")
def test_the_owner_adds_a_person_on_the_page_and_sees_the_token_once(served, new_page, browser):
    page = new_page("/settings/people")
    page.get_by_text("Add somebody with a token").click()
    page.get_by_label("Name", exact=True).fill("Berta <b>")
    page.get_by_role("button", name="Add a person").click()
    token = page.locator("#person-token").inner_text()
    shown = page.locator(".shown-once").inner_text()
    accessible = violations(page)
    box, height = page.locator(".shown-once").bounding_box(), page.viewport_size["height"]
    is_on_copy = page.evaluate("document.activeElement.textContent.trim()")
    page.goto(f"{served.address}/settings/people")
    again = page.content()
    with httpx2.Client(base_url=served.address, timeout=60, verify=PLAIN) as entering:
        entered = entering.post("/login", data={"token": token})
        refused = entering.post("/settings/people", data={"name": "C"})

    assert "Berta <b> gets in" in shown
    assert box["y"] + box["height"] < height / 2
    assert is_on_copy == "Copy"
    assert token not in again
    assert "Berta &lt;b&gt;" in again
    assert (entered.status_code, refused.status_code, accessible) == (303, 403, [])


def _roles(served, bench):
    found = served.call("AccessList", workbench_id=bench)["access"]
    return {one["user_id"]: one["role"] for one in found}


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.4", "T6.4", "U1.3")
def test_a_bench_is_shared_on_its_page_and_others_see_it_at_once(served, new_page, browser):
    bench = served.bench("Ours")
    made = {name: served.call("UserAdd", name=name) for name in ("Carl", "Dora <i>")}
    carl, dora = made["Carl"]["user_id"], made["Dora <i>"]["user_id"]
    theirs = browser.new_context()
    with httpx2.Client(base_url=served.address, timeout=60, verify=PLAIN) as entering:
        cookies = entering.post("/login", data={"token": made["Carl"]["token"]}).cookies
    theirs.add_cookies([{"name": n, "value": v, "url": served.address} for n, v in cookies.items()])
    list_of_carl = theirs.new_page()
    list_of_carl.goto(served.address)
    list_of_carl.locator("html[data-live=yes]").wait_for()
    before = list_of_carl.locator("[data-bench-card]").count()
    page = new_page(f"/bench/{bench}/sharing")
    nobody = page.locator(".empty").inner_text()

    page.get_by_label("Person").select_option("Carl")
    page.get_by_label("Role").select_option("write")
    page.get_by_role("button", name="Share", exact=True).click()
    row = page.locator(f"[data-person={carl}]")
    row.wait_for()
    list_of_carl.get_by_role("link", name="Ours").wait_for()  # without being loaded again
    given = _roles(served, bench)
    accessible = violations(page)
    served.call("AccessSet", workbench_id=bench, user_id=dora, role="read")  # as a terminal does
    page.locator(f"[data-person={dora}]").wait_for()
    row.get_by_label("What Carl may do").select_option("none")
    row.get_by_role("button", name="Save").click()
    row.wait_for(state="detached")
    theirs.close()

    assert "Shared with nobody" in nobody
    assert (before, given, accessible) == (0, {carl: "write"}, [])
    assert _roles(served, bench) == {dora: "read"}


@pytest.mark.needs("browser")
@pytest.mark.rule("U1.3")
def test_a_role_that_is_being_chosen_stays_while_others_change_the_page(served, new_page):
    bench = served.bench("Chosen on")
    one, other = (served.call("UserAdd", name=name)["user_id"] for name in ("Gus", "Hal"))
    served.call("AccessSet", workbench_id=bench, user_id=one, role="write")
    page = new_page(f"/bench/{bench}/sharing")
    page.locator("html[data-live=yes]").wait_for()
    role = page.get_by_label("What Gus may do")
    role.select_option("read")  # the first of the list
    served.call("AccessSet", workbench_id=bench, user_id=other, role="read")
    page.locator("#outdated").wait_for()

    assert role.input_value() == "read"


@pytest.mark.rule("U5.4", "T6.4", "U1.4")
def test_who_may_share_does_so_by_plain_forms_and_others_only_look(served, anna):
    client, anna_id = anna
    bench = served.bench("Shared by hand")
    other = served.call("UserAdd", name=f"Emil {bench}")["user_id"]
    served.call("AccessSet", workbench_id=bench, user_id=other, role="read")
    served.call("AccessSet", workbench_id=bench, user_id=anna_id, role="write")
    form = {"workbench_id": bench, "user_id": other, "role": "publish", "next": "/"}
    address = f"/bench/{bench}/sharing"
    html = {"accept": "text/html"}

    looking, refused = client.get(address, headers=html), client.post("/do/AccessSet", data=form)
    served.call("AccessSet", workbench_id=bench, user_id=anna_id, role="publish")
    sharing, done = client.get(address, headers=html), client.post("/do/AccessSet", data=form)
    wrong = [client.post("/do/AccessSet", data={**form, **bad}) for bad in WRONG]

    assert (looking.status_code, looking.text.count('<select name="role"')) == (200, 0)
    assert sharing.text.count('<select name="role"') == 1  # the other's role, never one's own
    assert "Share with somebody else" not in sharing.text  # who else there is, the owner knows
    assert (refused.status_code, done.status_code) == (403, 303)
    assert [one.status_code for one in wrong] == [422, 422, 404]
    assert _roles(served, bench) == {other: "publish", anna_id: "publish"}


@pytest.mark.rule("U5.53", "U3.11")
def test_who_may_only_read_is_told_to_do_nothing_that_would_be_refused(served, anna):
    client, anna_id = anna
    bench = served.bench("Read by hand")
    served.call("AccessSet", workbench_id=bench, user_id=anna_id, role="read")

    again, review = (client.get(f"/bench/{bench}/{page}").text for page in ("again", "review"))

    assert "No saved workflow asks for files yet" in again
    assert "Save a turn above" not in again
    assert "until you publish" not in review


@pytest.mark.rule("U5.4", "T6.4")
def test_the_page_shows_who_made_a_bench_also_without_a_role(served, anna):
    client, anna_id = anna
    bench = rpc(client, "WorkbenchCreate", name="Left")["result"]["workbench_id"]
    made = served.call("UserAdd", name=f"Reader {bench}")
    served.call("AccessSet", workbench_id=bench, user_id=made["user_id"], role="read")
    rpc(client, "AccessSet", workbench_id=bench, user_id=anna_id, role="none")
    with httpx2.Client(base_url=served.address, timeout=60, verify=PLAIN) as reading:
        reading.post("/login", data={"token": made["token"]})
        page = reading.get(f"/bench/{bench}/sharing", headers={"accept": "text/html"})

    assert page.status_code == 200
    row = page.text.partition(f'data-person="{anna_id}"')[2].partition("</tr>")[0]
    assert "made it" in row
    assert "no access" in row


WRONG = ({"role": "king"}, {"user_id": "somebody"}, {"user_id": f"user_{'0' * 26}"})


@pytest.mark.rule("T6.5")
def test_an_upload_of_more_than_its_owner_may_store_is_refused_piece_by_piece(tmp_path):
    settings = {"team.stored_bytes": 20}
    with serving(tmp_path / "home", settings=settings) as server:
        made = server.call("UserAdd", name="Ada")
        with httpx2.Client(base_url=server.address, timeout=60, verify=PLAIN) as client:
            client.post("/login", data={"token": made["token"]})
            bench = rpc(client, "WorkbenchCreate", name="Hers")["result"]["workbench_id"]

            def send(name: str, step: str = "", upload: str = "") -> Any:
                files, words = {"files": (name, b"ten bytes!")}, {"step": step, "upload": upload}
                return client.post(f"/bench/{bench}/files", files=files, data=words).json()

            first = send("a.txt")
            piece = send("b.txt", "more", "one")
            again = send("b.txt", "more", "one")
            refused = [send("c.txt", "more", "one"), send("c.txt", "more", "two")]
            added = send("b.txt", "add")
            refused.append(send("c.txt"))
            waiting = len(server.shop.store.streams("upload"))

        assert first["add_results"][0]["status"] == added["add_results"][0]["status"] == "added"
        assert piece == again == {"add_results": []}
        for one in refused:
            error = one["error"]
            assert (error["error_code"], error["reason"]) == ("LIMIT_EXCEEDED", "user_limit")
            assert error["detail"] == "team.stored_bytes"
        assert (server.paths(bench), waiting) == ({"a.txt", "b.txt"}, 1)


@pytest.mark.rule("T6.5", "T6.1")
def test_uploads_that_one_person_leaves_lying_keep_nobody_else_from_uploading(tmp_path):
    with serving(tmp_path / "home") as server, ExitStack() as open_clients:
        people = {}
        for name in ("Ada", "Ben"):
            client = httpx2.Client(base_url=server.address, timeout=60, verify=PLAIN)
            people[name] = open_clients.enter_context(client)
            client.post("/login", data={"token": server.call("UserAdd", name=name)["token"]})
        benches = {
            name: rpc(client, "WorkbenchCreate", name="Mine")["result"]["workbench_id"]
            for name, client in people.items()
        }

        def send(name: str, upload: str, size: int = 1) -> Any:
            files, words = {"files": ("a", b"x" * size)}, {"step": "more", "upload": upload}
            url = f"/bench/{benches[name]}/files"
            return people[name].post(url, files=files, data=words).json()

        left = [send("Ada", f"left {n}") for n in range(PARCELS_MAX)]
        more, others = send("Ada", "more"), send("Ben", "his")
        limits = {"max_files": 5, "max_file_bytes": 50, "max_total_bytes": 60, "max_depth": 5}
        server.call("WorkbenchSetLimits", workbench_id=benches["Ben"], limits=limits)
        large = [send("Ben", "his", 40), send("Ben", "his", 41)]

    assert left == [{"add_results": []}] * PARCELS_MAX
    assert (more["error"]["reason"], others) == ("too_many", {"add_results": []})
    assert (large[0], large[1]["error"]["reason"]) == ({"add_results": []}, "too_large")


@pytest.mark.rule("T6.5", "T6.1")
def test_files_of_one_name_in_an_upload_are_counted_one_by_one(tmp_path):
    with serving(tmp_path / "home") as server, server.client() as client:
        bench = server.bench()
        limits = {"max_files": 50, "max_file_bytes": 10, "max_total_bytes": 30, "max_depth": 5}
        server.call("WorkbenchSetLimits", workbench_id=bench, limits=limits)

        def send(*contents: bytes) -> Any:
            files = [("files", ("a", content)) for content in contents]
            words = {"step": "more", "upload": "one"}
            return client.post(f"/bench/{bench}/files", files=files, data=words).json()

        kept = [b"a" * 10, b"b" * 10]
        taken = [send(*kept), send(*kept)]
        known = set(server.shop.store.blobs.names())
        refused = [
            send(b"c" * 10, b"d" * 10),
            send(b"e" * 10, b"f" * 10),  # as many and as large as those that are here
            send(*[bytes([n]) * 10 for n in range(20)]),
        ]

        assert set(server.shop.store.blobs.names()) == known
        assert len(known) == 2

    assert taken == [{"add_results": []}] * 2
    assert [one["error"]["reason"] for one in refused] == ["too_large"] * 3


@pytest.mark.rule("T6.5", "S7.5")
@pytest.mark.parametrize("limit", ["team.requests_per_minute", "team.bench_requests_per_minute"])
@pytest.mark.parametrize("way", ["upload", "piece", "file", "archive"])
def test_uploads_and_downloads_are_requests_that_count(tmp_path, way, limit):
    clock = FixedClock()  # a minute that ends between two requests begins a new count
    with serving(tmp_path / "home", clock=clock, settings={limit: 3}) as server:
        bench = server.bench(files={"a.txt": "a"})
        made = server.call("UserAdd", name="Ada")
        server.call("AccessSet", workbench_id=bench, user_id=made["user_id"], role="publish")
        with httpx2.Client(base_url=server.address, timeout=60, verify=PLAIN) as client:
            client.post("/login", data={"token": made["token"]})

            def use(number: int) -> httpx2.Response:
                if way in ("file", "archive"):
                    return client.get(f"/bench/{bench}/files{FILES[way]}")
                words = {"step": "more", "upload": "u"} if way == "piece" else {}
                files = {"files": (f"{number}.txt", b"b")}
                return client.post(f"/bench/{bench}/files", files=files, data=words)

            answers = [use(number) for number in range(4)]

    assert [one.is_success for one in answers] == [True, True, True, False]
    assert answers[3].json()["error"]["detail"] == limit


FILES = {"file": "/a.txt", "archive": ".zip"}


@pytest.mark.rule("T1.6", "W2.2")
def test_everybody_reads_who_said_and_added_what(served, anna):
    client, user_id = anna
    shared = served.bench("Said", {"a.txt": "a"})
    served.call("AccessSet", workbench_id=shared, user_id=user_id, role="publish")
    client.post(f"/bench/{shared}/files", files={"files": ("b.txt", b"b")})
    rpc(client, "WorkshopSendUserMessage", workbench_id=shared, text="From Anna")
    served.call("WorkshopSendUserMessage", workbench_id=shared, text="From the owner")
    rpc(client, "CheckpointCreate", workbench_id=shared, description="hers")

    with served.client() as owner:
        page, kept = (owner.get(f"/bench/{shared}{more}").text for more in ("", "/checkpoints"))
    hers = client.get(f"/bench/{shared}").text
    names = {one["user_id"]: one["name"] for one in served.call("UserList")["users"]}
    anna_is = names[user_id]

    def said(text: str) -> list[str]:
        return re.findall(r'<span class="who">([^<]+)</span>', text)

    assert said(page) == [anna_is, "You"]
    assert said(hers) == ["You", "the home&#39;s owner"]
    assert f"by {anna_is}" in kept
    added = [one for one in served.shop.store.read(f"bench:{shared}") if one.kind == "files.added"]
    assert [one.by.person for one in added] == ["owner", user_id]
    assert added[-1].by.door == "web"


@pytest.mark.rule("T6.5")
def test_a_page_is_one_request_of_its_reader_and_one_too_many_is_told_when_to_come_again(tmp_path):
    settings = {"team.requests_per_minute": 20}
    with serving(tmp_path / "home", clock=FixedClock(), settings=settings) as served:
        made = served.call("UserAdd", name="Anna")
        bench = served.bench("Shared", {"a.txt": "a"})
        served.call("AccessSet", workbench_id=bench, user_id=made["user_id"], role="write")
        with httpx2.Client(base_url=served.address, timeout=20, verify=PLAIN) as client:
            client.post("/login", data={"token": made["token"]})
            pages = [client.get(f"/bench/{bench}") for _ in range(20)]
            over = [
                client.get(f"/bench/{bench}", headers={"accept": "text/html"}),
                client.get(f"/bench/{bench}/transcript", headers={"x-fragment": "1"}),
                client.get(f"/bench/{bench}/files/a.txt"),
            ]

    assert [one.status_code for one in pages] == [200] * 20
    assert [one.status_code for one in over] == [429] * 3
    assert all(1 <= int(one.headers["retry-after"]) <= 60 for one in over)
    assert "Too many requests" in over[0].text
