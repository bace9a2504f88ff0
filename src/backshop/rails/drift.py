"""Whether a pinned workflow still is what its source says (R2.7), without looking twice."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from .catalog.catalog import Catalog
from .compile import Compiled
from .definition.identity import RESERVED, namespace_of
from .errors import RailsError
from .run.judge import warning

Json = dict[str, object]
_Stamps = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a source said when it was last read; `stamps` tell whether to read it again."""

    file: str  # empty when there is none
    stamps: _Stamps
    workflow_hash: str | None
    bindings: tuple[tuple[str, str], ...]


class Drift:
    """Compares pinned workflows with their sources; unchanged folders cost one look at them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, Path | None], _Seen] = {}

    def warnings(self, pinned: Compiled, pinned_hash: str, workspace: Path | None) -> list[Json]:
        """Return what has changed since the run began; warnings only."""
        now = self._now(pinned.workflow_id, workspace)
        if now.workflow_hash is None:
            message = f"The source of {pinned.workflow_id} is gone or broken; the run goes on."
            return [warning("WORKFLOW_SOURCE_MISSING", message, workflowId=pinned.workflow_id)]
        found = []
        for slot, current in now.bindings:
            before = pinned.bindings.get(slot)
            if before is not None and before != current:
                message = f"The slot {slot} is bound to {current} now; the run keeps {before}."
                found.append(
                    warning("BINDING_DRIFT", message, slotId=slot, pinned=before, current=current)
                )
        if now.workflow_hash != pinned_hash:
            message = f"{pinned.workflow_id} has changed; the run keeps the text it began with."
            found.append(
                warning(
                    "WORKFLOW_DRIFT",
                    message,
                    workflowId=pinned.workflow_id,
                    pinnedHash=pinned_hash,
                    currentHash=now.workflow_hash,
                )
            )
        return found

    def _now(self, workflow_id: str, workspace: Path | None) -> _Seen:
        key = (workflow_id, workspace)
        with self._lock:
            known = self._seen.get(key)
        if known is not None and known.stamps == self._stamps(known.file, workflow_id, workspace):
            return known
        seen = self._look(workflow_id, workspace)
        with self._lock:
            self._seen[key] = seen
        return seen

    def _look(self, workflow_id: str, workspace: Path | None) -> _Seen:
        try:
            workflow = self._catalog.look(workspace).load(workflow_id)
        except RailsError:
            return _Seen("", (), None, ())
        file = str(workflow.entry.stamp.path)
        bindings = tuple(sorted(workflow.compiled.bindings.items()))
        stamps = self._stamps(file, workflow_id, workspace)
        return _Seen(file, stamps, workflow.workflow_hash, bindings)

    def _stamps(self, file: str, workflow_id: str, workspace: Path | None) -> _Stamps:
        """Return the state of everything that could answer to the id instead, and of the file."""
        names = [file]
        if workspace is not None:
            names.append(str(workspace / ".backshop" / "bindings.json"))
        rivals = () if namespace_of(workflow_id) == RESERVED else self._catalog.rivals(workspace)
        return (
            *(_stamp(name) for name in names),
            *((str(one.path), one.size, one.mtime_ns) for one in rivals),
        )


def _stamp(name: str) -> tuple[str, int, int]:
    try:
        status = os.stat(name)  # noqa: PTH116  # the one call of every advance
    except OSError:
        return name, -1, -1
    return name, status.st_size, status.st_mtime_ns
