"""`recall_tool_result`: a stored result, whole or in slices (W8.7)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.limits import RECALL_MAX_BYTES
from backshop.bench import Workspace
from backshop.prompts import Tool, ToolContext, ToolResult

from ..conversation.repository import Conversations
from .receipt import RECALL, recall


@dataclass(frozen=True, slots=True)
class AgentSpace(Workspace):
    """A bench as tools see it, together with the log of what they gave back before."""

    book: Conversations | None = None
    recall_max_bytes: int = RECALL_MAX_BYTES
    """What a call gives back at the most; less where a model's window is small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """Arguments of recall_tool_result."""

    entry_id: int = field(metadata={"ge": 1})
    offset: int = field(default=0, metadata={"ge": 0})
    max_bytes: int = field(default=RECALL_MAX_BYTES, metadata={"ge": 1, "le": RECALL_MAX_BYTES})


def _recall(params: RecallResult, *, context: ToolContext) -> ToolResult:
    room = context.resource(AgentSpace)
    try:
        return ToolResult(ok=True, message="", value=_slice(room, params))
    except (NotFound, ValidationFailed) as error:
        return ToolResult.failure(error.reason or "failed", error.message)


def _slice(room: AgentSpace, params: RecallResult) -> dict[str, object]:
    assert room.book is not None
    known = room.book.state(room.bench_id)
    entry = known.tools.get(str(params.entry_id))
    if entry is None or entry.result_ref is None:
        raise NotFound("there is no such entry in the tool log", reason="entry_not_found")
    if not known.is_turn_active(entry.turn_id):
        raise ValidationFailed("this result belongs to work taken back", reason="entry_inactive")
    data = room.book.store.blobs.read(entry.result_ref)
    most = min(params.max_bytes, room.recall_max_bytes)
    found = recall(entry.entry_id, entry.tool, data, offset=params.offset, max_bytes=most)
    return asdict(found)


RECALL_TOOL = Tool(
    RECALL,
    "Return bytes of a result that is shown as a receipt.",
    RecallResult,
    _recall,
    effects="read",
)
