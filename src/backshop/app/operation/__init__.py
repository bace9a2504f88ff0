"""A home in operation: servers, workers, queue, logs, uploads, secrets, examination."""
