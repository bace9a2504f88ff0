"""What happened to a bench, for people: the audit log and the notes in it (B17)."""
