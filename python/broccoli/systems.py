"""Systems: what a search runs. The built-in ones, and any class of the user's; Gymnasium has its own file."""

from __future__ import annotations

import enum
import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from broccoli import _broccoli
from broccoli.predicates import Dimension, Range


class Verdict(str, enum.Enum):
    """What a system says about the run so far. The first other than `RUNNING` is final."""

    RUNNING = "running"
    SATISFIED = "satisfied"
    VIOLATED = "violated"


VERDICTS = (Verdict.RUNNING, Verdict.SATISFIED, Verdict.VIOLATED)


class FunctionSystem(Protocol):
    """A system whose next state is a function of state and action: the quickest to come back to.

    A state of floats in a tuple is the cheapest to keep; anything that can be pickled will do. An
    observation is a sequence or array of numbers, or one number.
    """

    def reset(self, initial: Any) -> tuple[Any, Any, Verdict | str]:
        """Return the first state, its observation and its verdict."""
        ...

    def step(self, state: Any, action: Any) -> tuple[Any, ...]:
        """Return the next state, its observation and its verdict; for returns also the reward of the step."""
        ...


class StatefulSystem(Protocol):
    """A system that keeps its state to itself.

    With methods `snapshot() -> state` and `restore(state)` a search comes back to a state by them, also to
    one of another instance; without, by `reset` and the same actions again.
    """

    def reset(self, initial: Any) -> tuple[Any, Verdict | str]:
        """Start a run; return its first observation and verdict."""
        ...

    def step(self, action: Any) -> tuple[Any, ...]:
        """Apply an action; return the next observation and verdict; for returns also the step's reward."""
        ...


class BatchSystem(Protocol):
    """A system that makes many steps at a time, on NumPy arrays.

    A search walks hundreds of behaviours side by side and has one step of each made together, so that a
    simulator in NumPy or JAX costs a small part of what it would cost step by step. What comes of a row must
    depend on this row alone, bit for bit.

    >>> import numpy as np
    >>> class Carts:
    ...     def reset(self, initial):
    ...         state = np.array([initial, 0.0])
    ...         return state, state, "running"
    ...
    ...     def step_batch(self, states, actions):
    ...         speed = states[:, 1] + actions
    ...         position = states[:, 0] + speed
    ...         is_there = (abs(position - 5) <= 0.5) & (abs(speed) <= 0.1)
    ...         states = np.stack([position, speed], axis=1)
    ...         return states, states, np.where(is_there, 1, 0)
    >>> import broccoli
    >>> broccoli.synthesize(
    ...     Carts,
    ...     dimensions={"position": (0, 10), "speed": (-1, 1)},
    ...     thresholds=9,
    ...     actions=[-0.1, 0.1],
    ...     initial=[0.0, 9.0],
    ...     objective="reach",
    ...     horizon=1000,
    ... ).status
    'optimal'
    """

    def reset(self, initial: Any) -> tuple[Any, Any, Verdict | str]:
        """Return the first state, a row of numbers, its observation and its verdict."""
        ...

    def step_batch(self, states: Any, actions: Any) -> tuple[Any, ...]:
        """Return the next states, their observations and their verdicts; for returns also their rewards.

        `states` is an array of float64 with one state a row, and yours to change; `actions` has one action a
        row, as it was given to the problem. Returned are arrays with as many rows: states, observations, and
        verdicts as whole numbers, 0 for running, 1 for satisfied, 2 for violated.
        """
        ...


Dimensions: TypeAlias = Sequence[str] | Mapping[str, Range | None]
Actions: TypeAlias = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True)
class Source:
    """What a problem has to know of a system, wherever it comes from."""

    dimensions: tuple[Dimension, ...]
    actions: Mapping[str, Any]
    """What the system is given, by name."""
    initial: tuple[Any, ...]
    native: str | _broccoli.PythonSystem
    observed: Callable[[], Sequence[Sequence[float]]]
    """What random runs show."""
    objective: str | None = None
    horizon: int | None = None
    depth: int = 2
    features: Callable[[Any], Any] | None = None
    ndim: int = 1
    is_single: bool = False
    """Whether all runs share one environment."""
    rewards: tuple[float | None, float | None] = (None, None)
    """The least and the largest reward, where they are known."""
    about: str = ""
    """The system in a few words."""


def built_in(
    name: str, initial: Sequence[Any] | None, actions: Actions | int | None, objective: str | None
) -> Source:
    """Return a built-in environment as a source."""
    if isinstance(actions, (int, str, Mapping)):
        msg = f"actions: give a list of names or values, not {actions!r}"
        raise TypeError(msg)
    facts = _broccoli.environment(name, None if actions is None else [str(action) for action in actions])
    chosen = [facts["initial"]] if initial is None else initial
    rewards = facts["rewards"] if objective == "return" else None
    return Source(
        dimensions=tuple(
            Dimension(name, low, high, step, is_closed=False) for name, low, high, step in facts["dimensions"]
        ),
        actions={name: int(value) if facts["is_discrete"] else value for name, value in facts["actions"]},
        initial=tuple(tuple(float(value) for value in state) for state in chosen),
        native=name,
        observed=list,
        objective=facts["objective"],
        horizon=rewards[2] if rewards else facts["horizon"],
        rewards=rewards[:2] if rewards else (None, None),
        depth=facts["depth"],
        about=facts["title"],
    )


def written_in_python(
    make: Callable[[], Any],
    dimensions: Dimensions | None,
    actions: Actions | None,
    initial: Sequence[Any] | None,
) -> Source:
    """Return a user's own system as a source."""
    system = make()
    kind = _kind(system)
    if dimensions is None:
        msg = 'name what is observed: dimensions=["position", "speed"], or with ranges: {"position": (0, 10)}'
        raise ValueError(msg)
    if actions is None:
        msg = "give the actions: actions=[-1, 1], or with names: actions={'left': -1, 'right': 1}"
        raise ValueError(msg)
    if initial is None:
        msg = "give the initial states: initial=[...]; each is handed to reset as it is"
        raise ValueError(msg)
    by_name = named(actions)
    return Source(
        dimensions=described(dimensions),
        actions=by_name,
        initial=tuple(initial),
        native=_broccoli.PythonSystem(make, kind, list(by_name.values()), list(initial), VERDICTS),
        observed=lambda: random_runs(system, kind, tuple(initial), tuple(by_name.values())),
        about=type(system).__name__,
    )


def _kind(system: Any) -> str:
    """Tell which of the protocols a system follows."""
    is_batch = callable(getattr(system, "step_batch", None))
    for name in ("reset", "step_batch" if is_batch else "step"):
        if not callable(getattr(system, name, None)):
            msg = f"{system!r} is no system: it has no method {name}"
            raise TypeError(msg)
    if is_batch:
        return "batch"
    parameters = [
        p
        for p in inspect.signature(system.step).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    if len(parameters) == 2:
        return "function"
    if len(parameters) != 1:
        name = type(system).__name__
        msg = f"step of {name} takes {len(parameters)} arguments: it must take (state, action) or (action)"
        raise TypeError(msg)
    return "snapshot" if hasattr(system, "snapshot") and hasattr(system, "restore") else "replay"


def maker(system: Any) -> Callable[[], Any]:
    """Return what makes systems: a class or function as it is, or something that returns `system` itself."""
    if inspect.isclass(system) or (callable(system) and not hasattr(system, "reset")):
        return system  # type: ignore[no-any-return]
    if _kind(system) in ("function", "batch"):
        return lambda: system
    msg = (
        f"{system!r} keeps its state to itself, and a search needs several of its kind: "
        "give its class, or a function that makes one"
    )
    raise TypeError(msg)


def random_runs(
    system: Any, kind: str, initial: Sequence[Any], actions: Sequence[Any]
) -> list[tuple[float, ...]]:
    """Run random actions, always the same ones, and return what was observed."""
    generator = random.Random(0)  # noqa: S311
    seen: list[tuple[float, ...]] = []
    for start in (list(initial) * 20)[:20]:
        answer = system.reset(start)
        place = 1 if kind in ("function", "batch") else 0
        for _ in range(200):
            seen.append(_numbers(answer[place]))
            if answer[place + 1] != Verdict.RUNNING:
                break
            action = generator.choice(actions)
            answer = _step(system, kind, answer[0], action)
    return seen


def _step(system: Any, kind: str, state: Any, action: Any) -> Any:
    if kind == "function":
        return system.step(state, action)
    if kind == "batch":
        import numpy as np

        states, observations, verdicts, *_ = system.step_batch(np.array([state], float), np.array([action]))
        return states[0], observations[0], VERDICTS[verdicts[0]]
    return system.step(action)


def _numbers(observation: Any) -> tuple[float, ...]:
    listed = observation.tolist() if hasattr(observation, "tolist") else observation
    return tuple(map(float, listed)) if isinstance(listed, (list, tuple)) else (float(listed),)


def described(dimensions: Dimensions, known: Sequence[Dimension] = ()) -> tuple[Dimension, ...]:
    """Return dimensions by name, with the ranges that are given or known."""
    if known and len(dimensions) != len(known):
        names = ", ".join(d.name for d in known)
        msg = f"dimensions: {len(dimensions)} given, but an observation has {len(known)} ({names})"
        raise ValueError(msg)
    known = known or [Dimension(name) for name in dimensions]
    if not isinstance(dimensions, Mapping):
        return tuple(Dimension(name, d.low, d.high) for name, d in zip(dimensions, known, strict=True))
    ranges = [(d.low, d.high) if r is None else r for r, d in zip(dimensions.values(), known, strict=True)]
    return tuple(Dimension(name, low, high) for name, (low, high) in zip(dimensions, ranges, strict=True))


def named(actions: Actions) -> dict[str, Any]:
    """Return actions by name; without names of their own, what they look like."""
    if isinstance(actions, Mapping):
        return dict(actions)
    by_name = {_label(action): action for action in actions}
    if len(by_name) != len(actions):
        msg = f"actions: some of {list(actions)} are the same"
        raise ValueError(msg)
    return by_name


def _label(action: Any) -> str:
    listed = action.tolist() if hasattr(action, "tolist") else action
    if isinstance(listed, (list, tuple)):
        return str(listed[0]) if len(listed) == 1 else "(" + ", ".join(map(str, listed)) + ")"
    return str(listed)
