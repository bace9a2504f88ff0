"""Files and their history: Published, Draft, review, checkpoints, and the agent's tools."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from backshop.base.acting import Acted

from .answers import (
    Added,
    Batched,
    BenchList,
    ChangedFile,
    ChangesAsked,
    Done,
    DraftFolder,
    DraftState,
    FileEntry,
    FileList,
    FolderOpened,
    FolderState,
    FolderTook,
    FolderWritten,
    Names,
    Opened,
    Published,
    Scope,
    WrittenSince,
    acted,
)
from .audit.note import Noted
from .checkpoint import is_restorable, require_whole
from .commands import (
    CHOICE_COMMANDS,
    COMMANDS,
    COMMENT_COMMANDS,
    DIFF_COMMANDS,
    VIEW_COMMANDS,
)
from .context.clutter import (
    HEAVY_TEXT,
    UNKNOWN_WINDOW_TOKENS,
    Weights,
    clutter,
    files_weight,
    text_weight,
)
from .context.injection import ContextText, Injected, inject
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
from .conversations import ConversationPort, Vouched
from .download import Download, hand_out, hand_out_all
from .draft.batch import Author, Put
from .draft.rewind_preview import files_behind, files_moved, files_proved
from .draft.selection import ChangeInfo, ChangeList, Chosen, Selections
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
    contents_room,
    named_paths,
    spoken_of,
)
from .repository import (
    CALLS,
    CONVERSATION,
    BenchRepository,
    Commit,
    Committed,
    published_bytes,
    stream_of,
    written,
)
from .review import view_request as views
from .review.change_set import ChangeEntry, ChangeSet
from .review.discussion import CommentAdded, CommentInfo, CommentList, Discussion
from .review.file_diff import Body, Cells, Diff, Differ, Parts
from .review.look import look_into
from .review.viewer import PagePreview, Picture, Viewer
from .service import Bench
from .settings import BenchSettings
from .style.choice import KEYWORDS, Notice
from .values import Limits, Source, Story

if TYPE_CHECKING:
    from .manifest.manifest import BenchManifest, Contents, Manifests, Reading, unheard
    from .manifest.mount import BenchView
    from .tools import ANSWERS, REVIEW_TOOLS, TOOLS, VIEW, Workspace

__all__ = [
    "ANSWERS",
    "CALLS",
    "COMMANDS",
    "CONVERSATION",
    "CHOICE_COMMANDS",
    "COMMENT_COMMANDS",
    "DIFF_COMMANDS",
    "HEAVY_TEXT",
    "KEYWORDS",
    "REVIEW_TOOLS",
    "TOOLS",
    "VIEW",
    "UNKNOWN_WINDOW_TOKENS",
    "VIEW_COMMANDS",
    "Acted",
    "Added",
    "Author",
    "Batched",
    "Bench",
    "BenchBusy",
    "BenchDamaged",
    "BenchList",
    "BenchManifest",
    "BenchRepository",
    "BenchSettings",
    "BenchView",
    "Body",
    "Cells",
    "ChangeEntry",
    "ChangeInfo",
    "ChangeList",
    "ChangeSet",
    "ChangedFile",
    "Chosen",
    "CommentAdded",
    "CommentInfo",
    "CommentList",
    "ChangesAsked",
    "Commit",
    "Committed",
    "Content",
    "Contents",
    "ContextItem",
    "ContextText",
    "ConversationPort",
    "Diff",
    "Differ",
    "Discussion",
    "Done",
    "Download",
    "DraftExists",
    "DraftFolder",
    "DraftState",
    "FileEntry",
    "FileFact",
    "FileList",
    "FolderFact",
    "FolderOpened",
    "FolderState",
    "FolderTook",
    "FolderWritten",
    "Injected",
    "Limits",
    "Listing",
    "ManifestUnavailable",
    "Manifests",
    "Material",
    "Names",
    "Noted",
    "Notice",
    "Opened",
    "PagePreview",
    "Parts",
    "Picture",
    "Published",
    "PublishedChanged",
    "Put",
    "Reading",
    "Retold",
    "Scope",
    "Selections",
    "Story",
    "Source",
    "Viewer",
    "Vouched",
    "Weights",
    "Workspace",
    "WrittenSince",
    "acted",
    "choose_contents",
    "choose_lines",
    "clutter",
    "contents_room",
    "context_files",
    "context_problems",
    "differing",
    "draft_state",
    "files_behind",
    "files_moved",
    "files_proved",
    "files_weight",
    "hand_out",
    "hand_out_all",
    "inject",
    "is_restorable",
    "look_into",
    "named_paths",
    "published_bytes",
    "put_processed",
    "require_processable",
    "require_whole",
    "scope_texts",
    "spoken_of",
    "stream_of",
    "take_file",
    "text_weight",
    "unheard",
    "views",
    "written",
]

_HOMES = {
    **dict.fromkeys(("ANSWERS", "REVIEW_TOOLS", "TOOLS", "VIEW", "Workspace"), "tools"),
    **dict.fromkeys(
        ("BenchManifest", "Contents", "Manifests", "Reading", "unheard"), "manifest.manifest"
    ),
    "BenchView": "manifest.mount",
}


def __getattr__(name: str) -> Any:
    """Load what agents need when it is asked for; what people do needs none of it (S2.4)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
