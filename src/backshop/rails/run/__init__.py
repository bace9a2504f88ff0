"""The rules of a run: start, advance, contracts, reasons, recaps, and the text of an answer."""
