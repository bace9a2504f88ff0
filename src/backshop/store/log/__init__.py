"""The append-only log: events, appends, folds, snapshots (T1–T3)."""
