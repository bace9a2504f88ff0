"""A real workbench mounted into a prompt: pinned, read by tools, never written (P6.2, P6.3)."""

from __future__ import annotations

import pytest

from backshop.app import Backshop
from backshop.base.errors import NotFound
from backshop.bench import BenchView
from backshop.models import scripted
from backshop.prompts import BenchMount, Change, Prompt, Session, VfsSection, open_workspace


@pytest.mark.rule("P6.2", "P6.3", "P6.1")
def test_a_prompt_works_on_a_workbench_and_the_workbench_stays_as_it_is(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    with Backshop.open(tmp_path / "home") as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Papers"})["workbench_id"]
        here = {"workbench_id": bench}
        shop.call("WorkbenchFilesAdd", {**here, "source_paths": [str(tmp_path / "a.txt")]})
        view = BenchView(shop.benches, bench)
        section = VfsSection([BenchMount(view, "published", "papers")])
        prompt = Prompt("tests/mount", "mount", sections=[section])
        steps = [
            {"name": "read_file", "arguments": {"path": "papers/a.txt"}},
            {
                "name": "edit_text_file",
                "arguments": {
                    "path": "papers/a.txt",
                    "edits": [{"search": "one", "replace": "two"}],
                },
            },
        ]
        adapter = scripted(
            [*({"respond": {"tool_calls": [one]}} for one in steps), {"respond": {"text": "Done."}}]
        )
        session = Session()
        before = shop.store.last_seq()
        workspace = open_workspace(session, prompt)
        assert workspace is not None
        with pytest.raises(NotFound):
            BenchMount(view, "draft").pin()

        adapter.evaluate(prompt, session=session)

        assert workspace.read("papers/a.txt") == b"two\n"
        assert workspace.overlay_changes() == (Change("papers/a.txt", "modified"),)
        assert shop.store.last_seq() == before
        listed = shop.call("WorkbenchFilesList", here)["files"]
        assert [one["path"] for one in listed] == ["a.txt"]


@pytest.mark.rule("P6.3")
def test_what_was_pinned_is_read_as_it_was_after_the_workbench_moved_on(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    with Backshop.open(tmp_path / "home") as shop:
        here = {"workbench_id": shop.call("WorkbenchCreate", {"name": "P"})["workbench_id"]}
        shop.call("WorkbenchFilesAdd", {**here, "source_paths": [str(tmp_path / "a.txt")]})
        view = BenchView(shop.benches, here["workbench_id"])
        prompt = Prompt("tests/mount", "mount", sections=[VfsSection(BenchMount(view))])
        workspace = open_workspace(Session(), prompt)
        assert workspace is not None

        shop.call("DraftCreate", here)
        shop.call("DraftDeletePath", {**here, "path": "a.txt"})

        assert BenchMount(view, "draft").pin() == ((), True)
        assert workspace.read("a.txt") == b"one\n"
        with pytest.raises(NotFound):
            view.open("draft", "a.txt")
        shop.call("DraftDiscard", here)
        shop.call("WorkbenchFilesRemove", {**here, "workbench_paths": ["a.txt"]})
        assert view.open("published", "a.txt") == b"one\n"  # as it was listed
