"""The bundled prompts: what they are built from, their words, how much of the past they tell."""
