"""Which providers and models there are, and the form each wants its requests in (M1, M5–M7, M9)."""
