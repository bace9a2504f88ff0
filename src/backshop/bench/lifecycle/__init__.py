"""Benches as a whole: made, forked, sampled, thrown away, and the room they take on disk."""
