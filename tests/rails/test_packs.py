"""Contract packs: schemas are sound and examples satisfy them."""

from __future__ import annotations

import jsonschema
import pytest

from backshop.base.canon import canonical
from backshop.rails.packs import PACKS


@pytest.mark.rule("R8.24")
@pytest.mark.parametrize("ref", PACKS)
def test_the_example_satisfies_its_schema(ref):
    pack = PACKS[ref]
    jsonschema.Draft202012Validator.check_schema(pack.schema)
    validator = jsonschema.Draft202012Validator(pack.schema)

    assert list(validator.iter_errors(pack.example)) == []
    assert list(validator.iter_errors({**pack.example, "extra": 1})) == []
    assert list(validator.iter_errors({"kind": pack.kind})) != []
    assert list(validator.iter_errors({**pack.example, "kind": "other"})) != []
    canonical(pack.schema)
