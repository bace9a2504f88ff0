"""The digest of a bench as people see and change it, and the prompts of a turn (P7.11)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from backshop.base.command import Command, method_command
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId
from backshop.bench import Author, Source, Workspace, stream_of
from backshop.models import AdapterBase, ModelCalled, OptimizationScope
from backshop.prompts import (
    DIGEST_KEY,
    MarkdownSection,
    PromptOverridesStore,
    PromptRendered,
    Session,
    StoreLog,
    normalise_digest,
)

from ..conversation.repository import Conversations, prompt_session
from ..prompt.bundled import build_prompt
from ..prompt.gathering import Call, Gatherer
from ..requests import DigestGet, DigestRefresh, DigestSet, PromptShow
from . import refresh as digest_refresh
from .forms import DigestShown, DigestWritten, Done, PartShown, SentPrompt
from .pin import PIN_KEY, Pins, pin_tag
from .refresh import Standing

DIGEST_MAX_BYTES = 64 * 1024
CALLED = "model.called"
FOCUS_MAX_CHARS = 2_000

Adapters = Callable[[str, Workspace], AdapterBase]
"""`(bench_id, workspace)`: an adapter for the model the bench's next turn would use."""


class Digests:
    """Digests of all benches of one home."""

    def __init__(
        self,
        book: Conversations,
        gatherer: Gatherer,
        overrides: PromptOverridesStore,
        adapters: Adapters,
    ) -> None:
        self._book = book
        self._gatherer = gatherer
        self._pins = Pins(book.store, overrides, book.clock)
        self._adapters = adapters
        self._running: dict[str, Session] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._touched: Counter[str] = Counter()

    # ------------------------------------------------------------ for turns

    def session(self, bench_id: str) -> Session:
        """Open the one prompt session of a bench's conversation (P2.13)."""
        store = self._book.store
        return Session(session_id=prompt_session(bench_id), log=store, clock=self._book.clock)

    def overrides(self, bench_id: str) -> PromptOverridesStore:
        """Return the overrides that calls of a bench are rendered with."""
        return self._pins.overrides(bench_id)

    def cancel(self, bench_id: str) -> bool:
        """Stop a digest run of this bench; say whether there was one."""
        with self._lock:
            session = self._running.get(bench_id)
        if session is not None:
            session.cancel.request()
        return session is not None

    # ------------------------------------------------------------ commands

    def get(self, request: DigestGet) -> DigestShown:
        """Show the digest as the next prompt would hold it."""
        bench_id = self._known(request.workbench_id)
        session = self.session(bench_id)
        standing = self._standing(bench_id, session)
        newest = standing.newest
        if newest is not None and newest.body.strip():
            return DigestShown(
                body=newest.body,
                summary=newest.summary,
                source="session",
                digest_source=newest.source,
                fingerprint=newest.fingerprint,
                stale=standing.is_stale,
                added=len(standing.change.added),
                removed=len(standing.change.removed),
                changed=len(standing.change.changed),
                model_id=newest.model_id or None,
                created_at=newest.created_at.isoformat(),
            )
        kept = self._pins.of(bench_id)
        if kept is None or not kept.body.strip():
            return DigestShown(body="", source="none")
        written_at = kept.provenance.get("fingerprint", "")
        return DigestShown(
            body=kept.body,
            summary=kept.summary or "",
            source="override",
            digest_source=kept.provenance.get("source"),
            fingerprint=written_at,
            stale=bool(written_at) and written_at != standing.manifest.fingerprint,
            model_id=kept.provenance.get("model_id"),
        )

    def refresh(self, request: DigestRefresh) -> DigestWritten:
        """Write the digest anew from the files as they are.

        Raises:
            ValidationFailed: `foreign_tag`, a digest is pinned for its own bench alone.
            ConsentRequired, ProviderNotConfigured: the model may not or cannot be asked.
            PromptEvaluationError: the run brought no digest; nothing was stored.
        """
        bench_id = self._known(request.workbench_id)
        if request.tag not in (None, pin_tag(bench_id)):
            raise ValidationFailed(
                "a digest is pinned for its own workbench alone", reason="foreign_tag"
            )
        if request.mode == "builder":
            return self._built(bench_id, request)
        return self._optimized(bench_id, request)

    def set(self, request: DigestSet) -> Done:
        """Write the digest by hand."""
        bench_id = self._known(request.workbench_id)
        if not request.body.strip():
            raise ValidationFailed("a digest says something", reason="bad_params")
        if len(request.body.encode()) > DIGEST_MAX_BYTES:
            raise ValidationFailed("a digest has at most 64 KiB", reason="bad_params")
        session = self.session(bench_id)
        standing = self._standing(bench_id, session)
        fingerprint = standing.manifest.fingerprint
        with self._by_hand(bench_id):
            if request.pin:
                self._pin(bench_id, request.body, "user", fingerprint)
                session.workspace_digest.clear()
            else:
                session.workspace_digest.set(
                    DIGEST_KEY, request.body, source="user", fingerprint=fingerprint
                )
        digest_refresh.note_fingerprint(session, self._standing(bench_id, session))
        return Done()

    def clear(self, request: DigestGet) -> Done:
        """Forget the digest, the pinned one too; the builder writes one before the next turn."""
        bench_id = self._known(request.workbench_id)
        with self._by_hand(bench_id):
            self.session(bench_id).workspace_digest.clear()
            self._pins.clear(bench_id)
        return Done()

    def prompt_show(self, request: PromptShow) -> SentPrompt:
        """Show the prompt a model received for a message (P7.5).

        Raises:
            NotFound: there is no such turn, or it sent no prompt.
        """
        bench_id = self._known(request.workbench_id)
        turn_id = request.turn_id or self._turn_of(bench_id, request.message_id)
        found = [
            one
            for one in self._prompts(bench_id, turn_id)
            if request.phase in (None, one.prompt_key)
        ]
        if not found:
            raise NotFound("no prompt was sent there", reason="not_found")
        last = found[-1]
        alike = [one for one in found if one.prompt_key == last.prompt_key]
        number = len(alike) if request.number is None else request.number
        if not 1 <= number <= len(alike):
            raise NotFound(f"{len(alike)} prompts were sent there", reason="not_found")
        last = alike[number - 1]
        return SentPrompt(
            phase=last.prompt_key,
            model_id=last.model_id,
            text=self._book.store.blobs.read(BlobId(last.rendered_ref)).decode(errors="replace"),
            parts=tuple(
                PartShown(path=one.path, number=one.number, source=one.source, tokens=one.tokens)
                for one in last.parts
            ),
            tools=last.tool_names,
            diagnostics=last.diagnostics,
            hash=last.rendered_hash,
            sent=len(alike),
            number=number,
        )

    # ------------------------------------------------------------ how

    def _prompts(self, bench_id: str, turn_id: str) -> list[PromptRendered]:
        """Return the prompts of a turn, oldest first; one that was tried again is one (P7.5)."""
        store = self._book.store
        found: list[PromptRendered] = [
            one.fact  # of a turn of 0.1.0
            for one in StoreLog(store).read(prompt_session(bench_id))
            if isinstance(one.fact, PromptRendered) and one.turn_id == turn_id
        ]
        tried: PromptRendered | None = None
        for event in store.read(stream_of(bench_id)):
            call = event.fact if event.kind == CALLED else None
            if not isinstance(call, ModelCalled) or call.prompt is None:
                continue
            if call.prompt.turn_id == turn_id and call.prompt != tried:
                found.append(call.prompt)
            tried = None if call.is_answered else call.prompt
        return found

    def _known(self, bench_id: str) -> str:
        state = self._book.state(bench_id)
        return state.bench.id

    def _standing(self, bench_id: str, session: Session) -> Standing:
        return digest_refresh.standing_of(session, self._gatherer.manifests.of(bench_id))

    def _turn_of(self, bench_id: str, message_id: str | None) -> str:
        if message_id is None:
            raise ValidationFailed("give a message or a turn", reason="bad_params")
        record = self._book.state(bench_id).records.get(message_id)
        if record is None or record.turn_id is None:
            raise NotFound("no turn belongs to this message", reason="message_not_found")
        return record.turn_id

    def _built(self, bench_id: str, request: DigestRefresh) -> DigestWritten:
        manifests, before = self._gatherer.manifests, self._told(bench_id)
        files = manifests.of(bench_id)
        drawn = digest_refresh.draw(files, manifests)
        with self._writing:
            if self._told(bench_id) != before:  # what was written or cleared meanwhile stands
                shown = self.get(DigestGet(workbench_id=bench_id))
                return DigestWritten(digest=shown.body, persisted=())
            session = self.session(bench_id)
            item = digest_refresh.keep(session, drawn)
        digest_refresh.note_fingerprint(session, digest_refresh.standing_of(session, files))
        kept: tuple[str, ...] = ("session",)
        if request.scope == "global":
            self._pin(bench_id, item.body, "builder", item.fingerprint)
            kept = (*kept, "overrides")
        return DigestWritten(digest=item.body, persisted=kept)

    def _optimized(self, bench_id: str, request: DigestRefresh) -> DigestWritten:
        author = Author(source=Source(kind="workshop", ref="digest"))
        workspace = Workspace(self._gatherer.bench, bench_id, author)
        adapter = self._adapters(bench_id, workspace)
        session = self.session(bench_id)
        gathered = self._gatherer.gather(
            Call(
                key=PIN_KEY,
                bench_id=bench_id,
                window_tokens=adapter.window_tokens,
                step="Describe the files of this workbench.",
            )
        )
        digest_refresh.note_fingerprint(
            session, digest_refresh.standing_of(session, gathered.manifest)
        )
        is_global = request.scope == "global"
        with self._stoppable(bench_id, session):
            result = adapter.optimize(
                build_prompt(PIN_KEY, gathered.facts),
                store_scope=OptimizationScope(request.scope),
                overrides_store=self._pins.opened(bench_id) if is_global else None,
                overrides_tag=pin_tag(bench_id) if is_global else None,
                focus_areas=_focus(request.focus),
                session=session,
            )
        return DigestWritten(
            digest=result.digest, persisted=result.persisted, section_key=result.section_key
        )

    def _told(self, bench_id: str) -> tuple[int, object]:
        """Return what is another after every change of the digest by a person."""
        return self._touched[bench_id], self.session(bench_id).workspace_digest.latest()

    @contextmanager
    def _by_hand(self, bench_id: str) -> Iterator[None]:
        with self._writing:
            self._touched[bench_id] += 1
            yield

    @contextmanager
    def _stoppable(self, bench_id: str, session: Session) -> Iterator[None]:
        with self._lock:
            self._running[bench_id] = session
        try:
            yield
        finally:
            with self._lock:
                self._running.pop(bench_id, None)

    def _pin(self, bench_id: str, body: str, source: str, fingerprint: str) -> None:
        clean = normalise_digest(body)
        if clean.suspect:
            raise ValidationFailed(
                "the text reads like instructions and is not pinned", reason="suspect_digest"
            )
        self._pins.put(bench_id, clean.body, {"source": source, "fingerprint": fingerprint})


def _focus(text: str | None) -> MarkdownSection | None:
    if text is None or not text.strip():
        return None
    if len(text) > FOCUS_MAX_CHARS:
        raise ValidationFailed("a focus has at most 2,000 characters", reason="bad_params")
    return MarkdownSection("Focus", text.replace("$", "$$"), key="focus")


_command = partial(method_command, phase="workshop")

DIGEST_COMMANDS: tuple[Command[Digests, Any, Any], ...] = (
    _command("DigestGet", "Show what prompts say about the files.", Digests.get, role="read"),
    _command(
        "DigestRefresh",
        "Write the digest of the files anew.",
        Digests.refresh,
        writes=True,
        role="write",
    ),
    _command("DigestSet", "Write the digest by hand.", Digests.set, writes=True, role="write"),
    _command("DigestClear", "Forget the digest.", Digests.clear, writes=True, role="write"),
    _command("PromptShow", "Show the prompt a model received.", Digests.prompt_show, role="read"),
)
