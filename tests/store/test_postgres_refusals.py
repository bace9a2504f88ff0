"""What a PostgreSQL server says when it will not have us."""

from __future__ import annotations

import pytest
from tests.postgres import fresh_database

from backshop.base.errors import ValidationFailed
from backshop.store import Store, StoreUnavailable


@pytest.mark.needs("postgres")
@pytest.mark.rule("S3.3", "S5.3")
def test_a_refused_connection_says_why_and_leaves_no_home(tmp_path):
    with fresh_database() as url:
        elsewhere = url.split("?")[0].rsplit("/", 1)[0] + "/nowhere?" + url.split("?")[1]
        with pytest.raises(StoreUnavailable) as refused:
            Store.open(tmp_path / "home", database_url=elsewhere)
        with pytest.raises(ValidationFailed) as malformed:
            Store.open(tmp_path / "home", database_url=url + "&pasword=sekret")

    assert refused.value.reason == "refused"
    assert "nowhere" in str(refused.value.detail)
    assert malformed.value.reason == "bad_setting"
    assert "sekret" not in str(malformed.value.info("workbench"))
    assert not (tmp_path / "home").exists()
