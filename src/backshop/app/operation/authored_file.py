"""What people write, workflows and prompt overrides: files of a home or, in a team, its store."""

from __future__ import annotations

from pathlib import Path

from backshop.base.ambient import Clock, Mint
from backshop.prompts import (
    DocumentStore,
    LocalPromptOverridesStore,
    StorePromptOverridesStore,
    find_root,
)
from backshop.rails import (
    Authoring,
    Catalog,
    Definitions,
    Places,
    Shelf,
    announcing,
    git_places,
    read_git_sources,
)
from backshop.store import Store, is_shared

from ..settings.resolution import Config

_OVERRIDES = "home-overrides"


def _keeps(config: Config, store: Store, kind: str) -> bool:
    """Say whether the store has it: that of a team has, and that of what was a team once."""
    return is_shared(config["database_url"]) or bool(store.streams(kind))


def open_overrides(config: Config, store: Store, clock: Clock) -> DocumentStore:
    """Return where prompt overrides are (P3.10, T6.1)."""
    if _keeps(config, store, _OVERRIDES):
        return StorePromptOverridesStore(store, clock=clock, kind=_OVERRIDES)
    return LocalPromptOverridesStore(find_root(home=config.home), clock=clock)


class Workflows:
    """Where the workflows of a home are, and who writes them (R3.2, T6.1)."""

    def __init__(self, config: Config, store: Store, mint: Mint) -> None:
        self.shelf = Shelf(store, config.home / "cache" / "workflows", mint)
        users = [config.home / "workflows", *map(Path, config["workflow_path"])]
        if _keeps(config, store, "workflows"):
            users.insert(0, self.shelf.folder)
        repositories = read_git_sources(config["rails.git_sources"])
        clones = config.home / "workflow-sources"
        places = Places(
            user_dirs=tuple(users),
            bundled_dirs=tuple(map(Path, config["rails.bundled_dirs"])),
            git=git_places(repositories, clones),
        )
        workspace = config["rails.workspace"]
        self.catalog = Catalog(places, self.shelf.bring)
        self.definitions = Definitions(
            Authoring(self.catalog, places, self.shelf),
            self.catalog,
            default_workspace=Path(workspace) if workspace else None,
            repositories=repositories,
            clones=clones,
            announce=lambda fact: announcing(store)(fact),  # opened with the first
        )
