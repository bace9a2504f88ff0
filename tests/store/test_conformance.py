"""The store's suite on SQLite and PostgreSQL."""

from backshop.testing.conformance.store import StoreConformance


class TestStore(StoreConformance):
    pass
