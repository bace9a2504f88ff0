"""A prompt as a definition: sections, tools, templates, output, and its rendering (P1)."""
