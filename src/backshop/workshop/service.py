"""`Workshop`: the facade of this room, one method a command (W3)."""

from __future__ import annotations

import logging
from collections.abc import Callable

from backshop.base.command import NOTHING, Nothing
from backshop.base.errors import BackshopError
from backshop.base.ids import TurnId
from backshop.bench import draft_state, stream_of
from backshop.models import DefaultModel, Models
from backshop.prompts import PromptOverridesStore
from backshop.rails import Rails
from backshop.store import THE_OWNER, Caller

from . import answers, metrics, requests, search, sent_message, transcript, usage
from .conversation import decide
from .conversation.repository import Conversations
from .errors import ModelUnavailable
from .history import regeneration, rewind
from .metrics import Metrics
from .prompt.gathering import Gatherer
from .proposal_commands import Proposals
from .signals import Publish, silent
from .turn import worker_turn
from .turn.context import Settings
from .turn.mcp_turn import Outside
from .turn.service import Admit, Turns, anybody
from .turn.worker_turn import TurnQueue

_LOG = logging.getLogger(__name__)


class Workshop:
    """The chat of every bench of one home. Safe for threads and for several processes."""

    def __init__(
        self,
        book: Conversations,
        models: Models,
        rails: Rails,
        *,
        publish: Publish = silent,
        settings: Settings | None = None,
        overrides: PromptOverridesStore | None = None,
        gatherer: Gatherer | None = None,
        stop_digest: Callable[[str], bool] = lambda bench_id: False,
        hands: TurnQueue | None = None,
        admit: Admit = anybody,
    ) -> None:
        self.book = book
        self._models = models
        self._rails = rails
        self._publish = publish
        self._settings = settings or Settings()
        self._turns = Turns(
            self.book,
            models,
            rails,
            publish=publish,
            settings=self._settings,
            overrides=overrides,
            gatherer=gatherer,
            hands=hands,
            admit=admit,
        )
        self._proposals = Proposals(self.book, self._turns)
        self._stop_digest = stop_digest

    # ------------------------------------------------------------ reading

    def get_state(self, request: requests.WorkbenchOnly) -> answers.State:
        """Say where the conversation of a workbench stands."""
        known = self._turns.settled(request.workbench_id)
        return transcript.state(
            known,
            draft=draft_state(self.book.desk, known.bench),
            flow=self._turns.flow_of(known),
            model_id=self._turns.model_of(known),
            default=self._turns.default_of(known),
            now_ms=self.book.clock.now_ms(),
            may_talk=self._settings.talk_on_draft,
        )

    def get_conversation(self, request: requests.GetConversation) -> answers.Conversation:
        """Return a page of the conversation."""
        return transcript.conversation(self.book, request)

    def get_tool_log(self, request: requests.GetToolLog) -> answers.ToolLog:
        """Return a page of the tool log."""
        return transcript.tool_log(self.book, request)

    def get_tool_log_entry(self, request: requests.GetToolLogEntry) -> answers.ToolLogEntry:
        """Return one entry of the tool log with a slice of its result."""
        return transcript.tool_log_entry(self.book, request)

    def tool_picture(self, workbench_id: str, entry_id: int) -> bytes:
        """Return the picture a tool call showed the model, as PNG; for pages (U6.23).

        Raises:
            NotFound: there is no such entry, or it showed none.
        """
        return transcript.tool_picture(self.book, workbench_id, entry_id)

    def get_metrics(self, request: requests.WorkbenchOnly) -> Metrics:
        """Count what happened in the conversation of a workbench; no text, no names."""
        self.book.state(request.workbench_id)
        return metrics.count(self.book, stream_of(request.workbench_id))

    def get_usage(self, request: requests.GetUsage) -> answers.BenchUsage:
        """Say what models used for a workbench, by model and by turn."""
        return usage.bench_usage(self.book, request)

    def get_run_usage(self, request: requests.GetRunUsage) -> answers.RunUsage:
        """Say what models used in one run, call by call."""
        return usage.run_usage(self.book, request)

    def list_usage(self, _: Nothing = NOTHING, caller: Caller = THE_OWNER) -> answers.HomeUsage:
        """Say what models used for every workbench, and in all."""
        return usage.home_usage(self.book, caller)

    def search(self, request: requests.Search, caller: Caller = THE_OWNER) -> answers.SearchHits:
        """Find workbenches and files by name, and messages by what they say."""
        return search.search(self.book, request, caller)

    # ------------------------------------------------------------ saying

    def send_user_message(self, request: requests.SendUserMessage) -> answers.Sent:
        """Append the person's message; nothing answers it yet."""
        return sent_message.send(
            self.book, self._turns, request, may_talk=self._settings.talk_on_draft
        )

    def request_changes(self, request: requests.RequestChanges) -> answers.Sent:
        """Append what the person wants changed in the Draft; nothing answers it yet."""
        return sent_message.request_changes(self.book, self._turns, request)

    def run_agent(self, request: requests.RunAgent) -> answers.Answered:
        """Let the agent answer a message, or go on where it stopped; returns when it ended."""
        return self._turns.run(request)

    def carry_on(self, bench_id: str, turn_id: str, ticket: str) -> None:
        """Walk a turn that a server handed over; for workers (T6.2).

        Raises:
            TurnActive: somebody else is still at work on it.
            OlderWorker: a later program began it.
        """
        self._turns.carry_on(bench_id, TurnId(turn_id), ticket)

    def require_program(self, version: str) -> None:
        """Refuse what a later program wrote, before it is read (T6.2).

        Raises:
            OlderWorker: it is later than this one.
        """
        worker_turn.require_program(self.book.program, version)

    def let_go(self) -> None:
        """Leave every turn where it is, for another worker to go on with."""
        self._turns.let_go()

    @property
    def is_walking(self) -> bool:
        """Whether this process works on a turn."""
        return self._turns.is_walking

    def turns_of(self, user_id: str) -> list[tuple[str, str]]:
        """Return the benches and turns that are being worked on for somebody."""
        return worker_turn.turns_of(self.book.store, user_id)

    def stop_turns_of(self, user_id: str) -> None:
        """Ask every turn that somebody began to stop, wherever it runs or waits to go on.

        One that cannot be asked now is stopped all the same by who works on it (`is_unwanted`).
        """
        for bench_id, turn_id in worker_turn.unfinished_of(self.book.store, user_id):
            try:
                self._turns.stop(bench_id, TurnId(turn_id), of=user_id)
            except BackshopError:
                _LOG.warning("a turn could not be asked to stop", exc_info=True)

    def orphans(self) -> list[tuple[str, str]]:
        """Return benches and turns that nobody works on, and has not for as long as a lease."""
        return worker_turn.orphans(self.book)

    def stream_assistant_reply(self, request: requests.StreamAssistantReply) -> answers.Replied:
        """Answer a message with flow `compat`; returns when the turn ended."""
        return self._proposals.reply(request)

    def propose_changes(self, request: requests.ProposeChanges) -> answers.Proposed:
        """Let the model work out the changes its last answer announced."""
        return self._proposals.propose(request)

    def get_proposal(self, request: requests.OneProposal) -> answers.ProposalView:
        """Return a proposal."""
        return self._proposals.get(request)

    def dismiss_proposal(self, request: requests.DismissProposal) -> answers.Nothing:
        """Let a proposal go."""
        return self._proposals.dismiss(request)

    def apply_proposal(self, request: requests.OneProposal) -> answers.Applied:
        """Apply a proposal that waits."""
        return self._proposals.apply(request)

    def regenerate(
        self, request: requests.Regenerate, caller: Caller = THE_OWNER
    ) -> answers.Answered:
        """Answer a message again; the old answer and its Draft give way."""
        may_publish = caller.may_publish(request.workbench_id)
        return regeneration.regenerate(self.book, self._turns, request, may_publish=may_publish)

    def add_note(self, request: requests.AddNote) -> answers.Sent:
        """Write something to the agent at work; it reads it before its next step."""
        return sent_message.add_note(self.book, self._turns, request)

    def cancel_run(self, request: requests.CancelRun) -> answers.CancelAnswer:
        """Stop the running turn, or a digest that a model is writing (P7.11)."""
        asked = self._turns.cancel(request)
        if not asked.cancel_requested and request.turn_id is None:
            return answers.CancelAnswer(cancel_requested=self._stop_digest(request.workbench_id))
        return asked

    def get_plan(self, request: requests.GetPlan) -> answers.PlanView:
        """Return what a turn found out, planned and reported."""
        return self._turns.plan(request)

    def switch_model(self, request: requests.SwitchModel) -> answers.Nothing:
        """Let another model answer from the next turn on.

        Raises:
            ValidationFailed: there is no such model.
            ModelUnavailable: it cannot be called.
        """
        known, _ = self._models.resolved(request.model_id)
        try:
            model_id = self._models.adapter(known).model_id
        except BackshopError as error:
            raise ModelUnavailable(
                f"this model cannot be used: {error.message}", reason="model_unavailable"
            ) from error
        before = self._turns.model_of(self.book.state(request.workbench_id))
        record = self.book.new_message()
        told = self.book.commit(
            request.workbench_id,
            lambda now: decide.switch_model(now, model_id, now.model_id or before, record),
        )
        return answers.Nothing(warnings=told.warnings)

    def get_default_model(self, request: requests.WorkbenchOnly) -> DefaultModel:
        """Return the model that answers where nobody switched to one."""
        known = self.book.state(request.workbench_id)
        return DefaultModel(model_id=self._turns.default_of(known))

    def set_default_model(self, request: requests.SwitchModel) -> answers.Nothing:
        """Choose the model that answers where nobody switched to one; it may lack its key yet.

        Raises:
            ValidationFailed: there is no such model.
        """
        model_id, warnings = self._models.resolved(request.model_id)
        self.book.commit(request.workbench_id, lambda now: decide.set_default_model(now, model_id))
        return answers.Nothing(warnings=warnings)

    def set_flow(self, request: requests.SetFlow) -> answers.Nothing:
        """Choose how turns are executed."""
        self.book.commit(
            request.workbench_id,
            lambda now: decide.set_flow(now, request.flow),
        )
        return answers.Nothing()

    def dismiss_reminder(self, request: requests.DismissReminder) -> answers.Nothing:
        """Hide the reminder of a Draft for a while."""
        known = self.book.state(request.workbench_id)
        reminder = draft_state(self.book.desk, known.bench).reminder
        self.book.commit(
            request.workbench_id, lambda now: decide.dismiss(now, request.draft_id, reminder)
        )
        return answers.Nothing()

    def outside(self, bench_id: str) -> Outside:
        """Return a seat for an agent of another program at a bench."""
        return Outside(self.book, self._turns, self._rails, bench_id, self._publish)

    # ------------------------------------------------------------ going back

    def undo_to_message(
        self, request: requests.UndoToMessage, caller: Caller = THE_OWNER
    ) -> answers.Undone:
        """Go back to a record; with `dry_run` only say what that would do."""
        self._turns.settled(request.workbench_id)
        if not request.dry_run:
            self.book.require_quiet(request.workbench_id)
        may_publish = caller.may_publish(request.workbench_id)
        return rewind.undo(self.book, request, may_publish=may_publish)

    def redo(self, request: requests.Redo, caller: Caller = THE_OWNER) -> answers.RedoDone:
        """Take the last rewind back."""
        self._turns.settled(request.workbench_id)
        self.book.require_quiet(request.workbench_id)
        may_publish = caller.may_publish(request.workbench_id)
        return rewind.redo(self.book, request, may_publish=may_publish)
