"""A recorded exchange plays again offline, word for word and without secrets."""

from __future__ import annotations

import pytest

from backshop.base.redact import Redactor
from backshop.models import scripted
from backshop.prompts import Session
from backshop.testing.recorder import Recorder

from .prompting import Ask, make_prompt

ASK = Ask("please")
KEY = "sk-very-secret-0123456789"


def look(**arguments):
    return {"respond": {"tool_calls": [{"name": "look", "arguments": arguments}]}}


@pytest.mark.rule("M15.7")
def test_what_was_recorded_plays_again(tmp_path):
    said = "It says {{result.nothing}} and " + "x" * 20
    live = scripted([look(path="a.txt"), {"respond": {"text": said, "literal": True}}])
    recorder = Recorder(live)
    first = recorder.evaluate(make_prompt(), ASK, session=Session(), parse_output=False)
    recorder.save(tmp_path / "exchange.json", "exchange")

    replay = scripted(tmp_path / "exchange.json")
    again = replay.evaluate(make_prompt(), ASK, session=Session(), parse_output=False)

    assert again.text == first.text == said
    assert [one.tool for one in again.tool_results] == ["look"]
    assert replay.leftover == ()


@pytest.mark.rule("M15.7", "M3.12")
def test_no_secret_reaches_the_script(tmp_path):
    redactor = Redactor()
    redactor.learn([KEY])
    live = scripted(
        [
            look(path=KEY, line=2),
            {"respond": {"deltas": [f"key {KEY[:9]}", f"{KEY[9:]} here"]}},
        ]
    )
    recorder = Recorder(live, redactor=redactor)
    recorder.evaluate(make_prompt(), ASK, session=Session(), parse_output=False)
    recorder.save(tmp_path / "exchange.json", "exchange")

    assert KEY not in (tmp_path / "exchange.json").read_text()
    first, second = recorder.steps
    assert first["respond"]["tool_calls"][0]["arguments"] == {"path": "[secret]", "line": 2}
    assert second["respond"]["text"] == "key [secret] here"
