"""What can be wrong with a prompt, a session or an override, with the closed codes of P1.26."""

from __future__ import annotations

from dataclasses import replace

from backshop.base.errors import (
    CODES,
    DEFAULT_AFTER_MS,
    DETAIL_MAX_CHARS,
    BackshopError,
    ErrorInfo,
    Retry,
    RetryKind,
)

PRODUCT_CODES: dict[str, str] = {  # P1.26; a code not listed here is VALIDATION_FAILED at a door
    "OUTPUT_INVALID": "PROVIDER_BAD_RESPONSE",
    "EMPTY_DIGEST": "PROVIDER_BAD_RESPONSE",
    "NO_MODEL_CONFIGURED": "PROVIDER_NOT_CONFIGURED",
    "SESSION_CONFLICT": "BENCH_BUSY",
    "LOCKED": "BENCH_BUSY",
    "OPTIMIZE_IN_PROGRESS": "BENCH_BUSY",
    "MANIFEST_INCOMPLETE": "FILE_READ_FAILED",
    "OVERRIDE_READ_FAILED": "FILE_READ_FAILED",
    "OVERRIDE_WRITE_FAILED": "FILE_WRITE_FAILED",
    "DISK_FULL": "DISK_FULL",
    "OVER_BUDGET": "CONTEXT_EXHAUSTED",
}
DEFAULT_PRODUCT_CODE = "VALIDATION_FAILED"


class PromptError(BackshopError):
    """Something about a prompt, a session or an override is not as it must be.

    `code` is a word of `docs/spec/prompts.md`; a client sees the product's code of it (M11)
    with `code: <CODE>` as detail. `path` names a section, written `a/b`.
    """

    actions: tuple[str, ...]  # type: ignore[misc]  # those of the product's code
    code: str  # type: ignore[misc]  # a word per error, not per class: the set is long and closed

    def __init__(
        self,
        message: str,
        *,
        code: str,
        path: str | None = None,
        placeholder: str | None = None,
        params_type: str | None = None,
        hints: tuple[str, ...] = (),
        retry: Retry | None = None,
    ) -> None:
        self.code = code
        super().__init__(message, reason=code.lower(), hints=hints, retry=retry)
        self.actions = CODES[self.product_code].actions
        self.path = path
        self.placeholder = placeholder
        self.params_type = params_type

    @property
    def product_code(self) -> str:
        """The code of M11.5 under which a door reports this."""
        return PRODUCT_CODES.get(self.code, DEFAULT_PRODUCT_CODE)

    def info(self, phase: str, *, subphase: str | None = None) -> ErrorInfo:
        """Return this error as the data a client gets (P1.26)."""
        spec = CODES[self.product_code]
        kind = self.retry.kind if self.retry.kind is not RetryKind.NO else spec.retry
        after_ms = self.retry.after_ms or DEFAULT_AFTER_MS
        return replace(
            super().info(phase, subphase=subphase),
            error_code=self.product_code,
            retryable=kind is not RetryKind.NO,
            retry=Retry(kind, after_ms if kind is RetryKind.LATER else None),
            detail=f"code: {self.code}",
        )


class PromptValidationError(PromptError):
    """A prompt, section or tool cannot be built like this."""


class PromptRenderError(PromptError):
    """A prompt cannot be rendered with these values."""


class PromptBudgetError(PromptRenderError):
    """The prompt is larger than its token budget and nothing more can be shortened."""

    def __init__(self, message: str, *, needed: int, budget: int, parts: dict[str, int]) -> None:
        super().__init__(message, code="OVER_BUDGET")
        self.needed = needed
        self.budget = budget
        self.parts = parts

    def info(self, phase: str, *, subphase: str | None = None) -> ErrorInfo:
        """Return this error as data, with the tokens each part takes (M14.5)."""
        sums: dict[str, int] = {}
        for path, tokens in self.parts.items():
            root = path.partition("/")[0]
            sums[root] = sums.get(root, 0) + tokens
        said = "; ".join(f"{root}: {tokens}" for root, tokens in sums.items())
        told = super().info(phase, subphase=subphase)
        return replace(told, detail=f"{told.detail}; {said}"[:DETAIL_MAX_CHARS])


class OutputParseError(PromptError):
    """The model's answer is not the output the prompt declares; `raw` is the answer."""

    def __init__(self, message: str, *, code: str, raw: str, path: str | None = None) -> None:
        super().__init__(message, code=code, path=path)
        self.raw = raw


class OverridesError(PromptError):
    """A stored override cannot be read or written."""


class SessionError(PromptError):
    """A prompt session refuses this; nothing was changed."""


class ReducerError(SessionError):
    """A reducer failed or returned something else, so the event did not happen."""


class SnapshotError(SessionError):
    """A snapshot holds what this program does not know; nothing was restored."""


class SectionNotFound(PromptError, KeyError):
    """No section of the prompt matches; the message lists those there are."""

    def __str__(self) -> str:
        return self.message
