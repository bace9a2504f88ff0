"""Passes the tools of `bench.tools` on to MCP clients, with schemas; none is defined here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from backshop.base.acting import acting
from backshop.base.codec import compact, encode
from backshop.base.errors import CODES, DEFAULT_AFTER_MS, ErrorInfo, Retry, RetryKind
from backshop.base.ids import UserId

from .offer import Called, OfferedTool, refusal

if TYPE_CHECKING:
    from backshop.app import Backshop
    from backshop.prompts import Tool, ToolResult
    from backshop.workshop import Outside

PHASE = "workbench"
Admit = Callable[["Tool", UserId | None], None]
"""Refuses somebody who may not use a tool on this bench."""
LARGE_CHARS = 2_048  # a client may cut what is longer (W8.5)
RECALL = "This result is entry {} of the tool log; recall_tool_result brings it back."


def bench_tools(shop: Backshop, seat: Outside) -> list[OfferedTool]:
    """Return the file tools over a bench, and those about the review of its Draft."""
    from backshop.app import Role  # loaded when asked for
    from backshop.bench import ANSWERS, REVIEW_TOOLS, TOOLS
    from backshop.workshop import RECALL_TOOL

    def admit(tool: Tool, user: UserId | None) -> None:
        role = Role.READ if tool.effects == "read" else Role.WRITE
        shop.gate.admit_to(user, seat.bench_id, role)

    tools = (*TOOLS, RECALL_TOOL, *REVIEW_TOOLS)
    return [_offered(tool, seat, ANSWERS[tool.name], admit) for tool in tools]


def _offered(tool: Tool, seat: Outside, answer: Mapping[str, Any], admit: Admit) -> OfferedTool:
    def call(arguments: Mapping[str, Any], user: UserId | None) -> Called:
        from backshop.app import fault_of  # loaded with the first call

        try:
            admit(tool, user)
            with acting(user):
                result, entry_id = seat.call(tool, arguments)
        except Exception as error:  # the outermost handler of this door
            fault = fault_of(error, PHASE)
            return refusal(fault.message, fault.envelope)
        text = result.text()
        if not result.ok:
            return Called((text,), {"error": _envelope(result)}, is_error=True)
        more = (RECALL.format(entry_id),) if len(text) > LARGE_CHARS else ()
        return Called((text, *more), result.data(), image=result.image)

    return OfferedTool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        input_schema=compact(tool.schema),
        answer_schema=dict(answer),
        read_only=tool.effects == "read",
        idempotent=tool.effects == "read",
        call=call,
        aliases=tool.aliases,
    )


def _envelope(result: ToolResult) -> dict[str, Any]:
    """Return the whole envelope of a refusal (M11.1), from what the tool says about it."""
    said = result.data()
    said = said if isinstance(said, dict) else {}
    code = str(said.get("error_code", "VALIDATION_FAILED"))
    spec = CODES[code]
    after_ms = DEFAULT_AFTER_MS if spec.retry is RetryKind.LATER else None
    hints = said.get("hints")
    info = ErrorInfo(
        error_code=code,
        phase=PHASE,
        retryable=spec.retry is not RetryKind.NO,
        retry=Retry(spec.retry, after_ms),
        message=result.message,
        actions=spec.actions,
        reason=result.code,
        hints=tuple(map(str, hints)) if isinstance(hints, list) else None,
        detail=str(said["detail"]) if said.get("detail") else None,
    )
    envelope: dict[str, Any] = encode(info)
    return envelope
