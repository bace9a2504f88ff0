"""What the rooms need of each other and of the settings, put together here."""
