"""The built-in agent: walks a turn's run to its end, or to a safe stop.

It holds no progress of its own: each pass reads where the run stands, lets the pending step be
made, and hands it in; a step is done when its acknowledgement is in the log (W13.6). A turn of flow
`compat` has no run; it is one answer and one changeset.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType

from backshop.base.errors import CODES, BackshopError
from backshop.rails import RailsError, Standing
from backshop.store import LeaseLost

from ..conversation.events import Problem
from . import artifact, compat_flow, direct_work, ending, item, research_plan, workflow_step
from .artifact import HandedOver
from .context import LoopFailed, Stopped, TurnContext, problem_of
from .ending import Finished
from .research_plan import Refused
from .step import HandIn, StepKind, kind_of

_LOG = logging.getLogger(__name__)

Make = Callable[[TurnContext, Standing, HandedOver], HandIn]
MAKERS: Mapping[StepKind, Make] = MappingProxyType(
    {
        StepKind.WORK: direct_work.work,
        StepKind.RESEARCH: research_plan.research,
        StepKind.PLAN: research_plan.make_plan,
        StepKind.ITEM: item.implement,
        StepKind.ANSWER: ending.summary,
        StepKind.OTHER: workflow_step.take,
    }
)


def walk(run: TurnContext) -> None:
    """Work on the turn until it ends or has to stop; whatever happens, a record says so."""
    try:
        _ended(run)
    except (LeaseLost, Finished):
        return  # nothing further is committed (W5.5), or all of it is
    except Stopped as stopped:
        _LOG.warning("a turn was left to somebody else: %s", stopped.problem.message)


def _ended(run: TurnContext) -> None:
    try:
        run.look()
        if run.turn().flow == "compat":
            compat_flow.answer(run)
            return
        while (standing := _standing(run)) is not None:
            run.check()
            so_far = artifact.read(run.driving, standing)
            run.hand_in(standing, MAKERS[kind_of(standing)](run, standing, so_far))
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


def _standing(run: TurnContext) -> Standing | None:
    """Return where the turn stands, None when it has ended."""
    known = run.state()
    turn = known.turns.get(run.turn_id)
    if turn is None or turn is not known.running or turn.node_id is None:
        return None
    return run.driving.standing(turn.node_id)


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
