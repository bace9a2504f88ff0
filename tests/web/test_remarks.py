"""Comments, and changes taken and left, on the review page in a real browser (U4.7, U4.8)."""

from __future__ import annotations

import pytest
from tests.web.accessible import violations
from tests.web.drafts import AGENT, IMAGE_TRICK, REPORT, Drafting

pytestmark = pytest.mark.needs("browser")
OTHERS = (("picture", "book.xlsx"), ("picture", "deck.pptx"), ("choices", "report.docx"))
GONE = (
    'data-remark="S!" data-about="About what was removed, Row 5 (“row 5”): "',
    'data-remark="slide 1" data-about="About what was removed, Slide 2: "',
    'data-remark="" data-about="About ',
)
LINES = [f"line {n} of the plan\n" for n in range(1, 31)]


@pytest.fixture
def draft(served):
    bench = served.bench("Remarks", {"plan.txt": "".join(LINES), "other.txt": "other\n"})
    made = Drafting(served, bench)
    changed = list(LINES)
    changed[4], changed[19] = "line five of the plan\n", "line twenty of the plan\n"
    made.put({"plan.txt": "".join(changed), "other.txt": "another\n"}, AGENT)
    return made


def shown(new_page, draft, **options):
    page = new_page(f"/bench/{draft.id}/review?file=plan.txt", **options)
    page.wait_for_selector("body[data-ready=yes]")
    return page


@pytest.mark.rule("U4.7", "B24.1")
def test_a_comment_is_made_answered_and_resolved_in_place(draft, new_page):
    page = shown(new_page, draft)

    page.get_by_label("Your comment on this file").fill("Why five?")
    page.get_by_label("Place", exact=True).fill("line 5")
    page.locator(".add-comment button").click()
    comment = page.get_by_role("article", name="Comment 1", exact=True)
    comment.wait_for()
    assert "line 5" in comment.inner_text()
    assert "line five of the plan" in comment.inner_text()
    comment.get_by_text("Answer", exact=False).first.click()
    comment.get_by_label("Answer to comment 1").fill("Because.")
    comment.get_by_role("button", name="Answer").click()
    comment.get_by_text("Because.").wait_for()
    comment.get_by_role("button", name="Resolve").click()
    comment.get_by_text("resolved").wait_for()

    (one,) = draft.call("ReviewListComments")["comments"]
    assert (one["is_resolved"], [a["text"] for a in one["answers"]]) == (True, ["Because."])
    assert violations(page) == []


@pytest.mark.rule("U4.7", "U7.3", "S7.4")
def test_markup_in_a_comment_is_shown_and_never_run(draft, new_page):
    draft.call("ReviewAddComment", path="plan.txt", text=IMAGE_TRICK)
    page = shown(new_page, draft)

    assert IMAGE_TRICK in page.get_by_role("article", name="Comment 1").inner_text()
    assert page.evaluate("window.ran") is None


@pytest.mark.rule("U4.7", "B24.1")
def test_a_comment_on_a_place_that_is_not_there_says_so_in_its_form(draft, new_page):
    page = shown(new_page, draft)

    page.get_by_label("Your comment on this file").fill("x")
    page.get_by_label("Place", exact=True).fill("line 99")
    page.locator(".add-comment button").click()

    page.locator(".add-comment .error").wait_for()
    assert page.get_by_label("Your comment on this file").input_value() == "x"


@pytest.mark.rule("U4.8", "B25.2", "B25.5")
def test_one_change_is_left_out_taken_back_and_published_as_it_is_shown(draft, new_page):
    page = shown(new_page, draft)
    page.get_by_role("link", name="Take or leave changes one by one").click()
    page.get_by_role("button", name="Leave out line 5").click()
    page.locator(".choice.left").wait_for()

    assert "line 5 of the plan" in draft.use("read_file", path="plan.txt")["text"]
    assert page.locator("#draft-moved").is_hidden()
    page.locator("#publish").click()
    page.locator("#ask-publish .foretold").get_by_text("plan.txt").wait_for()
    page.locator("#ask-publish").get_by_role("button", name="Publish").click()
    page.wait_for_url(f"**/bench/{draft.id}**")
    page.get_by_text("Published 2 files").first.wait_for()

    text = draft.use("read_file", path="plan.txt", version="published")["text"]
    assert "line 5 of the plan" in text
    assert "line twenty of the plan" in text


@pytest.mark.rule("U4.8", "U1.4")
def test_changes_are_chosen_without_scripts_too(draft, new_page):
    page = new_page(f"/bench/{draft.id}/review?file=plan.txt&choose=1", java_script_enabled=False)

    page.get_by_role("button", name="Leave out line 20").click()

    page.locator(".choice.left").wait_for()
    assert "line 20 of the plan" in draft.use("read_file", path="plan.txt")["text"]
    page.get_by_label("Your comment on this file").fill("without scripts")
    page.locator(".add-comment button").click()
    page.get_by_role("article", name="Comment 1").wait_for()


@pytest.mark.rule("U4.8", "B25.7")
def test_a_file_of_which_nothing_is_left_in_can_be_taken_again(draft, new_page):
    page = shown(new_page, draft)
    page.get_by_role("link", name="Take or leave changes one by one").click()

    page.get_by_role("button", name="Leave everything out").click()
    page.get_by_text("Every change of this file is left out").wait_for()
    assert page.locator("#left-whole a").all_inner_texts() == ["plan.txt"]
    page.get_by_role("button", name="Take everything").click()

    page.locator("table.lines").first.wait_for()
    assert page.locator("#left-whole").is_hidden()
    assert "line five" in draft.use("read_file", path="plan.txt")["text"]


@pytest.mark.rule("U4.8")
def test_a_choice_in_place_can_be_undone_and_the_head_counts_what_is_left(draft, new_page):
    page = shown(new_page, draft)
    assert page.locator("#correction").is_hidden()
    assert page.locator("#counts").inner_text() == "~ 2 changed"
    page.get_by_role("link", name="Take or leave changes one by one").click()
    page.get_by_role("button", name="Leave out line 5").click()
    page.locator(".choice.left").wait_for()
    page.get_by_role("button", name="Leave everything out").click()
    page.get_by_text("Every change of this file is left out").wait_for()

    assert page.locator("#correction").inner_text().startswith("Corrected by hand: plan.txt.")
    assert page.locator("#counts").inner_text() == "~ 1 changed"
    page.locator("#correction").get_by_role("button", name="Undo").click()
    page.locator("table.lines").first.wait_for()

    text = draft.use("read_file", path="plan.txt")["text"]
    assert ("line five" in text, "line twenty" in text) == (False, True)
    assert "file=plan.txt" in page.url


@pytest.mark.rule("U4.6", "W24.2")
def test_the_form_for_changes_says_which_comments_go_with_it_as_they_are_now(draft, new_page):
    page = shown(new_page, draft)
    along, text = page.locator("#comments-along"), page.locator("#changes-text")
    page.locator("#ask-changes-box summary").click()
    assert along.is_hidden()
    assert text.get_attribute("required") is not None

    page.get_by_label("Your comment on this file").fill("Why five?")
    page.locator(".add-comment button").click()
    page.get_by_text("1 open comment goes with it.").wait_for()
    assert text.get_attribute("required") is None
    page.get_by_text("Only answer").click()
    page.get_by_text("Comments do not go with a question.").wait_for()
    assert text.get_attribute("required") is not None
    page.get_by_text("Change it").click()
    page.get_by_text("1 open comment goes with it.").wait_for()
    page.get_by_text("Withdraw…").first.click()
    page.get_by_role("button", name="Yes, withdraw comment 1").click()

    along.wait_for(state="hidden")
    assert text.get_attribute("required") is not None


@pytest.mark.rule("U4.7", "U4.52")
def test_comments_stay_on_the_page_when_every_change_of_their_file_is_left_out(draft, new_page):
    draft.call("ReviewAddComment", path="plan.txt", text="Why five?", at="line 5")
    page = shown(new_page, draft)
    page.get_by_role("link", name="Take or leave changes one by one").click()
    page.get_by_role("button", name="Leave everything out").click()
    page.get_by_text("Every change of this file is left out").wait_for()

    page.get_by_role("article", name="Comment 1", exact=True).get_by_text("Why five?").wait_for()
    page.get_by_label("Your comment on this file").fill("And why twenty?")
    page.locator(".add-comment button").click()
    page.get_by_role("article", name="Comment 2", exact=True).wait_for()
    page.get_by_text("Withdraw…").first.click()
    page.get_by_role("button", name="Yes, withdraw comment 1").click()
    page.get_by_role("article", name="Comment 1", exact=True).wait_for(state="detached")
    assert page.locator("#remarks-elsewhere a").all_inner_texts() == ["plan.txt"]
    assert violations(page) == []


@pytest.mark.rule("U4.7", "U1.4")
@pytest.mark.parametrize("scripts", [True, False])
def test_open_comments_on_files_without_changes_are_led_to_from_the_head(served, new_page, scripts):
    draft = Drafting(served, served.bench("Elsewhere", {"a.txt": "a\n", "b.txt": "b\n"}))
    draft.put({"a.txt": "A\n"}, AGENT)
    draft.call("ReviewAddComment", path="b.txt", text="Should change too")
    page = new_page(f"/bench/{draft.id}/review", java_script_enabled=scripts)

    page.locator("#remarks-elsewhere").get_by_role("link", name="b.txt").click()

    page.get_by_text("The Draft does not change this file.").wait_for()
    comment = page.get_by_role("article", name="Comment 1", exact=True)
    assert "Should change too" in comment.inner_text()
    comment.get_by_role("button", name="Resolve").click()
    comment.get_by_text("resolved").wait_for()
    page.locator("#remarks-elsewhere").wait_for(state="hidden")


@pytest.mark.rule("U4.7")
def test_a_file_that_is_not_there_is_still_an_error(draft, new_page):
    page = new_page(f"/bench/{draft.id}/review?file=nowhere.txt")

    page.locator(".reviewed .error").wait_for()
    assert page.locator(".add-comment").count() == 0


TURNED, MARK = "\u202eevil\u2069", "⟦U+202E⟧evil⟦U+2069⟧"


@pytest.mark.rule("U4.9", "U7.3")
def test_signs_that_turn_the_direction_of_writing_are_shown_as_marks(served, new_page):
    lines = [f"line {n} {TURNED}\n" for n in range(1, 30)]
    draft = Drafting(served, served.bench("Turned", {"a.txt": "".join(lines), "t.csv": "k,v\n"}))
    lines[14] = f"changed {TURNED}\n"
    draft.put({"a.txt": "".join(lines), "t.csv": f"k,v\n{TURNED},1\n"}, AGENT)
    fill = {"op": "set_range", "sheet": "One", "start": "A1", "values": [[TURNED]]}
    draft.use("xlsx_operations", path="b.xlsx", operations=[fill])
    made = draft.call("ReviewAddComment", path="a.txt", text=f"said {TURNED}", at="line 15")
    draft.call("ReviewAnswerComment", comment_id=made["comment_id"], text=f"answer {TURNED}")
    page = new_page(f"/bench/{draft.id}/review?file=a.txt&choose=1")
    page.wait_for_selector("body[data-ready=yes]")
    page.locator("[data-expand]").first.click()
    page.get_by_text(f"line 1 {MARK}").wait_for()

    text = page.locator("#file-view").inner_text()
    for shown_text in (f"changed {MARK}", f"said {MARK}", f"answer {MARK}", f"line 15 {MARK}"):
        assert shown_text in text
    for path in ("t.csv", "b.xlsx"):
        page.locator(f"#changes [data-path='{path}']").click()
        page.locator(f".reviewed[data-path='{path}']").get_by_text(MARK).first.wait_for()
        text += page.locator("#file-view").inner_text()
    for path, way in (("a.txt", "source"), ("b.xlsx", "cells")):
        page.goto(f"{served.address}/bench/{draft.id}/file/{path}?view=draft&as={way}")
        page.get_by_text(MARK).first.wait_for()
        text += page.locator("main").inner_text()
    assert not {"\u202e", "\u2069"} & set(text)


@pytest.mark.rule("U8.14", "B24.1")
def test_a_comment_on_what_is_gone_stands_beside_it_and_names_it(served, new_page):
    draft = Drafting(served, served.bench("Gone"))
    rows = [[f"row {n}"] for n in range(1, 9)]
    fill = {"op": "set_range", "sheet": "S", "start": "A1", "values": rows}
    slides = [{"op": "add_slide", "title": title, "body": title} for title in ("One", "Two")]
    draft.use(
        "docx_operations",
        path="report.docx",
        operations=[{"op": "set_paragraphs", "paragraphs": REPORT}],
    )
    draft.use(
        "xlsx_operations",
        path="book.xlsx",
        operations=[{"op": "ensure_sheet", "sheet": "S"}, fill],
    )
    draft.use("pptx_operations", path="deck.pptx", operations=slides)
    draft.call("DraftPublish")
    gone = {"op": "delete_paragraphs", "from": len(REPORT) - 2, "to": len(REPORT) - 1}
    draft.use("docx_operations", path="report.docx", operations=[gone])
    draft.use(
        "xlsx_operations",
        path="book.xlsx",
        operations=[{"op": "delete_rows", "sheet": "S", "from": 5}],
    )
    draft.use("pptx_operations", path="deck.pptx", operations=[{"op": "delete_slide", "index": 1}])
    page = new_page(f"/bench/{draft.id}/review?file=report.docx")
    entry = page.locator(".entry.removed")
    entry.click()
    entry.get_by_role("button", name="Comment").click()
    page.keyboard.type("Please keep it.")
    page.locator(".add-comment button").click()
    page.get_by_role("article", name="Comment 1", exact=True).wait_for()
    (said,) = draft.call("ReviewListComments")["comments"]
    with served.client() as client:
        place = f"/bench/{draft.id}/review/"
        others = [client.get(f"{place}{what}?file={path}").text for what, path in OTHERS]

    words = "About what was removed, Outlook (“Outlook Next year looks the same.”): Please keep it."
    assert said["text"] == words
    assert said["quote"] == "Energy became cheaper."
    for other, wanted in zip(others, GONE, strict=True):
        assert wanted in other
