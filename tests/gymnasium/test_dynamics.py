"""Our environments against the real Gymnasium, step by step.

Where a step computes no sine or cosine the two must agree bit for bit. Elsewhere they may differ: ours come
from the `libm` crate, Gymnasium's from numpy or the C library, and each of them is right only to about one
unit in the last place. The operations after that are the same and in the same order, so they carry the
difference along and at most add roundings of the terms they add up. Hence the tolerance: some units in the
last place of the largest term (`Reference.ulps`, `Reference.terms`).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from reference import ALL, CartPole, Reference
from transitions import Answer, Query, State, Transitions

STATES = 6000
"""Random states per environment."""

by_name = pytest.mark.parametrize("reference", ALL, ids=lambda reference: reference.name)


def ulps(reference: Reference, before: State, theirs: State, ours: State) -> list[float]:
    """Count by how many units in the last place of the largest term the two differ, per dimension."""
    terms = reference.terms(before)
    return [abs(a - b) / math.ulp(term) for a, b, term in zip(theirs, ours, terms, strict=True)]


def is_on_a_cliff(reference: Reference, before: State, after: State) -> bool:
    """Tell whether a value of `after` is so near a cliff that the tolerance decides on which side it is."""
    terms = reference.terms(before)
    return any(
        value != cliff and abs(value - cliff) <= reference.ulps * math.ulp(term)
        for value, cliffs, term in zip(after, reference.cliffs, terms, strict=True)
        for cliff in cliffs
    )


def both(reference: Reference, ours: Transitions, states: list[State]) -> list[tuple[Query, Answer, Answer]]:
    """Step from every state with every action, Gymnasium's answer first."""
    actions = range(len(reference.actions))
    queries = [
        Query(reference.name, reference.actions, action, state) for state in states for action in actions
    ]
    theirs = [reference.step(query.state, query.action) for query in queries]
    return list(zip(queries, theirs, ours.step(queries), strict=True))


@by_name
def test_one_step(reference: Reference, ours: Transitions) -> None:
    """States and verdicts agree after one step from anywhere.

    A state is left out only if the step ends within the tolerance of a cliff, but not on it: there the last
    bit decides about a wall, a goal or a wrapped angle.
    """
    answers = both(reference, ours, reference.states(np.random.default_rng(1), STATES))
    clear = [entry for entry in answers if not is_on_a_cliff(reference, entry[0].state, entry[1].state)]
    assert len(clear) > 0.999 * len(answers)
    worst = 0.0
    for query, theirs, mine in clear:
        difference = max(ulps(reference, query.state, theirs.state, mine.state))
        assert difference <= reference.ulps, (query, theirs, mine)
        worst = max(worst, difference)
        if reference.has_verdict:
            assert mine.verdict == theirs.verdict, (query, theirs, mine)
    print(f"{reference.name}: {len(clear)} of {len(answers)} steps compared, at most {worst} units apart")


def test_cartpole_positions_are_equal(ours: Transitions) -> None:
    """CartPole's x and theta, which decide its verdict, take no sine or cosine: they agree bit for bit."""
    reference = CartPole()
    for query, theirs, mine in both(reference, ours, reference.states(np.random.default_rng(2), STATES)):
        assert mine.state[0::2] == theirs.state[0::2], query


@by_name
def test_verdicts_of_both_kinds_are_compared(reference: Reference, ours: Transitions) -> None:
    """The random states of the other tests see the verdict change, a wall and the clamps."""
    answers = both(reference, ours, reference.states(np.random.default_rng(1), STATES))
    if reference.has_verdict:
        verdicts = [theirs.verdict for _, theirs, _ in answers]
        assert all(verdicts.count(verdict) > STATES / 100 for verdict in set(verdicts))
        assert len(set(verdicts)) == 2
    for i, clamps in enumerate(reference.clamps):
        assert clamps <= {theirs.state[i] for _, theirs, _ in answers}, i


@by_name
def test_long_runs(reference: Reference, ours: Transitions) -> None:
    """Twenty runs of many steps stay together, each fed with its own last state.

    Both take the action that a policy chooses on Gymnasium's state. Differences of the last bit grow along an
    unstable motion: CartPole's pole multiplies them by about 1.08 a step, which over 300 steps makes 1e-16
    into 1e-6.
    """
    random = np.random.default_rng(3)
    lows, highs = zip(*reference.start, strict=True)
    theirs: list[State] = [tuple(row) for row in random.uniform(lows, highs, (20, len(lows))).tolist()]
    mine = list(theirs)
    worst = 0.0
    for _ in range(reference.steps):
        actions = [reference.policy(state) for state in theirs]
        theirs = [reference.step(state, action).state for state, action in zip(theirs, actions, strict=True)]
        queries = [
            Query(reference.name, reference.actions, action, state)
            for state, action in zip(mine, actions, strict=True)
        ]
        mine = [answer.state for answer in ours.step(queries)]
        worst = max(worst, float(np.max(np.abs(np.subtract(theirs, mine)))))
    print(f"{reference.name}: at most {worst} apart after {reference.steps} steps")
    assert worst <= reference.apart
