"""The web app: pages, JSON-RPC over HTTP, server-sent events."""

from .security import Door, Login
from .server import application, serve

__all__ = ["Door", "Login", "application", "serve"]
