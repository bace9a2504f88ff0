"""Spans and durations for whoever watches, through OpenTelemetry's API.

Nothing happens unless the process has an OpenTelemetry SDK, as under `opentelemetry-instrument`, or
its variables (`OTEL_…`) are set. Names, codes, ids and counts go out; never content, paths, keys
or messages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from .ambient import SystemClock
from .errors import BackshopError

Attribute = str | int | float | bool
_SCOPE = "backshop"
_SDK = "opentelemetry.sdk"
_CLOCK = SystemClock()


class Watched:
    """A piece of work being watched; more may be said about it before it ends."""

    def __init__(self, attributes: dict[str, Attribute]) -> None:
        self.attributes = attributes

    def note(self, **attributes: Attribute | None) -> None:
        """Add what is known now; None is left out."""
        self.attributes.update(_named(attributes))


@contextmanager
def watch(name: str, **attributes: Attribute | None) -> Iterator[Watched]:
    """Make the work inside a span `backshop.<name>` and measure how long it takes.

    An underscore in an attribute's name stands for a dot. A failure is told by its code.
    """
    watched = Watched(_named(attributes))
    if not _is_watched():
        yield watched
        return
    began = _CLOCK.monotonic()
    with _tracer().start_as_current_span(
        f"{_SCOPE}.{name}", record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield watched
        except BaseException as error:
            code = error.code if isinstance(error, BackshopError) else type(error).__name__
            watched.note(error_type=code)
            raise
        finally:
            span.set_attributes(watched.attributes)
            if failed := watched.attributes.get("error.type"):
                span.set_status(_failed(), str(failed))
            known = {key: watched.attributes[key] for key in sorted(watched.attributes)}
            kept = {key: value for key, value in known.items() if isinstance(value, str)}
            _duration(name).record(_CLOCK.monotonic() - began, kept)


def count(name: str, amount: int, **attributes: Attribute | None) -> None:
    """Add to the counter `backshop.<name>`."""
    if amount and _is_watched():
        _counter(name).add(amount, _named(attributes))


def _named(attributes: dict[str, Attribute | None]) -> dict[str, Attribute]:
    return {key.replace("_", "."): value for key, value in attributes.items() if value is not None}


def _is_watched() -> bool:
    return _SDK in sys.modules or _has_variables()


@cache
def _has_variables() -> bool:
    return any(name.startswith("OTEL_") for name in os.environ)


@cache
def _tracer() -> Any:
    from opentelemetry import trace  # loaded only where somebody watches

    return trace.get_tracer(_SCOPE)


@cache
def _failed() -> Any:
    from opentelemetry.trace import StatusCode

    return StatusCode.ERROR


@cache
def _duration(name: str) -> Any:
    from opentelemetry import metrics

    meter = metrics.get_meter(_SCOPE)
    return meter.create_histogram(f"{_SCOPE}.{name}.duration", unit="s")


@cache
def _counter(name: str) -> Any:
    from opentelemetry import metrics

    return metrics.get_meter(_SCOPE).create_counter(f"{_SCOPE}.{name}")
