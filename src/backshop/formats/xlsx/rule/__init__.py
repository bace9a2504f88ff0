"""Rules of cells: conditional formats and data validations, listed, told and compared."""
