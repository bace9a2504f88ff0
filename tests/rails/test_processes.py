"""Several server processes on one home: no double advance, no lost node (C35, T2.7)."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from tests.rails import racing
from tests.rails.workflows import flow, step

BOTH_DATABASES = True


@pytest.mark.rule("C35", "T2.7", "R4.8", "R4.7")
def test_many_processes_share_a_home_and_a_session(agent, database, tmp_path, scaled):
    processes, steps = scaled(4, 8), scaled(8, 20)
    work = flow(*(step(f"s{number}") for number in range(steps + 1)))
    ann = agent(work)
    shared = ann.start("user.flow")
    home = (str(tmp_path / "home"), database("home"))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        alone = [pool.submit(racing.run_alone, *home, steps) for _ in range(processes)]
        walks = [one.result(120) for one in alone]
        tokens = {name: shared[name] for name in ("stateToken", "ackToken")}
        together = [
            pool.submit(racing.run_together, *home, tokens, steps) for _ in range(processes)
        ]
        answers = [one.result(120) for one in together]
    state = ann.rails.sessions.state(shared["session"]["sessionId"])

    assert walks == [[f"s{number}" for number in range(steps)]] * processes
    assert all(said == answers[0] for said in answers)
    assert len(state.nodes) == steps + 1
    assert len(state.attempts) == steps
    assert len(ann.rails.sessions.ids()) == processes + 1
