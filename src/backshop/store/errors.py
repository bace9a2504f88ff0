"""What can be the case with the store, from the point of view of its caller."""

from __future__ import annotations

from backshop.base.errors import BackshopError, Retry, RetryKind


class StoreBusy(BackshopError):
    """Another writer holds the lock longer than we are ready to wait; nothing was changed."""

    code = "BENCH_BUSY"
    actions = ("retry",)


class HeadMoved(BackshopError):
    """The stream is not where the plan expects it; nothing was changed."""

    code = "BENCH_BUSY"
    actions = ("retry",)


class StoreUnavailable(BackshopError):
    """The database cannot be reached or opened."""

    code = "STORE_UNAVAILABLE"


class NewerStore(StoreUnavailable):
    """A later program has upgraded this store; this one leaves it as it is."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="newer_store", retry=Retry(RetryKind.NO))


class StorageCorrupt(BackshopError):
    """Stored bytes are not what was stored; they are never given out as if they were."""

    code = "STORAGE_CORRUPT"


class DatabaseAway(StorageCorrupt):
    """The database of a home is missing, empty, older than what it held, or a damaged copy."""

    actions = ()


class StreamNotHealthy(StorageCorrupt):
    """The stream is damaged: readable up to the damage, closed for writing."""


class DuplicateKey(BackshopError):
    """An event other than the key event repeats a key of its stream; nothing was changed."""

    code = "INTERNAL_ERROR"


class KeysDiffer(BackshopError):
    """Some parts of the plan are recorded already and others are not; nothing was changed."""

    code = "INTERNAL_ERROR"


class WriteFailed(BackshopError):
    """The file system refused a write; nothing was changed."""

    code = "FILE_WRITE_FAILED"


class ReadOnlyHome(WriteFailed):
    """The home can be read and not written; nothing was changed."""

    actions = ()

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="read_only", retry=Retry(RetryKind.NO))


class LeaseLost(BackshopError):
    """The right to run this turn has passed to somebody else; nothing was changed."""

    code = "BENCH_BUSY"
