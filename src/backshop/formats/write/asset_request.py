"""Reads the list of assets to copy: objects, plain ids, and the arrow form (F22.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import FormatError
from ..protocol import Json
from ..warning import Warnings
from .operation import Arg, item_fields, nearest, problem

_DIGITS = 10  # of a number of a slide or shape, and more than any has
_ARGS = (
    Arg("asset_id", str, required=True),
    Arg("target_sheet", str),
    Arg("target", str),
    Arg("target_slide", int),
    Arg("target_shape", int),
    Arg("overwrite", bool, default=False),
)


@dataclass(frozen=True, slots=True)
class Wish:
    """An asset that is to be copied, and where to."""

    asset_id: str
    target: str | None
    target_slide: int | None
    target_shape: int | None
    overwrite: bool
    where: str

    @property
    def kind(self) -> str:
        """The word before the colon."""
        return self.asset_id.partition(":")[0]

    @property
    def name(self) -> str:
        """What follows the colon."""
        return self.asset_id.partition(":")[2]


def read_wishes(assets: Json, warnings: Warnings) -> list[Wish]:
    """Check the whole list before anything is copied."""
    if not isinstance(assets, Sequence) or isinstance(assets, str):
        raise problem("bad_type", "assets", "must be a list")
    if not assets:
        raise problem("missing_field", "assets", "at least one asset is needed")
    found = []
    for index, item in enumerate(assets):
        where = f"assets[{index}]"
        given: Json = _arrow(item) if isinstance(item, str) else item
        if not isinstance(given, Mapping):
            raise problem("bad_type", where, "must be an object or text")
        args = item_fields(given, _ARGS, where, warnings)
        found.append(
            Wish(
                str(args["asset_id"]),
                _text(args["target"]),
                _number(args["target_slide"]),
                _number(args["target_shape"]),
                bool(args["overwrite"]),
                where,
            )
        )
    return found


def unknown(wish: Wish, known: Iterable[str]) -> FormatError:
    """Return the error for an asset the source does not have, with the closest ones (F22.5)."""
    return problem(
        "unknown_asset",
        wish.where,
        "the source has no such asset",
        nearest(wish.asset_id, known, 10),
    )


def no_target(wish: Wish, what: str) -> FormatError:
    """Return the error for a target that is not given or not there."""
    return problem("asset_target_missing", wish.where, what)


def _arrow(text: str) -> dict[str, Json]:
    """Read `image:rId5->12`; on slides `image:0:2->3` and `text_style:0:2->3:1`."""
    asset, arrow, target = text.partition("->")
    given: dict[str, Json] = {"asset_id": asset.strip()}
    if not arrow:
        return given
    given["target"] = target.strip()
    numbers = target.strip().split(":")
    if all(part.isdecimal() and len(part) < _DIGITS for part in numbers) and len(numbers) <= 2:
        given["target_slide"] = int(numbers[0])
        if len(numbers) == 2:
            given["target_shape"] = int(numbers[1])
    return given


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: Json) -> int | None:
    return value if isinstance(value, int) else None
