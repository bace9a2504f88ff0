"""The agent's tools as models receive them: closed or open on purpose, small, and pinned."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backshop.models import can_be_strict, strict
from backshop.models.catalog import catalog
from backshop.models.messages import Message, ModelRequest, Role, ToolSpec
from backshop.models.wires.openai_responses import body
from backshop.workshop import agent_tools
from backshop.workshop.prompt.gathering import tools_of

ROOT = Path(__file__).resolve().parents[2]
TOOLS = {tool.name: tool for tool in agent_tools()}
OPEN = {"xlsx_operations", "docx_operations", "pptx_operations"}
MANY_OPTIONAL = {  # more than a strict call should write as null (M9.10)
    *("read_file", "search_files", "replace_in_files", "copy_assets"),
    *("table_export", "table_update_from_export"),
}
LIST_MAX_BYTES = 14_000
VIEW_MAX_BYTES = 400  # beside them, for models that take pictures
USER = Message(role=Role.USER, text="Hi")
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
@pytest.mark.parametrize("name", [name for name in TOOLS if name not in OPEN])
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


@pytest.mark.rule("W7.4", "M9.4")
@pytest.mark.parametrize("name", sorted(OPEN))
def test_only_operations_are_open_and_so_not_strict(name):
    schema = TOOLS[name].schema
    listed = schema["properties"]["operations"]
    rest = {**schema, "properties": {**schema["properties"], "operations": {"type": "string"}}}

    assert not can_be_strict(schema)
    assert can_be_strict(rest)
    assert (listed["type"], list(listed["items"]["properties"])) == ("array", ["op"])


@pytest.mark.rule("W7.3", "W26.3")
def test_all_tools_together_are_small():
    specs = tuple(
        ToolSpec(name=one.name, description=one.description, parameters=one.schema)
        for one in tools_of("work", "auto")  # the longest list there is
    )
    model, _ = catalog.builtin().resolve("openai:gpt-5.2")
    asked = ModelRequest(model_id=model.model_id, messages=(USER,), tools=specs)
    sent = body(asked, model)["tools"]

    assert {*TOOLS, "request_plan", "report_failure"} == {one["name"] for one in sent}
    assert {one["name"] for one in sent if not one["strict"]} == OPEN | MANY_OPTIONAL

    def size(tools: list[Any]) -> int:
        return len(json.dumps(tools, separators=(",", ":"), ensure_ascii=False).encode())

    assert size([one for one in sent if one["name"] != "view_page"]) <= LIST_MAX_BYTES
    assert size([one for one in sent if one["name"] == "view_page"]) <= VIEW_MAX_BYTES


@pytest.mark.rule("W7.9")
def test_what_providers_receive_is_pinned():
    check = [sys.executable, str(ROOT / "tools" / "catalog.py"), "--check"]
    env = {"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    done = subprocess.run(check, capture_output=True, text=True, env=env)

    assert done.returncode == 0, done.stdout + done.stderr
