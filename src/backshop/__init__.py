"""Backshop lets an AI agent work on a person's files without ever being able to spoil them."""

__version__ = "0.1.0"

__all__ = ["__version__"]
