"""The web app: pages, JSON-RPC over HTTP, server-sent events."""
