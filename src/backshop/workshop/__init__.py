"""The conversation of a bench and the built-in agent."""
