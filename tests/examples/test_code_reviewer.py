"""The code reviewer, run as a person runs it, without a network."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backshop.prompts.workspace import bubble

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "code_reviewer"
GOLDEN = Path(__file__).parent / "data" / "code_reviewer.txt"
REFUSE_SOCKETS = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("a socket was opened")
socket.socket.connect = refuse
sys.argv = ["code_reviewer", *sys.argv[2:]]
import runpy
runpy.run_path(sys.path.pop(), run_name="__main__")
"""


def run(*words, lines=(), env=None, code=0):
    """Run the example with networking refused."""
    script = REFUSE_SOCKETS.replace("sys.path.pop()", repr(str(EXAMPLE)))
    done = subprocess.run(
        [sys.executable, "-c", script, "x", *words],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **(env or {})},
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stdout + done.stderr


@pytest.mark.rule("P8.1", "P8.3", "P8.4", "P8.6", "P11.79")
def test_the_transcript_is_the_one_we_show(tmp_path):
    lines = ["/optimize", "Is the total right?", "", "Anything else?", "/digest", "/rewind 1"]

    shown = run("--overrides", str(tmp_path), lines=[*lines, "/rewind 1", "/exit"])

    assert shown == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.rule("P8.4", "P5.18", "P11.80")
def test_a_global_digest_is_there_after_a_restart(tmp_path):
    options = ("--overrides", str(tmp_path), "--tag", "team")
    run(*options, lines=["/optimize global", "/optimize global the tests folder"])

    shown = run(*options, lines=["/digest"])
    other = run("--overrides", str(tmp_path), lines=["/digest"])

    assert "[source override]" in shown
    assert "A small cash register" in shown
    assert "[source placeholder]" in other


@pytest.mark.rule("P8.5")
def test_the_tag_comes_from_the_environment_and_can_be_changed(tmp_path):
    shown = run(
        "--overrides",
        str(tmp_path),
        lines=["/tag", "/tag other", "/tag ../x"],
        env={"CODE_REVIEW_PROMPT_TAG": "mine"},
    )

    assert "[tag mine]" in shown
    assert shown.count("[tag other]") == 2
    assert sorted(path.stem for path in tmp_path.rglob("*.json")) == ["mine", "other"]


@pytest.mark.rule("P8.1", "P5.20")
def test_the_builder_writes_a_digest_and_reviews_nothing(tmp_path):
    shown = run(
        "--model",
        "builder",
        "--overrides",
        str(tmp_path),
        lines=["optimize", "/digest", "Review it", "quit"],
    )

    assert "till.py" in shown
    assert "[source session]" in shown
    assert "[preflight: PROVIDER_NOT_CONFIGURED" in shown


@pytest.mark.rule("P8.1", "P8.2", "P8.6")
def test_any_folder_can_be_reviewed_once_with_its_prompt_shown(tmp_path):
    shutil.copytree(EXAMPLE / "sample", tmp_path / "code")
    (tmp_path / "code" / "secret.bin").write_bytes(b"\0\1")

    shown = run(
        str(tmp_path / "code"),
        "--overrides",
        str(tmp_path / "overrides"),
        "--once",
        "Look at $total",
        "--show-prompts",
    )

    assert "Look at $total" in shown
    assert "## 1. Brief" in shown
    assert "Issues:" in shown
    assert "secret.bin" not in shown


@pytest.mark.rule("P8.1")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["/nowhere"], "MOUNT_NOT_ALLOWED"),
        (["--script", "/nowhere"], "No such file"),
        (["--model", "nope:x"], "there is no model"),
        (["--model", "openai:gpt-5.2"], "there is no key"),
        (["--tag", "../x"], "is not a valid tag"),
    ],
)
def test_what_cannot_work_is_said_in_a_line(tmp_path, words, told):
    env = {"BACKSHOP_HOME": str(tmp_path / "home"), "OPENAI_API_KEY": ""}

    shown = run(*words, "--overrides", str(tmp_path / "o"), "--once", "Hi", env=env, code=1)

    assert told in shown


@pytest.mark.rule("P8.1", "P8.2", "P6.7")
def test_programs_run_only_where_the_person_says_so_and_a_sandbox_works(tmp_path):
    plain = run("--overrides", str(tmp_path), lines=["/tools"])
    switched_on = run("--overrides", str(tmp_path), "--sandbox", lines=["/tools"])

    assert "shell_execute" not in plain
    assert ("shell_execute (exec)" in switched_on) is (bubble.probe().reason is None)


def test_commands_that_do_not_exist_are_said_to(tmp_path):
    shown = run(
        "--overrides",
        str(tmp_path),
        lines=["/what", "/rewind 9", "/tools", "/prompt", "/help", "/optimize global"],
    )

    for wanted in ("there is no /what", "there are 0 reviews", "read_file (read)", "/rewind N"):
        assert wanted in shown


@pytest.mark.rule("P8.3")
@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_an_interrupt_cancels_the_call_and_not_the_conversation(tmp_path):
    script = tmp_path / "slow.json"
    script.write_text(
        '{"name": "slow", "steps": [{"respond": {"text": "x", "delay_ms": 30000}}]}',
        encoding="utf-8",
    )
    command = [sys.executable, str(EXAMPLE), "--script", str(script), "--show-prompts"]
    with subprocess.Popen(
        [*command, "--overrides", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("Review this\n")
        process.stdin.flush()
        while "Review this" not in process.stdout.readline():
            pass  # the prompt is shown once the call has begun
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate("/exit\n", timeout=20)

    assert process.returncode == 0
    assert "[canceled: USER_CANCELED" in rest
