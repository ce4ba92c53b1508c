"""Gymnasium environments as systems. The search sees exactly the observations that they return."""

from __future__ import annotations

import copy
import inspect
import itertools
import logging
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from broccoli import _broccoli
from broccoli._tiers import Probe, State, Tier, candidates
from broccoli.policy import seen
from broccoli.predicates import Dimension
from broccoli.systems import VERDICTS, Actions, Dimensions, Source, Verdict, described, named, random_runs

logger = logging.getLogger("broccoli")

NAMES: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "CartPoleEnv": (("x", "x_dot", "theta", "theta_dot"), ("left", "right")),
    "MountainCarEnv": (("position", "velocity"), ("left", "none", "right")),
    "PendulumEnv": (("cos", "sin", "velocity"), ()),
    "AcrobotEnv": (("cos1", "sin1", "cos2", "sin2", "velocity1", "velocity2"), ("-1", "0", "+1")),
    "LunarLander": (
        ("x", "y", "x_dot", "y_dot", "angle", "angular_velocity", "left_leg", "right_leg"),
        ("none", "left", "main", "right"),
    ),
    "InvertedPendulumEnv": (("position", "angle", "velocity", "angular_velocity"), ()),
}
"""Names of the dimensions and actions of environments that people know."""

UNBOUNDED = 1e30
"""Bounds beyond this are none."""


def is_made_by(system: Any) -> bool:
    """Tell whether this is a Gymnasium environment, or makes one."""
    gymnasium = sys.modules.get("gymnasium")
    if gymnasium is None:
        return False
    if inspect.isclass(system):
        return issubclass(system, gymnasium.Env)
    if isinstance(system, gymnasium.Env):
        return True
    if not callable(system) or hasattr(system, "step"):
        return False
    made: Any = system()
    is_env = isinstance(made, gymnasium.Env)
    if is_env:
        made.close()
    return is_env


def source(
    system: Any,
    *,
    objective: str | None,
    horizon: int | None,
    initial: Sequence[Any] | None,
    seeds: Iterable[int] | None,
    actions: Actions | int | None,
    dimensions: Dimensions | None,
    features: Callable[[Any], Any] | None,
    verdict: Callable[..., Any] | None,
) -> Source:
    """Return a Gymnasium environment as a source."""
    is_single = hasattr(system, "step") and not inspect.isclass(system)
    make = _maker(system, is_single)
    env = make()
    known_dimensions, known_actions = NAMES.get(type(env.unwrapped).__name__, ((), ()))
    by_name = _actions(env.action_space, actions, known_actions)
    given = tuple(by_name.values())
    starts = _starts(initial, seeds)
    other = make()
    probe = Probe(starts, lambda env, start: _reset(env, start)[0], given)
    probe.check_deterministic(env, other)
    tier = next((tier for tier in candidates(env) if probe.accepts(tier(env), env)), None)
    logger.info("%s comes back to a state by %s", env, tier.name if tier else "replay")
    rule = _rule(objective, verdict)
    has_rewards = objective == "return"
    shared = _Shared(env, tier, rule, features, has_rewards) if is_single else None

    def session() -> _Session:
        return _Session(shared or _Shared(make(), tier, rule, features, has_rewards))

    system_kind = "snapshot" if tier else "replay"
    space = env.observation_space
    spec = env.spec
    return Source(
        dimensions=_dimensions(space, dimensions, known_dimensions, features, _reset(env, starts[0])[0]),
        actions=by_name,
        initial=starts,
        native=_broccoli.PythonSystem(session, system_kind, given, starts, VERDICTS),
        observed=lambda: random_runs(session(), system_kind, starts, given),
        objective=objective,
        horizon=horizon or (spec and spec.max_episode_steps),
        features=features,
        is_single=is_single,
        ndim=len(space.shape or ()) if not hasattr(space, "spaces") else 1,
        about=spec.id if spec else type(env.unwrapped).__name__,
    )


def _maker(system: Any, is_single: bool) -> Callable[[], Any]:
    if is_single:
        return lambda: system
    if not isinstance(system, str):
        return system  # type: ignore[no-any-return]
    try:
        import gymnasium
    except ImportError as error:
        built_in = ", ".join(_broccoli.environments())
        msg = f"{system!r} is a Gymnasium environment: install gymnasium, or choose one of {built_in}"
        raise ImportError(msg) from error
    return lambda: gymnasium.make(system, disable_env_checker=True)


def _starts(initial: Sequence[Any] | None, seeds: Iterable[int] | None) -> tuple[Any, ...]:
    """Return seeds, or states as tuples."""
    if (initial is None) == (seeds is None):
        msg = (
            "give either seeds=range(5), say, or initial=[...] where the environment can be put into a state"
        )
        raise ValueError(msg)
    starts = tuple(int(seed) for seed in seeds or ()) + tuple(
        tuple(map(float, state)) for state in initial or ()
    )
    if not starts:
        msg = "give at least one seed or initial state"
        raise ValueError(msg)
    return starts


def _reset(env: Any, start: Any) -> tuple[Any, dict[str, Any]]:
    """Start a run from a seed, or from a state."""
    if isinstance(start, int):
        observation, info = env.reset(seed=start)
        return observation, info
    reference, info = env.reset(seed=0)
    tiers = candidates(env)
    look = _look(env)
    if not tiers or not _same(look(), reference):
        msg = f"{env} cannot be put into a state: give seeds=... instead of initial=..."
        raise ValueError(msg)
    tiers[0](env).place(start)
    return look(), info


def _look(env: Any) -> Callable[[], Any]:
    """Return what shows the present observation, if no wrapper changes it."""
    import numpy as np

    inner = env.unwrapped
    method = getattr(inner, "_get_obs", None) or getattr(inner, "_get_ob", None)
    return method or (lambda: np.array(inner.state, dtype=env.observation_space.dtype))


def _same(a: Any, b: Any) -> bool:
    import numpy as np

    return bool(np.array_equal(a, b))


def _rule(objective: str | None, verdict: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return the function that gives verdicts."""
    if verdict is not None:
        return verdict
    ended, cut = Verdict.VIOLATED, Verdict.SATISFIED
    if objective == "reach":
        ended, cut = cut, ended

    def rule(_observation: Any, _reward: Any, terminated: bool, truncated: bool, _info: Any) -> Verdict:
        return ended if terminated else cut if truncated else Verdict.RUNNING

    return rule


@dataclass
class _Shared:
    """An environment with what is known about it, and the session that has it at the moment."""

    env: Any
    tier: Callable[[Any], Tier] | None
    verdict: Callable[..., Any]
    features: Callable[[Any], Any] | None
    has_rewards: bool = False
    owner: _Session | None = None


class _Session:
    """A run on an environment, which several sessions may share: each finds it as it left it."""

    def __init__(self, shared: _Shared) -> None:
        self._shared = shared
        self._env_step = shared.env.step
        self._verdict = shared.verdict
        self._features = shared.features
        self._has_rewards = shared.has_rewards
        self._tier: Tier | None = None
        self._starts: dict[Any, tuple[State, Any, Any]] = {}
        self._left: State = ()
        self._trail: list[Any] = []

    def reset(self, start: Any) -> tuple[Any, Any]:
        """Start a run."""
        self._own()
        self._trail = [start]
        if start in self._starts and self._tier:
            state, observation, verdict = self._starts[start]
            self._tier.load(state)
            return observation, verdict
        first, info = _reset(self._shared.env, start)
        observation = seen(first, self._features)
        verdict = self._verdict(first, 0.0, False, False, info)
        if self._shared.tier:
            self._tier = self._tier or self._shared.tier(self._shared.env)
            # Some environments write the next observation over this one.
            self._starts[start] = (self._tier.save(), copy.copy(observation), verdict)
        return observation, verdict

    def step(self, action: Any) -> tuple[Any, ...]:
        """Apply an action."""
        if self._shared.owner is not self:
            self._come_back()
        if self._tier is None:
            self._trail.append(action)
        observation, reward, terminated, truncated, info = self._env_step(action)
        verdict = self._verdict(observation, reward, terminated, truncated, info)
        shown = observation if self._features is None else seen(observation, self._features)
        return (shown, verdict, reward) if self._has_rewards else (shown, verdict)

    def snapshot(self) -> State:
        """Return the present state."""
        if self._shared.owner is not self:
            return self._left
        return self._ready_tier().save()

    def restore(self, state: State) -> None:
        """Come back to a state."""
        self._own()
        self._trail = []
        self._ready_tier().load(state)

    def _ready_tier(self) -> Tier:
        """Return the tier of an environment that has been reset at least once."""
        if self._tier is None:
            if self._shared.tier is None:
                msg = "this environment comes back to a state by replay only"
                raise RuntimeError(msg)
            self._shared.env.reset(seed=0)
            self._tier = self._shared.tier(self._shared.env)
        return self._tier

    def _own(self) -> None:
        """Take the environment, wherever it is."""
        if self._shared.owner is not None and self._shared.owner is not self and self._shared.owner._tier:
            self._shared.owner._left = self._shared.owner._tier.save()
        self._shared.owner = self

    def _come_back(self) -> None:
        """Take the environment, and go where we left it."""
        self._own()
        if self._tier:
            self._tier.load(self._left)
        else:
            _reset(self._shared.env, self._trail[0])
            for action in self._trail[1:]:
                self._env_step(action)


def _dimensions(
    space: Any,
    dimensions: Dimensions | None,
    names: Sequence[str],
    features: Callable[[Any], Any] | None,
    first: Any,
) -> tuple[Dimension, ...]:
    """Return the dimensions of what the tree sees."""
    if features is not None:
        made = features(first)
        if dimensions is None and not isinstance(made, Mapping):
            msg = 'features returns numbers without names: give dimensions=["angle", ...], or return a dict'
            raise ValueError(msg)
        return described(dimensions or list(made), [Dimension(str(i)) for i in range(len(made))])
    shape = getattr(space, "shape", None)
    if hasattr(space, "n") and shape == ():
        known = [Dimension("state", float(space.start), float(space.start + space.n - 1))]
    elif hasattr(space, "low") and shape is not None and len(shape) == 1:
        names = names if len(names) == shape[0] else [f"x{i}" for i in range(shape[0])]
        bounds = zip(names, space.low.tolist(), space.high.tolist(), strict=True)
        known = [Dimension(name, _bound(low), _bound(high)) for name, low, high in bounds]
    else:
        what = f"images or arrays of shape {shape}" if shape and len(shape) > 1 else f"of the space {space}"
        msg = f"observations are {what}: give features=..., a function that makes a few numbers of them"
        raise TypeError(msg)
    return tuple(known) if dimensions is None else described(dimensions, known)


def _bound(value: float) -> float | None:
    return float(value) if math.isfinite(value) and abs(value) < UNBOUNDED else None


def _actions(space: Any, actions: Actions | int | None, names: Sequence[str]) -> dict[str, Any]:
    """Return the actions by name."""
    is_box = hasattr(space, "low") and getattr(space, "shape", None) is not None
    if is_box and isinstance(actions, int):
        return named(_evenly(space, actions))
    if isinstance(actions, int):
        msg = f"actions={actions} is for continuous actions: for {space} give a list, such as actions=[0, 2]"
        raise TypeError(msg)
    if actions is None:
        if not hasattr(space, "n") or getattr(space, "shape", None) != ():
            kind = "continuous" if is_box else "not numbered"
            msg = f"the actions of {space} are {kind}: give actions=[...]" + (
                ", or how many per dimension" if is_box else ""
            )
            raise TypeError(msg)
        numbers = range(int(space.start), int(space.start + space.n))
        return dict(zip(names, numbers, strict=True)) if len(names) == len(numbers) else named(list(numbers))
    if isinstance(actions, Mapping):
        by_name = {name: _cast(space, action) if is_box else action for name, action in actions.items()}
    elif is_box:
        by_name = named([_cast(space, action) for action in actions])
    else:
        start = int(getattr(space, "start", 0))
        by_name = {
            (names[a - start] if isinstance(a, int) and 0 <= a - start < len(names) else str(a)): a
            for a in actions
        }
    for action in by_name.values():
        if not space.contains(action):
            msg = f"{action!r} is no action of {space}"
            raise ValueError(msg)
    return by_name


def _cast(space: Any, action: Any) -> Any:
    """Return an action as the array that a continuous space takes."""
    import numpy as np

    try:
        return np.array(action, dtype=space.dtype).reshape(space.shape)
    except ValueError:
        msg = f"{action!r} is no action of {space}"
        raise ValueError(msg) from None


def _evenly(space: Any, count: int) -> list[Any]:
    """Return so many values per dimension, evenly spaced from end to end, in every combination."""
    import numpy as np

    if count < 2 or not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        msg = (
            f"actions={count}: evenly spaced actions need at least 2 and a bounded space, and this is {space}"
        )
        raise ValueError(msg)
    axes = [np.linspace(low, high, count) for low, high in zip(space.low.flat, space.high.flat, strict=True)]
    return [_cast(space, values) for values in itertools.product(*axes)]
