"""Trees as lists of whole numbers, the form that the methods change and draw at random.

A *genome* is a complete tree of the largest depth, node by node from the root, the node `i` having its true
child at `2i + 1` and its false child at `2i + 2`: first predicates, by index, then the actions of leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

import broccoli
import numpy as np
from numpy.typing import NDArray

Genome: TypeAlias = list[int]
Nested: TypeAlias = "int | tuple[int, float, Nested, Nested]"


class Space:
    """All trees of a problem."""

    def __init__(self, problem: broccoli.Problem) -> None:
        self.thresholds = list(problem.thresholds.values())
        self.actions = len(problem.actions)
        self.depth = problem.depth
        self.predicates = [(d, t) for d, listed in enumerate(self.thresholds) for t in listed]
        self.starts = [0, *accumulate(map(len, self.thresholds))]
        """The first predicate of every dimension, and the number of all."""
        self.nodes = 2**self.depth - 1
        self.leaves = 2**self.depth
        if problem.nodes < self.nodes:
            msg = f"trees of depth {self.depth} may have {problem.nodes} nodes only: this is not covered"
            raise ValueError(msg)

    def random(self, generator: np.random.Generator, count: int) -> list[Genome]:
        """Draw trees: every dimension alike, every threshold in it alike, every action alike."""
        starts = np.array(self.starts)
        dimensions = generator.integers(len(self.thresholds), size=(count, self.nodes))
        low, high = starts[dimensions], starts[dimensions + 1]
        predicates = generator.integers(low, high)
        actions = generator.integers(self.actions, size=(count, self.leaves))
        return np.concatenate([predicates, actions], axis=1).tolist()  # type: ignore[no-any-return]

    def dimension(self, predicate: int) -> int:
        """Return the dimension that a predicate is about."""
        return self.predicates[predicate][0]

    def nested(self, genome: Sequence[int]) -> Nested:
        """Return the tree without the nodes that decide nothing."""
        return self._below(genome, 0, {})

    def _below(self, genome: Sequence[int], node: int, known: dict[int, tuple[float, float]]) -> Nested:
        if node >= self.nodes:
            return genome[node]
        dimension, threshold = self.predicates[genome[node]]
        low, high = known.get(dimension, (-np.inf, np.inf))
        if threshold <= low:
            return self._below(genome, 2 * node + 1, known)
        if threshold >= high:
            return self._below(genome, 2 * node + 2, known)
        yes = self._below(genome, 2 * node + 1, {**known, dimension: (threshold, high)})
        no = self._below(genome, 2 * node + 2, {**known, dimension: (low, threshold)})
        return yes if yes == no else (dimension, threshold, yes, no)

    def ranks(self, observations: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the cells of observations, one a row."""
        columns = [
            np.searchsorted(thresholds, observations[:, d], side="right")
            for d, thresholds in enumerate(self.thresholds)
        ]
        return np.stack(columns, axis=1)


def size(tree: Nested) -> int:
    """Return the number of predicate nodes."""
    return 1 + size(tree[2]) + size(tree[3]) if isinstance(tree, tuple) else 0
