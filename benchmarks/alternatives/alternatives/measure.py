"""Runs every method on every problem, and keeps what comes of it."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
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
    """Solve a problem."""
    found: list[broccoli.Improvement] = []
    outcome = problem.solve(on_improvement=found.append)
    if outcome.status != "optimal" or outcome.value is None or outcome.size is None:
        msg = f"{problem} has no optimal tree: {outcome.status}"
        raise ValueError(msg)
    points = [Point(best.queries, 0.0, int(best.value), best.size) for best in found]
    return Proof(int(outcome.value), outcome.size, outcome.statistics.queries, outcome.seconds, points)


@dataclass(frozen=True)
class Limits:
    """What a run of a method may spend."""

    factor: float
    """How many times the queries of the proof."""
    seconds: float
    """Of processor time."""


def measure(
    instances: Sequence[Instance], methods: Sequence[str], seeds: int, limits: Limits, jobs: int = 1
) -> Iterator[list[Measured]]:
    """Run the methods on the problems, a seed after the other; yield all that there is after each."""
    all_measured = []
    for instance in instances:
        problem = instance.problem()
        runs: dict[str, list[Run]] = {method: [] for method in methods}
        all_measured.append(Measured(instance, problem.objective == "reach", prove(problem), runs))
        if "imitation" in methods:
            expert(instance.environment)  # its time counts for no run, its queries for every one
    budgets = [int(limits.factor * measured.proof.queries) for measured in all_measured]
    work = [
        (method, instance, seed, budget, limits.seconds)
        for seed in range(seeds)
        for instance, budget in zip(instances, budgets, strict=True)
        for method in methods
    ]
    # A fork has the experts that are there already.
    with ProcessPoolExecutor(jobs, get_context("fork")) as pool:
        done = pool.map(_run, work)
        for _ in range(seeds):
            for measured in all_measured:
                for method in methods:
                    measured.runs[method].append(next(done))
            yield all_measured


def _run(work: tuple[str, Instance, int, int, float]) -> Run:
    method, instance, seed, queries, seconds = work
    arena = Arena(instance, queries, seconds)
    with contextlib.suppress(Spent):
        METHODS[method](arena, seed)
    sys.stderr.write(f"{instance.name}: {method}, seed {seed}, {arena.run.seconds:.1f} s\n")
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
