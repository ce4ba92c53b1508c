"""CMA-ES over a continuous encoding of trees, with restarts of twice the population each (IPOP).

A node is a weight per dimension, of which the largest chooses, and a place on [-1, 1] that is snapped to the
thresholds of that dimension. A leaf is a number whose sign is the action, or a weight per action.
"""

from __future__ import annotations

import cma
import numpy as np
from numpy.typing import NDArray

from alternatives.arena import Arena
from alternatives.trees import Genome, Space

SIGMA = 0.5
"""How far the first population is spread; the starting point is drawn from [-1, 1]."""


def search(arena: Arena, seed: int, sigma: float = SIGMA) -> None:
    """Evolve until nothing is left to spend."""
    encoding = Encoding(arena.space)
    generator = np.random.default_rng(seed)
    population = 4 + int(3 * np.log(encoding.length))
    while True:
        options = {"seed": int(generator.integers(1, 2**31)), "popsize": population, "verbose": -9}
        start = generator.uniform(-1, 1, encoding.length)
        strategy = cma.CMAEvolutionStrategy(start, sigma, options)
        while not strategy.stop():
            asked = strategy.ask()
            strategy.tell(asked, [arena.score(encoding.genome(vector)) for vector in asked])
        population *= 2


class Encoding:
    """Vectors for trees."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._of_leaf = 1 if space.actions == 2 else space.actions
        self._of_node = len(space.thresholds) + 1
        self.length = space.nodes * self._of_node + space.leaves * self._of_leaf

    def genome(self, vector: NDArray[np.float64]) -> Genome:
        """Return the tree that a vector stands for."""
        space = self._space
        cut = space.nodes * self._of_node
        nodes = vector[:cut].reshape(space.nodes, self._of_node)
        dimensions = nodes[:, :-1].argmax(axis=1)
        starts = np.array(space.starts)
        counts = starts[dimensions + 1] - starts[dimensions]
        places = np.clip((nodes[:, -1] + 1) / 2, 0, 1 - 1e-9)
        predicates = starts[dimensions] + (places * counts).astype(int)
        leaves = vector[cut:].reshape(space.leaves, self._of_leaf)
        actions = (leaves[:, 0] > 0).astype(int) if self._of_leaf == 1 else leaves.argmax(axis=1)
        return [*predicates.tolist(), *actions.tolist()]
