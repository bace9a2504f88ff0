"""How cells look, in words, as reports and as assets that can be copied (F18, F21, F22)."""
