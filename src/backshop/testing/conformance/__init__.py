"""One suite per protocol, run by every implementation of it."""
