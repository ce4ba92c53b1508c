"""The real Gymnasium environments, put into any state and stepped once.

Gymnasium keeps its state in float64 and only rounds the observation it returns, so the state is what is
compared. Each class also says how large the terms are that a step adds up, in every dimension: one unit in
the last place of that is what a single rounding can change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from gymnasium.envs.classic_control import (
    AcrobotEnv,
    CartPoleEnv,
    Continuous_MountainCarEnv,
    MountainCarEnv,
    PendulumEnv,
)
from numpy.random import Generator

from transitions import Answer, State


class Reference(ABC):
    """One environment of Gymnasium."""

    name: ClassVar[str]
    """The name of our environment."""
    actions: ClassVar[tuple[str, ...]]
    """The actions that are compared, in the words of our environment."""
    start: ClassVar[tuple[tuple[float, float], ...]]
    """Where initial states are sampled."""
    typical: ClassVar[tuple[tuple[float, float], ...]]
    """The range of the thresholds, a little widened."""
    beyond: ClassVar[tuple[tuple[float, float], ...]]
    """A range far beyond the limits."""
    edges: ClassVar[tuple[tuple[float, ...], ...]]
    """Per dimension the values at which something changes: limits, clamps, walls, goals."""
    cliffs: ClassVar[tuple[tuple[float, ...], ...]]
    """Per dimension the edges at which a last bit that came from a sine or cosine decides what happens."""
    clamps: ClassVar[tuple[set[float], ...]] = ()
    """Per dimension values that a clamp or a wall gives, and that random states should see."""
    has_verdict: ClassVar[bool] = True
    """Whether Gymnasium ends an episode here."""
    ulps: ClassVar[float] = 4
    """How far a value may be off after one step, in units in the last place of the largest term."""
    steps: ClassVar[int] = 300
    """How long runs stay together."""
    apart: ClassVar[float] = 1e-6
    """How far apart they may be at their end."""

    @abstractmethod
    def step(self, state: State, action: int) -> Answer:
        """Step once from `state`; the verdict is the one our environment should give."""

    @abstractmethod
    def terms(self, state: State) -> State:
        """Bound the size of the terms that are added up in a step, per dimension."""

    @abstractmethod
    def policy(self, state: State) -> int:
        """Act sensibly, so that a long run stays where it is interesting."""

    def states(self, random: Generator, count: int) -> list[State]:
        """Sample states: a third typical, a third beyond the limits, a third near edges."""
        states: list[State] = []
        for ranges in (self.typical, self.beyond):
            lows, highs = zip(*ranges, strict=True)
            states.extend(
                tuple(row) for row in random.uniform(lows, highs, (count // 3, len(ranges))).tolist()
            )
        while len(states) < count:
            states.append(tuple(self._near_edge(random, i) for i in range(len(self.edges))))
        return states

    def _near_edge(self, random: Generator, dimension: int) -> float:
        value = float(random.choice(self.edges[dimension]))
        kind = random.integers(4)
        if kind == 0:
            return value
        if kind == 1:  # the neighbouring floats
            return float(np.nextafter(value, random.choice([-np.inf, np.inf])))
        if kind == 2:  # so near that one step crosses
            return value + float(random.normal() * 10.0 ** random.uniform(-12, -1))
        return float(random.uniform(*self.typical[dimension]))


class CartPole(Reference):
    """CartPole-v1."""

    name = "cartpole"
    actions = ("left", "right")
    start = ((-0.05, 0.05),) * 4
    typical = ((-2.5, 2.5), (-3.0, 3.0), (-0.42, 0.42), (-3.0, 3.0))
    beyond = ((-100.0, 100.0), (-50.0, 50.0), (-50.0, 50.0), (-50.0, 50.0))
    _angle = 24 * np.pi / 360
    edges = ((-2.4, 0.0, 2.4), (-1.0, 0.0, 1.0), (-_angle, 0.0, _angle), (-1.0, 0.0, 1.0))
    cliffs = ((),) * 4  # x and theta decide, and take neither sine nor cosine

    def __init__(self) -> None:
        """Make the environment."""
        self.env = CartPoleEnv()

    def step(self, state: State, action: int) -> Answer:
        """Step once."""
        self.env.state = np.array(state, dtype=np.float64)
        self.env.steps_beyond_terminated = None
        terminated = self.env.step(action)[2]
        return Answer("violated" if terminated else "running", tuple(map(float, self.env.state)))

    def terms(self, state: State) -> State:
        """Bound the terms."""
        e = self.env
        x, x_dot, theta, theta_dot = map(abs, state)
        push = (e.force_mag + e.polemass_length * theta_dot**2) / e.total_mass
        theta_acc = (e.gravity + push) / (e.length * (4 / 3 - e.masspole / e.total_mass))
        x_acc = push + e.polemass_length * theta_acc / e.total_mass
        return (
            max(x, e.tau * x_dot),
            max(x_dot, e.tau * x_acc),
            max(theta, e.tau * theta_dot),
            max(theta_dot, e.tau * theta_acc),
        )

    def policy(self, state: State) -> int:
        """Push to the side the pole falls to."""
        return int(state[2] + 0.5 * state[3] + 0.05 * state[0] + 0.1 * state[1] >= 0)


class MountainCar(Reference):
    """MountainCar-v0."""

    name = "mountain-car"
    actions = ("left", "coast", "right")
    start = ((-0.6, -0.4), (0.0, 0.0))
    typical = ((-1.2, 0.6), (-0.07, 0.07))
    beyond = ((-50.0, 50.0), (-1.0, 1.0))
    edges = ((-1.2, -1.19, 0.45, 0.5, 0.6), (-0.07, -0.001, 0.0, 0.001, 0.07))
    cliffs = ((-1.2, 0.5), (0.0,))  # the wall, which stops the car, and the goal
    clamps = ({-1.2, 0.6}, {-0.07, 0.0, 0.07})

    def __init__(self) -> None:
        """Make the environment."""
        self.env = MountainCarEnv()

    def step(self, state: State, action: int) -> Answer:
        """Step once."""
        position, velocity = state
        self.env.state = (np.float64(position), np.float64(velocity))
        terminated = self.env.step(action)[2]
        return Answer("satisfied" if terminated else "running", tuple(map(float, self.env.state)))

    def terms(self, state: State) -> State:
        """Bound the terms."""
        position, velocity = map(abs, state)
        velocity = max(velocity, self.env.gravity)
        return max(position, velocity), velocity

    def policy(self, state: State) -> int:
        """Accelerate the way the car rolls, and coast now and then."""
        return 1 if abs(state[1]) < 0.002 else 2 * int(state[1] >= 0)


def _single(value: float) -> float:
    return float(np.float32(value))


class MountainCarContinuous(Reference):
    """MountainCarContinuous-v0 with forces from a list; it rounds its state to float32 after every step."""

    name = "mountain-car-continuous"
    actions = ("-1", "-0.3", "0", "0.7", "1")
    start = MountainCar.start
    typical = MountainCar.typical
    beyond = MountainCar.beyond
    edges = ((-1.2, -1.19, 0.4, 0.45, 0.6), (-0.07, -0.0015, 0.0, 0.0015, 0.07))
    cliffs = ((_single(-1.2), _single(0.45)), (0.0,))
    clamps = ({_single(-1.2), _single(0.6)}, {_single(-0.07), 0.0, _single(0.07)})
    ulps = 2.0**29
    apart = 1e-4

    def __init__(self) -> None:
        """Make the environment."""
        self.env = Continuous_MountainCarEnv()

    def step(self, state: State, action: int) -> Answer:
        """Step once, in float64 up to the rounding at the end."""
        self.env.state = np.array(state, dtype=np.float64)
        terminated = self.env.step(np.array([float(self.actions[action])]))[2]
        return Answer("satisfied" if terminated else "running", tuple(map(float, self.env.state)))

    def terms(self, state: State) -> State:
        """Bound the terms."""
        position, velocity = map(abs, state)
        velocity = max(velocity, 0.0025)
        return max(position, velocity), velocity

    def policy(self, state: State) -> int:
        """Drive the way the car rolls."""
        return 4 if state[1] >= 0 else 0


class Acrobot(Reference):
    """Acrobot-v1."""

    name = "acrobot"
    actions = ("negative", "none", "positive")
    start = ((-0.1, 0.1),) * 4
    typical = ((-np.pi, np.pi), (-np.pi, np.pi), (-6.0, 6.0), (-12.0, 12.0))
    beyond = ((-50.0, 50.0), (-50.0, 50.0), (-13.0, 13.0), (-29.0, 29.0))
    edges = (
        (-np.pi, -np.pi / 2, 0.0, np.pi / 2, np.pi),
        (-np.pi, 0.0, np.pi),
        (-4 * np.pi, 0.0, 4 * np.pi),
        (-9 * np.pi, 0.0, 9 * np.pi),
    )
    cliffs = ((-np.pi, np.pi), (-np.pi, np.pi), (), ())  # where an angle is wrapped
    clamps = (set(), set(), {-4 * np.pi, 4 * np.pi}, {-9 * np.pi, 9 * np.pi})

    def __init__(self) -> None:
        """Make the environment."""
        self.env: Any = AcrobotEnv()  # its state is declared as None

    def step(self, state: State, action: int) -> Answer:
        """Step once."""
        self.env.state = np.array(state, dtype=np.float64)
        terminated = self.env.step(action)[2]
        return Answer("satisfied" if terminated else "running", tuple(map(float, self.env.state)))

    def terms(self, state: State) -> State:
        """Bound the terms: the same integration with everything positive, within ten times the limits."""
        limits = np.array([1e9, 1e9, 40 * np.pi, 90 * np.pi])
        start = np.abs(state)
        slope = np.zeros(4)
        for dt in (0.1, 0.1, 0.2, 0.2):
            _, _, velocity1, velocity2 = np.minimum(start + dt * slope, limits)
            phi2 = 4.9
            phi1 = 0.5 * velocity2**2 + velocity2 * velocity1 + 14.7 + phi2
            acceleration2 = (1 + 0.39 * phi1 + 0.5 * velocity1**2 + phi2) / 0.57
            acceleration1 = (1.75 * acceleration2 + phi1) / 2.5
            slope = np.array([velocity1, velocity2, acceleration1, acceleration2])
        return tuple((start + 0.2 * slope).tolist())

    def policy(self, state: State) -> int:
        """Drive the way the first link swings."""
        return 2 * int(state[2] >= 0)


class Pendulum(Reference):
    """Pendulum-v1, with torques from a list; Gymnasium never ends it."""

    name = "pendulum"
    actions = ("-2", "-1", "0", "0.3", "2")
    start = ((-0.8, -0.5), (-0.2, 0.2))
    typical = ((-3.2, 3.2), (-8.0, 8.0))
    beyond = ((-1e4, 1e4), (-50.0, 50.0))
    edges = ((-2 * np.pi, -np.pi, -0.1, 0.0, 0.1, np.pi, 2 * np.pi), (-8.0, -0.1, 0.0, 0.1, 8.0))
    cliffs = ((),) * 2  # the clamp of the velocity makes no jump
    clamps = (set(), {-8.0, 8.0})
    has_verdict = False

    def __init__(self) -> None:
        """Make the environment."""
        self.env = PendulumEnv()

    def step(self, state: State, action: int) -> Answer:
        """Step once."""
        self.env.state = np.array(state, dtype=np.float64)
        self.env.step(np.array([float(self.actions[action])]))
        return Answer("", tuple(map(float, self.env.state)))

    def terms(self, state: State) -> State:
        """Bound the terms."""
        e = self.env
        angle, velocity = map(abs, state)
        velocity = max(velocity, (3 * e.g / (2 * e.l) + 3 * e.max_torque / (e.m * e.l**2)) * e.dt)
        return max(angle, velocity * e.dt), velocity

    def policy(self, state: State) -> int:
        """Drive the way the rod swings."""
        return 4 * int(state[1] >= 0)


ALL: tuple[Reference, ...] = (Acrobot(), CartPole(), MountainCar(), MountainCarContinuous(), Pendulum())
