"""The rules of a workbench: state and wish in, facts out, or a refusal. No clock, no disk.

Trees are built by the caller beforehand and come in as values; ids come in ready-made.
"""

from .bench import change_context, create, delete, fork, name_of, rename, set_limits, undelete
from .checkpoint import (
    checkpoint,
    checkpoint_by_hand,
    fresh_pins,
    pin,
    prune,
    restore,
    stale_pins,
    with_facts,
)
from .draft import (
    BatchIds,
    BatchWish,
    PublishWish,
    batch,
    confirm_deletions,
    discard,
    open_draft,
    publish,
    restore_revision,
    rewind,
)
from .files import add, adopt, remove, rename_file
from .reconcile import CHOICES, KEEP, RebaseWish, Settled, Three, rebase, settle
from .refuse import (
    LISTED_PATHS,
    Totals,
    require_checkpoint,
    require_draft,
    require_exists,
    require_no_draft,
    require_room,
    revision_of,
)

__all__ = [
    "CHOICES",
    "KEEP",
    "LISTED_PATHS",
    "BatchIds",
    "BatchWish",
    "PublishWish",
    "RebaseWish",
    "Settled",
    "Three",
    "Totals",
    "add",
    "adopt",
    "batch",
    "change_context",
    "checkpoint",
    "checkpoint_by_hand",
    "confirm_deletions",
    "create",
    "delete",
    "discard",
    "fork",
    "fresh_pins",
    "name_of",
    "open_draft",
    "pin",
    "prune",
    "publish",
    "rebase",
    "remove",
    "rename",
    "rename_file",
    "require_checkpoint",
    "require_draft",
    "require_exists",
    "require_no_draft",
    "require_room",
    "restore",
    "restore_revision",
    "revision_of",
    "rewind",
    "set_limits",
    "settle",
    "stale_pins",
    "undelete",
    "with_facts",
]
