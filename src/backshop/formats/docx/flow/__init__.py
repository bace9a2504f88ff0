"""Documents drawn by Backshop itself, as they flow: blocks with all they look like (F43.50)."""
