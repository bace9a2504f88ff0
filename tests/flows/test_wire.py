"""One whole turn over a real connection, with a server here that speaks a provider's words."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import partial

import pytest
from tests.models.provider import Provider, Reply, chat, serving
from tests.workshop.conftest import Chat, hears, plan, story

from backshop.app import About, Backshop
from backshop.base.ambient import SystemClock
from backshop.base.errors import BackshopError
from backshop.models.egress.deadline import CallLimits, Watch
from backshop.models.loop import retrying_call
from backshop.models.loop.pulse import Pulse
from backshop.prompts import CancelToken
from backshop.workshop.turn.lease import POLL_S

MODELS = Reply(
    [b'{"object": "list", "data": [{"id": "m", "object": "model", "max_model_len": 32768}]}'],
    content_type="application/json",
)
NO_FIELD = Reply([b'{"error": {"message": "unknown field"}}'], status=400)
PROBE = (
    MODELS,
    Reply(chat("yes")),
    NO_FIELD,
    Reply(chat(calls=(("c", "answer", '{"text": "yes"}'),))),
    NO_FIELD,
)


def said(*texts: str) -> Reply:
    return Reply(chat(*texts, usage=False))  # an honest count would have to be the prompt's


def call(name: str, **arguments) -> Reply:
    wanted = (f"call-{name}", name, json.dumps(arguments))
    return Reply(chat(calls=(wanted,), usage=False))


def connect(room: Chat, server: Provider) -> None:
    """Let the bench's model be the one behind this server."""
    local = {"provider_id": "local-x", "preset": "custom", "base_url": server.url}
    room.shop.call("ProvidersUpsertLocal", local)
    room.shop.call("ProvidersProbe", {"provider_id": "local-x"})
    room.call("WorkshopSwitchModel", model_id="local-x:m")


def agree(room: Chat) -> None:
    """Consent to what the next call would send."""
    status = room.call("EgressGetConsentStatus", model_id="local-x:m")
    granted = {"provider_id": "local-x", "model_id": "local-x:m"}
    room.call("EgressGrantWorkshopConsent", **granted, scope_hash=status["scope_hash"])


@pytest.mark.rule("W5.3", "W5.7", "M4", "W23.63", "W15.8", "B7.11", "B22.81", "W6.16", "W16.3")
@pytest.mark.parametrize("flow", ["auto", "rpi"])
def test_a_turn_over_the_wire_needs_consent_first(tmp_path, flow):
    settings = {"consent.for_local": True, "workshop.flow": flow}
    found = (said("# Research\n\n", "One file."), said(plan("Write b.txt")))
    turn = (
        call("list_files"),
        *(found if flow == "rpi" else ()),
        call("write_text_file", path="b.txt", content="b\n"),
        *((said("Wrote b.txt."),) if flow == "rpi" else ()),
        said("I wrote ", "b.txt", "."),
    )
    with (
        serving(*PROBE, *turn) as server,
        Backshop.open(tmp_path / "home", settings=settings) as shop,
    ):
        room = Chat(shop, tmp_path)
        room.add({"a.txt": "one\n"})
        connect(room, server)
        question = room.send("Write b.txt")
        before = len(server.seen)

        refusal = room.refused("WorkshopRunAgent", message_id=question)
        assert refusal[0] == "EGRESS_CONSENT_REQUIRED"
        assert len(server.seen) == before
        agree(room)
        done = room.run(question)

        assert (done["status"], done["has_draft"]) == ("complete", True)
        assert room.draft() == {"a.txt": "one\n", "b.txt": "b\n"}
        assert room.answer()["text"] == "I wrote b.txt."
        assert len(server.seen) == before + len(turn)
        asked = [seen.json for seen in server.seen[before:]]
        assert all(one["tools"] == asked[0]["tools"] for one in asked)  # the same in every phase
        assert all(one["messages"][0] == asked[0]["messages"][0] for one in asked)
        choices = [one["tool_choice"] for one in asked]
        assert choices == ["required" if flow == "rpi" else "auto", *["auto"] * (len(asked) - 1)]
        usage = room.answer()["metadata"]["usage"]
        assert usage["estimated"]
        assert usage["input_tokens"] > 1000

        def standing() -> tuple[object, ...]:
            return room.draft(), room.state()["conversation_head_id"], room.answer()["message_id"]

        stands, sent = standing(), len(server.seen)
        room.call("EgressRevokeConsent", provider_id="local-x")
        assert room.refused("WorkshopRegenerate")[0] == "EGRESS_CONSENT_REQUIRED"
        agree(room)
        shop.call("ProvidersSetEnabled", {"provider_id": "local-x", "enabled": False})
        assert room.refused("WorkshopRegenerate")[0] == "PROVIDER_NOT_CONFIGURED"
        assert (standing(), len(server.seen)) == (stands, sent)  # refused before anything goes


@pytest.mark.rule("W5.12", "M11.6", "W19.4")
@pytest.mark.parametrize(("status", "code"), [(400, "REQUEST_REJECTED"), (401, "AUTH_FAILED")])
def test_a_provider_that_refuses_before_any_work_fails_the_turn_with_its_reason(
    tmp_path, status, code
):
    body = {"error": {"message": "max_tokens is too large: 9. Key sk-proj-abc123def is unknown."}}
    no = Reply([json.dumps(body).encode()], status=status, content_type="application/json")
    with (
        serving(*PROBE, *[no] * 4) as server,
        Backshop.open(tmp_path / "home") as shop,
    ):
        room = Chat(shop, tmp_path)
        room.add({"a.txt": "one\n"})
        connect(room, server)

        done = room.ask("Write b.txt")

        answer = room.answer()
        events = room.call("WorkshopGetConversation")["messages"]
        [error] = [m["metadata"]["error"] for m in events if m.get("event_kind") == "run_failed"]
    assert (done["status"], answer["status"]) == ("failed", "failed")
    assert error["error_code"] == f"PROVIDER_{code}"
    assert "max_tokens is too large: 9. Key [secret] is unknown" in answer["text"]
    assert "go on from here" not in answer["text"]
    assert answer["facts_lines"] == ["No file was changed."]
    assert "sk-proj" not in json.dumps(events)


@pytest.mark.rule("W5.11", "W23.47", "M12.1")
@pytest.mark.parametrize("begun", [False, True], ids=["no answer yet", "in the middle of it"])
def test_a_cancelled_turn_ends_while_the_model_keeps_its_answer_back(tmp_path, begun):
    asked, gate = threading.Event(), threading.Event()

    def hold() -> Callable[[], None]:
        asked.set()
        return lambda: None

    def keep() -> None:
        hold()
        gate.wait(120)  # until the turn is over; the rest of the answer never comes

    answer = chat("Some", " text")
    held = Reply(answer[:2], then=hold) if begun else Reply(answer, before=keep)
    done: list[dict[str, object]] = []
    with serving(*PROBE, held) as server, Backshop.open(tmp_path / "home") as shop:
        room = Chat(shop, tmp_path)
        room.add({"a.txt": "one\n"})
        connect(room, server)
        question = room.send("Write b.txt")
        worker = threading.Thread(target=lambda: done.append(room.run(question)), daemon=True)
        with shop.hub.subscribe(About(workbench_id=room.id)) as news:
            worker.start()
            assert asked.wait(60)
            if begun:
                hears(news, lambda one: one.name == "WorkshopAssistantStream")

        assert room.call("WorkshopCancelRun") == {"cancel_requested": True}

        worker.join(60)
        assert not worker.is_alive()  # nobody has opened the gate
        gate.set()
        assert done[0]["status"] == "canceled"
        assert room.answer()["text"] == ("Some" if begun else "Stopped.")  # what was seen stays
        assert room.facts()[0] == "No file was changed."
        assert room.state()["resumable_turn"]["message_id"] == question
        assert (room.draft(), room.published()) == (None, {"a.txt": "one\n"})
        assert room.call("WorkshopCancelRun") == {"cancel_requested": False}
        if begun:
            server.idle(30)  # the line is closed


@pytest.mark.rule("M8.10", "S3.2")
def test_a_server_that_says_nothing_shows_life_and_is_given_up_as_the_settings_say(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(retrying_call, "Pulse", partial(Pulse, first_s=0.01, every_s=0.01))
    settings = {"models.first_event_local_s": 1}
    with (
        serving(*PROBE, Reply([], hang=True)) as server,
        Backshop.open(tmp_path / "home", settings=settings) as shop,
    ):
        room = Chat(shop, tmp_path)
        room.add({"a.txt": "one\n"})
        connect(room, server)
        before = len(server.seen)
        with shop.hub.subscribe() as events:
            done = room.run(room.send("Write b.txt"))
            heard = events.wait(5)

    told = [one.payload for one in heard if one.name == "WorkshopModelProgress"]
    assert len(server.seen) - before == 2
    assert done["status"] in ("failed", "paused")
    assert {(one["state"], one["model_id"]) for one in told} == {("waiting", "local-x:m")}


@pytest.mark.rule("M12.1")
def test_the_waits_a_wish_to_stop_passes_through_are_within_its_second():
    watch = Watch(SystemClock(), CancelToken(), CallLimits())

    assert POLL_S + watch.pause() <= 0.5


@pytest.mark.rule("M6.6", "M6.7", "M19.44", "W1.4")
def test_a_server_without_tools_is_found_out_and_drives_turns_of_compat_alone(tmp_path):
    with serving(MODELS, said("yes")) as server, Backshop.open(tmp_path / "home") as shop:
        room = Chat(shop, tmp_path)
        local = {"provider_id": "local-x", "preset": "custom", "base_url": server.url}
        shop.call("ProvidersUpsertLocal", local)
        probed = shop.call("ProvidersProbe", {"provider_id": "local-x"})
        room.call("WorkshopSwitchModel", model_id="local-x:m")
        room.call("WorkshopSetFlow", flow="rpi")
        question = room.send("Write b.txt")
        before = len(server.seen)

        refusal = room.refused("WorkshopRunAgent", message_id=question)

        assert probed["supports"]["tools"] is False
        assert refusal[:2] == ("PROVIDER_NOT_CONFIGURED", "model_unavailable")
        assert len(server.seen) == before
        room.call("WorkshopSetFlow", flow="auto")
        done = room.run(question)
        assert (done["status"], room.answer()["metadata"]["flow"]) == ("complete", "compat")
        assert not any("tools" in one.json for one in server.seen[before:])


@pytest.mark.rule("M2.3", "M2.4", "M2.5", "W16.2")
def test_another_model_chosen_meanwhile_answers_the_next_turn(tmp_path):
    rooms: list[Chat] = []
    first = call("list_files")
    first.before = lambda: rooms[0].call("WorkshopSwitchModel", model_id="scripted:next")
    turn = (first, said("All is well."))
    with serving(*PROBE, *turn) as server, Backshop.open(tmp_path / "home") as shop:
        room = Chat(shop, tmp_path)
        rooms.append(room)
        other = shop.models.play("next", story(("b.txt", "b")))
        room.add({"a.txt": "one\n"})
        local = {"provider_id": "local-x", "preset": "custom", "base_url": server.url}
        shop.call("ProvidersUpsertLocal", local)
        shop.call("ProvidersProbe", {"provider_id": "local-x"})
        room.call("WorkshopSwitchModel", model_id="local-x:m")
        before = len(server.seen)

        room.run(room.send("Is all well?"))

        assert len(server.seen) - before == 2  # all of the turn, by the model it began with
        assert room.answer()["metadata"]["model_id"] == "local-x:m"
        assert room.call("WorkshopGetState")["model_id"] == "scripted:next"
        room.ask("And now?")
        told = "\n".join(one.text for one in other.requests[0].messages)
        assert "Is all well?" in told  # another provider's turns are told like its own
        assert "All is well." in told


@pytest.mark.rule("W16.4", "W11.14", "W5.12", "W12.1", "W12.2", "M4.5", "W19.4", "W23.51")
@pytest.mark.parametrize("lost", ["consent", "provider"])
def test_what_is_taken_away_in_mid_turn_pauses_it_and_nothing_more_is_sent(tmp_path, lost):
    """The person revokes consent, or switches the provider off, while the first item is done."""
    rooms: list[Chat] = []

    def take_away() -> None:
        if lost == "consent":
            rooms[0].call("EgressRevokeConsent", provider_id="local-x")
        else:
            wish = {"provider_id": "local-x", "enabled": False}
            rooms[0].shop.call("ProvidersSetEnabled", wish)

    def give_back() -> str:
        """Consent again, or choose another model; return the one that goes on."""
        if lost == "consent":
            agree(rooms[0])
            return "local-x:m"
        rooms[0].play(story(("b.txt", "never"), ("c.txt", "c\n"), answer="b.txt c.txt"), "other")
        return "scripted:other"

    last = said("Wrote b.txt.")
    last.before = take_away
    turn = (
        call("list_files"),
        said("# Research\n\nOne file."),
        said(plan("Write b.txt", "Write c.txt")),
        call("write_text_file", path="b.txt", content="b\n"),
        last,
        call("write_text_file", path="c.txt", content="c\n"),
        said("Wrote c.txt."),
        said("I wrote b.txt and c.txt."),
    )
    with (
        serving(*PROBE, *turn) as server,
        Backshop.open(tmp_path / "home", settings={"consent.for_local": True}) as shop,
    ):
        room = Chat(shop, tmp_path)
        rooms.append(room)
        room.add({"a.txt": "one\n"})
        connect(room, server)
        agree(room)
        room.call("WorkshopSetFlow", flow="rpi")
        question = room.send("Write b.txt and c.txt")
        before = len(server.seen)

        stopped = room.run(question)

        told = room.answer()
        code = {"consent": "EGRESS_CONSENT_REQUIRED", "provider": "PROVIDER_NOT_CONFIGURED"}[lost]
        assert stopped["status"] == "paused"
        assert room.draft() == {"a.txt": "one\n", "b.txt": "b\n"}
        assert len(server.seen) == before + 5  # nothing after it was taken away
        assert (told["status"], told["facts_lines"][1]) == ("interrupted", "1 of 2 items done.")
        assert room.state()["resumable_turn"]["error"]["code"] == code
        refusal = room.refused("WorkshopRunAgent", message_id=question)
        assert refusal[0] == code
        with pytest.raises(BackshopError) as caught:
            room.run(question)
        info = caught.value.info("workshop")
        assert "switch_model" in info.actions
        model_id = give_back()
        done = room.run(question)
        assert (done["status"], done["turn_id"]) == ("complete", stopped["turn_id"])
        assert room.answer()["metadata"]["model_id"] == model_id
        assert room.draft() == {"a.txt": "one\n", "b.txt": "b\n", "c.txt": "c\n"}
