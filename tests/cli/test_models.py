"""`backshop provider`, `model` and `consent`."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from backshop.app import Backshop
from backshop.cli.main import main

KEY = "sk-very-secret-0123456789"


@pytest.fixture(name="run")
def _run(capsys, monkeypatch):
    monkeypatch.setenv("BACKSHOP_OFFLINE", "1")
    monkeypatch.setattr("backshop.models.providers.secret.KeyringVault.works", lambda: False)

    def run(*words, stdin="", code=0):
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        assert main([*words, "--json"]) == code
        captured = capsys.readouterr()
        return json.loads(captured.out)

    return run


@pytest.mark.rule("S4.2", "M3.1", "M3.2")
def test_a_key_is_set_from_standard_input_shown_masked_and_removed(run, capsys):
    assert run("provider", "set-key", "openai", stdin=f"{KEY}\n") == {"status": "needs_attention"}
    listed = {one["provider_id"]: one for one in run("provider", "list")["providers"]}
    assert (listed["openai"]["key_hint"], listed["openai"]["key_source"]) == ("6789", "store")
    assert main(["provider", "list"]) == 0
    assert main(["config", "show"]) == 0
    shown = capsys.readouterr().out
    assert "…6789 (store)" in shown
    assert "accidental disclosure" in shown
    assert KEY not in shown
    assert run("provider", "remove-key", "openai") == {"status": "not_configured"}


@pytest.mark.rule("M3.2", "M4.5", "M4.11")
def test_what_was_not_checked_and_what_is_not_asked_for_is_said_in_words(run, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    assert main(["provider", "set-key", "openai"]) == 0
    assert "it could not be checked (" in capsys.readouterr().out
    run("provider", "add", "local-x", "--url", "http://localhost:9/v1", "--model", "m")
    run("bench", "create", "Papers")

    def told():
        assert main(["consent", "list", "Papers", "--model", "local-x:m"]) == 0
        return capsys.readouterr().out

    assert "stays on this machine; not asked for" in told()
    run("config", "set", "consent.for_local", "true")
    assert "may NOT leave yet" in told()


@pytest.mark.rule("M3.12", "M19.16")
def test_a_key_is_in_no_output_no_argument_no_export_and_no_file(
    run, capsys, tmp_path, monkeypatch
):
    """Everything that prints, starts processes or writes files, with a key in the store."""
    started: list[str] = []
    original = subprocess.Popen.__init__

    def note(self, args, *rest, **more):
        started.append(repr(args))
        return original(self, args, *rest, **more)

    monkeypatch.setattr(subprocess.Popen, "__init__", note)
    home = tmp_path / "home"
    monkeypatch.setenv("BACKSHOP_HOME", str(home))
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    run("provider", "set-key", "openai", stdin=f"{KEY}\n")
    bench = run("bench", "create", "Papers")["workbench_id"]
    run("bench", "add", bench, str(tmp_path / "a.csv"))
    words = [
        ("config", "show"),
        ("provider", "list"),
        ("provider", "test", "openai"),
        ("model", "use", "openai:gpt-5.2", "--bench", bench),
        ("send", bench, "Hello"),
        ("consent", "list", bench),
        ("file", "map", str(tmp_path / "a.csv")),
        ("prompts", "render", "backshop/workshop", "research"),
        ("digest", "refresh", bench),
        ("digest", "show", bench),
        ("history", bench),
        ("doctor",),
        ("call", "AuditList", json.dumps({"workbench_id": bench})),
        ("call", "SettingsGet", "{}"),
        ("call", "EgressListEvents", "{}"),
        ("backup", str(tmp_path / "backup")),
    ]
    for one in words:
        main([*one, "--json"])
    for one in words[:2]:
        main([*one])

    said = capsys.readouterr()
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert "a.csv" in said.out
    assert len(written) > 10
    assert KEY not in said.out + said.err + "".join(started)
    assert not [one for one in written if KEY.encode() in one]


def test_a_bad_key_is_refused(run):
    refused = run("provider", "set-key", "openai", stdin="short\n", code=1)

    assert refused["reason"] == "bad_key_format"


@pytest.mark.rule("S4.2", "M3.5")
def test_a_server_is_added_listed_and_removed(run):
    run("provider", "add", "local-x", "--preset", "ollama", "--model", "tiny")
    models = {one["model_id"]: one for one in run("model", "list")["models"]}
    assert models["local-x:tiny"]["context_tokens_estimate"] == 4096
    assert models["local-x:tiny"]["approximate"] is True
    run("model", "use", "local-x:tiny")
    models = {one["model_id"]: one for one in run("model", "list")["models"]}
    assert models["local-x:tiny"]["is_default"] is True
    run("provider", "remove", "local-x")
    assert "local-x:tiny" not in [one["model_id"] for one in run("model", "list")["models"]]


@pytest.mark.rule("M2.1", "M2.2", "M17")
def test_a_chosen_model_that_went_away_is_named_and_no_other_is_taken(run, capsys):
    run("provider", "add", "local-x", "--preset", "ollama", "--model", "tiny")
    run("model", "use", "local-x:tiny")
    run("provider", "remove", "local-x")

    assert main(["model", "list"]) == 0
    assert "not there any more: local-x:tiny" in capsys.readouterr().out
    assert run("model", "use", "openai:gpt-5.3", code=1)["hints"][0] == "openai:gpt-5.2"
    assert run("provider", "test", "antropic", code=1)["hints"] == ["anthropic"]
    assert run("provider", "add", "local-y", "--preset", "custom", code=1)["reason"] == (
        "bad_base_url"
    )


@pytest.mark.rule("S4.2", "M7.1")
def test_efforts_and_a_test_of_a_provider(run):
    run("provider", "effort", "openai", "high", "low", "none")
    listed = {one["provider_id"]: one for one in run("provider", "list")["providers"]}
    assert listed["openai"]["rpi_reasoning"] == {
        "research": "high",
        "plan": "low",
        "implement": "none",
    }
    run("provider", "effort", "openai", "extreme", "low", "none", code=1)
    assert run("provider", "test", "openai", code=1)["ok"] is False
    assert run("provider", "test", "scripted") == {"ok": True}


@pytest.mark.rule("S4.2", "M4.9", "M4.11", "M4.6")
def test_consent_of_a_bench_is_shown_granted_and_revoked(run, tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    with Backshop.open() as shop:
        shop.call("UserSetDefaultModel", {"model_id": "openai:gpt-5.2"})
        bench = shop.call("WorkbenchCreate", {"name": "Papers"})["workbench_id"]
        shop.call(
            "WorkbenchFilesAdd", {"workbench_id": bench, "source_paths": [str(tmp_path / "a.txt")]}
        )

    before = run("consent", "list", "Papers")
    assert before["consented"] is False
    assert before["new_items"] == ["a.txt"]
    assert before["files"] == [{"path": "a.txt", "size": 5}]
    assert run("consent", "grant", bench)["consented"] is True
    after = run("consent", "list", bench)
    assert (after["consented"], after["persisted"], after["new_items"]) == (True, True, [])
    run("consent", "revoke", "Papers")
    assert run("consent", "list", "Papers")["consented"] is False
    assert run("consent", "list", "Papers", "--sent") == {"events": []}
    run("consent", "list", "Nothing", code=1)


@pytest.mark.rule("S4.3", "B5.3")
def test_no_workbench_is_too_old_to_be_listed_and_named(run):
    with Backshop.open() as shop:
        shop.call("WorkbenchCreate", {"name": "Oldest"})
        for n in range(200):
            shop.call("WorkbenchCreate", {"name": f"Newer {n}"})

    listed = run("bench", "list")

    assert len(listed["workbenches"]) == 201
    assert listed["workbenches"][-1]["name"] == "Oldest"
    asked = run("consent", "list", "Oldest", "--model", "openai:gpt-5.2")
    assert asked["consented"] is False


@pytest.mark.rule("M4.9")
def test_the_consent_mode_needs_approval(run):
    assert run("consent", "mode") == {"mode": "ask"}
    run("consent", "mode", "allow_all", code=1)
    assert run("consent", "mode", "allow_all", "--yes") == {"mode": "allow_all"}
    assert run("consent", "mode", "ask") == {"mode": "ask"}


@pytest.mark.rule("M19.52", "S2.4")
@pytest.mark.parametrize("words", [["--version"], ["model", "list"], ["provider", "list"]])
def test_no_sdk_is_loaded_to_look_around(words):
    code = (
        "import sys; from backshop.cli.main import main; main(sys.argv[1:]);"
        "loaded = [m for m in ('openai', 'anthropic', 'httpx2') if m in sys.modules];"
        "sys.exit(7 if loaded else 0)"
    )

    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, timeout=60)

    assert done.returncode == 0, done


@pytest.mark.rule("M15.11", "W16.1", "S4.8")
def test_a_script_that_is_not_there_is_refused_where_a_model_is_chosen(run, capsys):
    run("bench", "create", "My Papers")
    refused = [
        run("model", "use", name, *bench, code=1)
        for name in ("scripted:dmo", "nobody:none")
        for bench in ((), ("--bench", "My Papers"))
    ]
    near = {one["reason"]: one.get("hints") for one in refused[:2]}
    assert main(["model", "use", "openai:gpt-5.2", "--bench", "My Papers"]) == 1
    unusable = capsys.readouterr().err
    run("config", "set", "model.default", "scripted:dmo")
    assert main(["send", "My Papers", "hello"]) == 1
    sent = capsys.readouterr().err

    assert {(one["error_code"], one["reason"]) for one in refused} == {
        ("VALIDATION_FAILED", "unknown_model")
    }
    assert near == {"unknown_model": ["scripted:demo", "scripted:echo"]}
    assert "`backshop model use ID --bench 'My Papers'`" in unusable
    assert "there is no script 'dmo'" in sent
    assert run("run", "list")["runs"] == []


@pytest.mark.rule("W13.2", "R5.9")
def test_the_list_says_that_the_run_of_a_failed_turn_stays_open(tmp_path, capsys):
    with Backshop.open(tmp_path / "home") as shop:
        wire = shop.models.play("fails", [{"respond": {"error": "auth"}}])
        bench = shop.workshop(shop.call("WorkbenchCreate", {"name": "X"})["workbench_id"])
        bench.use_model("scripted:fails")
        assert bench.send("Do it").status == "failed"
    assert wire.requests
    assert main(["run", "list", "--home", str(tmp_path / "home")]) == 0
    listed = capsys.readouterr().out

    assert "in_progress" in listed
    assert "`backshop retry BENCH` takes it up again." in listed
