"""What an agent hands in: checked, measured and normalised before anything else (R7.11)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from backshop.base import limits
from backshop.base.canon import canonical, digest
from backshop.base.errors import ValidationFailed

from ..errors import RailsError, invalid
from . import form
from .preference import Change

Artifact = Mapping[str, object]
Voice = Literal["person", "agent", "builtin"]
"""Who makes a call: somebody at a door of their own, an agent over MCP, or the product itself."""

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}")
_FORBIDDEN_KEYS = frozenset({"__proto__", "constructor", "prototype"})
_RESERVED_PREFIX = "wr_"
SHAPE = f'{{"notesMarkdown": "{form.NOTES}", "artifacts": [{{"kind": "<its kind>"}}]}}'


@dataclass(frozen=True, slots=True)
class Submitted:
    """The output of a call; notes that are only white space are none."""

    notes: str | None = None
    artifacts: tuple[Artifact, ...] = ()
    is_blank: bool = False  # the notes that were sent are a placeholder (R8.33)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was handed in."""
        return self.notes is None and not self.artifacts

    @property
    def kinds(self) -> str:
        """The kinds that were sent, for messages."""
        return ", ".join(sorted({str(one["kind"]) for one in self.artifacts})) or "no artifacts"


@dataclass(frozen=True, slots=True)
class Delta:
    """A change of context: keys to set, keys to delete."""

    set: Mapping[str, object] = field(default_factory=dict)
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.set or self.removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The part of a call that is recorded: context, output, preferences; and who made it."""

    context: Delta = field(default_factory=Delta)
    output: Submitted = field(default_factory=Submitted)
    preferences: Change = field(default_factory=Change)
    by: Voice = "person"

    def digest(self, **more: object) -> str:
        """Return the digest by which a repeated call is recognised (R4.12)."""
        return digest(
            {
                "context": {**self.context.set, **dict.fromkeys(self.context.removed)},
                "output": {
                    "notesMarkdown": self.output.notes,
                    "artifacts": [dict(one) for one in self.output.artifacts],
                },
                "preferences": {
                    "autonomy": self.preferences.autonomy,
                    "riskPolicy": self.preferences.risk_policy,
                },
                **more,
            }
        )


_FACTS = frozenset(
    {
        "wr.user_input",
        "wr.gap",
        "wr.workflow_divergence",
        "workflow_divergence",
        "wr.capability_observation",
    }
)
"""Kinds that were taken as facts when they were sent; sending them again would say them twice."""


def effective(sent: Submitted, kept: Submitted) -> Submitted:
    """Return an output with what attempts before it brought and it does not (R6.14)."""
    is_blank = form.is_blank(sent.notes)
    notes = kept.notes if is_blank or sent.notes is None else sent.notes
    own = {_name(one) for one in sent.artifacts}
    more = [one for one in kept.artifacts if _name(one) not in own and one["kind"] not in _FACTS]
    return Submitted(notes, (*more, *sent.artifacts), is_blank)


def together(attempts: Iterable[Submitted]) -> Submitted:
    """Return what blocked attempts brought, the newest first, and of each the newest (R6.14)."""
    kept = Submitted()
    for brought in attempts:
        kept = effective(kept, brought)
    return kept


def content(sent: Submitted) -> tuple[str | None, bytes]:
    """Return what an output is about, to compare: notes and artifacts, without facts (R8.21)."""
    artifacts = [dict(one) for one in sent.artifacts if one["kind"] not in _FACTS]
    return sent.notes, canonical(sorted(artifacts, key=canonical))


def _name(artifact: Artifact) -> tuple[object, object]:
    return artifact["kind"], artifact.get("assessmentId")


def output(raw: Mapping[str, object] | None) -> Submitted:
    """Return the normalised output of a call, within its budgets."""
    if raw is None:
        return Submitted()
    raw = wrapped(raw)
    notes, artifacts = raw.get("notesMarkdown"), raw.get("artifacts")
    if unknown := sorted(set(raw) - {"notesMarkdown", "artifacts"}):
        raise invalid(f"output has unknown keys: {', '.join(unknown)[:200]}", f"Send {SHAPE}.")
    if notes is not None and not isinstance(notes, str):
        raise invalid("output.notesMarkdown is not text", f"Send {SHAPE}.")
    if artifacts is None:
        artifacts = ()
    if not isinstance(artifacts, Sequence) or isinstance(artifacts, str):
        raise invalid("output.artifacts is not a list", f"Send {SHAPE}.")
    return Submitted(_notes(notes), _artifacts(artifacts))


def wrapped(raw: Mapping[str, object]) -> Mapping[str, object]:
    """Return an output in its usual shape: one that is itself an artifact is wrapped."""
    if "kind" not in raw or "artifacts" in raw:
        return raw
    artifact = {key: value for key, value in raw.items() if key != "notesMarkdown"}
    found: dict[str, object] = {"artifacts": [artifact]}
    if "notesMarkdown" in raw:
        found["notesMarkdown"] = raw["notesMarkdown"]
    return found


def context(raw: Mapping[str, object] | None) -> Delta:
    """Return a change of context, within its budget; null deletes a key."""
    if not raw:
        return Delta()
    for key in raw:
        if _KEY.fullmatch(key) is None or key in _FORBIDDEN_KEYS:
            raise invalid(
                f"context has a key that is not allowed: {key[:60]!r}",
                "Context keys begin with a letter or `_` and hold letters, digits, `_`, `.`, `-`.",
            )
        if key.startswith(_RESERVED_PREFIX):
            raise invalid(f"context key {key!r} is reserved", "Choose a key without `wr_`.")
    _within_depth(raw)
    _within(raw, limits.CONTEXT_MAX_BYTES, "context")
    removed = tuple(sorted(key for key, value in raw.items() if value is None))
    return Delta({key: value for key, value in raw.items() if value is not None}, removed)


def merged(before: Mapping[str, object], delta: Delta) -> Mapping[str, object]:
    """Return the effective context after a change."""
    if not delta:
        return before
    kept = {key: value for key, value in before.items() if key not in delta.removed}
    after = {**kept, **delta.set}
    _within(after, limits.CONTEXT_EFFECTIVE_MAX_BYTES, "the run's whole context")
    return after


def measured(value: object, what: str) -> int:
    """Return the canonical size of a value."""
    try:
        return len(canonical(value))
    except ValidationFailed as error:
        raise invalid(
            f"{what} is not JSON that can be kept: {error.message}",
            "Send plain JSON: whole text, numbers below 2^53, no NaN.",
        ) from error


def _notes(notes: str | None) -> str | None:
    if notes is None or not notes.strip():
        return None
    try:
        size = len(notes.encode())
    except UnicodeEncodeError as error:
        raise invalid("output.notesMarkdown holds a lone surrogate", "Send whole text.") from error
    if size > limits.NOTES_MAX_BYTES:
        raise over("output.notesMarkdown", size, limits.NOTES_MAX_BYTES, unit="UTF-8 bytes")
    return notes


def _artifacts(raw: Sequence[object]) -> tuple[Artifact, ...]:
    if len(raw) > limits.ARTIFACTS_MAX:
        raise over("output.artifacts", len(raw), limits.ARTIFACTS_MAX, unit="artifacts")
    found: list[Artifact] = []
    total = 0
    for index, one in enumerate(raw):
        if not isinstance(one, Mapping) or not isinstance(one.get("kind"), str) or not one["kind"]:
            raise invalid(
                f"output.artifacts[{index}] is not an object with a `kind`", f"Send {SHAPE}."
            )
        _within_depth(one)
        size = measured(one, f"output.artifacts[{index}]")
        if size > limits.ARTIFACT_MAX_BYTES:
            raise over(f"output.artifacts[{index}]", size, limits.ARTIFACT_MAX_BYTES)
        total += size
        found.append(one)
    if total > limits.ARTIFACTS_MAX_BYTES:
        raise over("output.artifacts together", total, limits.ARTIFACTS_MAX_BYTES)
    return tuple(found)


def _within(value: object, limit: int, what: str) -> None:
    size = measured(value, what)
    if size > limit:
        raise over(what, size, limit)


def over(what: str, measured: int, limit: int, *, unit: str = "JCS bytes") -> RailsError:
    """Return the refusal of something too large."""
    return invalid(
        f"{what} has {measured} {unit}; the maximum is {limit} {unit}",
        "Send less: put long material into files and refer to them.",
        measured=measured,
        max=limit,
        unit=unit,
    )


def _within_depth(value: object) -> None:
    stack = [(value, 1)]
    while stack:
        here, depth = stack.pop()
        if depth > limits.CONTEXT_MAX_DEPTH:
            raise invalid(
                f"JSON is nested deeper than {limits.CONTEXT_MAX_DEPTH} levels",
                "Send flatter values.",
            )
        if isinstance(here, Mapping):
            stack.extend((one, depth + 1) for one in here.values())
        elif isinstance(here, list | tuple):
            stack.extend((one, depth + 1) for one in here)
