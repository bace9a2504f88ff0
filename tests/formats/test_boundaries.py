"""What the room of files may know, and how it speaks of what went less well."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from docx import Document as WordDocument

import backshop.formats
from backshop.formats import Formats, OpsRequest, Selector
from backshop.formats.warning import WARNING_CODES

from .archives import file_source

ROOM = Path(backshop.formats.__file__).parent
SPEC = Path(__file__).parents[2] / "docs" / "spec" / "formats.md"
NETWORK = {"socket", "ssl", "http", "urllib", "ftplib", "smtplib", "asyncio", "httpx2", "requests"}
HARMLESS = {"urllib.parse"}  # names, not addresses that are called


@cache
def trees():
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in ROOM.rglob("*.py")}


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""


@pytest.mark.rule("F1.1")
def test_formats_know_no_model_no_network_no_store_and_no_workbench():
    for path, tree in trees().items():
        for name in imports(tree):
            if name.startswith("backshop"):
                assert name.split(".")[1] in {"base", "formats"}, (path, name)
            assert name in HARMLESS or name.partition(".")[0] not in NETWORK, (path, name)
        names = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        assert not {name for name in names if "bench" in name}, path


@pytest.mark.rule("S2.4", "S2.5")
def test_the_door_of_the_room_loads_no_format():
    code = "import sys, backshop.formats as room; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    kinds = {"xlsx", "docx", "pptx", "odt", "pdf", "tables", "canvas", "chart"}
    loaded = {name for name in run.stdout.split() if name.startswith("backshop.formats.")}
    assert len(loaded) > 20
    where = {"backshop.formats.canvas", "backshop.formats.canvas.face_folder"}  # a path alone
    assert {name for name in loaded - where if name.split(".")[2] in kinds} == set()


@pytest.mark.rule("F3.3")
def test_the_codes_of_warnings_are_those_of_the_specification_and_each_is_given():
    rule = next(line for line in SPEC.read_text("utf-8").splitlines() if line[:6] == "- F3.3")
    assert set(re.findall(r"`(\w+)`", rule)) == WARNING_CODES

    said = set()
    made: set[object] = set()
    for path, tree in trees().items():
        if path.name == "notes.py":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and node.value in WARNING_CODES:
                said.add(node.value)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Warn" and node.args:
                made.update(c.value for c in ast.walk(node.args[0]) if isinstance(c, ast.Constant))
    assert made <= WARNING_CODES  # those that do not pass through the collection that checks
    assert WARNING_CODES - said == {"path_normalised"}  # said by the tools of the bench


@pytest.mark.rule("F1.7")
def test_warnings_are_part_of_every_result(tmp_path):
    with Formats(cache=tmp_path / "cache", plugins={}, workers=1) as formats:
        word = tmp_path / "a.docx"
        WordDocument().save(str(word))
        style = {"op": "append_paragraph", "text": "x", "style": "Nobody's style"}
        request = OpsRequest(name="a.docx", operations=[style])
        written = formats.apply_ops(file_source(word), request, tmp_path / "b.docx").to_json()
        (tmp_path / "a.txt").write_bytes("Señor y señora\nmañana\n".encode("cp1252"))
        (tmp_path / "a.csv").write_bytes(b"a,b\n1,2\n3,4\n")
        odd = file_source(tmp_path / "a.txt")
        seen = formats.read(odd, Selector()).to_json("a.txt")
        drawn = formats.get_map(odd)
        asked = formats.open_table(file_source(tmp_path / "a.csv")).query("SELECT a FROM data")

    found: Any = [written["warnings"], seen["warnings"], drawn["warnings"], asked["warnings"]]
    for warnings in found:
        assert all(set(warning) == {"code", "count", "where"} for warning in warnings)
    assert [[warning["code"] for warning in warnings] for warnings in found] == [
        ["style_value_ignored"],
        ["encoding_guessed"],
        ["encoding_guessed"],
        ["order_added"],
    ]
