"""The page of proof says what was run, and what was not."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("proof", ROOT / "tools" / "proof.py")
assert SPEC is not None
assert SPEC.loader is not None
proof = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(proof)

RESULTS = """<testsuites><testsuite>
<testcase classname="tests.store.test_machine" name="test_one" time="1.5">
  <properties><property name="kills" value="1200"/></properties></testcase>
<testcase classname="tests.flows.test_demo" name="test_two" time="2"><failure/></testcase>
<testcase classname="tests.crash.test_store.TestIt" name="test_three" time="0.2">
  <skipped message="strace: strace is not installed"/></testcase>
<testcase classname="tests.web.test_security" name="test_four" time="1">
  <skipped message="browser: no Chromium is installed"/></testcase>
</testsuite></testsuites>"""


def rows(kept):
    lines = "\n".join(proof.page(kept)).splitlines()
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines if line[:2] == "| "}


def test_what_was_not_run_is_not_called_proved():
    assert all("| not run |" in line for line in list(rows({}).values())[1:])


def taken(tmp_path, kept, cases, at="2026-11-15T10:00:00+00:00"):
    results = tmp_path / "results.xml"
    suite = f'<testsuite timestamp="{at}">{cases}</testsuite>'
    results.write_text(f"<testsuites>{suite}</testsuites>")
    proof.take_in(results, kept)


def case(name, inside=""):
    return f'<testcase classname="tests.web.test_security" name="{name}">{inside}</testcase>'


def security(kept):
    return next(line for name, line in rows(kept).items() if name.startswith("Nothing of a doc"))


def test_results_are_taken_in_by_case_and_failures_named(tmp_path):
    results = tmp_path / "results.xml"
    results.write_text(RESULTS)
    kept: dict[str, object] = {}

    proof.take_in(results, kept)

    page = "\n".join(proof.page(kept))
    said = rows(kept)
    demo = next(line for name, line in said.items() if name.startswith("The offline model"))
    crash = next(line for name, line in said.items() if name.startswith("A crash"))
    assert "**1 failed**" in demo
    assert "in part; not run: tests/crash/test_bench.py" in crash
    assert "in part; 1 of 1 skipped" in security(kept)
    assert "- `tests/flows/test_demo.py::test_two`" in page
    assert "| one | 1,200 kills | holds (sample) | `make proof PART=tests/store/test_mach" in page
    assert "- 1 × strace: strace is not installed" in page


def test_the_run_of_one_test_leaves_what_is_known_of_the_others(tmp_path, monkeypatch):
    monkeypatch.setenv("BACKSHOP_PROOF", "1")
    kept: dict[str, object] = {}
    taken(tmp_path, kept, case("test_a") + case("test_b[1]") + case("test_b[2]", "<failure/>"))
    assert "**1 failed**" in security(kept)

    taken(tmp_path, kept, case("test_b[2]"), at="2026-11-16T12:30:00+02:00")
    assert "| 3 tests in 1 file, full counts, 0 s (2026-11-15 to 2026-11-16) | holds |" in (
        security(kept)
    )

    taken(tmp_path, kept, case("test_b[2]", "<failure/>"), at="2026-11-16T10:29:59+00:00")
    assert "| holds |" in security(kept)  # an older result, taken in late, changes nothing


def test_the_commits_that_results_are_of_are_told_newest_first(tmp_path):
    def of(commit):
        return f'<properties><property name="commit" value="{commit}"/></properties>'

    kept: dict[str, Any] = {}
    taken(tmp_path, kept, case("test_a") + case("test_b"))
    assert "| holds (sample) | – | `make" in security(kept)

    taken(tmp_path, kept, of("aaa1111") + case("test_b") + case("test_c"), at="2026-11-16T10:00Z")
    taken(tmp_path, kept, of("bbb2222+") + case("test_c"), at="2026-11-17T10:00Z")

    assert "| bbb2222+, aaa1111, – | `make" in security(kept)
    found = kept["files"]["tests/web/test_security.py"]
    assert [one.get("commit") for one in found.values()] == [None, "aaa1111", "bbb2222+"]


def test_a_proof_writes_its_commit_into_its_results(tmp_path):
    results = tmp_path / "results.xml"
    one = "tests/base/test_canon.py"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", f"--junitxml={results}", one]
    env = os.environ | {"BACKSHOP_PROOF": "1"}
    subprocess.run([*command, "-k", "nothing_of_that_name"], cwd=ROOT, env=env, check=False)

    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    (suite,) = ET.parse(results).iter("testsuite")

    found = proof._commit(suite).get("commit", "")
    assert head.startswith(found.rstrip("+"))
    assert bool(found) == bool(head)


def test_a_case_told_twice_by_one_run_has_failed_if_it_failed_once(tmp_path):
    kept: dict[str, object] = {}

    taken(tmp_path, kept, case("test_a", "<failure/>") + case("test_a"))

    assert "**1 failed**" in security(kept)


def test_cases_that_exist_and_were_not_run_are_named_and_gone_ones_dropped(tmp_path):
    kept: dict[str, object] = {}
    taken(tmp_path, kept, case("test_a") + case("test_gone", "<failure/>"))

    proof.settle(kept, {"tests/web/test_security.py": ["test_a", "test_b[1]", "test_b[2]"]})

    assert "1 of 3 tests in 1 file" in security(kept)
    assert "| in part; not run: tests/web/test_security.py::test_b |" in security(kept)


def test_cases_this_machine_has_no_files_for_stay_known(tmp_path):
    kept: dict[str, object] = {}
    taken(tmp_path, kept, case("test_a[one.docx]") + case("test_ab[two.docx]"))

    proof.settle(kept, {"tests/web/test_security.py": ["test_a[NOTSET]", "test_b[NOTSET]"]})

    assert list(kept["files"]["tests/web/test_security.py"]) == [  # type: ignore[index]
        "test_a[one.docx]",
        "test_b[NOTSET]",
    ]


def test_the_cases_of_a_file_are_listed_as_results_name_them():
    file = "tests/bench/test_machine.py"
    found = proof.listed([file])[file]

    assert "TestBench::runTest" in found
    assert proof._place("tests.bench.test_machine.TestBench", "runTest") == (file, found[0])


def test_edits_of_files_others_made_are_told_as_a_rate(tmp_path):
    def told(corpus, **counts):
        counts = {"corpus": corpus, "tried": 1, **counts}
        found = (f'<property name="{k.replace("_", " ")}" value="{n}"/>' for k, n in counts.items())
        return f"<properties>{''.join(found)}</properties>"

    kept: dict[str, object] = {}
    good, bad = {"edited_without_loss": 1}, {"edited_without_loss": 0, "refused: damaged": 1}
    cases = [told("decks", **good), told("decks", **bad), told("documents", **good)]

    taken(tmp_path, kept, "".join(case(f"test_edit[{n}]", one) for n, one in enumerate(cases)))

    page = "\n".join(proof.page(kept))
    assert "| edit: decks | 1 of 2 (50.0 %) | 1 (1 damaged) | holds (sample) | `make" in page
    assert "| edit: documents | 1 of 1 (100.0 %) | 0 | holds (sample) | `make" in page
    assert "## Counted" not in page


def test_figures_of_benchmarks_are_told_with_their_bars(tmp_path):
    figures = tmp_path / "figures.jsonl"
    kept: dict[str, object] = {}
    lines = [
        {"benchmark": "store", "what": "append", "figure": "1.20 ×", "bar": "≤ 2 ×", "met": True},
        {"benchmark": "store", "what": "update", "figure": "3.00 ×", "bar": "≤ 2 ×", "met": False},
        {"benchmark": "rails", "what": "a run", "figure": "12.00 ms", "bar": None, "met": None},
    ]
    figures.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))

    proof.measured(figures, kept)

    said = rows(kept)
    assert said["append"].startswith("| append | 1.20 × | ≤ 2 × | yes | 20")
    assert said["append"].endswith("| `make bench ARGS=store` |")
    assert "| ≤ 2 × | **no** |" in said["update"]
    assert said["a run"].startswith("| a run | 12.00 ms | – | – |")
    assert said["a run"].endswith("| `make bench ARGS=rails` |")


def test_a_test_in_a_class_is_told_in_words_with_a_command_that_finds_it():
    assert proof._words("TestLargeBench::runTest") == "Large Bench"
    assert proof._words("TestText::test_a_map_is_small[1]") == "Text: a map is small: 1"
    command = "`make proof PART=tests/a.py ARGS=\"-k 'TestText and test_a_map'\"`"
    assert proof._command("tests/a.py", "TestText::test_a_map[1]") == command


def test_what_is_kept_is_one_line_for_each_case():
    kept = {"files": {"tests/a.py": {"test_a": {"result": "passed"}, "test_b": None}}}

    text = proof._text(kept)

    assert json.loads(text) == kept
    assert '\n"test_a": {"result": "passed"},\n"test_b": null\n' in text


def test_promises_name_tests_that_exist_and_the_page_is_as_the_results_are():
    promises = tomllib.loads(proof.PROMISES.read_text(encoding="utf-8"))["promise"]
    kept = json.loads(proof.KEPT.read_text(encoding="utf-8")) if proof.KEPT.exists() else {}

    gone = [test for one in promises for test in one["tests"] if not (ROOT / test).exists()]
    assert gone == []
    assert proof.PAGE.read_text(encoding="utf-8") == "\n".join(proof.page(kept)).rstrip() + "\n"
