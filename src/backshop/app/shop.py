"""`Backshop.open`: wires the rooms of one home together."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from backshop import __version__
from backshop.base.acting import By
from backshop.base.ambient import Clock, Mint, SystemClock
from backshop.base.event import known_after
from backshop.base.ids import BlobId, UserId
from backshop.store import Store

from .command.access import AccessGate
from .command.bench_name import named_bench
from .command.index import offered
from .command.registry import Registry
from .handle import BenchWorkshop
from .notice.hub import Hub, Signals
from .notice.lookup import Looker
from .operation.log import guard
from .people.people import People
from .people.quota import Limiter, limits_of
from .settings.resolution import Config, load
from .wiring.formats import open_formats

if TYPE_CHECKING:  # the rooms load when something of theirs is first asked for (S2.4)
    from backshop.bench import Bench
    from backshop.formats import Formats
    from backshop.models import Models
    from backshop.prompts import Prompts
    from backshop.rails import Definitions, Rails, Studio
    from backshop.workshop import Contextual, Conversations, Digests, Gatherer, Workshop

    from .operation.authored_file import Workflows
    from .operation.queue import TurnQueue


for _room in ("rails", "prompts", "bench", "models", "workshop"):
    # A stream may hold facts of any room; those of workbenches are looked for first, so that
    # reading one loads no more than it needs (S2.4, B11.8).
    known_after(partial(import_module, f"backshop.{_room}"))


Facade = TypeVar("Facade")
Asked = TypeVar("Asked")
Answered = TypeVar("Answered")


class Backshop:
    """The product on one home. Rooms are made when first asked for."""

    def __init__(self, config: Config, store: Store, clock: Clock, mint: Mint) -> None:
        self.config = config
        self.store = store
        self.clock = clock
        self.mint = mint
        store.blobs.heal_from(self._copies)

    def _copies(self, blob: BlobId) -> Iterable[Path]:
        """Name files that may hold a damaged content, also where no workbench was asked for yet."""
        return self.benches.desk.copies.of(blob)

    @classmethod
    def open(
        cls,
        home: str | Path | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        mint: Mint | None = None,
        door: str = "python",
    ) -> Backshop:
        """Open a home, creating it if need be; `settings` go before environment and file.

        `door` is what events say about how things came in (T1.6); of a `worker` also which it is.

        Raises:
            ValidationFailed: a setting is unknown or malformed.
            StoreUnavailable, WriteFailed, DiskFull: the home cannot be used.
        """
        config = load(home=Path(home) if home is not None else None, overrides=settings)
        guard(config)  # M3.12
        clock = clock or SystemClock()
        mint = mint or Mint(clock)
        store = Store.open(
            config.home,
            database_url=config["database_url"],
            blobs_url=config["blobs_url"],
            clock=clock,
            mint=mint,
            lock_wait_ms=config["store.lock_wait_ms"],
            connections=config["store.connections"],
            place=By(door=door, worker=_process() if door == "worker" else None),
        )
        return cls(config, store, clock, mint)

    @cached_property
    def _workflows(self) -> Workflows:
        from .operation.authored_file import Workflows

        return Workflows(self.config, self.store, self.mint)

    @property
    def definitions(self) -> Definitions:
        """Workflow definitions as people write them."""
        return self._workflows.definitions

    @cached_property
    def rails(self) -> Rails:
        """Workflows for agents."""
        from backshop.rails import Rails, Settings

        config = self.config
        workspace = config["rails.workspace"]
        settings = Settings(
            preset=config["rails.preset"],
            notes=config["rails.notes"],
            agent_may_automate=config["rails.agent_may_automate"],
            agent_may_approve=config["rails.agent_may_approve"],
            workspace=Path(workspace) if workspace else None,
            max_blocked=config["rails.max_blocked_attempts"],
            retention_days=config["rails.retention_days"],
            checkpoint_workflow=config["rails.tools.checkpoint_workflow"],
            resume_session=config["rails.tools.resume_session"],
            start_session=config["rails.tools.start_session"],
        )
        return Rails(self.store, self._workflows.catalog, settings=settings)

    @cached_property
    def sessions(self) -> Studio:
        """Sessions as a person sees them: listed, shown, exported, imported, kept, deleted."""
        from backshop.rails import Studio

        return Studio(self.rails, self.clock)

    @cached_property
    def formats(self) -> Formats:
        """What is inside files; its workers start with the first call and end with `close`."""
        cache = None if self.store.is_read_only else self.config.home / "cache"
        return open_formats(self.config, cache)

    @cached_property
    def benches(self) -> Bench:
        """Files, Draft, review and checkpoints."""
        from backshop.bench import Bench

        from .wiring.bench import LoggedConversations, bench_settings

        return Bench(
            self.store,
            self.formats,
            self.mint,
            self.clock,
            bench_settings(self.config),
            conversations=LoggedConversations(self.store),
            announce=self._signals.announce,
            room=self.limiter.require_room if self.config["team.stored_bytes"] else None,
            names=self.people.names,
        )

    @cached_property
    def _signals(self) -> Signals:
        return Signals(self.store)

    @cached_property
    def prompts(self) -> Prompts:
        """Prompts that are bundled or installed, and their overrides."""
        from backshop.prompts import Prompts, installed_prompts
        from backshop.workshop import workshop_prompts

        from .operation.authored_file import open_overrides

        known = (*workshop_prompts(), *installed_prompts())
        return Prompts(known, open_overrides(self.config, self.store, self.clock))

    @cached_property
    def models(self) -> Models:
        """Providers, keys, consent, and adapters that call models."""
        from backshop.formats import Kind
        from backshop.models import CallLimits, Models, load_plugins

        from .wiring.models import BenchScopes, FileSettings

        return Models(
            store=self.store,
            settings=FileSettings(self.config),
            home=self.config.home,
            clock=self.clock,
            mint=self.mint,
            offline=self.config["offline"],
            scopes=BenchScopes(self.benches),
            plugins=load_plugins(),
            formats=tuple(kind.value for kind in Kind),
            proxy=self.config["network.proxy"],
            limits=CallLimits(
                first_event_s=self.config["models.first_event_s"],
                first_event_local_s=self.config["models.first_event_local_s"],
                idle_s=self.config["models.idle_s"],
                call_s=self.config["models.call_s"],
            ),
            redactor=guard(self.config),
        )

    @cached_property
    def hub(self) -> Hub:
        """Notifications of everything that is committed, here or by another process."""
        look = Looker(self.store, lambda: self._book, self.ask)
        return Hub(self.store, look, self.clock, self._signals)

    @cached_property
    def contextual(self) -> Contextual:
        """Context items made by a model."""
        from backshop.workshop import Contextual

        timeout_s = self.config["workshop.context_timeout_s"]
        return Contextual(self.benches, self.models, timeout_s=timeout_s)

    def workshop(self, bench: str) -> BenchWorkshop:
        """Return the Workshop of one workbench, which is named as for `bench_id` (S8.1)."""
        return BenchWorkshop(
            self.bench_id(bench), self.ask, lambda: self.benches, lambda: self.workshops.book
        )

    @cached_property
    def _book(self) -> Conversations:
        from backshop.workshop import Conversations

        return Conversations(
            self.benches,
            self.mint,
            self.clock,
            self.config["team.lease_s"],
            program=__version__,
            gone=lambda user_id: user_id not in self.people.state.users,
        )

    @cached_property
    def workshops(self) -> Workshop:
        """The conversation of every workbench, and the built-in agent."""
        from backshop.models import LoopGuard
        from backshop.workshop import Settings, WorkLimits, Workshop

        config = self.config
        return Workshop(
            self._book,
            self.models,
            self.rails,
            publish=self._signals.announce,
            settings=Settings(
                flow=None if config.is_default("workshop.flow") else config["workshop.flow"],
                max_turn_minutes=config["workshop.max_turn_minutes"],
                guard=LoopGuard(
                    window=config["workshop.loop_window"],
                    warning=config["workshop.loop_warning"],
                    stop=config["workshop.loop_stop"],
                ),
                limits=WorkLimits(
                    requests=config["workshop.work_requests"],
                    calls=config["workshop.work_calls"],
                    writes=config["workshop.work_writes"],
                    files=config["workshop.work_files"],
                ),
                max_pictures=config["workshop.max_pictures"],
                talk_on_draft=config["workshop.talk_on_draft"],
            ),
            overrides=self.prompts.overrides,
            gatherer=self.gatherer,
            stop_digest=self.digests.cancel,
            admit=self.limiter.require_turn,
            hands=self.queue if config["team.workers"] == "external" else None,
        )

    @cached_property
    def queue(self) -> TurnQueue:
        """Turns that wait for a worker (T6.2); refused on SQLite."""
        from .operation.queue import TurnQueue

        return TurnQueue(self.config["database_url"])

    @cached_property
    def gatherer(self) -> Gatherer:
        """The facts of calls about workbenches."""
        from backshop.workshop import Gatherer

        keywords = self.benches.desk.settings.style_keywords
        return Gatherer(self.benches, self.clock, keywords=keywords)

    @cached_property
    def digests(self) -> Digests:
        """What prompts say about the files of each workbench."""
        from backshop.workshop import Digests, chosen_model

        return Digests(
            self._book,
            self.gatherer,
            self.prompts.overrides,
            lambda bench_id, workspace: self.models.adapter(
                chosen_model(self.store, bench_id), workbench_id=bench_id, workspace=workspace
            ),
        )

    @cached_property
    def commands(self) -> Registry:
        """Every command of the product."""
        return offered(self)

    @cached_property
    def people(self) -> People:
        """Who shares this home."""
        made = People(self.store, self.mint, self.clock)
        made.on_removal(lambda user: self.workshops.stop_turns_of(user))  # loaded then (S2.4)
        return made

    @cached_property
    def gate(self) -> AccessGate:
        """Where access is decided."""
        return AccessGate(self.people, lambda: self.rails, self.limiter)

    @cached_property
    def limiter(self) -> Limiter:
        """What each person may use."""
        return Limiter(self.store, self.people, self.clock, limits_of(self.config))

    def call(self, name: str, request: object, *, user: UserId | None = None) -> Any:
        """Run a command by name on parsed JSON for somebody, or for the home's owner."""
        return self.commands.call(name, request, user=user)

    def ask(
        self,
        method: Callable[[Facade, Asked], Answered],
        request: Asked,
        *,
        user: UserId | None = None,
    ) -> Answered:
        """Run the command that a method of a facade is, and return its typed answer.

        >>> shop.ask(People.user_list, Nothing()).users
        """
        return self.commands.ask(method, request, user=user)

    def work(self, *, turns: int, grace_s: float, ready: Callable[[], None]) -> None:
        """Be a worker until told to stop by a signal (T6.2); for a home opened as one's `door`."""
        self.queue.prepare()
        self.queue.close()  # the worker has connections of its own to it
        from .operation.worker import Worker  # after the queue: it says what is missing

        url = self.config["database_url"]
        Worker(self.workshops, url, turns=turns, grace_s=grace_s).run(ready)

    def bench_id(self, text: str) -> str:
        """Return the id that an id, a unique prefix of one, or a unique name stands for (S4.3).

        Raises:
            NotFound, ValidationFailed: it stands for none, or for several; hints say which.
        """
        return named_bench(self.ask, text)

    def close(self) -> None:
        """End the processes of formats and the threads of the rest, and close the store."""
        for made in ("hub", "models", "formats", "queue"):
            if made in self.__dict__:
                getattr(self, made).close()
        self.store.close()

    def __enter__(self) -> Backshop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _process() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
