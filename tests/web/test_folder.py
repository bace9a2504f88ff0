"""A workbench of a folder in a real browser: opened, in step, in conflict, settled (B23)."""

from __future__ import annotations

import pytest
from tests.web.accessible import violations
from tests.web.drafts import Drafting

pytestmark = pytest.mark.needs("browser")


@pytest.fixture
def own(tmp_path):
    folder = tmp_path / "Reports"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    (folder / "b.txt").write_text("two\n")
    return folder


@pytest.mark.rule("B23.1", "B23.6", "B23.18", "U1.3", "U5.7", "U7.2")
def test_a_folder_is_opened_written_and_its_conflicts_are_settled(served, own, new_page):
    page = new_page("/")
    page.get_by_role("button", name="Open a folder").click()
    page.locator("#folder-path").fill(str(own / "nowhere"))
    page.get_by_role("button", name="Open", exact=True).click()
    page.locator("#open-folder .error").wait_for()  # where it was asked: the path can be mended
    page.locator("#folder-path").fill(f" {own} ")
    page.get_by_role("button", name="Open", exact=True).click()
    page.locator(".folder-bar").wait_for()
    bench = page.url.split("/bench/")[1].split("?")[0]
    in_step = page.locator(".folder-bar").inner_text()

    draft = Drafting(served, bench)
    draft.put({"a.txt": "ours\n", "b.txt": "ours too\n"})
    with (own / "a.txt").open("r+") as theirs:
        draft.call("DraftPublish")
        theirs.write("mine")
    conflict = page.locator(".folder-conflicts li")
    conflict.wait_for()  # by itself: it is news
    waiting = page.locator(".folder-bar").inner_text()
    grave = violations(page)
    page.emulate_media(color_scheme="dark")
    grave += violations(page)
    page.get_by_role("button", name="Keep ours").click()
    page.locator(".folder-bar .badge.ok").wait_for()

    assert str(own) in in_step
    assert "✓ in step" in in_step
    assert "1 conflict" in waiting
    assert "a.txt was not written: another program has it open." in waiting
    assert grave == []
    assert (own / "a.txt").read_text() == "ours\n"
    assert (own / "b.txt").read_text() == "ours too\n"


@pytest.mark.rule("B23.15", "B23.19", "U5.2")
def test_what_others_changed_is_told_and_a_restore_offers_the_folder(served, own, new_page):
    bench = served.call("WorkbenchOpenFolder", folder=str(own))["workbench_id"]
    draft = Drafting(served, bench)
    draft.put({"a.txt": "ours\n"})
    (own / "b.txt").write_text("mine\n")
    page = new_page(f"/bench/{bench}?stay=1")
    told = page.locator(".folder-bar").inner_text()
    page.get_by_role("button", name="Take their changes in").click()
    page.locator(".folder-bar .badge.ok").wait_for()
    page.goto(f"{served.address}/bench/{bench}/checkpoints")
    draft.call("PublishedReconcile", keep="theirs")
    draft.call("DraftPublish")
    checkpoint = draft.call("CheckpointsList")["checkpoints"][-1]["checkpoint_id"]
    page.goto(f"{served.address}/bench/{bench}/checkpoints?restore={checkpoint}")
    page.get_by_label("Write it into the folder too").check()
    page.get_by_role("button", name="Restore", exact=True).click()
    page.wait_for_url("**/checkpoints")

    assert "1 changed by others" in told
    assert (own / "a.txt").read_text() == "one\n"
    assert (own / "b.txt").read_text() == "two\n"


@pytest.mark.rule("B23.19", "U4.44", "U5.7")
@pytest.mark.parametrize("theirs", [False, True])
def test_undo_of_a_publish_takes_the_folder_back_unless_others_changed_it(
    served, own, new_page, theirs
):
    bench = served.call("WorkbenchOpenFolder", folder=str(own))["workbench_id"]
    draft = Drafting(served, bench)
    draft.put({"a.txt": "ours\n", "b.txt": "ours too\n", "c.txt": "new\n"})
    draft.call("DraftPublish")
    page = new_page(f"/bench/{bench}")
    if theirs:
        (own / "b.txt").write_text("theirs, longer\n")
    page.locator(".publish-card").get_by_role("button", name="Undo").click()
    box = page.get_by_role("dialog").get_by_label("Write it into the folder too (3 files)")
    box.wait_for()
    is_on = box.is_checked()
    box.check()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    card = page.locator(".card-line", has_text="Publish of c.txt, a.txt, b.txt undone")
    told = card.locator(".card-note")
    told.wait_for()

    assert is_on is not theirs
    assert page.locator(".toast", has_text="Restored").count() == 0  # the card says it
    assert (own / "a.txt").read_text() == "one\n"
    assert (own / "b.txt").read_text() == ("theirs, longer\n" if theirs else "two\n")
    words = told.inner_text()
    assert "1 file removed from your folder" in words
    assert not (own / "c.txt").exists()
    assert ("1 file written into your folder" in words) is theirs
    assert ("left as it is in your folder: b.txt (another program changed it)" in words) is theirs
    assert ("2 files written into your folder" in words) is not theirs


@pytest.mark.rule("B23.1", "S7.6")
def test_only_the_owner_on_loopback_opens_folders(served, own, new_page):
    page = new_page("/")

    assert page.get_by_role("button", name="Open a folder").count() == 1
    page.get_by_role("button", name="Open a folder").click()
    page.locator("#folder-path").fill(str(own / "nowhere"))
    page.get_by_role("button", name="Open", exact=True).click()
    page.locator(".error").wait_for()
    assert "There is no such folder" in page.locator(".error").inner_text()
