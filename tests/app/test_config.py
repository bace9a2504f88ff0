"""Settings: who wins, and what is refused before anything starts."""

from __future__ import annotations

import errno
import json
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from backshop.app import Backshop, load, save
from backshop.app.settings.parser import folders, json_list, json_object
from backshop.app.settings.resolution import in_force
from backshop.app.settings.table import SETTINGS
from backshop.app.wiring.models import FileSettings
from backshop.base.errors import DiskFull, ValidationFailed
from backshop.base.limits import CONTEXT_TIMEOUT_S
from backshop.bench import BenchSettings
from backshop.cli import main
from backshop.formats import Limits as FormatLimits
from backshop.models.providers.provider import ProviderBook
from backshop.rails import Settings as RailsSettings
from backshop.workshop import Settings as WorkshopSettings

ROOT = Path(__file__).resolve().parents[2]


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


@pytest.mark.rule("S3.1")
def test_settings_nobody_set_are_the_defaults_of_the_rooms_they_belong_to(tmp_path):
    with Backshop.open(tmp_path) as shop:
        defaults = BenchSettings()
        bench = replace(shop.benches.desk.settings, default_model=defaults.default_model)
        assert bench == defaults
        assert shop.rails.settings == RailsSettings()
        assert shop.workshops._settings == WorkshopSettings()
        assert shop.contextual._timeout_s == CONTEXT_TIMEOUT_S
        assert shop.formats.limits == FormatLimits()


VARIABLES = {
    "BACKSHOP_DATABASE_URL": ("database_url", "postgresql://h/db"),
    "BACKSHOP_BLOBS_URL": ("blobs_url", "s3://bucket/prefix"),
    "BACKSHOP_PUBLIC_URL": ("web.public_url", "https://files.example"),
    "BACKSHOP_WORKERS": ("team.workers", "external"),
    "BACKSHOP_LOG": ("log", "debug"),
    "BACKSHOP_LOG_FORMAT": ("log_format", "json"),
    "BACKSHOP_PROXY": ("network.proxy", "http://proxy.example:8080"),
}


@pytest.mark.rule("S3.2")
@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_of_the_environment_is_a_setting(tmp_path, name):
    setting, text = VARIABLES[name]

    found = load(environ={name: text, "BACKSHOP_HOME": str(tmp_path)}).values[setting]

    assert (str(found.value), found.source) == (text, f"environment {name}")


@pytest.mark.rule("S3.2")
def test_folders_and_offline_are_read_from_the_environment(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    env = {"BACKSHOP_WORKFLOW_PATH": f"{one}:{two}", "BACKSHOP_OFFLINE": "1"}

    config = load(environ=env)

    assert [str(path) for path in config["workflow_path"]] == [str(one), str(two)]
    assert config["offline"] is True


@pytest.mark.rule("S3.2", "T6.4")
def test_trusted_proxies_are_addresses_and_networks_and_nobody_by_default():
    env = {"BACKSHOP_TRUSTED_PROXIES": "10.0.0.7, 10.1.0.0/16,fd00::/8"}

    assert load(environ={})["web.trusted_proxies"] == ()
    assert load(environ=env)["web.trusted_proxies"] == ("10.0.0.7", "10.1.0.0/16", "fd00::/8")


@pytest.mark.rule("S3.2")
def test_the_rules_name_every_variable_and_no_other():
    rules = (ROOT / "docs" / "spec" / "surface.md").read_text(encoding="utf-8")
    stated = set(re.findall(r"BACKSHOP_[A-Z_]+", rules.partition("- S3.2")[2].split("- S3.3")[0]))
    others = {"BACKSHOP_HOME", "BACKSHOP_SECRETS_PASSPHRASE", "BACKSHOP_OPENAI_API_KEY"}

    read = {one.env for one in SETTINGS if one.env} | others
    assert stated - {"BACKSHOP_"} == read
    lists = {"BACKSHOP_WORKFLOW_PATH", "BACKSHOP_TRUSTED_PROXIES"}
    assert set(VARIABLES) | lists | {"BACKSHOP_OFFLINE"} | others == read


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
        ("{}", {"BACKSHOP_TRUSTED_PROXIES": "*"}),
        ("{}", {"BACKSHOP_TRUSTED_PROXIES": "proxy.example"}),
        ("{}", {"BACKSHOP_TRUSTED_PROXIES": "10.0.0.1/8"}),
        ('{"web.trusted_proxies": {"10.0.0.7": true}}', {}),
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


GOOD = {
    "onboarding": {"completed": True, "version": 2},
    "database_url": "postgresql://h/db",
    "blobs_url": "s3://bucket/prefix",
    "web.public_url": "https://files.example",
    "web.trusted_proxies": ["10.0.0.7", "10.1.0.0/16"],
    "log": "debug",
    "log_format": "json",
    "offline": True,
    "workflow_path": ["/srv/one", "/srv/two"],
    "rails.bundled_dirs": ["/srv/one"],
    "rails.git_sources": [{"url": "https://git.example/w", "ref": "main"}],
    "rails.preset": "full_auto",
    "rails.notes": "required",
    "rails.workspace": "/srv/work",
    "rails.agent_may_automate": True,
    "rails.agent_may_approve": True,
    "rails.tools.checkpoint_workflow": False,
    "rails.tools.resume_session": False,
    "rails.tools.start_session": False,
    "workshop.flow": "compat",
    "workshop.talk_on_draft": True,
    "providers": {"openai": {"enabled": False}},
    "model.default": "openai:gpt-5.2",
    "consent.mode": "allow_all",
    "consent.for_local": True,
    "network.proxy": "http://proxy.example:8080",
    "budget.usd": 2.5,
    "team.workers": "external",
    "models": [{"model_id": "local-a:b"}],
    "limits": {"max_files": 1, "max_file_bytes": 2, "max_total_bytes": 3, "max_depth": 4},
    "bench.profile": "large",
    "formats.recalculate": False,
    "bench.style_keywords": {"xlsx": ["ledger"], "pptx": ["deck", "slides"]},
    "formats.renderer_path": "/usr/bin/soffice",
}
"""A value of each setting; 17 is one of all the others, which are numbers."""


@pytest.mark.rule("S3.3")
@pytest.mark.parametrize("name", [one.name for one in SETTINGS])
def test_every_setting_takes_a_good_value_and_gives_it_back(tmp_path, name):
    value = GOOD.get(name, 17)

    save(tmp_path, name, value)

    found = load(home=tmp_path, environ={}).values[name]
    assert found.source == "file"
    assert json.loads(json.dumps(found.value)) == value


@pytest.mark.rule("S3.3")
@pytest.mark.parametrize("odd", [[[]], {"": None}, -1, "\a", "9" * 5000])
def test_a_value_of_another_kind_is_refused_as_a_bad_setting(tmp_path, odd):
    taken = []
    for setting in SETTINGS:
        try:
            save(tmp_path, setting.name, odd)
            taken.append(setting.parse.parse)
        except ValidationFailed as error:
            assert (error.reason, error.detail) == ("bad_setting", f"setting: {setting.name}")

    assert set(taken) <= {json_list, json_object, folders.parse}  # whose parts are looked at later


@pytest.mark.rule("S3.4")
@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("budget.tokens", "100000", 100_000),
        ("budget.usd", "2.5", 2.5),
        ("consent.for_local", "false", False),
        ("consent.for_local", "yes", True),
        ("workflow_path", "/srv/one:/srv/two", ["/srv/one", "/srv/two"]),
    ],
)
def test_a_value_given_as_text_is_kept_as_what_it_means(tmp_path, name, text, value):
    save(tmp_path, name, text)

    [kept] = json.loads((tmp_path / "settings.json").read_text()).values()
    assert (kept, type(kept)) == (value, type(value))


@pytest.mark.rule("S3.4")
def test_texts_in_a_file_written_by_hand_count_as_what_they_mean(tmp_path):
    text = '{"consent.for_local": "false", "budget.tokens": "500", "budget.usd": "1"}'
    (tmp_path / "settings.json").write_text(text)
    config = load(home=tmp_path, environ={})

    found = [in_force(config, name) for name in ("consent.for_local", "budget.tokens")]

    assert found == [False, 500]
    (tmp_path / "settings.json").write_text('{"budget.tokens": "many"}')
    with pytest.raises(ValidationFailed) as refused:
        in_force(config, "budget.tokens")
    assert refused.value.reason == "bad_setting"


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


@pytest.mark.rule("S3.1")
@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        (
            "database_url",
            "postgresql://me:hunter2@host/db?sslmode=require",
            "postgresql://me:***@host/db?sslmode=require",
        ),
        (
            "database_url",
            "postgresql://host/db?user=me&p%61ssword=hunter2&sslpassword=hunter2&sslmode=require",
            "postgresql://host/db?user=me&p%61ssword=***&sslpassword=***&sslmode=require",
        ),
        ("database_url", "postgresql://me@host/db", "postgresql://me@host/db"),
        (
            "rails.git_sources",
            [
                {"url": "https://x:hunter2@host/a.git", "ref": "main"},
                {"url": "https://hunter2@host/a.git", "token": "hunter2"},
                {"url": "https://host/a.git?private_token=hunter2#a"},
                {"url": "ssh://git@host/a.git"},
            ],
            (
                {"url": "https://***@host/a.git", "ref": "main"},
                {"url": "https://***@host/a.git", "token": "***"},
                {"url": "https://host/a.git?private_token=***#a"},
                {"url": "ssh://git@host/a.git"},
            ),
        ),
    ],
)
def test_a_setting_is_shown_without_the_secrets_in_it(tmp_path, name, value, shown):
    (tmp_path / "settings.json").write_text(json.dumps({name: value}), encoding="utf-8")

    assert load(home=tmp_path, environ={}).values[name].shown == shown


@pytest.mark.rule("S3.3")
@pytest.mark.parametrize(
    "value", ["host=db user=me password=hunter2", "host=db password='hunter2 x'"]
)
def test_a_refused_setting_is_named_without_the_secrets_in_it(tmp_path, value):
    with pytest.raises(ValidationFailed) as refused:
        load(home=tmp_path, environ={"BACKSHOP_DATABASE_URL": value})

    assert "hunter2" not in refused.value.message


@pytest.mark.rule("M3.11")
def test_changes_of_providers_at_one_time_all_stand(tmp_path):
    names = [f"local-{number}" for number in range(24)]
    start = threading.Barrier(4, timeout=5)

    def change(part: int) -> None:
        book = ProviderBook(FileSettings(load(home=tmp_path)))
        start.wait()
        for name in names[part::4]:
            book.change(name, enabled=False)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(change, range(4)))

    kept = ProviderBook(FileSettings(load(home=tmp_path)))
    assert sorted(kept.all()) == sorted(names)
    kept.remove("local-0")
    assert sorted(kept.all()) == sorted(names[1:])


@pytest.mark.rule("S3.3")
@pytest.mark.parametrize(
    "name", ["BACKSHOP_SERVICE_HOST", "BACKSHOP_PORT_8484_TCP", "BACKSHOP_IMAGE", "BACKSHOP_X"]
)
def test_a_variable_that_is_no_setting_of_ours_is_named_and_left_out(
    tmp_path, monkeypatch, capsys, name
):
    monkeypatch.setenv(name, "something")
    (tmp_path / "home").mkdir()

    code = main(["bench", "list", "--json", "--home", str(tmp_path / "home")])

    said = capsys.readouterr()
    assert (code, json.loads(said.out)["workbenches"]) == (0, [])
    assert said.err.count(name) == 1
    assert "something" not in said.err


@pytest.mark.rule("S3.3")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("BACKSHOP_OFLINE", "BACKSHOP_OFFLINE"),
        ("BACKSHOP_DB_URL", "BACKSHOP_DATABASE_URL"),
        ("BACKSHOP_HOM", "BACKSHOP_HOME"),
        ("BACKSHOP_HOEM", "BACKSHOP_HOME"),
        ("BACKSHOP_DATABASE", "BACKSHOP_DATABASE_URL"),
        ("BACKSHOP_DATABASEURL", "BACKSHOP_DATABASE_URL"),
        ("BACKSHOP_DATABSE_URL", "BACKSHOP_DATABASE_URL"),
        ("BACKSHOP_BLOB_URL", "BACKSHOP_BLOBS_URL"),
        ("BACKSHOP_WORKFLOWS_PATH", "BACKSHOP_WORKFLOW_PATH"),
        ("BACKSHOP_STORE_LOCK_WAIT_MS", "store.lock_wait_ms is set with"),
    ],
)
def test_a_variable_that_looks_like_a_mistyped_setting_is_refused_with_what_was_meant(
    tmp_path, name, meant
):
    with pytest.raises(ValidationFailed) as refused:
        load(home=tmp_path, environ={name: "1"})

    assert refused.value.reason == "bad_setting"
    assert any(hint.startswith(meant) for hint in refused.value.hints)


@pytest.mark.rule("S3.3")
@pytest.mark.parametrize(
    "name",
    [
        *("DATABASE_PASSWORD", "DATABASE_USER", "DATABASE_NAME", "DATABASE_HOST", "DATABASE_PORT"),
        *("HOST", "PORT", "IMAGE", "LOG_LEVEL", "PROXY_PORT", "PUBLIC_KEY", "WORKERS_SERVICE_HOST"),
    ],
)
def test_a_variable_of_something_else_is_no_mistyped_setting(tmp_path, name):
    plain = load(home=tmp_path, environ={})

    found = load(home=tmp_path, environ={f"BACKSHOP_{name}": "1"})

    assert found == plain


@pytest.mark.rule("S3.3", "S4.2")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"offlin": true, "log": "error"}', "'offlin'"),
        ('{"log": "loud"}', "'loud' is not a value of log"),
        ("\x00\x01", "not JSON"),
    ],
)
def test_broken_settings_are_named_by_file_and_do_not_stop_the_doctor(tmp_path, capsys, text, told):
    main(["bench", "create", "Mine", "--home", str(tmp_path)])
    (tmp_path / "settings.json").write_text(text)
    capsys.readouterr()

    other = main(["bench", "list", "--home", str(tmp_path)])
    said = capsys.readouterr().err
    code = main(["doctor", "--json", "--home", str(tmp_path)])
    found = json.loads(capsys.readouterr().out)["findings"]

    assert (other, code) == (1, 1)
    assert str(tmp_path / "settings.json") in said
    assert told in said
    problems = [one for one in found if one["level"] == "problem"]
    assert [one["subject"] for one in problems] == ["settings"]
    assert told in problems[0]["message"]
    assert str(tmp_path / "settings.json") in problems[0]["message"]
    assert {"level": "ok", "subject": "streams", "message": "1 healthy"} in found


@pytest.mark.rule("S3.4")
def test_settings_are_durable_before_they_take_the_place_of_the_old_ones(tmp_path, monkeypatch):
    save(tmp_path, "team.turns", 2)
    synced = []
    sync = os.fsync

    def noted(handle):
        written = Path(f"/proc/self/fd/{handle}").readlink()
        there = tmp_path / "settings.json"
        synced.append((json.loads(written.read_bytes()), json.loads(there.read_bytes())))
        sync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    save(tmp_path, "team.turns", 3)

    assert synced == [({"team.turns": 3}, {"team.turns": 2})]


@pytest.mark.rule("S3.4")
def test_settings_that_could_not_be_written_leave_the_old_ones_and_nothing_else(
    tmp_path, monkeypatch
):
    save(tmp_path, "team.turns", 2)

    def full(_handle):
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        save(tmp_path, "team.turns", 3)

    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {
        "settings.json": '{\n  "team.turns": 2\n}'
    }
