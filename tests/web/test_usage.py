"""What models used, on the pages: under each answer, of one bench, of the home."""

from __future__ import annotations

import html
import re

import pytest
from tests.workshop.conftest import story

PRICE = {"input": 2.0, "cached_input": 0.2, "output": 10.0}
PRICED = {"model_id": "scripted:priced", "context_tokens_estimate": 128_000, "price": PRICE}
TOLD = {"input_tokens": 14_200, "cached_input_tokens": 11_900, "output_tokens": 310}
LINE = "6 calls · 85,200 tokens in (71,400 cached) · 1,860 out · $0.06"


@pytest.fixture(scope="module")
def bench(served):
    """A bench with a priced turn and an estimated one, of a name that is no markup."""
    served.call("SettingsSet", key="models", value=[PRICED])
    made: str = served.bench("A & <b>")
    steps = story(("b.txt", "blue"))
    for one in steps:
        one["respond"]["usage"] = TOLD
    served.shop.models.play("priced", steps)
    served.call("WorkshopSetFlow", workbench_id=made, flow="rpi")
    talk = served.shop.workshop(made)
    talk.use_model("scripted:priced")
    talk.send("Write b.txt")
    talk.publish()
    talk.use_model("scripted:demo")
    talk.send("And now?", ask=True)
    return made


def shown(served, path: str) -> str:
    """Return a page's markup with its characters as people read them."""
    with served.client() as client:
        answer = client.get(path)
    assert answer.status_code == 200
    return html.unescape(" ".join(answer.text.split()))


@pytest.mark.rule("U3.9", "U3.20", "M13.6")
def test_under_each_answer_stands_what_its_turn_used(served, bench):
    lines = re.findall(r'<p class="turn-used">(.*?)</p>', shown(served, f"/bench/{bench}"))
    turn = served.call("WorkshopGetUsage", workbench_id=bench)["turns"][1]["turn_id"]
    drawer = shown(served, f"/bench/{bench}/turn/{turn}")

    said = [re.sub(r" · <button .*>details</button>$", "", one) for one in lines]
    assert re.fullmatch(r"Changed 1 file in [\d.]+ s · " + re.escape(LINE), said[0])
    used = r"2 calls · [\d,]+ tokens in · [\d,]+ out · estimated"
    assert re.fullmatch(rf"Took [\d.]+ s · {used}", said[1])
    assert len(lines) == 2
    assert "<dt>of these cached</dt><dd>71,400</dd>" in drawer
    assert "<dt>Price</dt><dd>$0.06</dd>" in drawer


@pytest.mark.rule("U5.6")
def test_the_settings_of_a_bench_and_of_the_home_show_what_models_used(served, bench):
    quiet = served.bench("Quiet")
    own = shown(served, f"/bench/{bench}/settings")
    none = shown(served, f"/bench/{quiet}/settings")
    home = shown(served, "/settings/usage")
    with served.client() as client:
        raw = client.get("/settings/usage").text

    assert "<dt>Price</dt><dd>$0.06 for 6 of 8 calls</dd>" in own
    assert "Tokens are partly estimated: the provider told none for 2 of 8 calls." in own
    assert "scripted:demo<div" in own
    assert "No model was called yet." in none
    assert "$0.06 for 6 of 8 calls · partly estimated" in home
    assert "A &amp; &lt;b&gt;" in raw
    assert "Quiet" not in home  # it used nothing


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.6")
def test_settings_count_when_somebody_looks(bench, new_page):
    page = new_page("/settings/people")

    page.locator("#used table").first.wait_for()

    assert "Counting" not in page.locator("#used").inner_text()
