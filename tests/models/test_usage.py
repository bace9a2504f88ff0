"""What providers count of a call, cached tokens too, and what the ledger keeps of it (M13)."""

from __future__ import annotations

from typing import Any

import pytest

from backshop.models.messages import Usage

from .calling import WIRES, call
from .provider import Reply, serving, sse


def counted(wire: str, usage: dict[str, Any]) -> Usage:
    """Return what a call used whose provider sends these counts."""
    if wire == "chat":
        choice = {"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}
        chunks = sse({"choices": [choice]}, {"choices": [], "usage": usage}, "[DONE]")
    elif wire == "messages":
        chunks = sse(
            {"type": "message_start", "message": {"usage": usage}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": "x"},
            },
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn"},
                "usage": {"output_tokens": usage["output_tokens"]},
            },
            {"type": "message_stop"},
            named=True,
        )
    else:
        chunks = sse(
            {"type": "response.output_text.delta", "output_index": 0, "delta": "x"},
            {"type": "response.completed", "response": {"usage": usage}},
            named=True,
        )
    with serving(Reply(chunks)) as provider:
        reported = call(WIRES[wire][0], provider.url).usage
    assert reported is not None
    return reported.usage


@pytest.mark.rule("M13.1")
@pytest.mark.parametrize(
    ("wire", "sent", "expected"),
    [
        pytest.param(
            "responses",
            {
                "input_tokens": 900,
                "input_tokens_details": {"cached_tokens": 512, "cache_write_tokens": 256},
                "output_tokens": 70,
                "output_tokens_details": {"reasoning_tokens": 40},
                "total_tokens": 970,
            },
            Usage(900, 512, 256, 70, 40),
            id="openai-responses",
        ),
        pytest.param(
            "chat",
            {
                "prompt_tokens": 900,
                "prompt_tokens_details": {"cached_tokens": 512, "cache_write_tokens": 128},
                "completion_tokens": 70,
                "completion_tokens_details": {"reasoning_tokens": 40},
                "total_tokens": 970,
            },
            Usage(900, 512, 128, 70, 40),
            id="openai-chat-mistral-vllm-llamacpp",
        ),
        pytest.param(
            "chat",
            {"prompt_tokens": 900, "completion_tokens": 70, "total_tokens": 1010},
            Usage(900, 0, 0, 110, 40),
            id="gemini-counts-thinking-only-in-the-total",
        ),
        pytest.param(
            "chat",
            {"prompt_tokens": 900, "prompt_cache_hit_tokens": 640, "completion_tokens": 70},
            Usage(900, 640, 0, 70, 0),
            id="deepseek",
        ),
        pytest.param(
            "chat",
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 10**9}},
            Usage(9, 9, 0, 0, 0),
            id="more-cached-than-asked",
        ),
        pytest.param(
            "messages",
            {
                "input_tokens": 20,
                "cache_read_input_tokens": 800,
                "cache_creation_input_tokens": 80,
                "output_tokens": 70,
            },
            Usage(900, 800, 80, 70, 0),
            id="anthropic",
        ),
    ],
)
def test_what_providers_count_has_one_shape(wire, sent, expected):
    assert counted(wire, sent) == expected
