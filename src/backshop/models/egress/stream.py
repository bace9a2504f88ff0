"""One call from request to last event: exactly one `Done` or `Failed` ends it (M8.3)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from backshop.base.errors import BackshopError, ErrorInfo

from .. import messages
from ..catalog.catalog import ModelRecord
from ..errors import BadResponse, ModelError, ProviderUnavailable
from .gate import Channel

_LOG = logging.getLogger(__name__)


class Wire(Protocol):
    """How one kind of API is spoken. Raises or ends early; the guard makes sense of it."""

    def complete(
        self, request: messages.ModelRequest, model: ModelRecord, channel: Channel
    ) -> Iterator[messages.StreamEvent]:
        """Send the request and yield what comes back."""
        ...

    def models(self, channel: Channel) -> tuple[str, ...]:
        """Return the names of the provider's models: one authenticated request (M3.3)."""
        ...


def complete(
    wire: Wire, request: messages.ModelRequest, model: ModelRecord, channel: Channel
) -> Iterator[messages.StreamEvent]:
    """Yield the events of one attempt, ending in exactly one `Done` or `Failed`."""
    has_content = False
    events = wire.complete(request, model, channel)
    try:
        for event in _translated(events):
            has_content = has_content or isinstance(
                event, messages.TextDelta | messages.ToolCallDone
            )
            if isinstance(event, messages.Done) and not has_content and _needs_content(event):
                raise BadResponse("the model answered nothing", reason="empty_answer")
            yield event
            if isinstance(event, messages.Done | messages.Failed):
                return
        raise ProviderUnavailable("the answer broke off", reason="stream_interrupted")
    except BackshopError as error:
        yield messages.Failed(_told(error, request))
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()


def listed(wire: Wire, channel: Channel) -> tuple[str, ...]:
    """Return the names of a provider's models.

    Raises:
        ModelError: whatever went wrong.
    """
    with ours():
        return wire.models(channel)


def _translated(events: Iterator[messages.StreamEvent]) -> Iterator[messages.StreamEvent]:
    with ours():
        yield from events


@contextmanager
def ours() -> Iterator[None]:
    """Turn what nobody expected of an SDK or a plugin into an error of the closed set."""
    try:
        yield
    except BackshopError:
        raise
    except Exception as error:
        from .transport import network_fault  # the HTTP library is loaded where one failed

        _LOG.exception("a wire failed unexpectedly")
        raise network_fault(error) from error


def _needs_content(done: messages.Done) -> bool:
    return done.finish_reason in (messages.FinishReason.STOP, messages.FinishReason.TOOL_CALLS)


def _told(error: BackshopError, request: messages.ModelRequest) -> ErrorInfo:
    info = error.info("workshop", subphase="stream")
    if isinstance(error, ModelError):
        return replace(
            info,
            provider_id=info.provider_id or request.provider_id,
            model_id=info.model_id or request.model_id,
            workbench_id=request.workbench_id,
            run_id=request.run_id,
        )
    return info
