"""A proposed changeset of the compatibility flow: read, checked, applied as one batch (W14)."""
