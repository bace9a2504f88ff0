"""A lease of a process that is gone is nobody's; what cannot be told counts as held."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from backshop.base.system import liveness
from backshop.store import Store, whereabouts
from backshop.store.lease import process

HOLDER = """
import sys
from backshop.store import whereabouts
print(whereabouts(), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def holder() -> Iterator[subprocess.Popen[str]]:
    """A process that says where it is and waits."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield child
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        assert pipe is not None
        pipe.close()


def name_of(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return f"turn_1:tx_1:{child.stdout.readline().strip()}"


@pytest.mark.rule("B3.8")
def test_a_lease_passes_on_the_moment_its_process_is_killed(tmp_path: Path, holder):
    name = name_of(holder)
    with Store.open(tmp_path) as store:
        assert store.leases.take("bench:a", name, 60)
        assert (store.leases.holder("bench:a"), store.leases.held()) == (name, ["bench:a"])
        assert not store.leases.take("bench:a", "turn_2:tx_2:elsewhere:1:1", 60)

        holder.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)  # dead, and not yet collected

        assert (store.leases.holder("bench:a"), store.leases.held()) == (None, [])
        store.leases.end_if_dead("bench:a")
        assert store.leases.run_out(0) == ["bench:a"]  # by that a worker finds the turn
        holder.wait()
        assert store.leases.take("bench:a", f"turn_2:tx_2:{whereabouts()}", 60)


@pytest.mark.rule("B3.8")
def test_a_living_holder_keeps_its_lease_whoever_asks(tmp_path: Path, holder):
    name = name_of(holder)
    with Store.open(tmp_path) as store:
        assert store.leases.take("bench:a", name, 60)

        store.leases.end_if_dead("bench:a")

        assert store.leases.holder("bench:a") == name
        assert not store.leases.take("bench:a", "turn_2:tx_2:elsewhere:1:1", 60)


@pytest.mark.rule("B3.8")
def test_a_process_id_that_was_given_again_does_not_keep_a_lease(holder):
    where, pid, began = name_of(holder).split(":")[2:]

    assert not process.is_dead(f"turn_1:tx_1:{where}:{pid}:{began}")
    assert process.is_dead(f"turn_1:tx_1:{where}:{pid}:{int(began) - 1}")


@pytest.mark.rule("B3.8")
@pytest.mark.parametrize(
    "name",
    [
        *("me", "turn_1:tx_1::{gone}:5", "turn_1:tx_1:other-machine:{gone}:5"),
        *("turn_1:tx_1:{here}:many:5", "turn_1:tx_1:{here}:{own}:", "turn_1:tx_1:{here}:{own}"),
    ],
)
def test_a_holder_that_cannot_be_told_dead_counts_as_alive(name: str):
    """Other machines and containers, names without a process, and ourselves."""
    told = name.format(gone=2**22 + 1, here=liveness.machine(), own=os.getpid())

    assert not process.is_dead(told)


@pytest.mark.rule("B3.8")
def test_a_container_with_processes_of_its_own_has_another_name_for_the_machine(tmp_path: Path):
    try:
        told = subprocess.run(
            ["unshare", "--pid", "--fork", sys.executable, "-c", HOLDER],
            input="\n",
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("no unshare on this machine")
    if told.returncode != 0:
        pytest.skip("no process namespaces for this account")
    where = told.stdout.strip().split(":")[0]

    assert where not in ("", liveness.machine())
    assert not process.is_dead(f"turn_1:tx_1:{told.stdout.strip()}")
