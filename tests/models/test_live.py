"""A real small model behind llama.cpp's server, started here.

The model cannot call tools, and what it says is not asked for: that something came back by the
real server, was counted, and was found in its cache.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import LLAMA_PYTHON

from backshop.app import Backshop
from backshop.models.messages import (
    Done,
    Failed,
    Message,
    ModelRequest,
    Role,
    TextDelta,
    ToolChoice,
    Usage,
    UsageReported,
)
from backshop.prompts import CancelToken

from .calling import TOOL

PROVIDER = "local-live"
MODEL = f"{PROVIDER}:smollm2"
pytestmark = [pytest.mark.needs("llama"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    program = Path(__file__).with_name("llama_server.py")
    server = subprocess.Popen(
        [LLAMA_PYTHON, program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:"), "the server did not start"
    yield f"{address}/v1"
    server.communicate("", timeout=60)


@pytest.fixture
def shop(tmp_path: Path, url: str) -> Iterator[Backshop]:
    with Backshop.open(tmp_path) as opened:
        opened.call(
            "ProvidersUpsertLocal",
            {"provider_id": PROVIDER, "preset": "llamacpp", "base_url": url, "models": ["smollm2"]},
        )
        yield opened


def ask(shop: Backshop, *texts: str, **fields) -> tuple[str, Usage, Done | Failed]:
    rules = Message(role=Role.SYSTEM, text="You help with files. " * 20)
    said = tuple(Message(role=Role.USER, text=text) for text in texts)
    asked = ModelRequest(
        model_id=MODEL, messages=(rules, *said), **{"max_output_tokens": 8, **fields}
    )
    events = list(shop.models.adapter(MODEL).complete(asked, CancelToken()))
    text = "".join(one.text for one in events if isinstance(one, TextDelta))
    counted = next((one.usage for one in events if isinstance(one, UsageReported)), Usage())
    assert isinstance(events[-1], Done | Failed)
    return text, counted, events[-1]


@pytest.mark.rule("M6.6", "M6.5", "M6.7")
def test_a_real_server_is_probed(shop):
    found = shop.call("ProvidersProbe", {"provider_id": PROVIDER})

    assert found["models"] == ["smollm2"]
    assert found["context_tokens"] == 4096
    assert (found["supports"]["streaming"], found["supports"]["usage"]) == (True, True)
    assert found["supports"]["tools"] is False  # the model has no words for calls
    assert len(found["warnings"]) == 1


@pytest.mark.rule("M13.1", "M6.9")
def test_a_real_server_finds_what_was_sent_before_in_its_cache(shop):
    _, first, _ = ask(shop, "Name a colour.", "One word.")
    text, second, end = ask(shop, "Name a colour.", "One word please.")

    assert text
    assert isinstance(end, Done)
    assert second.input_tokens > first.input_tokens
    assert second.cached_input_tokens > 0.8 * first.input_tokens


@pytest.mark.rule("M11.6")
def test_a_real_servers_refusals_are_understood(shop):
    _, _, long = ask(shop, "word " * 6000)
    assert isinstance(long, Failed)
    assert long.error.error_code == "CONTEXT_EXHAUSTED"

    _, counted, end = ask(shop, "Look.", tools=(TOOL,), tool_choice=ToolChoice.AUTO)
    assert isinstance(end, Done), end
    assert counted.output_tokens <= 8


def test_a_real_model_answers_in_a_conversation(shop, tmp_path):
    note = tmp_path / "a.md"
    note.write_text("A colour: blue.\n")
    bench = shop.call("WorkbenchCreate", {"name": "Live"})["workbench_id"]
    shop.call(
        "WorkbenchFilesAdd",
        {"workbench_id": bench, "source_paths": [str(note)]},
    )
    here = {"workbench_id": bench}
    shop.call("WorkshopSwitchModel", {**here, "model_id": MODEL})
    shop.call("WorkshopSetFlow", {**here, "flow": "compat"})

    sent = shop.call("WorkshopSendUserMessage", {**here, "text": "Hello.", "mode": "ask"})
    done = shop.call("WorkshopRunAgent", {**here, "message_id": sent["message_id"]})

    found = shop.call("WorkshopGetConversation", here)["messages"]
    answer = next(one for one in found if one["message_id"] == done["message_id"])
    assert (done["status"], bool(answer["text"])) == ("complete", True), (done, answer)
    usage = shop.call("UsageGet", here)
    assert usage["usage"]["output_tokens"] > 0
    assert usage["usage"]["estimated"] is False
