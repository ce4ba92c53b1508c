"""Returns, means, sums, weights and shares."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import broccoli


class Hill:
    """Walks on a line; best is around 4.5."""

    def reset(self, initial: float) -> tuple[Any, ...]:
        """Start."""
        return initial, initial, "running"

    def step(self, state: float, action: int) -> tuple[Any, ...]:
        """Go on."""
        state += action
        return state, state, "violated" if abs(state) > 6 else "running", -abs(state - 4.5)


class Hills:
    """The same, many steps at a time."""

    def reset(self, initial: float) -> tuple[Any, ...]:
        """Start."""
        return np.array([initial]), initial, "running"

    def step_batch(self, states: Any, actions: Any) -> tuple[Any, ...]:
        """Go on."""
        states = states + actions[:, None]
        return states, states, np.where(abs(states[:, 0]) > 6, 2, 0), -abs(states[:, 0] - 4.5)


HILL: dict[str, Any] = {
    "dimensions": {"x": (-6, 6)},
    "thresholds": 11,
    "actions": [-1, 1],
    "initial": [0.0, 3.0],
    "objective": "return",
    "horizon": 8,
    "depth": 2,
}
BEST = -(3.5 + 2.5 + 1.5 + 5 * 0.5)  # from 0
OTHER = -8 * 0.5  # from 3


@pytest.mark.parametrize("system", [Hill, Hills])
def test_rewards_of_a_system_in_python(system: Any) -> None:
    """The best sums are known by hand."""
    outcome = broccoli.synthesize(system, over="sum", rewards=(-20, 0), **HILL)
    assert (outcome.status, outcome.value, outcome.bound) == ("optimal", BEST + OTHER, BEST + OTHER)
    assert broccoli.synthesize(system, **HILL).value == BEST
    assert broccoli.synthesize(system, weights=np.array([0, 2]), **HILL).value == 2 * OTHER
    assert isinstance(outcome.value, float)
    assert outcome.policy is not None
    problem = broccoli.Problem(system, over="sum", **HILL)
    assert problem.evaluate(outcome.policy) == (outcome.value, 16)
    with pytest.raises(ValueError, match="horizon: only for reach and survive"):
        problem.evaluate(outcome.policy, horizon=3)


def test_a_mean_is_that_of_the_traces() -> None:
    """The mean is that of what the traces are worth."""
    problem = broccoli.Problem(Hill, over="mean", discount=0.5, **HILL)
    again = pickle.loads(pickle.dumps(problem))
    outcome = again.solve()
    assert outcome.policy is not None
    values = [again.trace(outcome.policy, initial).value for initial in range(2)]
    assert outcome.value == sum(values) / 2


def test_built_in_environments_have_the_rewards_of_gymnasium() -> None:
    """Their returns are known."""
    cartpole = broccoli.Problem("cartpole", objective="return")
    assert (cartpole.horizon, cartpole.solve().value) == (500, 500.0)
    assert broccoli.synthesize("mountain-car", objective="return").value == -104.0


def test_gymnasium_gives_rewards() -> None:
    """One for every step, so that a return is a number of steps."""
    outcome = broccoli.synthesize(
        "CartPole-v1", thresholds=5, seeds=range(3), objective="return", over="mean", depth=1, rewards=(1, 1)
    )
    longest = broccoli.synthesize(
        "CartPole-v1", thresholds=5, seeds=range(3), objective="survive", over="mean", depth=1, horizon=500
    )
    assert outcome.status == "optimal"
    assert outcome.value == longest.value


def test_a_share_of_the_states_may_be_enough() -> None:
    """With fewer states to care for a tree is at least as good."""
    initial = broccoli.sample("mountain-car", 4, 0)
    whole, half = (
        broccoli.synthesize("mountain-car", initial=initial, thresholds=5, share=share).value
        for share in (1.0, 0.5)
    )
    assert whole is not None
    assert half is not None
    assert half <= whole
    assert whole == broccoli.synthesize("mountain-car", initial=initial, thresholds=5).value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"discount": 0.9}, "discount has no meaning for the objective 'survive'"),
        ({"over": "median"}, 'over is "median"'),
        ({"over": "mean", "share": 0.5}, "give one of over, weights and share"),
        ({"share": 0.5}, "a share of the initial states is for `reach`, not for `survive`"),
        ({"weights": [1, 2]}, "given are 2, and there are 1"),
        ({"objective": "return", "discount": 2.0}, "the discount is 2"),
    ],
)
def test_what_makes_no_sense(arguments: dict[str, Any], message: str) -> None:
    """What is wrong with an objective is said."""
    with pytest.raises(ValueError, match=message):
        broccoli.Problem("cartpole", **arguments)


def test_a_reward_beyond_its_bounds_ends_the_search() -> None:
    """The proof would be worthless."""
    with pytest.raises(broccoli.RunError, match="according to the problem's bounds it is from -1 to 0"):
        broccoli.synthesize(Hill, rewards=(-1, 0), **HILL)
