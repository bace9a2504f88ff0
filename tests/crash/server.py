"""The fork server of the crash harness: one order a line, one answer a line."""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

_ATTACH_S = 20


def _child(order: dict[str, Any], gate: int, said: int) -> None:
    """Wait for the gate, run the scenario, and leave without any clean-up."""
    os.read(gate, 1)

    def say(text: str) -> None:
        os.writev(said, [f"{text}\n".encode()])  # not among the calls that are made to fail

    module, _, name = order["scenario"].partition(":")
    scenario: Callable[[Path, Callable[[str], None]], None]
    scenario = getattr(importlib.import_module(module), name)
    try:
        scenario(Path(order["folder"]), say)
    except BaseException as error:
        os.writev(said, [f"!{type(error).__name__}: {error}\n".encode()])
        os._exit(3)
    os._exit(0)


def _attach(child: int, order: dict[str, Any], log: str) -> subprocess.Popen[str]:
    command = ["strace", "-f", "-o", log, "-e", f"trace={order['calls']}"]
    command += ["-e", f"inject={order['calls']}:{order['inject']}", "-p", str(child)]
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert tracer.stderr is not None
    ready, _, _ = select.select([tracer.stderr], [], [], _ATTACH_S)
    line = tracer.stderr.readline() if ready else "no answer"
    if "attached" not in line:
        os.kill(child, signal.SIGKILL)
        raise RuntimeError(f"strace: {line}")
    return tracer


def _wait_until_gone(child: int) -> None:
    """Wait for the end of a child without reaping it."""
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    _end_timers()


def _end_timers() -> None:
    for timer in threading.enumerate():
        if isinstance(timer, threading.Timer):
            timer.cancel()
            timer.join(_ATTACH_S)


@cache
def _prepare(module: str) -> None:
    """Load what children need before the fork; a module may have more to `warm` than imports.

    No thread may be left by that: a child has only the one that forks.
    """
    warm = getattr(importlib.import_module(module), "warm", None)
    if warm is not None:
        with tempfile.TemporaryDirectory(prefix="bs-warm-") as folder:
            warm(Path(folder))
    _end_timers()
    assert threading.active_count() == 1, threading.enumerate()


def _serve(order: dict[str, Any]) -> dict[str, Any]:
    gate_out, gate_in = os.pipe()
    said_out, said_in = os.pipe()
    _prepare(order["scenario"].partition(":")[0])
    child = os.fork()
    if child == 0:
        os.close(gate_in)
        _child(order, gate_out, said_in)
    os.close(said_in)
    with tempfile.NamedTemporaryFile(prefix="bs-strace-") as log:
        tracer = _attach(child, order, log.name) if order["inject"] else None
        os.write(gate_in, b"g")
        if order.get("kill_after_ms") is not None:
            threading.Timer(order["kill_after_ms"] / 1000, os.kill, (child, signal.SIGKILL)).start()
        text = b""
        while chunk := os.read(said_out, 65536):
            text += chunk
        if order.get("kill_after_ms") is not None:
            _wait_until_gone(child)  # a timer that comes late must find the child, not another
        status = os.waitpid(child, 0)[1]
        if tracer is not None:
            tracer.wait(_ATTACH_S)
            assert tracer.stderr is not None
            tracer.stderr.close()
        made = [line for line in Path(log.name).read_bytes().splitlines() if b" = " in line]
    for handle in (gate_out, gate_in, said_out):
        os.close(handle)
    lines = text.decode(errors="replace").splitlines()
    failed = [line[1:] for line in lines if line.startswith("!")]
    ended = "killed" if os.WIFSIGNALED(status) else (failed[0] if failed else f"done {len(made)}")
    counts = Counter(line.partition(b"(")[0].split()[-1].decode() for line in made)
    said = [line for line in lines if not line.startswith("!")]
    return {"said": said, "ended": ended, "counts": counts}


def main() -> None:
    """Serve until the other side closes."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_serve(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
