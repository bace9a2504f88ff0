"""Sales, wholesale orders and payments: rows drawn from a seed, always the same ones."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

SALES_ROWS = 50_000
ORDERS = 420
_SEED = 2025

_T = TypeVar("_T")


class Product(NamedTuple):
    """What is sold, and its list price in cents."""

    category: str
    name: str
    cents: int


CATALOGUE = (
    Product("Tents", "Fell 2", 28_900),
    Product("Tents", "Fell 4", 43_900),
    Product("Packs", "Corrie 32", 12_900),
    Product("Packs", "Corrie 55", 18_900),
    Product("Boots", "Scree Mid", 16_500),
    Product("Boots", "Scree High", 19_900),
    Product("Jackets", "Squall Shell", 23_900),
    Product("Jackets", "Lee Down", 26_500),
    Product("Cooking", "Ember Stove", 6_900),
    Product("Cooking", "Ember Pot Set", 4_500),
)
REGIONS = ("North", "South", "East", "West")
CHANNELS = ("Web", "Store", "Partner")
REGION_WEIGHTS = (34, 27, 22, 17)
_CHANNEL_WEIGHTS = (52, 33, 15)
MONTH_WEIGHTS = (6, 6, 8, 9, 11, 12, 12, 10, 8, 6, 6, 6)
_PRODUCT_WEIGHTS = (7, 5, 13, 9, 14, 9, 12, 8, 14, 9)
_CUSTOMERS = (
    "Alder Trekking",
    "Birk & Sons",
    "Cairn Sports",
    "Dunes Travel",
    "Eider Outdoor",
    "Fjordline",
    "Gable Sports",
    "Heath Club",
)


class Order(NamedTuple):
    """A wholesale order; the amount is in cents."""

    number: str
    customer: str
    day: date
    cents: int


class Payment(NamedTuple):
    """A line of the bank statement; the amount is in cents."""

    number: str
    order: str
    day: date
    cents: int


def write_sales(path: Path) -> None:
    """Write the year's sales."""
    header = "sale_id,sale_date,region,channel,category,product,quantity,unit_price,amount"
    _write(path, header.split(","), _sales())


def write_orders(path: Path) -> None:
    """Write the wholesale orders."""
    rows = ((one.number, one.customer, one.day, money(one.cents)) for one in orders())
    _write(path, ("order_id", "customer", "order_date", "amount"), rows)


def write_payments(path: Path) -> None:
    """Write what the bank says was paid."""
    rows = ((one.number, one.order, one.day, money(one.cents)) for one in payments())
    _write(path, ("payment_id", "order_id", "paid_on", "amount"), rows)


def orders() -> list[Order]:
    """Return the wholesale orders, oldest first."""
    chance = _chance("orders")
    days = sorted(_day(chance) for _ in range(ORDERS))
    return [
        Order(
            f"W{1001 + place}",
            _CUSTOMERS[int(chance.random() * len(_CUSTOMERS))],
            day,
            5_000 * (4 + int(chance.random() * 80)) + int(chance.random() * 100),
        )
        for place, day in enumerate(days)
    ]


def payments() -> list[Payment]:
    """Return the payments: most fit their order, some do not, as in life.

    Of each 60 orders one is unpaid, one paid short, one paid twice; three lines name no order.
    """
    chance = _chance("payments")
    paid: list[tuple[date, str, int]] = []
    for place, order in enumerate(orders()):
        day = order.day + timedelta(days=5 + int(chance.random() * 30))
        match place % 60:
            case 17:
                continue
            case 31:
                paid.append((day, order.number, order.cents - 2_500))
            case 44:
                paid += [(day, order.number, order.cents)] * 2
            case _:
                paid.append((day, order.number, order.cents))
    paid += [(date(2025, month, 9), f"X{month:03}", 12_000 * month) for month in (3, 7, 10)]
    lines = enumerate(sorted(paid), start=5001)
    return [Payment(f"P{number}", order, day, cents) for number, (day, order, cents) in lines]


def money(cents: int) -> str:
    """Return cents as a decimal number."""
    return f"{cents // 100}.{cents % 100:02}"


def _sales() -> Iterator[Sequence[object]]:
    chance = _chance("sales")
    for number in range(1, SALES_ROWS + 1):
        product = _pick(chance, CATALOGUE, _PRODUCT_WEIGHTS)
        region = _pick(chance, REGIONS, REGION_WEIGHTS)
        channel = _pick(chance, CHANNELS, _CHANNEL_WEIGHTS)
        quantity = 1 + int(chance.random() ** 3 * 6)
        unit = product.cents * 85 // 100 if channel == "Partner" else product.cents
        yield (
            f"S{number:06}",
            _day(chance),
            region,
            channel,
            product.category,
            product.name,
            quantity,
            money(unit),
            money(unit * quantity),
        )


def _chance(what: str) -> Random:
    """Return a source of draws; only `random()` is used, which every Python gives alike."""
    return Random(f"{_SEED} {what}")  # noqa: S311  nothing here is a secret


def _pick(chance: Random, choices: Sequence[_T], weights: Sequence[int]) -> _T:
    mark = chance.random() * sum(weights)
    for choice, weight in zip(choices, weights, strict=True):
        mark -= weight
        if mark < 0:
            return choice
    return choices[-1]


def _day(chance: Random) -> date:
    month = _pick(chance, range(1, 13), MONTH_WEIGHTS)
    first = date(2025, month, 1)
    length = (date(2025 + month // 12, month % 12 + 1, 1) - first).days
    return first + timedelta(days=int(chance.random() * length))


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
