"""Gathers the facts of a call: files, maps, context, conversation; all I/O before rendering (W6.1).

The same state of the bench gives the same facts. What a turn's calls have in common depends on
Published and on what was said, so that it is the same in each of them (W6.16).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from backshop.base.ambient import Clock
from backshop.base.ids import TreeId
from backshop.base.limits import CHARS_PER_TOKEN
from backshop.bench import (
    TOOLS,
    VIEW,
    Bench,
    BenchManifest,
    Content,
    FileFact,
    Injected,
    Listing,
    Manifests,
    Notice,
    Reading,
    choose_contents,
    choose_lines,
    contents_room,
    inject,
    named_paths,
    spoken_of,
    unheard,
)
from backshop.formats import operation_sheet
from backshop.prompts import ConversationItem, Tool

from ..tool.declaration import DECLARING_TOOLS
from ..tool.phase import REQUEST_PLAN, phase_of
from ..tool.recall import RECALL_TOOL
from . import text as prompt_text
from .bundled import KINDS
from .excerpt import NOTHING_SAID, Excerpt
from .inputs import NO_ARTIFACTS, NOTHING_SHOWN, Artifacts, PromptInputs, Shown

_NAMED_IN_MESSAGES = 3  # W6.7
_FEW_FILES = 3  # a bench of no more is at hand as a whole
_DRAFTED_MAX = 100  # files of a Draft that are named
_MORE_TOKENS = 2_000  # of files that a phase is about beside those at hand
_WITHOUT_CONTENTS = frozenset(("compression", "context-process"))
_WRITING = frozenset(("work", "implement", "proposal"))
_WITH_CHANGES = frozenset(("work", "plan", "implement", "proposal", "reply"))

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
    flow: str = ""
    mode: str = "agent"
    began_ms: int | None = None
    """When the turn began; None is now."""
    draft_tree: TreeId | None = None
    """The Draft the request is about, as it was when the turn began; None where it is not."""
    sees: bool = False
    """Whether the model takes pictures (W26.3)."""
    reading: Reading = unheard


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
        listed = self.manifests.published(call.bench_id)
        began = listed
        if call.draft_tree is not None:
            began = self.manifests.at(call.bench_id, call.draft_tree)
        now = self.manifests.of(call.bench_id)
        phase = phase_of(call.key)
        asked = _asked(call)
        about = _about(began.files, asked)
        room = contents_room(call.window_tokens)
        at_hand = NOTHING_SHOWN
        if call.key not in _WITHOUT_CONTENTS:
            at_hand = self._at_hand(began.files, about, room, call.reading)
        left = room - _tokens(at_hand.contents)
        injected = self._injected(call, sorted(about), asked)
        injected, sheets, left_out = _fitting(injected, left * CHARS_PER_TOKEN)
        if left_out and not injected.styles:  # the person's own style stands among the skills then
            injected = replace(injected, skills=self._injected(call, (), ()).skills)
        if call.mode == "ask" or call.key not in _WRITING:  # nothing written, nothing to look alike
            injected, sheets, left_out = replace(injected, styles=()), {}, ()
        moment = call.began_ms if call.began_ms is not None else self._clock.now_ms()
        facts = PromptInputs(
            listing=choose_lines(
                listed.files,
                window_tokens=call.window_tokens,
                named=named_paths([one.path for one in listed.files], asked),
            ),
            injected=injected,
            tools=tools_of(call.key, call.flow, sees=call.sees),
            conversation=_conversation(call) if KINDS[call.key].conversation else (),
            today=datetime.fromtimestamp(moment / 1000, tz=UTC).date(),
            mode=call.mode,
            draft=None if call.draft_tree is None else _drafted(listed, began),
            at_hand=at_hand,
            sheets=sheets,
            left_out=left_out,
            step=call.step,
            notes=call.notes,
            max_turns=phase.max_turns if phase else 1,
            changed=self._changed(call, began, now, at_hand, min(left, _MORE_TOKENS)),
            artifacts=call.artifacts,
            request=call.request,
        )
        return Gathered(facts=facts, manifest=now, notices=injected.notices)

    def weigh(self, call: Call) -> tuple[Listing, Injected]:
        """Return what a call lists and is told, without looking into any file (B16.4)."""
        manifest = self.manifests.of(call.bench_id)
        asked = _asked(call)
        named = named_paths([one.path for one in manifest.files], asked)
        listing = choose_lines(manifest.files, window_tokens=call.window_tokens, named=named)
        about = _about(manifest.files, asked)
        return listing, self._injected(call, sorted(about), asked)

    def _at_hand(
        self, files: Sequence[FileFact], about: Collection[str], room: int, reading: Reading
    ) -> Shown:
        """Return the files the request is about with what is in them (W6.8)."""
        wanted = [one for one in files if one.path in about] if about else list(files)
        contents = self.manifests.contents(wanted, reading=reading)
        chosen = choose_contents(contents.found, room_tokens=room, spoken=about)
        shown = {one.path for one in chosen}
        return Shown(
            files=tuple(one for one in files if one.path in about or one.path in shown),
            contents=chosen,
            failed=contents.failed,
        )

    def _changed(
        self, call: Call, began: BenchManifest, now: BenchManifest, at_hand: Shown, room: int
    ) -> Shown:
        """Return what the Draft changed since the turn began, and what else the phase is about."""
        if call.key in _WITHOUT_CONTENTS:
            return NOTHING_SHOWN
        given = call.artifacts
        texts = (given.research, given.plan, given.item)
        named = named_paths([one.path for one in now.files], texts) if any(texts) else frozenset()
        then = {one.path: one.sha256 for one in began.files}
        since = {one.path for one in now.files if then.get(one.path) != one.sha256}
        shown = {one.path for one in at_hand.contents} - since  # it stands there as it is now
        wanted = [one for one in now.files if one.path in (now.changed | named) - shown]
        if not wanted or call.key not in _WITH_CHANGES:
            return Shown(files=tuple(one for one in wanted if one.change))
        contents = self.manifests.contents(wanted, first=now.changed, reading=call.reading)
        paths = {one.path for one in wanted}
        return Shown(
            files=tuple(wanted),
            contents=choose_contents(contents.found, room_tokens=room, spoken=paths),
            failed=contents.failed,
        )

    def _injected(self, call: Call, paths: Sequence[str], asked: Sequence[str]) -> Injected:
        more: dict[str, Any] = {} if self._keywords is None else {"keywords": self._keywords}
        return self._inject(self.bench.desk, call.bench_id, paths=paths, texts=asked, **more)


def tools_of(key: str, flow: str = "", *, sees: bool = True) -> tuple[Tool, ...]:
    """Return the tools a prompt offers: the same in every phase of a flow (W7.1).

    What a phase may use of them is enforced where calls are made. A model that takes no pictures
    is not offered any (W26.3).
    """
    if phase_of(key) is None:
        return ()
    mine = DECLARING_TOOLS if flow == "auto" else _WITHOUT_PLAN
    return (*(one for one in TOOLS if sees or one.name != VIEW), RECALL_TOOL, *mine)


_WITHOUT_PLAN = tuple(one for one in DECLARING_TOOLS if one.name != REQUEST_PLAN)


def with_notes(call: Call, *notes: str) -> Call:
    """Return the call with more to say about this turn."""
    return replace(call, notes=(*call.notes, *notes))


def _asked(call: Call) -> tuple[str, ...]:
    """Return the newest messages of the person, the request last."""
    said = call.excerpt.asked(_NAMED_IN_MESSAGES)
    is_told = bool(said) and said[-1] == call.request
    return said if is_told else (*said, call.request)[-_NAMED_IN_MESSAGES:]


def _about(files: Sequence[FileFact], asked: Sequence[str]) -> frozenset[str]:
    """Return the files a request is about; of few files all (W6.8)."""
    paths = [one.path for one in files]
    return frozenset(paths) if len(paths) <= _FEW_FILES else spoken_of(paths, asked)


def _fitting(
    injected: Injected, room_chars: int
) -> tuple[Injected, Mapping[str, str], tuple[str, ...]]:
    """Return the guides of the kinds at hand that fit, and what is left out (W6.11).

    A guide holds the operations of its kind; where it does not fit they may, alone.
    """
    sheets: dict[str, str] = {}
    styles, left_out = [], []
    for one in injected.styles:
        sheet = operation_sheet(one.key)
        if len(one.text) <= room_chars:
            styles.append(one)
            room_chars -= len(one.text)
        elif len(sheet) <= room_chars:
            sheets[one.key] = sheet
            room_chars -= len(sheet)
            left_out.append(prompt_text.NO_GUIDE.format(one.key))
        else:
            left_out.append(prompt_text.NO_SHEET.format(one.key))
    return replace(injected, styles=tuple(styles)), sheets, tuple(left_out)


def _drafted(published: BenchManifest, began: BenchManifest) -> tuple[str, ...]:
    """Return the files a Draft had changed when the turn began, a line each."""
    there = {one.path for one in began.files}
    lines = [f"- {one.path} ({one.change})" for one in began.files if one.change]
    lines += [f"- {one.path} (deleted)" for one in published.files if one.path not in there]
    more = len(lines) - _DRAFTED_MAX
    return (*lines[:_DRAFTED_MAX], f"- and {more} more files") if more > 0 else tuple(lines)


def _tokens(contents: Iterable[Content]) -> int:
    return sum(one.tokens for one in contents)


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
