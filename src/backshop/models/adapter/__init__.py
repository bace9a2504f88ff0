"""Adapters: a prompt evaluated by a model, a builder or a script; digests optimised (P5)."""
