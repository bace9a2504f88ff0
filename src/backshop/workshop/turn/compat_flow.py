"""Flow `compat`: a plain answer, then one proposed changeset, applied as one batch (W14).

There is no approval in between: what was applied waits in the Draft, as always.
"""

from __future__ import annotations

from collections.abc import Sequence

from backshop.base.canon import canonical
from backshop.base.errors import BackshopError
from backshop.base.ids import BlobId, ProposalId
from backshop.bench import Author, Source
from backshop.store import LeaseLost

from ..conversation import decide
from ..conversation.events import Problem, ProposalClosed, ProposalMade
from ..conversation.state import Proposal, WorkshopState
from ..cut import cut_bytes
from ..evidence import NOTHING, Noticed
from ..prompt import text as prompt_text
from ..proposal import application, changeset
from ..proposal.changeset import Changeset
from ..signals import AnswerStream
from . import ending
from .context import Asked, LoopFailed, Stopped, TurnContext, problem_of
from .ending import Finished
from .research_plan import REFUSED, Refused

TRIES = 2  # W14.4: one repair
NOT_PROPOSED = (
    "The changes could not be worked out: {} Ask for fewer changes at once, or let the agent work "
    "with tools (flow auto)."
)
NOT_APPLIED = (
    "The changes could not be made: {}. You can ask again, or let the agent work with tools "
    "(flow auto)."
)


def answer(run: TurnContext) -> None:
    """Answer, and carry out what the answer announced."""
    stream = ending.answer_stream(run)
    _reply(run, stream)
    notes: tuple[str, ...] = ()
    seen = NOTHING
    if run.turn().mode != "ask":
        own, why_not = propose(run, stream.text)
        if own.status == "open":
            notes, seen = _applied(run, own)
        elif why_not:
            notes = (NOT_PROPOSED.format(why_not),)
    stream.close()
    text = cut_bytes(stream.text, ending.ANSWER_MAX_BYTES)
    wish = ending.ending(
        run, "complete", "complete", text, source="model", notes=notes, noticed=seen
    )
    run.commit(lambda now: decide.end(now, wish))


def _reply(run: TurnContext, stream: AnswerStream) -> None:
    try:
        response = run.ask(Asked(key="reply", step="", said=stream))
    except (LoopFailed, Stopped) as ended:
        if isinstance(ended, Stopped) and ended.why == "cancel":
            stream.keep()  # what people saw stays (W5.11)
        if not stream.text or (isinstance(ended, Stopped) and ended.why != "pause"):
            raise
        stream.close()
        ending.pause(run, ended.problem, stream.text)
        raise Finished from ended
    if response.finish_reason in REFUSED:
        raise Refused(response.text or "")
    if not stream.text.strip():
        stream.add(response.text or "")
    stream.keep()


def propose(run: TurnContext, replied: str) -> tuple[Proposal, str]:
    """Let the model work out a changeset and keep it; and why it came to none, if it failed."""
    own = ProposalId(run.book.new("prop"))
    _progress(run, own, "context")
    bench = run.state().bench
    basis = bench.published if bench.draft is None else bench.draft.tree
    changes, problem = _worked_out(run, own, replied)
    run.check()
    _progress(run, own, "storing")
    ref = run.book.store.blobs.put(canonical(changes.to_json()))
    fact = ProposalMade(
        proposal_id=own,
        turn_id=run.turn_id,
        proposal_ref=ref,
        basis_tree=basis,
        no_changes=changes.no_changes,
        problem=problem,
        notice_id=None if problem is None else run.book.new_message(),
    )
    told = run.book.commit(
        run.bench_id,
        lambda now: decide.proposed(now, fact),
        pins=[BlobId(ref)],
        lease=run.hold.owner,
    )
    return told.state.proposals[own], changes.warnings[0] if problem else ""


def _worked_out(
    run: TurnContext, own: ProposalId, replied: str
) -> tuple[Changeset, Problem | None]:
    """Return the changeset of a model; one repair, then it is none and why (W14.4)."""
    problems: tuple[str, ...] = ()
    for number in range(TRIES):
        _progress(run, own, "repairing" if number else "drafting")
        notes = (prompt_text.PROPOSAL_WRONG + "\n".join(problems),) if problems else ()
        asked = Asked(key="proposal", step="", notes=notes, replied=replied)
        try:
            response = run.ask(asked)
        except LoopFailed as failed:
            return changeset.nothing(f"{failed.problem.message}."), failed.problem
        _progress(run, own, "validating")
        found = changeset.read(response.text or "")
        if found.changeset is not None:
            return found.changeset, None
        problems = found.problems
        if found.is_final or response.finish_reason in REFUSED:
            break
    problem = Problem(
        code="VALIDATION_FAILED",
        reason="proposal_invalid",
        message="the model proposed no changes that can be used",
        actions=("retry", "switch_model"),
    )
    return changeset.nothing(problems[0]), problem


def _applied(run: TurnContext, own: Proposal) -> tuple[tuple[str, ...], Noticed]:
    """Apply a proposal; return what there is to say about what did not work (W14.5)."""
    _progress(run, own.proposal_id, "applying")
    turn = run.turn()
    author = Author(
        source=Source(kind="workshop", ref=turn.turn_id),
        message_id=turn.message_id,
        lease=run.hold.owner,
    )
    try:
        _, seen = application.apply(run.book, run.bench_id, own, author, turn_id=turn.turn_id)
    except LeaseLost:
        raise
    except BackshopError as error:
        problem = problem_of(error.info("workshop"))
        run.commit(lambda now: failed(now, own, problem, run))
        return (NOT_APPLIED.format(problem.message),), NOTHING
    return (), seen


def failed(
    now: WorkshopState, own: Proposal, problem: Problem, run: TurnContext
) -> Sequence[object]:
    """Close a proposal that could not be applied, and say so in the transcript."""
    decide.known_proposal(now, own.proposal_id)
    return [
        ProposalClosed(
            proposal_id=own.proposal_id,
            status="failed",
            problem=problem,
            notice_id=run.book.new_message(),
        )
    ]


def _progress(run: TurnContext, own: ProposalId, phase: str) -> None:
    payload = {"proposal_id": own, "phase": phase}
    run.publish(run.bench_id, "WorkshopProposalProgress", payload)
