"""The agent's tools as models receive them: strict, closed, small, and pinned."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backshop.models import can_be_strict, strict
from backshop.workshop import agent_tools

ROOT = Path(__file__).resolve().parents[2]
TOOLS = {tool.name: tool for tool in agent_tools()}
VALUE = {"string", "number", "integer", "boolean", "null"}


def nodes(schema: Any, depth: int = 1):
    """Yield every schema inside a schema with its depth in objects."""
    yield schema, depth
    for part in schema.get("properties", {}).values():
        yield from nodes(part, depth + ("object" in str(part.get("type"))))
    for key in ("items",):
        if isinstance(schema.get(key), dict):
            inner = schema[key]
            yield from nodes(inner, depth + ("object" in str(inner.get("type"))))
    for part in schema.get("anyOf", ()):
        yield from nodes(part, depth)


@pytest.mark.rule("W7.3", "W23.13")
@pytest.mark.parametrize("name", list(TOOLS))
def test_a_tool_turns_into_strict_form_without_loss(name):
    tool = TOOLS[name]
    source, sent = tool.schema, strict(tool.schema)

    assert can_be_strict(source)
    assert strict(sent) == sent
    assert len(tool.description.encode()) <= 1_200
    for word in ("$ref", "$defs", "oneOf", "allOf", "prefixItems"):
        assert f'"{word}"' not in json.dumps(source)
    for node, depth in nodes(sent):
        assert depth <= 6
        kinds = node.get("type", ())
        kinds = {kinds} if isinstance(kinds, str) else set(kinds)
        if "object" in kinds:
            assert node["additionalProperties"] is False
            assert node["required"] == sorted(node["properties"])
        if "array" in kinds:
            assert "items" in node
        if "anyOf" in node:
            assert {one["type"] for one in node["anyOf"]} <= VALUE
        for field, part in node.get("properties", {}).items():
            assert field == "op" or len(part.get("description", "")) <= 120


@pytest.mark.rule("W7.3")
def test_all_tools_together_are_small():
    sizes = [len(json.dumps(one.schema, separators=(",", ":")).encode()) for one in TOOLS.values()]

    assert sum(sizes) <= 22 * 1024


@pytest.mark.rule("W7.9")
def test_what_providers_receive_is_pinned():
    check = [sys.executable, str(ROOT / "tools" / "catalog.py"), "--check"]
    env = {"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    done = subprocess.run(check, capture_output=True, text=True, env=env)

    assert done.returncode == 0, done.stdout + done.stderr


def named(rule: str) -> set[str]:
    """Return the fields a line of W7.8 lists, without what stands inside brackets."""
    flat = re.sub(r"\[[^\[\]]*\]|\{[^{}]*\}", "", re.sub(r"\[[^\[\]]*\]|\{[^{}]*\}", "", rule))
    return {name.rstrip("?") for name in re.findall(r"`([a-z_]+\??)`", flat)}


@pytest.mark.rule("W7.8", "W7.4")
@pytest.mark.parametrize("kind", ["xlsx", "docx", "pptx"])
def test_an_operation_has_the_fields_of_the_rules_and_no_others(kind):
    rules = (ROOT / "docs" / "spec" / "workshop.md").read_text(encoding="utf-8")
    start = f"  - {kind}: `op`"
    [line] = [one for one in rules.splitlines() if one.startswith(start)]
    operation = TOOLS[f"{kind}_operations"].schema["properties"]["operations"]["items"]

    expected = named(line.partition(": ")[2])
    if "the fields of P" in line:
        expected |= set(operation["properties"]["paragraphs"]["items"]["properties"])

    assert set(operation["properties"]) == expected
    assert operation["required"] == ["op"]
