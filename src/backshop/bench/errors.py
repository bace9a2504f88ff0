"""What can be the case with a workbench, from the point of view of the person it happens to."""

from __future__ import annotations

from backshop.base.errors import BackshopError


class DraftExists(BackshopError):
    """A Draft is waiting for review; this would change what it is compared with."""

    code = "DRAFT_EXISTS"


class BenchBusy(BackshopError):
    """An agent is at work here, or another command has not finished."""

    code = "BENCH_BUSY"


class Overtaken(BenchBusy):
    """Another machine changed the workbench while a change was worked out; it is begun anew."""


class PublishedChanged(BackshopError):
    """Published is not what the Draft began from, so publishing would undo that change."""

    code = "CONFLICT_PUBLISHED_CHANGED"


class ConfirmationRequired(BackshopError):
    """This removes something; the person has to say so first."""

    code = "CONFIRMATION_REQUIRED"


class BenchDamaged(BackshopError):
    """Something this workbench needs is missing from the store."""

    code = "STORAGE_CORRUPT"


class RestoreFailed(BackshopError):
    """The checkpoint cannot be brought back whole; nothing was changed."""

    code = "CHECKPOINT_RESTORE_FAILED"


class RevisionGone(BackshopError):
    """What the Draft was at that point is not kept any more."""

    code = "REVISION_PRUNED"


class SourceUnreadable(BackshopError):
    """A file outside could not be read."""

    code = "FILE_READ_FAILED"


class ManifestUnavailable(BackshopError):
    """The list of files cannot be read, and no model is called without it."""

    code = "FILE_READ_FAILED"
