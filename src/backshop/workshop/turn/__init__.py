"""A turn of an agent from start to end: phases and items, leases, workers, agents outside."""
