"""Events and blobs: the one append-only log and the one content-addressed store of a home."""

from .alive import whereabouts
from .backup import restore_backup, write_backup
from .beginning import NOTHING_BESIDE, Beginning
from .blobs import Blobs
from .caller import THE_OWNER, Caller
from .commands import COMMANDS, Finding, Findings, examine_store
from .contents import Lost
from .copying import Copied
from .engine import driver_errors, is_shared, why_refused
from .errors import (
    DatabaseAway,
    DuplicateKey,
    HeadMoved,
    KeysDiffer,
    LeaseLost,
    NewerStore,
    ReadOnlyHome,
    StorageCorrupt,
    StoreBusy,
    StoreUnavailable,
    StreamNotHealthy,
    WriteFailed,
)
from .gc import Swept
from .health import Health, Status
from .keyring import KeyRing
from .locks import QUEUE_LOCK
from .log import Appended, Event, Head, NewEvent, Part, Pin, Plan, wire
from .mark import Alarm, was_used
from .materialise import Shown, View
from .move import Moved, move_store
from .placing import LEFTOVERS, Keep, Placer, remove_tree
from .pool import IDLE_S
from .project import Fold
from .repair import repair_store
from .service import Store, Write
from .spool import Batch, file_error, file_errors

__all__ = [
    "COMMANDS",
    "IDLE_S",
    "LEFTOVERS",
    "NOTHING_BESIDE",
    "QUEUE_LOCK",
    "THE_OWNER",
    "Alarm",
    "Appended",
    "Batch",
    "Beginning",
    "Blobs",
    "Caller",
    "Copied",
    "DatabaseAway",
    "DuplicateKey",
    "Event",
    "Finding",
    "Findings",
    "Fold",
    "Head",
    "HeadMoved",
    "Health",
    "Keep",
    "KeyRing",
    "KeysDiffer",
    "LeaseLost",
    "Lost",
    "Moved",
    "NewEvent",
    "NewerStore",
    "Part",
    "Pin",
    "Placer",
    "Plan",
    "ReadOnlyHome",
    "Shown",
    "Status",
    "StorageCorrupt",
    "Store",
    "StoreBusy",
    "StoreUnavailable",
    "StreamNotHealthy",
    "Swept",
    "View",
    "Write",
    "WriteFailed",
    "driver_errors",
    "examine_store",
    "file_error",
    "file_errors",
    "is_shared",
    "move_store",
    "remove_tree",
    "repair_store",
    "restore_backup",
    "was_used",
    "whereabouts",
    "why_refused",
    "wire",
    "write_backup",
]
