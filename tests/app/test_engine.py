"""What is running and with which settings, through the commands every door has."""

from __future__ import annotations

import subprocess
import sys

import pytest

from backshop.app import Backshop, running
from backshop.base.errors import ValidationFailed


@pytest.mark.rule("B18.2", "B19")
def test_settings_are_shown_kept_and_refused_by_name(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"offline": True}) as shop:
        assert shop.call("EngineGetInfo", {})["api_version"] == 1
        first = shop.call("SettingsGet", {})
        shop.call("SettingsSet", {"key": "log", "value": "debug"})
        with pytest.raises(ValidationFailed):
            shop.call("SettingsSet", {"key": "log", "value": "loud"})
        with pytest.raises(ValidationFailed):
            shop.call("SettingsSet", {"key": "no_such", "value": 1})
        with pytest.raises(ValidationFailed):
            shop.call("SettingsSet", {"key": "onboarding", "value": {"completed": "yes"}})
        shop.call("SettingsSetOnboarding", {"completed": True, "dismissed": False, "version": 1})
        then = shop.call("SettingsGet", {})

    values = {one["name"]: one for one in then["settings"]}
    assert first["show_onboarding"] is True
    assert then["show_onboarding"] is False
    assert then["onboarding"] == {"completed": True, "dismissed": False, "version": 1}
    assert (values["log"]["value"], values["log"]["source"]) == ("debug", "file")
    assert (values["offline"]["value"], values["offline"]["source"]) == (True, "command line")


@pytest.mark.rule("R10.7", "S3.1")
def test_a_changed_setting_names_the_servers_that_still_run_with_the_old_one(tmp_path):
    home = tmp_path / "home"
    with Backshop.open(home, settings={"log": "error"}) as shop:
        began = shop.call("SettingsGet", {})
        with running(shop.config, "mcp"):
            same = shop.call("SettingsGet", {})["servers"]
            shop.call("SettingsSet", {"key": "rails.tools.resume_session", "value": False})
            shop.call("SettingsSet", {"key": "log", "value": "debug"})  # the starter chose another
            shop.call("SettingsSet", {"key": "consent.mode", "value": "ask"})  # read when needed
            changed = shop.call("SettingsGet", {})
        left = shop.call("SettingsGet", {})["servers"]
        shop.call("SettingsSet", {"key": "rails.tools.resume_session", "value": None})
        back = shop.call("SettingsGet", {})
    with Backshop.open(home, settings={"log": "error"}) as shop:
        anew = shop.call("SettingsGet", {})

    assert [(one["door"], one["differs"], one["is_this"]) for one in same] == [("mcp", [], True)]
    assert [one["differs"] for one in changed["servers"]] == [["rails.tools.resume_session"]]
    listed = {one["name"]: one for one in changed["settings"] if one["restart"]}
    assert list(listed) == ["rails.tools.resume_session"]
    assert (listed.popitem()[1])["applied"] is True
    assert left == []
    assert not any(one["restart"] for one in back["settings"])
    assert began["applied"] == changed["applied"] == anew["applied"]


@pytest.mark.rule("R10.7")
def test_a_killed_server_is_not_listed_and_a_strange_file_hurts_nobody(tmp_path):
    home = tmp_path / "home"
    code = (
        "import sys, time; from backshop.app import load, running; from pathlib import Path\n"
        "with running(load(home=Path(sys.argv[1])), 'mcp'):\n"
        "    print('up', flush=True); time.sleep(600)"
    )
    with Backshop.open(home) as shop:
        shop.call("SettingsGet", {})
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(home)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        pids = [one["pid"] for one in shop.call("SettingsGet", {})["servers"]]
        child.kill()
        child.wait(10)
        child.stdout.close()
        (home / "running" / "odd.json").write_text("[")

        assert pids == [child.pid]
        assert shop.call("SettingsGet", {})["servers"] == []
        assert list((home / "running").iterdir()) == []
