"""The real Gymnasium environments, put into any state and stepped once.

Gymnasium keeps its state in float64 and only rounds the observation it returns, so the state is what is
compared. Each class also says how large the terms are that a step adds up, in every dimension: one unit in
the last place of that is what a single rounding can change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv, MountainCarEnv, PendulumEnv
from numpy.random import Generator

from transitions import Answer, State


class Reference(ABC):
    """One environment of Gymnasium."""

    name: ClassVar[str]
    """The name of our environment."""
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
    has_verdict: ClassVar[bool] = True
    """Whether Gymnasium ends an episode here."""

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
    """MountainCar-v0, with its actions 0 and 2."""

    name = "mountain-car"
    start = ((-0.6, -0.4), (0.0, 0.0))
    typical = ((-1.2, 0.6), (-0.07, 0.07))
    beyond = ((-50.0, 50.0), (-1.0, 1.0))
    edges = ((-1.2, -1.19, 0.45, 0.5, 0.6), (-0.07, -0.001, 0.0, 0.001, 0.07))
    cliffs = ((-1.2, 0.5), (0.0,))  # the wall, which stops the car, and the goal

    def __init__(self) -> None:
        """Make the environment."""
        self.env = MountainCarEnv()

    def step(self, state: State, action: int) -> Answer:
        """Step once."""
        position, velocity = state
        self.env.state = (np.float64(position), np.float64(velocity))
        terminated = self.env.step((0, 2)[action])[2]
        return Answer("satisfied" if terminated else "running", tuple(map(float, self.env.state)))

    def terms(self, state: State) -> State:
        """Bound the terms."""
        position, velocity = map(abs, state)
        velocity = max(velocity, self.env.gravity)
        return max(position, velocity), velocity

    def policy(self, state: State) -> int:
        """Accelerate the way the car rolls."""
        return int(state[1] >= 0)


class Pendulum(Reference):
    """Pendulum-v1, with the full torque either way; Gymnasium never ends it."""

    name = "pendulum"
    start = ((-0.8, -0.5), (-0.2, 0.2))
    typical = ((-3.2, 3.2), (-8.0, 8.0))
    beyond = ((-1e4, 1e4), (-50.0, 50.0))
    edges = ((-2 * np.pi, -np.pi, -0.1, 0.0, 0.1, np.pi, 2 * np.pi), (-8.0, -0.1, 0.0, 0.1, 8.0))
    cliffs = ((),) * 2  # the clamp of the velocity makes no jump
    has_verdict = False

    def __init__(self) -> None:
        """Make the environment."""
        self.env = PendulumEnv()

    def step(self, state: State, action: int) -> Answer:
        """Step once."""
        self.env.state = np.array(state, dtype=np.float64)
        self.env.step(np.array([(-2.0, 2.0)[action]]))
        return Answer("", tuple(map(float, self.env.state)))

    def terms(self, state: State) -> State:
        """Bound the terms."""
        e = self.env
        angle, velocity = map(abs, state)
        velocity = max(velocity, (3 * e.g / (2 * e.l) + 3 * e.max_torque / (e.m * e.l**2)) * e.dt)
        return max(angle, velocity * e.dt), velocity

    def policy(self, state: State) -> int:
        """Drive the way the rod swings."""
        return int(state[1] >= 0)


ALL: tuple[Reference, ...] = (CartPole(), MountainCar(), Pendulum())
