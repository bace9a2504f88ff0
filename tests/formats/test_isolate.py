from __future__ import annotations

import os
import signal
from dataclasses import dataclass

import pytest

from backshop.base.limits import MIB
from backshop.formats.isolate import Failure, run


def crash() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def spin() -> None:
    while True:
        pass


@pytest.mark.rule("F24.8", "F24.9")
@pytest.mark.parametrize(
    ("function", "args", "value", "failure"),
    [
        (divmod, (7, 3), (2, 1), None),
        (divmod, (7, 0), None, Failure("ZeroDivisionError")),
        (crash, (), None, Failure("crash")),
        (bytearray, (500 * MIB,), None, Failure("memory")),
        (spin, (), None, Failure("timeout")),
    ],
)
def test_a_function_in_its_own_process_gives_a_value_or_a_cause(function, args, value, failure):
    outcome = run(function, *args, timeout_s=0.5, memory_bytes=100 * MIB)

    assert (outcome.value, outcome.failure) == (value, failure)


@dataclass
class _Foreign:
    """Not a class of the formats room."""


def test_an_answer_that_names_anything_beyond_data_is_not_read():
    done = run(_Foreign, timeout_s=10, memory_bytes=100 * MIB)

    assert done.value is None
    assert done.failure == Failure("crash")
