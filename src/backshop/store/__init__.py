"""Events and blobs: the one append-only log and the one content-addressed store of a home."""
