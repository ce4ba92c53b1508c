"""The problems, as `benchmarks/instances/alternatives.toml` lists them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import broccoli

FILE = Path(__file__).parents[2] / "instances" / "alternatives.toml"


@dataclass(frozen=True)
class Instance:
    """One problem, and what the alternatives may know of it beforehand."""

    name: str
    environment: str
    depth: int
    step: tuple[float, ...] | None = None
    samples: int = 0
    first_horizon: int | None = None
    """The most steps of a run until a first tree is known; the problem's horizon if there is none."""

    def problem(self, horizon: int | None = None) -> broccoli.Problem:
        """Return the problem itself, or with another horizon."""
        return broccoli.Problem(
            self.environment,
            depth=self.depth,
            horizon=horizon,
            thresholds=None if self.step is None else [broccoli.Predicates.grid(step) for step in self.step],
            initial=broccoli.sample(self.environment, self.samples, 0) if self.samples else None,
        )

    def __str__(self) -> str:
        grid = "" if self.step is None else f", steps {'/'.join(map(str, self.step))}"
        states = f"{self.samples} initial states" if self.samples else "one initial state"
        return f"{self.environment}, depth {self.depth}{grid}, {states}"


def read(file: Path = FILE) -> dict[str, Instance]:
    """Return the instances by name."""
    listed: list[dict[str, Any]] = tomllib.loads(file.read_text())["problem"]
    for entry in listed:
        if "step" in entry:
            entry["step"] = tuple(entry["step"])
    return {entry["name"]: Instance(**entry) for entry in listed}
