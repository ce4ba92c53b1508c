"""The server against Gymnasium itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest

import serve


def test_runs_are_those_of_gymnasium_and_begin_with_a_seed() -> None:
    """Over the protocol: a reset, steps until the pole falls, and the same run again."""
    actions = [0, *12 * [1]]
    run: list[dict[str, Any]] = [{"type": "reset", "initial": [7]}]
    run += [{"type": "step", "action": action} for action in actions]
    hello = {"type": "hello", "protocol": 1, "formats": ["json"]}
    lines = [json.dumps(message) for message in [hello, *run, *run]]
    program = [sys.executable, str(Path(serve.__file__)), "CartPole-v1"]
    said = subprocess.run(program, input="\n".join(lines), capture_output=True, text=True, check=True)
    first, *answers = map(json.loads, said.stdout.splitlines())
    assert (first["come_back"], first["initial"], len(first["actions"])) == ("reset", 1, 2)
    env = gymnasium.make("CartPole-v1")
    expected = [{"observation": env.reset(seed=7)[0].tolist(), "verdict": "running"}]
    for action in actions:
        seen, reward, has_ended, _, _ = env.step(action)
        verdict = "violated" if has_ended else "running"
        expected.append({"observation": seen.tolist(), "verdict": verdict, "reward": reward})
    assert "violated" in [reply["verdict"] for reply in expected]
    assert answers == expected + expected


def test_thresholds_are_quantiles_with_few_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the same each time."""
    monkeypatch.setattr(serve, "RUNS", 20)
    lines = serve.thresholds(serve.environment("CartPole-v1")).splitlines()
    assert lines == serve.thresholds(serve.environment("CartPole-v1")).splitlines()
    name, _, values = lines[3].partition(" = ")
    numbers = json.loads(values)
    assert (name, len(numbers), sorted(numbers)) == ("x3", 10, numbers)


class Spring:
    """Has its state where environments of MuJoCo have it."""

    def __init__(self) -> None:
        """Make one."""
        self.unwrapped = self
        self.data = SimpleNamespace(qpos=np.zeros(2), qvel=np.zeros(1), qacc_warmstart=np.zeros(1))

    def reset(self, seed: int) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
        """Begin anew."""
        self.data.qpos[:], self.data.qvel[:], self.data.qacc_warmstart[:] = [seed, 1], 0, 0
        return self.data.qpos.copy(), {}

    def step(self, push: float) -> tuple[np.ndarray[Any, Any], float, bool, bool, dict[str, Any]]:
        """Make a step that depends on all of the state."""
        data = self.data
        data.qacc_warmstart[:] = push - data.qpos[0] + 0.1 * data.qacc_warmstart
        data.qvel += data.qacc_warmstart
        data.qpos[:] = data.qpos[0] + data.qvel[0], data.qpos[1] + data.qvel[0]
        return data.qpos.copy(), data.qvel[0], False, False, {}


def test_a_step_from_a_state_is_that_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was done in between."""
    monkeypatch.setattr(gymnasium, "make", lambda *_, **__: Spring())
    system = serve.Stateless("spring", ["a", "b"], {"pull": -1.0, "push": 1.0})
    env = Spring()
    env.reset(seed=3)
    _, _, state = system.reset([3])
    assert len(state) == system.state == 4
    for action in [0, 1, 1, 0, 1]:
        system.step([9.0, 9.0, 9.0, 9.0], 1)
        observation, _, state, reward = system.step(state, action)
        seen, expected, _, _, _ = env.step(system.taken[action])
        assert (observation, reward) == (seen.tolist(), expected)
