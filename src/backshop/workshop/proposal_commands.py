"""The commands of flow `compat`, one by one; a turn makes all of them itself (W14)."""

from __future__ import annotations

from dataclasses import replace

from backshop.base.ambient import timestamp
from backshop.base.errors import ValidationFailed
from backshop.bench import Author, Source
from backshop.prompts import CancelToken

from . import requests
from .answers import Applied, Nothing, ProposalView, Proposed, Replied
from .conversation import decide, turn_facts
from .conversation.repository import Conversations
from .conversation.turn_facts import TurnFacts
from .errors import ModelUnavailable
from .proposal import application
from .turn import compat_flow
from .turn.context import Stopped, TurnContext, Work
from .turn.lease import Hold, held, owner_of
from .turn.service import Turns

ACTIVE_VIEW = "ACTIVE_VIEW"


class Proposals:
    """Proposals of every bench of one home."""

    def __init__(self, book: Conversations, turns: Turns) -> None:
        self._book = book
        self._turns = turns

    def reply(self, request: requests.StreamAssistantReply) -> Replied:
        """Answer a message with flow `compat`: the answer, its changeset, the Draft.

        This one turn is answered so, whatever flow the workbench has.
        """
        known = self._turns.settled(request.workbench_id)
        if request.model_id not in (None, self._turns.model_of(known)):
            raise ValidationFailed("switch to this model first", reason="bad_params")
        wish = requests.RunAgent(workbench_id=request.workbench_id, message_id=request.message_id)
        return Replied(message_id=self._turns.run(wish, flow="compat").message_id)

    def propose(self, request: requests.ProposeChanges) -> Proposed:
        """Let the model work out the changes its last answer announced."""
        if request.basis != ACTIVE_VIEW:
            raise ValidationFailed("a proposal is about the active view", reason="bad_params")
        bench_id = request.workbench_id
        known = self._turns.settled(bench_id)
        self._book.require_quiet(bench_id)
        turn = decide.proposable(known)
        replied = known.records[turn.message_id].text
        adapter = self._turns.adapter(bench_id, self._turns.model_of(known), turn.flow)
        made: list[Proposed] = []

        def check(_: Hold) -> None:
            decide.proposable(self._book.state(bench_id))

        def work(run: TurnContext) -> None:
            own, why_not = compat_flow.propose(run, replied)
            made.append(
                Proposed(
                    proposal_id=own.proposal_id,
                    no_changes=own.status == "none",
                    warnings=(why_not,) if why_not else (),
                )
            )

        try:
            self._turns.afterwards(bench_id, Work(turn.turn_id, adapter), check, work)
        except Stopped as stopped:
            raise stopped.__cause__ or ModelUnavailable(stopped.problem.message) from None
        return made[0]

    def get(self, request: requests.OneProposal) -> ProposalView:
        """Return a proposal as it is stored."""
        known = self._book.state(request.workbench_id)
        own = decide.known_proposal(known, request.proposal_id)
        about = {
            "proposal_id": own.proposal_id,
            "created_at": timestamp(own.created_ms),
            "status": own.status,
        }
        return ProposalView(proposal=about | application.stored(self._book, own).to_json())

    def dismiss(self, request: requests.DismissProposal) -> Nothing:
        """Let a proposal go."""
        self._turns.settled(request.workbench_id)
        self._book.require_quiet(request.workbench_id)
        self._book.commit(
            request.workbench_id, lambda now: decide.dismiss_proposal(now, request.proposal_id)
        )
        return Nothing()

    def apply(self, request: requests.OneProposal) -> Applied:
        """Apply a proposal that waits: one batch, all of it or nothing."""
        bench_id = request.workbench_id
        known = self._turns.settled(bench_id)
        own = decide.applicable(known, request.proposal_id, None)
        turn = known.turns[own.turn_id]
        author = Author(
            source=Source(kind="workshop", ref=turn.turn_id), message_id=turn.message_id
        )
        owner = owner_of(self._book, turn.turn_id)
        with held(self._book, bench_id, owner, CancelToken()):
            done, seen = application.apply(self._book, bench_id, own, replace(author, lease=owner))
        facts = TurnFacts(dropped=seen.dropped, not_computed=seen.not_computed)
        return Applied(
            draft_id=done.draft_id,
            draft_revision_id=done.draft_revision_id,
            no_changes=done.no_changes,
            warnings=(*done.warnings, *turn_facts.besides(facts)),
        )
