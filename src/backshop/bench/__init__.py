"""Files and their history: Published, Draft, review, checkpoints, and the agent's tools."""

from .commands import COMMANDS
from .drafting import Author, Put
from .events import Source
from .service import Bench
from .tools import REVIEW_DRAFT, TOOLS, Workspace

__all__ = ["COMMANDS", "REVIEW_DRAFT", "TOOLS", "Author", "Bench", "Put", "Source", "Workspace"]
