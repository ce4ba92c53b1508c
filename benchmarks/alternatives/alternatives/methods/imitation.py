"""Imitation of an expert, in the way of DAgger and VIPER.

CART is fitted to what the expert does, its tree is run, the expert says what it would have done there, and
CART is fitted again to all of it. It sees ranks instead of numbers, so that its splits are predicates of the
problem, and has the problem's limits. A state is drawn the more often the more the choice of action matters.
"""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from alternatives.arena import Arena
from alternatives.expert import Expert, Floats, expert, step
from alternatives.trees import Nested, Space

ROUNDS = 100
SAMPLE = 5000
"""States that CART is fitted to in a round, drawn from all."""
MOST_STATES = 1000
"""States of one round that the expert is asked about."""
OWN_STEPS = 500
"""Steps of the expert's own runs, at most."""


def search(arena: Arena, seed: int, rounds: int = ROUNDS) -> None:
    """Imitate the expert in rounds, beginning with its own runs."""
    teacher = expert(arena.instance.environment)
    arena.spend(teacher.queries)
    generator = np.random.default_rng(seed)
    states = _own_runs(arena, teacher)
    ranks, costs = arena.space.ranks(states), teacher.costs(states)
    for _ in range(rounds):
        matters = np.ptp(costs, axis=1)
        if not matters.any():
            return
        drawn = generator.choice(len(ranks), SAMPLE, p=matters / matters.sum())
        cart = DecisionTreeClassifier(
            max_depth=arena.space.depth,
            max_leaf_nodes=arena.space.leaves,
            random_state=int(generator.integers(2**31)),
        ).fit(ranks[drawn], costs[drawn].argmin(axis=1))
        visited = _try(arena, _nested(arena.space, cart))
        states = generator.permutation(visited)[:MOST_STATES]
        ranks = np.concatenate([ranks, arena.space.ranks(states)])
        costs = np.concatenate([costs, teacher.costs(states)])


def _own_runs(arena: Arena, teacher: Expert) -> Floats:
    """Run the expert from all initial states and return what it saw."""
    states = np.array(arena.problem.initial, dtype=float)
    seen = [states]
    for _ in range(OWN_STEPS):
        actions = teacher.costs(states).argmin(axis=1)
        running = []
        for action in np.unique(actions):
            stepped = step(arena.instance.environment, states[actions == action], int(action))
            arena.spend(stepped.queries)
            running.append(stepped.states[~(stepped.is_satisfied | stepped.is_violated)])
        states = np.concatenate(running)
        if not len(states):
            break
        seen.append(states)
    return np.concatenate(seen)


def _try(arena: Arena, nested: Nested) -> Floats:
    """Run a tree from all initial states, as far as it is worth it, and return what it saw."""
    problem = arena.instance.problem(arena.first_horizon)
    tree = problem.tree(nested)
    values: list[int] = []
    visited: list[tuple[float, ...]] = []
    for initial in range(len(problem.initial)):
        trace = problem.trace(tree, initial)
        arena.spend(len(trace.actions))
        visited += trace.observations
        if trace.value is None:
            break
        values.append(int(trace.value))
    is_whole = len(values) == len(problem.initial)
    arena.offer(nested, (max(values) if arena.is_reach else min(values)) if is_whole else None)
    return np.array(visited)


def _nested(space: Space, cart: DecisionTreeClassifier) -> Nested:
    """Return the tree that CART has fitted: its left side is below a threshold."""
    fitted = cart.tree_

    def below(node: int) -> Nested:
        left, right = int(fitted.children_left[node]), int(fitted.children_right[node])
        if left < 0:
            return int(cart.classes_[fitted.value[node][0].argmax()])
        dimension = int(fitted.feature[node])
        # Between the ranks r and r + 1 lies the threshold number r.
        threshold = space.thresholds[dimension][int(fitted.threshold[node])]
        yes, no = below(right), below(left)
        return yes if yes == no else (dimension, threshold, yes, no)

    return below(0)
