"""Every row of the table of bad input: refused as it says there, and nothing is changed (B20)."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image

from backshop.base.errors import BackshopError
from backshop.bench import Put
from backshop.bench.decide.bench import CEILING

from .conftest import AGENT, Room


def picture(colour: str) -> bytes:
    """Return a small picture."""
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(buffer, "PNG")
    return buffer.getvalue()


PICTURES = [picture(colour) for colour in ("red", "blue")]
SVG = "<svg xmlns='http://www.w3.org/2000/svg'/>"
CHECKPOINT, REVISION, MESSAGE = (f"{prefix}_" + "0" * 26 for prefix in ("cp", "rev", "msg"))
NAMES = {"max_files": 10, "max_file_bytes": 100, "max_total_bytes": 1000, "max_depth": 3}
BAD, GONE = "VALIDATION_FAILED", "NOT_FOUND"
ITEM = [{"path": "context.md", "content": "x"}]

WITHOUT_DRAFT: list[tuple[str, dict[str, Any], str, str]] = [
    ("CheckpointGet", {"checkpoint_id": CHECKPOINT}, GONE, "not_found"),
    ("CheckpointRestore", {"checkpoint_id": CHECKPOINT}, GONE, "not_found"),
    ("CheckpointPin", {"checkpoint_id": CHECKPOINT}, GONE, "not_found"),
    ("CheckpointCompare", {"checkpoint_id": CHECKPOINT}, GONE, "not_found"),
    ("CheckpointGet", {"checkpoint_id": "cp_../x"}, BAD, "bad_id"),
    ("WorkshopUndoToMessage", {"message_id": MESSAGE}, GONE, "message_not_found"),
    ("WorkbenchOpen", {"strange": 1}, BAD, "bad_request"),
    ("CheckpointsList", {"cursor": "9" * 5000}, BAD, "bad_params"),
    ("WorkbenchFilesList", {"view": 7}, BAD, "bad_request"),
    ("WorkbenchFilesAdd", {"source_paths": []}, BAD, "bad_params"),
    ("WorkbenchFilesAdd", {"source_paths": ["/x"] * 10_001}, BAD, "bad_params"),
    ("WorkbenchFilesAdd", {"source_paths": ["/x"], "on_conflict": "?"}, BAD, "bad_params"),
    ("CheckpointCreate", {"reason": "publish"}, BAD, "bad_reason"),
    ("WorkbenchFilesExtract", {"destination_dir": ""}, BAD, "bad_destination"),
    ("WorkbenchFilesExtract", {"destination_dir": "{folder}/none"}, BAD, "bad_destination"),
    ("WorkbenchFilesExtract", {"destination_dir": "{folder}/file"}, BAD, "bad_destination"),
    ("WorkbenchFilesExtract", {"destination_dir": "{home}"}, BAD, "bad_destination"),
    ("WorkbenchFilesExtract", {"destination_dir": "{home}/benches"}, BAD, "bad_destination"),
    *(
        ("WorkbenchSetLimits", {"limits": {**NAMES, name: value}}, BAD, "bad_limits")
        for name in NAMES
        for value in (0, -1, getattr(CEILING, name) + 1)
    ),
    ("WorkbenchSetLimits", {"profile": "endless"}, BAD, "bad_limits"),
    ("WorkbenchSetLimits", {}, BAD, "bad_params"),
    ("DraftPublish", {}, GONE, "no_draft"),
    ("DraftDiscard", {}, GONE, "no_draft"),
    ("ReviewGetChangeSet", {}, GONE, "no_draft"),
    ("ContextUpdateDirect", {"category": "situation", "files": ITEM}, GONE, "not_found"),
    ("ContextDelete", {"category": "situation"}, GONE, "not_found"),
    ("ContextGet", {"category": "weather"}, BAD, "bad_category"),
]
WITH_DRAFT: list[tuple[str, dict[str, Any], str, str]] = [
    ("DraftRestoreRevision", {"revision_id": REVISION}, GONE, "not_found"),
    ("ReviewGetTextDiff", {"path": "p.png"}, BAD, "no_text_diff"),
    ("ReviewGetChangeSet", {"cursor": "9" * 5000}, BAD, "bad_params"),
    ("ReviewGetImagePreview", {"path": "p.png", "page_index": -1}, BAD, "bad_params"),
    ("ReviewGetImagePreview", {"path": "p.png", "page_index": 7}, BAD, "bad_params"),
    ("ReviewGetImagePreview", {"path": "s.svg", "page_index": 1}, BAD, "bad_params"),
    ("ReviewGetImagePreview", {"path": "p.png", "version": "later"}, BAD, "bad_params"),
    ("ReviewGetXlsxPreviewGrid", {"path": "a.txt", "sheet": "S"}, BAD, "bad_params"),
    ("DraftPublish", {"reviewed_tree": "x"}, BAD, "bad_id"),
    *(
        (name, request, "DRAFT_EXISTS", "draft_exists")
        for name, request in (
            ("WorkbenchFilesAdd", {"source_paths": ["{folder}/file"]}),
            ("WorkbenchFilesRemove", {"workbench_paths": ["a.txt"]}),
            ("CheckpointCreate", {}),
            ("CheckpointRestore", {"checkpoint_id": "{kept}"}),
            ("WorkbenchFork", {"name": "Other"}),
            ("WorkshopSendUserMessage", {"text": "x"}),
        )
    ),
]


@pytest.fixture
def place(room: Room) -> Room:
    (room.folder / "file").write_text("no folder")
    room.add({"a.txt": "one", "p.png": PICTURES[0], "s.svg": SVG})
    return room


def heads(room: Room) -> tuple[object, ...]:
    """Return everything a refusal leaves alone; that it was tried may be noted for the log."""
    state = room.shop.benches.desk.state(room.id)
    return (
        *(state.published, state.generation, state.draft, state.context_tree, state.limits),
        *(len(state.checkpoints), len(state.revisions.kept)),
    )


def check(room: Room, rows: list[tuple[str, dict[str, Any], str, str]]) -> list[str]:
    """Return what is not as the table says; nothing may be recorded on the way."""
    kept = room.shop.call("CheckpointsList", {"workbench_id": room.id})["checkpoints"]
    words = {
        "{folder}": str(room.folder),
        "{home}": str(room.shop.config.home),
        "{kept}": kept[0]["checkpoint_id"],
    }
    wrong = []
    for name, request, code, reason in rows:
        before = heads(room)
        try:
            room.call(name, **_filled(request, words))
            found: object = "no refusal"
        except BackshopError as error:
            found = (error.code, error.reason)
        if found != (code, reason) or heads(room) != before:
            wrong.append(f"{name} {str(request)[:60]}: {found}, not {code} {reason}")
    return wrong


def _filled(value: Any, words: dict[str, str]) -> Any:
    if isinstance(value, str):
        for word, text in words.items():
            value = value.replace(word, text)
    elif isinstance(value, dict):
        value = {key: _filled(one, words) for key, one in value.items()}
    elif isinstance(value, list):
        value = [_filled(one, words) for one in value]
    return value


@pytest.mark.rule("B20", "B6.4", "B6.14", "S5.1")
def test_what_cannot_be_meant_without_a_draft(place):
    place.call("CheckpointCreate")

    assert check(place, WITHOUT_DRAFT) == []


@pytest.mark.rule("B20", "B12.13", "B12.20", "B7.6", "B22.19", "B22.37")
def test_what_cannot_be_meant_with_a_draft(place):
    place.call("CheckpointCreate")
    place.write({"a.txt": "two"})
    blob, size = place.shop.store.blobs.put(PICTURES[1]), len(PICTURES[1])
    place.shop.benches.apply_batch(place.id, [Put(path="p.png", blob=blob, size=size)], AGENT)
    place.write({"s.svg": f"{SVG}\n"})

    assert check(place, WITH_DRAFT) == []
    assert place.draft_bytes("p.png") == PICTURES[1]


@pytest.mark.rule("B20", "B8.3", "B8.4", "B8.7")
def test_what_an_agent_may_not_write_leaves_the_draft_as_it_was(place, use):
    place.write({"a.txt": "two"})
    blob = place.shop.store.blobs.put(b"x")
    before = place.shop.benches.desk.state(place.id).draft, place.shop.store.last_seq()
    many = [Put(path="a.txt", blob=blob, size=1)] * 501
    wide = [Put(path=f"{number}.txt", blob=blob, size=1) for number in range(201)]

    for puts, code, reason in (
        ([Put(path="a.txt", blob=None)], BAD, "delete_not_allowed"),
        ([Put(path="b.txt", blob=blob, size=1, old_path="a.txt")], BAD, "delete_not_allowed"),
        ([], "LIMIT_EXCEEDED", "too_large"),
        (many, "LIMIT_EXCEEDED", "too_large"),
        (wide, "LIMIT_EXCEEDED", "too_large"),
    ):
        with pytest.raises(BackshopError) as caught:
            place.shop.benches.apply_batch(place.id, puts, AGENT)
        assert (caught.value.code, caught.value.reason) == (code, reason)
    refused = use("write_text_file", path="new.pdf", content="x")

    assert (refused.ok, refused.code) == (False, "read_only_format")
    assert (place.shop.benches.desk.state(place.id).draft, place.shop.store.last_seq()) == before
