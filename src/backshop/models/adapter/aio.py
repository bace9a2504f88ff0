"""`evaluate` and `optimize` for async callers, in a worker thread (P5.2)."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from backshop.prompts import MarkdownSection, Prompt, PromptOverridesStore, Session

from ..loop.response import OptimizationResult, OptimizationScope, PromptResponse, ProviderAdapter

if TYPE_CHECKING:
    from collections.abc import Callable

OutputT = TypeVar("OutputT")
ResultT = TypeVar("ResultT")


async def evaluate(
    adapter: ProviderAdapter,
    prompt: Prompt[OutputT],
    *params: object,
    overrides_store: PromptOverridesStore | None = None,
    overrides_tag: str | None = None,
    parse_output: bool = True,
    session: Session,
) -> PromptResponse[OutputT]:
    """Evaluate a prompt without blocking the loop."""
    work = partial(
        adapter.evaluate,
        prompt,
        *params,
        overrides_store=overrides_store,
        overrides_tag=overrides_tag,
        parse_output=parse_output,
        session=session,
    )
    return await _in_thread(work, session)


async def optimize(
    adapter: ProviderAdapter,
    prompt: Prompt[OutputT],
    *params: object,
    store_scope: OptimizationScope = OptimizationScope.SESSION,
    overrides_store: PromptOverridesStore | None = None,
    overrides_tag: str | None = None,
    focus_areas: MarkdownSection | None = None,
    parse_output: bool = True,
    session: Session,
) -> OptimizationResult[OutputT]:
    """Write a digest without blocking the loop."""
    work = partial(
        adapter.optimize,
        prompt,
        *params,
        store_scope=store_scope,
        overrides_store=overrides_store,
        overrides_tag=overrides_tag,
        focus_areas=focus_areas,
        parse_output=parse_output,
        session=session,
    )
    return await _in_thread(work, session)


async def _in_thread(work: Callable[[], ResultT], session: Session) -> ResultT:
    running: asyncio.Future[Any] = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        result: ResultT = await asyncio.shield(running)
    except asyncio.CancelledError:
        session.cancel.request()
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # the task's cancellation is what the caller sees
        raise
    return result
