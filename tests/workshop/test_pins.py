"""A pinned digest is its bench's: nobody else reads or replaces it, every process finds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.prompts import LocalPromptOverridesStore
from backshop.workshop.digest.pin import Pins
from backshop.workshop.prompt.bundled import build_prompt
from backshop.workshop.prompt.inputs import PromptInputs

from ..bench.conftest import Room, room  # noqa: F401

RESEARCH: dict[str, Any] = {"namespace": "backshop/workshop", "key": "research"}


def pin_as_file(root: Path, bench_id: str, body: str) -> Path:
    """Pin a digest the way it was done when pins were files."""
    kept = LocalPromptOverridesStore(root)
    kept.set_override(
        "backshop/workshop",
        "research",
        bench_id.lower(),
        "workspace-digest",
        body,
        descriptor=build_prompt("research", PromptInputs()).descriptor,
        mode="literal",
        provenance={"source": "user"},
    )
    return kept.path("backshop/workshop", "research", bench_id.lower())


@pytest.mark.rule("P7.7", "P7.12", "T6.4")
def test_nobody_reads_a_pin_through_the_prompts(room):  # noqa: F811
    ada = room.shop.call("UserAdd", {"name": "Ada"})["user_id"]
    tag = room.id.lower()
    room.call("DigestSet", body="SECRET plans", pin=True)

    listed = room.shop.call("PromptsList", {}, user=ada)["prompts"]
    asked = [
        ("PromptsRender", {**RESEARCH, "tag": tag}, ada),
        ("PromptsRender", {**RESEARCH, "tag": tag}, None),
        ("PromptOverridesGet", {**RESEARCH, "tag": tag}, None),
    ]

    assert not any(tag in one["tags"] for one in listed)
    for name, request, user in asked:
        with pytest.raises(BackshopError) as refused:
            room.shop.call(name, request, user=user)
        assert (refused.value.code, refused.value.reason) == ("VALIDATION_FAILED", "bench_tag")


@pytest.mark.rule("P7.7", "P7.12")
def test_a_pin_of_before_is_not_shown_among_the_overrides(room):  # noqa: F811
    pin_as_file(room.shop.prompts.overrides.root, room.id, "SECRET plans")

    seen = [
        room.shop.call(name, {})
        for name in (
            *("PromptsList", "PromptOverridesList"),
            *("PromptOverridesExport", "PromptOverridesDoctor"),
        )
    ]

    assert room.id.lower() not in repr(seen)


@pytest.mark.rule("P7.7", "P7.12")
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("PromptOverridesSet", {"section": "phase", "body": "x"}),
        ("PromptOverridesUnset", {"section": "workspace-digest"}),
        ("PromptOverridesDelete", {}),
        ("PromptOverridesSeed", {}),
        ("PromptOverridesRebase", {"section": "workspace-digest", "confirm": True}),
    ],
)
def test_the_commands_of_overrides_do_not_take_the_tag_of_a_bench(room, name, more):  # noqa: F811
    with pytest.raises(BackshopError) as refused:
        room.shop.call(name, {**RESEARCH, "tag": room.id.lower(), **more})

    assert refused.value.reason == "bench_tag"


@pytest.mark.rule("P7.7", "P7.12")
def test_a_bundle_brings_no_pin(room):  # noqa: F811
    root = room.folder / "elsewhere"
    pin_as_file(root, room.id, "From elsewhere.")
    bundle = LocalPromptOverridesStore(root).export()

    with pytest.raises(BackshopError) as refused:
        room.shop.call("PromptOverridesImport", {"bundle": bundle})

    assert refused.value.reason == "bench_tag"
    assert room.call("DigestGet")["source"] == "none"


@pytest.mark.rule("P7.7")
def test_a_digest_among_the_free_overrides_is_of_no_bench(room):  # noqa: F811
    descriptor = build_prompt("research", PromptInputs()).descriptor
    digest, overrides = "workspace-digest", room.shop.prompts.overrides
    text = {"descriptor": descriptor, "mode": "literal"}
    overrides.set_override(*RESEARCH.values(), "latest", digest, "Of nobody.", **text)
    pins = Pins(room.shop.store, overrides, room.shop.clock)

    told = pins.overrides(room.id).resolve(descriptor, "latest")
    pins.put(room.id, "Its own.", {"source": "user"})
    own = pins.overrides(room.id).resolve(descriptor, "latest")

    assert overrides.resolve(descriptor).sections[digest].body == "Of nobody."
    assert digest not in told.sections
    assert own.sections[digest].body == "Its own."


@pytest.mark.rule("P7.7", "P7.11")
@pytest.mark.parametrize("mode", ["builder", "model"])
def test_a_refresh_pins_for_its_own_bench_alone(room, mode):  # noqa: F811
    other = room.shop.call("WorkbenchCreate", {"name": "Mine"})["workbench_id"]
    room.call("DigestSet", body="Theirs.", pin=True)

    for tag in (room.id.lower(), "latest"):
        with pytest.raises(BackshopError) as refused:
            room.shop.call(
                "DigestRefresh",
                {"workbench_id": other, "mode": mode, "scope": "global", "tag": tag},
            )
        assert refused.value.reason == "foreign_tag"
    own = {"workbench_id": other, "scope": "global", "tag": other.lower()}
    kept = room.shop.call("DigestRefresh", own)["persisted"]

    assert room.call("DigestGet")["body"] == "Theirs."
    assert kept == ["session", "overrides"]


@pytest.mark.rule("P7.7", "P3.17")
def test_a_pin_is_found_from_every_folder_and_leaves_no_file(tmp_path, monkeypatch):
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / ".backshop").mkdir(parents=True)
    outside.mkdir()
    home = tmp_path / "home"
    monkeypatch.chdir(project)
    with Backshop.open(home) as here:
        bench = here.call("WorkbenchCreate", {"name": "Work"})["workbench_id"]
        here.call("DigestSet", {"workbench_id": bench, "body": "Mind the rates.", "pin": True})

    monkeypatch.chdir(outside)
    with Backshop.open(home) as there:
        shown = there.call("DigestGet", {"workbench_id": bench})

    assert (shown["source"], shown["body"]) == ("override", "Mind the rates.")
    assert list((project / ".backshop").rglob("*.json")) == []


@pytest.mark.rule("P7.7")
def test_a_pin_of_before_moves_into_the_store_when_it_is_first_read(room):  # noqa: F811
    root = room.shop.prompts.overrides.root
    file = pin_as_file(root, room.id, "Pinned long ago.")

    first = room.call("DigestGet")
    moved = not file.exists()
    again = room.call("DigestGet")
    room.call("DigestClear")

    assert (first["source"], first["body"]) == ("override", "Pinned long ago.")
    assert moved
    assert again == first
    assert room.call("DigestGet")["source"] == "none"


@pytest.mark.rule("P7.7")
def test_a_file_put_there_later_is_no_pin(room):  # noqa: F811
    room.call("DigestSet", body="Ours.", pin=True)
    pin_as_file(room.shop.prompts.overrides.root, room.id, "Not ours.")

    shown = room.call("DigestGet")["body"]
    room.call("DigestClear")

    assert shown == "Ours."
    assert room.call("DigestGet")["source"] == "none"
