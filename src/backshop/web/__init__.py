"""The web app: pages, JSON-RPC over HTTP, server-sent events."""

from .security import Door, Login
from .server import application, further_link, serve

__all__ = ["Door", "Login", "application", "further_link", "serve"]
