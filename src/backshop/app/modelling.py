"""What the models room needs from the rest: settings in the home's file, content of a bench."""

from __future__ import annotations

from typing import Any

from backshop.bench import KEYWORDS, Bench, BenchSettings, Limits, scope_texts
from backshop.models import Scope, ScopeFile, ScopeText

from .config import Config, read_file, save


class FileSettings:
    """Settings as the home keeps them; what environment or caller set goes before the file."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def get(self, name: str) -> Any:
        """Return the value in force."""
        effective = self._config.values[name]
        if effective.source not in ("file", "default"):
            return effective.value
        stored = read_file(self._config.home)
        return stored.get(name, effective.setting.default)

    def put(self, name: str, value: Any) -> None:
        """Keep a value in `settings.json`; None removes it."""
        save(self._config.home, name, value)


def bench_settings(config: Config) -> BenchSettings:
    """Return what a person set for all workbenches."""
    limits, keywords = config["limits"], config["bench.style_keywords"]
    return BenchSettings(
        profile=config["bench.profile"],
        limits=None if limits is None else Limits(**limits),
        batch_operations=config["bench.batch_operations"],
        batch_files=config["bench.batch_files"],
        batch_bytes=config["bench.batch_bytes"],
        trash_days=config["bench.trash_days"],
        max_revisions=config["workshop.max_revisions"],
        checkpoint_max_bytes=config["bench.checkpoint_max_bytes"],
        disk_reserve_bytes=config["bench.disk_reserve_bytes"],
        style_keywords={**KEYWORDS, **(keywords or {})},
    )


class BenchScopes:
    """What the person brought into a workbench: imported files and texts of context (M4.6)."""

    def __init__(self, benches: Bench) -> None:
        self._benches = benches

    def scope(self, workbench_id: str) -> Scope:
        """Return the scope of a workbench now.

        Raises:
            NotFound: there is no such workbench.
        """
        records = self._benches.desk.state(workbench_id).files.records
        files = (
            ScopeFile(path, record.import_sha256, record.size)
            for path, record in ((path, records[path]) for path in records)
            if record.origin == "import" and record.import_sha256 is not None
        )
        texts = scope_texts(self._benches.desk, workbench_id)
        return Scope(tuple(files), tuple(ScopeText(*one) for one in texts))
