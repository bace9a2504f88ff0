"""The one tool loop: ask, run the tools, ask again, until there is an answer (P5)."""
