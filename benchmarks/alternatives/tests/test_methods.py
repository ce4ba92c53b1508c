"""Every method for a short while, and the report of it all."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from alternatives.__main__ import main
from alternatives.arena import Arena, Point, Run, Spent
from alternatives.expert import Expert
from alternatives.instances import Instance, read
from alternatives.measure import Limits, Measured, Proof, measure, median
from alternatives.methods import METHODS

SMALL = Instance("small", "mountain-car", 2, (0.18, 0.014), first_horizon=500)


@pytest.mark.parametrize("method", METHODS)
def test_methods_find_trees_and_keep_to_their_queries(method: str) -> None:
    """Better and better, but never better than the optimum; and the same for the same seed."""
    ((first,),), ((again,),) = (
        list(measure([read()["mountain-car"]], [method], 1, Limits(1, 1))) for _ in range(2)
    )
    (run,), (other,) = first.runs[method], again.runs[method]
    assert 0 < run.queries <= first.proof.queries
    ranks, others = ([(point.value, point.size) for point in points] for points in (run.points, other.points))
    assert ranks == sorted(set(ranks), reverse=True)
    assert ranks[-1] >= (first.proof.value, first.proof.size)
    # Time may have ended one of them earlier.
    assert all(one == two for one, two in zip(ranks, others, strict=False))


def test_every_query_is_counted() -> None:
    """A tree costs the steps of its run; one that would cost too much does not count."""
    arena = Arena(SMALL, 200, 60)
    flat = (1, 0.0, 1, 0)
    assert arena.evaluate(flat, 500) == 125
    assert arena.run == Run([Point(125, arena.run.seconds, 125, 1)], 125, 1, arena.run.seconds)
    with pytest.raises(Spent):
        arena.evaluate(flat, 500)
    assert (arena.run.queries, arena.run.trees, arena.run.ended_by) == (200, 1, "queries")


def test_time_ends_a_run() -> None:
    """And the report can tell."""
    arena = Arena(SMALL, 10**9, 0)
    with pytest.raises(Spent):
        arena.evaluate(0, 10)
    assert arena.run.ended_by == "time"
    assert not arena.run.reached(100)
    assert arena.run.reached(10)


def test_the_expert_is_as_good_as_a_table_can_be() -> None:
    """On a coarse grid it drives up the hill, and says that the other way is worse there."""
    expert = Expert("mountain-car", ((-1.2, 0.6, 37), (-0.07, 0.07, 37)))
    assert 0 < expert.queries <= 2 * 37 * 37
    (left, right), (low, high) = expert.costs(np.array([[0.3, 0.05], [-0.5, 0.0]]))
    assert right < left < low < 200
    assert high < 200


def test_medians_and_hits() -> None:
    """A seed without a tree is worse than all others."""
    runs = [Run([Point(5, 0, value, 3)]) for value in (110, 104)] + [Run()]
    one = Measured(SMALL, True, Proof(104, 3, 10, 0.0, [Point(9, 0, 104, 3)]), {"random": runs})
    assert one.values("random", 1) == [104, 110, None]
    assert one.values("random", 0.1) == [None, None, None]
    assert median(one.values("random", 1)) == 110
    assert (one.hits("random", 1), one.hits("random", 0.1)) == (1, 0)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It writes its four files; wrong words are refused."""
    words = "--problems mountain-car --methods random,annealing --seeds 2 --factor 1,2 --time-limit 2"
    main([*words.split(), "--output", str(tmp_path)])
    text = (tmp_path / "alternatives.md").read_text()
    assert f"`cargo xtask bench alternatives {words}`" in text
    assert "| mountain-car | 104 |" in text
    (listed,) = json.loads((tmp_path / "alternatives.json").read_text())
    assert len(listed["runs"]["annealing"]) == 2
    assert (tmp_path / "alternatives.svg").stat().st_size > 1000
    assert (tmp_path / "alternatives.png").stat().st_size > 1000
    for wrong in (["--problems", "moon"], ["--seeds", "0"], ["--factor", "-1"]):
        with pytest.raises(SystemExit):
            main(wrong)
    assert "there is no 'moon'" in capsys.readouterr().err
