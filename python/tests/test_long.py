"""Tests with heavy packages: MuJoCo, Stable-Baselines3. `cargo xtask test --long` runs them."""

from __future__ import annotations

import logging
from typing import Any

import gymnasium
import pytest

import broccoli
from broccoli import Predicates

pytestmark = pytest.mark.long

INVERTED: dict[str, Any] = {
    "thresholds": {"angle": 5, "angular_velocity": Predicates.count(5, -1, 1)},
    "actions": [-3, -0.5, 0.5, 3],
    "objective": "survive",
    "horizon": 100,
}


def test_inverted_pendulum_of_mujoco(caplog: pytest.LogCaptureFixture) -> None:
    """A small problem end to end, from seeds and from explicit states, by the integration state."""
    for start in ({"seeds": [0, 1]}, {"initial": [[0.0, 0.05, 0.0, 0.0]]}):
        with caplog.at_level(logging.INFO, logger="broccoli"):
            outcome = broccoli.synthesize("InvertedPendulum-v5", **INVERTED, **start)
        assert caplog.messages[-1].endswith("by mujoco")
        assert (outcome.status, outcome.value) == ("optimal", 100)
    with pytest.raises(ValueError, match="2 positions and 2 velocities: 1 given"):
        broccoli.Problem("InvertedPendulum-v5", **INVERTED, initial=[[0.0]])


def test_evaluate_policy_of_stable_baselines() -> None:
    """It takes the policy for a model, and finds the value that was proved."""
    from stable_baselines3.common import evaluation

    outcome = broccoli.synthesize("CartPole-v1", thresholds=6, seeds=[3], objective="survive", horizon=500)
    env = gymnasium.make("CartPole-v1")

    class Seeded(gymnasium.Wrapper[Any, Any, Any, Any]):
        def reset(self, **_: Any) -> Any:
            return self.env.reset(seed=3)

    mean, deviation = evaluation.evaluate_policy(outcome.policy, Seeded(env), n_eval_episodes=2, warn=False)
    assert (mean, deviation) == (outcome.value, 0.0)
