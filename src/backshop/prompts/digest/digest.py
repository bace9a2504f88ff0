"""The workspace digest: what is known about the files, said once and reused by every prompt (P4).

Digests are made from files anyone may have written and are read on every later turn, so a text
is cleaned and looked over when it is written, and rendered verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from backshop.base.event import event

from ..definition.section import (
    Body,
    Diagnostic,
    Enabled,
    Overflow,
    RenderContext,
    Role,
    Section,
    Stability,
)
from ..definition.template import delimit
from ..errors import PromptValidationError
from ..slices import LOG, STATE, Change, Replace, keep_last, slice_type

DIGEST_KEY = "workspace-digest"
DIGEST_MAX_BYTES = 16_384
DIGESTS_KEPT = 20
_RAW_MAX_CHARS = 131_072  # what comes after could not be kept anyway, and patterns take time
SUMMARY_MAX_CHARS = 300
IDENTITY = "backshop.workspace-digest.v1"  # what overrides are bound to; never the placeholder
PLACEHOLDER = (
    "No digest of this workspace is recorded yet. Before you start further tasks, explore the\n"
    "workspace: read its overview documents, list its main folders, and find out how things are\n"
    "built and checked here."
)

DigestSource = Literal["model", "builder", "user"]


@slice_type(DIGEST_KEY, 1, STATE, propagate="up")
@dataclass(frozen=True, slots=True, kw_only=True)
class DigestItem:
    """A recorded digest of one section key; the newest wins."""

    section_key: str
    body: str
    summary: str = ""
    source: DigestSource = "user"
    fingerprint: str = ""
    created_at: datetime
    model_id: str = ""
    prompt_ref: str = ""
    truncated: bool = False
    suspect: bool = False


@slice_type("workspace-fingerprint", 1, STATE)
@event("prompt.workspace_fingerprinted")
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceFingerprint:
    """The state of the files now, and how far they moved from `compared_to`."""

    fingerprint: str
    files: int = 0
    compared_to: str = ""
    added: int = 0
    removed: int = 0
    changed: int = 0
    manifest_ref: str = ""  # where the manifest is kept: its hash is the fingerprint (P7.6)


@slice_type("prompt-digest-updated", 1, LOG)
@event("prompt.digest_updated")
@dataclass(frozen=True, slots=True, kw_only=True)
class DigestUpdated:
    """A digest was recorded."""

    item: DigestItem


@event("prompt.digest_cleared")
@dataclass(frozen=True, slots=True, kw_only=True)
class DigestCleared:
    """The digests of a key were taken away; the override or the placeholder acts again."""

    section_key: str


_keep_newest = keep_last(DIGESTS_KEPT, lambda item: item.section_key)


def reduce_updated(items: tuple[DigestItem, ...], fact: DigestUpdated) -> Change:
    """Add a digest, keeping the newest ones of its key."""
    return _keep_newest(items, fact.item)


def reduce_cleared(items: tuple[DigestItem, ...], fact: DigestCleared) -> Change:
    """Remove the digests of a key."""
    return Replace(tuple(item for item in items if item.section_key != fact.section_key))


class WorkspaceDigest(Section):
    """A section that shows the session's digest, else the stored override, else an invitation.

    It is task-agnostic: it takes no params, children or tools, so nothing of a request can
    reach it (P4.7).
    """

    def __init__(
        self,
        title: str = "Workspace digest",
        key: str = DIGEST_KEY,
        placeholder: str = PLACEHOLDER,
        *,
        stale_note: bool = True,
        enabled: Enabled = True,
        accepts_overrides: bool = True,
        kinds: Iterable[str] = (),
        role: Role = "system",
        stability: Stability = "workspace",
        overflow: Overflow = "keep",
        priority: int = 0,
        summary: str | None = None,
        **refused: object,
    ) -> None:
        if refused:
            raise PromptValidationError(
                f"a digest section takes no {', '.join(sorted(refused))}",
                code="DIGEST_IS_TASK_AGNOSTIC",
                path=key,
            )
        if not placeholder.strip():
            raise PromptValidationError(
                "the placeholder of a digest is blank", code="BLANK_PLACEHOLDER", path=key
            )
        self.placeholder = placeholder
        self.stale_note = stale_note
        super().__init__(
            title,
            key=key,
            enabled=enabled,
            accepts_overrides=accepts_overrides,
            kinds=tuple(dict.fromkeys((DIGEST_KEY, *kinds))),
            role=role,
            stability=stability,
            overflow=overflow,
            priority=priority,
            summary=summary,
        )

    def identity(self) -> str:
        """Return the constant that overrides of a digest are bound to."""
        return IDENTITY

    def can_summarise(self) -> bool:
        """Say yes: a digest has a first line."""
        return True

    def body(self, context: RenderContext) -> str:
        """Return the text that is shown."""
        return self.produce(context).text

    def produce(self, context: RenderContext) -> Body:
        """Return the digest from the first source that has one (P4.2)."""
        item = latest_digest(context, self.key)
        if item is not None:
            return self._from_session(item, context)
        override = context.override
        if override is not None and override.body.strip():
            stale = _is_stale(override.provenance.get("fingerprint", ""), context)
            note = _diagnostic("OVERRIDE_DIGEST_STALE", self.key, context, "info")
            return Body(override.body, "override", (note,) if stale else ())
        if context.optimizing:
            return Body("", "placeholder", shown=False)
        missing = _diagnostic("DIGEST_MISSING", self.key, context)
        return Body(self.placeholder, "placeholder", (missing,))

    def summary_text(self, context: RenderContext) -> str:
        """Return the recorded summary, else the first line that is no heading (P4.12)."""
        item, override = latest_digest(context, self.key), context.override
        if item is not None:
            summary = item.summary or _first_line(item.body)
            return delimit("data", self.key, summary) if item.suspect else summary
        if override is not None and override.body.strip():
            return override.summary or _first_line(override.body)
        return _first_line(self.placeholder)

    def _from_session(self, item: DigestItem, context: RenderContext) -> Body:
        text, found = item.body, []
        if item.suspect:
            text = delimit("data", self.key, item.body)
            found.append(_diagnostic("DIGEST_SUSPECT", self.key, context))
        if _is_stale(item.fingerprint, context):
            found.append(_stale(item, context))
            if self.stale_note:
                text = f"{text}\n\n{_stale_line(item, context)}"
        return Body(text, "session", tuple(found))


def latest_digest(context: RenderContext, key: str) -> DigestItem | None:
    """Return the newest digest of a key that says something, or None."""
    if context.session is None:
        return None
    items = context.session[DigestItem].where(lambda item: item.section_key == key)
    return items[-1] if items and items[-1].body.strip() else None


def _current(context: RenderContext) -> WorkspaceFingerprint | None:
    return context.session[WorkspaceFingerprint].latest() if context.session else None


def _is_stale(fingerprint: str, context: RenderContext) -> bool:
    current = _current(context)
    return bool(fingerprint) and current is not None and current.fingerprint != fingerprint


def _stale_line(item: DigestItem, context: RenderContext) -> str:
    current = _current(context)
    counts = ""
    if current is not None and current.compared_to == item.fingerprint:
        counts = f" (added {current.added}, removed {current.removed}, changed {current.changed})"
    return f"Files have changed since this digest was written{counts}; check what you rely on."


def _stale(item: DigestItem, context: RenderContext) -> Diagnostic:
    current = _current(context)
    found = _diagnostic("DIGEST_STALE", item.section_key, context)
    now = current.fingerprint if current else ""
    extra = {"digest_fingerprint": item.fingerprint, "fingerprint": now}
    return replace(found, data={**found.data, **extra})


_MESSAGES = {
    "DIGEST_MISSING": "no digest is recorded and none is stored as an override",
    "DIGEST_STALE": "files have changed since the digest was written",
    "DIGEST_SUSPECT": "the digest reads like instructions and is shown as data",
    "OVERRIDE_DIGEST_STALE": "files have changed since the stored digest was written",
}


def _diagnostic(
    code: str, key: str, context: RenderContext, level: Literal["info", "warning"] = "warning"
) -> Diagnostic:
    return Diagnostic(code, f"{key}: {_MESSAGES[code]}", context.path, level, {"section_key": key})


def _first_line(body: str) -> str:
    lines = (line.strip() for line in body.split("\n"))
    return next((line for line in lines if line and not line.startswith("#")), "")[
        :SUMMARY_MAX_CHARS
    ]


@dataclass(frozen=True, slots=True)
class CleanDigest:
    """A digest as it is stored."""

    body: str
    truncated: bool = False
    redacted: bool = False
    suspect: bool = False


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_ATX = re.compile(r"( {0,3})(#{1,3})([ \t].*|)$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NOT_SETEXT_TEXT = re.compile(r"\s*(#|>|[-+*] |\d{1,9}[.)] |\||```|~~~|$)| {4}|\t")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_SECRETS = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        (
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
            re.DOTALL,
        ),
        (r"\bsk-[A-Za-z0-9_-]{20,}", 0),
        (r"\bAKIA[0-9A-Z]{16}(?![0-9A-Z])", 0),
        (r"\bgh[pousr]_[A-Za-z0-9]{30,}", 0),
        (r"\bxox[abprs]-[A-Za-z0-9-]{10,}", 0),
        (r"\beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]*", 0),
    )
)
_ASSIGNED = re.compile(
    r"(\b[\w-]{0,40}?(?:password|secret|token|api_key)[\w-]{0,40}[\"']?[ \t]{0,8}[:=][ \t]{0,8})"
    r"(?:\"[^\"\n]+\"|'[^'\n]+')",
    re.IGNORECASE,
)
_REDACTED = "[redacted]"
_BLANKS = " \t"
_SUSPECT = re.compile(
    r"\b(?:ignore|disregard|forget)\b[^.\n]{0,80}\b(?:previous|prior|above)\b[^.\n]{0,80}"
    r"\binstructions?\b"
    r"|^[ \t]*(?:system|assistant|developer):"
    r"|<system|</data|</file|</workbench-"
    r"|\b(?:reveal|print|show|repeat|output|disclose|send)\b[^.\n]{0,60}"
    r"\b(?:system prompt|api[ _-]?keys?|secret keys?|private keys?|credentials)\b",
    re.IGNORECASE | re.MULTILINE,
)


def normalise_digest(text: str) -> CleanDigest:
    """Return a digest as it may be stored: cleaned, redacted, cut and looked over (P4.8, P4.9)."""
    rest = len(text[_RAW_MAX_CHARS:].encode("utf-8", "replace"))
    text = text[:_RAW_MAX_CHARS].replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub("", text)
    clean = _redacted(text)
    lines = _deepened([line.rstrip(_BLANKS) for line in clean.split("\n")])
    body = "\n".join(lines).strip("\n")
    cut = _cut(body, rest)
    return CleanDigest(cut, cut != body, clean != text, is_suspect(cut))


def is_suspect(text: str) -> bool:
    """Say whether a digest reads like an attempt to give orders (P4.9)."""
    return _SUSPECT.search(text) is not None


def _redacted(text: str) -> str:
    for pattern in _SECRETS:
        text = pattern.sub(_REDACTED, text)
    return _ASSIGNED.sub(rf'\1"{_REDACTED}"', text)


def _deepened(lines: list[str]) -> Iterable[str]:
    """Yield the lines with every heading outside code fences at least four levels deep."""
    fence = ""
    out: list[str] = []
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark[1].startswith(fence) and not mark[2].strip()
            fence = "" if closes else fence
            out.append(line)
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            out.append(line)
        elif _SETEXT.match(line) and out and not _NOT_SETEXT_TEXT.match(out[-1]):
            out[-1] = f"#### {out[-1].strip(_BLANKS)}"
        else:
            heading = _ATX.match(line)
            out.append(f"####{heading[3]}" if heading else line)
    return out


def _cut(body: str, rest: int) -> str:
    data = body.encode()
    if len(data) <= DIGEST_MAX_BYTES and not rest:
        return body
    room = DIGEST_MAX_BYTES - 60  # for the last line
    end = data.rfind(b"\n", 0, room + 1)
    kept = data[: end if end > 0 else room].decode(errors="ignore").rstrip("\n \t")
    return f"{kept}\n(… {len(data) + rest - len(kept.encode())} bytes left out)"
