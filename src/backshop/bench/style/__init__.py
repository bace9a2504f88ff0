"""Style skills: which a call is told, and how the person's own document style joins them (B15)."""
