from __future__ import annotations

import os
import pickle
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base.limits import MIB
from backshop.formats.package.drawing import Drawing
from backshop.formats.protocol import Kind
from backshop.formats.worker.isolation import Answers, Failure, Outcome, answered, run


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


RECORD, NAME = frozenset("R"), frozenset("N")


class _Acting:
    """Pickles as a call of something."""

    def __init__(self, module: str, name: str, *args: object) -> None:
        self._call = (module, name, args)

    def __reduce__(self):
        module, name, args = self._call
        return getattr(__import__(module, fromlist=[name]), name), args


@pytest.mark.rule("F2.8")
@pytest.mark.parametrize(
    "forge",
    [
        lambda spot: pickle.dumps(_Acting("pathlib", "Path", spot)),
        lambda spot: pickle.dumps(_Acting("os", "mkdir", spot)),
        lambda spot: pickle.dumps(Kind.XLSX),
        lambda spot: pickle.dumps(Kind),
        lambda spot: (
            b"cbackshop.formats.pool\nProcess\n(V__import__('os').mkdir('%s')\ntR." % spot.encode()
        ),
        lambda spot: pickle.dumps((RECORD, "os", "mkdir", (spot,))),
        lambda spot: pickle.dumps((RECORD, "backshop.formats.worker.pool", "Process", ())),
        lambda spot: pickle.dumps((RECORD, "backshop.formats.worker.isolation", "Failure", ())),
        lambda spot: pickle.dumps((RECORD, "backshop.formats.worker.isolation", "Failure", (1, 2))),
        lambda spot: pickle.dumps((NAME, "backshop.formats.protocol", "Kind", "NO_SUCH")),
        lambda spot: pickle.dumps((NAME, "backshop.formats.worker.isolation", "os", "mkdir")),
        lambda spot: pickle.dumps((RECORD,)),
        lambda spot: pickle.dumps(bytearray(b"x")),
        lambda spot: b"garbage",
        lambda spot: b"",
    ],
)
def test_an_answer_can_neither_call_nor_change_anything(tmp_path, forge):
    spot = tmp_path / "made"

    with pytest.raises(Exception):  # noqa: B017  # whatever: the pool takes it as a death
        Answers(forge(str(spot))).answer()

    assert not spot.exists()
    assert Kind("xlsx") is Kind.XLSX


ATOMS = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()),
    *(st.sampled_from(Kind), st.builds(Failure, st.text()), st.just(Path("/a/b"))),
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        *(st.lists(inner), st.dictionaries(ATOMS, inner), st.frozensets(ATOMS)),
        *(
            st.lists(inner).map(tuple),
            st.tuples(st.frozensets(ATOMS), inner),
            st.builds(Outcome, inner, st.none()),
        ),
        st.tuples(*([inner] * len(Drawing._fields))).map(Drawing._make),
    ),
    max_leaves=20,
)


@pytest.mark.rule("F2.8")
@given(value=VALUES)
def test_data_comes_back_as_it_was(value):
    found = Answers(answered(value)).answer()

    assert (found, type(found)) == (value, type(value))
