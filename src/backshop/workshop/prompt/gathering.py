"""Gathers the facts of a call: files, maps, context, conversation; all I/O before rendering (W6.1).

The same state of the bench gives the same facts, but for the date.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from backshop.base.ambient import Clock
from backshop.bench import (
    TOOLS,
    Bench,
    BenchManifest,
    Contents,
    Injected,
    Listing,
    Manifests,
    Notice,
    choose_contents,
    choose_lines,
    inject,
    named_paths,
)
from backshop.prompts import ConversationItem, Tool

from ..tool.phase import phase_of
from .bundled import KINDS
from .excerpt import NOTHING_SAID, Excerpt
from .inputs import NO_ARTIFACTS, Artifacts, PromptInputs

_NAMED_IN_MESSAGES = 3  # W6.7
_STYLE_MESSAGES = 40  # B15.4

Inject = Callable[..., Injected]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call that is about to be made."""

    key: str
    bench_id: str
    window_tokens: int
    request: str = ""
    excerpt: Excerpt = NOTHING_SAID
    step: str = ""
    notes: tuple[str, ...] = ()
    artifacts: Artifacts = NO_ARTIFACTS
    tools: tuple[Tool, ...] = ()
    """Tools beside the bench's own, of which the phase takes those it may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Facts, the manifest they come from, and what the call has to do without (W6.12)."""

    facts: PromptInputs
    manifest: BenchManifest
    notices: tuple[Notice, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is no file a tool could be asked about (W16.3)."""
        return not self.manifest.files


class Gatherer:
    """Looks into a bench on behalf of prompts."""

    def __init__(
        self,
        bench: Bench,
        clock: Clock,
        *,
        manifests: Manifests | None = None,
        injection: Inject = inject,
        keywords: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.manifests = manifests or Manifests(bench)
        self.bench = bench
        self._clock = clock
        self._inject = injection
        self._keywords = keywords

    def gather(self, call: Call) -> Gathered:
        """Return the facts of a call.

        Raises:
            ManifestUnavailable: the files cannot be listed; the call must not be made (W6.6).
        """
        manifest = self.manifests.of(call.bench_id)
        phase = phase_of(call.key)
        tools = tools_of(call.key, call.tools)
        asked = (*call.excerpt.asked(_NAMED_IN_MESSAGES), call.request)[-_NAMED_IN_MESSAGES:]
        paths = [one.path for one in manifest.files]
        named = named_paths(paths, asked)
        contents = self._contents(call, manifest, named)
        injected = self._injected(call, paths)
        facts = PromptInputs(
            listing=choose_lines(manifest.files, window_tokens=call.window_tokens, named=named),
            contents=choose_contents(
                contents.found,
                window_tokens=call.window_tokens,
                named=named,
                changed=manifest.changed,
            ),
            failed=contents.failed,
            injected=injected,
            step=call.step,
            notes=call.notes,
            today=datetime.fromtimestamp(self._clock.now_ms() / 1000, tz=UTC).date(),
            max_turns=phase.max_turns if phase else 1,
            tools=tools,
            artifacts=call.artifacts,
            request=call.request,
            conversation=_conversation(call) if KINDS[call.key].conversation else (),
        )
        return Gathered(facts=facts, manifest=manifest, notices=injected.notices)

    def weigh(self, call: Call) -> tuple[Listing, Injected]:
        """Return what a call lists and is told, without looking into any file (B16.4)."""
        manifest = self.manifests.of(call.bench_id)
        paths = [one.path for one in manifest.files]
        named = named_paths(paths, call.excerpt.asked(_NAMED_IN_MESSAGES))
        listing = choose_lines(manifest.files, window_tokens=call.window_tokens, named=named)
        return listing, self._injected(call, paths)

    def _contents(self, call: Call, manifest: BenchManifest, named: Collection[str]) -> Contents:
        """Return what the call may show of files (W6.2)."""
        files = manifest.files
        match call.key:
            case "plan":
                wanted = named_paths([one.path for one in files], (call.artifacts.research,))
                files = tuple(one for one in files if one.path in wanted)
            case "summary":
                files = tuple(one for one in files if one.change)
            case "compression":
                return Contents()
        return self.manifests.contents(files, first={*named, *manifest.changed})

    def _injected(self, call: Call, paths: Sequence[str]) -> Injected:
        said = (*call.excerpt.said, call.request)[-_STYLE_MESSAGES - 1 :]
        more: dict[str, Any] = {} if self._keywords is None else {"keywords": self._keywords}
        return self._inject(self.bench.desk, call.bench_id, paths=paths, texts=said, **more)


def tools_of(key: str, more: Sequence[Tool] = ()) -> tuple[Tool, ...]:
    """Return the tools of a phase, in the order of the catalog."""
    phase = phase_of(key)
    if phase is None:
        return ()
    return tuple(tool for tool in (*TOOLS, *more) if tool.name in phase.tools)


def with_notes(call: Call, *notes: str) -> Call:
    """Return the call with more to say about this turn."""
    return replace(call, notes=(*call.notes, *notes))


def _conversation(call: Call) -> tuple[ConversationItem, ...]:
    """Return the excerpt as messages, the request last."""
    lines = list(call.excerpt.lines)
    has_request = bool(lines) and lines[-1].role == "user"
    found = [
        ConversationItem(message_id=one.message_id, role=one.role, text=one.text) for one in lines
    ]
    if not has_request and call.request:
        found.append(ConversationItem(message_id="request", role="user", text=call.request))
    return tuple(found)
