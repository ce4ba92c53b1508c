"""All numbers as thresholds: no grid, and everything else as with one."""

from __future__ import annotations

import json
import logging
import math
import os
import pickle
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from systems import CART, Cart, SnapshotCart, StatefulCart

import broccoli
from broccoli import Outcome, Predicates, plots

CLI = os.environ.get("BROCCOLI_CLI", "broccoli")

FREE: dict[str, Any] = CART | {"dimensions": ["position", "speed"], "thresholds": "all", "horizon": 60}
"""The cart of the other tests, without a grid and without ranges."""

PENDULUM: dict[str, Any] = {"initial": [(-0.665, -0.024)]}


def worth(outcome: Outcome) -> tuple[Any, ...]:
    """Return what is proved."""
    return outcome.status, outcome.value, outcome.bound, outcome.size


@pytest.mark.parametrize(
    ("arguments", "given", "value"),
    [
        (["pendulum", "--initial=-0.665,-0.024"], {"initial": [(-0.665, -0.024)]}, 44),
        pytest.param(["cartpole"], {}, 10_000, marks=pytest.mark.long),
    ],
)
def test_answers_are_those_of_the_command_line(
    arguments: list[str], given: dict[str, Any], value: int
) -> None:
    """Value, tree and counts."""
    command = [CLI, "solve", *arguments, "--depth", "2", "--thresholds", "all", "--threads", "1", "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    expected = json.loads(ran.stdout)
    outcome = broccoli.synthesize(arguments[0], depth=2, thresholds="all", **given)
    assert (outcome.status, outcome.value, outcome.bound) == ("optimal", value, value)
    assert outcome.tree is not None
    assert json.loads(outcome.tree.to_json()) == expected["tree"]
    for name in ("queries", "queries_confirming", "necessary_queries", "traces"):
        assert getattr(outcome.statistics, name) == expected[name]
    assert len(outcome.intervals) == outcome.size
    assert None not in outcome.intervals


def test_known_answer() -> None:
    """CartPole survives its whole horizon; what the command line says of it, see above, takes a while."""
    outcome = broccoli.synthesize("cartpole", thresholds="all")
    assert (outcome.status, outcome.value, outcome.size) == ("optimal", 10_000, 2)
    assert None not in outcome.intervals


def nested(node: dict[str, Any], thresholds: list[float]) -> Any:
    """Return a tree as tuples, with other thresholds, given in preorder."""
    if "action" in node:
        return node["action"]
    threshold = thresholds.pop(0)
    sides = [nested(node[side], thresholds) for side in ("true", "false")]
    return node["feature"], threshold, *sides


def in_preorder(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the predicates of a tree."""
    return [] if "action" in node else [node, *in_preorder(node["true"]), *in_preorder(node["false"])]


def test_intervals_are_of_thresholds_that_would_do() -> None:
    """At their ends the runs are the same, and these are values that were seen."""
    problem = broccoli.Problem("pendulum", thresholds="all", initial=[(-0.665, -0.024)])
    outcome = problem.solve()
    assert outcome.tree is not None
    tree = json.loads(outcome.tree.to_json())
    nodes = in_preorder(tree)
    own = [node["threshold"] for node in nodes]
    expected = problem.trace(outcome.tree)
    assert len(outcome.intervals) == len(own) > 0
    for place, interval in enumerate(outcome.intervals):
        assert interval is not None
        low, high = interval
        assert low < own[place] <= high
        seen = {observation[nodes[place]["feature"]] for observation in expected.observations}
        assert {low, high} <= seen | {-math.inf, math.inf}
        for threshold in (math.nextafter(low, math.inf), high):
            if math.isfinite(threshold):
                other = problem.tree(nested(tree, [*own[:place], threshold, *own[place + 1 :]]))
                assert problem.trace(other) == expected
    assert pickle.loads(pickle.dumps(outcome)).intervals == outcome.intervals


def test_dimensions_with_and_without_a_grid() -> None:
    """By name, by index, in a sequence, by the word or by `Predicates`: the same problem."""
    ways: list[Any] = [
        {"angle": "all", "velocity": 20},
        {0: Predicates.all(), 1: 20},
        ["all", Predicates.count(20)],
    ]
    problems = [broccoli.Problem("pendulum", **PENDULUM, thresholds=way) for way in ways]
    first = problems[0].solve()
    for problem in problems:
        assert problem.thresholds["angle"] == "all"
        assert len(problem.thresholds["velocity"]) == 20
        assert worth(problem.solve()) == worth(first)
        assert problem.solve().tree == first.tree
        assert "2 dimensions, 20 thresholds and all of angle, " in repr(problem)
        again = pickle.loads(pickle.dumps(problem))
        assert again.thresholds == problem.thresholds
        assert repr(again) == repr(problem)
    assert first.tree is not None
    asked = [node["name"] for node in in_preorder(json.loads(first.tree.to_json()))]
    assert [interval is not None for interval in first.intervals] == [name == "angle" for name in asked]
    only = broccoli.Problem("pendulum", **PENDULUM, thresholds={"velocity": "all"})
    assert only.thresholds == {"angle": [], "velocity": "all"}
    assert "all thresholds of velocity, " in repr(only)
    every = broccoli.Problem("pendulum", **PENDULUM, thresholds=Predicates.all())
    assert every.thresholds == {"angle": "all", "velocity": "all"}
    assert "2 dimensions, all thresholds, " in repr(every)
    grid = broccoli.synthesize("pendulum", **PENDULUM, thresholds=20)
    assert grid.intervals == (None,) * len(grid.intervals)
    assert len(grid.intervals) == grid.size
    values = [outcome.value for outcome in (every.solve(), first, grid) if outcome.value is not None]
    assert values == sorted(values)
    assert len(values) == 3
    # A mixed grid may also list its thresholds.
    listed: Any = {"angle": [-0.5, 0.0], "velocity": "all"}
    assert broccoli.Problem("pendulum", thresholds=listed).thresholds["angle"] == [-0.5, 0.0]
    with pytest.raises(ValueError, match="the threshold 11 is outside"):
        broccoli.Problem(Cart, **CART | {"thresholds": {"position": [11.0], "speed": "all"}})


@pytest.mark.parametrize("wrong", ["some", "ALL", "", ["all", "some"], {"position": "some"}, {0: "al"}])
def test_wrong_words(wrong: Any) -> None:
    """They are refused, and the right one is named."""
    with pytest.raises(TypeError, match=r'are no thresholds: .*"all"'):
        broccoli.Problem(Cart, **CART | {"thresholds": wrong})


def test_wrong_use() -> None:
    """Too few, unknown names, and words where numbers belong."""
    for wrong, message in (
        (["all"], "1 given for 2 dimensions"),
        ({"speeed": "all"}, "there is no dimension 'speeed'"),
        ({2: "all"}, "there is no dimension 2"),
    ):
        with pytest.raises(ValueError, match=message):
            broccoli.Problem(Cart, **CART | {"thresholds": wrong})
    with pytest.raises(TypeError):
        Predicates.all(3)  # type: ignore[call-arg]
    with pytest.raises(ValueError):  # noqa: PT011
        Predicates.list("all")  # type: ignore[arg-type]


def test_without_thresholds_all_numbers_count(caplog: pytest.LogCaptureFixture) -> None:
    """Where there is no grid by default; and a line says so."""
    given: dict[str, Any] = {key: value for key, value in FREE.items() if key != "thresholds"}
    with caplog.at_level(logging.INFO, logger="broccoli"):
        problem = broccoli.Problem(Cart, **given)
    assert any("all numbers are thresholds of position, speed" in message for message in caplog.messages)
    assert problem.thresholds == {"position": "all", "speed": "all"}
    assert "2 dimensions, all thresholds, " in repr(problem)
    assert worth(problem.solve()) == worth(broccoli.synthesize(Cart, **FREE))
    # Built-in environments have grids.
    assert "all" not in broccoli.Problem("pendulum").thresholds.values()


def test_a_gymnasium_environment_without_thresholds() -> None:
    """Neither thresholds nor ranges have to be known."""
    gymnasium = pytest.importorskip("gymnasium")
    given: dict[str, Any] = {"seeds": [0], "objective": "survive", "horizon": 100, "depth": 1}
    problem = broccoli.Problem("CartPole-v1", **given)
    assert set(problem.thresholds.values()) == {"all"}
    assert "4 dimensions, all thresholds, " in repr(problem)
    outcome = problem.solve()
    assert outcome.status == "optimal"
    coarse = broccoli.synthesize("CartPole-v1", **given, thresholds=5)
    assert outcome.value is not None
    assert coarse.value is not None
    assert outcome.value >= coarse.value
    # What is proved is true of the environment itself.
    env = gymnasium.make("CartPole-v1")
    observation, _ = env.reset(seed=0)
    steps, is_over = 0, False
    while not is_over and steps < 100:
        observation, _, is_over, _, _ = env.step(outcome.policy(observation))  # type: ignore[misc]
        steps += 1
    assert steps == outcome.value


@pytest.mark.parametrize("system", [Cart, StatefulCart, SnapshotCart])
@pytest.mark.parametrize("form", ["light", "full"])
def test_certificates(system: type, form: Any, tmp_path: Path) -> None:
    """Of systems in Python."""
    problem = broccoli.Problem(system, **FREE)
    file = tmp_path / "proof"
    outcome = problem.solve(certificate=file, certificate_form=form)
    assert outcome.status == "optimal"
    checked = problem.verify(file)
    assert checked
    assert (checked.claim, checked.value, checked.tree) == ("optimal", outcome.value, outcome.tree)
    with pytest.raises(ValueError, match="another problem"):
        broccoli.Problem(
            system, **FREE | {"thresholds": ["all", 9], "dimensions": CART["dimensions"]}
        ).verify(file)
    if form == "full":
        assert problem.verify(file, record_only=True).status == "recorded"
    checker = Path(__file__).parents[2] / "tests" / "certificates" / "checker.py"
    if form == "full" and system is Cart:  # it takes its time
        command = [sys.executable, str(checker), str(file)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        assert ran.stdout == "verified\n"


@pytest.mark.parametrize("form", ["light", "full"])
def test_certificates_of_built_in_environments(form: Any, tmp_path: Path) -> None:
    """With and without the problem, and by the command line."""
    problem = broccoli.Problem("pendulum", **PENDULUM, thresholds={"angle": "all", "velocity": 5})
    file = tmp_path / "proof"
    outcome = problem.solve(certificate=file, certificate_form=form)
    for checked in (problem.verify(file), broccoli.verify(file)):
        assert checked
        assert (checked.value, checked.tree) == (outcome.value, outcome.tree)
        assert any("all" in choice for choice in checked.choices)
    ran = subprocess.run([CLI, "verify", str(file), "--json"], capture_output=True, text=True, check=False)
    assert json.loads(ran.stdout)["status"] == "verified", ran.stderr


def test_a_search_that_is_stopped_goes_on(tmp_path: Path) -> None:
    """Its checkpoint knows that there is no grid."""
    file = tmp_path / "search.json"
    expected = broccoli.synthesize(Cart, **FREE)
    stopped = broccoli.synthesize(Cart, **FREE, checkpoint=file, query_limit=expected.statistics.queries // 2)
    assert stopped.status == "stopped"
    with pytest.raises(ValueError, match=r"of another problem: `dimensions\[1\].thresholds"):
        broccoli.synthesize(Cart, **FREE | {"thresholds": {0: "all", 1: [0.0]}}, checkpoint=file)
    outcome = broccoli.synthesize(Cart, **FREE, checkpoint=file)
    assert worth(outcome) == worth(expected)
    assert not file.exists()


def test_a_tree_to_start_from_may_have_any_thresholds() -> None:
    """If it is optimal it is the answer, as it is."""
    problem = broccoli.Problem(Cart, **FREE)
    best = problem.solve()
    assert best.tree is not None
    tree = json.loads(best.tree.to_json())
    highest = [high if math.isfinite(high) else low + 1 for low, high in filter(None, best.intervals)]
    start = problem.tree(nested(tree, highest))
    again = problem.solve(start=start)
    assert worth(again) == worth(best)
    assert again.tree == start
    assert len(again.intervals) == best.size
    poor = problem.tree(("position", 1 / 3, "back", "forth"))
    assert worth(problem.solve(start=poor)) == worth(best)
    with pytest.raises(ValueError, match="threshold"):
        broccoli.Problem(Cart, **FREE | {"thresholds": {"position": "all"}}).solve(
            start=problem.tree(("speed", 0.125, "back", "forth"))
        )


@pytest.mark.parametrize(
    "options", [{"threads": 2}, {"memory_limit": 1000}, {"gap": 0.0}, {"batch_size": 1}], ids=str
)
def test_other_ways_to_search(options: dict[str, Any]) -> None:
    """They prove the same."""
    assert worth(broccoli.synthesize(Cart, **FREE, **options)) == worth(broccoli.synthesize(Cart, **FREE))


@pytest.mark.parametrize("engine", ["backtracking", "exhaustive"])
def test_engines_that_need_a_grid_say_so(engine: Any, tmp_path: Path) -> None:
    """By name, and before they search."""
    with pytest.raises(ValueError, match=rf"engine `{engine}` .* listed only: use `behaviour`"):
        broccoli.synthesize(Cart, **FREE, engine=engine, checkpoint=tmp_path / "search.json")
    with pytest.raises(ValueError, match=r"engine `backtracking` .*: use `behaviour`"):
        broccoli.synthesize("cartpole", objective="return", thresholds=2, depth=1, engine="backtracking")


def test_fronts_prices_and_all_optimal_trees() -> None:
    """The best tree of every size, the cheapest, and all; these are told apart by what they do."""
    problem = broccoli.Problem(Cart, **FREE)
    best = problem.solve()
    front = problem.solve(pareto=True)
    assert worth(front) == worth(best)
    for part in front.front:
        alone = broccoli.synthesize(Cart, **FREE, nodes=part.sizes[-1])
        assert (part.status, part.value) == (alone.status, alone.value)
        assert (part.policy and part.policy.tree) == alone.tree
    priced = broccoli.synthesize(Cart, **FREE, prices={"position": 2, "speed": 1})
    assert worth(priced) == worth(best)
    assert priced.price is not None
    assert len(priced.intervals) == priced.size
    optimal = problem.solve(all_optimal=5)
    assert worth(optimal) == worth(best)
    assert optimal.optimal[0].tree == optimal.tree
    trees = [policy.tree for policy in optimal.optimal]
    assert len(set(trees)) == len(trees)
    assert {problem.evaluate(tree).value for tree in trees} == {best.value}
    assert {tree.size for tree in trees} == {best.size}


@pytest.mark.parametrize(
    "goal",
    [
        {"objective": "return", "over": "mean", "rewards": (0, 1)},
        {"over": "mean", "initial": [(0.01, 0.02, 0.03, 0.04), (0.0, 0.0, 0.05, 0.0)]},
        {"over": "sum"},
        {"weights": [2]},
    ],
    ids=str,
)
def test_other_objectives(goal: dict[str, Any]) -> None:
    """No grid is ever worse than one."""
    given: dict[str, Any] = {"depth": 1, "horizon": 60} | goal
    free = broccoli.synthesize("cartpole", **given, thresholds="all")
    grid = broccoli.synthesize("cartpole", **given, thresholds=4)
    assert free.status == "optimal"
    assert free.value is not None
    assert grid.value is not None
    assert free.value >= grid.value


def test_arrays_in_batches() -> None:
    """Many steps at a time."""
    np = pytest.importorskip("numpy")

    class Carts:
        def reset(self, initial: float) -> Any:
            state = np.array([initial, 0.0])
            return state, state, Cart().reset(initial)[2].value

        def step_batch(self, states: Any, actions: Any) -> Any:
            speed = states[:, 1] + actions
            position = states[:, 0] + speed
            is_there = (abs(position - 5) <= 0.5) & (abs(speed) <= 0.1)
            states = np.stack([position, speed], axis=1)
            return states, states, is_there.astype(int)

    alone, together = broccoli.synthesize(Cart, **FREE), broccoli.synthesize(Carts, **FREE)
    assert worth(together) == worth(alone)
    assert (together.tree, together.intervals) == (alone.tree, alone.intervals)


def test_plots_and_evaluation() -> None:
    """What is done with a tree does not ask where its thresholds come from."""
    problem = broccoli.Problem(Cart, **FREE)
    outcome = problem.solve()
    assert outcome.tree is not None
    assert problem.evaluate(outcome.tree).value == outcome.value
    runs = [problem.trace(outcome.tree, i) for i in range(2)]
    assert max(run.value for run in runs if run.value is not None) == outcome.value
    assert plots.partition(outcome.tree, "position", "speed", traces=runs).patches
    assert plots.tree(outcome.tree).texts
    assert plots.anytime(outcome).lines
    assert len(plots.traces(runs).axes) == 2
    impossible = broccoli.Problem(Cart, **FREE | {"horizon": 3})
    assert impossible.solve().status == "infeasible"
    assert impossible.solve().intervals == ()
    assert impossible.infeasible_states() == ([0, 1], [])


class Walk:
    """A system in a table."""

    def __init__(
        self, seen: list[tuple[float, ...]], following: list[list[int]], verdicts: list[str]
    ) -> None:
        self.seen, self.following, self.verdicts = seen, following, verdicts

    def reset(self, initial: int) -> tuple[int, tuple[float, ...], str]:
        """Start in a state."""
        return initial, self.seen[initial], self.verdicts[initial]

    def step(self, state: int, action: int) -> tuple[int, tuple[float, ...], str]:
        """Look up what comes next."""
        return self.reset(self.following[state][action])


def between(values: list[float], is_upper: bool) -> list[float]:
    """Return a threshold between every two neighbouring values."""
    ordered = sorted({value + 0.0 for value in values})
    found = [
        high if is_upper or not low < low / 2 + high / 2 <= high else low / 2 + high / 2
        for low, high in pairwise(ordered)
    ]
    return [threshold for threshold in found if math.isfinite(threshold)]


@st.composite
def walks(draw: st.DrawFn) -> tuple[Walk, int]:
    """Draw a small system, and how many dimensions it has."""
    count, width = draw(st.integers(2, 7)), draw(st.integers(1, 2))
    near = st.sampled_from([-0.0, 0.0, 5e-324, 1.0, math.nextafter(1.0, 2.0), 2.0, -3.5])
    value = draw(st.sampled_from([near, st.integers(0, 3).map(float), st.floats(allow_nan=False)]))
    states = range(count)
    return (
        Walk(
            [tuple(draw(value) for _ in range(width)) for _ in states],
            [[draw(st.integers(0, count - 1)) for _ in range(2)] for _ in states],
            [draw(st.sampled_from(["running"] * 4 + ["satisfied", "violated"])) for _ in states],
        ),
        width,
    )


@settings(max_examples=150, deadline=None)
@given(
    walks(),
    st.sampled_from(["reach", "survive"]),
    st.integers(0, 2),
    st.lists(st.booleans(), min_size=2, max_size=2),
    st.booleans(),
)
def test_a_grid_that_tells_all_values_apart_is_as_good(
    drawn: tuple[Walk, int], objective: Any, depth: int, free: list[bool], is_upper: bool
) -> None:
    """The same value and size, also where only some dimensions are without a grid."""
    walk, width = drawn
    grid: list[Any] = [between(list(column), is_upper) for column in zip(*walk.seen, strict=True)]
    mixed = ["all" if is_free else thresholds for is_free, thresholds in zip(free, grid, strict=False)]
    common: dict[str, Any] = {
        "dimensions": ["x", "y"][:width],
        "actions": [0, 1],
        "initial": [0, 1],
        "objective": objective,
        "horizon": 9,
        "depth": depth,
    }
    expected = broccoli.synthesize(walk, **common, thresholds=grid)
    each: list[Any] = ["all", mixed]
    for thresholds in each:
        outcome = broccoli.synthesize(walk, **common, thresholds=thresholds)
        assert worth(outcome) == worth(expected)
        if outcome.tree is not None:
            problem = broccoli.Problem(walk, **common, thresholds=thresholds)
            assert problem.evaluate(outcome.tree).value == expected.value
            assert len(outcome.intervals) == outcome.size
