"""What is true of a turn stands beside its answer, whatever the answer says, in any language."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conftest import PROOF
from tests.workshop.conftest import Chat, Step, calls, plan, says, write

from backshop.app import Backshop
from backshop.base.ids import MessageId, TurnId
from backshop.workshop import TurnFacts, evidence, mention, told
from backshop.workshop.answers import facts_of
from backshop.workshop.conversation import events, fold, turn_facts
from backshop.workshop.conversation.change_count import Counted, changes_said, counted
from backshop.workshop.conversation.state import WorkshopState
from backshop.workshop.conversation.turn_facts import (
    EditDropped,
    FileChanged,
    ItemFact,
    NotComputed,
    WriteRefused,
)
from backshop.workshop.turn import outcome

FAILING = {"when": {"purpose": "implement", "item": 2}, "times": 0, "respond": {"error": "empty"}}
GONE = "Item 2, Second, failed (the model answered nothing, twice); it wrote nothing."
NAMED = (
    "The answer names item 2, Second: it failed (the model answered nothing, twice); it wrote "
    "nothing."
)
WROTE = ["1 file was changed: notes.md (modified, 1 line change)"]


def turn(answer: str, *steps: Step) -> list[Step]:
    """Return a script whose items are First, Second and Third, and what it says in the end."""
    return [
        says("research", "Found."),
        says("plan", plan("First", "Second", "Third")),
        *steps,
        says("implement", '```json\n{"no_change": true, "reason": "is so already"}\n```'),
        says("summary", answer),
    ]


EDIT = calls("implement", 1, write("notes.md", "new\n"), item=1)
DONE_ONE = says("implement", "I did it.")
PDF = calls("implement", 1, write("x.pdf", "%PDF"), item=1)


def lies(*told_: tuple[str, str, str]) -> list[tuple[str, str]]:
    """Return each lie in each of its languages."""
    return [
        (one, lie)
        for english, german, chinese in told_
        for one, lie in _of(english, german, chinese)
    ]


def _of(*lies_: str) -> list[tuple[str, str]]:
    return list(zip(("en", "de", "zh"), lies_, strict=True))


NOTHING_DONE = lies(
    ("I updated notes.md.", "Ich habe notes.md aktualisiert.", "我已更新notes.md。"),
    ("All three items are done.", "Alle drei Punkte sind erledigt.", "三项都已完成。"),
    ("Done!", "Fertig!", "完成了！"),
    ("The file was saved.", "Die Datei wurde gespeichert.", "文件已保存。"),
    (
        "I made the report in `report.docx`.",
        "Der Bericht liegt in „report.docx“.",
        "报告在《report.docx》中。",
    ),
    (
        "I made out/sums.xlsx with totals.",
        "out/sums.xlsx enthält die Summen.",
        "总计见out/sums.xlsx。",
    ),
    ("x.pdf is ready.", "x.pdf ist fertig.", "x.pdf已经准备好。"),
)
ONE_DONE = lies(
    (
        "First, Second, Third are done.",
        "First, Second und Third sind erledigt.",
        "First、Second、Third已完成。",
    ),
    (
        "I changed notes.md and other.md.",
        "notes.md und other.md sind geändert.",
        "已修改notes.md和other.md。",
    ),
    ("I also wrote summary.csv.", "Auch summary.csv ist geschrieben.", "还写了summary.csv。"),
    ("Nothing failed.", "Nichts ist fehlgeschlagen.", "没有任何失败。"),
    ("SECOND went well.", "SECOND lief gut.", "SECOND很顺利。"),
    ("I changed nothing at all.", "Ich habe gar nichts geändert.", "我什么都没改。"),
    (
        "Only letters/other.md is new.",
        "Nur letters/other.md ist neu.",
        "只有letters/other.md是新的。",
    ),
    ("I deleted other.md.", "Ich habe other.md gelöscht.", "我删除了other.md。"),
    (
        "500 cells of book.xlsx are right now.",
        "500 Zellen in book.xlsx stimmen jetzt.",
        "book.xlsx的500个单元格已更正。",
    ),
    (
        "I renamed notes.md to final.md.",
        "notes.md heißt jetzt final.md.",
        "notes.md已改名为final.md。",
    ),
    ("Item 2 is finished.", "Punkt 2 ist fertig.", "第2项已完成。"),
    ("Everything is published.", "Alles ist veröffentlicht.", "全部已发布。"),
    (
        "notes.md, a.md and b.md are translated.",
        "notes.md, a.md und b.md sind übersetzt.",
        "notes.md、a.md和b.md已翻译。",
    ),
)
MISSING = {
    "report.docx": "report.docx",
    "out/sums.xlsx": "out/sums.xlsx",
    "x.pdf": "x.pdf",
    "summary.csv": "summary.csv",
    "letters/other.md": "letters/other.md",
    "book.xlsx": "book.xlsx",
    "final.md": "final.md",
    "a.md": "a.md",
}


def test_twenty_lies_are_told_in_three_languages():
    assert len(NOTHING_DONE) + len(ONE_DONE) == 20 * 3


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    """A turn in which nothing was written."""
    yield from _worked(tmp_path_factory.mktemp("idle"))


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    """A turn that changed notes.md and in which Second failed."""
    did = {"when": {"purpose": "implement", "item": 1}, "times": 0, "respond": {"text": "Did it."}}
    yield from _worked(tmp_path_factory.mktemp("worked"), FAILING, EDIT, did)


def _worked(folder, *steps):
    with Backshop.open(folder / "home", settings={"model.default": "scripted:demo"}) as shop:
        chat = Chat(shop, folder)
        chat.add({"notes.md": "old\n", "other.md": "other\n"})
        script = turn("So it is.", *steps)
        chat.play(script)
        chat.ask()
        yield chat, script


def beside(done: tuple[Chat, list[Step]], lie: str) -> list[str]:
    """Return what stands beside an answer: all of it is made for it when BACKSHOP_PROOF is set."""
    chat, script = done
    if PROOF:
        chat.play([says("summary", lie), *script], "lie")
        chat.call("WorkshopRegenerate")
        assert chat.answer()["text"] == lie
        return list(chat.facts())
    book = chat.shop.workshops.book
    known = book.state(chat.id)
    assert known.turn is not None
    facts = evidence.facts_of(book, known, known.turn, answer=lie)
    assert facts is not None
    return list(told(facts))


@pytest.mark.rule("W11.20", "W11.17", "W11.22")
@pytest.mark.parametrize(("language", "lie"), NOTHING_DONE)
def test_a_lie_about_work_that_was_not_done_stands_beside_no_file_was_changed(idle, language, lie):
    facts = beside(idle, lie)

    labels = enumerate(("First", "Second", "Third"), 1)
    assert facts == [
        "No file was changed.",
        "3 of 3 items done.",
        *(f"Item {number}, {label}: changed nothing." for number, label in labels),
        *_missing(lie),
    ]


@pytest.mark.rule("W11.20", "W11.17")
@pytest.mark.parametrize(("language", "lie"), ONE_DONE)
def test_a_lie_about_a_failed_item_stands_beside_what_it_came_to(worked, language, lie):
    facts = beside(worked, lie)

    is_other = "other.md" in lie and "letters/" not in lie
    assert facts == [
        *WROTE,
        "2 of 3 items done.",
        NAMED if "second" in lie.lower() else GONE,
        "Item 3, Third: changed nothing.",
        *_missing(lie),
        *(["The answer names files that were not changed: other.md"] if is_other else []),
    ]


@pytest.mark.rule("W11.20", "W2.4", "W3.1")
@pytest.mark.parametrize("lie", [one for one, *_ in (ONE_DONE[0:1], ONE_DONE[1:2], ONE_DONE[2:3])])
def test_the_text_of_an_answer_stays_as_the_model_wrote_it(chat, lie):
    chat.add({"notes.md": "old\n"})
    chat.play(turn(lie[1], FAILING, EDIT))

    done = chat.ask()

    answer = chat.answer()
    assert answer["text"] == lie[1]
    assert done["facts_lines"] == answer["facts_lines"]
    assert answer["facts_lines"][2] == NAMED
    assert done["facts"] == answer["metadata"]["facts"]
    assert [one["status"] for one in done["facts"]["items"]] == ["done", "failed", "done"]


def says_item(number: int, text: str) -> Step:
    return {"when": {"purpose": "implement", "item": number}, "times": 0, "respond": {"text": text}}


def _missing(lie: str) -> list[str]:
    found = [name for name in MISSING if name in lie]
    if "a.md" in found:
        found.append("b.md")
    return (
        [f"The answer names files this workbench does not have: {', '.join(found)}"]
        if found
        else []
    )


@pytest.mark.rule("W11.20")
def test_a_refused_write_is_named_with_its_reason(chat):
    chat.play(turn("I made x.pdf.", PDF))

    chat.ask()

    facts = chat.facts()
    assert facts[0] == "No file was changed."
    assert "1 write to x.pdf was refused (read_only_format)." in facts
    assert facts[-1] == "The answer names files this workbench does not have: x.pdf"


@pytest.mark.rule("W11.11", "W11.20")
def test_an_item_whose_every_write_was_refused_is_not_done(chat):
    chat.play(turn("First is done.", PDF, says_item(1, "I made x.pdf.")))

    chat.ask()

    item = chat.call("WorkshopGetPlan")["items"][0]
    assert (item["status"], item["no_effect"]) == ("failed", False)
    assert chat.facts()[2] == (
        "The answer names item 1, First: it failed (every write of it was refused: "
        "read_only_format); it wrote nothing."
    )


@pytest.mark.rule("W11.20", "W1.5")
def test_a_turn_that_cannot_write_has_no_facts(chat):
    chat.play([says("research", "Found."), says("summary", "It is so.")])

    done = chat.ask("Is it so?", mode="ask")

    assert (done.get("facts"), chat.answer().get("facts_lines")) == (None, None)


@pytest.mark.rule("W11.20", "W17.1", "W11.23")
def test_the_next_turn_is_told_the_facts_beside_the_answer(chat):
    chat.add({"notes.md": "old\n"})
    wire = chat.play(turn("notes.md is new."))
    chat.ask()

    chat.ask("And now?")

    asked = [r for r in wire.requests if r.purpose.value == "research"][-1]
    said = "\n".join(m.text for m in asked.messages)
    assert "notes.md is new.\n\n(Facts of this turn, from the log:\nNo file was changed." in said


@pytest.mark.rule("W14.5", "W11.20")
def test_the_other_flow_names_an_edit_that_found_nothing(chat):
    chat.call("WorkshopSetFlow", flow="compat")
    operations = [
        {"op": "append_paragraph", "text": "Added."},
        {"op": "replace_text", "search": "not there", "replace": "x"},
    ]
    ops = {"path": "r.docx", "kind": "docx", "summary": "s", "ops": operations}
    made = {"schema_version": 2, "summary": "s", "ops": [ops]}
    chat.play([says("reply", "I replaced it in r.docx."), says("proposal", json.dumps(made))])

    chat.ask()

    told_ = "\n".join(chat.facts())
    is_made = "r.docx (added" in told_
    assert is_made == (chat.draft_bytes("r.docx") is not None)
    if is_made:
        assert "Not made in r.docx: replace_text “not there”: nothing matched" in told_
    else:
        assert "The changes could not be made" in told_


@pytest.mark.rule("W14.1", "W11.20")
def test_an_announcement_without_changes_stands_beside_no_file_was_changed(chat):
    chat.add({"a.md": "old\n"})
    chat.call("WorkshopSetFlow", flow="compat")
    nothing = {"schema_version": 2, "summary": "Nothing.", "no_changes": True}
    said = "Proceeding to update the file now."
    chat.play([says("reply", said), says("proposal", json.dumps(nothing))])

    done = chat.ask()

    assert (chat.answer()["text"], chat.facts()) == (said, ["No file was changed."])
    assert done["facts"]["files_total"] == 0


@pytest.mark.rule("W11.20", "W11.22")
def test_facts_become_words_in_one_place():
    facts = TurnFacts(
        files=(
            FileChanged(path="a.xlsx", change="modified", counts=(Counted(what="cell", count=2),)),
            FileChanged(path="b.bin", change="added", size_after=9),
            FileChanged(path="c.bin", change="modified", size_before=1, size_after=2),
            FileChanged(path="d.txt"),
        ),
        files_total=5,
        items=(
            ItemFact(number=1, label="One", status="done"),
            ItemFact(number=2, label="Two", status="unfinished", reason="half", kept=1),
            ItemFact(number=3, label="Three", status="failed", reason="no", taken_back=2),
            ItemFact(number=4, label="Four", status="waiting", taken_back=1),
        ),
        items_total=6,
        refused=(
            WriteRefused(tool="t", reason="too_many_calls", times=8),
            WriteRefused(tool="t", reason="no_match", path="a.xlsx"),
        ),
        dropped=(EditDropped(path="a.xlsx", what="x"),),
        not_computed=(NotComputed(path="a.xlsx", count=1),),
        notes=("A note.",),
        missing=("q.md",),
        unchanged=("z.md",),
    )

    assert told(facts) == (
        "5 files were changed:",
        "- a.xlsx (modified, 2 cell changes, counted write by write)",
        "- b.bin (added, 9 bytes)",
        "- c.bin (modified, 1 byte → 2 bytes)",
        "- d.txt",
        "- and 1 more",
        "1 of 6 items done.",
        "Item 2, Two, is unfinished (half); 1 write of it stays.",
        "Item 3, Three, failed (no); 2 writes of it were taken back.",
        "Item 4, Four, is not done; it is made when the turn goes on; 1 write of it was taken "
        "back.",
        "2 items not begun.",
        "8 writes were not run: too many calls in one answer.",
        "1 write to a.xlsx was refused (no_match).",
        "Not made in a.xlsx: x",
        "A write left 1 formula without a computed value in a.xlsx.",
        "A note.",
        "The answer names files this workbench does not have: q.md",
        "The answer names files that were not changed: z.md",
    )


@pytest.mark.rule("W11.20")
@pytest.mark.parametrize(
    ("text", "files", "missing"),
    [
        ("see notes.md", ["notes.md"], []),
        ("see Notes.MD.", ["notes.md"], []),
        ("see mynotes.md", [], ["mynotes.md"]),
        ("see draft/notes.md", ["notes.md"], []),
        ("see report.docx", ["letters/My report.docx"], []),
        ("see letters/My report.docx", ["letters/My report.docx"], []),
        ("see other/notes.md", [], ["other/notes.md"]),
        ("已更新notes.md。", ["notes.md"], []),
        ("файл notes.md готов", ["notes.md"], []),
        ("файлnotes.md", [], ["файлnotes.md"]),
        ("已更新报告.pdf", ["报告.pdf"], []),
        ("https://x.example/notes.md", [], []),
        ("at example.com, v1.2.3, e.g. 3.5 Mio.", [], []),
        ("in `Makefile` and Makefile", ["Makefile"], []),
        ("a Makefile", [], []),
        ("“gone.xlsx”, «weg.docx»", [], ["gone.xlsx", "weg.docx"]),
        ("We use Node.js; see console.log(1), ann@mail.sh", [], []),
        ("made [it](letters/My%20report.docx)", ["letters/My report.docx"], []),
        ("made a\\_b.md", [], ["a_b.md"]),
        ("see /notes.md and bench/draft/notes.md", ["notes.md"], []),
        ("see /other/notes.md", [], ["/other/notes.md"]),
        ("see notes.md.txt", [], ["notes.md.txt"]),
        ("notes.md/gone.md", ["notes.md"], ["gone.md"]),
        ("", [], []),
    ],
)
def test_files_are_found_by_name_in_any_language(text, files, missing):
    paths = ["notes.md", "letters/My report.docx", "报告.pdf", "Makefile"]
    if text == "see report.docx":
        paths[1] = "letters/My report.docx"
        paths.append("letters/report.docx")
        files = ["letters/report.docx"]

    found = mention.files_named(text, paths)

    assert (list(found.files), list(found.missing)) == (files, missing)


@pytest.mark.rule("W11.21")
def test_an_object_of_the_work_at_the_end_of_a_report_says_nothing_of_the_item():
    report = 'README.md shows:\n\n```json\n{"status": "failed", "job": 7}\n```'

    assert outcome.item_outcome(report) == outcome.ItemOutcome(report)


@pytest.mark.rule("W11.20", "W11.24")
def test_a_label_is_found_as_a_word_of_its_own():
    assert mention.is_named("We did the  FIRST thing", "first thing")
    assert not mention.is_named("a prefix", "Fix")
    assert mention.is_named("修正Fix完成", "Fix")
    assert not mention.is_named("anything", "")


@pytest.mark.rule("W11.20")
@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Rename the sheet Costs is finished.", "**2. Rename the sheet `Costs`**"),
        ("**Rename** the sheet *Costs*: done.", "Rename the sheet Costs"),
        ("I did _Rename the sheet_.", "3) Rename the sheet"),
        ("my_label is done", "my_label"),
    ],
)
def test_a_label_is_found_whatever_its_emphasis_and_number(answer, label):
    assert mention.is_named(answer, label)


@pytest.mark.rule("W11.20")
def test_a_cell_whose_value_and_formula_changed_is_counted_once():
    report = {
        "changed": [
            {"kind": "cell", "where": "Plan!A20", "aspect": "value"},
            {"kind": "cell", "where": "Plan!B20", "aspect": "value"},
            {"kind": "cell", "where": "Plan!B20", "aspect": "formula"},
        ],
        "totals": {"changed": 3},
    }

    assert [(one.what, one.count) for one in counted(report)] == [("cell", 2)]


def found(chat, number: int) -> dict[str, Any]:
    items: list[dict[str, Any]] = chat.answer()["metadata"]["facts"]["items"]
    return items[number - 1]


@pytest.mark.rule("W11.21", "W11.13")
def test_an_item_that_says_that_it_failed_is_not_ticked_and_taken_back(chat):
    chat.add({"notes.md": "old\n"})
    says_so = 'It failed.\n```json\n{"status": "failed", "reason": "no such sheet"}\n```'
    chat.play(turn("First is done.", EDIT, says_item(1, says_so)))

    chat.ask()

    view = chat.call("WorkshopGetPlan")
    assert view["items"][0]["status"] == "failed"
    assert "- [!] 1. First [Failed: no such sheet]" in view["plan_md"]
    assert chat.draft() is None
    assert (
        "The answer names item 1, First: it failed (no such sheet); 1 write of it was taken back."
        in chat.facts()
    )


@pytest.mark.rule("W11.20", "W11.21")
def test_what_a_write_left_out_is_not_told_once_the_write_was_taken_back(chat):
    def edit(search: str) -> tuple[str, dict[str, object]]:
        new = {"op": "append_paragraph", "text": "New"}
        operations = [new, {"op": "replace_text", "search": search, "replace": "x"}]
        wish = {"path": "r.docx", "operations": operations, "create_if_missing": True}
        return "docx_operations", wish

    failed = 'It failed.\n```json\n{"status": "failed", "reason": "too hard"}\n```'
    chat.play(
        turn(
            "Nothing came of it.",
            calls("implement", 1, edit("taken back"), item=1),
            calls("implement", 1, edit("not there"), item=2),
            says_item(1, failed),
            says_item(2, "Done."),
        )
    )

    chat.ask()

    told = [line for line in chat.facts() if line.startswith("Not made")]
    assert told == ["Not made in r.docx: replace_text “not there”: nothing matched"]
    entries = chat.call("WorkshopGetToolLog")["entries"]
    assert [one["success"] for one in entries if one["tool"] == "docx_operations"] == [True, True]


@pytest.mark.rule("W11.21", "W11.13")
def test_an_item_that_says_that_it_is_unfinished_keeps_what_it_wrote(chat):
    chat.add({"notes.md": "old\n"})
    says_so = 'Half.\n```json\n{"status": "unfinished", "reason": "the rest is missing"}\n```'
    chat.play(turn("Some.", EDIT, says_item(1, says_so)))

    chat.ask()

    view = chat.call("WorkshopGetPlan")
    assert view["items"][0]["status"] == "unfinished"
    assert "- [!] 1. First [Failed: unfinished: the rest is missing]" in view["plan_md"]
    assert chat.draft() == {"notes.md": "new\n"}
    assert (found(chat, 1)["status"], found(chat, 1)["kept"]) == ("unfinished", 1)


@pytest.mark.rule("W11.20", "F16.13")
@pytest.mark.parametrize(
    ("kinds", "total", "expected"),
    [
        (["cell", "cell", "part"], 3, [("cell", 2)]),
        (["part"], 1, [("", 1)]),
        (["cell"] * 3, 4_000, [("cell", 4_000)]),
        (["cell", "row"], 4_000, [("", 4_000)]),
        ([], 0, []),
    ],
)
def test_counts_of_an_effect_report_are_by_kind_and_true_where_its_list_is_cut(
    kinds, total, expected
):
    listed = [{"kind": kind, "where": f"x{at}"} for at, kind in enumerate(kinds)]
    report = {"changed": listed, "totals": {"changed": total}}

    assert [(one.what, one.count) for one in counted(report)] == expected


@pytest.mark.rule("W11.20")
def test_a_sort_is_said_in_words_that_are_right_for_one():
    order = {"kind": "rows", "where": "Q1!A2:F26", "aspect": "order"}

    assert changes_said(counted({"changed": [order]})) == ["1 row order change"]


@pytest.mark.rule("W11.20", "U4.48")
def test_a_result_that_only_follows_is_no_change_of_a_write():
    def cell(where: str, aspect: str) -> dict[str, str]:
        return {"kind": "cell", "where": where, "aspect": aspect}

    follows = [cell("Q1!E16", "value"), cell("Q1!E5", "value")]
    changed = [cell("Q1!E5", "formula"), cell("Q1!E5", "value"), cell("Q1!E16", "value")]
    report = {"changed": changed, "recalculated": follows, "totals": {"changed": 3, "cells": 1}}

    assert [(one.what, one.count) for one in counted(report)] == [("cell", 1)]


@pytest.mark.rule("W11.20", "F16.13")
@pytest.mark.parametrize(
    ("named", "changed", "expected"),
    [
        (["name"], 901, [("name", 1)]),
        (["name", "rule"], 902, [("name", 1), ("rule", 1)]),
        (["row"] * 2, 905, [("row", 5)]),
    ],
)
def test_results_that_only_follow_are_not_counted_where_they_are_more_than_are_listed(
    named, changed, expected
):
    follows = [{"kind": "cell", "where": f"S!A{at}", "aspect": "value"} for at in range(200)]
    others = [{"kind": kind, "where": f"x{at}"} for at, kind in enumerate(named)]
    listed = [*others, *follows][:200]
    totals = {"changed": changed, "recalculated": 900}
    report = {"changed": listed, "recalculated": follows, "totals": totals}

    assert [(one.what, one.count) for one in counted(report)] == expected


@pytest.mark.rule("W11.20", "F16.16")
def test_a_cell_is_counted_once_whatever_of_it_changed_and_however_long_the_list():
    listed = [{"kind": "cell", "where": f"S!A{row}", "aspect": "formula"} for row in range(200)]
    report = {"changed": listed, "totals": {"changed": 801, "cells": 400}}

    assert [(one.what, one.count) for one in counted(report)] == [("cell", 400)]

    listed[-1] = {"kind": "sheet", "where": "S", "aspect": "added"}
    assert [(one.what, one.count) for one in counted(report)] == [("cell", 400), ("sheet", 1)]


@pytest.mark.rule("W11.20")
def test_the_order_that_follows_from_new_slides_is_no_change_of_its_own():
    order = {"kind": "slide", "where": "slide order", "aspect": "structure"}
    new = [{"kind": "slide", "where": f"slide {n}", "aspect": "added"} for n in (4, 5)]

    assert [one.count for one in counted({"changed": [*new, order]})] == [2]
    assert [one.count for one in counted({"changed": [order]})] == [1]


@pytest.mark.rule("W11.20", "F24.10", "F3.3")
def test_a_write_says_which_parts_of_it_were_not_made_and_what_has_no_value():
    said = {
        "warnings": [
            {"code": "no_match", "where": "operations[1]", "count": 1},
            {"code": "merged_skipped", "where": "operations[7]", "count": 1},
            {"code": "alias_used", "where": None, "count": 1},
        ],
        "recalculated": {"computed": 1, "not_computed": 3, "reasons": {}},
    }
    operations = [{"op": "x"}, {"op": "replace_text", "search": "old"}]

    found_ = evidence.noticed("r.docx", said, operations)

    assert [one.what for one in found_.dropped] == [
        "replace_text “old”: nothing matched",
        "operations[7]: cells inside merged ranges were skipped",
    ]
    assert [(one.path, one.count) for one in found_.not_computed] == [("r.docx", 3)]


@pytest.mark.rule("W11.20", "W11.25")
def test_a_turn_of_an_earlier_release_tells_what_its_events_hold_and_nothing_else():
    """Before facts were kept, turns ended without them; items and files are known all the same."""
    ids: dict[str, Any] = {"turn_id": TurnId("turn_1"), "message_id": MessageId("msg_2")}
    begun = events.TurnStarted(
        **ids,
        user_message_id=MessageId("msg_1"),
        mode="agent",
        flow="rpi",
        model_id="m",
        published_generation=0,
    )
    item: dict[str, Any] = {"turn_id": ids["turn_id"], "number": 1}
    facts: list[Any] = [
        begun,
        events.ItemStarted(**item, total=2, label="First", attempt=1),
        events.ItemEnded(**item, status="failed", reason="no"),
        events.TurnEnded(**ids, status="complete", text="Done.", record_status="complete"),
    ]
    state = WorkshopState()
    for fact in facts:
        state = fold.apply(state, fact, 1, 1)

    known = facts_of(state.records["msg_2"])
    assert known is not None
    assert told(known) == (
        "No file was changed.",
        "0 of 2 items done.",
        "Item 1, First, failed (no); it wrote nothing.",
        "1 item not begun.",
    )


@pytest.mark.rule("W8.3", "F1.6")
def test_a_refused_call_is_answered_with_one_envelope_and_its_hints(chat):
    chat.add({"notes.md": "x\n"})
    wire = chat.play([calls("research", 1, ("read_file", {"path": "NOTES.md"})), *turn("No.")])

    chat.ask()

    [answer] = [m.text for m in wire.requests[1].messages if m.role.value == "tool"]
    said = json.loads(answer[answer.index("{") : answer.rindex("}") + 1])
    assert set(said) == {"error"}
    assert (said["error"]["error_code"], said["error"]["reason"]) == ("NOT_FOUND", "not_found")
    assert said["error"]["hints"] == ["notes.md"]


@pytest.mark.rule("W11.20")
def test_a_draft_that_was_there_before_an_answer_is_made_again_is_not_its_work(chat):
    chat.add({"notes.md": "old\n"})
    chat.play(turn("Done.", EDIT, says_item(1, "I did it.")))
    first = chat.send("First")
    chat.run(first)
    chat.call("DraftPublish")
    other = calls("implement", 1, write("other.md", "x\n"), item=1)
    chat.play(turn("Done.", other, says_item(1, "I did it.")), "second")
    chat.ask("Second")
    chat.play(turn("I updated everything."), "third")

    chat.call("WorkshopRegenerate", message_id=first, mode="chat_only")

    assert chat.draft() == {"notes.md": "new\n", "other.md": "x\n"}
    assert chat.facts()[0] == "No file was changed."


@pytest.mark.rule("W11.20", "F17.13")
def test_a_table_that_was_not_extended_is_a_fact_of_the_turn():
    where = "the table T (A1:B3) was not extended by S!A4:B4, written below it: …"
    said = {"warnings": [{"code": "table_not_extended", "count": 1, "where": where}]}

    noticed = evidence.noticed("a.xlsx", said, [{"op": "set_range", "sheet": "S"}])

    assert told(TurnFacts(dropped=noticed.dropped)) == (f"Not made in a.xlsx: {where}",)


@pytest.mark.rule("W11.20", "B3.12")
def test_an_edit_in_the_way_of_an_agents_write_is_a_fact_of_the_turn():
    said = {"warnings": [{"code": "outside_edits_salvaged", "count": 1, "where": "a.txt"}]}

    noticed = evidence.noticed("a.txt", said)

    assert told(TurnFacts(notes=noticed.notes)) == (
        "Files that another program wrote were in the way; they were kept in meta/salvage of the "
        "workbench's folder.",
    )


@pytest.mark.rule("W11.20")
@pytest.mark.parametrize(
    ("statuses", "line"),
    [
        (["done"] * 3, "3 steps begun, 3 done."),
        (["done"], "1 step begun, 1 done."),
        (["done", "waiting"], "2 steps begun, 1 done."),
    ],
)
def test_steps_of_a_workflow_are_counted_as_far_as_they_were_begun(statuses, line):
    steps = [ItemFact(number=n, label="", status=one) for n, one in enumerate(statuses, 1)]

    assert told(TurnFacts(unit="step", items=tuple(steps), items_total=len(steps)))[0] == line


@pytest.mark.rule("W11.27", "W11.29")
def test_files_that_are_not_named_are_counted_beyond_those_that_are_kept():
    paths = tuple(f"{n}.md" for n in range(500))

    facts = turn_facts.capped(TurnFacts(unasked=paths, files=()))

    assert len(facts.unasked) == turn_facts.LISTED
    assert told(facts)[0] == f"Not named in the request: {', '.join(paths[:20])} and 480 more."
