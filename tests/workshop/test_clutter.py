"""The clutter bar: exact levels, weights by kind, a window that may be unknown."""

from __future__ import annotations

import pytest
from tests.bench.conftest import Room

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.bench.context.clutter import Weights, clutter, file_weight, files_weight, level_of


@pytest.mark.rule("B16.1", "B16.5", "B22.71")
@pytest.mark.parametrize(
    ("score", "level"),
    [
        (0, "Light"),
        (0.399999, "Light"),
        (0.40, "Moderate"),
        (0.70, "Moderate"),
        (0.700001, "Heavy"),
    ],
)
def test_levels_are_judged_on_the_exact_score(score, level):
    assert level_of(score) == level
    assert clutter(Weights(files=score * 1000), 1000).level == level


@pytest.mark.rule("B16.2", "B16.3")
@pytest.mark.parametrize(
    ("kind", "size", "weight"),
    [
        ("text", 4000, 1000),
        ("csv", 100 * 1024, 25_000),
        ("csv", 100 * 1024 + 1, 25_000),
        ("docx", 6000, 5000),
        ("odt", 10**9, 25_000),
        ("pdf", 0, 4000),
        ("xlsx", 8000, 7000),
        ("pptx", 10**9, 25_000),
        ("image", 10**9, 4000),
        ("binary", 10**9, 500),
    ],
)
def test_files_weigh_by_kind_and_never_more_than_a_cap(kind, size, weight):
    assert file_weight(kind, size) == pytest.approx(weight, rel=0.03)
    assert files_weight([(kind, size)], ["x" * 8]) == 500 + file_weight(kind, size) + 2


@pytest.mark.rule("B16.6", "B22.73")
def test_context_that_takes_a_third_of_the_window_is_warned_of():
    assert clutter(Weights(context_items=350), 1000).context_warning
    assert not clutter(Weights(context_items=349), 1000).context_warning
    assert clutter(Weights(context_items=5000), 1000).score == 1


@pytest.mark.rule("B16.4", "B16.7", "B22.72")
def test_the_bar_follows_files_words_and_context(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        room = Room(shop, tmp_path)
        empty = room.call("WorkbenchGetClutter")
        room.add({"a.txt": "x" * 40_000})
        files = room.call("WorkbenchGetClutter")
        room.call("WorkshopSendUserMessage", text="y" * 8000)
        words = room.call("WorkbenchGetClutter")
        listed = [{"path": "context.md", "content": "z" * 60_000}]
        room.call("ContextUpdateDirect", category="situation", files=listed, create=True)
        context = room.call("WorkbenchGetClutter")

        assert (empty["level"], empty["score"]) == ("Light", 0)
        window = 10_500 / files["score"]
        assert words["score"] - files["score"] == pytest.approx(2000 / window, rel=0.01)
        assert context["context_items_weight"] == pytest.approx(15_000, rel=0.01)
        assert context["context_share"] == pytest.approx(15_000 / window, rel=0.01)
        assert "model_id" not in empty  # there is none yet (M2.6)


@pytest.mark.rule("B16.7")
def test_an_unknown_bench_is_told_from_one_that_cannot_be_weighed(tmp_path):
    with Backshop.open(tmp_path / "home") as shop, pytest.raises(BackshopError) as caught:
        shop.call("WorkbenchGetClutter", {"workbench_id": "wb_" + "0" * 26})

    assert caught.value.code == "NOT_FOUND"
