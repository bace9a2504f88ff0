"""People who share a home: who they are, what they may use, how they log in (T6.4, T6.5)."""
