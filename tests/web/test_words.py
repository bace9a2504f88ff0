"""What pages call things, and what errors offer in front of people (U1.6, U9.7)."""

from __future__ import annotations

import re

import pytest

from backshop.web.pages.words import ACTIONS, action_links


@pytest.mark.rule("U1.6")
def test_every_action_of_an_error_but_trying_again_has_a_page_that_can_do_it():
    links = dict(action_links(list(ACTIONS), "wb_1", "/here"))

    assert {name for name, _ in ACTIONS.values()} - links.keys() == {"Try again"}
    assert not any("{" in page for page in links.values())
    assert action_links(list(ACTIONS), None, "/here") == [
        ("Open Settings", "/settings/models?back=%2Fhere")
    ]


@pytest.mark.rule("U9.7")
def test_versions_are_not_called_checkpoints_on_the_pages_of_a_bench(served):
    bench = served.bench("Versions", {"a.txt": "a", "b.txt": "b"})
    with served.client() as client:
        places = ["/file/a.txt", "/checkpoints", "?stay=1"]
        read = [client.get(f"/bench/{bench}{place}").text for place in places]
        served.call("DraftCreate", workbench_id=bench)
        served.call("DraftDeletePath", workbench_id=bench, path="b.txt")
        read.append(client.get(f"/bench/{bench}/review?file=b.txt").text)
    words = " ".join(re.sub(r"<script.*?</script>|<[^>]*>", " ", "".join(read), flags=re.S).split())

    assert "The History keeps it." in words
    assert "checkpoint" not in words.casefold()
