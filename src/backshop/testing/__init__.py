"""Pieces for tests, ours and those of plugin authors. Imports anything; nothing imports it."""
