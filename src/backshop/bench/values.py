"""Values that facts of a workbench are made of."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.ids import BlobId, CheckpointId, FileId, TreeId
from backshop.base.paths import BenchPath


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a workbench holds (B6.4)."""

    max_files: int
    max_file_bytes: int
    max_total_bytes: int
    max_depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFact:
    """One file of Published that came, changed or moved."""

    path: BenchPath
    file_id: FileId
    sha256: BlobId
    size: int
    imported: bool
    """Whether the person brought these bytes in; else a publish made them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A file of the person's own that a path of Published was copied from, or is to become."""

    path: BenchPath
    target: str
    sha256: BlobId | None = None
    """What was copied in; None: nothing is there, and nothing is replaced."""


@dataclass(frozen=True, slots=True)
class Import:
    """Bytes the person brought in, whatever became of the file since."""

    sha256: BlobId
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChange:
    """One context item that was `added`, `updated` or `deleted`."""

    category: str
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which changes of a file the person left out, and what they were taken from (B25)."""

    tree: TreeId
    """The Draft's files with all changes in."""
    after: BlobId | None = None
    """The file with all of them; None where that was to be gone."""
    result: BlobId | None = None
    """What it is without those left out; None where it is not there then."""
    left_out: tuple[str, ...]
    """Their ids, sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathChange:
    """One path of a batch: `create`, `update`, `delete` or `rename`."""

    op: str
    path: BenchPath
    before_sha256: BlobId | None = None
    after_sha256: BlobId | None = None
    old_path: BenchPath | None = None
    note: str | None = None
    """What the writer says it did, for the summary of the review."""
    effects_ref: BlobId | None = None
    """The effect report of the format that wrote it."""
    import_size: int | None = None
    """How many bytes the person brought in through the folder; None when a writer made them."""
    selection: Selection | None = None
    """Which of its changes the person left out with this; None when somebody wrote the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderConflict:
    """A file of a followed folder that was not written, because it is not what was reviewed."""

    path: BenchPath
    became: str
    """What stands in the way: `changed`, `missing`, `not_a_file` or `open`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What made a Draft or a batch: the Workshop with its turn, an outside agent, the person."""

    kind: str
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """What a checkpoint was kept before: the publish of what was asked for, or a restore."""

    request: str | None = None
    restored: CheckpointId | None = None
