"""Plots: what is drawn, not how it looks."""

from __future__ import annotations

from typing import Any, cast

import matplotlib as mpl
import pytest
from systems import CART, Cart

import broccoli
from broccoli import plots

mpl.use("Agg")

PROBLEM = broccoli.Problem(Cart, **CART)
OUTCOME = PROBLEM.solve()
TREE = cast("broccoli.Tree", OUTCOME.tree)
TRACES = [PROBLEM.trace(TREE, i) for i in range(2)]


def test_tree() -> None:
    """Every predicate and every leaf is a text, and so is the answer on every edge."""
    ax = plots.tree(TREE)
    texts = [text.get_text() for text in ax.texts]
    assert sum(">=" in text for text in texts) == TREE.size
    assert sum(text in ("back", "forth") for text in texts) == TREE.size + 1
    assert texts.count("yes") == texts.count("no") == TREE.size
    assert plots.tree(PROBLEM.policy(TREE), ax) is ax


def test_traces() -> None:
    """A row per dimension, a line per trace, and a background per action."""
    figure = plots.traces(TRACES)
    assert [ax.get_ylabel() for ax in figure.axes] == ["position", "speed"]
    for ax in figure.axes:
        assert [len(line.get_ydata()) for line in ax.lines] == [len(t.observations) for t in TRACES]  # type: ignore[arg-type]
        spans = sum(len(collection.get_paths()) for collection in ax.collections)
        assert spans == len(TRACES[0].actions)
    assert len(plots.traces(TRACES[0], ["speed"]).axes) == 1
    with pytest.raises(ValueError, match="there is no dimension 'height'"):
        plots.traces(TRACES, ["height"])
    with pytest.raises(ValueError, match="no trace"):
        plots.traces([])


def test_partition() -> None:
    """Every patch has the colour of the action taken there, and together they fill the plane."""
    ax = plots.partition(TREE, "position", "speed", ranges=((0, 10), (-1, 1)), traces=TRACES)
    area = 0.0
    for patch in ax.patches:
        box = patch.get_path().get_extents()
        area += box.width * box.height
        centre = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
        assert mpl.colors.same_color(patch.get_facecolor()[:3], plots.COLOURS[TREE.action(centre)])
    assert area == pytest.approx(20)
    assert len(ax.lines) == 2 * len(TRACES)
    fitted = plots.partition(TREE, "speed", "position", traces=TRACES, at={"speed": 0.5})
    assert fitted.get_ylim()[1] > 9


def test_anytime() -> None:
    """Value and bound meet at the end."""
    lines: Any = plots.anytime(OUTCOME).lines
    assert [line.get_ydata()[-1] for line in lines] == [OUTCOME.value] * 2
    assert all(list(line.get_xdata()) == sorted(line.get_xdata()) for line in lines)
