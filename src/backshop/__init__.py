"""Backshop lets an AI agent work on a person's files without ever being able to spoil them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backshop.app import AsyncBackshop, Backshop

__version__ = "0.2.0"

__all__ = ["AsyncBackshop", "Backshop", "__version__"]


def __getattr__(name: str) -> Any:
    """Resolve the facades on first use, so that importing the package stays cheap (S2.4)."""
    if name in {"AsyncBackshop", "Backshop"}:
        from backshop import app

        return getattr(app, name)
    raise AttributeError(f"module 'backshop' has no attribute {name!r}")
