"""One call of a tool's handler, whether it answers at once or is async."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import copy_context

from ..errors import PromptValidationError
from .tool import Tool, ToolContext, ToolResult


class Invocation:
    """A call under way; one that nobody waits for any more can be ended where it awaits.

    An async handler runs in an event loop of its own, on the calling thread, so it may not use
    what belongs to another loop (a connection opened there, for example).
    """

    def __init__(self, tool: Tool, params: object, *, context: ToolContext) -> None:
        self._tool = tool
        self._params = params
        self._context = context
        self._cancel: Callable[[], object] | None = None
        self._lock = threading.Lock()
        self._given_up = False

    def run(self) -> ToolResult:
        """Return the handler's answer.

        Raises:
            PromptValidationError: `BAD_TOOL_RESULT`, it gave something else.
        """
        answer: object = self._tool.handler(self._params, context=self._context)
        if isinstance(answer, Awaitable):
            answer = _in_own_loop(self._awaited(answer))
        if not isinstance(answer, ToolResult):
            raise PromptValidationError(
                f"the handler of {self._tool.name} returned {type(answer).__name__},"
                " not a ToolResult",
                code="BAD_TOOL_RESULT",
            )
        return answer

    def give_up(self) -> None:
        """End an async handler at its next await; one that is not async goes on unheard."""
        with self._lock:
            self._given_up = True
            if self._cancel is not None:
                self._cancel()

    async def _awaited(self, answer: Awaitable[object]) -> object:
        task = asyncio.ensure_future(answer)
        loop = asyncio.get_running_loop()
        with self._lock:
            self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
            if self._given_up:
                task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            if self._given_up:
                return ToolResult.failure("canceled", "the call was given up")
            return ToolResult.failure("tool_failed", "the handler cancelled itself")
        finally:
            with self._lock:  # the loop ends with this
                self._cancel = None


def invoke(tool: Tool, params: object, *, context: ToolContext) -> ToolResult:
    """Call a tool's handler and return its answer, awaited where it is async."""
    return Invocation(tool, params, context=context).run()


def _in_own_loop(work: Coroutine[None, None, object]) -> object:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    found: list[object] = []  # the caller sits in a loop itself: the handler gets a thread
    failed: list[BaseException] = []

    def apart() -> None:
        try:
            found.append(asyncio.run(work))
        except BaseException as error:  # handed to the caller below, whatever it is
            failed.append(error)

    thread = threading.Thread(target=copy_context().run, args=(apart,), name="backshop-async-tool")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]
