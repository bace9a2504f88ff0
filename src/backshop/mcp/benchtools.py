"""The tools of one bench as MCP offers them: answers with a schema, refusals with an envelope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from backshop.base.codec import compact, encode
from backshop.base.errors import CODES, DEFAULT_AFTER_MS, ErrorInfo, Retry, RetryKind
from backshop.base.ids import UserId

from .offer import Called, OfferedTool

if TYPE_CHECKING:
    from backshop.app import Backshop
    from backshop.prompts import Tool, ToolContext, ToolResult

PHASE = "workbench"
Admit = Callable[["Tool", UserId | None], None]
"""Refuses somebody who may not use a tool on this bench."""


def bench_tools(shop: Backshop, name: str) -> list[OfferedTool]:
    """Return the file tools over a bench, and the one that shows its Draft."""
    from backshop.app import Role  # loaded when asked for
    from backshop.bench import (
        ANSWERS,
        REVIEW_DRAFT,
        TOOLS,
        Author,
        Source,
        Workspace,
    )
    from backshop.prompts import ToolContext

    bench_id = shop.bench_id(name)
    shop.benches.desk.state(bench_id)  # a bench in the trash is said so at once
    author = Author(source=Source(kind="workshop", ref="mcp"), actor="mcp:agent")
    context = ToolContext(workspace=Workspace(shop.benches, bench_id, author))

    def admit(tool: Tool, user: UserId | None) -> None:
        role = Role.READ if tool.effects == "read" else Role.WRITE
        shop.gate.admit_to(user, bench_id, role)

    return [_offered(tool, context, ANSWERS[tool.name], admit) for tool in (*TOOLS, REVIEW_DRAFT)]


def _offered(
    tool: Tool, context: ToolContext, answer: Mapping[str, Any], admit: Admit
) -> OfferedTool:
    def call(arguments: Mapping[str, Any], user: UserId | None) -> Called:
        from backshop.app import fault_of  # loaded with the first call

        try:
            admit(tool, user)
            result = tool.handler(tool.decode(arguments), context=context)
        except Exception as error:  # the outermost handler of this door
            fault = fault_of(error, PHASE)
            return Called((fault.message,), {"error": fault.envelope}, is_error=True)
        if not result.ok:
            return Called((result.text(),), {"error": _envelope(result)}, is_error=True)
        return Called((result.text(),), result.data())

    return OfferedTool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        input_schema=compact(tool.schema),
        output_schema=dict(answer),
        read_only=tool.effects == "read",
        idempotent=tool.effects == "read",
        call=call,
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
