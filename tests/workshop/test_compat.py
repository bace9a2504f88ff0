"""Flow `compat`: a plain answer, one changeset, one batch, and nobody is asked in between (W14)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.workshop.conftest import Chat, Step, says

from backshop.app import Backshop
from backshop.workshop.proposal import changeset as proposal_changeset

TEXT: dict[str, Any] = {"path": "a.md", "content": "new\n", "summary": "new text"}
DOC: dict[str, Any] = {
    "path": "r.docx",
    "kind": "docx",
    "summary": "a paragraph",
    "ops": [{"op": "append_paragraph", "text": "Added."}],
}


def changeset(**more) -> dict[str, Any]:
    """Return a proposal that writes a text."""
    return {"schema_version": 2, "summary": "what changes", "writes": [TEXT], **more}


def proposes(*values: object) -> list[Step]:
    """Return a script: an answer, and these proposals one after the other."""
    steps = [
        {
            "when": {"purpose": "proposal"},
            "respond": {"text": v if isinstance(v, str) else json.dumps(v)},
        }
        for v in values
    ]
    return [says("reply", "I will change a.md."), *steps]


@pytest.fixture
def compat(chat):
    chat.add({"a.md": "old\n"})
    chat.call("WorkshopSetFlow", flow="compat")
    return chat


def kinds(chat) -> list[str]:
    found = chat.call("WorkshopGetConversation")["messages"]
    return [m["event_kind"] for m in found if m.get("event_kind")]


@pytest.mark.rule("W14.1", "W14.2", "W14.5", "W1.4", "W13.8", "W5.7", "W16.3")
def test_an_answer_and_its_changes_reach_the_draft_in_one_turn(compat):
    wire = compat.play(proposes(changeset(ops=[DOC])))

    done = compat.ask("Change it")

    answer = compat.answer()
    assert (done["status"], done["has_draft"], done.get("run_id")) == ("complete", True, None)
    assert compat.draft_bytes("a.md") == b"new\n"
    assert (
        b"Added."
        in compat.shop.call("WorkbenchFileRead", {"workbench_id": compat.id, "path": "r.docx"})[
            "text"
        ].encode()
    )
    assert answer["text"] == "I will change a.md."
    assert any("r.docx (added" in line for line in answer["facts_lines"])
    assert answer["metadata"]["flow"] == "compat"
    assert [r.purpose.value for r in wire.requests] == ["reply", "proposal"]
    assert all(not r.tools for r in wire.requests)
    assert compat.kinds().count("draft.batch_applied") == 1
    assert compat.published() == {"a.md": "old\n"}
    assert compat.state().get("pending_proposal_id") is None
    counters = compat.call("WorkshopGetMetrics")["counters"]
    assert (counters["proposals_generated"], counters["proposals_applied"]) == (1, 1)


@pytest.mark.rule("W9.4", "W6.12")
def test_an_answer_that_is_cut_by_its_length_is_complete_and_a_notice_says_so(compat):
    reply = {"when": {"purpose": "reply"}}
    compat.play(
        [
            {**reply, "respond": {"text": "One and", "finish": "length"}},
            {**reply, "respond": {"error": "context_length"}},
        ]
    )

    done = compat.ask("Hello", mode="ask")

    assert (done["status"], compat.answer()["text"]) == ("complete", "One and")
    notice = next(
        one
        for one in compat.call("WorkshopGetConversation")["messages"]
        if one.get("event_kind") == "notice"
    )
    assert notice["metadata"]["reason"] == "answer_cut"
    assert "stops in the middle" in notice["metadata"]["text"]
    assert done["warnings"] == [notice["metadata"]["text"]]


@pytest.mark.rule("F24.11")
@pytest.mark.parametrize(("recalculate", "shown"), [(True, "2\t4"), (False, "2\t{=A1*2}")])
def test_a_setting_leaves_formulas_of_proposals_to_the_spreadsheet_program(
    tmp_path, recalculate, shown
):
    cells = [{"cell": "A1", "value": 2}, {"cell": "A2", "value": "=A1*2"}]
    sheet = {"op": "set_cells", "sheet": "S", "cells": cells}
    book = {"path": "b.xlsx", "kind": "xlsx", "summary": "numbers", "ops": [sheet]}
    settings = {"model.default": "scripted:demo", "formats.recalculate": recalculate}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        chat = Chat(shop, tmp_path)
        chat.call("WorkshopSetFlow", flow="compat")
        chat.play(proposes(changeset(ops=[book])))

        chat.ask()

        read = chat.call("WorkbenchFileRead", path="b.xlsx")
    assert read["text"].splitlines()[-1] == shown


@pytest.mark.rule("W14.3", "W23.68")
def test_prose_around_a_proposal_is_cut_off(compat):
    compat.play(proposes(f"Here it is:\n```json\n{json.dumps(changeset())}\n``` Enjoy!"))

    compat.ask()

    assert compat.draft() == {"a.md": "new\n"}


@pytest.mark.rule("W14.4", "W23.68")
def test_a_proposal_is_repaired_once_with_what_was_wrong(compat):
    wire = compat.play(proposes("nothing of the kind", changeset()))

    compat.ask()

    assert compat.draft() == {"a.md": "new\n"}
    told = wire.requests[-1].messages[-1].text
    assert "There is no JSON object in the answer." in told


@pytest.mark.rule("W14.4", "W23.68", "W19.4")
def test_twice_unusable_is_no_change_and_the_person_is_told(compat):
    wire = compat.play(proposes("no", "no", changeset()))

    done = compat.ask()

    assert (done["status"], compat.draft()) == ("complete", None)
    assert "could not be worked out" in compat.told()
    assert "No file was changed" in compat.told()
    assert "proposal_failed" in kinds(compat)
    assert len(wire.requests) == 3


@pytest.mark.rule("W14.3", "B8.7", "W23.68")
def test_wanting_to_delete_is_refused_without_a_repair(compat):
    bad = changeset(writes=[{**TEXT, "meta": [{"deletes": ["a.md"]}]}])
    wire = compat.play(proposes(bad, changeset()))

    compat.ask()

    assert compat.draft() is None
    assert len(wire.requests) == 2
    assert "proposal_failed" in kinds(compat)


@pytest.mark.rule("W14.3", "B8.4", "W23.69")
@pytest.mark.parametrize(
    "bad",
    [
        {"schema_version": 3},
        {"summary": " "},
        {"no_changes": True},
        {"no_changes": "no"},
        {"writes": []},
        {"writes": "all"},
        {"writes": [7]},
        {"writes": [{**TEXT, "path": f"{n}.md"} for n in range(11)]},
        {"writes": [{**TEXT, "path": "../x"}]},
        {"writes": [{**TEXT, "path": "/etc/passwd"}]},
        {"writes": [{**TEXT, "path": 7}]},
        {"writes": [{**TEXT, "content": None}]},
        {"writes": [{**TEXT, "content": "x" * (1024 * 1024 + 1)}]},
        {"writes": [{**TEXT, "path": "r.docx"}]},
        {"writes": [TEXT, TEXT]},
        {"ops": [{**DOC, "ops": DOC["ops"] * 101}]},
        {"ops": [{**DOC, "ops": []}]},
        {"ops": [{**DOC, "kind": "xlsx"}]},
        {"ops": [{**DOC, "path": "r.odt", "kind": "odt"}]},
        {"ops": [{**DOC, "summary": ""}]},
        {"ops": [{**DOC, "ops": [{"op": "delete_paragraphs"}]}]},
        {"ops": [{**DOC, "ops": ["append_paragraph"]}]},
        {"ops": [{**DOC, "path": f"{n}.docx", "ops": DOC["ops"] * 100} for n in range(6)]},
    ],
)
def test_what_a_proposal_must_not_be(bad):
    found = proposal_changeset.read(json.dumps(changeset(**bad)))

    assert found.changeset is None
    assert found.problems
    assert not found.is_final


@pytest.mark.rule("W14.3")
def test_an_old_proposal_has_writes_only():
    old = {"summary": "s", "writes": [TEXT]}
    with_ops = {**old, "ops": [DOC]}

    assert proposal_changeset.read(json.dumps(old)).changeset is not None
    assert proposal_changeset.read(json.dumps(with_ops)).changeset is None
    assert proposal_changeset.read("{" * 100_000).changeset is None


@pytest.mark.rule("W14.5", "W23.69", "B8.3")
def test_one_failing_operation_applies_nothing_and_is_told(compat):
    bad = {
        **DOC,
        "ops": [{"op": "replace_text", "search": "not there", "replace": "x", "expect": 1}],
    }
    compat.play(proposes(changeset(ops=[bad])))

    done = compat.ask()

    assert (done["status"], compat.draft()) == ("complete", None)
    assert "could not be made" in compat.told()
    assert "apply_failed" in kinds(compat)


@pytest.mark.rule("W14.3", "F16.2")
def test_a_proposal_for_a_mistyped_document_makes_no_file(compat):
    compat.play(proposes(changeset(ops=[DOC])))
    compat.ask()
    compat.call("DraftPublish")
    compat.play(proposes(changeset(ops=[{**DOC, "path": "rr.docx"}])))

    compat.ask()

    assert compat.draft() is None
    assert "apply_failed" in kinds(compat)


@pytest.mark.rule("W14.1", "W1.5")
@pytest.mark.parametrize(("mode", "asked"), [("agent", 2), ("ask", 1)])
def test_a_question_changes_nothing(compat, mode, asked):
    nothing = {"schema_version": 2, "summary": "Nothing.", "no_changes": True}
    wire = compat.play(proposes(nothing))

    done = compat.ask("What is it?", mode=mode)

    assert (done["status"], compat.draft()) == ("complete", None)
    assert compat.answer()["text"] == "I will change a.md."
    assert len(wire.requests) == asked


@pytest.mark.rule("W14.6", "W14.5", "W3", "M16")
def test_the_parts_of_the_flow_as_commands(compat):
    nothing = {"schema_version": 2, "summary": "Nothing.", "no_changes": True}
    compat.play(proposes(nothing, changeset(), changeset(), changeset()))
    message = compat.send()
    assert compat.refused(
        "WorkshopStreamAssistantReply", message_id=message, model_id="scripted:echo"
    ) == ("VALIDATION_FAILED", "bad_params", ())
    assert compat.refused("WorkshopProposeChanges")[1] == "bad_target"
    compat.call("WorkshopStreamAssistantReply", message_id=message)

    made = compat.call("WorkshopProposeChanges")
    own = {"proposal_id": made["proposal_id"]}
    shown = compat.call("WorkshopGetProposal", **own)["proposal"]
    pending = compat.state()["pending_proposal_id"]
    compat.call("WorkshopDismissProposal")

    assert (made["no_changes"], pending, shown["writes"]) == (False, own["proposal_id"], [TEXT])
    assert compat.refused("WorkshopApplyProposal", **own)[1] == "proposal_closed"
    assert compat.refused("WorkshopDismissProposal", **own)[1] == "proposal_closed"
    assert compat.refused("WorkshopGetProposal", proposal_id="prop_" + "0" * 26)[0] == "NOT_FOUND"

    own = {"proposal_id": compat.call("WorkshopProposeChanges")["proposal_id"]}
    compat.add({"a.md": "other\n"}, on_conflict="replace")
    assert compat.refused("WorkshopApplyProposal", **own)[:2] == (
        "CONFLICT_PUBLISHED_CHANGED",
        "published_changed",
    )
    own = {"proposal_id": compat.call("WorkshopProposeChanges")["proposal_id"]}
    done = compat.call("WorkshopApplyProposal", **own)
    assert compat.draft() == {"a.md": "new\n"}
    assert done["draft_revision_id"] == compat.state()["active_draft_revision_id"]
    assert compat.refused("WorkshopApplyProposal", **own)[0] == "DRAFT_EXISTS"
    compat.call("DraftDiscard")
    assert compat.refused("WorkshopApplyProposal", **own)[1] == "proposal_closed"
    assert compat.refused("WorkshopProposeChanges")[1] == "bad_target"


@pytest.mark.rule("W14.6", "W15.1", "W15.9")
def test_going_back_and_answering_again(compat):
    compat.play(proposes(changeset(), changeset()))
    message = compat.send()
    compat.run(message)

    compat.call("WorkshopUndoToMessage", message_id=message)
    gone = compat.draft()
    again = compat.call("WorkshopRegenerate")

    assert (gone, again["status"]) == (None, "complete")
    assert compat.draft() == {"a.md": "new\n"}


@pytest.mark.rule("W5.10", "W14.1", "W5.12")
def test_an_answer_that_breaks_off_is_kept_and_made_again(compat):
    cut = {
        "when": {"purpose": "reply"},
        "respond": {"text": "I will change", "error": {"kind": "stream_cut", "after_chars": 6}},
    }
    compat.play([cut, *proposes(changeset())], "cut")
    message = compat.send()

    stopped = compat.run(message)
    kept = compat.answer()
    done = compat.run(message)

    assert stopped["status"] in ("paused", "failed")
    assert kept["status"] in ("interrupted", "failed")
    assert (done["status"], compat.draft()) == ("complete", {"a.md": "new\n"})


@pytest.mark.rule("W14.1", "W5.12", "M11.7")
def test_a_provider_that_does_not_answer_fails_the_turn_visibly(compat):
    compat.play([{"when": {"purpose": "reply"}, "times": 0, "respond": {"error": "empty"}}])

    done = compat.ask()

    assert done["status"] == "failed"
    assert "workshop_stream_failed" in kinds(compat)
    assert "did not work" in compat.answer()["text"]


@pytest.mark.rule("W14.1", "W3")
def test_one_message_of_a_workbench_with_flow_rpi_is_answered_with_flow_compat(chat):
    chat.add({"a.md": "old\n"})
    chat.call("WorkshopSetFlow", flow="rpi")
    chat.play(proposes(changeset()))
    message = chat.send("Change it")

    chat.call("WorkshopStreamAssistantReply", message_id=message)

    assert chat.draft() == {"a.md": "new\n"}
    assert chat.answer()["text"].startswith("I will change a.md.")
    assert chat.state()["flow"] == "rpi"


@pytest.mark.rule("W13.10")
def test_a_workflow_drives_turns_of_the_other_flow_only(compat):
    message = compat.send()

    answer = compat.refused("WorkshopRunAgent", message_id=message, workflow_id="wr.rpi")

    assert answer[:2] == ("VALIDATION_FAILED", "bad_params")


def unstorable(value: str) -> str:
    """Return a proposal with a value, written as JSON, in an operation."""
    whole = changeset(writes=[], ops=[{**DOC, "ops": [{**DOC["ops"][0], "size": "HERE"}]}])
    return json.dumps(whole).replace('"HERE"', value)


@pytest.mark.rule("W14.4")
@pytest.mark.parametrize(
    "first",
    [
        changeset(ops=[{**DOC, "kind": []}]),
        changeset(ops=[{**DOC, "kind": {}}]),
        changeset(ops=[{**DOC, "ops": [{"op": {}}]}]),
        changeset(ops=[{**DOC, "ops": [{"op": ["append_paragraph"]}]}]),
        changeset(schema_version=[2]),
        unstorable("NaN"),
        unstorable("1e999"),
        unstorable("9007199254740993"),
        unstorable('"\\ud800"'),
    ],
    ids=[
        "kind-list",
        "kind-object",
        "op-object",
        "op-list",
        "version",
        "nan",
        "inf",
        "int",
        "half",
    ],
)
def test_a_proposal_of_odd_values_is_repaired_once(compat, first):
    wire = compat.play(proposes(first, changeset()))

    done = compat.ask("Change it")

    assert done["status"] == "complete"
    assert compat.draft_bytes("a.md") == b"new\n"
    assert [r.purpose.value for r in wire.requests] == ["reply", "proposal", "proposal"]
