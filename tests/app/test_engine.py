"""What is running and with which settings, through the commands every door has."""

from __future__ import annotations

import pytest

from backshop.app import Backshop
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
