"""What the registry, a request and a message hold, and which wire speaks for whom (M1, M8)."""

from __future__ import annotations

import sys
from dataclasses import fields

import pytest

from backshop.base.errors import ValidationFailed
from backshop.models.catalog.catalog import (
    AdapterKind,
    Auth,
    ModelRecord,
    Sampling,
    Supports,
    builtin,
)
from backshop.models.loop.tool_call import normalise
from backshop.models.messages import (
    Message,
    ModelRequest,
    ProviderState,
    Purpose,
    Role,
    ToolCall,
    ToolCallDone,
    ToolChoice,
)
from backshop.models.providers.registry import Wires, load_plugins, with_plugins

ROOM = "backshop.models.wires."
PLUGIN = """
from backshop.models import Plugin
from backshop.models.catalog.catalog import AdapterKind, Auth, ModelRecord, ProviderRecord

def made(provider_id="house", adapter=AdapterKind.PLUGIN):
    return Plugin(
        provider=ProviderRecord(
            provider_id=provider_id, display_name="House", adapter=adapter, auth=Auth.NONE,
            base_url="https://house.example", hosts=("house.example",),
        ),
        models=(ModelRecord(
            model_id=f"{provider_id}:one", provider_id=provider_id, wire_name="one",
            display_name="One", context_tokens_estimate=8000, max_output_tokens=500,
        ),),
        wire=object(),
    )

plugin = made()
no_plugin = "text"
wrong_kind = made("other", AdapterKind.SCRIPTED)
impostor = made("openai")
"""


def names(cls: type) -> list[str]:
    return [one.name for one in fields(cls)]


@pytest.mark.rule("M1.2")
def test_each_provider_is_spoken_to_by_one_of_five_wires():
    catalog, wires = builtin(), Wires()
    spoken = {one.provider_id: one.adapter.value for one in catalog.providers.values()}

    assert [one.value for one in AdapterKind] == [
        *("openai_responses", "openai_chat", "anthropic_messages", "scripted", "plugin")
    ]
    assert [one.value for one in Auth] == ["api_key", "none"]
    assert spoken == {
        "openai": "openai_responses",
        "openai-codex": "openai_responses",
        "anthropic": "anthropic_messages",
        "google": "openai_chat",
        "mistral": "openai_chat",
        "scripted": "scripted",
    }
    for one in catalog.providers.values():
        wire = wires.of(one)
        if one.adapter is not AdapterKind.SCRIPTED:
            assert wire is sys.modules[ROOM + one.adapter.value]


@pytest.mark.rule("M1.2", "M1.3")
def test_a_provider_of_an_installed_package_brings_its_own_wire(tmp_path, monkeypatch):
    """An entry point of the group is all it needs; a bad one is named and keeps nobody out."""
    info = tmp_path / "house-1.0.dist-info"
    info.mkdir()
    (tmp_path / "house_wire.py").write_text(PLUGIN, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house\nVersion: 1.0\n")
    lines = (f"{name} = house_wire:{name}" for name in ("plugin", "no_plugin", "wrong_kind"))
    more = ["impostor = house_wire:impostor", "gone = no_such_module:x"]
    (info / "entry_points.txt").write_text("\n".join(("[backshop.models]", *lines, *more)))
    monkeypatch.syspath_prepend(tmp_path)
    refused: list[str] = []

    found = load_plugins(lambda name, why: refused.append(name))
    catalog = with_plugins(builtin(), found)

    assert sorted(refused) == ["gone", "no_plugin", "wrong_kind"]
    assert catalog.resolve("house:one")[0].display_name == "One"
    assert Wires(found).of(catalog.provider("house")) is found["house"].wire
    assert catalog.provider("openai") == builtin().provider("openai"), "built-ins stay as they are"
    sys.modules.pop("house_wire", None)


@pytest.mark.rule("M1.4")
def test_a_model_is_described_by_these_fields():
    assert set(names(ModelRecord)) >= {
        *("model_id", "provider_id", "wire_name", "display_name", "context_tokens_estimate"),
        *("max_output_tokens", "efforts", "sampling", "supports", "price", "requires_key"),
    }
    assert names(Supports) == [
        *("vision", "tools", "tool_choice_required", "strict_tools", "parallel_flag"),
        *("structured_output", "streaming", "usage", "short_call_ids"),
        *("user_after_tool", "cache_key"),
    ]
    assert [one.value for one in Sampling] == ["omit", "deterministic"]
    for model in builtin().models.values():
        assert model.model_id.startswith(f"{model.provider_id}:")
        assert model.context_tokens_estimate > model.max_output_tokens > 0


@pytest.mark.rule("M8.1")
def test_a_request_holds_these_fields_and_is_refused_without_model_or_message():
    hello = (Message(role=Role.USER, text="Hi"),)

    assert names(ModelRequest) == [
        *("model_id", "messages", "purpose", "tools", "tool_choice"),
        *(
            "is_parallel",
            "is_strict",
            "effort",
            "max_output_tokens",
            "response_schema",
            "workbench_id",
            "run_id",
            "timeout_s",
        ),
        "prompt",
    ]
    assert [one.value for one in Purpose] == [
        *("work", "research", "plan", "implement", "summary", "reply", "proposal"),
        "context_process",
        *("compression", "digest", "other"),
    ]
    assert [one.value for one in ToolChoice] == ["first_turn_required", "auto", "none"]
    for model_id, messages in (("gpt", hello), ("", hello), ("openai:", hello), ("openai:x", ())):
        with pytest.raises(ValidationFailed):
            ModelRequest(model_id=model_id, messages=messages)


@pytest.mark.rule("M8.2", "M2.5")
def test_a_message_holds_these_fields_and_its_state_is_for_one_provider():
    state = ProviderState("openai", {"secret": "sig"})
    call = ToolCall("c1", "look", {"path": "a"})
    said = Message(role=Role.ASSISTANT, tool_calls=(call,), provider_state=state)

    def seen_by(provider):
        return ModelRequest(model_id=f"{provider}:x", messages=(said,)).state_for(said)

    assert names(Message) == [
        *("role", "text", "images", "tool_calls", "tool_call_id", "is_error", "is_context"),
        "provider_state",
    ]
    assert [one.value for one in Role] == ["system", "user", "assistant", "tool"]
    assert names(ToolCall) == ["id", "name", "arguments", "written"]
    assert seen_by("openai") == {"secret": "sig"}
    assert seen_by("anthropic") is None
    assert "sig" not in repr(said)


@pytest.mark.rule("M8.2", "M9.5")
@pytest.mark.parametrize("sent", ['{"a": 1}', {"a": 1}, "[1]", [1], "7", None, "", "{", 3.5])
def test_the_arguments_of_a_call_are_an_object_whatever_was_sent(sent):
    (checked,) = normalise([ToolCallDone(0, "c1", "look", sent)], (), turn=1)

    assert isinstance(checked.call.arguments, dict)
