"""How a number is shown: plainly, or as its number format says."""
