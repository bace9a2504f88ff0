"""What the person set up: keys, servers, choices, and what a server can do (M3, M6)."""
