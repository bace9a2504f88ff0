"""Office packages: archives, parts, relationships, drawings; every other byte kept (F4, F23)."""
