"""What is attached to cells: notes with their boxes, and links."""
