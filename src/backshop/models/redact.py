"""Keeps keys out of every log line: by field name and by value (M3.12)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

MASK = "[secret]"
_MIN_CHARS = 8  # shorter values would mask ordinary words
_FIELDS = (
    *("authorization", "api[_-]?key", "x-api-key", "x-goog-api-key", "access_token"),
    *("refresh_token", "id_token", "setup_token", "token", "secret", "password", "passphrase"),
    "code_verifier",
)
_NAMED = re.compile(
    rf"(?i)([\"']?\b(?:{'|'.join(_FIELDS)})\b[\"']?\s*[:=]\s*)"
    r"(\"[^\"]*\"|'[^']*'|(?:Bearer\s+)?[^\s,;}\]]+)"
)
_BEARER = re.compile(r"(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{8,}")


class Redactor(logging.Filter):
    """Knows the secrets of this process and masks them wherever they turn up."""

    def __init__(self) -> None:
        super().__init__()
        self._values: set[str] = set()

    def learn(self, values: Iterable[str | None]) -> None:
        """Remember secret values."""
        self._values.update(value for value in values if value and len(value) >= _MIN_CHARS)

    def scrub(self, text: str) -> str:
        """Return the text without secrets."""
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, MASK)
        text = _NAMED.sub(lambda found: found[1] + MASK, text)
        return _BEARER.sub(f"Bearer {MASK}", text)

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite a log record in place; nothing is held back."""
        record.msg = self.scrub(record.getMessage())
        record.args = ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self.scrub(record.exc_text)
        return True
