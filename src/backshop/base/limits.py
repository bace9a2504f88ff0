"""Every number of the product, named with its unit."""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

# store
LOCK_WAIT_MS = 2000  # T2.4, store.lock_wait_ms
TAIL_DELAY_MS = 250  # T3.1: a new event reaches another process within this time
INLINE_BLOB_MAX_BYTES = 64 * KIB  # T4.2
BLOB_GRACE_HOURS = 24  # T4.5
DEDUPE_KEY_MAX_CHARS = 256  # T1.2
TREE_NODE_MAX_ENTRIES = 256  # B2.4
RUN_LEASE_S = 60  # B3.8
RUN_HEARTBEAT_S = 15
