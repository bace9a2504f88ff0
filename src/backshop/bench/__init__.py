"""Files and their history: Published, Draft, review, checkpoints, and the agent's tools."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .answers import (
    Acted,
    Added,
    Batched,
    BenchInfo,
    BenchList,
    ChangedFile,
    Done,
    DraftFolder,
    DraftState,
    FileEntry,
    FileList,
    Names,
    Published,
    Scope,
    acted,
)
from .audit.note import Noted
from .checkpoint import is_restorable, require_whole
from .commands import COMMANDS
from .context.clutter import (
    HEAVY_TEXT,
    UNKNOWN_WINDOW_TOKENS,
    Weights,
    clutter,
    files_weight,
    text_weight,
)
from .context.injection import Injected, Told, inject
from .context.item import (
    ContextItem,
    Material,
    differing,
    put_processed,
    require_processable,
    scope_texts,
    take_file,
)
from .context.processing import files_of as context_files
from .context.processing import problems as context_problems
from .conversations import Conversations
from .download import Handed, hand_out, hand_out_all
from .draft.batch import Author, Put
from .draft.rewind_preview import files_moved, files_proved
from .errors import BenchBusy, BenchDamaged, DraftExists, ManifestUnavailable, PublishedChanged
from .lifecycle.fork import Retold
from .lifecycle.lifecycle import draft_state
from .manifest.listing import (
    Content,
    FileFact,
    FolderFact,
    Listing,
    choose_contents,
    choose_lines,
    named_paths,
)
from .repository import (
    CALLS,
    CONVERSATION,
    Commit,
    Committed,
    Desk,
    published_bytes,
    stream_of,
    written,
)
from .review.change_set import ChangeSet
from .service import Bench
from .settings import BenchSettings
from .style.choice import KEYWORDS, Notice
from .values import Limits, Source

if TYPE_CHECKING:
    from .manifest.manifest import BenchManifest, Contents, Manifests
    from .manifest.mount import BenchView
    from .tools import ANSWERS, REVIEW_DRAFT, TOOLS, Workspace

__all__ = [
    "ANSWERS",
    "CALLS",
    "COMMANDS",
    "CONVERSATION",
    "HEAVY_TEXT",
    "KEYWORDS",
    "REVIEW_DRAFT",
    "TOOLS",
    "UNKNOWN_WINDOW_TOKENS",
    "Acted",
    "Added",
    "Author",
    "Batched",
    "Bench",
    "BenchBusy",
    "BenchDamaged",
    "BenchInfo",
    "BenchList",
    "BenchManifest",
    "BenchSettings",
    "BenchView",
    "ChangeSet",
    "ChangedFile",
    "Commit",
    "Committed",
    "Content",
    "Contents",
    "ContextItem",
    "Conversations",
    "Desk",
    "Done",
    "DraftExists",
    "DraftFolder",
    "DraftState",
    "FileEntry",
    "FileFact",
    "FileList",
    "FolderFact",
    "Handed",
    "Injected",
    "Limits",
    "Listing",
    "ManifestUnavailable",
    "Manifests",
    "Material",
    "Names",
    "Noted",
    "Notice",
    "Published",
    "PublishedChanged",
    "Put",
    "Retold",
    "Scope",
    "Source",
    "Told",
    "Weights",
    "Workspace",
    "acted",
    "choose_contents",
    "choose_lines",
    "clutter",
    "context_files",
    "context_problems",
    "differing",
    "draft_state",
    "files_moved",
    "files_proved",
    "files_weight",
    "hand_out",
    "hand_out_all",
    "inject",
    "is_restorable",
    "named_paths",
    "published_bytes",
    "put_processed",
    "require_processable",
    "require_whole",
    "scope_texts",
    "stream_of",
    "take_file",
    "text_weight",
    "written",
]

_HOMES = {
    **dict.fromkeys(("ANSWERS", "REVIEW_DRAFT", "TOOLS", "Workspace"), "tools"),
    **dict.fromkeys(("BenchManifest", "Contents", "Manifests"), "manifest.manifest"),
    "BenchView": "manifest.mount",
}


def __getattr__(name: str) -> Any:
    """Load what agents need when it is asked for; what people do needs none of it (S2.4)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
