"""Runs every method on every problem, and keeps what comes of it."""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import broccoli

from alternatives.arena import Arena, Point, Run, Spent
from alternatives.expert import expert
from alternatives.instances import Instance
from alternatives.methods import METHODS


@dataclass(frozen=True)
class Proof:
    """Broccoli's answer, and what it took."""

    value: int
    size: int
    queries: int
    seconds: float
    points: list[Point]
    """The trees on the way."""

    @property
    def found(self) -> int:
        """After how many queries the best value was found, the proof still to come."""
        return next(point.queries for point in self.points if point.value == self.value)


@dataclass(frozen=True)
class Measured:
    """All runs on one problem, by method; one for every seed."""

    instance: Instance
    is_reach: bool
    proof: Proof
    runs: dict[str, list[Run]]

    def values(self, method: str, factor: float) -> list[int | None]:
        """Return the best value of every seed with so many times the proof's queries, the best first."""
        points = [run.best(factor * self.proof.queries) for run in self.runs[method]]
        sign = 1 if self.is_reach else -1
        found = sorted((point.value for point in points if point), key=lambda value: sign * value)
        return [*found, *[None] * (len(points) - len(found))]

    def hits(self, method: str, factor: float, *, smallest: bool = False) -> int:
        """Count the seeds that have the optimal value, or a tree that is optimal in value and size."""
        points = [run.best(factor * self.proof.queries) for run in self.runs[method]]
        return sum(
            point is not None
            and point.value == self.proof.value
            and (not smallest or point.size == self.proof.size)
            for point in points
        )

    def is_cut(self, method: str, factor: float) -> bool:
        """Whether time ended a run before it had made so many queries."""
        return not all(run.reached(factor * self.proof.queries) for run in self.runs[method])


def median(values: Sequence[int | None]) -> int | None:
    """Return the middle one of values that are sorted, the worse of two."""
    return values[len(values) // 2]


def prove(problem: broccoli.Problem) -> Proof:
    """Solve a problem, without the choice among equal trees."""
    found: list[broccoli.Improvement] = []
    outcome = problem.solve(any_optimal=True, on_improvement=found.append)
    if outcome.status != "optimal" or outcome.value is None or outcome.size is None:
        msg = f"{problem} has no optimal tree: {outcome.status}"
        raise ValueError(msg)
    points = [Point(best.queries, 0.0, best.value, best.size) for best in found]
    return Proof(outcome.value, outcome.size, outcome.statistics.queries, outcome.seconds, points)


def measure(
    instance: Instance, methods: Sequence[str], seeds: int, factor: float, time_limit: float
) -> Measured:
    """Run the methods with `factor` times the queries of the proof."""
    problem = instance.problem()
    proof = prove(problem)
    runs: dict[str, list[Run]] = {}
    for method in methods:
        if method == "imitation":
            expert(instance.environment)  # its time counts for no seed, its queries for every one
        runs[method] = [
            _run(method, instance, seed, int(factor * proof.queries), time_limit) for seed in range(seeds)
        ]
        seconds = statistics.mean(run.seconds for run in runs[method])
        sys.stderr.write(f"{instance.name}: {method}, {seconds:.1f} s a seed\n")
    return Measured(instance, problem.objective == "reach", proof, runs)


def _run(method: str, instance: Instance, seed: int, queries: int, time_limit: float) -> Run:
    arena = Arena(instance, queries, time_limit)
    with contextlib.suppress(Spent):
        METHODS[method](arena, seed)
    return arena.run


def write_json(measured: Sequence[Measured], file: Path) -> None:
    """Write all figures; a point is queries, seconds, value and size."""
    listed = [
        {
            "problem": asdict(one.instance),
            "proof": asdict(one.proof),
            "runs": {method: [asdict(run) for run in runs] for method, runs in one.runs.items()},
        }
        for one in measured
    ]
    text = "[\n" + ",\n".join(json.dumps(entry) for entry in listed) + "\n]\n"
    file.write_text(text)
