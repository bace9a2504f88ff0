"""Files of a bench handed out as bytes, for doors that send them to a person (S7.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from backshop.base import paths
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId, TreeId
from backshop.base.paths import BenchPath

from .service import Bench
from .state import BenchState


@dataclass(frozen=True, slots=True)
class Download:
    """One file: where it lies in the bench, how long it is, and its bytes when asked for."""

    path: BenchPath
    size: int
    sha256: BlobId
    bench: Bench

    def open(self) -> BinaryIO:
        """Return its bytes from the beginning; the caller closes it."""
        return self.bench.desk.store.blobs.open(self.sha256)


def hand_out(bench: Bench, bench_id: str, path: str, view: str = "published") -> Download:
    """Return one file of a view.

    Raises:
        ValidationFailed: not a bench path, or not a view.
        NotFound: no such bench, Draft or file.
    """
    wanted = paths.bench_path(path)
    file = bench.desk.find(_tree(bench.desk.state(bench_id), view), wanted)
    return Download(wanted, file.size, file.sha256, bench)


def hand_out_all(bench: Bench, bench_id: str) -> list[Download]:
    """Return every Published file, by path."""
    entries = bench.desk.entries(bench.desk.state(bench_id).published)
    return [Download(path, file.size, file.sha256, bench) for path, file in sorted(entries.items())]


def _tree(state: BenchState, view: str) -> TreeId:
    if view == "published":
        return state.published
    if view != "draft":
        raise ValidationFailed("a view is published or draft", reason="bad_params")
    if state.draft is None:
        raise NotFound("this workbench has no Draft", reason="no_draft")
    return state.draft.tree
