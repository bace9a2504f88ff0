"""A provider of your own: here a model that lives in this process and counts words.

All a provider adds is `complete`: one request in, stream events out. Tools, retries, limits,
consent and records are done by the product. A wire that talks to a network uses `channel.client()`.
"""

from __future__ import annotations

from collections.abc import Iterator

from backshop.models import (
    AdapterKind,
    Auth,
    Done,
    FinishReason,
    ModelRecord,
    ModelRequest,
    Plugin,
    ProviderRecord,
    Role,
    StreamEvent,
    TextDelta,
)


class Counter:
    """Answers with the number of words it was asked."""

    def complete(
        self, request: ModelRequest, model: ModelRecord, channel: object
    ) -> Iterator[StreamEvent]:
        """Answer in two pieces, as a stream does."""
        asked = next(one for one in reversed(request.messages) if one.role is Role.USER)
        yield TextDelta(f"{model.display_name} counts ")
        yield TextDelta(f"{len(asked.text.split())} words.")
        yield Done(FinishReason.STOP)

    def models(self, channel: object) -> tuple[str, ...]:
        """Return what the server offers."""
        return ("counter",)


plugin = Plugin(
    provider=ProviderRecord(
        provider_id="house",
        display_name="House",
        adapter=AdapterKind.PLUGIN,
        auth=Auth.NONE,
        base_url="",
        hosts=(),
    ),
    models=(
        ModelRecord(
            model_id="house:counter",
            provider_id="house",
            wire_name="counter",
            display_name="The counter",
            context_tokens_estimate=32_000,
            max_output_tokens=4_000,
            requires_key=False,
        ),
    ),
    wire=Counter(),
)
