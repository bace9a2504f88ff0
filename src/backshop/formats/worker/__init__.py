"""Processes in which files are opened: pooled, limited, fenced (F2.7, F2.8)."""
