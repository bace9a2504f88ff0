"""What people see of sessions, runs, nodes and artifacts (R10)."""
