"""Keys, tags, namespaces and slugs: the names that stored files and overrides hold on to."""

from __future__ import annotations

import re

from .errors import PromptError, PromptValidationError

KEY_MAX_CHARS = 64
NAMESPACE_MAX_CHARS = 200
NAMESPACE_MAX_SEGMENTS = 8
RESERVED_NAMESPACE = "backshop"

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def check_key(text: object, what: str, *, error: type[PromptError] = PromptValidationError) -> str:
    """Return `text` if it is a key (P1.2); nothing is folded or stripped into validity.

    Raises:
        PromptError: `BAD_IDENTIFIER`, of the class the caller asks for, with the nearest key.
    """
    if not isinstance(text, str):
        raise error(f"{what} is not text", code="BAD_IDENTIFIER")
    if _KEY.fullmatch(text) is None or _DEVICE.fullmatch(text) is not None:
        near = nearest_key(text)
        offer = f"; the nearest valid spelling is {near!r}" if near else ""
        raise error(f"{text[:80]!r} is not a valid {what}{offer}", code="BAD_IDENTIFIER")
    return text


def nearest_key(text: str) -> str:
    """Return the valid key closest to `text`, or an empty string."""
    folded = re.sub(r"[^a-z0-9._-]+", "-", text.strip().lower())[: KEY_MAX_CHARS + 1]
    folded = folded.strip("-").lstrip("._-")[:KEY_MAX_CHARS]
    if _DEVICE.fullmatch(folded) is not None:
        folded = f"x-{folded}"[:KEY_MAX_CHARS]
    return folded


def check_namespace(
    text: object, *, reserved_ok: bool = False, error: type[PromptError] = PromptValidationError
) -> str:
    """Return `text` if it is a namespace of 1–8 keys joined by `/` (P1.3)."""
    if not isinstance(text, str) or len(text) > NAMESPACE_MAX_CHARS:
        raise error(
            f"a namespace is text of at most {NAMESPACE_MAX_CHARS} characters",
            code="BAD_IDENTIFIER",
        )
    segments = text.split("/")
    if len(segments) > NAMESPACE_MAX_SEGMENTS:
        raise error(
            f"a namespace has at most {NAMESPACE_MAX_SEGMENTS} segments", code="BAD_IDENTIFIER"
        )
    for segment in segments:
        check_key(segment, "namespace segment", error=error)
    if segments[0] == RESERVED_NAMESPACE and not reserved_ok:
        raise error(
            f"the namespace {RESERVED_NAMESPACE!r} belongs to bundled prompts",
            code="RESERVED_NAMESPACE",
        )
    return text


def slug(title: str) -> str:
    """Return the key derived from a title (P1.5); may be empty."""
    return _NOT_SLUG.sub("-", title.lower()).strip("-")[:KEY_MAX_CHARS].rstrip("-")
