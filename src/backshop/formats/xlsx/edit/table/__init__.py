"""Named tables that come, change and go (F37)."""
