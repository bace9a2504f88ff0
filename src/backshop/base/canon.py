"""Canonical JSON (RFC 8785) and digests: one value, one byte sequence, one name."""

from __future__ import annotations

import hashlib
import json
import math

import rfc8785

from .errors import ValidationFailed

MAX_SAFE_INTEGER = 2**53 - 1  # what every JSON reader can represent exactly
MAX_DEPTH = 200  # deeper than anything we store; keeps recursion far from the interpreter's limit

JsonValue = dict[str, "JsonValue"] | list["JsonValue"] | str | int | float | bool | None


def canonical(value: object) -> bytes:
    """Return the RFC 8785 form of a JSON value.

    Raises:
        ValidationFailed: the value has no canonical form (integers beyond 2^53 - 1, NaN,
            lone surrogates, non-string keys, types that are not JSON, too deep).
    """
    if _is_plain(value, 0):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        return _encode(text)
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]  # _is_plain has proved the type
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise ValidationFailed(f"not canonical JSON: {error}", reason="bad_json") from error


def sha256_hex(data: bytes) -> str:
    """Return the bare lower-case digest."""
    return hashlib.sha256(data).hexdigest()


def digest(value: object) -> str:
    """Return `sha256:` + hex of the canonical form, the way digests are written on the wire."""
    return "sha256:" + sha256_hex(canonical(value))


def parse(data: bytes | str) -> JsonValue:
    """Parse JSON strictly: UTF-8, bounded depth, and only what has a canonical form.

    Refused are NaN and infinities however written, duplicate keys, lone surrogates, and integers
    that other readers would round.
    """
    try:
        value: JsonValue = json.loads(
            data.decode() if isinstance(data, bytes) else data,
            parse_constant=_refuse_constant,
            parse_int=_exact_integer,
            parse_float=_finite,
            object_pairs_hook=_unique_keys,
        )
    except RecursionError as error:
        raise ValidationFailed("JSON is nested too deeply", reason="bad_json") from error
    except ValueError as error:  # JSONDecodeError and UnicodeDecodeError among them
        raise ValidationFailed(f"not JSON: {error}", reason="bad_json") from error
    _check_text(value, 0)
    return value


def _check_text(value: JsonValue, depth: int) -> None:
    """Refuse what parses and has no canonical form: lone surrogates, and nesting without end."""
    if depth > MAX_DEPTH:
        raise ValidationFailed("JSON is nested too deeply", reason="bad_json")
    if isinstance(value, str):
        if not value.isascii():
            _encode(value)
    elif isinstance(value, list):
        for item in value:
            _check_text(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key, depth)
            _check_text(item, depth + 1)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is not JSON")


def _exact_integer(text: str) -> int | float:
    number = int(text)
    if abs(number) <= MAX_SAFE_INTEGER:
        return number
    try:
        double = float(number)
    except OverflowError as error:
        raise ValueError("a number is too large") from error
    if int(double) != number and rfc8785.dumps(double) != text.encode():
        raise ValueError("an integer beyond 2^53 - 1 is not exact")
    return double  # how RFC 8785 reads and writes it


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValidationFailed("text holds a lone surrogate", reason="bad_json") from error


def _is_plain(value: object, depth: int) -> bool:
    """Say whether the standard encoder already gives the canonical form; refuse what has none.

    It does unless there are floats (other number text) or keys outside ASCII (other order).
    """
    if depth > MAX_DEPTH:
        raise ValidationFailed("JSON is nested too deeply", reason="bad_json")
    if value is None or isinstance(value, (str, bool)):
        return True
    if isinstance(value, int):
        if abs(value) > MAX_SAFE_INTEGER:
            raise ValidationFailed("an integer is beyond 2^53 - 1", reason="bad_json")
        return True
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValidationFailed("a number is not finite", reason="bad_json")
        return False
    if isinstance(value, (list, tuple)):
        checked = [_is_plain(item, depth + 1) for item in value]  # all, not up to the first
        return all(checked)
    if isinstance(value, dict):
        plain = True
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValidationFailed("a key is not a string", reason="bad_json")
            plain = _is_plain(item, depth + 1) and key.isascii() and plain
        return plain
    raise ValidationFailed(f"{type(value).__name__} is not a JSON type", reason="bad_json")
