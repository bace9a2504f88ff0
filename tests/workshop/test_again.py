"""Do it again: a finished turn is kept as a workflow, and runs on other files."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workshop.conftest import calls, says, story, write

from backshop.base import yaml
from backshop.base.errors import BackshopError
from backshop.workshop.again.definition import proposed_id, recipe
from backshop.workshop.again.material import Material, UsedFile, Work

MONTHLY = "user.monthly_totals"


def january(chat):
    """Let a turn read one file, change one and make one; return the saved workflow."""
    chat.add({"sales-2025-01.csv": "region,amount\nnorth,1\n", "rates.csv": "a,b\n1,2\n"})
    chat.play(
        [
            calls("research", 1, ("read_file", {"path": "rates.csv"})),
            says("research", "# Research"),
            says(
                "plan",
                "# Plan\n## Items\n"
                "- [ ] 1. Add a total to sales-2025-01.csv — one row, rounded to 2 digits\n"
                "- [ ] 2. Write summary-january.md — what `sales-2025-01.csv` says\n",
            ),
            calls("implement", 1, write("sales-2025-01.csv", "region,amount\nall,1\n"), item=1),
            calls("implement", 1, write("summary-january.md", "# One\n"), item=2),
            says("implement", "Done."),
            says("summary", "All done."),
        ]
    )
    chat.run(chat.send("Add the totals to sales-2025-01.csv, with rates.csv"))
    chat.call("DraftPublish")
    return chat.call("WorkshopSaveWorkflow", name="Monthly totals")


@pytest.mark.rule("W25.1", "W25.2", "W25.3", "W25.4")
def test_a_finished_turn_becomes_a_workflow_with_its_files_as_inputs(chat):
    saved = january(chat)
    text = chat.shop.call("RailsWorkflowSource", {"workflowId": MONTHLY})["source"]
    data: Any = yaml.read(text)

    assert saved["workflow_id"] == MONTHLY
    assert saved["inputs"] == [
        {"name": "sales", "role": "changed", "path": "sales-2025-01.csv"},
        {"name": "summary_january", "role": "created", "path": "summary-january.md"},
        {"name": "rates", "role": "read", "path": "rates.csv"},
    ]
    assert [(one["title"], one["is_specific"]) for one in saved["steps"]] == [
        ("Add a total to {{sales}}", True),
        ("Write {{summary_january}}", False),
    ]
    assert "step_1: numbers or quotes of that turn stand in the text" in saved["notes"][0]
    first, second = data["steps"]
    assert first["prompt"].startswith("Add a total to {{sales}} — one row, rounded to 2 digits")
    assert "> Add the totals to {{sales}}, with {{rates}}" in first["prompt"]
    assert second["prompt"].startswith("Write {{summary_january}} — what `{{sales}}` says")
    assert "2025-01" not in first["prompt"] + second["prompt"]
    assert chat.shop.call("RailsWorkflowValidate", {"source": text, "strict": True})["valid"]
    (shown,) = chat.call("WorkshopGetWorkflowInputs")["workflows"]
    assert {one["name"]: (one["is_file"], one.get("proposal")) for one in shown["inputs"]} == {
        "sales": (True, None),
        "rates": (True, None),
        "summary_january": (False, "summary-january.md"),
    }


@pytest.mark.rule("W25.4", "W25.5", "R8.36")
def test_the_workflow_runs_on_other_files(chat):
    january(chat)
    chat.add({"february.csv": "region,amount\nsouth,2\n"})
    wire = chat.play(
        [
            calls("implement", 1, write("two.md", "# Two\n"), prompt="Write two.md — what"),
            calls("implement", 1, write("february.csv", "region,amount\nall,2\n")),
            says("implement", "Done."),
            says("summary", "Again."),
        ],
        name="again",
    )
    message = chat.send("And for February")

    inputs = {"sales": "february.csv", "rates": "rates.csv", "summary_january": "two.md"}
    done = chat.call("WorkshopRunAgent", message_id=message, workflow_id=MONTHLY, inputs=inputs)

    asked = ["\n".join(m.text for m in one.messages) for one in wire.requests]
    first = next(one for one in asked if "Add a total to february.csv" in one)
    assert "[unset" not in "".join(asked)
    assert "From the person" not in first  # what was given is not asked for
    assert any("Write two.md — what `february.csv` says" in one for one in asked)
    assert (done["status"], done["has_draft"]) == ("complete", True)
    changed = {one["path"] for one in chat.call("ReviewGetChangeSet")["entries"]}
    assert changed == {"february.csv", "two.md"}
    before = len(wire.requests)
    chat.call("WorkshopRegenerate")
    again = ["\n".join(m.text for m in one.messages) for one in list(wire.requests)[before:]]
    assert any("Add a total to february.csv" in one for one in again)
    assert "[unset" not in "".join(again)


UNFIT = [
    (None, "input_missing"),
    ({"sales": "rates.csv"}, "input_missing"),
    ({"sales": "rates.csv", "rates": "nothing.csv"}, "input_not_found"),
    ({"sales": "../x", "rates": "rates.csv"}, "bad_path"),
    ({"sales": "rates.csv", "rates": "rates.csv", "other": "rates.csv"}, "input_unknown"),
]


@pytest.mark.rule("W25.4")
def test_inputs_that_do_not_fit_are_refused_before_anything_is_changed(chat):
    january(chat)
    message = chat.send("Again")

    for inputs, reason in UNFIT:
        run = {"message_id": message, "workflow_id": MONTHLY, "inputs": inputs}
        assert chat.refused("WorkshopRunAgent", **run)[1] == reason
        ask = {"workflow_id": MONTHLY, "inputs": inputs or {}}
        assert chat.refused("WorkshopGetWorkflowInputs", **ask)[1] == reason
        before = chat.shop.store.last_seq()
        with pytest.raises(BackshopError) as caught:  # nothing is said either
            chat.shop.workshop(chat.id).send("Again", workflow=MONTHLY, inputs=inputs)
        assert (caught.value.reason, chat.shop.store.last_seq()) == (reason, before)


@pytest.mark.rule("W25.4")
def test_inputs_without_a_workflow_are_refused(chat):
    message = chat.send("Again")

    refused = chat.refused("WorkshopRunAgent", message_id=message, inputs={"a": "b"})

    assert refused[1] == "bad_params"


@pytest.mark.rule("W25.3")
def test_an_id_that_is_taken_is_replaced_only_with_the_hash_of_its_file(chat):
    first = january(chat)

    wish = {"name": "Another name", "workflow_id": MONTHLY}
    with pytest.raises(BackshopError) as caught:
        chat.call("WorkshopSaveWorkflow", **wish)
    with pytest.raises(BackshopError) as other:
        chat.call("WorkshopSaveWorkflow", **wish, expected_hash="sha256:" + "0" * 64)
    again = chat.call("WorkshopSaveWorkflow", **wish, expected_hash=first["source_hash"])

    assert (caught.value.reason, other.value.reason) == ("precondition_failed",) * 2
    assert again["replaced"] is True


@pytest.mark.rule("W25.1")
def test_what_is_not_finished_or_not_there_is_no_workflow(chat):
    assert chat.refused("WorkshopSaveWorkflow", name="A")[1] == "turn_not_found"
    chat.play(story(("a.md", "x")))
    done = chat.ask()
    unknown = {"name": "A", "turn_id": "turn_01J00000000000000000000000"}
    assert chat.refused("WorkshopSaveWorkflow", **unknown)[1] == "turn_not_found"
    assert chat.refused("WorkshopSaveWorkflow", name=" ")[1] == "bad_params"
    chat.call("DraftDiscard")
    chat.play([{"when": {}, "times": 0, "respond": {"error": "auth"}}], name="refusing")
    failed = chat.ask()

    of_failed = {"name": "A", "turn_id": failed["turn_id"]}
    assert chat.refused("WorkshopSaveWorkflow", **of_failed)[1] == "turn_unfinished"
    newest = chat.call("WorkshopSaveWorkflow", name="Newest")
    named = chat.call("WorkshopSaveWorkflow", name="Named", turn_id=done["turn_id"])
    assert newest["inputs"] == named["inputs"]


@pytest.mark.rule("W25.1")
def test_direct_work_is_one_step_and_a_run_of_a_workflow_can_be_saved_again(chat):
    january(chat)
    chat.add({"march.csv": "region,amount\n"})
    chat.play([says("implement", "Done."), says("summary", "Again.")], name="driven")
    inputs = {"sales": "march.csv", "rates": "rates.csv"}
    message = chat.send("March")
    chat.call("WorkshopRunAgent", message_id=message, workflow_id=MONTHLY, inputs=inputs)

    driven = chat.call("WorkshopSaveWorkflow", name="Driven")
    chat.call("WorkshopSetFlow", flow="auto")
    chat.play(
        [
            {
                "when": {"purpose": "work", "turn": 1},
                "respond": {
                    "tool_calls": [{"name": "read_file", "arguments": {"path": "rates.csv"}}]
                },
            },
            says("work", "It says 1."),
        ],
        name="direct",
    )
    chat.run(chat.send("What does rates.csv say?"))
    direct = chat.call("WorkshopSaveWorkflow", name="Direct")

    assert [one["title"] for one in driven["steps"]] == [
        "Add a total to {{march}}",
        "Write {{summary_january}}",
    ]
    assert [(one["name"], one["role"]) for one in direct["inputs"]] == [("rates", "read")]
    assert [one["title"] for one in direct["steps"]] == ["What does {{rates}} say?"]


@pytest.mark.rule("W25.1", "W24.2")
@pytest.mark.parametrize(("text", "said"), [("Shorter, please", "Shorter, please"), ("", "Write")])
def test_comments_that_a_request_brought_up_do_not_describe_the_workflow(chat, text, said):
    chat.play(story(("a.txt", "one\n")), name="first")
    chat.ask("Write")
    chat.call("ReviewAddComment", path="a.txt", text="This is wrong")
    chat.call("WorkshopSetFlow", flow="auto")
    chat.play([says("work", "Done.")])
    chat.run(chat.call("WorkshopRequestChanges", text=text)["message_id"])

    saved = chat.call("WorkshopSaveWorkflow", name="Again")

    text = chat.shop.call("RailsWorkflowSource", {"workflowId": saved["workflow_id"]})["source"]
    data: Any = yaml.read(text)
    assert (data["description"], data["steps"][0]["title"]) == (said, said)
    assert "This is wrong" in data["steps"][0]["prompt"]


PIECES = [*string.printable, "{{", "}}", "{{goal}}", "{{wr.x}}", "\n- id: x", "\u2028"]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@pytest.mark.rule("W25.2", "S7.4")
@given(request=HOSTILE, items=st.lists(HOSTILE.filter(str.strip), max_size=4), name=HOSTILE)
def test_whatever_stands_in_the_texts_they_stay_texts(request, items, name):
    works = tuple(Work(label=one, text=one) for one in items)
    files = (UsedFile(path="a b.csv", role="changed"), UsedFile(path="d/n.md", role="created"))
    made = recipe(
        Material(request=request + " a b.csv", works=works, files=files),
        proposed_id(name, "user"),
        name.strip() or "x",
    )

    assert yaml.read(yaml.write(made.data)) == made.data
    steps: Any = made.data["steps"]
    for step in steps:
        tokens = step["prompt"].split("{{")[1:]
        assert {one.split("}}")[0] for one in tokens} <= {"a_b", "n"}


STRANGE = "{{goal}} {a.csv} }} {{wr.x}}: - | a.csv.bak xa.csv"


@pytest.mark.rule("W25.2")
def test_a_hostile_request_is_saved_and_runs_as_the_text_it_is(chat):
    chat.add({"a.csv": "x\n1\n", "b.csv": "x\n2\n"})
    chat.call("WorkshopSetFlow", flow="auto")
    chat.play([says("work", "Nothing to do.")])
    chat.run(chat.send(f"Look at {STRANGE}"))

    chat.call("WorkshopSaveWorkflow", name="Look", workflow_id="user.look")
    wire = chat.play([says("implement", "Done."), says("summary", "x")], name="again")
    again = {"message_id": chat.send("Again"), "workflow_id": "user.look"}
    chat.call("WorkshopRunAgent", **again, inputs={"a": "b.csv"})

    asked = "\n".join(m.text for m in wire.requests[0].messages)
    assert "Look at { {goal} } { b.csv } } } { {wr.x} }: - | a.csv.bak xa.csv" in asked
