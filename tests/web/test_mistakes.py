"""What people do by mistake: twice, too late, too much, in two places at once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Error as PageError
from tests.conftest import CORPORA, PROOF
from tests.web.drafts import Drafting
from tests.workshop.conftest import says, story

SLOW_CALLS = """() => {
  const fetched = window.fetch;
  const word = new Promise((go) => document.addEventListener("go-on", go));
  window.fetch = async (path, request) => { await word; return fetched(path, request); };
}"""
ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(3600 if PROOF else 300)]


@pytest.fixture
def bench(served):
    made = served.bench("Mistakes", {"a.txt": "a\n", "gone.txt": "going\n"})
    served.call("WorkshopSwitchModel", workbench_id=made, model_id="scripted:echo")
    return made


def texts(served, bench):
    found = served.call("WorkshopGetConversation", workbench_id=bench)["messages"]
    return [one["text"] for one in found if one["type"] == "user_message"]


# ------------------------------------------------------------ twice


@pytest.mark.rule("U1.4", "W5.2")
def test_a_double_click_is_one_wish(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    page.get_by_label("Message", exact=True).fill("Say this once")
    page.get_by_role("button", name="Send").dblclick()
    page.locator(".message.assistant.complete").wait_for()
    page.goto(served.address)
    before = len(served.call("WorkbenchList")["workbenches"])
    page.get_by_role("button", name="New workbench").click()
    page.get_by_label("Name").first.fill("Only one")
    page.get_by_role("button", name="Create", exact=True).dblclick()
    page.wait_for_url("**/bench/*")

    assert texts(served, bench) == ["Say this once"]
    assert len(served.call("WorkbenchList")["workbenches"]) == before + 1


@pytest.mark.rule("U1.4", "U5.2")
def test_a_checkpoint_and_a_publish_clicked_twice_happen_once(served, bench, new_page):
    page = new_page(f"/bench/{bench}/checkpoints")
    page.get_by_label("Name").fill("Once")
    page.get_by_role("button", name="Keep version").dblclick()
    page.locator("[data-checkpoint]").first.wait_for()
    Drafting(served, bench).put({"b.txt": "b\n"})
    page.goto(f"{served.address}/bench/{bench}/review")
    page.locator("body[data-ready]").wait_for()
    page.locator("#publish").click()
    page.locator("#ask-publish").get_by_role("button", name="Publish", exact=True).dblclick()
    page.locator(".publish-card").last.wait_for()

    kept = served.call("CheckpointsList", workbench_id=bench)["checkpoints"]
    assert sorted(one["reason"] for one in kept) == ["manual", "publish"]
    assert page.locator("[data-error]").count() == 0
    page.goto(f"{served.address}/bench/{bench}")
    assert page.locator(".publish-card").count() == 1


# ------------------------------------------------------------ too late


@pytest.mark.rule("U1.6", "U4.1")
def test_going_back_after_a_publish_shows_what_is_true_now(served, bench, new_page):
    Drafting(served, bench).put({"b.txt": "b\n"})
    page = new_page(f"/bench/{bench}/review")
    page.locator("body[data-ready]").wait_for()
    page.locator("#publish").click()
    page.locator("#ask-publish").get_by_role("button", name="Publish", exact=True).click()
    page.locator(".publish-card").last.wait_for()
    page.go_back()

    page.get_by_text("Nothing to review").wait_for()
    assert page.locator(".draft-bar").count() == 0
    page.go_forward()
    page.locator(".publish-card").last.wait_for()


@pytest.mark.rule("B9.4", "U4.1", "U2.3")
def test_of_two_tabs_the_second_hears_that_the_first_has_published(served, bench, new_page):
    Drafting(served, bench).put({"b.txt": "b\n"})
    first, second = (new_page(f"/bench/{bench}/review") for _ in range(2))
    for page in (first, second):
        page.locator("body[data-ready]").wait_for()
    first.locator("#publish").click()
    first.locator("#ask-publish").get_by_role("button", name="Publish", exact=True).click()
    first.locator(".publish-card").last.wait_for()

    second.locator(".publish-card").wait_for()  # the review is over there too
    assert second.locator(".draft-bar").count() == 0


@pytest.mark.rule("U1.6", "B9.4")
def test_a_tab_that_heard_nothing_cannot_publish_what_it_did_not_show(served, bench):
    draft = Drafting(served, bench)
    draft.put({"b.txt": "what was reviewed\n"})
    shown = served.call("DraftGetState", workbench_id=bench)["tree"]
    draft.put({"b.txt": "something else\n"})
    with served.client() as client:  # the form of a page that shows the Draft as it was
        form = {"workbench_id": bench, "reviewed_tree": shown, "next": "/"}
        late = client.post("/do/DraftPublish", data=form)
    published = served.call("WorkbenchFilesList", workbench_id=bench, view="published")["files"]

    assert late.status_code == 409
    assert "b.txt" not in {one["path"] for one in published}


@pytest.mark.rule("U3.5", "S5.2", "U1.3")
def test_a_file_that_is_open_follows_a_restore_made_elsewhere(served, bench, new_page):
    kept = served.call("CheckpointCreate", workbench_id=bench, description="first")
    draft = Drafting(served, bench)
    draft.put({"a.txt": "second\n", "new.txt": "new\n"})
    served.call("DraftPublish", workbench_id=bench)
    page, lost = new_page(f"/bench/{bench}/file/a.txt"), new_page(f"/bench/{bench}/file/new.txt")
    for one, text in ((page, "second"), (lost, "new")):
        one.locator("html[data-live]").wait_for()
        one.locator(".viewer").get_by_text(text, exact=True).wait_for()
    served.call("CheckpointRestore", workbench_id=bench, checkpoint_id=kept["checkpoint_id"])

    page.locator(".viewer").get_by_text("a", exact=True).wait_for()
    lost.get_by_role("heading", name="Not found").wait_for()
    assert page.locator(".viewer").get_by_text("second").count() == 0


@pytest.mark.rule("U1.3", "U1.6", "U5.2")
def test_a_tab_that_heard_nothing_of_a_restore_does_no_harm_and_then_shows_what_is_true(
    served, bench, new_page
):
    kept = served.call("CheckpointCreate", workbench_id=bench, description="first")
    Drafting(served, bench).put({"new.txt": "new\n"})
    served.call("DraftPublish", workbench_id=bench)
    talk, file = new_page("/"), new_page("/")
    for page, path in ((talk, ""), (file, "/file/new.txt")):
        page.route("**/events?*", lambda route: route.abort())
        page.goto(f"{served.address}/bench/{bench}{path}")
    talk.locator(".publish-card").wait_for()
    file.locator("body[data-ready]").wait_for()
    served.call("CheckpointRestore", workbench_id=bench, checkpoint_id=kept["checkpoint_id"])
    before = served.call("CheckpointsList", workbench_id=bench)
    file.get_by_role("button", name="Remove…").click()
    file.get_by_role("button", name="Remove it").click()  # it is gone already
    file.locator("#composer").wait_for()
    talk.get_by_label("Message", exact=True).fill("Go on")
    talk.get_by_role("button", name="Send").click()
    talk.locator(".message.assistant.complete").wait_for()

    assert served.call("CheckpointsList", workbench_id=bench) == before
    assert served.paths(bench) == {"a.txt", "gone.txt"}
    assert set(file.locator("#files .file-name").all_text_contents()) == {"a.txt", "gone.txt"}
    assert talk.locator(".message.user [data-text]").all_inner_texts() == texts(served, bench)
    assert talk.locator(".publish-card").count() == 0


@pytest.mark.rule("U3.5", "U1.6")
def test_what_is_being_typed_is_not_taken_away_by_news(served, bench, new_page):
    page = new_page(f"/bench/{bench}/checkpoints")
    page.locator("html[data-live]").wait_for()
    page.get_by_label("Name").fill("half a sentence")
    served.call("CheckpointCreate", workbench_id=bench, description="from elsewhere")
    page.locator("#outdated").wait_for()
    kept = page.get_by_label("Name").input_value()
    page.get_by_role("button", name="Show it as it is now").click()

    page.get_by_text("from elsewhere").first.wait_for()
    assert kept == "half a sentence"


@pytest.mark.rule("S7.2", "U3.3")
def test_an_expired_login_leads_to_the_login_and_keeps_what_was_typed(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    page.locator("html[data-live]").wait_for()
    page.get_by_label("Message", exact=True).fill("Do not lose me")
    page.context.clear_cookies()
    with suppress(PageError):  # the page may find out by itself before it is clicked
        page.get_by_role("button", name="Send").click(timeout=5000)
    page.wait_for_url("**/login?ended=1")
    page.goto(served.link())
    page.goto(f"{served.address}/bench/{bench}")

    assert page.get_by_label("Message", exact=True).input_value() == "Do not lose me"
    page.locator("html[data-live]").wait_for()  # a connection on its way would not be cut
    page.context.clear_cookies()
    served.shop.hub.disconnect()  # nobody does anything: the page finds out by itself
    page.wait_for_url("**/login?ended=1")


@pytest.mark.rule("U4.9")
def test_a_name_that_reads_as_another_is_refused_as_what_it_is(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    page.locator("html[data-live]").wait_for()
    given = [("bill\u202etxt.exe", b"x"), ("fine.txt", b"fine\n")]
    page.set_input_files(
        "#pick-files",
        [{"name": name, "mimeType": "text/plain", "buffer": data} for name, data in given],
    )
    told = page.locator(".toast").filter(has_text="1 of 2 not added").inner_text()

    assert "bill⟦U+202E⟧txt.exe" in told


@pytest.mark.rule("U4.1", "U1.6")
def test_while_what_a_publish_changes_is_fetched_its_shape_stands_there(served, bench, new_page):
    Drafting(served, bench).put({"a.txt": "changed\n"})
    page = new_page(f"/bench/{bench}/review")
    page.locator("body[data-ready]").wait_for()
    page.evaluate(SLOW_CALLS)
    page.locator("#publish").click()
    foretold = page.locator("#ask-publish .foretold")
    foretold.get_by_role("status").wait_for()
    page.evaluate("document.dispatchEvent(new Event('go-on'))")
    foretold.get_by_text("a.txt").wait_for()

    assert foretold.get_by_role("status").count() == 0


@pytest.mark.rule("U9.6")
def test_a_form_of_a_tab_that_was_logged_out_elsewhere_leads_to_the_login_and_the_reason(
    served, bench, new_page
):
    page = new_page("/settings")
    page.context.clear_cookies()
    page.get_by_label("Dark").check()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/login?ended=1")

    assert "Your login here has ended" in page.locator("main").inner_text()


@pytest.mark.rule("U1.6")
def test_a_proxy_that_speaks_for_a_server_that_is_gone_is_told_as_one(served, bench, new_page):
    page = new_page(f"/bench/{bench}/checkpoints")
    gone = {"status": 503, "content_type": "text/html", "body": "<h1>No server</h1>"}
    page.route("**/rpc", lambda route: route.fulfill(**gone))
    page.get_by_label("Name").fill("Before the year's end")
    page.get_by_role("button", name="Keep version").click()
    page.get_by_role("alert").filter(has_text="Backshop does not answer").wait_for()
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    page.locator("[data-checkpoint]").filter(has_text="Before the year's end").wait_for()


@pytest.mark.rule("U1.3")
def test_a_page_opened_behind_others_takes_no_connection_until_it_is_looked_at(
    served, bench, browser, new_page
):
    page = new_page("/", own=True)
    page.add_init_script("Object.defineProperty(document, 'hidden', {get: () => !window.shown})")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served.address}/bench/{bench}/checkpoints")
    page.locator("#description").wait_for()
    served.call("CheckpointCreate", workbench_id=bench, description="while nobody looked")
    behind = [url for url in asked if "/events?" in url]
    page.evaluate("window.shown = true; document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_text("while nobody looked").first.wait_for()

    assert behind == []
    assert len([url for url in asked if "/events?" in url]) == 1


# ------------------------------------------------------------ a server that comes and goes


@contextmanager
def program(home, port):
    """`backshop serve` as people start it; yields the login link."""
    env = {"PYTHONPATH": str(ROOT / "src"), "HOME": os.environ["HOME"], "PATH": os.environ["PATH"]}
    arguments = ["serve", "--no-browser", "--port", str(port), "--home", str(home)]
    process = subprocess.Popen(
        [sys.executable, "-m", "backshop.cli", *arguments],
        env=env,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        told = [process.stderr.readline(), process.stderr.readline()]
        found = re.search(r"http://\S+token=\S+", told[1])
        assert found, told
        yield found.group(), process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


@pytest.mark.rule("U1.3", "W5.10", "S7.2")
def test_a_page_recovers_by_itself_when_the_server_is_killed_and_started_again(tmp_path, browser):
    from backshop.app import Backshop

    home = tmp_path / "home"
    with Backshop.open(home) as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Stays"})["workbench_id"]
        shop.call("WorkshopSwitchModel", {"workbench_id": bench, "model_id": "scripted:echo"})
    context = browser.new_context()
    context.set_default_timeout(60_000)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    try:
        with program(home, 0) as (link, _):
            port = int(link.split(":")[2].partition("/")[0])
            page.goto(link)
            page.goto(f"http://127.0.0.1:{port}/bench/{bench}")
            page.locator("html[data-live]").wait_for()
            page.get_by_label("Message", exact=True).fill("half a thought")
        page.get_by_text("Reconnecting…").wait_for()
        page.get_by_role("button", name="Send").click()
        page.locator("#errors").get_by_text("Backshop does not answer").wait_for()
        kept = page.get_by_label("Message", exact=True).input_value()
        with Backshop.open(home) as shop:
            shop.call("WorkshopSendUserMessage", {"workbench_id": bench, "text": "meanwhile"})
        with program(home, port):
            page.get_by_text("Reconnecting…").wait_for(state="hidden")
            page.locator("#errors").get_by_text("did not answer then; it does now").wait_for()
            page.locator(".message.user").get_by_text("meanwhile").wait_for()
            page.get_by_role("button", name="Send").click()
            page.locator(".message.assistant.complete").get_by_text("half a thought").wait_for()
    finally:
        context.close()
    assert (kept, problems) == ("half a thought", [])


# ------------------------------------------------------------ too much, too little, too strange


@pytest.mark.rule("W5.2", "U1.6", "U3.3")
def test_a_huge_paste_is_refused_in_words_and_stays_where_it_is(served, bench, new_page):
    page = new_page(f"/bench/{bench}")
    field = page.get_by_label("Message", exact=True)
    for size in (150_000, 900_000):
        text = "wörds " * (size // 6)
        field.evaluate(
            "(field, text) => { field.value = text; field.dispatchEvent(new Event('input')); }",
            text,
        )
        page.get_by_role("button", name="Send").click()
        page.locator("#errors [data-error=LIMIT_EXCEEDED]").wait_for()
        assert field.input_value().rstrip() == text.rstrip()
        page.locator("#errors .error").evaluate("box => box.remove()")

    assert texts(served, bench) == []


def folder_of(tmp_path, count):
    """Make a folder with that many small files in a few folders of its own."""
    root = tmp_path / "many"
    for number in range(count):
        target = root / f"part{number % 7}" / f"file {number}.txt"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"{number}\n")
    return root


def drop(page, selector, path):
    """Let go of a file or folder over a part of the page, as from the system's file manager."""
    box = page.locator(selector).bounding_box()
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    hand = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        hand.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})


@pytest.mark.rule("U3.5", "B6.9", "B6.17")
def test_a_folder_with_thousands_of_files_shows_its_progress_and_can_be_stopped(
    served, new_page, tmp_path, scaled
):
    count = scaled(1_020, 5_000)
    folder = folder_of(tmp_path, count)
    bench = served.bench("Large")
    page = new_page(f"/bench/{bench}")
    pieces: list[str] = []

    def hold(route):
        pieces.append(route.request.url)
        if len(pieces) < 3:
            route.continue_()  # the third piece is still on its way when it is stopped

    page.route("**/files", hold)
    drop(page, "#side", folder)
    page.get_by_role("button", name="Do not add them").click()  # more than a bench takes
    drop(page, "#side", folder)
    page.get_by_role("button", name="Make it a large workbench and add them").click()
    page.get_by_text(f"400 of {count:,} files").wait_for()
    part = page.locator(".uploading progress").evaluate("bar => bar.value")
    page.unroute("**/files")
    page.get_by_role("button", name="Stop", exact=True).last.click()
    page.get_by_text("Stopped; nothing was added").first.wait_for()
    stopped = served.paths(bench)
    page.locator("#pick-folder").set_input_files(folder)
    page.get_by_text(f"{count} files added").first.wait_for(timeout=240_000)

    assert 0 < part < 1
    assert stopped == set()
    listed = served.call("WorkbenchFilesList", workbench_id=bench, limit=1)["total"]
    assert listed == count
    assert {path.partition("/")[0] for path in served.paths(bench)} == {folder.name}
    page.get_by_text(f"The first 1000 of {count} files are shown.").wait_for()


@pytest.mark.rule("B6.8", "U3.5")
def test_a_file_added_twice_is_asked_about(served, bench, new_page, files):
    (files / "a.txt").write_text("other\n")
    page = new_page(f"/bench/{bench}")
    for answer in ("Add nothing", "Keep both", "Replace them"):
        page.locator("#pick-files").set_input_files(files / "a.txt")
        page.get_by_role("dialog").get_by_role("button", name=answer).click()
        page.get_by_role("dialog").wait_for(state="detached")
    page.locator(".file-name", has_text="a(1).txt").wait_for()

    page.get_by_text("1 file added").first.wait_for()
    assert served.paths(bench) == {"a.txt", "a(1).txt", "gone.txt"}


@pytest.mark.rule("U3.5", "U4.2")
@pytest.mark.parametrize("name", ["empty.txt", "empty.csv", "empty.xlsx", "empty.pdf", "empty.png"])
def test_a_file_of_no_bytes_can_be_added_opened_and_reviewed(served, new_page, tmp_path, name):
    bench = served.bench("Empty")
    (tmp_path / name).write_bytes(b"")
    page = new_page(f"/bench/{bench}")
    page.locator("#pick-files").set_input_files(tmp_path / name)
    page.locator(".file-name", has_text=name).click()
    page.locator("body[data-ready]").wait_for()
    shown = page.locator("main").inner_text()
    Drafting(served, bench).put({name: b"", f"second-{name}": b""})
    page.goto(f"{served.address}/bench/{bench}/review")
    page.locator("body[data-ready]").wait_for()

    assert "0 bytes" in shown
    assert "INTERNAL" not in shown + page.locator("main").inner_text()


@pytest.mark.needs("browser")
@pytest.mark.rule("U4.9", "U3.5")
def test_a_name_that_turns_the_writing_does_not_turn_the_message_about_it(
    served, new_page, tmp_path
):
    name = "invoice \u202egpj.exe.txt"
    (tmp_path / name).write_text("no picture\n", encoding="utf-8")
    page = new_page(f"/bench/{served.bench('Turning')}")
    page.locator("#pick-files").set_input_files(tmp_path / name)
    toast = page.locator(".toast")
    toast.wait_for()
    said = page.locator("#polite").text_content()

    assert "1 of 1 not added: invoice ⟦U+202E⟧gpj.exe.txt" in toast.inner_text()
    assert "invoice ⟦U+202E⟧gpj.exe.txt" in said
    assert "\u202e" not in page.locator("body").inner_text() + said


def naughty():
    """Return strings that have broken other people's programs."""
    text = (CORPORA / "strings" / "naughty.txt").read_text(encoding="utf-8")
    found = [line for line in text.split("\n") if line and not line.startswith("#")]
    return found


OWN = [
    *("a\u202egpj.exe", "x" * 300, "CON", "aux.txt", "a\nb", "..", "~", "%2e%2e", "a\\b"),
    *("<script>window.ran = 1</script>.txt", "'\"><img src=x onerror=ran=1>"),
]


@pytest.mark.needs("corpora")
@pytest.mark.rule("U7.3", "S7.4", "B4.2")
def test_names_with_every_naughty_string_are_taken_or_refused_and_shown_as_they_are(
    served, new_page, scaled
):
    bench = served.bench("Naughty")
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:echo")
    refused, statuses = [], {}
    with served.client() as client:
        for number, name in enumerate(naughty()[:: scaled(10, 1)] + OWN):
            sent = {"files": ("f", str(number).encode()), "paths": (None, name.encode())}
            answer = client.post(
                f"/bench/{bench}/files", files=sent, headers={"origin": served.address}
            )
            statuses[name] = answer.status_code
            if answer.status_code != 200 or answer.json()["add_results"][0]["status"] != "added":
                refused.append(name)
        paths = served.paths(bench)
        opened = {
            path: client.get(_address(bench, path), headers={"accept": "text/html"}).status_code
            for path in paths
        }
        sent_back = {path: client.get(_address(bench, path, "files")).status_code for path in paths}
    page = new_page(f"/bench/{bench}", own=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    shown = set(page.locator("#files .file-name").all_text_contents())
    for name in ("naughty <b>", *sorted(paths)[:3]):
        served.call("WorkbenchRename", workbench_id=bench, new_name=name[:60].strip() or "x")
        page.reload()
    page.goto(f"{served.address}/")

    assert set(statuses.values()) <= {200, 409, 422}
    assert len(paths) > scaled(20, 150)
    assert {"CON", "..", "a\nb", "x" * 300} <= set(refused)
    assert set(opened.values()) == {200} == set(sent_back.values())
    assert shown == paths
    assert page.evaluate("window.ran") is None
    assert [url for url in asked if not url.startswith((served.address, "data:"))] == []


def _address(bench, path, kind="file"):
    from urllib.parse import quote

    return f"/bench/{bench}/{kind}/{quote(path)}"


@pytest.mark.rule("U3.5", "B13.5", "U4.1")
def test_a_file_is_removed_and_brought_back_and_a_draft_only_says_it_goes(served, bench, new_page):
    page = new_page(f"/bench/{bench}/file/gone.txt")
    page.get_by_role("button", name="Remove…").click()
    page.get_by_role("button", name="Remove it").click()
    page.locator("#composer").wait_for()
    without = served.paths(bench)
    [kept] = served.call("CheckpointsList", workbench_id=bench)["checkpoints"]
    served.call("CheckpointRestore", workbench_id=bench, checkpoint_id=kept["checkpoint_id"])
    Drafting(served, bench).put({"b.txt": "b\n"})
    page.goto(f"{served.address}/bench/{bench}/file/gone.txt")
    page.get_by_role("button", name="Remove…").click()
    page.get_by_role("button", name="Delete it in the Draft").click()
    page.wait_for_url("**/review")
    page.get_by_text("1 deletion waits for your agreement").wait_for()

    assert without == {"a.txt"}
    assert page.locator("#publish").is_disabled()


@pytest.mark.rule("W5.3", "U1.6")
def test_two_tabs_that_ask_at_the_same_time_get_one_turn_and_one_plain_refusal(
    served, bench, new_page
):
    slow = [says("research", "# R"), says("summary", "Done.", delay_ms=120_000)]
    served.shop.models.play("slowly", slow)
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:slowly")
    first, second = new_page(f"/bench/{bench}"), new_page(f"/bench/{bench}")
    second.route("**/events?*", lambda route: route.abort())
    second.reload()  # a tab that hears nothing
    first.get_by_text("Ask", exact=True).click()
    first.get_by_label("Message", exact=True).fill("One")
    second.get_by_label("Message", exact=True).fill("Two")
    first.get_by_role("button", name="Send").click()
    first.locator("#turn-line").wait_for()
    second.get_by_role("button", name="Send").click()
    second.locator("#errors [data-error=BENCH_BUSY]").wait_for()
    first.get_by_role("button", name="Stop", exact=True).click()
    first.locator(".message.assistant").wait_for()

    assert texts(served, bench) == ["One"]
    assert second.evaluate("document.querySelector('#message').value") == "Two"


@pytest.mark.rule("U1.6", "U3.4")
def test_what_is_asked_of_a_server_that_is_gone_says_so_also_where_its_script_is_still_to_come(
    served, bench, new_page
):
    sent = served.call("WorkshopSendUserMessage", workbench_id=bench, text="a.txt", mode="ask")
    served.call("WorkshopRunAgent", workbench_id=bench, message_id=sent["message_id"])
    page = new_page(f"/bench/{bench}")
    page.locator(".message.assistant.complete").wait_for()
    for name in ("going_back", "copying", "upload"):
        page.route(f"**/{name}.js", lambda route: route.abort())
    told = []
    page.locator(".message.user").hover()
    page.locator(".message.user [data-copy-message]").click()
    page.locator(".toast").wait_for()
    told.append(page.locator(".toast").inner_text())
    page.locator(".message.user").get_by_label("Message menu").click()
    page.get_by_role("button", name="Rewind to here").first.click()
    page.locator("#errors [data-error]").wait_for()
    told.append(page.locator("#errors").inner_text())
    page.evaluate("document.querySelector('#errors').replaceChildren()")
    page.locator("#pick-files").set_input_files(
        {"name": "b.txt", "mimeType": "text/plain", "buffer": b"b"}
    )
    page.locator("#errors [data-error]").wait_for()
    told.append(page.locator("#errors").inner_text())

    assert all("Backshop does not answer" in one for one in told)


@pytest.mark.rule("U1.6", "U3.24")
def test_a_file_of_the_talk_opens_as_a_page_where_it_cannot_be_shown_beside(
    served, bench, new_page
):
    served.shop.models.play("named", story(answer="Look at `a.txt`."))
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:named")
    sent = served.call("WorkshopSendUserMessage", workbench_id=bench, text="Where?", mode="ask")
    served.call("WorkshopRunAgent", workbench_id=bench, message_id=sent["message_id"])
    page = new_page(f"/bench/{bench}")
    page.route("**/file_pane.js", lambda route: route.abort())
    page.locator(".message.assistant a", has_text="a.txt").first.click()
    page.wait_for_url("**/file/a.txt*")


@pytest.mark.rule("U3.4", "U1.6")
def test_a_rewind_to_what_another_tab_has_rewound_is_refused_in_words(served, bench, new_page):
    served.shop.models.play("wrote", story(("w.txt", "w"), answer="Wrote it."))
    for text in ("One", "Two"):
        sent = served.call("WorkshopSendUserMessage", workbench_id=bench, text=text, mode="ask")
        served.call("WorkshopRunAgent", workbench_id=bench, message_id=sent["message_id"])
    page = new_page(f"/bench/{bench}")
    page.route("**/events?*", lambda route: route.abort())
    page.reload()
    first = served.call("WorkshopGetConversation", workbench_id=bench)["messages"]
    start = next(one["message_id"] for one in first if one["type"] == "user_message")
    served.call("WorkshopUndoToMessage", workbench_id=bench, message_id=start)
    page.locator(".message.user").last.get_by_label("Message menu").click()
    page.get_by_role("button", name="Rewind to here").last.click()

    page.locator("#errors [data-error]").wait_for()
    assert page.locator("#errors").inner_text() != ""
