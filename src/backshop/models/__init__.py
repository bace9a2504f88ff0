"""Providers, models and the tool loop. A call goes out only through `egress`."""
