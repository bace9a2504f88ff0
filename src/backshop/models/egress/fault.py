"""What a provider's refusal means to the person: status and body → our errors (M11.6)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from backshop.base.errors import Retry, RetryKind
from backshop.base.limits import ERROR_BODY_MAX_BYTES
from backshop.base.redact import MASK, Redactor

from .. import errors

_CONTEXT = (  # the only message texts we look at, with _QUOTA and _SPENT; lower case
    "context_length_exceeded",
    "context length",
    "context window",
    "context_window",
    "maximum context",
    "prompt is too long",
    "too many tokens",
    "token limit",
    "input token count",
    "exceed_context_size",
    "model_context_window_exceeded",
    "string_above_max_length",
)
_QUOTA = (
    "insufficient_quota",
    "exceeded your current quota",
    "billing",
    "credit balance",
    "spending limit",
    "enforced_spend_limit_reached",
)
_PICTURES = ("image input", "mmproj")  # what llama.cpp and Ollama tell as an error of their own
_SPENT = ("api usage limits", "credit balance")  # a limit that Anthropic tells as a bad request
_REASONS = ("error", "message", "detail", "msg")  # where providers say why, outermost first
_WORD = re.compile(r"[a-z_]{1,64}")
_SAID_MAX_CHARS = 300
_QUOTED = re.compile(r"""(['"`])(?:(?!\1).){40,}\1""")  # long enough to be what was sent
_KEY_LIKE = re.compile(
    r"(?<![\w/])(?:(?:sk|pk|rk|gsk|xai|key|AIza)[-_*.…][-\w*.…]{3,}|[-\w]*\*{3,}[-\w*]*"
    r"|(?=[-\w]*\d)(?=[-\w]*[A-Za-z])[-\w]{24,})"
)
_WAIT_MAX_MS = 10**12  # thirty years; a later moment is no time a calendar has
_MODEL_OR_REGION = ("model", "region", "country", "location")
_RESET_HEADERS = (  # how long until the limit is lifted, by provider
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-reset",
)


def from_status(
    status: int, headers: Mapping[str, str], body: str, *, now_ms: int = 0
) -> errors.ModelError:
    """Return the error for an HTTP answer that is no success."""
    text = body[:ERROR_BODY_MAX_BYTES].lower()
    detail = f"status: {status}"
    if status == 429:
        return _rate_limited(headers, text, now_ms)
    if status in (400, 413, 422) and _mentions(text, _CONTEXT):
        return errors.ContextExhausted(
            "the request is longer than the model's window", detail=detail
        )
    is_spent = status == 400 and _mentions(text, _SPENT)
    if status == 402 or is_spent or (status == 403 and _mentions(text, _QUOTA)):
        return _quota()
    if status == 403 and _mentions(text, _MODEL_OR_REGION):
        return errors.RequestRejected("the provider does not offer this model here", detail=detail)
    if status in (401, 403):
        return errors.AuthFailed("the provider does not accept the key", detail=detail)
    if status >= 500 and _mentions(text, _PICTURES):
        return errors.RequestRejected("the provider refuses the request", detail=detail)
    if status in (408, 425) or status >= 500:
        return errors.ProviderUnavailable("the provider cannot answer now", detail=detail)
    if 400 <= status < 500:
        return errors.RequestRejected("the provider refuses the request", detail=detail)
    return errors.BadResponse(f"the provider answered with status {status}", detail=detail)


def from_code(kind: str, body: str) -> errors.ModelError:
    """Return the error for a failure told inside a stream, by the provider's own word for it."""
    word, text = kind.lower(), f"{kind} {body[:ERROR_BODY_MAX_BYTES]}".lower()
    detail = f"error: {word}" if _WORD.fullmatch(word) else None  # anything else may be a secret
    if _mentions(text, _CONTEXT):
        return errors.ContextExhausted(
            "the request is longer than the model's window", detail=detail
        )
    if _mentions(text, _QUOTA):
        return _quota()
    if "rate_limit" in word:
        return errors.RateLimited("the provider asks to wait", detail=detail)
    if "auth" in word or "permission" in word:
        return errors.AuthFailed("the provider does not accept the key", detail=detail)
    if word.startswith("invalid") or word in ("not_found_error", "request_too_large"):
        return errors.RequestRejected("the provider refuses the request", detail=detail)
    return errors.ProviderUnavailable("the provider broke off its answer", detail=detail)


def said(body: str, key: str | None = None) -> str:
    """Return the reason a provider gives in its own words, in one line, without keys (M11.6).

    Nothing where the body is not the JSON that providers describe their errors in.
    """
    try:
        value = _reason(json.loads(body))
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, str):
        return ""
    redactor = Redactor()
    redactor.learn([key])
    plain = _QUOTED.sub("…", " ".join(value.split()))
    plain = _KEY_LIKE.sub(MASK, redactor.scrub(plain)).rstrip(". ")
    return plain if len(plain) <= _SAID_MAX_CHARS else f"{plain[: _SAID_MAX_CHARS - 1]}…"


def _reason(value: object) -> object:
    """Return the innermost text: `{"error": {"message": …}}`, in a list, or `{"detail": …}`."""
    if isinstance(value, list):
        return _reason(value[0]) if value else None
    if isinstance(value, dict):
        name = next((one for one in _REASONS if value.get(one)), None)
        return _reason(value[name]) if name else None
    return value


def retry_after_ms(headers: Mapping[str, str], *, now_ms: int) -> int | None:
    """Return how long the provider asks to wait, from `Retry-After` or a reset header."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    exact = _number(lower.get("retry-after-ms", ""))
    if exact is not None:
        return int(exact)
    waits = (_wait_ms(lower[name], now_ms) for name in ("retry-after",) if name in lower)
    known = [wait for wait in waits if wait is not None]
    if known:
        return known[0]
    resets = (_wait_ms(lower[name], now_ms) for name in _RESET_HEADERS if name in lower)
    return max((wait for wait in resets if wait is not None), default=None)


def _rate_limited(headers: Mapping[str, str], text: str, now_ms: int) -> errors.ModelError:
    if _mentions(text, _QUOTA):
        return _quota()
    after = retry_after_ms(headers, now_ms=now_ms)
    message = "the provider asks to wait"
    if after is None:
        return errors.RateLimited(message, detail="status: 429", reason="rate_limit")
    return errors.RateLimited(
        message, detail="status: 429", reason="retry_after", retry=Retry(RetryKind.LATER, after)
    )


def _quota() -> errors.ModelError:
    return errors.RateLimited(
        "the account's quota is used up", reason="quota", detail="quota", retry=Retry(RetryKind.NO)
    )


def _mentions(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None


def _wait_ms(text: str, now_ms: int) -> int | None:
    seconds = _number(text)
    if seconds is None:
        seconds = _duration_s(text)
    if seconds is not None:
        return int(seconds * 1000)
    moment = _moment(text)
    if moment is None:
        return None
    return min(_WAIT_MAX_MS, max(0, int(moment.timestamp() * 1000) - now_ms))


def _duration_s(text: str) -> float | None:
    """Read `1m30s`, `20ms`, `6.2s` (OpenAI's reset headers)."""
    units = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
    total, rest = 0.0, text
    while rest:
        digits = 0
        while digits < len(rest) and (rest[digits].isdigit() or rest[digits] == "."):
            digits += 1
        number = _number(rest[:digits])
        unit = next((u for u in units if rest[digits:].startswith(u)), None)
        if number is None or unit is None:
            return None
        total += number * units[unit]
        rest = rest[digits + len(unit) :]
    return total if text else None


def _moment(text: str) -> datetime | None:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(text)
        except (ValueError, TypeError):
            continue
        if moment.tzinfo is not None:
            return moment
    return None
