"""Trees, policies and outcomes as data."""

from __future__ import annotations

import copy
import json
import math
import pickle
import xml.etree.ElementTree as ElementTree
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from systems import CART, Cart

import broccoli
from broccoli import Tree

Leaf = dict[str, Any]
NAMES = (["x", "y"], ["a", "b", "c"])


def leaves(depth: int) -> st.SearchStrategy[Leaf]:
    """Draw the JSON of a tree."""
    leaf = st.integers(0, 2).map(lambda action: {"action": action, "name": NAMES[1][action]})
    if depth == 0:
        return leaf
    node = st.tuples(
        st.integers(0, 1),
        st.floats(allow_nan=False, allow_infinity=False),
        leaves(depth - 1),
        leaves(depth - 1),
    ).map(lambda n: {"feature": n[0], "name": NAMES[0][n[0]], "threshold": n[1], "true": n[2], "false": n[3]})
    return leaf | node


def walk(tree: Leaf, observation: list[float]) -> int:
    """Find the action the slow way."""
    while "action" not in tree:
        tree = tree["true" if observation[tree["feature"]] >= tree["threshold"] else "false"]
    return int(tree["action"])


numbers = st.floats(-1e30, 1e30)


@given(leaves(3), st.lists(numbers, min_size=2, max_size=2))
def test_trees_come_back_and_act(tree: Leaf, observation: list[float]) -> None:
    """JSON, pickle and copy give the same tree, and it does what it says."""
    made = Tree(json.dumps(tree), *NAMES)
    assert json.loads(made.to_json()) == tree
    for again in (pickle.loads(pickle.dumps(made)), copy.copy(made), Tree(made.to_json(), *NAMES)):
        assert again == made
        assert hash(again) == hash(made)
    assert made.action(observation) == walk(tree, observation)
    assert made.action(np.array(observation)) == walk(tree, observation)
    narrow = np.array(observation, dtype=np.float32)
    assert made.action(narrow) == walk(tree, [float(value) for value in narrow])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not the JSON of a tree"),
        ('{"action": 3}', "action 3 does not exist"),
        ('{"action": 0, "name": "b"}', 'is named "a"'),
        ('{"feature": 0}', "either"),
    ],
)
def test_wrong_trees(text: str, message: str) -> None:
    """What is no tree is refused."""
    with pytest.raises(ValueError, match=message):
        Tree(text, *NAMES)


def test_wrong_observations() -> None:
    """Other lengths, NaN and what is no number are refused."""
    tree = Tree('{"action": 0}', *NAMES)
    with pytest.raises(ValueError, match="has 2 numbers, not 3"):
        tree.action([1, 2, 3])
    with pytest.raises(ValueError, match='NaN in dimension "y"'):
        tree.action([1, math.nan])
    with pytest.raises(TypeError):
        tree.action("ab")
    assert tree != 7


def test_how_things_look() -> None:
    """`repr`, `str` and what a notebook shows."""
    problem = broccoli.Problem(Cart, **CART)
    outcome = problem.solve()
    assert outcome.tree is not None
    assert repr(problem) == (
        "Problem(Cart: reach 1000, depth 2, 2 dimensions, 14 thresholds, 2 actions, 2 initial states)"
    )
    assert repr(outcome).startswith(f"Outcome(optimal, value={outcome.value}, bound={outcome.value}, size=")
    assert repr(outcome.policy) == f"Policy({outcome.tree!r})"
    assert repr(outcome.tree).startswith("Tree(position >= ")
    assert "data:image/svg+xml,%3Csvg" in outcome._repr_html_()
    picture = ElementTree.fromstring(outcome.tree.to_svg())  # noqa: S314
    leaves = [node for node in picture.iter() if "leaf" in node.get("class", "")]
    assert len(leaves) == outcome.tree.size + 1
    assert "<b>optimal</b>" in outcome._repr_html_()
    assert repr(problem.trace(outcome.tree, 0)).endswith(
        "satisfied, value=" + str(problem.trace(outcome.tree).value) + ")"
    )
    escaped = Tree('{"action": 0}', ["x"], ["<b>", "&"])
    assert "<b>" not in escaped._repr_html_()


def test_pickles() -> None:
    """Problems, policies and outcomes survive."""
    problem = broccoli.Problem(Cart, **CART)
    outcome = problem.solve()
    again = pickle.loads(pickle.dumps(outcome))
    assert (again.value, again.tree, again.statistics) == (outcome.value, outcome.tree, outcome.statistics)
    assert again.history == outcome.history
    assert again.policy((0.0, 0.0)) == outcome.policy((0.0, 0.0))  # type: ignore[misc]
    same = pickle.loads(pickle.dumps(problem))
    assert same.solve().tree == outcome.tree


def evaluate(policy: Any, env: Any, episodes: int) -> list[float]:
    """Stand in for Stable-Baselines3's `evaluate_policy`: batches of one observation, state handed along."""
    totals = []
    for seed in range(episodes):
        observation, _ = env.reset(seed=seed)
        state, start, total, done = None, np.ones(1, dtype=bool), 0.0, False
        while not done:
            actions, state = policy.predict(
                observation[np.newaxis], state=state, episode_start=start, deterministic=True
            )
            assert actions.shape[0] == 1
            observation, reward, terminated, truncated, _ = env.step(actions[0])
            total, done, start = total + float(reward), terminated or truncated, np.zeros(1, dtype=bool)
        totals.append(total)
    return totals


def test_predict_follows_the_protocol_of_stable_baselines() -> None:
    """The value that was proved is the least reward of the episodes; the package itself: see test_long."""
    outcome = broccoli.synthesize(
        "CartPole-v1", thresholds=4, seeds=range(3), objective="survive", horizon=200
    )
    assert outcome.policy is not None
    totals = evaluate(outcome.policy, gymnasium.make("CartPole-v1", max_episode_steps=200), 3)
    assert min(totals) == outcome.value
    single, state = outcome.policy.predict(np.zeros(4, dtype=np.float32), state="kept")
    assert (single in (0, 1), state) == (True, "kept")
