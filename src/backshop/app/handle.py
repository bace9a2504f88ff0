"""`shop.workshop(bench)`: one workbench at hand, with the words of the command line (S8.1).

Every method is a command of the registry, or the fixed sequence of them that S4.4 names; answers
are the typed values behind the JSON of the other doors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backshop.base.command import Ask
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.tool_argument import find_tool, near
from backshop.workshop import TurnFacts, requests

if TYPE_CHECKING:  # rooms load when something of theirs is first asked for (S2.4)
    from backshop.bench import (
        Added,
        Bench,
        ChangeInfo,
        ChangeSet,
        Chosen,
        CommentAdded,
        CommentInfo,
        FileEntry,
        Published,
    )
    from backshop.bench.answers import CheckpointInfo, Restored
    from backshop.bench.requests import ChangeChoice
    from backshop.prompts import ToolResult
    from backshop.workshop import (
        Answered,
        BenchUsage,
        Conversation,
        Conversations,
        PlanView,
        RedoDone,
        SavedWorkflow,
        State,
        Undone,
        WorkflowsAsking,
        Workshop,
    )

_PAGE = 1000
_REVIEW_PAGE = 5000  # the longest there is (B11.3)
_REVIEW_TRIES = 5
_STOPPED = ("failed", "canceled", "interrupted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the agent said, and how the turn came out: `complete`, `paused`, `failed`, …"""

    text: str
    status: str
    has_draft: bool
    turn_id: str
    message_id: str | None = None
    run_id: str | None = None
    facts: TurnFacts | None = None
    """What is true of the turn, whatever its text says; None of one that could not write."""
    facts_lines: tuple[str, ...] = ()
    """The same in words."""
    facts_first: int | None = None
    """How many of these lines stand first because they want a look before all else."""
    warnings: tuple[str, ...] = ()


class BenchWorkshop:
    """The Workshop of one workbench: what is said, what waits in the Draft, what becomes of it."""

    def __init__(
        self,
        bench_id: str,
        ask: Ask,
        benches: Callable[[], Bench],
        book: Callable[[], Conversations],
    ) -> None:
        self.id = bench_id
        self._ask = ask
        self._benches = benches
        self._book = book

    # ------------------------------------------------------------ talking

    def send(
        self,
        text: str,
        *,
        ask: bool = False,
        workflow: str | None = None,
        flow: str | None = None,
        inputs: Mapping[str, str] | None = None,
        origin: str = "rpc",
    ) -> Answer:
        """Say something and let the agent answer; with `ask` it changes nothing.

        `flow` holds for this message alone: `auto`, `rpi` or `compat` (W1.4). `inputs` are the
        files that a workflow asks for, by name; what does not fit is refused before anything is
        said (W25.4). Returns when the turn ended. What it changed waits in the Draft.
        """
        if workflow is not None:
            self.workflow_inputs(workflow, inputs or {})
        elif inputs:
            raise ValidationFailed("inputs go with a workflow", reason="bad_params")
        mode = "ask" if ask else "agent"
        said = requests.SendUserMessage(workbench_id=self.id, text=text, mode=mode, origin=origin)
        sent = self._ask(self._workshop.send_user_message, said)
        return self._agent(sent.message_id, workflow, flow, inputs)

    def save_workflow(
        self,
        name: str,
        *,
        turn_id: str | None = None,
        workflow_id: str | None = None,
        scope: Literal["user", "project"] = "user",
        expected_hash: str | None = None,
    ) -> SavedWorkflow:
        """Save a finished turn, by default the newest, as a workflow with its files as inputs."""
        from backshop.workshop import Again

        wish = requests.SaveWorkflow(
            workbench_id=self.id,
            name=name,
            turn_id=turn_id,
            workflow_id=workflow_id,
            scope=scope,
            expected_hash=expected_hash,
        )
        return self._ask(Again.save_workflow, wish)

    def workflow_inputs(
        self, workflow_id: str | None = None, inputs: Mapping[str, str] | None = None
    ) -> WorkflowsAsking:
        """Say what a workflow asks for, or every one that people wrote; inputs are checked."""
        from backshop.workshop import Again

        wish = requests.GetWorkflowInputs(
            workbench_id=self.id,
            workflow_id=workflow_id,
            inputs=None if inputs is None else dict(inputs),
        )
        return self._ask(Again.get_workflow_inputs, wish)

    def request_changes(
        self,
        text: str = "",
        *,
        comments: Sequence[str] | None = None,
        ask: bool = False,
        model: str | None = None,
        origin: str = "rpc",
    ) -> Answer:
        """Ask for changes of the Draft that waits, and let the agent make them in it.

        `comments` are the ids of those it brings up, every open one without; with `ask` it only
        answers. `model` answers this once.

        Raises:
            NotFound: `no_draft`.
        """
        said = requests.RequestChanges(
            workbench_id=self.id,
            text=text,
            comment_ids=None if comments is None else tuple(comments),
            mode="ask" if ask else "agent",
            origin=origin,
        )
        sent = self._ask(self._workshop.request_changes, said)
        return self._agent(sent.message_id, model=model)

    def regenerate(self, *, note: str | None = None, model: str | None = None) -> Answer:
        """Let the agent answer the last message again.

        `note` is what you add to the message this time, `model` who answers this once.
        """
        wish = requests.Regenerate(workbench_id=self.id, note=note, model_id=model)
        return self._answer(self._ask(self._workshop.regenerate, wish))

    def retry(self) -> Answer:
        """Go on with the turn that stopped, or try the one that failed again (W3.2).

        Raises:
            ValidationFailed: `nothing_to_retry`.
        """
        waiting = self.state().resumable_turn
        if waiting is not None:
            return self._agent(waiting.message_id)
        said = (m for m in reversed(self.history().messages) if m.type == "assistant_message")
        last = next(said, None)
        if last is None or last.status not in _STOPPED:
            raise ValidationFailed("nothing stopped or failed here", reason="nothing_to_retry")
        return self.regenerate()

    def note(self, text: str, *, origin: str = "rpc") -> str:
        """Write to the agent at work, from another thread or process; return the note's id.

        It is read before the next step. One that comes too late is told so by `history`.

        Raises:
            NotFound: `no_turn`: nobody is at work here.
            ValidationFailed: `no_notes`: this turn reads none.
        """
        wish = requests.AddNote(workbench_id=self.id, text=text, origin=origin)
        return self._ask(self._workshop.add_note, wish).message_id

    def cancel(self) -> bool:
        """Stop the agent at work here; say whether there was one."""
        wish = requests.CancelRun(workbench_id=self.id)
        return self._ask(self._workshop.cancel_run, wish).cancel_requested

    def history(self, *, limit: int = 200, before: str | None = None) -> Conversation:
        """Return what was said, oldest first; `before` pages backwards."""
        wish = requests.GetConversation(workbench_id=self.id, limit=limit, before=before)
        return self._ask(self._workshop.get_conversation, wish)

    def state(self) -> State:
        """Say where the conversation stands."""
        wish = requests.WorkbenchOnly(workbench_id=self.id)
        return self._ask(self._workshop.get_state, wish)

    def usage(self, *, limit: int = 200, before: str | None = None) -> BenchUsage:
        """Say what models used, by model and by turn; `before` pages to older turns."""
        wish = requests.GetUsage(workbench_id=self.id, limit=limit, before=before)
        return self._ask(self._workshop.get_usage, wish)

    def plan(self) -> PlanView:
        """Return what the newest turn found out, planned and reported."""
        return self._ask(self._workshop.get_plan, requests.GetPlan(workbench_id=self.id))

    def use_model(self, model_id: str) -> None:
        """Let another model answer from the next turn on."""
        wish = requests.SwitchModel(workbench_id=self.id, model_id=model_id)
        self._ask(self._workshop.switch_model, wish)

    # ------------------------------------------------------------ going back

    def rewind(self, message_id: str, *, mode: str | None = None, dry_run: bool = False) -> Undone:
        """Go back to a message, files included; with `dry_run` only say what that would do."""
        wish = requests.UndoToMessage(
            workbench_id=self.id, message_id=message_id, mode=mode, dry_run=dry_run
        )
        return self._ask(self._workshop.undo_to_message, wish)

    def redo(self) -> RedoDone:
        """Take the last rewind back."""
        return self._ask(self._workshop.redo, requests.Redo(workbench_id=self.id))

    # ------------------------------------------------------------ files

    def files(self) -> tuple[FileEntry, ...]:
        """Return all files, as the Draft has them where there is one."""
        from backshop.bench import Bench, requests

        wish = requests.WorkbenchFilesList(workbench_id=self.id, limit=_PAGE)
        page = self._ask(Bench.files_list, wish)
        found = page.files
        while page.next_cursor is not None:
            page = self._ask(Bench.files_list, replace(wish, cursor=page.next_cursor))
            found += page.files
        return found

    def add(self, *paths: str | Path, on_conflict: str = "reject") -> Added:
        """Add copies of files and folders of this machine to Published.

        `on_conflict` is for names that are there: `reject`, `skip`, `keep_both`, `replace` (B6.6).
        What cannot be copied for another reason than that it is not there is in the answer.

        Raises:
            NotFound: one of them is not there; nothing was added.
        """
        from backshop.bench import Bench, requests

        for one in map(Path, paths):
            if not os.path.lexists(one.expanduser()):
                raise NotFound(f"there is no file {one.name!r}", reason="not_found")
        sources = tuple(str(path) for path in paths)
        wish = requests.WorkbenchFilesAdd(
            workbench_id=self.id, source_paths=sources, on_conflict=on_conflict
        )
        return self._ask(Bench.files_add, wish)

    def tool(self, name: str, **arguments: object) -> ToolResult:
        """Call one of the agent's file tools; what it writes lands in the Draft.

        Raises:
            NotFound: there is no such tool; the hints list names that are near.
            ValidationFailed: `bad_arguments`.
        """
        from backshop.bench import REVIEW_TOOLS, TOOLS, Author, Source, Workspace
        from backshop.prompts import ToolContext, invoke
        from backshop.workshop import RECALL_TOOL, AgentSpace

        known = (*TOOLS, RECALL_TOOL, *REVIEW_TOOLS)
        tool = find_tool(name, known)
        if tool is None:
            close = tuple(near(name, (one.name for one in known), 3))
            raise NotFound(f"there is no tool {name!r}", reason="not_found", hints=close)
        params = tool.decode(arguments)
        author = Author(source=Source(kind="workshop", ref="python"))
        space = Workspace(self._benches(), self.id, author)
        if tool is RECALL_TOOL:  # whose log loads with the conversations
            space = AgentSpace(self._benches(), self.id, author, book=self._book())
        return invoke(tool, params, context=ToolContext(workspace=space))

    # ------------------------------------------------------------ the Draft

    def review(self, *, confirm_deletions: bool = False, since: str | None = None) -> ChangeSet:
        """Return all that the Draft changes; its `tree` is what to publish.

        With `confirm_deletions` every deletion of the Draft is agreed to first; with `since`
        `last_look` the list is of what changed since changes were asked for last.

        Raises:
            BenchBusy: `draft_changed`, somebody wrote to it each time it was listed.
        """
        from backshop.bench import Bench, BenchBusy, requests

        if confirm_deletions:
            gone = tuple(one.path for one in self.review().entries if one.kind == "DELETED")
            agreed = requests.ReviewSetDeletionConfirmations(workbench_id=self.id, paths=gone)
            self._ask(Bench.review_set_deletion_confirmations, agreed)
        for _ in range(_REVIEW_TRIES):
            found = self._listed(since)
            if found is not None:
                return found
        raise BenchBusy("the Draft changes while it is listed", reason="draft_changed")

    def _listed(self, since: str | None) -> ChangeSet | None:
        """Return the whole list, None when its pages are not of one Draft (B11.3)."""
        from backshop.bench import Bench, requests

        wish = requests.ReviewGetChangeSet(workbench_id=self.id, limit=_REVIEW_PAGE, since=since)
        found = self._ask(Bench.review_get_change_set, wish)
        while found.next_cursor is not None:
            following = replace(wish, cursor=found.next_cursor)
            page = self._ask(Bench.review_get_change_set, following)
            if (page.draft_id, page.tree) != (found.draft_id, found.tree):
                return None
            found = replace(page, entries=(*found.entries, *page.entries))
        return found

    def comment(self, path: str, text: str, *, at: str | None = None) -> CommentAdded:
        """Remark on a file of the Draft, or on a place of it: `Sheet1!B4`, `lines 3-5`, …."""
        from backshop.bench import Discussion, requests

        wish = requests.ReviewAddComment(workbench_id=self.id, path=path, text=text, at=at)
        return self._ask(Discussion.add, wish)

    def comments(self, path: str | None = None, *, state: str = "open") -> tuple[CommentInfo, ...]:
        """Return the comments on the Draft: `open`, `resolved` or `all`."""
        from backshop.bench import Discussion, requests

        wish = requests.ReviewListComments(workbench_id=self.id, path=path, state=state)
        page = self._ask(Discussion.page, wish)
        found = page.comments
        while page.next_cursor is not None:
            page = self._ask(Discussion.page, replace(wish, cursor=page.next_cursor))
            found += page.comments
        return found

    def answer_comment(self, comment_id: str, text: str) -> None:
        """Say something under a comment."""
        from backshop.bench import Discussion, requests

        wish = requests.ReviewAnswerComment(workbench_id=self.id, comment_id=comment_id, text=text)
        self._ask(Discussion.answer_by_person, wish)

    def resolve_comment(self, comment_id: str, *, resolved: bool = True) -> None:
        """Call a comment done, or open again."""
        from backshop.bench import Discussion, requests

        wish = requests.ReviewResolveComment(
            workbench_id=self.id, comment_id=comment_id, resolved=resolved
        )
        self._ask(Discussion.resolve, wish)

    def withdraw_comment(self, comment_id: str) -> None:
        """Take back a comment one made."""
        from backshop.bench import Discussion, requests

        wish = requests.ReviewCommentId(workbench_id=self.id, comment_id=comment_id)
        self._ask(Discussion.withdraw, wish)

    def changes(self, path: str) -> tuple[ChangeInfo, ...]:
        """Return the changes of a file that can be taken or left one by one."""
        from backshop.bench import Selections, requests

        wish = requests.ReviewListChanges(workbench_id=self.id, path=path)
        page = self._ask(Selections.page, wish)
        found = page.changes
        while page.next_cursor is not None:
            page = self._ask(Selections.page, replace(wish, cursor=page.next_cursor))
            found += page.changes
        return found

    def leave(self, path: str | None = None, *ids: str, group: str | None = None) -> Chosen:
        """Leave changes out of the Draft: some of a file, all of it, or all of one sort."""
        from backshop.bench import Selections

        return self._ask(Selections.leave, self._choice(path, ids, group))

    def take(self, path: str | None = None, *ids: str, group: str | None = None) -> Chosen:
        """Take changes into the Draft again that were left out."""
        from backshop.bench import Selections

        return self._ask(Selections.take, self._choice(path, ids, group))

    def _choice(self, path: str | None, ids: tuple[str, ...], group: str | None) -> ChangeChoice:
        from backshop.bench import requests

        return requests.ChangeChoice(workbench_id=self.id, path=path, ids=ids or None, group=group)

    def publish(self, tree: str | None = None) -> Published:
        """Make the Draft Published; with a tree only if that is still what it holds."""
        from backshop.bench import Bench, requests

        wish = requests.DraftPublish(workbench_id=self.id, reviewed_tree=tree)
        return self._ask(Bench.draft_publish, wish)

    def discard(self) -> None:
        """Throw the Draft away."""
        from backshop.bench import Bench, requests

        self._ask(Bench.draft_discard, requests.BenchRequest(workbench_id=self.id))

    def bring_back(self) -> None:
        """Take it back that the Draft was thrown away."""
        from backshop.bench import Bench, requests

        self._ask(Bench.draft_bring_back, requests.BenchRequest(workbench_id=self.id))

    def checkpoints(self) -> tuple[CheckpointInfo, ...]:
        """Return the states of Published that are kept, newest first."""
        from backshop.bench import Bench, requests

        wish = requests.CheckpointsList(workbench_id=self.id, limit=_PAGE)
        page = self._ask(Bench.checkpoints_list, wish)
        found = page.checkpoints
        while page.next_cursor is not None:
            page = self._ask(Bench.checkpoints_list, replace(wish, cursor=page.next_cursor))
            found += page.checkpoints
        return found

    def restore(self, checkpoint_id: str, path: str | None = None) -> Restored:
        """Bring a checkpoint back, or one file of it; what is there now is kept."""
        from backshop.bench import Bench, requests

        wish = requests.CheckpointRestore(
            workbench_id=self.id, checkpoint_id=checkpoint_id, path=path
        )
        return self._ask(Bench.checkpoint_restore, wish)

    # ------------------------------------------------------------ shared

    @property
    def _workshop(self) -> type[Workshop]:
        """The facade of conversations; it loads with the agent when one is asked (S2.4)."""
        from backshop.workshop import Workshop

        return Workshop

    def _agent(
        self,
        message_id: str,
        workflow: str | None = None,
        flow: str | None = None,
        inputs: Mapping[str, str] | None = None,
        model: str | None = None,
    ) -> Answer:
        wish = requests.RunAgent(
            workbench_id=self.id,
            message_id=message_id,
            workflow_id=workflow,
            flow=flow,
            inputs=dict(inputs) if inputs else None,
            model_id=model,
        )
        return self._answer(self._ask(self._workshop.run_agent, wish))

    def _answer(self, done: Answered) -> Answer:
        said = (m.text for m in self.history().messages if m.message_id == done.message_id)
        return Answer(
            text=next(said, ""),
            status=done.status,
            has_draft=done.has_draft,
            turn_id=done.turn_id,
            message_id=done.message_id,
            run_id=done.run_id,
            facts=done.facts,
            facts_lines=done.facts_lines,
            facts_first=done.facts_first,
            warnings=done.warnings,
        )
