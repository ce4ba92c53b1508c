"""Gymnasium environments: coming back to states, the built-in ones again, and wrong use."""

from __future__ import annotations

import logging
import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.classic_control import PendulumEnv

import broccoli
from broccoli import Predicates, Verdict

CARTPOLE: dict[str, Any] = {"thresholds": 3, "objective": "survive", "horizon": 100}


def tier_of(caplog: pytest.LogCaptureFixture, system: Any, **given: Any) -> str:
    """Pose a problem, and return how it comes back to states."""
    with caplog.at_level(logging.INFO, logger="broccoli"):
        broccoli.Problem(system, **given)
    return caplog.messages[-1].rsplit(" ", 1)[-1]


def test_cartpole_is_the_built_in_one() -> None:
    """The same value as the built-in environment, and here even the same queries.

    The dynamics differ at most in the last bits (tests/gymnasium). The observation is rounded to float32, so
    a value within 1e-7 of a threshold can be on its other side; no trace of this problem gets so near one.
    """
    built_in = broccoli.Problem("cartpole", thresholds=6, horizon=400)
    gym = broccoli.Problem(
        "CartPole-v1",
        thresholds=built_in.thresholds,  # type: ignore[arg-type]
        initial=built_in.initial,
        objective="survive",
        horizon=400,
    )
    mine, theirs = built_in.solve(), gym.solve()
    assert theirs.status == "optimal"
    assert (theirs.value, theirs.size) == (mine.value, mine.size)


def test_mountain_car_is_the_built_in_one() -> None:
    """With actions 0 and 2 the same value as the built-in environment; see above."""
    built_in = broccoli.Problem("mountain-car", thresholds=7, horizon=200)
    gym = broccoli.Problem(
        "MountainCar-v0",
        thresholds=built_in.thresholds,  # type: ignore[arg-type]
        initial=built_in.initial,
        actions=[0, 2],
        objective="reach",
        horizon=200,
    )
    mine, theirs = built_in.solve(), gym.solve()
    assert theirs.status == "optimal"
    assert (theirs.value, theirs.size) == (mine.value, mine.size)
    assert gym.actions == {"left": 0, "right": 2}


class UnwoundPendulum(PendulumEnv):
    """Gymnasium's pendulum, but it shows the angle itself, as the built-in environment does."""

    def __init__(self) -> None:
        """Show two numbers."""
        super().__init__()
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)

    def _get_obs(self) -> Any:
        return np.array(self.state, dtype=np.float32)


def is_upright(angle: float, velocity: float) -> Verdict:
    """Tell whether the rod stands and rests."""
    return Verdict.SATISFIED if abs(angle) <= 0.1 and abs(velocity) <= 0.1 else Verdict.RUNNING


PENDULUM: dict[str, Any] = {"actions": [-2, 2], "objective": "reach", "horizon": 200}


def test_pendulum_is_the_built_in_one() -> None:
    """Continuous actions, and a goal of the user's: the same value as the built-in environment; see above."""
    built_in = broccoli.Problem("pendulum", thresholds=9, horizon=200)
    gym = broccoli.Problem(
        UnwoundPendulum,
        **PENDULUM,
        dimensions=["angle", "velocity"],
        thresholds=built_in.thresholds,  # type: ignore[arg-type]
        initial=built_in.initial,
        verdict=lambda observation, *_: is_upright(*observation),
    )
    mine, theirs = built_in.solve(), gym.solve()
    assert theirs.status == "optimal"
    assert (theirs.value, theirs.size) == (mine.value, mine.size)


def angle(observation: Any) -> dict[str, float]:
    """Find the angle from cosine and sine."""
    return {"angle": math.atan2(observation[1], observation[0]), "velocity": float(observation[2])}


def test_features() -> None:
    """With the angle from cosine and sine a full turn counts as none, which the best tree makes use of."""
    built_in = broccoli.Problem("pendulum", thresholds=9, horizon=200)
    outcome = broccoli.synthesize(
        "Pendulum-v1",
        **PENDULUM,
        thresholds=built_in.thresholds,  # type: ignore[arg-type]
        initial=built_in.initial,
        features=angle,
        verdict=lambda observation, *_: is_upright(*angle(observation).values()),
    )
    assert (outcome.status, outcome.value) == ("optimal", 29)
    assert (built_in.solve().value or 0) > 29
    assert outcome.policy is not None
    assert outcome.policy(np.array([1.0, 0.0, 0.0], dtype=np.float32)).dtype == np.float32


def test_policy_does_in_gymnasium_what_is_proved() -> None:
    """Deployed as anybody would, from the seeds, the policy has its value."""
    outcome = broccoli.synthesize("CartPole-v1", seeds=range(4), **CARTPOLE)
    env = gymnasium.make("CartPole-v1")
    assert outcome.policy is not None
    lengths = []
    for seed in range(4):
        observation, _ = env.reset(seed=seed)
        steps, over = 0, False
        while not over and steps < 100:
            observation, _, over, _, _ = env.step(outcome.policy(observation))
            steps += 1
        lengths.append(steps)
    assert min(lengths) == outcome.value


def test_an_id_an_environment_and_a_factory_agree(caplog: pytest.LogCaptureFixture) -> None:
    """Also when all runs share one environment, and when it can only be replayed."""

    class Opaque(gymnasium.Wrapper[Any, Any, Any, Any]):
        """Hides the state."""

        @property
        def unwrapped(self) -> Any:
            return self

    expected = broccoli.synthesize("CartPole-v1", seeds=[0, 1], **CARTPOLE)
    for system, tier in (
        (gymnasium.make("CartPole-v1"), "state"),
        (lambda: gymnasium.make("CartPole-v1"), "state"),
        (Opaque(gymnasium.make("CartPole-v1")), "replay"),
        (lambda: Opaque(gymnasium.make("CartPole-v1")), "replay"),
    ):
        assert tier_of(caplog, system, seeds=[0, 1], **CARTPOLE) == tier
        outcome = broccoli.synthesize(system, seeds=[0, 1], **CARTPOLE)
        assert (outcome.value, outcome.size) == (expected.value, expected.size)
        assert (outcome.statistics.queries_replayed > 0) == (tier == "replay")


def test_one_environment_has_one_thread() -> None:
    """Several threads need several environments."""
    with pytest.raises(ValueError, match="several threads cannot share one environment"):
        broccoli.synthesize(Line(), **LINE, threads=2)
    assert broccoli.synthesize(Line, **LINE, threads=2).value == broccoli.synthesize(Line, **LINE).value


def test_acrobot_with_three_actions(caplog: pytest.LogCaptureFixture) -> None:
    """A small problem end to end."""
    given: dict[str, Any] = {"thresholds": 3, "seeds": [0], "objective": "reach", "horizon": 150, "depth": 1}
    assert tier_of(caplog, "Acrobot-v1", **given) == "state"
    outcome = broccoli.synthesize("Acrobot-v1", **given)
    assert outcome.status == "optimal"
    assert len(outcome.tree.actions if outcome.tree else ()) == 3


def test_lunar_lander_by_replay(caplog: pytest.LogCaptureFixture) -> None:
    """A small problem end to end, where nothing but replay works."""
    given: dict[str, Any] = {
        "thresholds": {"y_dot": [-0.4, -0.2], "angle": [0.0]},
        "seeds": [0, 1],
        "actions": [0, 2],
        "objective": "survive",
        "horizon": 120,
        "depth": 1,
    }
    assert tier_of(caplog, "LunarLander-v3", **given) == "replay"
    outcome = broccoli.synthesize("LunarLander-v3", **given)
    assert (outcome.status, outcome.size) == ("optimal", 1)
    assert outcome.statistics.queries_replayed > 0


class Line(gymnasium.Env[Any, Any]):
    """A point on a line; what it observes and how it misbehaves can be chosen."""

    action_space: Any = spaces.Discrete(2)
    observation_space: Any = spaces.Box(-10.0, 10.0, (1,), np.float64)

    def __init__(self, hidden: bool = False, noise: str = "") -> None:
        """Remember more than `state` if `hidden`; be noisy at reset or at step."""
        self.hidden, self.noise = hidden, noise
        self.memory = 0.0
        self.unseeded = np.random.default_rng(123)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start."""
        super().reset(seed=seed)
        generator = self.unseeded if self.noise == "reset" else self.np_random
        self.state = generator.uniform(-1, 1, 1)
        self.memory = 0.0
        return self.observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Move."""
        noise = self.np_random if self.noise == "step" else None
        self.memory += 1.0 if action == 0 else -1.0
        move = 0.3 * self.memory if self.hidden else 0.3
        self.state = self.state + (move if action else -move) + (noise.normal(0, 0.1) if noise else 0.0)
        return self.observe(), 0.0, bool(abs(self.state[0]) > 3), False, {}

    def observe(self) -> Any:
        """Return what the space promises."""
        if isinstance(self.observation_space, spaces.Discrete):
            return int(np.clip(round(float(self.state[0])) + 3, 0, 6))
        if isinstance(self.observation_space, spaces.Dict):
            return {"x": self.state.copy()}
        return np.broadcast_to(self.state.astype(self.observation_space.dtype), self.observation_space.shape)


LINE: dict[str, Any] = {"thresholds": 5, "seeds": [0, 1], "objective": "survive", "horizon": 30}


@pytest.mark.parametrize(
    ("make", "tier"),
    [
        (Line, "state"),
        (lambda: Line(hidden=True), "replay"),  # what is hidden would be lost
        (lambda: Line(noise="step"), "replay"),  # so would the state of the random numbers
    ],
)
def test_the_probe_finds_the_tier(make: Any, tier: str, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever tier is chosen, the answer is that of the environment as it is deployed."""
    assert tier_of(caplog, make, **LINE) == tier
    outcome = broccoli.synthesize(make, **LINE)
    values = []
    for seed in (0, 1):
        env = make()
        observation, _ = env.reset(seed=seed)
        over, steps = False, 0
        while not over and steps < 30:
            observation, _, over, _, _ = env.step(outcome.policy(observation))  # type: ignore[misc]
            steps += 1
        values.append(steps)
    assert min(values) == outcome.value


def test_spaces_of_observations() -> None:
    """Numbered states are one dimension; with features any space will do."""

    class Numbered(Line):
        observation_space = spaces.Discrete(7)

    class Named(Line):
        observation_space = spaces.Dict({"x": spaces.Box(-10, 10, (1,), np.float64)})

    numbered = broccoli.Problem(Numbered, **LINE | {"thresholds": {"state": [2, 3, 4]}})
    assert numbered.solve().status == "optimal"
    named = broccoli.Problem(Named, **LINE, features=lambda o: {"x": o["x"][0]})
    thresholds: Any = {"x0": named.thresholds["x"]}
    expected = broccoli.Problem(Line, **LINE | {"thresholds": thresholds})
    assert named.solve().value == expected.solve().value
    by_list = broccoli.Problem(Named, **LINE, features=lambda o: o["x"], dimensions={"x": (-3, 3)})
    assert by_list.thresholds == {"x": [-2.0, -1.0, 0.0, 1.0, 2.0]}


def test_names_and_actions() -> None:
    """Dimensions by index and by names of one's own; evenly spaced actions, by name, and one by one."""
    line = broccoli.Problem(Line, **LINE | {"thresholds": {0: [0.5]}})
    assert line.thresholds == {"x0": [0.5]}
    mine = broccoli.Problem(Line, **LINE, dimensions=["place"])
    assert list(mine.thresholds) == ["place"]
    pendulum: dict[str, Any] = {"seeds": [0], "thresholds": 2, "objective": "survive", "horizon": 5}
    even = broccoli.Problem("Pendulum-v1", **pendulum, actions=3)
    assert {name: value.tolist() for name, value in even.actions.items()} == {
        "-2.0": [-2],
        "0.0": [0],
        "2.0": [2],
    }
    named = broccoli.Problem("Pendulum-v1", **pendulum, actions={"off": [0.0], "on": 2.0})
    assert [value.shape for value in named.actions.values()] == [(1,), (1,)]

    class Two(Line):
        action_space = spaces.Box(-1, 1, (2,), np.float32)

        def step(self, action: Any) -> Any:
            return super().step(int(action[0] > 0))

    assert len(broccoli.Problem(Two, **LINE, actions=3).actions) == 9
    assert broccoli.Problem("CartPole-v1", seeds=[0], thresholds=1, objective="survive").horizon == 500


class Image(Line):
    """Observes pixels."""

    observation_space = spaces.Box(0, 255, (8, 8, 3), np.uint8)


class Keyed(Line):
    """Takes actions that have no numbers."""

    action_space = spaces.Dict({"left": spaces.Discrete(2)})


class Words(Line):
    """Observes a dict."""

    observation_space = spaces.Dict({"x": spaces.Box(-10, 10, (1,), np.float64)})


@pytest.mark.parametrize(
    ("system", "change", "error", "message"),
    [
        ("Pendulum-v1", {}, TypeError, "are continuous: give actions=.*, or how many per dimension"),
        ("Pendulum-v1", {"actions": 1}, ValueError, "at least 2"),
        ("Pendulum-v1", {"actions": [5.0, 0.0]}, ValueError, "is no action of Box"),
        ("Pendulum-v1", {"actions": [[1, 2], [0, 0]]}, ValueError, "is no action of Box"),
        ("CartPole-v1", {"actions": 2}, TypeError, "is for continuous actions"),
        ("CartPole-v1", {"actions": [0, 2]}, ValueError, "2 is no action of Discrete"),
        (Image, {}, TypeError, r"images or arrays of shape \(8, 8, 3\): give features="),
        (Words, {}, TypeError, "of the space Dict.*: give features="),
        (Keyed, {}, TypeError, "are not numbered: give actions="),
        (lambda: Line(noise="reset"), {}, ValueError, "not deterministic: from 0, the same 0 actions"),
        (
            Line,
            {"thresholds": {"x0": [11]}},
            ValueError,
            "the threshold 11 is outside the range from -10 to 10",
        ),
        (Line, {"seeds": None}, ValueError, "give either seeds="),
        (Line, {"seeds": []}, ValueError, "at least one seed"),
        (Line, {"initial": [[0.0]]}, ValueError, "give either seeds="),
        (Line, {"seeds": None, "initial": [[0.0, 1.0]]}, ValueError, "an initial state has 1 values, not 2"),
        (Line, {"dimensions": ["a", "b"]}, ValueError, "2 given, but an observation has 1"),
        (Line, {"features": lambda o: [o[0]]}, ValueError, "features returns numbers without names"),
        (Line, {"horizon": None}, ValueError, "give objective=.*horizon"),
        ("NoSuchThing-v0", {}, gymnasium.error.NameNotFound, "NoSuchThing"),
    ],
)
def test_wrong_use(system: Any, change: dict[str, Any], error: Any, message: str) -> None:
    """What cannot work is refused, with what to do."""
    with pytest.raises(error, match=message):
        broccoli.Problem(system, **LINE | change)


def test_an_environment_that_cannot_be_put_into_a_state() -> None:
    """A wrapper changes what is observed, so nobody knows the first observation."""
    wrapped = gymnasium.wrappers.TransformObservation(Line(), lambda o: o * 2, Line.observation_space)
    with pytest.raises(ValueError, match="cannot be put into a state: give seeds"):
        broccoli.Problem(wrapped, **LINE | {"seeds": None, "initial": [[0.0]]})


def test_truncation_is_the_other_verdict() -> None:
    """An environment's own time limit ends a run: a success if the aim is to survive, else a failure."""
    env = "CartPole-v1"

    def make() -> Any:
        return gymnasium.make(env, max_episode_steps=5)

    survived = broccoli.synthesize(make, seeds=[0], thresholds=2, objective="survive", horizon=50)
    assert (survived.status, survived.value) == ("optimal", 50)
    reached = broccoli.synthesize(make, seeds=[0], thresholds=2, objective="reach", horizon=50)
    assert reached.status == "infeasible"


def test_quantiles_of_what_is_observed() -> None:
    """Thresholds where an environment really goes."""
    problem = broccoli.Problem("CartPole-v1", **CARTPOLE | {"thresholds": Predicates.quantiles(3)}, seeds=[0])
    columns: Any = problem.thresholds.values()
    assert all(-3 < t < 3 for thresholds in columns for t in thresholds)
