"""Fronts, prices and all optimal trees."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import broccoli

SMALL: dict[str, Any] = {"thresholds": 5, "depth": 1, "horizon": 20}


def test_a_front_has_the_best_tree_of_every_size() -> None:
    """A front is what searches for each size find."""
    outcome = broccoli.synthesize("cartpole", thresholds=5, pareto=True)
    limits = [nodes for part in outcome.front for nodes in part.sizes]
    assert limits == [0, 1, 2, 3]
    for part in outcome.front:
        alone = broccoli.synthesize("cartpole", thresholds=5, nodes=part.sizes[-1])
        assert part.policy is not None
        assert (part.status, part.value, part.policy.tree) == (alone.status, alone.value, alone.tree)
    assert "proved" in str(outcome)
    stopped = broccoli.synthesize("cartpole", thresholds=5, pareto=True, query_limit=0)
    assert [part.status for part in stopped.front] == ["stopped"]
    assert stopped.status == "stopped"


def test_the_cheapest_of_the_best_trees() -> None:
    """Prices decide among equally good trees only."""
    problem = broccoli.Problem("cartpole", **SMALL, prices={"theta_dot": 3, "x_dot": 0.5})
    assert problem.prices == {"theta_dot": 3, "x_dot": 0.5}
    outcome, free = problem.solve(), broccoli.synthesize("cartpole", **SMALL)
    assert (outcome.value, outcome.size) == (free.value, free.size)
    assert (outcome.price, free.price) == (0.0, None)
    assert pickle.loads(pickle.dumps(problem)).solve().tree == outcome.tree


def test_all_optimal_trees() -> None:
    """All of them have the optimal value, and one of them is the answer."""
    outcome = broccoli.synthesize("cartpole", **SMALL, all_optimal=1000)
    assert outcome.is_complete
    assert len(outcome.optimal) > 2
    assert outcome.policy is not None
    assert outcome.optimal[0].tree == outcome.tree
    problem = broccoli.Problem("cartpole", **SMALL)
    assert {problem.trace(policy).value for policy in outcome.optimal} == {outcome.value}
    some = broccoli.synthesize("cartpole", **SMALL, all_optimal=2)
    assert (len(some.optimal), some.is_complete) == (2, False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"pareto": True, "all_optimal": 3},
        {"pareto": True, "gap": 0.1},
        {"all_optimal": 0},
        {"prices": {"x": 1}, "first": True},
        {"prices": {"x": -1}},
        {"prices": {"y": 1}},
    ],
)
def test_what_is_refused(wrong: dict[str, Any]) -> None:
    """Options that contradict each other are named."""
    with pytest.raises(ValueError, match=r"together|whole number|price"):
        broccoli.synthesize("cartpole", **SMALL, **wrong)
