"""Events and blobs: the one append-only log and the one content-addressed store of a home."""

from .blob.blob import Blobs
from .blob.content import Lost
from .blob.folder import Shown, View
from .blob.gc import Swept
from .blob.placement import LEFTOVERS, Keep, Placer, remove_tree
from .blob.spool import Batch, file_error, file_errors
from .caller import THE_OWNER, Caller
from .commands import COMMANDS, Finding, Findings, StoreBackup, back_up, examine_store
from .database.engine import driver_errors, is_shared, why_refused
from .database.keyring import KeyRing
from .database.lock_key import QUEUE_LOCK
from .database.pool import IDLE_S
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
from .health.examination import Health, Status
from .health.mark import Alarm, was_used
from .lease.process import whereabouts
from .log.event import Appended, Event, Head, NewEvent, Part, Pin, Plan, wire
from .log.opening import NOTHING_BESIDE, Beginning
from .log.projection import Fold
from .maintenance.backup import restore_backup, write_backup
from .maintenance.copy import Copied
from .maintenance.move import Moved, move_store
from .repair import repair_store
from .service import Store, Write

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
    "StoreBackup",
    "StoreBusy",
    "StoreUnavailable",
    "StreamNotHealthy",
    "Swept",
    "View",
    "Write",
    "WriteFailed",
    "back_up",
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
