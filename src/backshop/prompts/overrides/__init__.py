"""Overrides: stored texts in place of a prompt's own, applied exactly or reported."""

from .common import DocumentStore, Finding
from .files import LocalPromptOverridesStore, find_root
from .layered import LayeredOverridesStore
from .stored import StorePromptOverridesStore

__all__ = [
    "DocumentStore",
    "Finding",
    "LayeredOverridesStore",
    "LocalPromptOverridesStore",
    "StorePromptOverridesStore",
    "find_root",
]
