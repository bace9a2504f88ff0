"""The page of proof says what was run, and what was not."""

from __future__ import annotations

import importlib.util
import json
import tomllib
from pathlib import Path

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


def test_results_are_taken_in_by_file_and_failures_named(tmp_path):
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
    assert "holds, 1 skipped" in next(
        line for name, line in said.items() if name.startswith("Nothing of a document")
    )
    assert "- `tests/flows/test_demo.py::test_two`" in page
    assert "| one | 1,200 kills | holds (sample) | `make proof PART=tests/store/test_mach" in page
    assert "- 1 × strace: strace is not installed" in page


def test_promises_name_tests_that_exist_and_the_page_is_as_the_results_are():
    promises = tomllib.loads(proof.PROMISES.read_text(encoding="utf-8"))["promise"]
    kept = json.loads(proof.KEPT.read_text()) if proof.KEPT.exists() else {}

    gone = [test for one in promises for test in one["tests"] if not (ROOT / test).exists()]
    assert gone == []
    assert proof.PAGE.read_text(encoding="utf-8") == "\n".join(proof.page(kept)).rstrip() + "\n"
