"""Spans and durations for whoever watches; nothing at all for everybody else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A process of its own: a provider can be set only once. It stands for an SDK.
WATCHED = """
import json, sys
from opentelemetry import metrics, trace

class Span(trace.NonRecordingSpan):
    def __init__(self, name):
        super().__init__(trace.INVALID_SPAN_CONTEXT)
        self.told = {"name": name, "attributes": {}, "status": None}
    def set_attributes(self, attributes):
        self.told["attributes"].update(attributes)
    def set_status(self, status, description=None):
        self.told["status"] = status.name

class Tracer(trace.NoOpTracer):
    def start_as_current_span(self, name, *args, **kwargs):
        span = Span(name)
        spans.append(span.told)
        return trace.use_span(span, record_exception=False, set_status_on_exception=False)

class Provider(trace.NoOpTracerProvider):
    def get_tracer(self, *args, **kwargs):
        return Tracer()

class Histogram(metrics.NoOpHistogram):
    def record(self, amount, attributes=None, context=None):
        durations.append([self.told, sorted(attributes)])

class Meter(metrics.NoOpMeter):
    def create_histogram(self, name, **kwargs):
        made = Histogram(name)
        made.told = name
        return made

class Meters(metrics.NoOpMeterProvider):
    def get_meter(self, name, *args, **kwargs):
        return Meter(name)

spans, durations = [], []
trace.set_tracer_provider(Provider())
metrics.set_meter_provider(Meters())

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.models import scripted
from backshop.prompts import MarkdownSection, Prompt, Session, Tool, ToolResult

with Backshop.open(sys.argv[1]) as shop:
    shop.call("WorkbenchList", {})
    try:
        shop.call("WorkbenchOpen", {"workbench_id": "wb_01JAAAAAAAAAAAAAAAAAAAAAAA"})
    except BackshopError:
        pass
def handler(_, *, context):
    return ToolResult(ok=True, message="secret")
look = Tool("look", "Look.", None, handler, effects="read")
section = MarkdownSection("Say", "Say hello.", key="say", tools=(look,))
adapter = scripted([{"respond": {"tool_calls": [{"name": "look"}]}}, {"respond": {"text": "hi"}}])
adapter.evaluate(Prompt("tests/x", "x", sections=[section]), session=Session())
print(json.dumps([spans, durations]))
"""
BARE = """
import sys
from backshop.app import Backshop
with Backshop.open(sys.argv[1]) as shop:
    shop.call("WorkbenchList", {})
print(sorted(name for name in sys.modules if name.startswith("opentelemetry")))
"""


def run(script: str, home: Path, **env: str) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", script, str(home)],
        capture_output=True,
        text=True,
        env={**clean, "PYTHONPATH": str(ROOT / "src"), **env},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.rule("S10.1")
def test_commands_model_calls_and_tools_have_spans_without_content(tmp_path):
    spans, durations = json.loads(run(WATCHED, tmp_path / "home", OTEL_SERVICE_NAME="test"))

    assert [(one["name"], one["status"]) for one in spans] == [
        ("backshop.command", None),
        ("backshop.command", "ERROR"),
        ("backshop.model", None),
        ("backshop.tool", None),
        ("backshop.model", None),
    ]
    assert spans[1]["attributes"] == {"command": "WorkbenchOpen", "error.type": "NOT_FOUND"}
    assert spans[2]["attributes"] == {"model": "scripted:script", "purpose": "other"}
    assert spans[3]["attributes"] == {"tool": "look"}
    assert ["backshop.command.duration", ["command"]] in durations
    assert "secret" not in json.dumps(spans)


@pytest.mark.rule("S10.1")
def test_where_nobody_watches_nothing_is_loaded(tmp_path):
    assert run(BARE, tmp_path / "home").strip() == "[]"
