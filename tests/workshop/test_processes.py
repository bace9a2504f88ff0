"""Several programs in one conversation: who comes second is told so, and nothing is mixed up."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.workshop.conftest import Chat, story

from backshop.app import Backshop
from backshop.store import whereabouts
from backshop.store.lease.lease import Leases

SEND = """
import sys
from backshop.cli import main
sys.stdin.readline()
main(sys.argv[1:])
"""


@pytest.mark.rule("W5.2", "W5.3", "W5.5", "W12.5", "B3.8")
def test_several_senders_at_once(tmp_path):
    """One turn runs at a time; whoever is refused changed nothing but, perhaps, said something."""
    home = tmp_path / "home"
    with Backshop.open(home) as shop:
        shop.call("UserSetDefaultModel", {"model_id": "scripted:demo"})
        bench = shop.call("WorkbenchCreateSample", {})["workbench_id"]
    task = "Translate the customers' comments into English, in a new column"
    command = [sys.executable, "-c", SEND, "send", bench, task, "--json", "--home", str(home)]
    senders = [
        subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    for one in senders:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    answers = [json.loads(one.communicate(timeout=600)[0]) for one in senders]

    done = [one for one in answers if one.get("status") == "complete"]
    refused = [one["error_code"] for one in answers if "error_code" in one]
    assert len(done) == 1
    assert len(refused) == 2
    assert set(refused) <= {"BENCH_BUSY", "DRAFT_EXISTS", "VALIDATION_FAILED"}
    with Backshop.open(home) as shop:
        state = shop.call("WorkshopGetState", {"workbench_id": bench})
        page = shop.call("WorkshopGetConversation", {"workbench_id": bench})["messages"]
        kinds = [event.kind for event in shop.store.read(f"bench:{bench}")]
        assert (state["has_draft"], state.get("active_turn")) == (True, None)
        assert sum(one["type"] == "assistant_message" for one in page) == 1
        assert kinds.count("workshop.turn_started") == 1
        line = [one for one in page if one.get("advances_head")]
        parents = [one.get("parent_id") for one in line[1:]]
        assert parents == [one["message_id"] for one in line[:-1]]


OTHER = f"turn_{'0' * 26}:tx_1:{whereabouts()}"  # of this machine, and alive


class GivingWay(Leases):
    """Leases of which somebody else has one, and gives it back once we were sent away."""

    def __init__(self, leases: Leases, stream: str) -> None:
        self.__dict__.update(leases.__dict__)
        super().take(stream, OTHER, 60)

    def take(self, stream: str, owner: str, duration_s: float) -> bool:
        is_ours = super().take(stream, owner, duration_s)
        if not is_ours:
            self.end(stream, OTHER)
        return is_ours


@pytest.mark.rule("W5.5")
def test_a_sender_is_not_sent_away_by_one_who_begins_no_turn(chat: Chat):
    """The other one was refused as well: somebody spoke after them, and is to be answered."""
    chat.play(story())
    message = chat.send("Hello")
    chat.shop.store.leases = GivingWay(chat.shop.store.leases, f"bench:{chat.id}")

    done = chat.call("WorkshopRunAgent", message_id=message)

    assert done["status"] == "complete"


@pytest.mark.rule("W15.3", "W23.58", "W3.1", "W5.3")
@pytest.mark.parametrize("strange", ["msg_" + "0" * 26, "nonsense", "", "../x"])
@pytest.mark.parametrize(
    "name", ["WorkshopRunAgent", "WorkshopUndoToMessage", "WorkshopRegenerate"]
)
def test_a_message_nobody_knows_is_refused_everywhere(chat: Chat, name, strange):
    chat.send("Hello")

    code, reason, _ = chat.refused(name, message_id=strange)

    assert (code, reason) == ("NOT_FOUND", "message_not_found")


@pytest.mark.rule("W23.57", "B8.17", "W15.4", "W15.3", "B22.46")
@pytest.mark.parametrize("mode", ["chat_only", "discard_draft"])
def test_both_offers_work_where_a_state_is_not_kept_any_more(tmp_path, mode):
    limits = {"model.default": "scripted:demo", "workshop.max_revisions": 10}
    with Backshop.open(tmp_path / "home", settings=limits) as shop:
        chat = Chat(shop, tmp_path)
        question = chat.send("First")
        for number in range(3):
            chat.write({"a.txt": f"{number}"})
        chat.call("WorkshopSwitchModel", model_id="scripted:echo")
        for number in range(20):
            chat.write({"a.txt": f"later {number}"})

        refused = chat.refused("WorkshopUndoToMessage", message_id=question)
        strange = {"message_id": question, "mode": "restore_published"}
        assert chat.refused("WorkshopUndoToMessage", **strange)[1] == "bad_mode"
        preview = chat.call("WorkshopUndoToMessage", message_id=question, dry_run=True)["effects"]
        done = chat.call("WorkshopUndoToMessage", message_id=question, mode=mode)

        assert refused == ("REVISION_PRUNED", "revision_pruned", ("chat_only", "discard_draft"))
        assert (preview["revision_available"], preview["choices"]) == (False, list(refused[2]))
        assert done["conversation_head_id"] == question
        kept = {"a.txt": "later 19"} if mode == "chat_only" else None
        assert chat.draft() == kept
