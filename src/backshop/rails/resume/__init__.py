"""Which earlier work a new chat means: collected and ranked (R7.10, R7.18)."""
