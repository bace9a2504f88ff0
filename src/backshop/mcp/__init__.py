"""The MCP server: tools of the product for agents of other people, over stdio and HTTP."""

from .http import TOKEN_FILE, serve_http
from .stdio import serve_stdio
from .toolbox import Toolbox

__all__ = ["TOKEN_FILE", "Toolbox", "serve_http", "serve_stdio"]
