from till import total


def test_total():
    assert total([(1.5, 2)]) == 3.0
