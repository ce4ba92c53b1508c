"""Built-in environments: the same answers as from the command line."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

import broccoli

CLI = os.environ.get("BROCCOLI_CLI", "broccoli")
"""The command to compare with; `cargo xtask test` builds it."""

CASES: list[tuple[list[str], dict[str, Any]]] = [
    (["mountain-car"], {}),
    (["cartpole"], {}),
    (["pendulum"], {}),
    (["cartpole", "--depth", "1", "--thresholds", "7"], {"depth": 1, "thresholds": 7}),
    (
        ["mountain-car", "--depth", "3", "--nodes", "4", "--step", "0.18,0.014"],
        {"depth": 3, "nodes": 4, "thresholds": [broccoli.Predicates.grid(s) for s in (0.18, 0.014)]},
    ),
    (["pendulum", "--horizon", "5"], {"horizon": 5}),
    (
        ["cartpole", "--samples", "3", "--seed", "7", "--thresholds", "5"],
        {"initial": broccoli.sample("cartpole", 3, 7), "thresholds": 5},
    ),
]


@pytest.mark.parametrize(
    ("arguments", "given"), CASES, ids=lambda case: " ".join(case) if isinstance(case, list) else ""
)
def test_answers_are_those_of_the_command_line(arguments: list[str], given: dict[str, Any]) -> None:
    """Status, value, bound, tree and every count are equal."""
    ran = subprocess.run(
        [CLI, "solve", *arguments, "--threads", "1", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    expected = json.loads(ran.stdout)
    outcome = broccoli.synthesize(arguments[0], threads=1, **given)
    tree = json.loads(outcome.tree.to_json()) if outcome.tree else None
    assert (outcome.status, outcome.value, outcome.bound) == tuple(
        expected[k] for k in ("status", "value", "bound")
    )
    assert tree == expected["tree"]
    for name in ("queries", "queries_confirming", "necessary_queries", "traces", "trees"):
        assert getattr(outcome.statistics, name) == expected[name]


def test_known_answers() -> None:
    """MountainCar's tree of the README, as text and as an action."""
    outcome = broccoli.synthesize("mountain-car")
    assert (outcome.status, outcome.value, outcome.size, outcome.gap) == ("optimal", 104, 3, 0.0)
    assert str(outcome.tree).splitlines()[0] == "position >= -0.45"
    assert "this tree reaches the goal in 104 steps" in str(outcome)
    assert outcome.policy is not None
    assert [outcome.policy((-0.5, v)) for v in (0.0, -0.06)] == [2, 0]  # Gymnasium's right and left


def test_actions_are_what_gymnasium_takes() -> None:
    """Numbers of a discrete space, or torques."""
    assert broccoli.Problem("cartpole").actions == {"left": 0, "right": 1}
    assert broccoli.Problem("pendulum").actions == {"-2": -2.0, "+2": 2.0}
    assert broccoli.Problem("acrobot").actions == {"negative": 0, "none": 1, "positive": 2}
    assert {"acrobot", "cartpole", "mountain-car", "pendulum"} <= set(broccoli.environments())


def test_chosen_actions() -> None:
    """By name or by value; a continuous action from a list."""
    car = broccoli.Problem("mountain-car", actions=["left", 1, "right"])
    assert car.actions == {"left": 0, "coast": 1, "right": 2}
    torques = broccoli.Problem("pendulum", actions=[0, 1, 2])
    assert torques.actions == {"0": 0.0, "+1": 1.0, "+2": 2.0}
    three = broccoli.synthesize("mountain-car", thresholds=3, actions=["left", "coast", "right"])
    two = broccoli.synthesize("mountain-car", thresholds=3)
    assert three.value is not None
    assert two.value is None or three.value <= two.value
    with pytest.raises(TypeError, match="give a list of names or values"):
        broccoli.Problem("pendulum", actions=5)


@pytest.mark.parametrize(
    ("system", "given", "message"),
    [
        ("cartpol", {}, 'did you mean "cartpole"'),
        ("cartpole", {"seeds": [1]}, "give initial=.*broccoli.sample"),
        ("cartpole", {"actions": ["left"]}, "needs at least two"),
        ("cartpole", {"actions": [0, 2]}, 'cartpole has no action "2"; there are: left, right'),
        ("cartpole", {"features": len}, "features has no meaning"),
    ],
)
def test_wrong_use(system: str, given: dict[str, Any], message: str) -> None:
    """What makes no sense is refused."""
    with pytest.raises(ValueError, match=message):
        broccoli.Problem(system, **given)


def test_initial_states_of_the_wrong_length() -> None:
    """The environment refuses them itself."""
    with pytest.raises(broccoli.RunError, match="an initial state has 4 values, not 2"):
        broccoli.synthesize("cartpole", initial=[[0, 0]])


def test_threads_do_not_change_the_answer() -> None:
    """The same tree, value and bound for any number."""
    given: dict[str, Any] = {"depth": 3, "thresholds": 9}
    alone, together = (broccoli.synthesize("mountain-car", **given, threads=threads) for threads in (1, 3))
    assert (together.value, together.bound, together.tree) == (alone.value, alone.bound, alone.tree)
    with pytest.raises(ValueError, match="threads is 0"):
        broccoli.synthesize("mountain-car", threads=0)


def test_limits() -> None:
    """Every limit stops a search with the best so far and a bound."""
    best = broccoli.synthesize("pendulum").value
    assert best is not None
    for given, reason in (
        ({"query_limit": 20_000}, "query limit"),
        ({"first": True}, "first"),
        ({"gap": 0.5}, "gap"),
    ):
        outcome = broccoli.synthesize("pendulum", **given)
        assert (outcome.status, outcome.stopped_by) == ("stopped", reason)
        assert outcome.bound is not None
        assert outcome.bound <= best <= (outcome.value or best)
    start = broccoli.synthesize("pendulum", first=True).policy
    assert broccoli.synthesize("pendulum", start=start).value == best
    with pytest.raises(ValueError, match="depth"):
        broccoli.synthesize("pendulum", start=start, depth=0)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"engine": "magic"}, "there is no engine"),
        ({"gap": -1.0}, "gap is -1"),
        ({"time_limit": -1.0}, "time_limit"),
    ],
)
def test_wrong_options(option: dict[str, Any], message: str) -> None:
    """What is no option is refused."""
    with pytest.raises(ValueError, match=message):
        broccoli.synthesize("pendulum", **option)
