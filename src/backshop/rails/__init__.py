"""Workflows for agents: authored as data, compiled, pinned, executed from facts."""
