"""Every command of the product: the registry, who may run it, and JSON-RPC over it (S5.1)."""
