"""A finished turn kept as a workflow, to do it again with other files."""
