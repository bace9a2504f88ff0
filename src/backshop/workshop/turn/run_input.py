"""What a workflow that drives a turn works on: given by name, checked before it begins (W25.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.paths import BenchPath, bench_path
from backshop.bench import BenchRepository
from backshop.bench.state import BenchState
from backshop.rails import Declared, DeclaredInput

Has = Callable[[str], bool]
"""Says whether the workbench has a file."""


def files_of(desk: BenchRepository, bench: BenchState) -> Has:
    """Return what says whether Published has a file."""

    def has(path: str) -> bool:
        try:
            desk.find(bench.published, BenchPath(path))
        except NotFound:
            return False
        return True

    return has


def checked(found: Declared, given: Mapping[str, str], has: Has) -> dict[str, str]:
    """Return the context that the inputs make, proposals filled in.

    Raises:
        ValidationFailed: `input_unknown`, `input_missing`, `bad_path`.
        NotFound: `input_not_found`, the workbench has no such file.
    """
    known = {one.name: one for one in found.inputs}
    for name in given:
        if name not in known:
            raise ValidationFailed(
                f"{found.workflow_id} has no input {name[:80]!r}",
                reason="input_unknown",
                hints=tuple(known),
            )
    values = {name: _value(one, given.get(name), has) for name, one in known.items()}
    missing = [name for name, value in values.items() if value is None]
    if missing:
        raise ValidationFailed(
            f"{found.workflow_id} needs {', '.join(missing)}",
            reason="input_missing",
            hints=tuple(f"{name}: {known[name].prompt}" for name in missing),
        )
    return {name: value for name, value in values.items() if value is not None}


def _value(one: DeclaredInput, given: str | None, has: Has) -> str | None:
    value = given or one.proposal
    if value is None:
        return None
    path = bench_path(value)
    if one.is_file and not has(path):
        raise NotFound(
            f"the input {one.name} is {path!r}, and this workbench has no such file",
            reason="input_not_found",
        )
    return path
