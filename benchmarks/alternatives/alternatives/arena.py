"""Where methods try trees: every step of the system is counted, and the best tree so far is kept."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import NamedTuple

from alternatives.instances import Instance
from alternatives.trees import Genome, Nested, Space, size

CUT = 1.5
"""A run towards a goal is given up after this many times the best value so far."""
SIZE_WEIGHT = 1e-4
"""What a predicate node costs in a score: less than a step."""


class Point(NamedTuple):
    """A moment when a better tree was found."""

    queries: int
    seconds: float
    value: int
    size: int


class Spent(Exception):  # noqa: N818
    """The queries or the time are spent."""


@dataclass
class Run:
    """What one run of a method came to."""

    points: list[Point] = field(default_factory=list)
    queries: int = 0
    trees: int = 0
    seconds: float = 0.0
    ended_by: str = "method"
    """`"queries"`, `"time"`, or `"method"` if it had nothing left to try."""

    def best(self, queries: float) -> Point | None:
        """Return the best tree found within so many queries."""
        within = [point for point in self.points if point.queries <= queries]
        return within[-1] if within else None

    def reached(self, queries: float) -> bool:
        """Whether it was not the time that ended it before it had made so many queries."""
        return self.ended_by != "time" or self.queries >= queries


class Arena:
    """A problem with a number of queries and seconds of processor time to spend."""

    def __init__(self, instance: Instance, queries: int, seconds: float) -> None:
        self.instance = instance
        self.problem = instance.problem()
        self.space = Space(self.problem)
        self.is_reach = self.problem.objective == "reach"
        self.run = Run()
        self.first_horizon = instance.first_horizon or self.problem.horizon
        self._queries = queries
        self._seconds = seconds
        self._began = time.process_time()

    @property
    def worst(self) -> float:
        """The score of a tree that fails."""
        return math.log(2 * self.first_horizon)

    def horizon(self, cut: float = CUT) -> int:
        """Return how many steps a run is worth now: `cut` times the best so far, if it is about few steps."""
        if not self.is_reach:
            return self.problem.horizon
        best = self.run.points[-1].value * cut if self.run.points else self.first_horizon
        return max(1, math.ceil(best))

    def score(self, genome: Genome, limit: float = math.inf) -> float:
        """Try a tree; less is better, and values count by their logarithm.

        Beyond `limit` a score may be that of a tree that fails.
        """
        nested = self.space.nested(genome)
        horizon = self.horizon()
        if self.is_reach and limit < math.log(horizon):
            horizon = max(1, math.floor(math.exp(limit)))
        value = self.evaluate(nested, horizon)
        if value is None:
            return self.worst
        return (1 if self.is_reach else -1) * math.log(max(value, 1)) + SIZE_WEIGHT * size(nested)

    def evaluate(self, nested: Nested, horizon: int) -> int | None:
        """Try a tree and return its value."""
        evaluation = self.problem.evaluate(self.problem.tree(nested), horizon=horizon)
        self.spend(evaluation.queries)
        value = None if evaluation.value is None else int(evaluation.value)
        self.offer(nested, value)
        return value

    def spend(self, queries: int) -> None:
        """Count queries that were made. If they were too many, what they showed came too late."""
        run = self.run
        run.seconds = time.process_time() - self._began
        if run.queries + queries > self._queries:
            run.queries, run.ended_by = self._queries, "queries"
            raise Spent
        run.queries += queries
        if run.seconds > self._seconds:
            run.ended_by = "time"
            raise Spent

    def offer(self, nested: Nested, value: int | None) -> None:
        """Keep a tree if it is better than the best so far."""
        self.run.trees += 1
        if value is None:
            return
        points = self.run.points
        rank = (value if self.is_reach else -value, size(nested))
        if points:
            best = points[-1]
            if rank >= (best.value if self.is_reach else -best.value, best.size):
                return
        points.append(Point(self.run.queries, self.run.seconds, value, rank[1]))
