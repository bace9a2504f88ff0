"""After rendering: say what was found, in the log and, given a session, as events (P1.8)."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from ..events import DigestMissing, DigestStale, OverrideIgnored, SandboxUnavailable
from ..slices import SessionView
from .section import Diagnostic
from .tool import ToolSession

_DIGEST_LOG = logging.getLogger("backshop.prompts.digest.digest")
_LOG = logging.getLogger("backshop.prompts")


def report(diagnostics: Iterable[Diagnostic], session: object | None) -> None:
    """Log each warning once and publish the events that belong to it."""
    for one in diagnostics:
        if one.level == "warning":
            logger = _DIGEST_LOG if one.code.startswith("DIGEST") else _LOG
            logger.warning(
                "%s: %s", one.code, one.message, extra={"code": one.code, **dict(one.data)}
            )
        fact = _event(one)
        if fact is None or not isinstance(session, ToolSession):
            continue
        if not _known(fact, session.view()):
            session.dispatch(fact)


def _event(one: Diagnostic) -> object | None:
    data = dict(one.data)
    match one.code:
        case "DIGEST_MISSING":
            return DigestMissing(section_key=data["section_key"])
        case "DIGEST_STALE":
            return DigestStale(
                section_key=data["section_key"],
                digest_fingerprint=data["digest_fingerprint"],
                fingerprint=data["fingerprint"],
            )
        case "OVERRIDE_IGNORED":
            return OverrideIgnored(
                namespace=data["namespace"],
                prompt_key=data["prompt_key"],
                tag=data["tag"],
                revision=int(data["revision"]),
                entry=data["entry"],
                reason=data["reason"],
            )
        case "SANDBOX_UNAVAILABLE":
            return SandboxUnavailable(reason=data["reason"], detail=data.get("detail", ""))
    return None


def _known(fact: object, view: SessionView) -> bool:
    """Say whether the session has this fact already; only an absent digest is said each time."""
    if isinstance(fact, DigestMissing):
        return False
    return fact in view[type(fact)].all()
