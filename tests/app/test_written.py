"""Where what people write is kept: in the files of a home, unless several servers share it."""

from __future__ import annotations

import pytest

from backshop.app import Backshop
from backshop.base.errors import ValidationFailed

NAMES = {"namespace": "backshop/workshop", "key": "research"}


@pytest.mark.rule("T6.1", "S3.2", "R3.2", "P3.10")
def test_a_home_whose_database_is_a_file_somewhere_else_keeps_its_files(tmp_path, monkeypatch):
    home = tmp_path / "home"
    with Backshop.open(home) as shop:
        shop.call("PromptOverridesSet", {**NAMES, "section": "phase", "body": "Be brief."})

    monkeypatch.setenv("BACKSHOP_DATABASE_URL", f"sqlite:///{tmp_path}/data/store.db")
    (tmp_path / "data").mkdir()
    with Backshop.open(home) as shop:
        made = shop.call("RailsWorkflowNew", {"workflowId": "user.mine", "target": "user"})
        rendered = shop.call("PromptsRender", NAMES)["text"]
        with pytest.raises(ValidationFailed) as refused:
            _ = shop.queue

    assert made["path"] == str(home / "workflows" / "user.mine.yaml")
    assert "Be brief." in rendered
    assert refused.value.reason == "bad_setting"
