"""The keys of advisory locks in PostgreSQL: all here, so that no two things share one.

A program of another version may use the same database: a key keeps its meaning for ever.
"""

from __future__ import annotations

_FIRST = 0x6261636B

SEQ_LOCK = _FIRST  # puts `seq` in commit order (T2.4)
MIGRATION_LOCK = _FIRST + 1  # one process changes the schema (T5.3)
SWEEP_LOCK = _FIRST + 2  # keeps removing and renewing of blobs apart (T4.5)
QUEUE_LOCK = _FIRST + 3  # one process makes the tables of the queue (T6.2)
