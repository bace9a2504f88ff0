"""Run leases: one active run per bench, and whether the process behind a lease lives (B3.8)."""
