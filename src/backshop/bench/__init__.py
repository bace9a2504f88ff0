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
from .clutter import (
    HEAVY_TEXT,
    UNKNOWN_WINDOW_TOKENS,
    Weights,
    clutter,
    files_weight,
    text_weight,
)
from .commands import COMMANDS
from .context import (
    ContextItem,
    Material,
    differing,
    put_processed,
    require_processable,
    scope_texts,
    take_file,
)
from .conversations import Conversations
from .desk import (
    CALLS,
    CONVERSATION,
    Commit,
    Committed,
    Desk,
    published_bytes,
    stream_of,
    written,
)
from .drafting import Author, Put
from .errors import BenchBusy, BenchDamaged, DraftExists, ManifestUnavailable, PublishedChanged
from .forking import Retold
from .handing import Handed, hand_out, hand_out_all
from .injection import Injected, Told, inject
from .keeping import is_restorable, require_whole
from .lifecycle import draft_state
from .listing import (
    Content,
    FileFact,
    FolderFact,
    Listing,
    choose_contents,
    choose_lines,
    named_paths,
)
from .moving import files_moved, files_proved
from .noting import Noted
from .processing import files_of as context_files
from .processing import problems as context_problems
from .review import ChangeSet
from .service import Bench
from .settings import BenchSettings
from .styling import KEYWORDS, Notice
from .values import Limits, Source

if TYPE_CHECKING:
    from .manifest import BenchManifest, Contents, Manifests
    from .mounting import BenchView
    from .tools import ANSWERS, REVIEW_DRAFT, TOOLS, Workspace

__all__ = [
    "HEAVY_TEXT",
    "UNKNOWN_WINDOW_TOKENS",
    "Weights",
    "clutter",
    "files_weight",
    "text_weight",
    "COMMANDS",
    "Batched",
    "ANSWERS",
    "Acted",
    "Names",
    "acted",
    "CALLS",
    "CONVERSATION",
    "REVIEW_DRAFT",
    "TOOLS",
    "Added",
    "Author",
    "Bench",
    "BenchSettings",
    "BenchInfo",
    "BenchList",
    "ChangeSet",
    "ChangedFile",
    "ContextItem",
    "BenchBusy",
    "BenchDamaged",
    "Commit",
    "Conversations",
    "Committed",
    "Desk",
    "Done",
    "DraftExists",
    "DraftFolder",
    "DraftState",
    "Injected",
    "KEYWORDS",
    "Limits",
    "Material",
    "BenchManifest",
    "BenchView",
    "Content",
    "Contents",
    "FileEntry",
    "FileFact",
    "FileList",
    "FolderFact",
    "Listing",
    "ManifestUnavailable",
    "Manifests",
    "Noted",
    "Notice",
    "Published",
    "PublishedChanged",
    "Put",
    "Retold",
    "Scope",
    "Source",
    "Told",
    "Workspace",
    "context_files",
    "context_problems",
    "choose_contents",
    "choose_lines",
    "differing",
    "draft_state",
    "files_moved",
    "files_proved",
    "inject",
    "is_restorable",
    "Handed",
    "hand_out",
    "hand_out_all",
    "put_processed",
    "require_processable",
    "require_whole",
    "scope_texts",
    "take_file",
    "named_paths",
    "published_bytes",
    "stream_of",
    "written",
]

_HOMES = {
    **dict.fromkeys(("ANSWERS", "REVIEW_DRAFT", "TOOLS", "Workspace"), "tools"),
    **dict.fromkeys(("BenchManifest", "Contents", "Manifests"), "manifest"),
    "BenchView": "mounting",
}


def __getattr__(name: str) -> Any:
    """Load what agents need when it is asked for; what people do needs none of it (S2.4)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
