from till import total


def test_total() -> None:
    assert total([(1.5, 2)]) == 3.0
