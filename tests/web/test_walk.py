"""The walk of the README can be gone, from the first question to an undone publish (U7.6)."""

from __future__ import annotations

import pytest
from tests.web.walk import BYTES_MAX, SECONDS_MAX, walk

pytestmark = [pytest.mark.needs("browser"), pytest.mark.timeout(240)]


@pytest.mark.rule("U7.6")
def test_the_walk_goes_from_the_question_to_an_undone_publish(served, new_page, tmp_path):
    made = walk(served, new_page("/"))
    made.save(tmp_path / "walk.webp")

    (bench,) = served.call("WorkbenchList")["workbenches"]
    about = {"workbench_id": bench["workbench_id"]}
    kept = served.call("CheckpointsList", **about)["checkpoints"]
    files = served.call("WorkbenchFilesList", **about)["files"]
    sheets = served.call("WorkbenchFileGetGrid", **about, path="budget-2025.xlsx")["sheets"]
    assert made.seconds <= SECONDS_MAX
    assert (tmp_path / "walk.webp").stat().st_size <= BYTES_MAX
    assert {one["reason"] for one in kept} == {"publish", "pre_restore"}
    assert len(files) == 9
    assert "Sales 2025" not in sheets
