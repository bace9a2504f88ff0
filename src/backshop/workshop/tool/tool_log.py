"""The tool log of one loop: every call is an entry, and a write's entry comes with its batch."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from backshop.base.errors import DiskFull
from backshop.base.ids import BlobId, ToolResultId, TurnId
from backshop.base.media.image import PNG, Image
from backshop.bench import Committed
from backshop.bench.events import BatchApplied
from backshop.bench.state import BenchState
from backshop.models import Called, ToolCall
from backshop.prompts import ToolResult

from ..conversation import decide
from ..conversation.events import ToolAnswered, ToolCalled
from ..conversation.repository import Conversations
from ..conversation.state import ToolEntry, Turn, WorkshopState
from ..errors import CallGivenUp
from ..signals import Publish
from .phase import WRITING_TOOLS
from .receipt import path_of, place_of

MADE_BEFORE = (
    "Not run: the attempt before made exactly this write (log entry {}), and it was kept; writes "
    "after it may have changed the place again. Make the call once more if it is wanted again. Its "
    "result was:"
)
RESULT_LOST = "(not kept; look at the file)"
WHOLE_FILE = "write_text_file"
WORKBOOK, FROM_TABLE = "xlsx_operations", "table_update_from_export"
SET_OPS = frozenset(
    {
        *("ensure_sheet", "set_cells", "set_range", "fill_formula", "clear_range", "set_style"),
        *("set_column_widths", "set_row_heights", "freeze_panes", "set_autofilter"),
    }
)
"""Operations that say how a place is to be: made twice they double nothing."""
_PATH_MAX_CHARS = 1024
_PROGRESS_MAX_CHARS = 300
_CALL: ContextVar[ToolCall | None] = ContextVar("call", default=None)
"""Whose work this is: a handler that overran still knows its own call, not the one after it."""


class Speech(Protocol):
    """Where the text of an answer goes while it comes."""

    def add(self, piece: str) -> None:
        """Take a piece of text."""
        ...

    def take_back(self) -> bool:
        """Begin anew, where what was said is no answer yet; False where it counts."""
        ...


class Unheard:
    """Nobody reads what the model says on its way."""

    def add(self, piece: str) -> None:
        """Forget it."""

    def take_back(self) -> bool:
        """There is nothing to take back."""
        return True


UNHEARD = Unheard()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Whose calls these are."""

    bench_id: str
    turn_id: TurnId | None
    phase: str
    lease: str | None
    model_id: str
    run_id: str | None = None
    node_id: str | None = None
    item: int | None = None
    attempt: int | None = None


class ToolJournal:
    """Writes the log and tells who listens. One for each loop."""

    def __init__(
        self,
        book: Conversations,
        loop: Loop,
        *,
        publish: Publish,
        said: Speech,
        check: Callable[[], None],
    ) -> None:
        self._book = book
        self._loop = loop
        self._publish = publish
        self._said = said
        self._check = check
        self._guard = threading.Lock()  # a call is decided or given up, never both
        self._call: ToolCall | None = None
        self._decided: ToolCall | None = None
        self._entry: int | None = None
        self._replayed: ToolEntry | None = None
        self._is_warned = False
        self._tree = ""
        self._began = 0.0

    # ------------------------------------------------------------ what the loop tells

    def tree_id(self) -> str:
        """Return the state of the files."""
        bench = self._book.state(self._loop.bench_id).bench
        return bench.published if bench.draft is None else bench.draft.tree

    def calling(self, call: ToolCall) -> None:
        """Say that a call begins; a turn that was lost or cancelled makes none."""
        self._check()
        with self._guard:
            self._call, self._decided = call, None
        _CALL.set(call)
        self._entry, self._replayed = None, None
        self._tree = self.tree_id()
        self._began = self._book.clock.monotonic()
        payload = {
            "turn_id": self._loop.turn_id,
            "phase": self._loop.phase,
            "tool_name": call.name,
            "tool_call_id": call.id,
            "writes": call.name in WRITING_TOOLS,
        }
        about = {"path": path_of(call.arguments), "detail": place_of(call.arguments)}
        self._signal(
            "WorkshopToolExecuting",
            {**payload, **{name: text for name, text in about.items() if text}},
        )

    def recorded(self, call: ToolCall) -> ToolResult | None:
        """Return the recorded answer of an equal call; what it wrote is there again (W12.7).

        Equal is the same tool with the same arguments on the same files, in the same step and
        attempt, answered before the work stopped.
        """
        known = self._book.state(self._loop.bench_id)
        assert self._loop.turn_id is not None
        turn = decide.running(known, self._loop.turn_id)
        args = self._args(call)
        for number in range(turn.replays_to, 0, -1):
            entry = known.tools[str(number)]
            if entry.turn_id != turn.turn_id:
                break
            if self._is_equal(entry, call, args) and self._brought_back(entry, call, args):
                self._replayed = entry
                image = self._image(entry)
                return ToolResult(ok=True, message=self._result(entry), image=image)
        return self._left(known, turn, call, args)

    def _left(
        self, known: WorkshopState, turn: Turn, call: ToolCall, args: BlobId
    ) -> ToolResult | None:
        """Return the answer of an equal write that an unfinished attempt made, once (W11.13).

        What it wrote is in the files already. Whoever wants it a second time makes the call again.
        The whole text of a file is written again: that doubles nothing, and may be wanted since.
        So are cells, once something was written to their file after them: it may have gone over
        them.
        """
        if not turn.left or call.name == WHOLE_FILE:
            return None
        used = {one.replay_of for one in known.tools.values() if one.turn_id == turn.turn_id}
        for number in range(1, len(known.tools) + 1):
            entry = known.tools[str(number)]
            is_same = (entry.tool, entry.args_sha256) == (call.name, args)
            if not is_same or entry.batch_id not in turn.left or entry.entry_id in used:
                continue
            if _sets(call) and _is_written_since(known, turn, entry):
                return None
            if entry.success is not False:  # a crash may have lost its result, not its batch
                self._replayed = entry
                told = f"{MADE_BEFORE.format(number)}\n{self._result(entry)}"
                return ToolResult(ok=True, message=told)
        return None

    def _result(self, entry: ToolEntry) -> str:
        """Return what a recorded call gave back."""
        if entry.result_ref is None:
            return RESULT_LOST
        return self._book.store.blobs.read(entry.result_ref).decode(errors="replace")

    def _image(self, entry: ToolEntry) -> Image | None:
        """Return what a recorded call showed, byte for byte (W26.5)."""
        if entry.image_ref is None:
            return None
        return Image(PNG, self._book.store.blobs.read(entry.image_ref))

    def _is_equal(self, entry: ToolEntry, call: ToolCall, args: BlobId) -> bool:
        loop = self._loop
        return (
            entry.success is True
            and entry.result_ref is not None
            and (entry.tool, entry.args_sha256, entry.tree_id) == (call.name, args, self._tree)
            and (entry.node_id, entry.attempt) == (loop.node_id, loop.attempt)
        )

    def _brought_back(self, entry: ToolEntry, call: ToolCall, args: BlobId) -> bool:
        """Bring back what a recorded call wrote; False when that is not kept any more."""
        if entry.batch_id is None or entry.draft_revision_id is None:
            return True
        kept = self._book.state(self._loop.bench_id).bench.revision(entry.draft_revision_id)
        if kept is None or kept.draft is None:
            return False
        revision = self._book.desk.new_revision()

        def rule(now: WorkshopState) -> Sequence[object]:
            assert entry.turn_id is not None
            facts = decide.replay(now, entry.turn_id, entry, revision)
            fact = self._fact(
                now,
                call,
                args,
                batch_id=entry.batch_id,
                draft_revision_id=revision,
                replay_of=entry.entry_id,
            )
            return [*facts, fact]

        told = self._book.commit(self._loop.bench_id, rule, lease=self._loop.lease, pins=[args])
        self._entry = len(told.state.tools)
        return True

    def give_up(self, call: ToolCall) -> bool:
        """Let a call that overran commit nothing; False when its batch is decided already."""
        with self._guard:
            if self._decided is call:
                return False
            self._call = None
            return True

    def called(self, called: Called) -> int:
        """Write the entry of a call, or its result if the batch brought the entry."""
        record, elapsed = called.record, self._elapsed()
        with self._guard:
            self._call = None  # nothing is committed for it any more
        args, result = BlobId(record.params_ref), BlobId(record.result_ref)
        size = len(called.text.encode(errors="replace"))
        error = None if record.ok else record.code
        shown = None if called.image is None else self._book.store.blobs.put(called.image.data)

        def rule(now: WorkshopState) -> Sequence[object]:
            self._require_running(now)
            return [
                self._fact(
                    now,
                    called.call,
                    args,
                    result_ref=result,
                    result_bytes=size,
                    success=record.ok,
                    error=error,
                    elapsed_ms=elapsed,
                    replay_of=self._replayed.entry_id if self._replayed else None,
                    image_ref=shown,
                )
            ]

        bench_id, lease = self._loop.bench_id, self._loop.lease
        if self._entry is None:
            pins = [result, args, *(() if shown is None else (shown,))]
            told = self._book.commit(bench_id, rule, lease=lease, pins=pins)
            entry_id = len(told.state.tools)
        else:
            entry_id = self._entry
            answered = ToolAnswered(
                entry_id=entry_id,
                result_ref=result,
                result_bytes=size,
                success=record.ok,
                error=error,
                elapsed_ms=elapsed,
            )
            self._require_running(self._book.state(bench_id))
            self._book.later(bench_id, answered, pins=[result], lease=lease)
        self._is_warned = False
        self._signal(
            "WorkshopToolComplete",
            {
                "turn_id": self._loop.turn_id,
                "tool_name": called.call.name,
                "tool_call_id": called.call.id,
                "success": record.ok,
                "elapsed_ms": elapsed,
                "entry_id": entry_id,
            },
        )
        if _is_full(called):
            raise DiskFull("the disk has no room for what the agent writes", reason="disk_full")
        return entry_id

    def warned(self, call: ToolCall, count: int) -> None:
        """Say that the model repeats itself; the entry of the call says so too."""
        self._is_warned = True
        payload = {"turn_id": self._loop.turn_id, "tool_name": call.name, "count": count}
        self._signal("WorkshopAgentLoopWarning", payload)

    def said(self, text: str) -> None:
        """Pass on text that people read."""
        self._said.add(text)

    def unsaid(self) -> bool:
        """Take back what was said since the last call, where that is no answer yet."""
        return self._said.take_back()

    def progressed(self, text: str) -> None:
        """Let what was said with calls be progress, and whoever listens know."""
        self._said.take_back()
        if said := " ".join(text.split())[:_PROGRESS_MAX_CHARS]:
            self._signal(
                "WorkshopAgentProgress",
                {"turn_id": self._loop.turn_id, "phase": self._loop.phase, "text": said},
            )

    # ------------------------------------------------------------ writes

    def commit(
        self,
        bench_id: str,
        rule: Callable[[BenchState], Sequence[object]],
        *,
        blobs: Sequence[bytes] = (),
        keep: Sequence[BlobId] = (),
        lease: str | None = None,
    ) -> Committed:
        """Commit a batch together with the entry of the call that makes it (W10.2)."""
        call = _CALL.get()
        args = None if call is None else self._args(call)

        def both(now: WorkshopState) -> Sequence[object]:
            if call is None or args is None:
                raise CallGivenUp("no call is under way", reason="tool_timeout")
            self._decide(call)
            self._require_running(now)
            facts: list[object] = [*rule(now.bench)]
            batch = next((one for one in facts if isinstance(one, BatchApplied)), None)
            if batch is None:
                return facts
            entry = self._fact(
                now, call, args, batch_id=batch.batch_id, draft_revision_id=batch.revision_id
            )
            return [*facts, entry]

        pins = () if args is None else (args,)
        before = len(self._book.state(bench_id).tools)
        told = self._book.commit(bench_id, both, blobs=blobs, keep=keep, pins=pins, lease=lease)
        if len(told.state.tools) > before:
            self._entry = len(told.state.tools)
        return Committed(told.state.bench, told.warnings)

    def _decide(self, call: ToolCall) -> None:
        """From here on a call is waited for, however long it takes."""
        with self._guard:
            if self._call is not call:
                raise CallGivenUp("the call was given up before it was done", reason="tool_timeout")
            self._decided = call

    def _require_running(self, now: WorkshopState) -> None:
        """Refuse when the turn of these calls is over; calls of no turn have none (W13.9)."""
        if self._loop.turn_id is not None:
            decide.running(now, self._loop.turn_id)

    def _fact(self, now: WorkshopState, call: ToolCall, args: BlobId, **more: object) -> ToolCalled:
        loop = self._loop
        return ToolCalled(
            entry_id=len(now.tools) + 1,
            result_id=ToolResultId(self._book.new("tr")),
            turn_id=loop.turn_id,
            phase=loop.phase,
            tool=call.name,
            args_ref=args,
            args_sha256=args,
            call_id=call.id,
            path=path_of(call.arguments)[:_PATH_MAX_CHARS] or None,
            run_id=loop.run_id,
            node_id=loop.node_id,
            item=loop.item,
            attempt=loop.attempt,
            model_id=loop.model_id,
            tree_id=self._tree,
            is_warned=self._is_warned,
            **more,  # type: ignore[arg-type]  # fields of the fact
        )

    def _args(self, call: ToolCall) -> BlobId:
        """Keep a call's arguments, in the bytes the session keeps them in."""
        data = json.dumps(dict(call.arguments), ensure_ascii=False, sort_keys=True)
        return self._book.store.blobs.put(data.encode(errors="replace"))

    def _elapsed(self) -> int:
        return max(0, int((self._book.clock.monotonic() - self._began) * 1000))

    def _signal(self, name: str, payload: Mapping[str, object]) -> None:
        self._publish(self._loop.bench_id, name, payload)


def _is_full(called: Called) -> bool:
    """Whether a call failed because the disk is full; trying again would only fill it (W19.5)."""
    if called.ok or '"DISK_FULL"' not in called.text:
        return False
    try:
        payload = json.loads(called.text)
    except ValueError:
        return False
    error = payload.get("error") if isinstance(payload, dict) else None
    return isinstance(error, dict) and error.get("error_code") == "DISK_FULL"


def _sets(call: ToolCall) -> bool:
    """Whether a write says how places are to be, so that a second time doubles nothing."""
    if call.name == FROM_TABLE:
        return call.arguments.get("mode") in ("replace_sheet", "write_range")
    listed = call.arguments.get("operations")
    if call.name != WORKBOOK or not isinstance(listed, list):
        return False
    return all(isinstance(one, dict) and one.get("op") in SET_OPS for one in listed)


def _is_written_since(known: WorkshopState, turn: Turn, entry: ToolEntry) -> bool:
    """Whether a later write of the turn that stands went to the same file, or may have."""
    later = (known.tools[str(n)] for n in range(entry.entry_id + 1, len(known.tools) + 1))
    return any(
        one.path == entry.path or FROM_TABLE in (one.tool, entry.tool)  # whose path is the source's
        for one in later
        if one.turn_id == turn.turn_id
        and one.batch_id is not None
        and one.batch_id not in turn.gone
    )
