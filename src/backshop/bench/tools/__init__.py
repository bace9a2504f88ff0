"""The agent's tools over a bench: defined once, for the built-in agent, for MCP and for tests."""

from .comments import COMMENT_TOOLS
from .files import FILE_TOOLS
from .office import OFFICE_TOOLS
from .replacement import REPLACE_IN_FILES
from .reversion import REVERT_FILE
from .review import REVIEW_DRAFT
from .search import SEARCH_FILES
from .shapes import SHAPES as ANSWERS
from .tables import TABLE_TOOLS
from .view import VIEW, VIEW_PAGE
from .workspace import Workspace

TOOLS = (
    *FILE_TOOLS,
    SEARCH_FILES,
    REPLACE_IN_FILES,
    REVERT_FILE,
    *TABLE_TOOLS,
    *OFFICE_TOOLS,
    VIEW_PAGE,
)
"""The tools of W7.1 that work on files, reads first within each group."""

REVIEW_TOOLS = (REVIEW_DRAFT, *COMMENT_TOOLS)
"""Tools about the review of the Draft, for agents of other programs (W7.10)."""

__all__ = ["ANSWERS", "REVIEW_TOOLS", "TOOLS", "VIEW", "Workspace"]
