"""Files and their history: Published, Draft, review, checkpoints, and the agent's tools."""

from typing import TYPE_CHECKING, Any

from .answers import Batched, BenchList, ChangedFile, DraftState, Scope
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
from .desk import CONVERSATION, Commit, Committed, Desk, stream_of, written
from .drafting import Author, Put
from .errors import BenchBusy, BenchDamaged, DraftExists, ManifestUnavailable, PublishedChanged
from .forking import Retold
from .handing import Handed, hand_out, hand_out_all
from .injection import Injected, Told, inject
from .keeping import require_whole
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
from .manifest import BenchManifest, Contents, Manifests
from .mounting import BenchView
from .moving import files_moved, files_proved
from .noting import Noted
from .processing import files_of as context_files
from .processing import problems as context_problems
from .service import Bench
from .settings import BenchSettings
from .styling import KEYWORDS, Notice
from .values import Limits, Source

if TYPE_CHECKING:
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
    "CONVERSATION",
    "REVIEW_DRAFT",
    "TOOLS",
    "Author",
    "Bench",
    "BenchSettings",
    "BenchList",
    "ChangedFile",
    "ContextItem",
    "BenchBusy",
    "BenchDamaged",
    "Commit",
    "Committed",
    "Desk",
    "DraftExists",
    "DraftState",
    "Injected",
    "KEYWORDS",
    "Limits",
    "Material",
    "BenchManifest",
    "BenchView",
    "Content",
    "Contents",
    "FileFact",
    "FolderFact",
    "Listing",
    "ManifestUnavailable",
    "Manifests",
    "Noted",
    "Notice",
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
    "Handed",
    "hand_out",
    "hand_out_all",
    "put_processed",
    "require_processable",
    "require_whole",
    "scope_texts",
    "take_file",
    "named_paths",
    "stream_of",
    "written",
]

_OF_TOOLS = frozenset(("ANSWERS", "REVIEW_DRAFT", "TOOLS", "Workspace"))


def __getattr__(name: str) -> Any:
    """Load the agent's tools when they are asked for; what people do needs none of them (S2.4)."""
    if name in _OF_TOOLS:
        from . import tools

        return getattr(tools, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
