"""Systems written in Python: every way of writing one gives the same answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from systems import CART, Cart, SnapshotCart, StatefulCart

import broccoli
from broccoli import Verdict


class ArrayCart(Cart):
    """Has its state in an array, and changes it in place."""

    def reset(self, initial: float) -> Any:
        """Start at rest."""
        state, _, verdict = super().reset(initial)
        return np.array(state), np.array(state), verdict

    def step(self, state: Any, action: float) -> Any:
        """Accelerate."""
        state[:], _, verdict = super().step(tuple(state.tolist()), action)
        return state, state.astype(np.float64), verdict


class ListCart(Cart):
    """Has its state in a list that it changes in place, and gives names of verdicts."""

    def reset(self, initial: float) -> Any:
        """Start at rest."""
        state, _, verdict = super().reset(initial)
        return list(state), state, verdict.value

    def step(self, state: Any, action: float) -> Any:
        """Accelerate."""
        state[:], _, verdict = super().step(tuple(state), action)
        return state, list(state), verdict.value


@pytest.mark.parametrize("engine", ["behaviour", "backtracking"])
@pytest.mark.parametrize("system", [Cart, Cart(), StatefulCart, SnapshotCart, ArrayCart, ListCart])
def test_all_ways_of_writing_a_system_agree(system: Any, engine: Any) -> None:
    """Function or not, snapshot or replay, tuples or arrays: the same tree with the same queries."""
    expected = broccoli.synthesize(Cart, **CART, engine=engine)
    outcome = broccoli.synthesize(system, **CART, engine=engine)
    assert outcome.status == "optimal"
    assert (outcome.value, outcome.tree) == (expected.value, expected.tree)
    assert outcome.statistics.queries == expected.statistics.queries
    assert (outcome.statistics.queries_replayed > 0) == (system is StatefulCart and engine == "behaviour")


def test_a_trace_is_what_the_tree_does() -> None:
    """The trace of the best tree has its value, and the policy's actions."""
    problem = broccoli.Problem(Cart, **CART)
    outcome = problem.solve()
    assert outcome.policy is not None
    traces = [problem.trace(outcome.policy, i) for i in range(2)]
    assert max(trace.value or 0 for trace in traces) == outcome.value
    for trace in traces:
        assert trace.end == "satisfied"
        assert len(trace.observations) == len(trace.actions) + 1
        assert [outcome.policy.index(seen) for seen in trace.observations[:-1]] == list(trace.actions)
    assert problem.initial == (0.0, 9.0)
    with pytest.raises(ValueError, match="there is no initial state 2"):
        problem.trace(outcome.policy, 2)


def test_infeasible_states_are_named() -> None:
    """Nobody gets out of the second initial state."""

    class Trap(Cart):
        def step(self, state: Any, action: float) -> Any:
            return (state, state, "running") if state[0] > 8 else super().step(state, action)

    problem = broccoli.Problem(Trap, **CART)
    outcome = problem.solve()
    assert (outcome.status, outcome.value, outcome.bound, outcome.policy) == ("infeasible", None, None, None)
    assert problem.infeasible_states() == ([1], [])


Table = tuple[list[int], list[list[int]]]


class Token:
    """A token on numbered places, with the next place for each action in a table."""

    def __init__(self, table: Table) -> None:
        """Use this table: what is observed in a place, and where its actions lead."""
        self.seen, self.next = table

    def reset(self, initial: int) -> tuple[int, list[int], Verdict]:
        """Put it down."""
        return initial, [self.seen[initial]], Verdict.RUNNING

    def step(self, state: int, action: int) -> tuple[int, list[int], Verdict]:
        """Move it; the goal is place 0."""
        state = self.next[state][action]
        return state, [self.seen[state]], Verdict.RUNNING if state else Verdict.SATISFIED


class Replayed:
    """Makes a function of the state into a system that can only be reset."""

    def __init__(self, system: Token) -> None:
        """Wrap it."""
        self.system = system

    def reset(self, initial: int) -> Any:
        """Start."""
        self.state, *answer = self.system.reset(initial)
        return tuple(answer)

    def step(self, action: int) -> Any:
        """Go on."""
        self.state, *answer = self.system.step(self.state, action)
        return tuple(answer)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw a table with 5 places and 2 actions."""
    places = st.integers(0, 4)
    return (
        draw(st.lists(places, min_size=5, max_size=5)),
        draw(st.lists(st.lists(places, min_size=2, max_size=2), min_size=5, max_size=5)),
    )


def test_threads() -> None:
    """Systems in Python can be run by several threads, each with its own."""
    given = CART | {"thresholds": 40, "depth": 3}
    alone, together = (broccoli.synthesize(StatefulCart, **given, threads=threads) for threads in (1, 2))
    assert (together.status, together.value, together.tree) == ("optimal", alone.value, alone.tree)


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from(["reach", "survive"]))
def test_engines_and_replay_agree_on_random_tables(table: Table, objective: Any) -> None:
    """Status, value and size are those of brute force."""
    problem: dict[str, Any] = {
        "dimensions": ["x"],
        "thresholds": [[1, 2, 3, 4]],
        "actions": [0, 1],
        "initial": [1, 2],
        "objective": objective,
        "horizon": 8,
    }
    expected = broccoli.synthesize(lambda: Token(table), **problem, engine="exhaustive")
    for make in (lambda: Token(table), lambda: Replayed(Token(table))):
        outcome = broccoli.synthesize(make, **problem)
        assert (outcome.status, outcome.value, outcome.size) == (
            expected.status,
            expected.value,
            expected.size,
        )


def test_ranges_and_quantiles_come_from_random_runs() -> None:
    """Without a range thresholds are spread over what is observed, always the same way."""
    given = CART | {"dimensions": ["position", "speed"], "thresholds": 3}
    problem = broccoli.Problem(Cart, **given)
    assert problem.thresholds == broccoli.Problem(Cart, **given).thresholds
    columns: Any = problem.thresholds.values()
    for low, middle, high in columns:
        assert low < middle < high
    quantiles = broccoli.Problem(Cart, **given | {"thresholds": broccoli.Predicates.quantiles(3)})
    assert quantiles.thresholds != problem.thresholds
    assert all(len(thresholds) == 3 for thresholds in quantiles.thresholds.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dimensions": None}, "name what is observed"),
        ({"actions": None}, "give the actions"),
        ({"actions": [1]}, "from 2 to"),
        ({"actions": [1, 1]}, "are the same"),
        ({"initial": None}, "give the initial states"),
        ({"initial": []}, "no initial state"),
        ({"objective": None}, "give objective="),
        ({"objective": "win"}, 'must be "reach", "survive" or "return"'),
        ({"horizon": 0}, "horizon is 0"),
        ({"horizon": 1.5}, "horizon is 1.5"),
        ({"depth": -1}, "depth is -1"),
        ({"depth": 1, "nodes": 2}, "2"),
        ({"thresholds": [1]}, "1 given for 2 dimensions"),
        ({"thresholds": {"speeed": 1}}, "there is no dimension 'speeed'; there are: position, speed"),
        ({"thresholds": {"position": [11.0]}}, "the threshold 11 is outside the range from 0 to 10"),
        ({"thresholds": {"position": [float("nan")]}}, "nan"),
        ({"thresholds": -1}, "whole number"),
        (
            {"thresholds": broccoli.Predicates.grid(20)},
            "dimension 'position': a step of 20 leaves no threshold",
        ),
        ({"seeds": [1]}, "seeds has no meaning for a system of your own"),
    ],
)
def test_wrong_problems(change: dict[str, Any], message: str) -> None:
    """Everything that is missing or wrong is named."""
    with pytest.raises(ValueError, match=message):
        broccoli.Problem(Cart, **CART | change)


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (StatefulCart(), "give its class, or a function that makes one"),
        (lambda: 7, "it has no method reset"),
        (7, "it has no method reset"),
    ],
)
def test_wrong_systems(system: Any, message: str) -> None:
    """What is no system is refused."""
    with pytest.raises(TypeError, match=message):
        broccoli.Problem(system, **CART)


def test_step_with_too_many_arguments() -> None:
    """A step must take one or two arguments."""

    class Odd(Cart):
        def step(self, state: Any, action: Any, more: Any) -> Any:  # type: ignore[override]
            return state

    with pytest.raises(TypeError, match="step of Odd takes 3 arguments"):
        broccoli.Problem(Odd, **CART)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (None, TypeError, r"must return \(state, observation, verdict\)"),
        (((0.0,), (0.0,)), TypeError, r"must return \(state, observation, verdict\)"),
        ((0, (0.0,), "running"), ValueError, "an observation has 2 numbers, not 1"),
        ((0, [[0.0], [1.0]], "running"), TypeError, "must be real number"),
        ((0, object(), "running"), TypeError, "must be a sequence of 2 numbers"),
        ((0, (0.0, 0.0), True), TypeError, "a verdict must be"),
        ((0, (0.0, 0.0), "won"), TypeError, "a verdict must be"),
        ((0, (0.0, float("nan")), "running"), broccoli.RunError, 'NaN in dimension "speed"'),
        ((lambda: 0, (0.0, 0.0), "running"), (AttributeError, Exception), "pickle"),
    ],
)
def test_wrong_answers(answer: Any, error: Any, message: str) -> None:
    """What `step` must not return is refused, with what it should be."""

    class Wrong(Cart):
        def step(self, state: Any, action: float) -> Any:
            return answer

    with pytest.raises(error, match=message):
        broccoli.synthesize(Wrong, **CART)


def test_a_system_that_is_not_deterministic() -> None:
    """The answer is run once more, and that shows."""
    runs = iter(range(10**9))

    class Moody(Cart):
        def __init__(self) -> None:
            self.mood = next(runs)

        def step(self, state: Any, action: float) -> Any:
            return super().step(state, action if self.mood < 2 else -action)

    with pytest.raises(broccoli.RunError, match="not deterministic") as caught:
        broccoli.synthesize(Moody, **CART | {"initial": [0.0]})
    assert caught.value.outcome is not None
    assert caught.value.outcome.status == "error"
