"""How much a query costs beyond the Python `step` itself: `python benchmarks/overhead.py`.

A CartPole in plain Python is searched, as a function of its state, with snapshots, and with its state in a
NumPy array. Its `step` is then called as often on its own, along runs with random actions. What a query
costs beyond that is the difference, in processor time, and everything is in it: the engine, keeping states
and coming back to them. The best of several rounds counts, because the machine may have other things to do.

Then the same problem, and another in which the cart is to get to the right, with a CartPole in NumPy that
makes many steps at a time, compared with plain Python, with the same NumPy one row at a time and with
Gymnasium's own CartPole, which is what most people have.
"""

from __future__ import annotations

import math
import random
import time
from typing import Any

import numpy as np

import broccoli
from broccoli import Verdict

Four = tuple[float, float, float, float]
THETA = 24 * math.pi / 360
ROUNDS = 5
RIGHT = 1.0
STEPS = 200_000
PROBLEM: dict[str, Any] = {
    "dimensions": {
        "x": (-2.4, 2.4),
        "x_dot": (-1.0, 1.0),
        "theta": (-0.418, 0.418),
        "theta_dot": (-1.0, 1.0),
    },
    "thresholds": broccoli.Problem("cartpole").thresholds,
    "actions": {"left": -10.0, "right": 10.0},
    "initial": [(0.013, -0.02, 0.047, 0.025)],
    "objective": "survive",
    "horizon": 10_000,
}


def move(state: Four, force: float) -> Four:
    """Move for 20 ms."""
    x, x_dot, theta, theta_dot = state
    sin, cos = math.sin(theta), math.cos(theta)
    temp = (force + 0.05 * (theta_dot * theta_dot) * sin) / 1.1
    theta_acc = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * (cos * cos) / 1.1))
    x_acc = temp - 0.05 * theta_acc * cos / 1.1
    return x + 0.02 * x_dot, x_dot + 0.02 * x_acc, theta + 0.02 * theta_dot, theta_dot + 0.02 * theta_acc


def judge(state: Four) -> Verdict:
    """Tell whether the pole is still up."""
    return Verdict.VIOLATED if abs(state[0]) > 2.4 or abs(state[2]) > THETA else Verdict.RUNNING


class Function:
    """The state goes in and out."""

    def reset(self, initial: Four) -> tuple[Four, Four, Verdict]:
        """Start."""
        return initial, initial, Verdict.RUNNING

    def step(self, state: Four, force: float) -> tuple[Four, Four, Verdict]:
        """Go on."""
        state = move(state, force)
        return state, state, judge(state)


class Stateful:
    """The state stays here."""

    def reset(self, initial: Four) -> tuple[Four, Verdict]:
        """Start."""
        self.state = initial
        return initial, Verdict.RUNNING

    def step(self, force: float) -> tuple[Four, Verdict]:
        """Go on."""
        self.state = move(self.state, force)
        return self.state, judge(self.state)

    def snapshot(self) -> Four:
        """Save."""
        return self.state

    def restore(self, state: Four) -> None:
        """Come back."""
        self.state = state


class Array:
    """The state is a NumPy array."""

    def reset(self, initial: Four) -> tuple[Any, Any, Verdict]:
        """Start."""
        state = np.array(initial)
        return state, state, Verdict.RUNNING

    def step(self, state: Any, force: float) -> tuple[Any, Any, Verdict]:
        """Go on."""
        state = np.array(move(tuple(state.tolist()), force))
        return state, state, judge(state)


class Batch:
    """Many states, one a row."""

    def reset(self, initial: Four) -> tuple[Four, Four, Verdict]:
        """Start."""
        return initial, initial, Verdict.RUNNING

    def step_batch(self, states: Any, forces: Any) -> tuple[Any, Any, Any]:
        """Go on."""
        before = states.T
        _, x_dot, theta, theta_dot = before
        sin, cos = np.sin(theta), np.cos(theta)
        temp = (forces + 0.05 * (theta_dot * theta_dot) * sin) / 1.1
        theta_acc = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * (cos * cos) / 1.1))
        x_acc = temp - 0.05 * theta_acc * cos / 1.1
        after = before + 0.02 * np.array([x_dot, x_acc, theta_dot, theta_acc])
        return after.T, after.T, self.judge(after)

    def judge(self, after: Any) -> Any:
        """Tell whether the poles are still up."""
        return 2 * ((np.abs(after[0]) > 2.4) | (np.abs(after[2]) > THETA))


def alone(system: Any) -> float:
    """Return the seconds of one `step` on its own."""
    generator = random.Random(1)  # noqa: S311
    forces = [generator.choice((-10.0, 10.0)) for _ in range(STEPS)]
    first = system.reset(PROBLEM["initial"][0])
    step, is_function, answer = system.step, len(first) == 3, first
    began = time.process_time()
    for force in forces:
        answer = step(answer[0], force) if is_function else step(force)
        if answer[-1] is not Verdict.RUNNING:
            answer = system.reset(PROBLEM["initial"][0])
    return (time.process_time() - began) / STEPS


def queries(outcome: broccoli.Outcome) -> int:
    """Return how many steps a search has made in all."""
    s = outcome.statistics
    return s.queries + s.queries_replayed + s.queries_confirming


def searched(system: type, batch_size: int = 128, **given: Any) -> tuple[float, broccoli.Outcome]:
    """Return the seconds of a query in a search, and its outcome."""
    problem = broccoli.Problem(system, **{**PROBLEM, **given})
    began = time.process_time()
    outcome = problem.solve(batch_size=batch_size)
    return (time.process_time() - began) / queries(outcome), outcome


class Rightwards(Function):
    """The cart is to get to the right, with the pole up."""

    def step(self, state: Four, force: float) -> tuple[Four, Four, Verdict]:
        """Go on."""
        state, seen, verdict = super().step(state, force)
        return state, seen, Verdict.SATISFIED if state[0] >= RIGHT else verdict


class BatchRightwards(Batch):
    """The same, many at a time."""

    def judge(self, after: Any) -> Any:
        """Tell which carts are there."""
        return np.where(after[0] >= RIGHT, 1, super().judge(after))


def gymnasium_query() -> float:
    """Return the seconds of a query of Gymnasium's CartPole in a search."""
    began = time.process_time()
    outcome = broccoli.synthesize(
        "CartPole-v1", thresholds=10, seeds=range(3), objective="survive", horizon=500
    )
    return (time.process_time() - began) / queries(outcome)


def main() -> None:
    """Measure, and print two tables."""
    print(f"{'':10} {'step alone':>12} {'in a search':>12} {'difference':>12}")
    for system in (Function, Stateful, Array):
        step = min(alone(system()) for _ in range(ROUNDS))
        runs = [searched(system) for _ in range(ROUNDS)]
        assert all(outcome.value == broccoli.synthesize("cartpole").value for _, outcome in runs)
        query = min(seconds for seconds, _ in runs)
        print(
            f"{system.__name__:10} {step * 1e9:9.0f} ns {query * 1e9:9.0f} ns {(query - step) * 1e9:9.0f} ns"
        )
    print(f"\n{'':10} {'Python':>18} {'NumPy, row by row':>18} {'NumPy, batches':>18}")
    pairs: list[tuple[str, type, type, dict[str, Any]]] = [
        ("survive", Function, Batch, {}),
        ("reach", Rightwards, BatchRightwards, {"objective": "reach", "horizon": 500, "thresholds": 30}),
    ]
    gymnasium = min(gymnasium_query() for _ in range(ROUNDS))
    print(f"Gymnasium's CartPole-v1: {gymnasium * 1e9:.0f} ns")
    for name, one, many, given in pairs:
        python = min((searched(one, **given) for _ in range(ROUNDS)), key=lambda run: run[0])
        by_row = searched(many, batch_size=1, **given)
        batches = min((searched(many, **given) for _ in range(ROUNDS)), key=lambda run: run[0])
        assert len({run[1].value for run in (python, by_row, batches)}) == 1
        figures = [f"{queries(run[1]):8} {run[0] * 1e9:6.0f} ns" for run in (python, by_row, batches)]
        print(f"{name:10} {' '.join(figures)}")
        ratios = [
            f"{slow / batches[0]:.1f} x {what}"
            for slow, what in ((python[0], "Python"), (by_row[0], "row by row"), (gymnasium, "Gymnasium"))
        ]
        print(f"  batches: {', '.join(ratios)}")


if __name__ == "__main__":
    main()
