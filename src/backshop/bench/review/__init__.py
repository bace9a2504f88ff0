"""What a Draft changes, and what stands in a file: lists, differences, windows to look at."""
