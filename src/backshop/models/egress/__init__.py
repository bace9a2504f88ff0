"""The only way out of the machine: addresses, sockets, streams, limits, retries (M1.9, M4)."""
