"""What an agent outside is told beside its steps: why not, and which files it stands before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backshop.base.errors import BackshopError
from backshop.rails import Answer, RailsError

BACK = (
    "This is an earlier step of the turn. From your next call on the files are as this step found"
    " them; what was written after it is kept, and comes back when you continue there instead."
)
KEPT = (
    "The files still hold what was written after this step the first time. To do a step again on"
    " the files it began with, call continue_workflow with its stateToken alone before you write."
)


def noted(answer: Answer, message: str) -> Answer:
    """Return an answer that says something about the files too."""
    first, *rest = answer.texts
    told = _warned(answer, "FILES_OF_ANOTHER_BRANCH", message)
    return replace(told, texts=(f"Note: {message}\n\n{first}", *rest))


def with_facts(answer: Answer, lines: Sequence[str]) -> Answer:
    """Return the answer to an agent's last step with what is true of its turn (W11.20)."""
    if not lines:
        return answer
    message = "\n".join(("What is so of this turn, from the log:", *lines))
    return replace(_warned(answer, "TURN_FACTS", message), texts=(*answer.texts, message))


def _warned(answer: Answer, code: str, message: str) -> Answer:
    known = answer.structured.get("warnings")
    warnings = [*(known if isinstance(known, list) else ()), {"code": code, "message": message}]
    return replace(answer, structured={**answer.structured, "warnings": warnings})


def refusal(error: BackshopError) -> RailsError:
    """Return why a turn cannot begin or go on, in the codes an agent knows (R7.3)."""
    if error.reason == "user_limit":
        again = "Wait until another turn of this person has ended, then make the same call again."
        about = {"reason": error.reason}
        return RailsError(error.code, error.message, again, details=about, retry=error.retry)
    is_later = error.code == "BENCH_BUSY"
    return RailsError(
        "SESSION_LOCKED" if is_later else "PRECONDITION_FAILED",
        f"{error.reason or error.code.lower()}: {error.message}",
        "Wait until the work there has ended."
        if is_later
        else "Tell the person; they publish or discard the Draft, or correct the request.",
        details={"reason": error.reason or error.code.lower()},
    )
