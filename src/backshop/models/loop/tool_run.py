"""Runs one tool call: policies, a time limit, a transaction, and exactly one answer (P5.6)."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from backshop.base.errors import BackshopError
from backshop.base.limits import TOOL_RESULT_MAX_BYTES
from backshop.base.media.image import Image
from backshop.base.telemetry import watch
from backshop.prompts import (
    Invocation,
    Prompt,
    RenderedPrompt,
    Session,
    Tool,
    ToolContext,
    ToolInvoked,
    ToolResult,
)

from ..messages import Message, Role, ToolCall
from .tool_call import Checked

_LOG = logging.getLogger(__name__)
_MESSAGE_MAX_CHARS = 1000  # of a ToolInvoked; the whole answer is the blob it names
_CANCEL_SEEN_S = 0.2  # a read is left alone this soon; a write ends at its own boundary (M12.1)
_CODES = {"tool_timeout": "TOOL_WORKER_UNAVAILABLE", "policy_denied": "ACCESS_DENIED"}


@dataclass(frozen=True, slots=True)
class Answered:
    """A call's one answer: what the model reads, and the record of it."""

    message: Message
    record: ToolInvoked
    whole: str = ""  # the answer before it was cut to what fits a message
    image: Image | None = None


class ToolRunner:
    """Runs the tools of one rendered prompt in one session."""

    def __init__(
        self,
        *,
        prompt: Prompt[Any],
        rendered: RenderedPrompt,
        adapter: object,
        session: Session,
        tools: tuple[Tool, ...],
        workspace: object | None,
    ) -> None:
        self._prompt = prompt
        self._rendered = rendered
        self._adapter = adapter
        self._session = session
        self._tools = {tool.name: tool for tool in tools}
        self._workspace = workspace

    def answer(
        self,
        checked: Checked,
        before: ToolResult | None = None,
        give_up: Callable[[], bool] = lambda: True,
    ) -> Answered:
        """Run a call, or say what is wrong with it; whatever happens is recorded.

        A call that was answered `before` is not run again. One that overruns is answered as such
        if it can be given up; else what it did stands, and its own answer is waited for.
        """
        call, tool = checked.call, self._tools.get(checked.call.name)
        began_at, began = self._session.now(), self._session.monotonic()
        transaction = self._session.begin()
        if checked.problem is not None or tool is None:
            reason = checked.problem.reason if checked.problem else "tool_not_available"
            detail = checked.problem.detail if checked.problem else "there is no such tool"
            result = ToolResult.failure(reason, detail)
            hints = checked.problem.hints if checked.problem else ()
        elif before is not None:
            result, hints = before, ()
        else:
            with watch("tool", tool=tool.name) as span:
                result, hints = self._run(tool, call, transaction, give_up), ()
                span.note(error_type=result.code)
        text = result.text() if result.ok else failure_text(result, hints)
        shown, result_ref = self._cut(text)
        record = ToolInvoked(
            call_id=call.id,
            tool=call.name,
            effects=tool.effects if tool else "",
            params_ref=self._session.put(_json(dict(call.arguments))),
            ok=result.ok,
            code=result.code or "",
            message=result.message[:_MESSAGE_MAX_CHARS],
            result_ref=result_ref,
            started_at=began_at,
            duration_ms=max(0, int((self._session.monotonic() - began) * 1000)),
            prompt_key=self._prompt.key,
        )
        if result.ok:
            transaction.commit(record)
        else:
            transaction.discard(record)
        reply = Message(
            role=Role.TOOL,
            text=shown,
            images=() if result.image is None else (result.image,),
            tool_call_id=call.id,
            is_error=not result.ok,
        )
        return Answered(reply, record, text, result.image)

    def _run(
        self, tool: Tool, call: ToolCall, transaction: Any, give_up: Callable[[], bool]
    ) -> ToolResult:
        try:
            params = tool.decode(call.arguments)
        except BackshopError as error:
            return ToolResult.failure("bad_arguments", "; ".join((error.message, *error.hints)))
        denied = self._denied(tool, params)
        if denied is not None:
            return ToolResult.failure("policy_denied", denied)
        context = ToolContext(
            prompt=self._prompt,
            rendered=self._rendered,
            adapter=self._adapter,
            session=transaction,
            limits=self._session.limits,
            cancel=self._session.cancel,
            workspace=self._workspace,
        )
        result = self._within_time(tool, Invocation(tool, params, context=context), give_up)
        if not result.ok:
            return result
        try:  # what it did must be acceptable before it counts as done
            transaction.view()
        except BackshopError as error:
            return ToolResult.failure("tool_failed", error.message)
        return result

    def _denied(self, tool: Tool, params: object) -> str | None:
        view = self._session.view()
        for policy in self._rendered.policies.get(tool.name, ()):
            try:
                reason = policy.check(tool.name, params, view)
            except Exception:  # a policy is somebody else's code: one that fails denies (P1.18)
                _LOG.exception("a policy for %s failed", tool.name)
                return "a policy could not be checked"
            if reason is not None:
                return reason
        return None

    def _within_time(self, tool: Tool, call: Invocation, give_up: Callable[[], bool]) -> ToolResult:
        """Run a handler on a thread of its own; one that was given up can change nothing more."""
        limit = min(tool.timeout_s, self._session.limits.tool_timeout_s)
        outcome: list[ToolResult] = []
        ended = threading.Event()

        def work() -> None:
            try:
                result = call.run()
            except BaseException as error:  # somebody else's code, sys.exit too: P5.6
                _LOG.warning("the tool %s failed", tool.name, exc_info=True)
                result = ToolResult.failure("tool_failed", _said(error))
            outcome.append(result)
            ended.set()

        inherited = copy_context()  # whose call this is stays known, however late it writes
        thread = threading.Thread(
            target=inherited.run, args=(work,), daemon=True, name=f"backshop-tool-{tool.name}"
        )
        now = self._session.monotonic
        until = now() + limit
        thread.start()
        while not ended.wait(min(_CANCEL_SEEN_S, max(0.0, until - now()))):
            if now() >= until:
                break
            if self._session.cancel.requested and tool.effects == "read":
                call.give_up()
                return ToolResult.failure("canceled", "the person stopped the run")
        if not outcome and give_up():
            call.give_up()
            return ToolResult.failure("tool_timeout", f"the tool took longer than {limit:g} s")
        ended.wait()
        return outcome[0]

    def _cut(self, text: str) -> tuple[str, str]:
        data = text.encode(errors="replace")
        ref = self._session.put(data)
        if len(data) <= TOOL_RESULT_MAX_BYTES:
            return text, ref
        kept = data[:TOOL_RESULT_MAX_BYTES].decode(errors="ignore")
        return f"{kept}\n[cut: {len(data)} bytes in all]", ref


def failure_text(result: ToolResult, hints: tuple[str, ...] = ()) -> str:
    """Return the error answer of W8.3: one envelope, whoever refused.

    What the tool itself says about its refusal (code, detail, hints) counts before what follows
    from the reason alone.
    """
    reason = result.code or "tool_failed"
    error: dict[str, Any] = {
        "error_code": _CODES.get(reason, "VALIDATION_FAILED"),
        "reason": reason,
        "detail": result.message,
        "hints": list(hints),
    }
    payload: dict[str, Any] = {"error": error}
    said = result.data()
    if isinstance(said, dict) and "error_code" in said:
        own = {key: value for key, value in said.items() if key not in ("detail", "hints")}
        where, detail = said.get("detail"), result.message
        if where:  # a place of a request says what is wrong there, in the same words
            detail = str(where) if detail in str(where) else f"{detail} ({where})"
        more = [str(one) for one in said.get("hints") or ()]
        payload["error"] = error | own | {"detail": detail, "hints": [*hints, *more]}
    elif said is not None:
        payload["value"] = said
    return json.dumps(payload, ensure_ascii=False, sort_keys=True)


def _said(error: BaseException) -> str:
    message = error.message if isinstance(error, BackshopError) else str(error)
    return message[:_MESSAGE_MAX_CHARS] or type(error).__name__


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode(errors="replace")
