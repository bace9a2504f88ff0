from __future__ import annotations

import resource
from pathlib import Path

import pytest

from backshop.base.limits import GIB
from backshop.formats import FormatError
from backshop.formats.isolate import run
from backshop.formats.output import write_file


def write_beyond(out: str) -> tuple[str, list[str]]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        write_file(Path(out), b"x" * 5000)
    except FormatError as error:
        return error.reason, sorted(path.name for path in Path(out).parent.iterdir())
    return "ok", []


@pytest.mark.rule("F32.84", "F3")
def test_no_room_for_the_result_leaves_what_was_there(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"base")

    outcome = run(write_beyond, str(out), timeout_s=10, memory_bytes=GIB)

    assert outcome.value == ("disk_full", ["out"])
    assert out.read_bytes() == b"base"
