"""What must hold before a digest run: checked in order, before anything is asked (P5.11)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from backshop.base.errors import BackshopError
from backshop.prompts import (
    DIGEST_KEY,
    MarkdownSection,
    Prompt,
    PromptOverridesStore,
    Section,
    Session,
    WorkspaceDigest,
)

from ..loop.loop import Task
from ..loop.response import OptimizationScope, Phase, PromptEvaluationError, PromptResponse
from ..loop.retrying_call import Completer

WORKSPACE_KIND = "workspace"
_KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")  # P1.2


class Runner(Completer, Protocol):
    """An adapter as a digest run needs it."""

    @property
    def allow_exec(self) -> bool: ...

    @property
    def digest_source(self) -> Literal["model", "builder"]: ...

    def run_task(self, task: Task) -> PromptResponse[Any]: ...

    def check_consent(self) -> None: ...

    def prepare(self, prompt: Prompt[Any], session: Session) -> object | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizeRequest:
    """What the caller of `optimize` asked for."""

    prompt: Prompt[Any]
    params: tuple[object, ...]
    scope: OptimizationScope
    overrides_store: PromptOverridesStore | None
    overrides_tag: str | None
    focus_areas: MarkdownSection | None
    parse_output: bool
    session: Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the digest belongs."""

    section: WorkspaceDigest
    key: str
    path: tuple[str, ...]


class _Running:
    """Which digests are being written now: one at a time per session and key."""

    def __init__(self) -> None:
        self._keys: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def has(self, key: tuple[str, str]) -> bool:
        """Say whether this one is being written."""
        with self._lock:
            return key in self._keys

    def begin(self, key: tuple[str, str]) -> bool:
        """Take this one; False if somebody has it."""
        with self._lock:
            is_free = key not in self._keys
            self._keys.add(key)
            return is_free

    def end(self, key: tuple[str, str]) -> None:
        """Let go of this one."""
        with self._lock:
            self._keys.discard(key)


_RUNNING = _Running()  # of the process: two sessions opened on one id must not both write


def preflight(adapter: Runner, wish: OptimizeRequest) -> Target:
    """Check everything that needs no call, in the order of P5.11."""
    refuse = refuser(wish.prompt)
    is_global = wish.scope is OptimizationScope.GLOBAL
    tag = wish.overrides_tag
    if not isinstance(wish.scope, OptimizationScope):
        raise refuse("the scope is no OptimizationScope", "BAD_SCOPE")
    if is_global and (wish.overrides_store is None or tag is None or not tag.strip()):
        raise refuse("GLOBAL needs an overrides store and a tag", "GLOBAL_NEEDS_STORE_AND_TAG")
    if tag is not None and _KEY.fullmatch(tag) is None:
        raise refuse("the tag is not a key", "BAD_IDENTIFIER")
    if wish.focus_areas is not None and not isinstance(wish.focus_areas, MarkdownSection):
        raise refuse("focus_areas is no MarkdownSection", "BAD_FOCUS_AREAS")
    target = _target(wish.prompt, refuse)
    if not sections_of(wish.prompt, WORKSPACE_KIND):
        raise refuse("the prompt has no workspace section", "NO_WORKSPACE_SECTION")
    if is_global and not target.section.accepts_overrides:
        raise refuse("the digest section takes no overrides", "DIGEST_NOT_OVERRIDABLE")
    if is_global and wish.overrides_store is not None and tag is not None:
        try:
            wish.overrides_store.check_writable(wish.prompt.descriptor, tag, target.path)
        except BackshopError as error:
            raise refuse(error.message, "STORE_NOT_WRITABLE") from error
    if wish.session.closed:
        raise refuse("the session is closed", "SESSION_CLOSED")
    if _RUNNING.has((wish.session.session_id, target.key)):
        raise refuse("a digest of this session is being written", "OPTIMIZE_IN_PROGRESS")
    adapter.check_consent()
    return target


def _target(prompt: Prompt[Any], refuse: Callable[[str, str], BackshopError]) -> Target:
    found = sections_of(prompt, DIGEST_KEY)
    if not found:
        raise refuse("the prompt has no digest section", "NO_DIGEST_SECTION")
    digests = [(section, path) for section, path in found if isinstance(section, WorkspaceDigest)]
    if not digests:
        raise refuse(f"{DIGEST_KEY} is no WorkspaceDigest", "NOT_A_DIGEST")
    if len(digests) > 1:
        raise refuse("the prompt has several digest sections", "AMBIGUOUS_DIGEST")
    section, path = digests[0]
    return Target(section=section, key=section.key, path=path)


def sections_of(prompt: Prompt[Any], word: str) -> list[tuple[Section, tuple[str, ...]]]:
    """Return the sections with this key or kind, in document order, with their paths."""
    return [
        (node.section, node.path)
        for node in prompt.walk()
        if node.section.key == word or word in node.section.kinds
    ]


@contextmanager
def alone(wish: OptimizeRequest, key: str) -> Iterator[None]:
    """Let one digest of a session and key be written at a time."""
    mark = (wish.session.session_id, key)
    if not _RUNNING.begin(mark):
        raise refuser(wish.prompt)(
            "a digest of this session is being written", "OPTIMIZE_IN_PROGRESS"
        )
    try:
        yield
    finally:
        _RUNNING.end(mark)


def refuser(prompt: Prompt[Any]) -> Callable[[str, str], PromptEvaluationError]:
    """Return a function that makes preflight errors of a prompt."""

    def refuse(message: str, code: str) -> PromptEvaluationError:
        return PromptEvaluationError(
            message, prompt_name=prompt.display_name, phase=Phase.PREFLIGHT, code=code
        )

    return refuse
