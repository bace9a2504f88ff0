"""Events and blobs: the one append-only log and the one content-addressed store of a home."""

from .blobs import Blobs
from .errors import (
    DuplicateKey,
    HeadMoved,
    KeysDiffer,
    LeaseLost,
    NewerStore,
    SandboxViolation,
    StorageCorrupt,
    StoreBusy,
    StoreUnavailable,
    StreamNotHealthy,
    WriteFailed,
)
from .gc import Swept
from .health import Health, Status
from .log import Appended, Event, Head, NewEvent, Part, Pin, Plan, wire
from .project import Fold
from .service import KeyRing, Store, Write

__all__ = [
    "Appended",
    "Blobs",
    "DuplicateKey",
    "Event",
    "Fold",
    "Head",
    "HeadMoved",
    "Health",
    "KeyRing",
    "KeysDiffer",
    "LeaseLost",
    "NewEvent",
    "NewerStore",
    "Part",
    "Pin",
    "Plan",
    "SandboxViolation",
    "Status",
    "StorageCorrupt",
    "Store",
    "StoreBusy",
    "StoreUnavailable",
    "StreamNotHealthy",
    "Swept",
    "Write",
    "WriteFailed",
    "wire",
]
