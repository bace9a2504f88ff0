"""`shop.workshop(bench)`: one workbench at hand, with the words of the command line (S8.1).

Every method is a command of the registry, or the fixed sequence of them that S4.4 names; answers
are the typed values behind the JSON of the other doors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backshop.base.errors import NotFound, ValidationFailed
from backshop.workshop import TurnFacts

if TYPE_CHECKING:  # rooms load when something of theirs is first asked for (S2.4)
    from backshop.bench import Added, Bench, ChangeSet, Done, FileEntry, FileList, Published
    from backshop.prompts import ToolResult
    from backshop.workshop import (
        Answered,
        CancelAnswer,
        Conversation,
        Nothing,
        PlanView,
        RedoDone,
        Sent,
        State,
        Undone,
    )

_PAGE = 1000
_REVIEW_PAGE = 5000  # the longest there is (B11.3)
_REVIEW_TRIES = 5
_STOPPED = ("failed", "canceled", "interrupted")

Run = Callable[[str, dict[str, Any]], Any]
"""Runs a command of the registry on plain data and returns its typed answer."""


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
    warnings: tuple[str, ...] = ()


class BenchWorkshop:
    """The Workshop of one workbench: what is said, what waits in the Draft, what becomes of it."""

    def __init__(self, bench_id: str, run: Run, benches: Callable[[], Bench]) -> None:
        self.id = bench_id
        self._commands = run
        self._benches = benches

    # ------------------------------------------------------------ talking

    def send(
        self, text: str, *, ask: bool = False, workflow: str | None = None, origin: str = "rpc"
    ) -> Answer:
        """Say something and let the agent answer; with `ask` it changes nothing.

        Returns when the turn ended. What it changed waits in the Draft.
        """
        mode = "ask" if ask else "agent"
        sent: Sent = self._run("WorkshopSendUserMessage", text=text, mode=mode, origin=origin)
        return self._agent(sent.message_id, workflow)

    def regenerate(self) -> Answer:
        """Let the agent answer the last message again."""
        return self._answer(self._run("WorkshopRegenerate"))

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

    def cancel(self) -> bool:
        """Stop the agent at work here; say whether there was one."""
        asked: CancelAnswer = self._run("WorkshopCancelRun")
        return asked.cancel_requested

    def history(self, *, limit: int = 200, before: str | None = None) -> Conversation:
        """Return what was said, oldest first; `before` pages backwards."""
        found: Conversation = self._run("WorkshopGetConversation", limit=limit, before=before)
        return found

    def state(self) -> State:
        """Say where the conversation stands."""
        found: State = self._run("WorkshopGetState")
        return found

    def plan(self) -> PlanView:
        """Return what the newest turn found out, planned and reported."""
        found: PlanView = self._run("WorkshopGetPlan")
        return found

    def use_model(self, model_id: str) -> None:
        """Let another model answer from the next turn on."""
        _: Nothing = self._run("WorkshopSwitchModel", model_id=model_id)

    # ------------------------------------------------------------ going back

    def rewind(self, message_id: str, *, mode: str | None = None, dry_run: bool = False) -> Undone:
        """Go back to a message, files included; with `dry_run` only say what that would do."""
        wish = {"message_id": message_id, "mode": mode, "dry_run": dry_run}
        done: Undone = self._run("WorkshopUndoToMessage", **wish)
        return done

    def redo(self) -> RedoDone:
        """Take the last rewind back."""
        done: RedoDone = self._run("WorkshopRedo")
        return done

    # ------------------------------------------------------------ files

    def files(self) -> tuple[FileEntry, ...]:
        """Return all files, as the Draft has them where there is one."""
        page: FileList = self._run("WorkbenchFilesList", limit=_PAGE)
        found = page.files
        while page.next_cursor is not None:
            page = self._run("WorkbenchFilesList", limit=_PAGE, cursor=page.next_cursor)
            found += page.files
        return found

    def add(self, *paths: str | Path) -> Added:
        """Add copies of files and folders of this machine to Published."""
        added: Added = self._run("WorkbenchFilesAdd", source_paths=[str(path) for path in paths])
        return added

    def tool(self, name: str, **arguments: object) -> ToolResult:
        """Call one of the agent's file tools; what it writes lands in the Draft.

        Raises:
            NotFound: there is no such tool; the hints list names that are near.
            ValidationFailed: `bad_arguments`.
        """
        from backshop.bench import TOOLS, Author, Source, Workspace
        from backshop.models import lenient
        from backshop.prompts import ToolContext, invoke

        known = {tool.name: tool for tool in TOOLS}
        if name not in known:
            near = tuple(get_close_matches(name, known, n=3))
            raise NotFound(f"there is no tool {name!r}", reason="not_found", hints=near)
        tool = known[name]
        author = Author(source=Source(kind="workshop", ref="python"))
        context = ToolContext(workspace=Workspace(self._benches(), self.id, author))
        params = tool.decode(lenient(name, arguments, tool.schema))
        return invoke(tool, params, context=context)

    # ------------------------------------------------------------ the Draft

    def review(self, *, confirm_deletions: bool = False) -> ChangeSet:
        """Return all that the Draft changes; its `tree` is what to publish.

        With `confirm_deletions` every deletion of the Draft is agreed to first.

        Raises:
            BenchBusy: `draft_changed`, somebody wrote to it each time it was listed.
        """
        if confirm_deletions:
            gone = [one.path for one in self.review().entries if one.kind == "DELETED"]
            self._run("ReviewSetDeletionConfirmations", paths=gone)
        for _ in range(_REVIEW_TRIES):
            found = self._listed()
            if found is not None:
                return found
        from backshop.bench import BenchBusy

        raise BenchBusy("the Draft changes while it is listed", reason="draft_changed")

    def _listed(self) -> ChangeSet | None:
        """Return the whole list, None when its pages are not of one Draft (B11.3)."""
        found: ChangeSet = self._run("ReviewGetChangeSet", limit=_REVIEW_PAGE)
        while found.next_cursor is not None:
            wish = {"limit": _REVIEW_PAGE, "cursor": found.next_cursor}
            page: ChangeSet = self._run("ReviewGetChangeSet", **wish)
            if (page.draft_id, page.tree) != (found.draft_id, found.tree):
                return None
            found = replace(page, entries=(*found.entries, *page.entries))
        return found

    def publish(self, tree: str | None = None) -> Published:
        """Make the Draft Published; with a tree only if that is still what it holds."""
        done: Published = self._run("DraftPublish", reviewed_tree=tree)
        return done

    def discard(self) -> None:
        """Throw the Draft away."""
        _: Done = self._run("DraftDiscard")

    # ------------------------------------------------------------ shared

    def _run(self, name: str, **request: object) -> Any:
        given = {key: value for key, value in request.items() if value is not None}
        return self._commands(name, {"workbench_id": self.id, **given})

    def _agent(self, message_id: str, workflow: str | None = None) -> Answer:
        wish = {"message_id": message_id, "workflow_id": workflow}
        return self._answer(self._run("WorkshopRunAgent", **wish))

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
            warnings=done.warnings,
        )
