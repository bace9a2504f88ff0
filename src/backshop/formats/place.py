"""Places in files as people type and read them."""

from __future__ import annotations

from backshop.base.place import FILE, Place

__all__ = ["FILE", "Place"]
