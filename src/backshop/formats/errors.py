"""Why a file could not be read or changed: one error family, reasons from the closed set of F3.

Raise with `raise fail("unknown_sheet", "there is no sheet 'Q5'", hints=names)`; the reason decides
the class, and with it the code of M11. Compare `error.reason` in tests, never the prose.
`detail` and `hints` hold names the caller may see (sheets, headings, fields), no file content.
"""

from __future__ import annotations

from collections.abc import Iterable

from backshop.base.errors import BackshopError, Retry, RetryKind


class FormatError(BackshopError):
    """A file, or a request about a file, that formats cannot serve."""

    reason: str


class BadRequest(FormatError):
    """The file is fine, what was asked of it is not."""

    code = "VALIDATION_FAILED"


class SourceMissing(FormatError):
    """There is no such file."""

    code = "NOT_FOUND"


class TooLarge(FormatError):
    """The file or the request is beyond the limits of F2.5."""

    code = "LIMIT_EXCEEDED"


class Unsafe(FormatError):
    """The file tried to leave its box, or a library did."""

    code = "SANDBOX_VIOLATION"


class Unreadable(FormatError):
    """The file's content cannot be read, now or at all."""

    code = "FILE_READ_FAILED"


class Unwritable(FormatError):
    """The result could not be written, or was not what was asked; the base is untouched."""

    code = "FILE_WRITE_FAILED"


class WorkerLost(FormatError):
    """The process that worked on the file died."""

    code = "TOOL_WORKER_UNAVAILABLE"


class NoSpace(FormatError):
    """The disk has no room for the output; nothing was changed."""

    code = "DISK_FULL"


_REASONS: dict[type[FormatError], str] = {
    SourceMissing: "not_found",
    BadRequest: """
        unsupported_format read_only_format macro_enabled_read_only signed_document sheet_protected
        content_mismatch bad_selector bad_range bad_index unknown_sheet unknown_section
        unknown_slide unknown_column unknown_op missing_field unknown_field bad_type bad_value
        op_conflict bad_sheet_name name_conflict last_sheet unsafe_formula unsafe_link
        uncached_formula no_match ambiguous_match unknown_asset asset_target_missing
        sql_not_select sql_multiple_statements sql_forbidden_table sql_forbidden_function
        sql_error""",
    Unreadable: """
        encrypted_file corrupt_file archive_bomb xml_dtd_forbidden timeout memory_limit
        bad_encoding sql_timeout""",
    Unwritable: "verify_failed",
    Unsafe: "archive_path_escape guard_refused",
    TooLarge: "too_large",
    WorkerLost: "worker_crashed",
    NoSpace: "disk_full",
}
REASONS: dict[str, type[FormatError]] = {
    reason: cls for cls, words in _REASONS.items() for reason in words.split()
}
_RETRYABLE = frozenset({"timeout", "sql_timeout", "worker_crashed", "disk_full"})
_WRITE_SIDE = frozenset({"timeout", "memory_limit"})
MAX_HINTS = 20  # F3.1


def fail(
    reason: str,
    message: str,
    *,
    detail: str | None = None,
    hints: Iterable[str] = (),
    writing: bool = False,
) -> FormatError:
    """Return the error of `reason`; `writing` turns a limit hit into a write failure (F3)."""
    cls = Unwritable if writing and reason in _WRITE_SIDE else REASONS[reason]
    retry = None if reason in _RETRYABLE else Retry(RetryKind.NO)
    return cls(message, reason=reason, detail=detail, hints=tuple(hints)[:MAX_HINTS], retry=retry)


def reasons() -> frozenset[str]:
    """Return the closed set of F3."""
    return frozenset(REASONS)
