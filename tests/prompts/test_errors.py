"""Errors of this room as a door reports them, and with Python's optimiser on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from backshop.base.errors import CODES, BackshopError, RetryKind
from backshop.prompts import (
    MarkdownSection,
    OutputParseError,
    OverridesError,
    Prompt,
    PromptBudgetError,
    PromptError,
    PromptRenderError,
    PromptValidationError,
    ReducerError,
    SectionNotFound,
    SessionError,
    SnapshotError,
)
from backshop.prompts.errors import PRODUCT_CODES


@pytest.mark.rule("P1.26")
def test_every_error_is_one_of_the_family():
    for kind in (
        PromptValidationError,
        PromptRenderError,
        OverridesError,
        SessionError,
        SectionNotFound,
    ):
        assert issubclass(kind, PromptError)
    assert issubclass(PromptBudgetError, PromptError)
    assert issubclass(OutputParseError, PromptError)
    assert issubclass(ReducerError, SessionError)
    assert issubclass(SnapshotError, SessionError)
    assert issubclass(PromptError, BackshopError)


@pytest.mark.rule("P1.26")
@pytest.mark.parametrize(
    ("code", "product"),
    [
        ("OUTPUT_INVALID", "PROVIDER_BAD_RESPONSE"),
        ("EMPTY_DIGEST", "PROVIDER_BAD_RESPONSE"),
        ("NO_MODEL_CONFIGURED", "PROVIDER_NOT_CONFIGURED"),
        ("SESSION_CONFLICT", "BENCH_BUSY"),
        ("LOCKED", "BENCH_BUSY"),
        ("OPTIMIZE_IN_PROGRESS", "BENCH_BUSY"),
        ("MANIFEST_INCOMPLETE", "FILE_READ_FAILED"),
        ("OVERRIDE_WRITE_FAILED", "FILE_WRITE_FAILED"),
        ("STALE_HASH", "VALIDATION_FAILED"),
        ("TOO_DEEP", "VALIDATION_FAILED"),
    ],
)
def test_a_door_sees_the_product_code_and_the_word_as_detail(code, product):
    info = PromptError("no", code=code, path="a/b").info("workshop", subphase="prompt")

    assert (info.error_code, info.detail) == (product, f"code: {code}")
    assert info.actions == CODES[product].actions
    assert info.retryable == (CODES[product].retry is not RetryKind.NO)
    assert (info.retry.after_ms is not None) == (info.retry.kind is RetryKind.LATER)


@pytest.mark.rule("P1.26")
def test_product_codes_are_of_the_closed_set():
    assert set(PRODUCT_CODES.values()) <= CODES.keys()


@pytest.mark.rule("P1.26")
def test_the_optimiser_changes_nothing():
    code = """
from backshop.prompts import *
def refused(act):
    try:
        act()
    except PromptError as error:
        print(error.code)
refused(lambda: MarkdownSection("T", "x", key="Bad"))
refused(lambda: Prompt("backshop", "k", sections=[]))
refused(lambda: Session().rewind_to(5))
refused(lambda: MarkdownSection("T", "$5", key="k"))
refused(lambda: Tool("BAD", "d", None, print, effects="read"))
refused(lambda: LocalPromptOverridesStore("/nowhere").delete("a", "b", "../c"))
"""
    outputs = {
        subprocess.run(
            [sys.executable, *flags, "-c", code],
            env={"PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flags in ((), ("-O",), ("-OO",))
    }

    assert outputs == {
        "BAD_IDENTIFIER\nRESERVED_NAMESPACE\nREWIND_TARGET_INACTIVE\nINVALID_PLACEHOLDER\n"
        "BAD_TOOL\nBAD_IDENTIFIER\n"
    }


@pytest.mark.rule("S8.1")
def test_prompts_work_without_a_home_or_a_database():
    code = (
        "import sys\n"
        "from backshop.prompts import *\n"
        "p = Prompt('a', 'b', sections=[MarkdownSection('A', 'a'), WorkspaceDigest()])\n"
        "s = Session()\n"
        "s.workspace_digest.set('workspace-digest', 'x')\n"
        "p.render(session=s)\n"
        "heavy = ('pysqlite3', 'sqlite3', 'backshop.store', 'duckdb', 'lxml')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "[]\n"


@pytest.mark.rule("M14.5", "M19.39")
def test_a_prompt_that_does_not_fit_says_what_takes_the_room():
    prompt = Prompt(
        "tests/x",
        "y",
        sections=[
            MarkdownSection("Rules", "r" * 400, key="rules"),
            MarkdownSection(
                "Files",
                "f" * 40,
                key="files",
                children=[MarkdownSection("One", "g" * 4_000, key="one")],
            ),
        ],
    )

    with pytest.raises(PromptBudgetError) as caught:
        prompt.render(budget_tokens=100)

    info = caught.value.info("workshop")
    assert info.error_code == "CONTEXT_EXHAUSTED"
    assert info.detail == "code: OVER_BUDGET; rules: 104; files: 1018"
