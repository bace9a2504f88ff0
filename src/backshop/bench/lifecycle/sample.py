"""A workbench with files to try things on (B18.1)."""

from __future__ import annotations

import tempfile
from itertools import chain, count
from pathlib import Path

from backshop.base import tree
from backshop.base.ids import BenchId
from backshop.base.paths import bench_path
from backshop.formats import write_samples
from backshop.store import Caller

from .. import decide, requests
from ..answers import SampleCreated
from ..errors import BenchDamaged
from ..repository import BenchRepository
from ..requests import SAMPLE_NAME as NAME
from ..values import FileFact


def create(
    desk: BenchRepository, request: requests.WorkbenchCreateSample, caller: Caller
) -> SampleCreated:
    """Make a workbench with the sample files; it is there whole or not at all."""
    taken = _names(desk)
    if request.reuse and NAME in taken:
        return SampleCreated(workbench_id=taken[NAME], name=NAME, created=False)
    numbered = (f"{NAME} {number}" for number in count(2))
    name = next(name for name in chain((NAME,), numbered) if name not in taken)
    with tempfile.TemporaryDirectory(prefix="backshop-sample-") as folder:
        files = {
            bench_path(path.name): tree.File(desk.store.blobs.put(path), path.stat().st_size)
            for path in write_samples(Path(folder))
        }
    built = desk.grow(tree.EMPTY, dict(files))
    facts = tuple(
        FileFact(
            path=path,
            file_id=desk.new_file(),
            sha256=file.sha256,
            size=file.size,
            imported=True,
        )
        for path, file in files.items()
    )
    bench_id = desk.new_bench()
    model_id = desk.settings.default_model()
    created = decide.create(bench_id, name, tree_id=built.id, files=facts, model_id=model_id)
    desk.commit(
        bench_id,
        lambda _: created,
        blobs=tuple(built.nodes.values()),
        beginning=caller.beginning,
    )
    return SampleCreated(workbench_id=bench_id, name=name, created=True)


def _names(desk: BenchRepository) -> dict[str, BenchId]:
    """Return the workbenches that are there, by name; of several the oldest."""
    found: dict[str, BenchId] = {}
    for head in desk.store.streams("bench"):
        try:
            state = desk.raw_state(head.stream.partition(":")[2])
        except BenchDamaged:
            continue  # its name cannot be read
        if state.exists and state.bench_id is not None:
            found.setdefault(state.name, state.bench_id)
    return found
