"""What providers count of a call, cached tokens too, and what the ledger keeps of it (M13)."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from backshop.base.media.image import Image
from backshop.models.ledger.usage import image_tokens, request_tokens, text_only_tokens
from backshop.models.messages import Message, ModelRequest, Role, Usage

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


def png(width: int, height: int) -> Image:
    """Return what a PNG of a size begins with; nobody looks further."""
    head = struct.pack(">I4sII", 13, b"IHDR", width, height)
    return Image("image/png", b"\x89PNG\r\n\x1a\n" + head)


@pytest.mark.rule("M16.4", "M13.1")
@pytest.mark.parametrize(
    ("provider", "tokens"),
    [
        ("anthropic", 1_080),  # 1,200 by 675 pixels, 750 to a token
        ("openai", 1_004),  # 38 by 22 tiles of 32 pixels, 1.2 each
        ("openai-codex", 1_004),
        ("google", 1_120),
        ("mistral", 1_075),  # 43 by 25 tiles of 28 pixels
        ("local-x", 1_075),
    ],
)
def test_a_picture_is_counted_as_its_provider_counts_it(provider, tokens):
    assert image_tokens(png(1_200, 675), provider) == tokens
    assert image_tokens(Image("image/jpeg", b"?"), provider) == 1_500

    shown = Message(role=Role.TOOL, text="four", tool_call_id="c", images=(png(1_200, 675),))
    asked = ModelRequest(model_id=f"{provider}:m", messages=(shown,))
    assert request_tokens(asked) == tokens + 1
    assert text_only_tokens(asked) == 1  # what a server is not suspected over (M6.5)
