"""`backshop do`: files of the person's own, changed in one line (S4.6)."""
