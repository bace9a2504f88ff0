"""The MCP server: tools of the product for agents of other people, over stdio and HTTP."""

from .http import TOKEN_FILE, serve_http
from .stdio import serve_stdio
from .toolbox import Offering

__all__ = ["TOKEN_FILE", "Offering", "serve_http", "serve_stdio"]
