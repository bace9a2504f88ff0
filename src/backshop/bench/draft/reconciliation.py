"""A Draft whose Published was changed by others: brought onto what is there now (B9.16).

What others did, in the Published folder or by taking over such edits before, becomes Published with
a checkpoint; the Draft then begins from there. Nothing of either side is lost whatever is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backshop.base import paths, tree
from backshop.base.errors import LimitExceeded
from backshop.base.ids import TreeId

from .. import decide, requests
from ..answers import Reconciled, Resolved
from ..events import CheckpointCreated, FolderTaken, PublishedAdopted
from ..files.takeover import kept_before, taken_over
from ..folder import standing, taking
from ..folder.root import FolderAway, opened_root
from ..repository import BenchRepository
from ..state import BenchState
from ..view.folder import Outside
from . import outside_edit


@dataclass(frozen=True, slots=True)
class _Theirs:
    """Published with what others did to its folder: the tree, and the facts that make it so."""

    tree: TreeId
    nodes: Mapping[TreeId, bytes]
    adopted: PublishedAdopted | None = None
    checkpoint: CheckpointCreated | None = None
    edits: Sequence[Outside] = ()
    taken: FolderTaken | None = None
    """What of that was done in the folder that the bench follows."""


def reconcile(desk: BenchRepository, request: requests.PublishedReconcile) -> Reconciled:
    """Settle every path that others changed, and make the Draft publishable again."""
    choices = {paths.bench_path(one.path): one.keep for one in request.choices}
    with desk.locked(request.workbench_id) as state:
        draft = decide.require_draft(state)
        theirs = _theirs(desk, state)
        load = _loading(desk, theirs.nodes)
        found = [
            decide.Three(
                change.path, change.before, change.after, tree.lookup(draft.tree, change.path, load)
            )
            for change in tree.diff(draft.base_tree, theirs.tree, load)
        ]
        names = [*desk.entries(draft.tree), *(one.path for one in found)]
        settled, files = decide.settle(found, request.keep, choices, names)
        built = tree.change(draft.tree, files, load)
        resolved = tuple(
            Resolved(path=one.path, keep=one.keep, copy_path=one.copy_path) for one in settled
        )
        is_settled = not found and draft.base_generation == state.generation and not theirs.taken
        if request.dry_run or is_settled:
            return Reconciled(
                published_generation=state.generation, resolved=resolved, dry_run=request.dry_run
            )
        wish = decide.RebaseWish(
            built_on=(state.published, draft.tree),
            published=theirs.tree,
            tree=built.id,
            after=desk.totals_with(state, draft.tree, files, built.id),
            adopted=theirs.adopted,
            checkpoint=theirs.checkpoint,
            paths=tuple(one.path for one in found),
        )
        revision = desk.new_revision()
        done = desk.commit(
            request.workbench_id,
            lambda now: [
                *decide.rebase(now, wish, revision),
                *([] if theirs.taken is None else [theirs.taken]),
            ],
            blobs=(*theirs.nodes.values(), *built.nodes.values()),
        )
        if theirs.adopted is not None:
            desk.views.put_back(done.state, "published", theirs.edits)
    return Reconciled(
        published_generation=done.state.generation,
        draft_revision_id=revision,
        checkpoint_id=theirs.checkpoint.checkpoint_id if theirs.checkpoint else None,
        resolved=resolved,
        warnings=done.warnings,
    )


def _theirs(desk: BenchRepository, state: BenchState) -> _Theirs:
    edits = desk.views.outside(state, "published")
    files = outside_edit.files_of(state, outside_edit.adopted(desk, edits))
    own = _in_folder(desk, state)
    files |= taking.differing(desk, state, own)
    known = taking.known_with(desk, state, own, "user") if own else None
    nodes = {} if known is None else dict(known.nodes)
    taken = None if known is None else known.fact
    if not files:
        return _Theirs(state.published, nodes, taken=taken)
    built, facts, removed = taken_over(desk, state, files)
    nodes |= built.nodes
    if built.id == state.published:
        return _Theirs(state.published, nodes, taken=taken)
    return _Theirs(
        built.id,
        nodes,
        PublishedAdopted(tree=built.id, files=tuple(facts), removed=tuple(removed)),
        kept_before(desk, state),
        edits,
        taken,
    )


def _in_folder(desk: BenchRepository, state: BenchState) -> taking.Files:
    """Return what others did in the folder that the bench follows, if it can be looked at."""
    link = state.folder
    if link is None:
        return {}
    try:
        with opened_root(link.folder, link.inode) as root:
            found = standing.seen(desk, state, link, root)
            wanted = [one.path for one in found.outside if one.reason is None]
            return {} if found.is_empty else taking.read(desk, root, state, wanted)
    except (FolderAway, LimitExceeded):
        return {}


def _loading(desk: BenchRepository, fresh: Mapping[TreeId, bytes]) -> tree.Load:
    def load(node: TreeId) -> bytes:
        return fresh[node] if node in fresh else desk.store.load_tree(node)

    return load
