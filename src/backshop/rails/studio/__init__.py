"""What people do with sessions beside the agent (R7.26)."""
