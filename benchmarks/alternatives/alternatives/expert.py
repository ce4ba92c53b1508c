"""An expert to imitate: the best action anywhere, by value iteration on a grid over the true system.

Every point of the grid is reset to and stepped once with every action; these are the queries that the expert
costs. That takes more than a black box offers (states of one's choice, and seeing all of the state), and
ranges that somebody has to know.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache

import broccoli
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]

AXES: dict[str, tuple[tuple[float, float, int], ...]] = {
    "mountain-car": ((-1.2, 0.6, 121), (-0.07, 0.07, 121)),
    "cartpole": ((-2.4, 2.4, 11), (-2.5, 2.5, 13), (-0.2095, 0.2095, 13), (-2.5, 2.5, 13)),
    "pendulum": ((-6.3, 1.3, 191), (-8.0, 8.0, 129)),
}
"""Low, high and number of points of every dimension."""

DISCOUNT = 0.995
CHANGE = 1e-6
"""Value iteration ends when no value changes by more."""
MOST_SWEEPS = 4000


@dataclass(frozen=True)
class Stepped:
    """What one step does to many states."""

    states: Floats
    is_satisfied: NDArray[np.bool_]
    is_violated: NDArray[np.bool_]
    queries: int


def step(environment: str, states: Floats, action: int) -> Stepped:
    """Apply an action to every state, one a row. States where a run is over stay as they are."""
    problem = broccoli.Problem(environment, initial=states.tolist(), horizon=1)
    tree = problem.tree(action)
    runs = [problem.trace(tree, index) for index in range(len(states))]
    return Stepped(
        states=np.array([run.observations[-1] for run in runs]),
        is_satisfied=np.array([run.end == "satisfied" for run in runs]),
        is_violated=np.array([run.end == "violated" for run in runs]),
        queries=sum(len(run.actions) for run in runs),
    )


class Expert:
    """What every action costs from now on: steps to the goal, or the violation to come, both discounted.

    Between the points of the grid costs are interpolated.
    """

    def __init__(self, environment: str, axes: tuple[tuple[float, float, int], ...] | None = None) -> None:
        self._axes = axes or AXES[environment]
        problem = broccoli.Problem(environment)
        is_reach = problem.objective == "reach"
        grid = np.array(list(itertools.product(*(np.linspace(*axis) for axis in self._axes))))
        steps = [step(environment, grid, action) for action in range(len(problem.actions))]
        self.queries = sum(stepped.queries for stepped in steps)
        costs = [
            np.where(stepped.is_violated, 1 / (1 - DISCOUNT) if is_reach else 1.0, float(is_reach))
            for stepped in steps
        ]
        weights = [
            sparse.diags_array((~(stepped.is_satisfied | stepped.is_violated)).astype(float) * DISCOUNT)
            @ self._weights(stepped.states)
            for stepped in steps
        ]
        value = np.zeros(len(grid))
        for _ in range(MOST_SWEEPS):
            self._table = np.stack([cost + w @ value for cost, w in zip(costs, weights, strict=True)])
            new = self._table.min(axis=0)
            change = np.abs(new - value).max()
            value = new
            if change < CHANGE:
                break

    def costs(self, states: Floats) -> Floats:
        """Return what every action costs (columns) in every state (rows)."""
        return (self._weights(states) @ self._table.T).astype(np.float64)  # type: ignore[no-any-return]

    def _weights(self, states: Floats) -> sparse.csr_array:
        """Return every state as a mixture of the grid's points around it; beyond the grid, of its border."""
        count = len(states)
        columns, factors = np.zeros((1, count), dtype=np.int64), np.ones((1, count))
        for (low, high, points), values in zip(self._axes, states.T, strict=True):
            place = np.clip((values - low) / (high - low) * (points - 1), 0, points - 1)
            below = np.minimum(place.astype(np.int64), points - 2)
            share = place - below
            columns = np.concatenate([columns * points + below, columns * points + below + 1])
            factors = np.concatenate([factors * (1 - share), factors * share])
        rows = np.tile(np.arange(count), len(columns))
        size = np.prod([points for _, _, points in self._axes])
        return sparse.csr_array((factors.ravel(), (rows, columns.ravel())), shape=(count, size))


@cache
def expert(environment: str) -> Expert:
    """Return the expert for an environment; what it costs is counted by whoever uses it."""
    return Expert(environment)
