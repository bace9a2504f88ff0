"""Settings: who wins, and what is refused before anything starts."""

from __future__ import annotations

import json

import pytest

from backshop.app import Backshop, load, save
from backshop.base.errors import ValidationFailed


@pytest.mark.rule("S3.1")
def test_command_line_beats_environment_beats_file_beats_default(tmp_path):
    (tmp_path / "settings.json").write_text('{"log": "info", "offline": true}')
    env = {"BACKSHOP_LOG": "error", "BACKSHOP_HOME": str(tmp_path)}

    config = load(environ=env, overrides={"store.lock_wait_ms": 5})

    found = {name: (e.value, e.source) for name, e in config.values.items()}
    assert found["log"] == ("error", "environment BACKSHOP_LOG")
    assert found["offline"] == (True, "file")
    assert found["store.lock_wait_ms"] == (5, "command line")
    assert found["workflow_path"] == ((), "default")
    assert (config.home, config.home_source) == (tmp_path, "environment BACKSHOP_HOME")


@pytest.mark.rule("S3.3")
@pytest.mark.parametrize(
    ("text", "env"),
    [
        ('{"offlin": true}', {}),
        ('{"offline": "maybe"}', {}),
        ('{"offline": 1}', {}),
        ('{"store.lock_wait_ms": -1}', {}),
        ('{"store.lock_wait_ms": 1.5}', {}),
        ('{"store.lock_wait_ms": true}', {}),
        ("[]", {}),
        ("{", {}),
        ('{"log": "info", "log": "error"}', {}),
        ("{}", {"BACKSHOP_LOG": "loud"}),
        ("{}", {"BACKSHOP_OFLINE": "1"}),
        ("{}", {"BACKSHOP_DATABASE_URL": "mysql://u:hunter2@h/x"}),
    ],
)
def test_a_bad_setting_is_named_and_nothing_is_created(tmp_path, monkeypatch, text, env):
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.json").write_text(text)
    for name, value in env.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(ValidationFailed) as refused:
        Backshop.open(home)

    assert refused.value.reason == "bad_setting"
    assert "hunter2" not in refused.value.message
    assert [path.name for path in home.iterdir()] == ["settings.json"]


def test_an_unknown_name_comes_with_the_one_that_was_meant(tmp_path):
    with pytest.raises(ValidationFailed) as refused:
        save(tmp_path, "offlin", True)

    assert refused.value.hints == ("offline",)


def test_saving_keeps_what_else_is_there(tmp_path):
    save(tmp_path, "log", "info")
    save(tmp_path, "offline", True)
    save(tmp_path, "log", None)

    assert json.loads((tmp_path / "settings.json").read_text()) == {"offline": True}
    with pytest.raises(ValidationFailed):
        save(tmp_path, "log", "shout")


@pytest.mark.rule("S3.1")
def test_passwords_are_masked_when_shown():
    config = load(environ={"BACKSHOP_DATABASE_URL": "postgresql://me:hunter2@host/db"})

    assert config.values["database_url"].shown == "postgresql://me:***@host/db"
