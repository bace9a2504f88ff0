"""Adds up a sale."""


def total(lines: list[tuple[float, int]]) -> float:
    """Return the sum of (price, count) pairs."""
    result = 0.0
    for price, count in lines:
        result += price * count
    return result


def receipt(lines: list[tuple[float, int]], discount: float = 0) -> str:
    """Return the text of a receipt."""
    due = total(lines) - discount
    return f"TOTAL {due}"
