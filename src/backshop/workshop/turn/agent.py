"""The built-in agent: walks a run of `wr.rpi` to its end, or to a safe stop.

A turn of flow `compat` has no run; it is one answer and one changeset.

It holds no progress of its own: each step of the walk reads where the run stands, and a step is
done when its acknowledgement is in the log (W13.6).
"""

from __future__ import annotations

import logging

from backshop.base.errors import CODES, BackshopError, InternalError
from backshop.rails import RailsError, Standing
from backshop.store import LeaseLost

from ..conversation.events import Problem
from ..conversation.state import RPI
from . import artifact, compat_flow, ending, item, research_plan, workflow_step
from .context import LoopFailed, Run, Stopped, problem_of
from .ending import Finished
from .research_plan import Refused

_LOG = logging.getLogger(__name__)


def walk(run: Run) -> None:
    """Work on the turn until it ends or has to stop; whatever happens, a record says so."""
    try:
        _ended(run)
    except (LeaseLost, Finished):
        return  # nothing further is committed (W5.5), or all of it is
    except Stopped as stopped:
        _log(stopped)


def _ended(run: Run) -> None:
    try:
        run.look()
        if run.turn().flow == "compat":
            compat_flow.answer(run)
            return
        while (standing := _standing(run)) is not None:
            run.check()
            if standing.workflow_id == RPI:
                _step(run, standing)
            elif standing.is_complete:
                workflow_step.sum_up(run, standing)
            else:
                workflow_step.take(run, standing)
    except Refused as refused:
        ending.refuse(run, refused.text)
    except LoopFailed as failed:
        ending.fail(run, failed.problem)
    except Stopped as stopped:
        if stopped.why == "lost":
            raise
        if stopped.why == "cancel":
            ending.cancel(run)
        else:
            ending.stop(run, stopped.problem)
    except LeaseLost:
        raise
    except BackshopError as error:
        ending.fail(run, failure(error))


def _standing(run: Run) -> Standing | None:
    """Return where the turn stands, None when it has ended."""
    known = run.state()
    turn = known.turns.get(run.turn_id)
    if turn is None or turn is not known.running or turn.node_id is None:
        return None
    return run.driving.standing(turn.node_id)


def _step(run: Run, standing: Standing) -> None:
    so_far = artifact.read(run.driving, standing)
    match standing.step_id:
        case "research":
            research_plan.research(run, standing)
        case "plan":
            research_plan.make_plan(run, standing, so_far)
        case "implement_item":
            item.implement(run, standing, so_far)
        case "summary":
            ending.summary(run, standing, so_far)
        case other:
            raise InternalError(f"the workflow has a step {other!r} nobody knows")


def failure(error: BackshopError) -> Problem:
    """Return a failure of the engine itself in the codes of a turn (M11.9)."""
    if isinstance(error, RailsError):
        code = {
            "SESSION_LOCKED": "BENCH_BUSY",
            "TOKEN_SESSION_LOCKED": "BENCH_BUSY",
            "SESSION_NOT_HEALTHY": "STORAGE_CORRUPT",
            "STORE_UNAVAILABLE": "STORE_UNAVAILABLE",
        }.get(error.rails_code, "INTERNAL_ERROR")
        return Problem(code=code, message=error.message[:500], actions=CODES[code].actions)
    return problem_of(error.info("workshop"))


def _log(stopped: Stopped) -> None:
    _LOG.warning("a turn was left to somebody else: %s", stopped.problem.message)
