"""Any workflow can drive a turn: its steps are asked for, its contracts are required outputs."""

from __future__ import annotations

import json

import pytest
from tests.workshop.conftest import calls, says, write

PARTS = {"context": {"parts": [{"name": "1 Intro", "place": "page 1"}]}}


@pytest.mark.rule("W13.10", "W13.11")
def test_a_workflow_of_the_catalogue_drives_a_turn(chat):
    chat.add({"report.md": "# Intro\n\nText.\n"})
    block = f"Read it.\n```json\n{json.dumps(PARTS)}\n```"
    wire = chat.play(
        [
            {
                "when": {"purpose": "implement", "prompt": "Know what the document must achieve"},
                "times": 0,
                "respond": {"text": block},
            },
            calls("implement", 1, write("findings.md", "# Findings\n"), prompt="1 Intro"),
            says("implement", "Nothing more to say."),
            says("summary", "Reviewed; see findings.md."),
        ]
    )
    question = chat.send("Review report.md")

    done = chat.call("WorkshopRunAgent", message_id=question, workflow_id="wr.document_review")

    assert (done["status"], done["has_draft"]) == ("complete", True)
    assert chat.answer()["text"] == "Reviewed; see findings.md."
    run = chat.shop.call("RailsRunGet", {"runId": done["run_id"]})
    assert run["workflowId"] == "wr.document_review"
    assert run["status"] == "complete_with_gaps"  # the verdict its contract asks for is missing
    told = "\n".join(m.text for m in wire.requests[1].messages)
    assert "1 Intro" in told  # the context the first step set reached the loop
    tools = {tool.name for tool in wire.requests[0].tools}
    assert "write_text_file" in tools


@pytest.mark.rule("W13.11")
def test_an_unknown_workflow_changes_nothing(chat):
    question = chat.send("Review")
    before = chat.shop.store.last_seq()

    with pytest.raises(Exception, match=r"wr\.nothing"):
        chat.call("WorkshopRunAgent", message_id=question, workflow_id="wr.nothing")

    assert chat.shop.store.last_seq() == before
    assert "active_turn" not in chat.state()
