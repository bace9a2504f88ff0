from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from backshop.base.limits import GIB
from backshop.formats import FormatError
from backshop.formats.output import write_file
from backshop.formats.worker.isolation import run


def write_beyond(out: str) -> tuple[str, list[str]]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        write_file(Path(out), b"x" * 5000)
    except FormatError as error:
        return error.reason, sorted(path.name for path in Path(out).parent.iterdir())
    return "ok", []


@pytest.mark.rule("F1.2")
def test_a_result_is_synced_before_it_takes_its_place(tmp_path, monkeypatch):
    out, real, seen = tmp_path / "out", os.fsync, []

    def synced(descriptor):
        seen.append((os.fstat(descriptor).st_size, out.exists()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", synced)

    write_file(out, b"result")

    assert (seen, out.read_bytes()) == ([(6, False)], b"result")


@pytest.mark.rule("F32.84", "F3")
def test_no_room_for_the_result_leaves_what_was_there(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"base")

    outcome = run(write_beyond, str(out), timeout_s=10, memory_bytes=GIB)

    assert outcome.value == ("disk_full", ["out"])
    assert out.read_bytes() == b"base"
