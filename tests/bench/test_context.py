"""Context items by hand: four slots, restored with the files, nothing half written."""

from __future__ import annotations

import json

import pytest

from backshop.base.errors import BackshopError
from backshop.cli import main

SKILL = "---\nname: company-context\ndescription: We make boats.\n---\n# Us\nBoats.\n"


def refused(call, *args, **kwargs) -> tuple[str, str | None]:
    with pytest.raises(BackshopError) as caught:
        call(*args, **kwargs)
    return caught.value.code, caught.value.reason


def write(room, category, files, **options):
    listed = [{"path": path, "content": content} for path, content in files.items()]
    return room.call("ContextUpdateDirect", category=category, files=listed, **options)


def summaries(room) -> dict[str, str]:
    items = room.call("ContextList")["items"]
    return {one["category"]: one["summary"] for one in items if one["status"] == "active"}


@pytest.mark.rule("B14.1", "B14.2", "B14.3", "B14.12", "B14.13", "B14.14")
def test_items_are_written_read_and_emptied(room):
    order = [one["category"] for one in room.call("ContextList")["items"]]
    made = write(room, "company-context", {"SKILL.md": SKILL, "references/a.md": "a"}, create=True)
    write(room, "situation", {"context.md": "Deadline\n  is Friday. " + "x" * 200}, create=True)
    found = room.call("ContextGetArtifact", category="company-context")
    context = room.shop.config.home / "benches" / room.id / "meta" / "context"
    origin = json.loads((context / "situation" / "source.json").read_text())

    assert (origin["mode"], origin["has_direct_edits"]) == ("direct", True)
    times = {"created_at", "last_direct_edit_at"}
    assert set(origin) == {"mode", "has_direct_edits", *times}  # no model was at it
    assert origin["created_at"] == origin["last_direct_edit_at"]
    assert order == ["company-context", "department-context", "situation", "document-style"]
    assert (made["summary"], made["has_direct_edits"]) == ("We make boats.", True)
    assert [one["path"] for one in found["files"]] == ["SKILL.md", "references/a.md"]
    assert summaries(room)["situation"] == ("Deadline is Friday. " + "x" * 200)[:100]
    write(room, "company-context", {"SKILL.md": SKILL})
    assert len(room.call("ContextGetArtifact", category="company-context")["files"]) == 1
    room.call("ContextDelete", category="company-context")
    assert list(summaries(room)) == ["situation"]
    assert refused(room.call, "ContextDelete", category="company-context")[0] == "NOT_FOUND"
    kinds = [one["kind"] for one in room.call("AuditList")["entries"]]
    assert kinds.count("context_changed") == 4


@pytest.mark.rule("B14.11", "B14.12", "B20", "B7.6")
def test_what_is_no_item_is_refused_and_changes_nothing(room):
    text = {"SKILL.md": SKILL}
    assert refused(write, room, "company-context", text) == ("NOT_FOUND", "not_found")
    assert refused(write, room, "taste", text)[1] == "bad_category"
    for files in (
        *({}, {"SKILL.md": " "}, {"source.json": "{}", **text}, {"source_file/x": "x", **text}),
        *({"../x": "x", **text}, {"other.md": "x", **text}, {"context.md": "x"}),
    ):
        code, _ = refused(write, room, "company-context", files, create=True)
        assert code == "VALIDATION_FAILED", files
    many = {f"references/{n}": "x" for n in range(64)}
    large = {f"references/{n}": "x" * 1024 * 1024 for n in range(4)}
    for files in ({**text, **many}, {"SKILL.md": "x" * (1024 * 1024 + 1)}, {**text, **large}):
        assert refused(write, room, "document-style", files, create=True)[0] == "LIMIT_EXCEEDED"
    room.write({"a.txt": "draft"})
    assert refused(write, room, "situation", {"context.md": "x"}, create=True)[0] == "DRAFT_EXISTS"
    assert summaries(room) == {}


@pytest.mark.rule("B10.11", "B14.2")
def test_a_checkpoint_brings_the_context_back_too(room):
    write(room, "situation", {"context.md": "before"}, create=True)
    kept = room.call("CheckpointCreate")["checkpoint_id"]
    write(room, "situation", {"context.md": "after"})
    view = room.shop.config.home / "benches" / room.id / "meta" / "context" / "situation"

    assert (view / "context.md").read_text() == "after"
    back = room.call("CheckpointRestore", checkpoint_id=kept)
    assert summaries(room) == {"situation": "before"}
    assert (view / "context.md").read_text() == "before"
    room.call("CheckpointRestore", checkpoint_id=back["pre_restore_checkpoint_id"])
    assert summaries(room) == {"situation": "after"}


@pytest.mark.rule("S4.2")
def test_context_in_the_terminal(tmp_path, capsys):
    home = ["--home", str(tmp_path / "home")]
    (tmp_path / "now.md").write_text("Ship on Friday.")
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe")
    main(["bench", "create", "Work", *home])
    edit = ["context", "edit", "Work", "situation"]

    assert main([*edit, str(tmp_path / "now.md"), "--create", *home]) == 0
    assert main([*edit, str(tmp_path / "bad.md"), *home]) == 1
    assert main(["context", "list", "Work", *home]) == 0
    assert main(["context", "show", "Work", "situation", *home]) == 0
    assert main(["context", "delete", "Work", "situation", *home]) == 0
    assert "Ship on Friday." in capsys.readouterr().out
