"""The command line: what people type."""

from .main import main

__all__ = ["main"]
