"""Thresholds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broccoli import Predicates
from broccoli.predicates import Dimension, resolve

X = Dimension("x", 0.0, 1.0)


def test_every_kind() -> None:
    """A grid, a count, a list, quantiles."""
    assert Predicates.grid(0.25).thresholds(X, list) == (0.25, 0.5, 0.75)
    assert Predicates.grid(0.5, -1, 1).thresholds(X, list) == (-0.5, 0.0, 0.5)
    assert Predicates.count(1).thresholds(X, list) == (0.5,)
    assert Predicates.count(0).thresholds(X, list) == ()
    assert Predicates.list([0.3, 0.1]).thresholds(X, list) == (0.3, 0.1)
    assert Predicates.quantiles(3, range(101)).thresholds(X, list) == (25.0, 50.0, 75.0)
    assert Predicates.quantiles(1).thresholds(X, lambda: [1.0, 2.0, 9.0]) == (2.0,)
    assert Predicates.count(3).thresholds(Dimension("y"), lambda: [0.0, 4.0]) == (1.0, 2.0, 3.0)
    assert Predicates.all().thresholds(Dimension("y"), list) == "all"


def test_they_look_like_what_was_written() -> None:
    """Every `repr` makes the same predicates again."""
    for text in (
        "grid(0.5, 0, 2)",
        "count(3)",
        "count(3, -1)",
        "list([0.5])",
        "quantiles(3)",
        "quantiles(3, [1.0])",
        "all()",
    ):
        predicates = eval(f"Predicates.{text}")  # noqa: S307
        assert repr(predicates) == f"Predicates.{text}"
    assert repr(Predicates.count(3, None, 1)) == "Predicates.count(3, None, 1)"


def test_one_per_dimension() -> None:
    """By name, by index, in a sequence, or the same for all."""
    dimensions = [X, Dimension("y", 0.0, 1.0)]
    for thresholds, expected in (
        (1, [(0.5,), (0.5,)]),
        ({"y": 1}, [(), (0.5,)]),
        ({0: [0.1], 1: None}, [(0.1,), ()]),
        ([1, Predicates.list([0.2])], [(0.5,), (0.2,)]),
        ("all", ["all", "all"]),
        (None, ["all", "all"]),
        (Predicates.all(), ["all", "all"]),
        ({"y": "all"}, [(), "all"]),
        ([1, "all"], [(0.5,), "all"]),
    ):
        assert [values for _, values in resolve(thresholds, dimensions, list)] == expected  # type: ignore[arg-type]
    for wrong in ("ten", 0.5, [0.5, 0.5], {"x": "ten"}):
        with pytest.raises(TypeError):
            resolve(wrong, dimensions, list)  # type: ignore[arg-type]
    for missing in ("z", 2, -1):
        with pytest.raises(ValueError, match="there is no dimension"):
            resolve({missing: 1}, dimensions, list)


def test_what_cannot_be_spread() -> None:
    """A dimension that never changes needs a range, and quantiles need data."""
    with pytest.raises(ValueError, match="always the same in random runs: give one, as in"):
        Predicates.count(3).thresholds(Dimension("x"), lambda: [1.0, 1.0])
    with pytest.raises(ValueError, match="at least two different values"):
        Predicates.quantiles(3, [1.0]).thresholds(X, list)
    for count in (-1, 1.5, True):
        with pytest.raises(ValueError, match="whole number"):
            Predicates.count(count)  # type: ignore[arg-type]


finite = st.floats(-1e6, 1e6)


@given(st.lists(finite, min_size=2), st.integers(1, 20))
def test_quantiles_tell_data_apart(data: list[float], count: int) -> None:
    """They are at most so many, ascending, and each is true of some of the data only."""
    if len(set(data)) < 2:
        return
    thresholds: Any = Predicates.quantiles(count, data).thresholds(X, list)
    assert len(thresholds) <= count
    assert list(thresholds) == sorted(set(thresholds))
    for threshold in thresholds:
        assert 0 < sum(value >= threshold for value in data) < len(data)
