"""Charts as figures: what a chart shows in, whichever file it comes from, its drawing out."""
