"""The sample workbench: files of our own making, whole or not at all."""

from __future__ import annotations

import pytest

from backshop.app import Backshop
from backshop.formats import SAMPLES


@pytest.mark.rule("B18.1")
def test_a_sample_has_every_file_and_takes_the_next_free_name(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        made = [shop.call("WorkbenchCreateSample", {}) for _ in range(3)]
        files = shop.call("WorkbenchFilesList", {"workbench_id": made[0]["workbench_id"]})

    names = [one["name"] for one in made]
    assert names == ["Sample Workbench", "Sample Workbench 2", "Sample Workbench 3"]
    assert [file["path"] for file in files["files"]] == sorted(SAMPLES, key=str.encode)
    assert all(file["readable"] and file["origin"] == "import" for file in files["files"])


@pytest.mark.rule("B18.1")
def test_a_sample_that_is_there_is_kept_as_it_is(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        first = shop.call("WorkbenchCreateSample", {"reuse": True})
        here = {"workbench_id": first["workbench_id"]}
        shop.call("WorkbenchFilesRemove", {**here, "workbench_paths": ["README.md"]})
        again = shop.call("WorkbenchCreateSample", {"reuse": True})
        left = shop.call("WorkbenchFilesList", here)["total"]
        shop.call("WorkbenchDelete", {**here, "confirm": first["workbench_id"]})
        anew = shop.call("WorkbenchCreateSample", {"reuse": True})

    assert first["created"]
    assert again == {**first, "created": False}
    assert left == len(SAMPLES) - 1
    assert anew["created"]
    assert anew["workbench_id"] != first["workbench_id"]
