"""Serve an environment of Gymnasium to Broccoli: `python3 serve.py LunarLander-v3`.

The one value of an initial state is the seed of Gymnasium's reset. Rewards are the environment's, and a run
is violated where the environment ends it; the horizon of the problem is the only limit on its steps.

`python3 serve.py LunarLander-v3 --thresholds` writes thresholds for a problem file instead: quantiles of what
is seen when actions are drawn.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples/python"))

from broccoli_system import RUNNING, VIOLATED, serve

RUNS, LONGEST = 500, 1000
"""So many runs, of so many steps at most, tell what thresholds there should be."""


class Seeded:
    """An environment that comes back to a state by a reset with the seed, and the same actions."""

    come_back = "reset"
    state = 0
    initial = 1
    verdicts = True
    rewards = True

    def __init__(self, name: str, observations: Sequence[str], actions: Mapping[str, Any]) -> None:
        """Make the environment. `actions` says what it takes for each name."""
        self.name = name
        self.observations = list(observations)
        self.actions = {action: float(index) for index, action in enumerate(actions)}
        self.taken = list(actions.values())
        self.env: Any = gymnasium.make(name, disable_env_checker=True).unwrapped

    def reset(self, initial: Sequence[float]) -> tuple[Any, ...]:
        """Begin a run."""
        observation, _ = self.env.reset(seed=int(initial[0]))
        return observation.tolist(), RUNNING

    def step(self, action: int) -> tuple[Any, ...]:
        """Go on with the run."""
        observation, reward, has_ended, _, _ = self.env.step(self.taken[action])
        return observation.tolist(), VIOLATED if has_ended else RUNNING, float(reward)


class Stateless(Seeded):
    """An environment of MuJoCo. Its state: positions, velocities and where the solver begins."""

    come_back = "stateless"

    def __init__(self, name: str, observations: Sequence[str], actions: Mapping[str, Any]) -> None:
        """Make the environment."""
        super().__init__(name, observations, actions)
        data = self.env.data
        self.parts = [data.qpos, data.qvel, data.qacc_warmstart]
        self.state = sum(map(len, self.parts))

    def reset(self, initial: Sequence[float]) -> tuple[Any, ...]:
        """Begin a run."""
        return *super().reset(initial), self.now()

    def step(  # type: ignore[override]
        self, state: Sequence[float], action: int
    ) -> tuple[Any, ...]:
        """Make a step from a state."""
        for part in self.parts:
            part[:], state = state[: len(part)], state[len(part) :]
        observation, verdict, reward = super().step(action)
        return observation, verdict, self.now(), reward

    def now(self) -> list[float]:
        """Return the state."""
        return [float(value) for part in self.parts for value in part]


def environment(name: str) -> Seeded:
    """Make the environment of this name."""
    if name == "LunarLander-v3":
        seen = ["x", "y", "x_dot", "y_dot", "angle", "angular_velocity", "left_leg", "right_leg"]
        return Seeded(name, seen, {"none": 0, "left": 1, "main": 2, "right": 3})
    if name == "InvertedDoublePendulum-v5":
        seen = ["x", "sin1", "sin2", "cos1", "cos2", "x_dot", "angular1", "angular2", "constraint"]
        forces = {f"{force:+}": np.array([force], np.float32) for force in (-1, -0.3, 0, 0.3, 1)}
        return Stateless(name, seen, forces)
    # Any other one that chooses among actions, and observes a vector.
    made = gymnasium.make(name)
    dimensions = [f"x{index}" for index in range(made.observation_space.shape[0])]  # type: ignore[index]
    return Seeded(name, dimensions, {str(action): action for action in range(made.action_space.n)})  # type: ignore[attr-defined]


def thresholds(system: Seeded) -> str:
    """Return thresholds for a problem file."""
    dice = random.Random(0)  # noqa: S311
    seen = []
    for _ in range(RUNS):
        observation, _ = system.env.reset(seed=dice.randrange(1 << 31))
        for _ in range(LONGEST):
            seen.append(observation)
            observation, _, has_ended, _, _ = system.env.step(dice.choice(system.taken))
            if has_ended:
                break
    lines = []
    for name, values in zip(system.observations, np.array(seen).T, strict=True):
        cuts = np.quantile(values, np.arange(1, 11) / 11)
        if set(values.tolist()) <= {0, 1}:  # whether a leg touches the ground
            cuts = np.array([0.5])
        lines.append(f"{name} = {sorted({round(float(cut), 2) + 0.0 for cut in cuts})}")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[2:] == ["--thresholds"]:
        print(thresholds(environment(sys.argv[1])))
    else:
        serve(environment(sys.argv[1]))
