"""Changes of a presentation one by one: slots that differ, units of them, the file with some."""
