"""Scripts for the offline model: what it answers to what it is asked (M15)."""
