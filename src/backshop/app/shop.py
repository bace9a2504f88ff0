"""`Backshop.open`: wires the rooms of one home together."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from backshop.base.ambient import Clock, Mint, SystemClock
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import UserId
from backshop.bench import COMMANDS as BENCH_COMMANDS
from backshop.bench import Bench
from backshop.formats import Formats, Kind
from backshop.models import COMMANDS as MODEL_COMMANDS
from backshop.models import Models, load_plugins
from backshop.prompts import COMMANDS as PROMPT_COMMANDS
from backshop.prompts import LocalPromptOverridesStore, Prompts, find_root, installed_prompts
from backshop.rails import COMMANDS as RAILS_COMMANDS
from backshop.rails import (
    DEFINITION_COMMANDS,
    Authoring,
    Catalog,
    Definitions,
    Places,
    Rails,
    git_places,
    read_git_sources,
)
from backshop.rails import Settings as RailsSettings
from backshop.store import COMMANDS as STORE_COMMANDS
from backshop.store import Store
from backshop.workshop import COMMANDS as WORKSHOP_COMMANDS
from backshop.workshop import CONTEXT_COMMANDS, Contextual, Workshop

from .access import Gate
from .access import Limits as AccessLimits
from .commands import Registry
from .config import Config, load
from .engine import COMMANDS as ENGINE_COMMANDS
from .engine import Engine
from .hub import Hub
from .modelling import BenchScopes, FileSettings
from .people import COMMANDS as PEOPLE_COMMANDS
from .people import People


class Backshop:
    """The product on one home. Rooms are made when first asked for.

    >>> with Backshop.open(home) as shop:
    ...     shop.call("StoreDoctor", {})
    """

    def __init__(self, config: Config, store: Store, clock: Clock, mint: Mint) -> None:
        self.config = config
        self.store = store
        self.clock = clock
        self.mint = mint

    @classmethod
    def open(
        cls,
        home: str | Path | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        mint: Mint | None = None,
    ) -> Backshop:
        """Open a home, creating it if need be; `settings` go before environment and file.

        Raises:
            ValidationFailed: a setting is unknown or malformed.
            StoreUnavailable, WriteFailed, DiskFull: the home cannot be used.
        """
        config = load(home=Path(home) if home is not None else None, overrides=settings)
        clock = clock or SystemClock()
        mint = mint or Mint(clock)
        store = Store.open(
            config.home,
            database_url=config["database_url"],
            clock=clock,
            mint=mint,
            lock_wait_ms=config["store.lock_wait_ms"],
        )
        return cls(config, store, clock, mint)

    @cached_property
    def _workflow_places(self) -> Places:
        config = self.config
        users = [config.home / "workflows", *map(Path, config["workflow_path"])]
        return Places(
            user_dirs=tuple(users),
            bundled_dirs=tuple(map(Path, config["rails.bundled_dirs"])),
            git=git_places(read_git_sources(config["rails.git_sources"]), self._clones),
        )

    @cached_property
    def _catalog(self) -> Catalog:
        return Catalog(self._workflow_places)

    @property
    def _clones(self) -> Path:
        return self.config.home / "workflow-sources"

    @cached_property
    def definitions(self) -> Definitions:
        """Workflow definitions as people write them."""
        workspace = self.config["rails.workspace"]
        return Definitions(
            Authoring(self._catalog, self._workflow_places),
            self._catalog,
            default_workspace=Path(workspace) if workspace else None,
            repositories=read_git_sources(self.config["rails.git_sources"]),
            clones=self._clones,
        )

    @cached_property
    def rails(self) -> Rails:
        """Workflows for agents."""
        config = self.config
        workspace = config["rails.workspace"]
        settings = RailsSettings(
            preset=config["rails.preset"],
            notes=config["rails.notes"],
            workspace=Path(workspace) if workspace else None,
            max_blocked=config["rails.max_blocked_attempts"],
            retention_days=config["rails.retention_days"],
            checkpoint_workflow=config["rails.tools.checkpoint_workflow"],
            resume_session=config["rails.tools.resume_session"],
            start_session=config["rails.tools.start_session"],
        )
        return Rails(self.store, self._catalog, settings=settings)

    @cached_property
    def formats(self) -> Formats:
        """What is inside files; its workers start with the first call and end with `close`."""
        return Formats(cache=self.config.home / "cache")

    @cached_property
    def benches(self) -> Bench:
        """Files, Draft, review and checkpoints."""
        return Bench(self.store, self.formats, self.mint, self.clock)

    @cached_property
    def prompts(self) -> Prompts:
        """Prompts that are bundled or installed, and their overrides."""
        root = find_root(home=self.config.home)
        return Prompts(installed_prompts(), LocalPromptOverridesStore(root, clock=self.clock))

    @cached_property
    def models(self) -> Models:
        """Providers, keys, consent, and adapters that call models."""
        made = Models(
            store=self.store,
            settings=FileSettings(self.config),
            home=self.config.home,
            clock=self.clock,
            mint=self.mint,
            offline=self.config["offline"],
            scopes=BenchScopes(self.benches),
            plugins=load_plugins(),
            formats=tuple(kind.value for kind in Kind),
        )
        for sink in (*logging.getLogger().handlers, logging.lastResort):
            if sink is not None:
                sink.addFilter(made.redactor)  # M3.12
        return made

    @cached_property
    def hub(self) -> Hub:
        """Notifications of everything that is committed, here or by another process."""
        return Hub(self.store)

    @cached_property
    def contextual(self) -> Contextual:
        """Context items made by a model."""
        return Contextual(self.benches, self.models)

    @cached_property
    def workshop(self) -> Workshop:
        """The conversation of every workbench, and the built-in agent."""
        return Workshop(
            self.benches, self.models, self.mint, self.clock, flow=self.config["workshop.flow"]
        )

    @cached_property
    def commands(self) -> Registry:
        """Every command of the product."""
        registry = Registry(self.gate)
        registry.add(PEOPLE_COMMANDS, self.people)
        registry.add(STORE_COMMANDS, self.store)
        registry.add(RAILS_COMMANDS, self.rails)
        registry.add(DEFINITION_COMMANDS, self.definitions)
        registry.add(BENCH_COMMANDS, self.benches)
        registry.add(PROMPT_COMMANDS, self.prompts)
        registry.add(MODEL_COMMANDS, self.models)
        registry.add(CONTEXT_COMMANDS, self.contextual)
        registry.add(WORKSHOP_COMMANDS, self.workshop)
        registry.add(ENGINE_COMMANDS, Engine(self.config, registry.errors))
        return registry

    @cached_property
    def people(self) -> People:
        """Who shares this home."""
        return People(self.store, self.mint)

    @cached_property
    def gate(self) -> Gate:
        """Where access is decided."""
        limits = AccessLimits(requests_per_minute=self.config["team.requests_per_minute"])
        return Gate(self.people, lambda: self.rails, self.clock, limits)

    def call(self, name: str, request: object, *, user: UserId | None = None) -> Any:
        """Run a command by name on parsed JSON and return parsed JSON.

        `user` is whoever asks; without one it is the home's owner.
        """
        return self.commands.call(name, request, user=user)

    def bench_id(self, text: str) -> str:
        """Return the id that an id, a unique prefix of one, or a unique name stands for (S4.3).

        Raises:
            NotFound: nothing is called so.
            ValidationFailed: `ambiguous`; the hints list the candidates.
        """
        found: list[dict[str, Any]] = []
        request: dict[str, Any] = {"limit": 200, "include_trash": True}
        while True:
            page = self.call("WorkbenchList", request)
            found += page["workbenches"]
            if (cursor := page.get("next_cursor")) is None:
                break
            request = {**request, "cursor": cursor}
        exact = [one for one in found if text in (one["workbench_id"], one["name"])]
        matches = exact or [one for one in found if one["workbench_id"].startswith(text)]
        live = [one for one in matches if "deleted_at" not in one]
        matches = live or matches
        if not matches or not text:
            raise NotFound(f"there is no workbench {text!r}", reason="not_found")
        if len(matches) > 1:
            names = tuple(f"{one['workbench_id']} ({one['name']})" for one in matches[:10])
            raise ValidationFailed(
                f"{text!r} could be {len(matches)} workbenches", reason="ambiguous", hints=names
            )
        return str(matches[0]["workbench_id"])

    def close(self) -> None:
        """End the workers and close the store."""
        if "hub" in self.__dict__:
            self.hub.close()
        if "formats" in self.__dict__:
            self.formats.close()
        self.store.close()

    def __enter__(self) -> Backshop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
