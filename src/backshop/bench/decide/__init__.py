"""The rules of a workbench: state and wish in, facts out, or a refusal. No clock, no disk.

Trees are built by the caller beforehand and come in as values; ids come in ready-made.
"""

from .bench import (
    ForkWish,
    change_context,
    create,
    delete,
    fork,
    name_of,
    rename,
    set_limits,
    undelete,
)
from .checkpoint import (
    checkpoint,
    checkpoint_by_hand,
    pin,
    pins,
    restore,
    with_facts,
)
from .draft import (
    BatchIds,
    BatchWish,
    PublishWish,
    batch,
    confirm_deletions,
    correction,
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
    unmoved,
)
from .retention import prune

__all__ = [
    "CHOICES",
    "KEEP",
    "LISTED_PATHS",
    "BatchIds",
    "BatchWish",
    "ForkWish",
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
    "correction",
    "create",
    "delete",
    "discard",
    "fork",
    "name_of",
    "open_draft",
    "pin",
    "pins",
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
    "rewind",
    "set_limits",
    "settle",
    "undelete",
    "unmoved",
    "with_facts",
]
