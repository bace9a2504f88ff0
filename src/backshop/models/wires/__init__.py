"""One thin module per kind of API: our request → SDK call → our stream events (M1.2)."""
