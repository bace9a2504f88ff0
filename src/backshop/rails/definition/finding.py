"""What is wrong or doubtful in a workflow file, as data (R1.2, R1.10)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from backshop.base.codec import camel


class Severity(StrEnum):
    """An error keeps a file from running, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem; `pointer` is a JSON Pointer into the source, `fix` what to write instead."""

    code: str
    severity: Severity
    pointer: str
    message: str
    fix: str | None = None


ERRORS = frozenset(
    {
        *("WF_PARSE", "WF_SCHEMA", "WF_ID_INVALID", "WF_ID_RESERVED", "WF_ID_DUPLICATE"),
        *("WF_ID_LEGACY_SAVE", "WF_STEP_ID_INVALID", "WF_STEP_ID_DUPLICATE", "WF_PROMPT_SOURCE"),
        *("WF_PROMPT_BLOCKS_EMPTY", "WF_CONDITION_INVALID", "WF_LOOP_INVALID", "WF_LOOP_BODY_REF"),
        *("WF_TEMPLATE_UNKNOWN", "WF_TEMPLATE_ARG", "WF_TEMPLATE_RECURSIVE", "WF_FEATURE_UNKNOWN"),
        *("WF_FEATURE_CONFIG", "WF_REF_UNKNOWN", "WF_REF_BUDGET", "WF_BINDING_UNKNOWN"),
        *("WF_CONTRACT_UNKNOWN", "WF_CONTRACT_CONFLICT", "WF_ASSESSMENT_INVALID"),
        *("WF_CAPABILITY_INVALID", "WF_FRAGMENT_INVALID", "WF_FUNCTION_UNKNOWN"),
        *("WF_REFERENCE_INVALID", "WF_VALIDATION_RULE_INVALID", "WF_BUDGET"),
    }
)
WARNINGS = frozenset(
    {
        *("WW_LEGACY_ID", "WW_UNKNOWN_FIELD", "WW_EXPRESSION_TOKEN", "WW_CONTEXT_LOOP"),
        *("WW_LOOP_LIMIT_HIGH", "WW_LONG_PROMPT", "WW_ID_ALIASED", "WW_SHADOWED"),
        *("WW_REFERENCE_UNRESOLVED", "WW_SOURCE_UNREADABLE"),
    }
)


FINDINGS_MAX = 200  # nobody reads more, and a hostile file could make millions


class TooManyFindings(Exception):
    """The file has more wrong with it than is worth listing; reading it stops here."""


class Findings:
    """Collects findings; reports them once each, ordered by pointer and code."""

    def __init__(self) -> None:
        self._found: list[Finding] = []

    def error(self, code: str, pointer: str, message: str, fix: str | None = None) -> None:
        """Note something that keeps the file from running."""
        assert code in ERRORS, code
        self._add(code, Severity.ERROR, pointer, message, fix)

    def warn(self, code: str, pointer: str, message: str, fix: str | None = None) -> None:
        """Note something doubtful."""
        assert code in WARNINGS, code
        self._add(code, Severity.WARNING, pointer, message, fix)

    def _add(
        self, code: str, severity: Severity, pointer: str, message: str, fix: str | None
    ) -> None:
        if len(self._found) >= FINDINGS_MAX:
            message = f"more than {FINDINGS_MAX} findings; the rest is not listed"
            rest = Finding(code="WF_SCHEMA", severity=Severity.ERROR, pointer="", message=message)
            self._found.append(rest)
            raise TooManyFindings
        self._found.append(
            Finding(code=code, severity=severity, pointer=pointer, message=message, fix=fix)
        )

    @property
    def all(self) -> tuple[Finding, ...]:
        """Everything noted so far, in reporting order."""
        return ordered(self._found)


def ordered(findings: list[Finding] | tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return findings without repeats, by (pointer, code)."""
    unique = dict.fromkeys(findings)
    return tuple(sorted(unique, key=lambda one: (one.pointer, one.code, one.message)))


def has_error(findings: tuple[Finding, ...]) -> bool:
    """Say whether any finding keeps the file from running."""
    return any(one.severity is Severity.ERROR for one in findings)


def escaped(token: str) -> str:
    """Write one segment of a JSON Pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")
