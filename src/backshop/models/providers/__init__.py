"""What the person set up of the providers in `catalog`: keys, servers, choices (M3, M6)."""
