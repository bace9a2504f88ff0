"""The product for Python programs: what an open home gives (S8.1)."""

from __future__ import annotations

from typing import Any

import pytest

from backshop import Backshop
from backshop.rails import RailsError, SessionDelete, SessionGet, SessionsList


@pytest.mark.rule("S8.1")
def test_sessions_are_listed_shown_and_deleted_from_python(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        started = shop.call("start_workflow", {"workflowId": "wr.change_review", "goal": "Look"})
        session = started["session"]["sessionId"]
        listed: Any = shop.sessions.sessions_list(SessionsList())
        shown = shop.sessions.session_get(SessionGet(session_id=session))
        shop.sessions.session_delete(SessionDelete(session_id=session, confirm=session))
        with pytest.raises(RailsError):
            shop.sessions.session_get(SessionGet(session_id=session))

    assert [one["title"] for one in listed["sessions"]] == ["Look"]
    assert shown["sessionId"] == session
