"""What a person does on the pages says what it did, and leads back (U3.4, U4.1)."""

from __future__ import annotations

import io
import re

import pytest
from openpyxl import Workbook
from tests.web.drafts import Drafting
from tests.workshop.conftest import says

pytestmark = pytest.mark.needs("browser")


def workbook(names: list[str], rows: int, add: int) -> bytes:
    made = Workbook(write_only=True)
    for name in names:
        sheet = made.create_sheet(name)
        for row in range(rows):
            sheet.append([row * 3 + add, "same", f"=A{row + 1}*2"])
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


@pytest.mark.rule("U4.1", "U4.2", "B12.9")
def test_header_badges_and_marks_agree_about_every_changed_cell(served, new_page):
    names = ["First", "Second", "Third"]
    bench = served.bench("Many", {"big.xlsx": workbook(names, 400, 0)})
    Drafting(served, bench).put({"big.xlsx": workbook(names, 400, 1)})
    page = new_page(f"/bench/{bench}/review?file=big.xlsx&as=changes")
    page.wait_for_selector("body[data-ready=yes]")
    page.locator(".grid-cell.marked").first.wait_for()

    header = page.locator(".cells-counted").inner_text()
    tabs = page.get_by_role("tab").all_inner_texts()
    listed = page.locator(".cell-list tbody tr").count()
    page.get_by_role("tab", name="Third").click()
    third = page.locator(".grid-scroll[aria-label='Sheet Third']")
    third.locator(".grid-cell.marked").first.wait_for()
    third.evaluate("one => { one.scrollTop = one.scrollHeight }")
    last = page.locator(".grid-row[aria-rowindex='401'] .grid-cell")
    page.locator(".grid-row[aria-rowindex='401'] .grid-cell.marked").wait_for()
    marks = ["marked" in (cell.get_attribute("class") or "") for cell in last.all()]
    page.get_by_role("link", name="List the next").click()
    page.locator(".cell-list tr[data-cell=A101][data-sheet=Second]").wait_for()
    page.get_by_role("tab").last.wait_for()

    assert "1,200 cells differ: 1,200 values" in header
    assert [re.sub(r"\s+", " ", tab) for tab in tabs] == [f"{name} ~ 400 cells" for name in names]
    assert listed == 500
    assert marks == [True, False, False]
    after = page.get_by_role("tab").all_inner_texts()
    assert after == tabs  # whatever part of the list is shown


@pytest.mark.rule("U4.1", "B8.22", "B9.15", "B13.1")
def test_a_reverted_file_and_a_publish_are_told_and_lead_back(served, new_page):
    bench = served.bench("Back", {"a.txt": "one\n", "b.txt": "b\n"})
    draft = Drafting(served, bench)
    for word in ("two", "three"):
        note = f"Now it says {word}."
        draft.use("write_text_file", path="a.txt", content=f"{word}\n", change_note=note)
    draft.put({"b.txt": "other\n"})
    page = new_page(f"/bench/{bench}/review?file=a.txt")
    page.wait_for_selector("body[data-ready=yes]")
    notes = page.locator(".file-summary li").all_inner_texts()
    page.get_by_role("button", name="Revert this file").click()
    page.locator(".toast", has_text="Reverted: a.txt is as it was when the Draft began").wait_for()
    offered = page.locator("#correction").inner_text()
    page.locator(".toast").get_by_role("button", name="Undo").click()
    page.locator(".toast", has_text="Undone: a.txt is again as the Draft had it").wait_for()
    back = draft.call("WorkbenchFileRead", path="a.txt")["text"]
    page.wait_for_selector("body[data-ready=yes]")
    asks = []
    for path in ("context", "review"):
        page.goto(f"{served.address}/bench/{bench}/{path}")
        page.locator("[data-opens=ask-publish]:enabled").click()
        dialog = page.get_by_role("dialog", name="Publish the Draft?")
        dialog.locator(".preview li").first.wait_for()
        asks.append(dialog.locator(".preview li").all_inner_texts())
        dialog.get_by_role("button", name="Not yet").click()
    page.locator("#publish").click()
    dialog.get_by_role("button", name="Publish", exact=True).click()
    card = page.locator(".publish-card", has_text="Published 2 files")
    card.locator(".card-note").wait_for()
    said = card.inner_text()
    card.get_by_role("button", name="Undo").click()
    page.locator(".card-line", has_text="undone").wait_for()

    assert notes == ["Now it says two.", "Now it says three."]
    assert "a.txt" in offered
    assert back == "three"
    assert asks[0] == asks[1] != []
    assert "2 files read back, each as it should be" in said
    assert draft.call("WorkbenchFileRead", path="a.txt")["text"] == "one"


@pytest.mark.rule("U3.4", "W15.5", "W15.12")
def test_the_transcript_offers_each_way_back_once_and_under_its_own_message(served, new_page):
    bench = served.bench("Once", {"a.txt": "a\n"})
    for name in ("one", "two", "three"):
        answer = [says("research", "r"), says("plan", "## Items\nnone"), says("summary", name)]
        served.shop.models.play(name, answer)

    def call(command: str, **request):
        return served.call(command, workbench_id=bench, **request)

    def ask(name: str) -> str:
        call("WorkshopSwitchModel", model_id=f"scripted:{name}")
        sent = call("WorkshopSendUserMessage", text=f"Say {name}")["message_id"]
        call("WorkshopRunAgent", message_id=sent)
        return str(sent)

    first, second = ask("one"), ask("two")
    call("WorkshopUndoToMessage", message_id=first)
    page = new_page(f"/bench/{bench}")
    page.get_by_text("Rewound to here").wait_for()
    target = page.locator(".rewound [data-regenerate]").get_attribute("data-regenerate")
    page.locator("[data-redo]:visible").click()
    page.locator(".toast", has_text="The rewind was undone").wait_for()
    call("WorkshopSwitchModel", model_id="scripted:three")
    call("WorkshopRegenerate", message_id=second)
    page.reload()
    page.get_by_text("Answer asked for again").wait_for()
    lines = page.locator(".message.slim, .message.card-line").all_inner_texts()
    live = page.locator("#transcript [data-redo]:visible").all_inner_texts()
    banners = page.locator(".rewound").count()
    page.locator("#transcript [data-redo]:visible").click()
    page.locator(".toast", has_text="The other answer is back").wait_for()
    page.locator(".message.assistant", has_text="two").wait_for()
    told = page.locator(".message.card-line").last.inner_text()

    assert target == first
    assert banners == 0
    assert [text.split("\n")[0].strip() for text in lines if "Rewound" in text] == [
        "Rewound to here, and undone later"
    ]
    assert [text.strip() for text in live] == ["Back to the other answer"]
    assert told.strip().startswith("The other answer is back")
