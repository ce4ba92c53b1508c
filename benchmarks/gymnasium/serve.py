"""Serve an environment of Gymnasium to Broccoli: `python3 serve.py LunarLander-v3`.

The one value of an initial state is the seed of Gymnasium's reset. Rewards are the environment's, and a run is
violated where the environment ends it; the problem's horizon takes the place of Gymnasium's own limit on steps.

`python3 serve.py LunarLander-v3 --thresholds` runs the environment at random instead, and writes thresholds for a
problem file: quantiles of what was seen.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples/python"))

from broccoli_system import RUNNING, VIOLATED, serve

Observed = tuple[list[float], str, float]

RUNS, LONGEST = 500, 1000
"""So many runs, and so many steps of one at most, tell what thresholds there should be."""


class Environment:
    """An environment that comes back to a state by a reset with the seed, and the same actions."""

    come_back = "reset"
    initial = 1
    verdicts = True
    rewards = True

    def __init__(self, name: str, observations: Sequence[str], actions: Mapping[str, Any]) -> None:
        """Make the environment. Actions have names, and are what the environment takes."""
        self.name = name
        self.observations = list(observations)
        self.actions = {action: float(index) for index, action in enumerate(actions)}
        self.taken = list(actions.values())
        self.env: Any = gymnasium.make(name, disable_env_checker=True).unwrapped

    def reset(self, initial: Sequence[float]) -> tuple[list[float], str]:
        """Begin a run."""
        observation, _ = self.env.reset(seed=int(initial[0]))
        return observation.tolist(), RUNNING

    def step(self, action: int) -> Observed:
        """Go on with a run."""
        observation, reward, has_ended, _, _ = self.env.step(self.taken[action])
        return observation.tolist(), VIOLATED if has_ended else RUNNING, float(reward)


class Stateless(Environment):
    """An environment of MuJoCo: position, velocity and what the solver begins with are its state."""

    come_back = "stateless"

    def __init__(self, name: str, observations: Sequence[str], actions: Mapping[str, Any]) -> None:
        """Make the environment."""
        super().__init__(name, observations, actions)
        model = self.env.model
        self.state = model.nq + 2 * model.nv
        self._ends = [model.nq, model.nq + model.nv]

    def reset(self, initial: Sequence[float]) -> tuple[list[float], str, list[float]]:  # type: ignore[override]
        """Begin a run."""
        return *super().reset(initial), self._get()

    def step(  # type: ignore[override]
        self, state: Sequence[float], action: int
    ) -> tuple[list[float], str, list[float], float]:
        """Make a step from a state."""
        position, velocity, warm = np.split(np.asarray(state), self._ends)
        data = self.env.data
        data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = position, velocity, warm
        observation, verdict, reward = super().step(action)
        return observation, verdict, self._get(), reward

    def _get(self) -> list[float]:
        data = self.env.data
        return [*data.qpos.tolist(), *data.qvel.tolist(), *data.qacc_warmstart.tolist()]


def forces(*levels: float) -> dict[str, NDArray[np.float32]]:
    """Return actions that are a force each."""
    return {f"{level:+g}": np.array([level], np.float32) for level in levels}


def environment(name: str) -> Environment:
    """Make the environment of this name."""
    match name:
        case "LunarLander-v3":
            seen = ["x", "y", "x_dot", "y_dot", "angle", "angular_velocity", "left_leg", "right_leg"]
            return Environment(name, seen, {"none": 0, "left": 1, "main": 2, "right": 3})
        case "InvertedDoublePendulum-v5":
            seen = ["x", "sin1", "sin2", "cos1", "cos2", "x_dot", "dot1", "dot2", "push"]
            return Stateless(name, seen, forces(-1, -0.3, 0, 0.3, 1))
        case "InvertedPendulum-v5":
            seen = ["x", "angle", "x_dot", "angle_dot"]
            return Stateless(name, seen, forces(-3, -1, 0, 1, 3))
        case "Swimmer-v5":
            seen = ["angle", "joint1", "joint2", "x_dot", "y_dot", "angle_dot", "joint1_dot", "joint2_dot"]
            torques = {f"{a:+d} {b:+d}": np.array([a, b], np.float32) for a in (-1, 0, 1) for b in (-1, 0, 1)}
            return Stateless(name, seen, torques)
        case _:
            sys.exit(f"{name} is not among the problems")


def thresholds(system: Environment) -> str:
    """Return thresholds for a problem file: quantiles of what is seen when actions are drawn."""
    dice = random.Random(0)
    seen: list[NDArray[Any]] = []
    for _ in range(RUNS):
        observation, _ = system.env.reset(seed=dice.randrange(1 << 31))
        has_ended = False
        steps = 0
        while not has_ended and steps < LONGEST:
            seen.append(observation)
            observation, _, has_ended, _, _ = system.env.step(dice.choice(system.taken))
            steps += 1
    lines = []
    for name, column in zip(system.observations, np.array(seen).T, strict=True):
        is_binary = set(column.tolist()) <= {0, 1}
        cuts = [0.5] if is_binary else np.quantile(column, np.arange(1, 11) / 11)
        lines.append(f"{name} = {sorted({round(float(cut), 2) + 0.0 for cut in cuts})}")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[2:] == ["--thresholds"]:
        print(thresholds(environment(sys.argv[1])))
    else:
        serve(environment(sys.argv[1]))
