"""The store's suite on SQLite and PostgreSQL."""

from tests.store.store_conformance import StoreConformance


class TestStore(StoreConformance):
    pass
