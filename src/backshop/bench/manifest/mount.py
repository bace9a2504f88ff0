"""A bench as prompts mount it: `BenchMount(BenchView(bench, workbench_id))` (P6.2)."""

from __future__ import annotations

from collections.abc import Mapping

from backshop.base import tree
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import TreeId
from backshop.base.paths import BenchPath, bench_path
from backshop.prompts import Manifest, ManifestEntry

from ..service import Bench


class BenchView:
    """The files of one bench for a prompt. What was listed stays readable as it was listed."""

    def __init__(self, bench: Bench, workbench_id: str) -> None:
        self._desk = bench.desk
        self._bench_id = workbench_id
        self._listed: dict[str, Mapping[BenchPath, tree.File]] = {}

    def manifest(self, view: str) -> Manifest:
        """Return the files of `published` or `draft` now.

        Raises:
            NotFound: there is no such workbench, or no Draft.
            ValidationFailed: there is no such view.
        """
        found = self._desk.entries(self._tree(view))
        self._listed[view] = found
        return Manifest(
            tuple(ManifestEntry(path, one.size, one.sha256) for path, one in found.items())
        )

    def open(self, view: str, path: str) -> bytes:
        """Return the content of a file of a view, as it was when the view was listed last."""
        if view not in self._listed:
            self.manifest(view)
        found = self._listed[view].get(bench_path(path))
        if found is None:
            raise NotFound("there is no such file", reason="not_found")
        return self._desk.store.blobs.read(found.sha256)

    def _tree(self, view: str) -> TreeId:
        state = self._desk.state(self._bench_id)
        if view == "published":
            return state.published
        if view != "draft":
            raise ValidationFailed("a view is published or draft", reason="bad_view")
        if state.draft is None:
            raise NotFound("this workbench has no draft", reason="no_draft")
        return state.draft.tree
