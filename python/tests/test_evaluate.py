"""Trees by hand, and what they are worth."""

from __future__ import annotations

from typing import Any

import pytest
from systems import CART, Cart

import broccoli


def test_trees_by_name_and_by_index() -> None:
    """They are the same, and those that a search returns."""
    car = broccoli.Problem("mountain-car")
    by_name = car.tree(("position", -0.45, ("velocity", 0.01, "right", "left"), ("velocity", -0.005, 1, 0)))
    by_index = car.tree((0, -0.45, (1, 0.01, 1, 0), (1, -0.005, 1, 0)))
    assert by_name == by_index == car.solve().tree
    assert car.tree("left") == car.tree(0)
    assert car.tree(0).size == 0


@pytest.mark.parametrize(
    ("nested", "message"),
    [
        (2, "there is no action 2: give its name, or its index, below 2"),
        (-1, "there is no action -1"),
        ("up", "there is no action 'up'"),
        (0.5, "there is no action 0.5"),
        (("height", 0.0, 0, 1), "there is no dimension 'height'"),
        ((2, 0.0, 0, 1), "there is no dimension 2"),
        ((0, float("nan"), 0, 1), "the threshold is NaN"),
        ((0, 0.0, 0), "not 3 values"),
        ((0, 0.0, (1, 0.0, 5, 0), 1), "there is no action 5"),
    ],
)
def test_what_is_no_tree(nested: Any, message: str) -> None:
    """The message says what is wrong."""
    with pytest.raises(ValueError, match=message):
        broccoli.Problem("mountain-car").tree(nested)


def test_trees_that_are_too_deep() -> None:
    """They are refused before the stack is at its end."""
    nested: Any = 0
    for _ in range(100_000):
        nested = (0, 0.0, nested, 1)
    with pytest.raises(ValueError, match="deeper than 128"):
        broccoli.Problem("mountain-car").tree(nested)


def test_values_and_queries() -> None:
    """The value is that of the search, and every step is counted."""
    car = broccoli.Problem("mountain-car")
    outcome = car.solve()
    assert outcome.policy is not None
    assert car.evaluate(outcome.policy) == (104, 104)
    assert car.evaluate(outcome.policy, horizon=104).value == 104
    assert car.evaluate(outcome.policy, horizon=103) == (None, 103)
    assert car.evaluate(car.tree("left"), horizon=10**9) == (None, car.horizon)
    with pytest.raises(ValueError, match="horizon is 0"):
        car.evaluate(outcome.policy, horizon=0)


@pytest.mark.parametrize("name", ["mountain-car", "cartpole", "pendulum"])
def test_several_initial_states(name: str) -> None:
    """The worst trace counts, and none is run for longer than it matters."""
    problem = broccoli.Problem(name, initial=broccoli.sample(name, 10, 3))
    outcome = problem.solve()
    assert outcome.policy is not None
    traces = [problem.trace(outcome.policy, i) for i in range(10)]
    steps = [len(trace.actions) for trace in traces]
    expected = sum(steps) if problem.objective == "reach" else sum(min(steps[: i + 1]) for i in range(10))
    assert problem.evaluate(outcome.policy) == (outcome.value, expected)
    worst = max if problem.objective == "reach" else min
    assert worst(trace.value or 0 for trace in traces) == outcome.value


def test_survival_within_a_shorter_horizon() -> None:
    """Is worth as much as the horizon."""
    pole = broccoli.Problem("cartpole")
    tree = pole.solve().tree
    assert tree is not None
    assert pole.evaluate(tree, horizon=100) == (100, 100)
    assert pole.evaluate(tree) == (3082, 3082)


def test_systems_in_python() -> None:
    """They are evaluated like the others, and their exceptions come through."""
    problem = broccoli.Problem(Cart, **CART)
    outcome = problem.solve()
    assert outcome.tree is not None
    assert problem.evaluate(outcome.tree).value == outcome.value

    class Faulty(Cart):
        def step(self, state: Any, action: float) -> Any:
            raise ArithmeticError(action)

    with pytest.raises(ArithmeticError):
        broccoli.Problem(Faulty, **CART).evaluate(outcome.tree)


def test_trees_of_other_problems() -> None:
    """They are refused, and not run."""
    pole, car = broccoli.Problem("cartpole"), broccoli.Problem("mountain-car")
    tree = pole.tree(("theta_dot", 0.0, 1, 0))
    for run in (car.evaluate, car.trace):
        with pytest.raises(ValueError, match=r"the tree is about x, x_dot, .* and the problem about"):
            run(tree)
    assert broccoli.Problem("cartpole", depth=1).evaluate(tree).value == pole.evaluate(tree).value
