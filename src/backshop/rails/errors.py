"""What the rails tools refuse, in their own closed set of codes and one envelope (R7.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from backshop.base.canon import canonical
from backshop.base.errors import BackshopError, Retry, RetryKind

MESSAGE_MAX_BYTES = 1024
DETAILS_MAX_BYTES = 4096

TOKEN_CODES = (
    "TOKEN_INVALID_FORMAT",
    "TOKEN_UNSUPPORTED_VERSION",
    "TOKEN_BAD_SIGNATURE",
    "TOKEN_SCOPE_MISMATCH",
    "TOKEN_UNKNOWN_NODE",
    "TOKEN_WORKFLOW_HASH_MISMATCH",
    "TOKEN_SESSION_LOCKED",
)
BUNDLE_CODES = (
    "BUNDLE_INVALID_FORMAT",
    "BUNDLE_UNSUPPORTED_VERSION",
    "BUNDLE_INTEGRITY_FAILED",
    "BUNDLE_MISSING_SNAPSHOT",
    "BUNDLE_MISSING_PINNED_WORKFLOW",
    "BUNDLE_MISSING_ARTIFACT",
    "BUNDLE_EVENT_ORDER_INVALID",
    "BUNDLE_HASH_CHAIN_INVALID",
)
SHARED_CODES = ("ACCESS_DENIED", "LIMIT_EXCEEDED")  # of homes that several people share (T6.4)
RAILS_CODES = (
    "VALIDATION_ERROR",
    "WORKFLOW_NOT_FOUND",
    "WORKFLOW_INVALID",
    *TOKEN_CODES,
    "SESSION_NOT_HEALTHY",
    "SESSION_LOCKED",
    "PRECONDITION_FAILED",
    "ALREADY_RECORDED",
    "STORE_UNAVAILABLE",
    "TIMEOUT",
    "INTERNAL_ERROR",
    *BUNDLE_CODES,
    *SHARED_CODES,
)
_LATER = ("TOKEN_SESSION_LOCKED", "SESSION_LOCKED", "STORE_UNAVAILABLE")
_NOW = ("TIMEOUT", "INTERNAL_ERROR")
LATER_MS = 1000


class RailsError(BackshopError):
    """A rails call that was refused or failed; `rails_code` is the code its caller sees."""

    code: ClassVar[str] = "VALIDATION_FAILED"

    def __init__(
        self,
        rails_code: str,
        message: str,
        suggestion: str,
        *,
        details: Mapping[str, object] | None = None,
        retry: Retry | None = None,
    ) -> None:
        if rails_code not in RAILS_CODES:
            raise ValueError(f"{rails_code} is not a rails code")
        super().__init__(
            cut(message, MESSAGE_MAX_BYTES),
            reason=rails_code.lower(),
            retry=retry or _retry(rails_code),
        )
        self.rails_code = rails_code
        self.suggestion = cut(suggestion, MESSAGE_MAX_BYTES)
        self.details = _bounded(details)

    def envelope(self) -> dict[str, object]:
        """Return the error as every door gives it out."""
        retry: dict[str, object] = {"kind": self.retry.kind.value}
        if self.retry.after_ms is not None:
            retry["afterMs"] = self.retry.after_ms
        error: dict[str, object] = {
            "code": self.rails_code,
            "message": self.message,
            "suggestion": self.suggestion,
            "retry": retry,
        }
        if self.details:
            error["details"] = self.details
        return {"error": error}


def invalid(message: str, suggestion: str, **details: object) -> RailsError:
    """Return the refusal of arguments that cannot have been meant."""
    return RailsError("VALIDATION_ERROR", message, suggestion, details=details)


def mismatch(message: str, **details: object) -> RailsError:
    """Return the refusal of tokens that do not belong together."""
    return RailsError(
        "TOKEN_SCOPE_MISMATCH",
        message,
        "Use tokens from one and the same answer; to recover, call continue_workflow with the"
        " stateToken alone.",
        details=details,
    )


def unknown_node() -> RailsError:
    """Return the refusal of a token or an id whose node is not here."""
    return RailsError(
        "TOKEN_UNKNOWN_NODE",
        "the step that is named is not in this store; its session may have been deleted",
        "Call resume_session to find the work, or start_workflow to begin anew.",
    )


def other_request(resume_ref: str | None) -> RailsError:
    """Return the refusal of an idempotencyKey that has begun something else (R7.6)."""
    there = f"; it began {resume_ref}" if resume_ref else ""
    return RailsError(
        "ALREADY_RECORDED",
        f"the idempotencyKey was used for another request{there}; nothing was begun now",
        "Send a new idempotencyKey to begin this one, or continue_workflow with that resumeRef as"
        " stateToken to go on there."
        if resume_ref
        else "Send a new idempotencyKey to begin this one.",
        details={"resumeRef": resume_ref} if resume_ref else None,
    )


def not_healthy(reason: str, **details: object) -> RailsError:
    """Return the refusal to act on a damaged session."""
    return RailsError(
        "SESSION_NOT_HEALTHY",
        f"the session's record is damaged ({reason}); it can be read but not continued",
        "Run `backshop doctor`, or start a new session; other sessions are not affected.",
        details={"reason": reason, **details},
    )


def unknown_version() -> RailsError:
    """Return the refusal to act on what a later program wrote (R4.20)."""
    return RailsError(
        "SESSION_NOT_HEALTHY",
        "the session was written by a later program; this one does not know its form",
        "Use the program that wrote it, or start a new session; other sessions are not affected.",
        details={"reason": "unknown_schema_version", "status": "unknown_version"},
    )


def is_of_later_program(error: RailsError) -> bool:
    """Say whether a session was refused because of its version, not for damage."""
    return error.details.get("status") == "unknown_version"


def cut(text: str, max_bytes: int) -> str:
    """Return `text` shortened to `max_bytes` of UTF-8, ending in the marker if it was cut."""
    data = text.encode(errors="replace")
    if len(data) <= max_bytes:
        return data.decode()
    kept = data[: max(0, max_bytes - len(MARKER))]
    return kept.decode(errors="ignore") + MARKER


MARKER = "\n\n[TRUNCATED]"


def _retry(code: str) -> Retry:
    if code in _LATER:
        return Retry(RetryKind.LATER, LATER_MS)
    return Retry(RetryKind.NOW if code in _NOW else RetryKind.NO)


def _bounded(details: Mapping[str, object] | None) -> dict[str, object]:
    kept: dict[str, object] = {}
    for key, value in (details or {}).items():
        if len(canonical({**kept, key: value})) <= DETAILS_MAX_BYTES:
            kept[key] = value
    return kept


def nothing_pending() -> RailsError:
    """Return the refusal of what needs a step that waits."""
    return RailsError(
        "PRECONDITION_FAILED", "no step is pending here", "Choose a node that waits for a step."
    )
