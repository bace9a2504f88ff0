"""The one error family of the product: closed codes, and the data a client gets (M11)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

DETAIL_MAX_CHARS = 1024  # M11.1


class RetryKind(StrEnum):
    """Whether the same call can succeed later."""

    NO = "not_retryable"
    NOW = "retryable_immediate"
    LATER = "retryable_after_ms"


@dataclass(frozen=True, slots=True)
class CodeSpec:
    """What a code means to a client unless the raiser says otherwise."""

    retry: RetryKind
    actions: tuple[str, ...]
    http: int


def _spec(retry: RetryKind, http: int, *actions: str) -> CodeSpec:
    return CodeSpec(retry, actions, http)


_NO, _NOW, _LATER = RetryKind.NO, RetryKind.NOW, RetryKind.LATER

CODES: dict[str, CodeSpec] = {  # M11.5; a new code needs a change of that table
    "EGRESS_CONSENT_REQUIRED": _spec(_NOW, 403, "grant_consent", "switch_model"),
    "EGRESS_BLOCKED_BY_POLICY": _spec(_NO, 403, "open_settings"),
    "PROVIDER_NOT_CONFIGURED": _spec(_NO, 409, "open_settings", "switch_model"),
    "PROVIDER_AUTH_FAILED": _spec(_NO, 502, "open_settings", "switch_model"),
    "PROVIDER_RATE_LIMITED": _spec(_LATER, 503, "retry", "switch_model"),
    "PROVIDER_UNAVAILABLE": _spec(_LATER, 503, "retry", "switch_model"),
    "PROVIDER_REQUEST_REJECTED": _spec(_NO, 502, "switch_model", "view_report"),
    "PROVIDER_BAD_RESPONSE": _spec(_NOW, 502, "retry", "switch_model"),
    "NETWORK_UNAVAILABLE": _spec(_LATER, 503, "retry"),
    "SANDBOX_VIOLATION": _spec(_NO, 403),
    "VALIDATION_FAILED": _spec(_NO, 422),
    "NOT_FOUND": _spec(_NO, 404),
    "LIMIT_EXCEEDED": _spec(_NO, 413, "reduce_scope"),
    "CONTEXT_EXHAUSTED": _spec(_NO, 413, "reduce_scope", "switch_model"),
    "DISK_FULL": _spec(_NOW, 507, "free_disk_space", "retry"),
    "FILE_READ_FAILED": _spec(_NOW, 500, "retry"),
    "FILE_WRITE_FAILED": _spec(_NOW, 500, "retry"),
    "STORAGE_CORRUPT": _spec(_NO, 500, "restore_checkpoint", "view_report"),
    "CHECKPOINT_RESTORE_FAILED": _spec(_NOW, 500, "retry", "restore_checkpoint"),
    "BUDGET_CAP_REACHED": _spec(_NO, 409, "open_settings", "view_report"),
    "CONFLICT_PUBLISHED_CHANGED": _spec(
        _NO, 409, "discard_draft", "restore_checkpoint", "repair_published"
    ),
    "DRAFT_EXISTS": _spec(_NO, 409, "review_draft", "publish_draft", "discard_draft"),
    "CONFIRMATION_REQUIRED": _spec(_NO, 409, "confirm_deletions", "confirm_overwrite"),
    "REVISION_PRUNED": _spec(_NO, 410, "rewind_chat_only", "discard_draft_and_rewind"),
    "BENCH_BUSY": _spec(_LATER, 409, "cancel_run", "retry"),
    "ACCESS_DENIED": _spec(_NO, 403),
    "USER_CANCELED": _spec(_NO, 499, "resume"),
    "TOOL_WORKER_UNAVAILABLE": _spec(_LATER, 503, "retry"),
    "AGENT_LOOP_DETECTED": _spec(_NO, 500, "retry", "switch_model"),
    "STORE_UNAVAILABLE": _spec(_LATER, 503, "retry"),
    "INTERNAL_ERROR": _spec(_NO, 500, "view_report"),
}

DEFAULT_AFTER_MS = 1000

TOO_MANY = "too_many_connections"
PASSING = (None, TOO_MANY)
"""Reasons of `STORE_UNAVAILABLE` that pass by themselves; with another one somebody has to act."""


@dataclass(frozen=True, slots=True)
class Retry:
    """When to call again; `after_ms` only with `retryable_after_ms`."""

    kind: RetryKind
    after_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorInfo:
    """An error as data, the same at every door (M11.1)."""

    error_code: str
    phase: str
    retryable: bool
    retry: Retry
    message: str
    actions: tuple[str, ...] = ()
    subphase: str | None = None
    reason: str | None = None
    choices: tuple[str, ...] | None = None
    hints: tuple[str, ...] | None = None
    detail: str | None = None
    detail_ref: str | None = None
    turn_id: str | None = None
    provider_id: str | None = None
    model_id: str | None = None
    workbench_id: str | None = None
    run_id: str | None = None
    job_id: str | None = None
    scope_hash: str | None = None


class BackshopError(Exception):
    """Something the product refuses or could not do; a room's errors derive from this.

    Subclasses set `code` (from the closed set) and, where they differ from the code's usual
    ones, `actions`. `reason` is a word of the raising room's closed set.
    """

    code: ClassVar[str] = "INTERNAL_ERROR"
    actions: ClassVar[tuple[str, ...] | None] = None

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        hints: tuple[str, ...] = (),
        choices: tuple[str, ...] = (),
        retry: Retry | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.detail = detail[:DETAIL_MAX_CHARS] if detail else None
        self.detail_ref = detail_ref
        self.hints = hints
        self.choices = choices
        self.retry = retry or self._usual_retry()

    def info(self, phase: str, *, subphase: str | None = None) -> ErrorInfo:
        """Return this error as the data a client gets; the door knows the phase."""
        return ErrorInfo(
            error_code=self.code,
            phase=phase,
            subphase=subphase,
            retryable=self.retry.kind is not RetryKind.NO,
            retry=self.retry,
            message=self.message,
            actions=CODES[self.code].actions if self.actions is None else self.actions,
            reason=self.reason,
            choices=self.choices or None,
            hints=self.hints or None,
            detail=self.detail,
            detail_ref=self.detail_ref,
        )

    def _usual_retry(self) -> Retry:
        spec = CODES.get(self.code)
        kind = spec.retry if spec else RetryKind.NO
        return Retry(kind, DEFAULT_AFTER_MS if kind is RetryKind.LATER else None)


class ValidationFailed(BackshopError):
    """What was given cannot have been meant; nothing was changed."""

    code = "VALIDATION_FAILED"


class NotFound(BackshopError):
    """There is no such thing, or not any more."""

    code = "NOT_FOUND"


class RevisionPruned(BackshopError):
    """What the Draft was at that point is not kept any more."""

    code = "REVISION_PRUNED"


class LimitExceeded(BackshopError):
    """More than the product takes at once."""

    code = "LIMIT_EXCEEDED"


class AccessDenied(BackshopError):
    """This caller may not do this."""

    code = "ACCESS_DENIED"


class DiskFull(BackshopError):
    """The disk has no room for what was to be written; nothing was changed."""

    code = "DISK_FULL"


class InternalError(BackshopError):
    """A defect of the product; the log has the details under the reference."""

    code = "INTERNAL_ERROR"
