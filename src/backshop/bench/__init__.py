"""Files and their history: Published, Draft, review, checkpoints, and the agent's tools."""

from .answers import BenchList
from .commands import COMMANDS
from .drafting import Author, Put
from .events import Source
from .handing import Handed, hand_out, hand_out_all
from .injection import Injected, Told, inject
from .service import Bench
from .styling import Notice
from .tools import REVIEW_DRAFT, TOOLS, Workspace

__all__ = [
    "COMMANDS",
    "REVIEW_DRAFT",
    "TOOLS",
    "Author",
    "Bench",
    "BenchList",
    "Injected",
    "Notice",
    "Put",
    "Source",
    "Told",
    "Workspace",
    "inject",
    "Handed",
    "hand_out",
    "hand_out_all",
]
