"""Opaque handles: minted, signed, verified (R6)."""
