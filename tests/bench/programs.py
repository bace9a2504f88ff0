"""Two programs that use one home: one in this process, one in a process of its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from tests.bench.conftest import AGENT

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.base.tree import EMPTY
from backshop.bench import Put
from backshop.bench.repository import stream_of

ANSWER_S = 120
Files = dict[str, str]


@dataclass(frozen=True)
class Look:
    """What a program sees of a bench, by content."""

    published: Files
    generation: int
    draft: Files | None
    draft_tree: str | None
    draft_revision: str | None
    revisions: list[str]
    checkpoints: list[tuple[str, str, Files]]
    sizes: dict[str, int]
    total_bytes: int
    unpinned: set[str]
    """Trees that are pinned and not needed, or needed and not pinned."""


class Program(Protocol):
    """Somebody who runs commands about benches of one home."""

    def call(self, name: str, request: dict[str, object]) -> Any:
        """Run a command."""
        ...

    def write(self, bench_id: str, files: Files) -> None:
        """Write to the Draft as an agent does."""
        ...

    def look(self, bench_id: str) -> Look:
        """Return what it sees."""
        ...

    def restart(self) -> None:
        """End and begin again."""
        ...

    def close(self) -> None:
        """End."""
        ...


class Here:
    """A program in this process; it restarts in good order."""

    def __init__(self, home: Path, settings: dict[str, object]) -> None:
        self._open: Callable[[], Backshop] = lambda: Backshop.open(home, settings=settings)
        self._shop = self._open()

    def call(self, name: str, request: dict[str, object]) -> Any:
        return self._shop.call(name, request)

    def write(self, bench_id: str, files: Files) -> None:
        put = self._shop.store.blobs.put
        puts = [Put(path=p, blob=put(t.encode()), size=len(t)) for p, t in files.items()]
        self._shop.benches.apply_batch(bench_id, puts, AGENT)

    def look(self, bench_id: str) -> Look:
        desk = self._shop.benches.desk
        state = desk.state(bench_id)
        draft = state.draft
        pinned = {pin.ref for pin in desk.store.pins(stream_of(bench_id)) if pin.kind == "tree"}

        def files(tree_id: Any) -> Files:
            entries = desk.entries(tree_id).items()
            return {path: desk.store.blobs.read(file.sha256).decode() for path, file in entries}

        return Look(
            published=files(state.published),
            generation=state.generation,
            draft=None if draft is None else files(draft.tree),
            draft_tree=None if draft is None else draft.tree,
            draft_revision=None if draft is None else draft.revision_id,
            revisions=[one.revision_id for one in state.revisions.all()],
            checkpoints=[(c.checkpoint_id, c.reason, files(c.tree)) for c in state.checkpoints],
            sizes={path: record.size for path, record in state.files.records.items()},
            total_bytes=state.files.total_bytes,
            unpinned={*pinned} ^ {*(state.roots() - {EMPTY})},
        )

    def restart(self) -> None:
        self._shop.close()
        self._shop = self._open()

    def close(self) -> None:
        self._shop.close()


class Refused(BackshopError):
    """What the other process was answered."""

    def __init__(self, code: str, reason: str | None) -> None:
        self.code = code  # type: ignore[misc]  # one class for whatever code the other one got
        super().__init__("refused", reason=reason)


class There:
    """A program in a process of its own; a restart kills it."""

    def __init__(self, home: Path, settings: dict[str, object]) -> None:
        self._arguments = (home, settings)
        self._begin()

    def _begin(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._arguments), daemon=True)
        self._process.start()
        theirs.close()
        self._ask("ready")

    def _ask(self, *order: object) -> Any:
        self._line.send(order)
        assert self._line.poll(ANSWER_S), f"no answer to {order}"
        refused, answer = self._line.recv()
        if refused:
            raise Refused(*answer)
        return answer

    def call(self, name: str, request: dict[str, object]) -> Any:
        return self._ask("call", name, request)

    def write(self, bench_id: str, files: Files) -> None:
        self._ask("write", bench_id, files)

    def look(self, bench_id: str) -> Look:
        found: Look = self._ask("look", bench_id)
        return found

    def restart(self) -> None:
        self._process.kill()
        self._process.join()
        self._line.close()
        self._begin()

    def close(self) -> None:
        self._line.close()
        self._process.join()


def _serve(line: Connection, home: Path, settings: dict[str, object]) -> None:
    """Answer one order after the other until the other side is gone."""
    here = Here(home, settings)
    while True:
        try:
            what, *arguments = line.recv()
        except EOFError:
            here.close()
            return
        try:
            line.send((False, None if what == "ready" else getattr(here, what)(*arguments)))
        except BackshopError as error:
            line.send((True, (error.code, error.reason)))
