"""The guide for authors: every workflow it shows compiles without a finding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backshop.rails.catalog.catalog import Catalog
from backshop.rails.catalog.source import Places
from backshop.rails.compile import compile_source

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "write-a-workflow.md"
BLOCKS = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("text", BLOCKS, ids=range(len(BLOCKS)))
def test_what_the_guide_shows_compiles(text):
    library = Catalog(Places()).look().library

    outcome = compile_source(text.encode(), is_yaml=True, library=library, strict=True)

    assert outcome.compiled is not None
    assert outcome.findings == ()
