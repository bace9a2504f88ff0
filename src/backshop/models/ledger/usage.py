"""Counting tokens, pricing them, and stopping at the person's budget (M13)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from backshop.base.limits import BUDGET_MARGIN_TOKENS, CHARS_PER_TOKEN, IMAGE_TOKENS
from backshop.base.media.image import Image
from backshop.base.usage import Used

from ..catalog.catalog import Price
from ..errors import BudgetReached
from ..messages import Message, ModelRequest, Usage

_PIXELS_PER_TOKEN = 750  # Anthropic's own rule of thumb
_TOKENS_PER_TILE = 1.2  # OpenAI's models since 5, for 32 by 32 pixels
_GEMINI_TOKENS = 1_120  # Gemini 3, whatever the size, unless a request says otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Caps the person set; None means no cap."""

    tokens: int | None = None
    usd: float | None = None


def text_tokens(text: str) -> int:
    """Return the estimate for a text: a token for every four characters, rounded up."""
    return -(-len(text) // CHARS_PER_TOKEN)


def image_tokens(image: Image, provider_id: str) -> int:
    """Return the estimate for a picture, as its provider counts them (M16.4)."""
    size = image.size
    if size is None:
        return IMAGE_TOKENS
    width, height = size
    match provider_id:
        case "anthropic":
            return -(-width * height // _PIXELS_PER_TOKEN)
        case "openai" | "openai-codex":
            return math.ceil(_tiles(size, 32) * _TOKENS_PER_TILE)
        case "google":
            return _GEMINI_TOKENS
        case _:
            return _tiles(size, 28)


def _tiles(size: tuple[int, int], side: int) -> int:
    """Return how many squares of a side cover a picture."""
    width, height = size
    return math.ceil(width / side) * math.ceil(height / side)


def request_tokens(request: ModelRequest) -> int:
    """Return the estimated prompt tokens of a request, tools and pictures included."""
    provider_id = request.provider_id
    messages = sum(_message_tokens(one, provider_id) for one in request.messages)
    tools = sum(
        text_tokens(f"{tool.name} {tool.description} {json.dumps(dict(tool.parameters))}")
        for tool in request.tools
    )
    return messages + tools


def text_only_tokens(request: ModelRequest) -> int:
    """Return the estimate without pictures, which servers of one's own count each in its way."""
    plain = tuple(replace(one, images=()) for one in request.messages)
    return request_tokens(replace(request, messages=plain))


def estimated(request: ModelRequest, text: str, arguments: Iterable[str] = ()) -> Usage:
    """Return the usage of a call whose provider reported none."""
    output = text_tokens(text) + sum(map(text_tokens, arguments))
    return Usage(input_tokens=request_tokens(request), output_tokens=output, estimated=True)


def usd(usage: Usage, price: Price | None) -> float | None:
    """Return the price of a call, or None when the model has none."""
    if price is None:
        return None
    cached, written = usage.cached_input_tokens, usage.cache_write_tokens
    fresh = max(0, usage.input_tokens - cached - written)
    cached_price = price.input if price.cached_input is None else price.cached_input
    written_price = price.input if price.cache_write is None else price.cache_write
    total = fresh * price.input + cached * cached_price + written * written_price
    return (total + usage.output_tokens * price.output) / 1_000_000


def check_budget(budget: Budget, spent: Used, request: ModelRequest, price: Price | None) -> None:
    """Refuse a call that would go over the budget (M13.3); it is not sent.

    Raises:
        BudgetReached: `budget_tokens` or `budget_usd`.
    """
    prompt = request_tokens(request)
    expected = spent.usage.total_tokens + prompt + BUDGET_MARGIN_TOKENS
    if budget.tokens is not None and expected > budget.tokens:
        raise BudgetReached(
            f"the next call would bring {expected} tokens, the budget is {budget.tokens}",
            reason="budget_tokens",
            model_id=request.model_id,
            provider_id=request.provider_id,
        )
    next_usd = usd(Usage(input_tokens=prompt, output_tokens=BUDGET_MARGIN_TOKENS), price)
    if budget.usd is None or next_usd is None:
        return
    total = (spent.usd_estimate or 0.0) + next_usd
    if total > budget.usd:
        raise BudgetReached(
            f"the next call would bring {total:.4f} USD, the budget is {budget.usd:.4f}",
            reason="budget_usd",
            model_id=request.model_id,
            provider_id=request.provider_id,
        )


def _message_tokens(message: Message, provider_id: str) -> int:
    calls = "".join(
        f"{call.name}{json.dumps(dict(call.arguments), ensure_ascii=False)}"
        for call in message.tool_calls
    )
    pictures = sum(image_tokens(one, provider_id) for one in message.images)
    return text_tokens(message.text + calls) + pictures
