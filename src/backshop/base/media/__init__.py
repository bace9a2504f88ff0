"""What is shown and not read: pictures on their way."""
