"""`backshop prompts`: shows, renders and overrides what models are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backshop.app import Backshop
from backshop.cli import main

MODULE = """
from dataclasses import dataclass
from backshop.prompts import MarkdownSection, Prompt, WorkspaceDigest

@dataclass(frozen=True)
class Letter:
    customer: str

PROMPTS = [
    Prompt(
        "plugin/letters",
        "answer",
        name="Answer a letter",
        sections=[
            MarkdownSection("Letter", "From $customer", key="letter", params=Letter),
            MarkdownSection("Rules", "Be kind.", key="rules", stability="static"),
            WorkspaceDigest(),
        ],
    )
]
BROKEN = 5
"""
ENTRY_POINTS = """[backshop.prompts]
broken = letters_plugin:BROKEN
letters = letters_plugin:PROMPTS
"""
WHICH = ["plugin/letters", "answer"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """An installed package that offers prompts, and the command line in a home of its own."""
    site = tmp_path / "site"
    info = site / "letters_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "letters_plugin.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: letters_plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    home.mkdir()

    def call(*arguments: str, code: int = 0):
        assert main(["prompts", *arguments, "--json", "--home", str(home)]) == code
        return json.loads(capsys.readouterr().out)

    def human(*arguments: str, code: int = 0) -> str:
        assert main(["prompts", *arguments, "--home", str(home)]) == code
        shown = capsys.readouterr()
        return str(shown.out + shown.err)

    call.human = human  # type: ignore[attr-defined]
    return call


def params(tmp_path: Path) -> str:
    path = tmp_path / "params.json"
    path.write_text('{"Letter": {"customer": "Ada\\u001b[31m"}}')
    return str(path)


@pytest.mark.rule("P1.27", "P7.12", "S4.2")
def test_installed_prompts_are_listed_and_shown(run):
    listed = run("list")
    shown = run("show", *WHICH)

    assert [
        (one["key"], one["name"], one["sections"])
        for one in listed["prompts"]
        if one["namespace"] != "backshop/workshop"
    ] == [("answer", "Answer a letter", 3)]
    assert [one["path"] for one in shown["descriptor"]["sections"]] == [
        "letter",
        "rules",
        "workspace-digest",
    ]
    assert "plugin/letters" in run.human("list")
    assert "override hash" in run.human("show", *WHICH)
    assert run("show", "plugin/letters", "none", code=1)["reason"] == "unknown_prompt"


@pytest.mark.rule("P1.27", "P7.12")
def test_every_bundled_prompt_is_shown_with_the_tokens_of_each_section(run):
    bundled = [one for one in run("list")["prompts"] if one["namespace"] == "backshop/workshop"]

    for one in bundled:
        value = run("render", one["namespace"], one["key"])
        assert value["tokens"] == sum(part["tokens"] for part in value["parts"])
        assert all(part["tokens"] > 0 for part in value["parts"])
        assert all(f"## {part['number']}" in value["text"] for part in value["parts"])
    assert len(bundled) == 9


@pytest.mark.rule("P1.27")
def test_a_prompt_is_rendered_as_a_model_would_receive_it(run, tmp_path):
    value = run("render", *WHICH, "--params", params(tmp_path))

    assert value["text"].startswith("## 1. Letter\n\nFrom Ada\x1b[31m\n\n## 2. Rules\n\nBe kind.")
    assert [one["source"] for one in value["parts"]] == ["template", "template", "placeholder"]
    assert value["tokens"] == sum(one["tokens"] for one in value["parts"])
    assert [one["code"] for one in value["diagnostics"]] == ["DIGEST_MISSING"]
    people = run.human("render", *WHICH, "--params", params(tmp_path))
    assert "From Ada\ufffd[31m" in people
    assert "DIGEST_MISSING" in people
    refused = run("render", *WHICH, code=1)
    assert (refused["error_code"], refused["detail"]) == (
        "VALIDATION_FAILED",
        "code: MISSING_PARAMS",
    )


@pytest.mark.rule("P1.24", "P1.27")
def test_lint_finds_a_prefix_that_cannot_be_cached(run):
    found = run("lint", code=1)["findings"]

    assert [(one["code"], one["path"]) for one in found] == [
        ("PL001", "rules"),
        ("PL001", "workspace-digest"),
    ]


@pytest.mark.rule("P3.16", "P7.12")
def test_the_life_of_an_override(run, tmp_path):
    assert run("override", "list") == {"tags": []}
    assert run("override", "set", *WHICH, "rules", "Be $$hort.") == {"revision": 1}
    text = run("render", *WHICH, "--params", params(tmp_path))["text"]
    assert "Be $hort." in text
    assert run("override", "list")["tags"][0]["entries"] == ["rules"]
    assert run("override", "doctor")["entries"][0]["state"] == "ok"
    assert run("override", "show", *WHICH)["document"]["sections"]["rules"]["body"] == "Be $$hort."

    bundle = tmp_path / "bundle.json"
    bundle.write_text(json.dumps(run("override", "export")))
    assert run("override", "unset", *WHICH, "rules") == {"revision": 2}
    assert run("override", "delete", *WHICH) == {}
    assert run("override", "import", str(bundle)) == {"written": ["plugin/letters/answer@latest"]}
    assert run("override", "import", str(bundle), code=1)["detail"] == "code: CONFLICT"

    stored = tmp_path / "home" / "prompts" / "overrides" / "plugin" / "letters" / "answer"
    path = stored / "latest.json"
    document = json.loads(path.read_text())
    document["sections"]["rules"]["expected_hash"] = "0" * 64
    path.write_text(json.dumps(document))
    assert run("override", "doctor", code=1)["entries"][0]["state"] == "STALE_HASH"
    assert "-Be kind.\n+Be $$hort." in run("override", "rebase", *WHICH, "rules")["diff"]
    assert run("override", "rebase", *WHICH, "rules", "--yes")["revision"] == 2
    assert run("override", "doctor")["entries"][0]["state"] == "ok"


@pytest.mark.rule("P3.15", "P3.16")
def test_a_seed_can_be_edited(run):
    document = run("override", "seed", *WHICH, "--tag", "mine")["document"]

    assert sorted(document["sections"]) == ["letter", "rules"]
    assert "nothing is overridden" not in run.human("override", "list")


@pytest.mark.rule("P3.18")
def test_texts_for_prompts_that_are_gone_are_named(run, tmp_path):
    run("override", "set", *WHICH, "rules", "x")
    stored = tmp_path / "home" / "prompts" / "overrides" / "plugin" / "letters"
    (stored / "other").mkdir()
    text = (stored / "answer" / "latest.json").read_text()
    (stored / "other" / "latest.json").write_text(text.replace('"answer"', '"other"'))

    states = {one["key"]: one["state"] for one in run("override", "doctor", code=1)["entries"]}

    assert states == {"answer": "ok", "other": "UNKNOWN_PROMPT"}


@pytest.mark.rule("P11.82", "P7.12", "S5.1")
def test_every_prompt_command_is_in_the_registry(tmp_path):
    names = (
        *("PromptsList", "PromptsGet", "PromptsRender", "PromptsLint"),
        *(
            f"PromptOverrides{verb}"
            for verb in (
                *("List", "Get", "Set", "Unset", "Delete", "Seed"),
                *("Export", "Import", "Doctor", "Rebase"),
            )
        ),
    )

    with Backshop.open(tmp_path / "home") as shop:
        assert all(name in shop.commands for name in names)
        listed = shop.call("PromptsList", {})["prompts"]
        assert {one["namespace"] for one in listed} == {"backshop/workshop"}
