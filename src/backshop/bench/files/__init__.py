"""The person's own files: added from outside, listed, removed, renamed, copied out (B6)."""
