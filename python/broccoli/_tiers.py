"""How to bring a Gymnasium environment back to an earlier state, and the probe that decides which way works.

`copy.deepcopy` is none of the ways: it is silently wrong for MuJoCo and breaks for Box2D. The ways are, in
the order in which they are tried: the exact state of classic control (`env.unwrapped.state`), MuJoCo's full
integration state, and, when neither does what it should, `reset` with the same seed and the same actions.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import pickle
import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol

State = tuple[float, ...]


class Tier(Protocol):
    """A way to save a state and to come back to it."""

    name: str

    def save(self) -> State:
        """Return the present state."""
        ...

    def load(self, state: State) -> None:
        """Come back to a state."""

    def place(self, values: Sequence[float]) -> None:
        """Put the environment, just reset, into a state given by the user."""


class _Clocks:
    """The steps that `TimeLimit` wrappers have counted."""

    def __init__(self, env: Any) -> None:
        self._wrappers: list[Any] = []
        while env is not env.unwrapped:
            if hasattr(env, "_elapsed_steps"):
                self._wrappers.append(env)
            env = env.env

    def save(self) -> State:
        return tuple(float(wrapper._elapsed_steps) for wrapper in self._wrappers)

    def load(self, state: State) -> State:
        """Take what is ours from the front of a state, and return the rest."""
        for wrapper, steps in zip(self._wrappers, state, strict=False):
            wrapper._elapsed_steps = int(steps)
        return state[len(self._wrappers) :]


class StateTier:
    """The attribute `state` of classic control, and of other environments that keep all they have there."""

    name = "state"

    def __init__(self, env: Any) -> None:
        import numpy as np

        self._numpy = np
        self._env = env.unwrapped
        self._clocks = _Clocks(env)
        self._has_beyond = hasattr(self._env, "steps_beyond_terminated")

    def save(self) -> State:
        state = self._numpy.asarray(self._env.state)
        if state.ndim != 1 or state.dtype.kind != "f":
            msg = "the attribute state is no vector of floats"
            raise TypeError(msg)
        return (*self._clocks.save(), float(state.dtype.itemsize), *state.tolist())

    def load(self, state: State) -> None:
        size, *values = self._clocks.load(state)
        self._env.state = self._numpy.array(values, dtype=f"f{int(size)}")
        if self._has_beyond:
            self._env.steps_beyond_terminated = None

    def place(self, values: Sequence[float]) -> None:
        if len(values) != len(self._env.state):
            msg = f"an initial state has {len(self._env.state)} values, not {len(values)}"
            raise ValueError(msg)
        self._env.state = self._numpy.array(values, dtype=self._numpy.float64)


class MujocoTier:
    """MuJoCo's integration state: everything that a step depends on."""

    name = "mujoco"

    def __init__(self, env: Any) -> None:
        import numpy as np

        self._mujoco = mujoco = importlib.import_module("mujoco")
        self._env = env.unwrapped
        self._clocks = _Clocks(env)
        self._what = mujoco.mjtState.mjSTATE_INTEGRATION
        self._buffer = np.empty(mujoco.mj_stateSize(self._env.model, self._what))

    def save(self) -> State:
        self._mujoco.mj_getState(self._env.model, self._env.data, self._buffer, self._what)
        return (*self._clocks.save(), *self._buffer.tolist())

    def load(self, state: State) -> None:
        self._buffer[:] = self._clocks.load(state)
        self._mujoco.mj_setState(self._env.model, self._env.data, self._buffer, self._what)

    def place(self, values: Sequence[float]) -> None:
        import numpy as np

        positions, velocities = self._env.model.nq, self._env.model.nv
        if len(values) != positions + velocities:
            msg = (
                f"an initial state has {positions} positions and {velocities} velocities: {len(values)} given"
            )
            raise ValueError(msg)
        self._env.set_state(np.array(values[:positions]), np.array(values[positions:]))


def candidates(env: Any) -> list[type[StateTier] | type[MujocoTier]]:
    """Return the tiers that might work for an environment that has been reset."""
    env = env.unwrapped
    if hasattr(env, "model") and type(getattr(env, "data", None)).__module__.startswith("mujoco"):
        return [MujocoTier]
    return [StateTier] if getattr(env, "state", None) is not None else []


Record = list[tuple[bytes, float, bool, bool]]


class Probe:
    """Runs random actions, always the same ones, and compares what it sees bit for bit."""

    LENGTH = 50
    """Steps of a run."""
    STARTS = 3
    """How many initial states are tried."""

    def __init__(
        self, starts: Sequence[Any], reset: Callable[[Any, Any], Any], actions: Sequence[Any]
    ) -> None:
        self._starts = list(starts[: self.STARTS])
        self._reset = reset
        generator = random.Random(1)  # noqa: S311
        self._plans = [
            [generator.choice(actions) for _ in range(self.LENGTH)] for _ in range(self.STARTS + 1)
        ]

    def check_deterministic(self, env: Any, other: Any) -> None:
        """See whether `env` does the same again, and `other`, another one of its kind, the same as well."""
        for start, plan in zip(self._starts, self._plans, strict=False):
            first = self._run(env, start, plan)
            self._distract(env)
            for again in (self._run(env, start, plan), self._run(other, start, plan)):
                if first != again:
                    raise ValueError(_difference(start, first, again))

    def accepts(self, tier: Tier, env: Any) -> bool:
        """See whether a run goes on after coming back as it did before."""
        try:
            return all(
                self._comes_back(tier, env, start, plan, cut)
                for start, plan in zip(self._starts, self._plans, strict=False)
                for cut in (0, 1, 7, 20)
            )
        except (TypeError, ValueError, AttributeError):
            return False

    def _comes_back(self, tier: Tier, env: Any, start: Any, plan: list[Any], cut: int) -> bool:
        self._reset(env, start)
        if _is_over(_go_on(env, plan[:cut])):
            return True
        saved = tier.save()
        before = _go_on(env, plan[cut:])
        self._distract(env)
        tier.load(saved)
        return tier.save() == saved and _go_on(env, plan[cut:]) == before

    def _run(self, env: Any, start: Any, plan: list[Any]) -> Record:
        return [(_bytes(self._reset(env, start)), 0.0, False, False), *_go_on(env, plan)]

    def _distract(self, env: Any) -> None:
        """Do something else, so that whatever is left behind is another thing."""
        self._run(env, self._starts[-1], self._plans[-1])


def _difference(start: Any, first: Record, again: Record) -> str:
    pairs = zip(first, again, strict=False)
    steps = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))
    return (
        f"the environment is not deterministic: from {start!r}, the same {steps} actions led to something "
        "else when they were applied again. A search relies on an environment that does the same whenever it "
        "is reset with the same seed"
    )


def _go_on(env: Any, plan: Sequence[Any]) -> Record:
    record: Record = []
    for action in plan:
        observation, reward, terminated, truncated, _ = env.step(action)
        record.append((_bytes(observation), float(reward), bool(terminated), bool(truncated)))
        if terminated or truncated:
            break
    return record


def _is_over(record: Record) -> bool:
    return bool(record) and (record[-1][2] or record[-1][3])


def _bytes(observation: Any) -> bytes:
    with contextlib.suppress(AttributeError):
        raw: bytes = observation.tobytes()
        return raw
    return pickle.dumps(observation)
