"""Files for prompts: mounts, an overlay, tools over them, and a sandbox for commands (P6)."""
