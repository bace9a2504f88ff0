"""Files and their history: Published, Draft, review, checkpoints."""

from .commands import COMMANDS
from .drafting import Author, Put
from .events import Source
from .service import Bench

__all__ = ["COMMANDS", "Author", "Bench", "Put", "Source"]
