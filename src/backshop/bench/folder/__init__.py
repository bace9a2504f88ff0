"""A person's own folder that a bench follows: looked at, taken in, and written back to."""
