"""The authored workflow as data: steps, ids, conditions, templates, patterns, findings."""
