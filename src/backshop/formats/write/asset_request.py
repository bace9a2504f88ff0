"""The assets that are to be copied: read from a list, copied one by one, told (F22.1, F22.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import FormatError
from ..package.package import Written
from ..protocol import Applied, Effects, Json, JsonObject, Source
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
class AssetRequest:
    """An asset that is to be copied, and where to."""

    asset_id: str
    target_sheet: str | None
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


def read_requests(
    assets: Json, warnings: Warnings, arrow: Callable[[str], Json] | None = None
) -> list[AssetRequest]:
    """Check the whole list before anything is copied; `arrow` reads the short form of a text."""
    if not isinstance(assets, Sequence) or isinstance(assets, str):
        raise problem("bad_type", "assets", "must be a list")
    if not assets:
        raise problem("missing_field", "assets", "at least one asset is needed")
    found = []
    for index, item in enumerate(assets):
        where = f"assets[{index}]"
        given = (arrow or _arrow)(item) if isinstance(item, str) else item
        if not isinstance(given, Mapping):
            raise problem("bad_type", where, "must be an object or text")
        args = item_fields(given, _ARGS, where, warnings)
        found.append(AssetRequest(**args, where=where))  # type: ignore[arg-type]  # checked by kind
    return found


def copy_each(
    requests: Iterable[AssetRequest],
    copy: Callable[[AssetRequest], bool | None],
    known: Callable[[], Iterable[str]],
) -> list[Json]:
    """Copy assets in order and return the ids of those that were.

    `copy` says whether it did, and None for an asset the source does not have, which is refused
    with those it has (`known`).
    """
    copied: list[Json] = []
    for request in requests:
        done = copy(request)
        if done is None:
            raise unknown(request, known())
        if done:
            copied.append(request.asset_id)
    return copied


def asset_ids(listed: JsonObject, *keys: str) -> list[str]:
    """Return the ids of the assets that lists of a style report name."""
    found: list[str] = []
    for key in keys:
        entries = listed[key]
        assert isinstance(entries, list)
        found.extend(str(entry["asset_id"]) for entry in entries)
    return found


def applied(
    target: Source,
    written: Written,
    copied: list[Json],
    effects: Effects,
    focus: JsonObject | None,
    warnings: Warnings,
) -> Applied:
    """Return the result of a write that copied assets."""
    return Applied(
        name=target.name,
        size_bytes=written.size_bytes,
        sha256=written.sha256,
        changes=tuple((at, f"{asset} copied") for at, asset in enumerate(copied)),
        focus=focus,
        warnings=warnings.all(),
        changed_parts=written.changed_parts,
        effects=effects,
        extra={"copied_count": len(copied), "copied": copied},
    )


def unknown(request: AssetRequest, known: Iterable[str]) -> FormatError:
    """Return the error for an asset the source does not have, with the closest ones (F22.5)."""
    return problem(
        "unknown_asset",
        request.where,
        "the source has no such asset",
        nearest(request.asset_id, known, 10),
    )


def no_target(request: AssetRequest, what: str) -> FormatError:
    """Return the error for a target that is not given or not there."""
    return problem("asset_target_missing", request.where, what)


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
