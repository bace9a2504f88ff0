"""What the terminal says of things that several commands show."""
