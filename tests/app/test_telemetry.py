"""Spans and durations for whoever watches; nothing at all for everybody else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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

class Counter(metrics.NoOpCounter):
    def add(self, amount, attributes=None, context=None):
        counts.append([self.told, amount, attributes])

class Meter(metrics.NoOpMeter):
    def create_counter(self, name, **kwargs):
        made = Counter(name)
        made.told = name
        return made
    def create_histogram(self, name, **kwargs):
        made = Histogram(name)
        made.told = name
        return made

class Meters(metrics.NoOpMeterProvider):
    def get_meter(self, name, *args, **kwargs):
        return Meter(name)

spans, durations, counts = [], [], []
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
steps = [
    {"tool_calls": [{"name": "look"}], "usage": {"input_tokens": 11, "output_tokens": 5}},
    {"text": "hi", "usage": {"input_tokens": 23, "output_tokens": 2}},
]
adapter = scripted([{"respond": step} for step in steps])
adapter.evaluate(Prompt("tests/x", "x", sections=[section]), session=Session())
print(json.dumps([spans, durations, counts]))
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
    told = run(WATCHED, tmp_path / "home", OTEL_SERVICE_NAME="test")
    spans, durations, counts = json.loads(told)

    assert [(one["name"], one["status"]) for one in spans] == [
        ("backshop.command", None),
        ("backshop.command", "ERROR"),
        ("backshop.model", None),
        ("backshop.tool", None),
        ("backshop.model", None),
    ]
    assert spans[1]["attributes"] == {"command": "WorkbenchOpen", "error.type": "NOT_FOUND"}
    about = {"model": "scripted:script", "purpose": "other"}
    assert spans[2]["attributes"] == {**about, "tokens.input": 11, "tokens.output": 5}
    assert spans[3]["attributes"] == {"tool": "look"}
    assert durations == [
        ["backshop.command.duration", ["command"]],
        ["backshop.command.duration", ["command", "error.type"]],
        ["backshop.model.duration", ["model", "purpose"]],
        ["backshop.tool.duration", ["tool"]],
        ["backshop.model.duration", ["model", "purpose"]],
    ]
    assert counts == [
        ["backshop.tokens", 11, {"direction": "input", **about}],
        ["backshop.tokens", 5, {"direction": "output", **about}],
        ["backshop.tokens", 23, {"direction": "input", **about}],
        ["backshop.tokens", 2, {"direction": "output", **about}],
    ]
    assert "secret" not in json.dumps(spans)


@pytest.mark.rule("S10.1")
def test_where_nobody_watches_nothing_is_loaded(tmp_path):
    assert run(BARE, tmp_path / "home").strip() == "[]"


@contextmanager
def collector() -> Iterator[tuple[str, dict[str, bytes]]]:
    """A collector on loopback: its address, and what came to each of its paths."""
    received: dict[str, bytes] = defaultdict(bytes)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received[self.path] += self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()


@pytest.mark.rule("S10.1")
def test_the_usual_variables_send_it_to_a_collector(tmp_path):
    programs = Path(sys.executable).parent
    home = str(tmp_path / "home")
    with collector() as (address, received):
        usual = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": address,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_SERVICE_NAME": "our-backshop",
        }
        for words in (["create", "Our secret plans"], ["list"]):
            subprocess.run(
                [programs / "opentelemetry-instrument", programs / "backshop", "bench", *words],
                env={**os.environ, **usual, "BACKSHOP_HOME": home},
                capture_output=True,
                check=True,
                timeout=100,
            )

    for path, wanted in {
        "/v1/traces": (b"our-backshop", b"backshop.command", b"WorkbenchCreate", b"WorkbenchList"),
        "/v1/metrics": (b"our-backshop", b"backshop.command.duration", b"WorkbenchList"),
    }.items():
        assert [word for word in wanted if word not in received[path]] == []
    assert not any(b"secret plans" in one for one in received.values())
