"""Systems that make many steps at a time, on NumPy arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from systems import CART, Cart

import broccoli
from broccoli import Outcome

Array = np.ndarray[Any, Any]


class Carts:
    """The cart of the other tests, many at a time."""

    largest = 0

    def reset(self, initial: float) -> tuple[Array, Array, str]:
        """Start at rest."""
        state = np.array([initial, 0.0])
        return state, state, Cart().reset(initial)[2].value

    def step_batch(self, states: Array, actions: Array) -> tuple[Any, Any, Any]:
        """Accelerate all of them."""
        assert states.dtype == np.float64
        assert states.shape == (len(actions), 2)
        Carts.largest = max(Carts.largest, len(actions))
        speed = states[:, 1] + actions
        position = states[:, 0] + speed
        is_there = (abs(position - 5) <= 0.5) & (abs(speed) <= 0.1)
        states[:] = np.stack([position, speed], axis=1)  # they are ours to change
        return states, states, is_there.astype(int)


def essence(outcome: Outcome) -> tuple[Any, ...]:
    """Return what must not depend on how the steps are made."""
    return outcome.status, outcome.value, outcome.bound, outcome.tree


@pytest.mark.parametrize("system", [Carts, Carts(), lambda: Carts()], ids=["class", "instance", "function"])
@pytest.mark.parametrize("batch_size", [1, 7, 256])
def test_the_answer_is_that_of_one_step_at_a_time(system: Any, batch_size: int) -> None:
    """However many steps are made at a time, and in whatever way the system is given."""
    Carts.largest = 0
    alone = broccoli.synthesize(Cart, **CART)
    together = broccoli.synthesize(system, **CART, batch_size=batch_size)
    assert essence(together) == essence(alone)
    assert (Carts.largest == 1) if batch_size == 1 else (1 < Carts.largest <= batch_size)


@pytest.mark.parametrize("options", [{"engine": "backtracking"}, {"threads": 2}])
def test_options(options: dict[str, Any]) -> None:
    """Other engines make one step at a time; threads have batches of their own."""
    alone = broccoli.synthesize(Cart, **CART)
    together = broccoli.synthesize(Carts, **CART, **options)
    assert (together.status, together.value, together.size) == (alone.status, alone.value, alone.size)


def test_a_trace_and_the_states_to_blame() -> None:
    """What is run outside of a search is the same, too."""
    problem = broccoli.Problem(Carts, **CART)
    outcome = problem.solve()
    assert outcome.policy is not None
    assert max(problem.trace(outcome.policy, i).value or 0 for i in range(2)) == outcome.value
    assert broccoli.Problem(Carts, **{**CART, "horizon": 3}).infeasible_states() == ([0, 1], [])


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(["reach", "survive"]), st.integers(1, 40))
def test_random_tables(random: Any, objective: Any, batch_size: int) -> None:
    """Random systems give one answer."""
    count = 12
    following = np.array([[random.randrange(count) for _ in range(3)] for _ in range(count)])
    seen = np.array([[random.randrange(4), random.randrange(4)] for _ in range(count)], dtype=np.float32)
    codes = np.array([random.choice([0, 0, 0, 0, 1, 2]) for _ in range(count)])
    names = ("running", "satisfied", "violated")

    class One:
        def reset(self, initial: int) -> Any:
            return float(initial), seen[initial], names[codes[initial]]

        def step(self, state: float, action: int) -> Any:
            return self.reset(int(following[int(state), action]))

    class Many(One):
        def reset(self, initial: int) -> Any:
            return [float(initial)], seen[initial], names[codes[initial]]

        def step_batch(self, states: Array, actions: Array) -> Any:
            after = following[states[:, 0].astype(int), actions]
            return after, seen[after], codes[after]

    problem: dict[str, Any] = {
        "dimensions": ["x", "y"],
        "thresholds": [[1, 2, 3], [1, 2, 3]],
        "actions": [0, 1, 2],
        "initial": [0, 1],
        "objective": objective,
        "horizon": 20,
    }
    alone = broccoli.synthesize(One, **problem)
    assert essence(broccoli.synthesize(Many, **problem, batch_size=batch_size)) == essence(alone)


def test_stopped_and_resumed(tmp_path: Path) -> None:
    """With a checkpoint a search goes on where it was."""
    file = tmp_path / "search.json"
    given: dict[str, Any] = {**CART, "checkpoint": file}
    stopped = broccoli.synthesize(Carts, **given, query_limit=100)
    assert (stopped.status, file.exists()) == ("stopped", True)
    assert stopped.statistics.queries <= 100
    resumed = broccoli.synthesize(Carts, **given)
    assert essence(resumed) == essence(broccoli.synthesize(Cart, **CART))
    assert not file.exists()


def test_an_exception_names_the_row() -> None:
    """It comes through as it is, with the state and action that raise it, though it was one of many."""

    class Fragile(Carts):
        def step_batch(self, states: Array, actions: Array) -> Any:
            if (abs(states[:, 1]) > 0.55).any():
                msg = "too fast"
                raise ArithmeticError(msg)
            return super().step_batch(states, actions)

    with pytest.raises(ArithmeticError, match="too fast") as caught:
        broccoli.synthesize(Fragile, **CART)
    query = caught.value.query  # type: ignore[attr-defined]
    assert abs(query.state[1]) > 0.55
    assert query.initial in CART["initial"]
    assert query.step is not None
    assert query.actions[0] in (-0.1, 0.1)


def test_nan_in_one_row() -> None:
    """The dimension, the step and the initial state are named."""

    class Vague(Carts):
        def step_batch(self, states: Array, actions: Array) -> Any:
            after, seen, verdicts = super().step_batch(states, actions)
            seen = seen.copy()
            seen[seen[:, 0] > 9.9, 1] = np.nan
            return after, seen, verdicts

    with pytest.raises(broccoli.RunError, match=r'NaN in dimension "speed" at step \d+ from initial state'):
        broccoli.synthesize(Vague, **CART)


ROWS = r"must return {} as an array of shape \(\d+, {}\), not "
VERDICTS = r"verdicts as an array of \d+ whole numbers \(0 running, 1 satisfied, 2 violated\), not "


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda s, o, v: (s, o), TypeError, r"must return \(states, observations, verdicts\)"),
        (lambda s, o, v: (s[:, :1], o, v), ValueError, ROWS.format("states", 2) + "one of shape"),
        (lambda s, o, v: (s.T, o[:0], v), ValueError, "must return "),
        (lambda s, o, v: (s, o[:, 0], v), ValueError, ROWS.format("observations", 2)),
        (lambda s, o, v: (s, [["a", "b"]] * len(v), v), ValueError, ROWS.format("observations", 2)),
        (lambda s, o, v: (s, o, v[1:]), TypeError, VERDICTS),
        (lambda s, o, v: (s, o, v == 1), TypeError, VERDICTS + "one of shape .* and type bool"),
        (lambda s, o, v: (s, o, v.astype(float)), TypeError, VERDICTS),
        (lambda s, o, v: (s, o, "running"), TypeError, VERDICTS),
        (lambda s, o, v: (s, o, v + 3), ValueError, r"the verdict [34]: it must be 0 \(running\)"),
    ],
)
def test_wrong_answers(change: Any, error: Any, message: str) -> None:
    """Shapes and types that cannot be meant are refused."""

    class Wrong(Carts):
        def step_batch(self, states: Array, actions: Array) -> Any:
            return change(*super().step_batch(states, actions))

    with pytest.raises(error, match=message):
        broccoli.synthesize(Wrong, **CART)


def test_wrong_states_and_sizes() -> None:
    """A state must be a row of numbers, and all rows of one length."""

    class Named(Carts):
        def reset(self, initial: float) -> Any:
            return "here", (initial, 0.0), "running"

    class Growing(Carts):
        def reset(self, initial: float) -> Any:
            return [0.0] * (2 + int(initial)), (initial, 0.0), "running"

        def step_batch(self, states: Array, actions: Array) -> Any:
            after, seen, verdicts = super().step_batch(np.ascontiguousarray(states[:, :2]), actions)
            return np.hstack([after, states[:, 2:]]), seen, verdicts

    with pytest.raises(TypeError, match="must be a row of numbers, for step_batch, not here"):
        broccoli.synthesize(Named, **CART)
    with pytest.raises(broccoli.RunError, match="rows of one length"):
        broccoli.synthesize(Growing, **CART)
    with pytest.raises(ValueError, match="batch_size is 0: it must be a whole number of at least 1"):
        broccoli.synthesize(Carts, **CART, batch_size=0)


@pytest.mark.parametrize(
    "change",
    [
        lambda array: array.tolist(),
        np.asfortranarray,
        lambda array: np.repeat(array, 2, axis=1)[:, ::2],
        lambda array: array.astype(object),
    ],
    ids=["lists", "by column", "every other", "objects"],
)
def test_other_arrays_are_accepted(change: Any) -> None:
    """Whatever NumPy makes an array of numbers of, in whatever order it lies."""

    class Loose(Carts):
        def step_batch(self, states: Array, actions: Array) -> Any:
            after, seen, verdicts = super().step_batch(states, actions)
            return change(after), change(seen), verdicts.astype(np.uint8)

    assert essence(broccoli.synthesize(Loose, **CART)) == essence(broccoli.synthesize(Cart, **CART))
