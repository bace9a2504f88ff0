"""The agent looks at pages: a picture in its request, once, counted, and the same after a stop."""

from __future__ import annotations

import json
import re
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow
from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.util import Inches
from tests.workshop.conftest import Chat, calls, plan, says

from backshop.app import Backshop
from backshop.models.messages import Message, ModelRequest, Role

LOOK = ("view_page", {"path": "deck.pptx", "place": "slide 1"})
ADDS = (
    "pptx_operations",
    {
        "path": "deck.pptx",
        "operations": [{"op": "add_slide", "layout": "Title Only", "title": "Made here"}],
    },
)


def deck() -> bytes:
    """Return a presentation of one slide: a red square on white, one inch from either edge."""
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    square = slide.shapes.add_shape(1, Inches(1), Inches(1), Inches(2), Inches(2))
    square.fill.solid()
    square.fill.fore_color.rgb = RGBColor(255, 0, 0)
    square.line.fill.background()
    out = BytesIO()
    made.save(out)
    return out.getvalue()


def pictures(request: ModelRequest) -> list[bytes]:
    """Return what a request shows."""
    return [image.data for message in request.messages for image in message.images]


def results(request: ModelRequest) -> list[Message]:
    """Return the results of tools in a request."""
    return [one for one in request.messages if one.role is Role.TOOL]


def facts(message: Message) -> dict[str, Any]:
    """Return the JSON of a result, out of its frame."""
    found: dict[str, Any] = json.loads(
        message.text[message.text.index("{") :].rpartition("}")[0] + "}"
    )
    return found


@pytest.mark.rule("W26.1", "W26.2", "W26.5", "W6.16")
def test_an_agent_looks_at_the_slide_it_made(chat: Chat) -> None:
    chat.add({"deck.pptx": deck()})
    seen = {"path": "deck.pptx", "place": "slide 2"}
    wire = chat.play(
        [
            calls("work", 1, ADDS),
            calls("work", 2, ("view_page", seen)),
            calls("work", 3, ("get_file_info", {"path": "deck.pptx"})),
            says("work", "Done."),
        ]
    )

    assert chat.ask("Add a slide")["status"] == "complete"

    first, second, third, last = wire.requests
    assert [len(pictures(one)) for one in wire.requests] == [0, 0, 1, 1]
    assert pictures(third) == pictures(last)
    for before, after in ((first, second), (second, third), (third, last)):
        assert after.messages[: len(before.messages)] == before.messages
    told = facts(results(third)[-1])
    assert (told["path"], told["shown"], told["drawn_by"]) == (
        "deck.pptx",
        "slide 2 of 2",
        "Backshop",
    )
    assert Pillow.open(BytesIO(pictures(third)[0])).size == (told["width"], told["height"])
    assert (told["width"], told["height"]) == (960, 720)  # as on a screen, which fits
    assert [one["place"] for one in told["places"]] == ["slide 2 shape 1"]
    events = [json.loads(event.body) for event in chat.shop.store.read(f"bench:{chat.id}")]
    shown = [one["image_ref"] for one in events if one.get("image_ref")]
    assert [chat.shop.store.blobs.read(ref) for ref in shown] == pictures(third)
    assert "iVBOR" not in json.dumps(events, default=str)


def looking(*then: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a script that looks at a slide in the one item of its plan."""
    return [
        says("research", "A deck."),
        says("plan", plan("Look")),
        calls("implement", 1, LOOK, item=1),
        *then,
        says("summary", "Looked."),
    ]


@pytest.mark.rule("W26.5", "W12.7", "T4.5")
def test_a_turn_that_goes_on_shows_the_same_picture_and_draws_nothing(tmp_path: Path) -> None:
    home, settings = tmp_path / "home", {"model.default": "scripted:demo", "workshop.flow": "rpi"}
    stops = {"when": {"purpose": "implement", "turn": 2}, "times": 0}
    with Backshop.open(home, settings=settings) as shop:
        chat = Chat(shop, tmp_path)
        chat.add({"deck.pptx": deck()})
        wire = chat.play(looking({**stops, "respond": {"error": "auth"}}), "first")
        message = chat.send("What is on the slide?")
        assert chat.run(message)["status"] == "paused"
        before = wire.requests[-1]
    shutil.rmtree(home / "cache")

    with Backshop.open(home, settings=settings) as shop:
        shop.call("StoreGc", {"apply": True})
        chat.shop = shop
        wire = chat.play(looking(says("implement", "A square.")), "second")
        assert chat.run(message)["status"] == "complete"
        entries = shop.workshops.book.state(chat.id).tools.values()
        again = next(one for one in wire.requests if results(one))

    assert [one.replay_of for one in entries][:2] == [None, 1]
    assert not list((home / "cache").rglob("*drawn*"))
    assert pictures(again) == pictures(before) != []
    assert unnumbered(again) == unnumbered(before)


def unnumbered(request: ModelRequest) -> list[str]:
    """Return what a request says, without the numbers of log entries."""
    return [re.sub(r' #\d+"', "", one.text) for one in request.messages]


@pytest.mark.rule("W26.4", "W26.7")
def test_a_turn_shows_so_many_pictures_and_says_when_they_are_spent(tmp_path: Path) -> None:
    settings = {"model.default": "scripted:demo", "workshop.max_pictures": 2}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        chat = Chat(shop, tmp_path)
        chat.add({"deck.pptx": deck(), "torn.pdf": b"%PDF-1.7 nothing", "a.txt": "a"})
        wanted = [
            ("view_page", {"path": "torn.pdf"}),
            ("view_page", {"path": "a.txt"}),
            ("view_page", {"path": "deck.pptx", "place": "slide 7"}),
            ("view_page", {"path": "deck.pptx", "place": "paragraph 7"}),
            LOOK,
            ("view_page", {"path": "deck.pptx"}),
            ("view_page", {"path": "deck.pptx", "place": "1"}),
        ]
        wire = chat.play([calls("work", 1, *wanted), says("work", "Done.")])

        assert chat.ask("Look")["status"] == "complete"

        found = results(wire.requests[-1])
        codes = [
            (error["error_code"], error["reason"])
            for one in found
            if one.is_error
            for error in [facts(one)["error"]]
        ]
        assert codes == [
            ("FILE_READ_FAILED", "corrupt_file"),
            ("VALIDATION_FAILED", "unsupported_format"),
            ("VALIDATION_FAILED", "bad_range"),
            ("VALIDATION_FAILED", "bad_selector"),
            ("LIMIT_EXCEEDED", "picture_limit"),
        ]
        assert [len(one.images) for one in found] == [0, 0, 0, 0, 1, 1, 0]
        assert [facts(one).get("pictures_left") for one in found] == [None] * 4 + [1, 0, None]

        assert chat.ask("Look again")["status"] == "complete"  # the next turn has its own
        assert len(pictures(wire.requests[-1])) == 2


@pytest.mark.rule("W26.3", "M16.1", "M1.6")
def test_only_a_model_that_takes_pictures_is_offered_them(tmp_path: Path) -> None:
    blind = {
        "model_id": "scripted:blind",
        "context_tokens_estimate": 128_000,
        "supports": {"vision": False},
    }
    settings = {"model.default": "scripted:demo", "models": [blind]}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        chat = Chat(shop, tmp_path)
        chat.add({"deck.pptx": deck()})
        offered = {}
        for name in ("sees", "blind"):
            wire = chat.play([calls("work", 1, LOOK), says("work", "Done.")], name)
            chat.ask("Look")
            offered[name] = {one.name for one in wire.requests[0].tools}
            (found,) = results(wire.requests[-1])
            assert found.is_error == (name == "blind")

    assert offered["sees"] - offered["blind"] == {"view_page"}
    assert facts(found)["error"]["reason"] == "tool_not_available"
