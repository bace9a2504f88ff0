"""Error → envelope, HTTP status, exit code; one way for every door (S5.3, M11)."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any

from backshop.base.ambient import Mint, SystemClock
from backshop.base.codec import encode
from backshop.base.errors import CODES, BackshopError, InternalError, LimitExceeded

TOO_MANY_REQUESTS = 429
_LOG = logging.getLogger("backshop")


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as every door reports it."""

    envelope: dict[str, Any]
    http: int
    message: str
    after_s: int | None = None
    """When to come again, where waiting helps and a server says so (`Retry-After`)."""


def fault_of(error: BaseException, phase: str = "workbench") -> Fault:
    """Return the fault for any exception; a defect goes to the log under a reference (S5.3)."""
    if not isinstance(error, BackshopError):
        reference = Mint(SystemClock()).new("err")
        _LOG.error("internal error %s", reference, exc_info=error)
        error = InternalError(
            "something went wrong inside Backshop; the log has the details",
            detail_ref=reference,
        )
    own = getattr(error, "envelope", None)
    if callable(own):  # rails answers in its own closed set (R7.3)
        return Fault(own(), CODES[error.code].http, error.message)
    info = error.info(phase)
    http, after_ms = CODES[info.error_code].http, info.retry.after_ms
    if isinstance(error, LimitExceeded) and after_ms is not None:
        http = TOO_MANY_REQUESTS  # not too large: too much at once (T6.5)
    is_told = after_ms is not None and http in (TOO_MANY_REQUESTS, 503)
    after_s = math.ceil((after_ms or 0) / 1000) if is_told else None
    return Fault(encode(info), http, info.message, after_s)
