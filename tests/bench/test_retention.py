"""What is kept and what goes: revisions of Drafts by number, never the present one."""

from __future__ import annotations

import pytest

from backshop.app import Backshop
from backshop.base.errors import BackshopError

from .conftest import Room


@pytest.mark.rule("B8.15", "B22.51")
def test_old_revisions_become_stubs_and_the_newest_stay(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"workshop.max_revisions": 10}) as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "zero"})
        made = [room.write({"a.txt": f"text {n}"}).draft_revision_id for n in range(15)]
        state = shop.benches.desk.state(room.id)

        live = [one.revision_id for one in state.revisions if one.draft is not None]
        assert live == made[-10:]
        assert {one.revision_id for one in state.revisions if one.is_pruned} >= set(made[:5])
        with pytest.raises(BackshopError) as caught:
            room.call("DraftRestoreRevision", revision_id=made[0])
        assert caught.value.code == "NOT_FOUND"
        assert room.draft() == {"a.txt": "text 14"}
        room.call("DraftRestoreRevision", revision_id=made[-9])
        assert room.draft() == {"a.txt": "text 6"}
        state = shop.benches.desk.state(room.id)
        wanted = {one.tree for one in state.revisions if one.draft is not None}
        assert wanted <= {pin.ref for pin in shop.store.pins(f"bench:{room.id}")}
