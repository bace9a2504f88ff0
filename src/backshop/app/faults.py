"""Error → envelope, HTTP status, exit code; one way for every door (S5.3, M11)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from backshop.base.ambient import Mint, SystemClock
from backshop.base.codec import encode
from backshop.base.errors import CODES, BackshopError, InternalError

_LOG = logging.getLogger("backshop")


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as every door reports it."""

    envelope: dict[str, Any]
    http: int
    message: str


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
    return Fault(encode(info), CODES[info.error_code].http, info.message)
