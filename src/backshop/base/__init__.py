"""Words everybody uses. Imported by module: `from backshop.base.ids import BenchId`."""
