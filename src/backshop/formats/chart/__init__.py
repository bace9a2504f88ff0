"""Charts as parts of an office file: read, made, changed; what they show comes from outside."""
