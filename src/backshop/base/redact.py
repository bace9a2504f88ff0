"""Keeps keys out of every log line: by field name and by value (M3.12)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qs, unquote, urlsplit

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
_IN_URL = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://[^\s:/?#@\"']*:)[^\s/?#@\"']+@")
_BEARER = re.compile(r"(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{8,}")


# What variables that hold a secret end with: keys of providers, of object storage, of databases.
_VARIABLES = ("_API_KEY", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "PASSWORD", "PASSPHRASE")


def secrets_of(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the secrets among environment variables, and the passwords in their URLs."""
    for name, value in environ.items():
        if name.upper().endswith(_VARIABLES):
            yield value.strip()
        yield from passwords_of(value)


def passwords_of(url: str) -> Iterator[str]:
    """Yield the passwords a text holds if it is a URL, as written and as meant."""
    if "://" not in url:
        return
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    for written in filter(None, (parts.password, *parse_qs(parts.query).get("password", ()))):
        yield written
        yield unquote(written)


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
        text = _IN_URL.sub(lambda found: f"{found[1]}{MASK}@", text)
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
