"""What the models room needs from the rest: settings in the home's file, content of a bench."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backshop.bench import Bench, scope_texts
from backshop.models import Scope, ScopeFile, ScopeText

from ..settings.resolution import Config, in_force, save, update


class FileSettings:
    """Settings as the home keeps them; what environment or caller set goes before the file."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def get(self, name: str) -> Any:
        """Return the value in force."""
        return in_force(self._config, name)

    def put(self, name: str, value: Any) -> None:
        """Keep a value in `settings.json`; None removes it."""
        save(self._config.home, name, value)

    def update(self, name: str, change: Callable[[Any], Any]) -> None:
        """Change a value in one breath: nobody writes between reading and keeping it (M3.11)."""
        update(self._config.home, name, lambda: change(self.get(name)))


class BenchScopes:
    """What the person brought into a workbench: imported files and texts of context (M4.6)."""

    def __init__(self, benches: Bench) -> None:
        self._benches = benches

    def scope(self, workbench_id: str) -> Scope:
        """Return the scope of a workbench now.

        Raises:
            NotFound: there is no such workbench.
        """
        brought = self._benches.desk.state(workbench_id).brought()
        files = (ScopeFile(path, one.sha256, one.size) for path, one in brought)
        texts = scope_texts(self._benches.desk, workbench_id)
        return Scope(tuple(files), tuple(ScopeText(*one) for one in texts))

    def model(self, workbench_id: str) -> str | None:
        """Return the model that was chosen for a workbench (M2.1)."""
        from backshop.workshop import chosen_model  # loaded on first use (S2.4)

        return chosen_model(self._benches.desk.store, workbench_id)
