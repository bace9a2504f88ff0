"""Token keys, kept in the store and never exported (R6.3)."""

from __future__ import annotations

from backshop.store import Store

from .token import Keys


class Keyring:
    """Reads the ring anew for every call, so that a rotation elsewhere is seen at once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def keys(self) -> Keys:
        """Return the keys in force."""
        ring = self._store.key_ring()
        return Keys(ring.current, ring.previous)

    def rotate(self) -> None:
        """Make a new key; tokens of the one before stay good, older ones do not."""
        self._store.rotate_keys()
