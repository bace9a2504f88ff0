"""The workspace digest: what is known about the files, said once and reused (P4, P7)."""
