"""Plots with matplotlib: the tree, traces over time, the partition of the state space, the anytime curve.

Every function draws on the `ax` that it is given, or on a new figure, and returns what it drew on.
`pip install 'broccoli-trees[plots]'` installs what they need.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from broccoli._broccoli import Tree
from broccoli.outcome import Outcome, Trace
from broccoli.policy import Policy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
"""Colours of actions, which the colour-blind can tell apart."""


def tree(tree: Tree | Policy, ax: Axes | None = None) -> Axes:
    """Draw a tree: true children on the left."""
    plotted = tree.tree if isinstance(tree, Policy) else tree
    ax = _axes(ax)
    ax.set_axis_off()
    _draw(json.loads(plotted.to_json()), 0, [0], ax)
    ax.margins(0.15)
    return ax


def traces(traces: Sequence[Trace] | Trace, dimensions: Sequence[str] | None = None) -> Figure:
    """Draw dimensions over time, one row each, with the actions of the first trace as background."""
    import matplotlib.pyplot as plt

    runs = [traces] if isinstance(traces, Trace) else list(traces)
    if not runs:
        msg = "there is no trace to draw"
        raise ValueError(msg)
    first = runs[0]
    chosen = list(dimensions or first.names)
    figure, rows = plt.subplots(
        len(chosen), 1, sharex=True, squeeze=False, figsize=(8, 1.6 * len(chosen) + 0.8)
    )
    for ax, name in zip(rows[:, 0], chosen, strict=True):
        column = _index(first.names, name)
        for action in range(len(first.action_names)):
            spans = [(step, 1) for step, applied in enumerate(first.actions) if applied == action]
            ax.broken_barh(
                spans, (0, 1), transform=ax.get_xaxis_transform(), color=_colour(action), alpha=0.25, lw=0
            )
        for run in runs:
            ax.plot([observation[column] for observation in run.observations], color="black", lw=1, alpha=0.8)
        ax.set_ylabel(name)
    rows[-1, 0].set_xlabel("step")
    _legend(rows[0, 0], first.action_names)
    return figure


def partition(
    tree: Tree | Policy,
    x: str,
    y: str,
    *,
    ranges: tuple[tuple[float, float], tuple[float, float]] | None = None,
    at: Mapping[str, float] | None = None,
    traces: Sequence[Trace] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw which action a tree takes over two dimensions, with traces on it.

    Other dimensions are held at the values in `at`, or at 0. Without `ranges` the plane is as large as the
    traces and the tree's thresholds need.
    """
    plotted = tree.tree if isinstance(tree, Policy) else tree
    names = plotted.dimensions
    i, j = _index(names, x), _index(names, y)
    point = [0.0] * len(names)
    for name, value in (at or {}).items():
        point[_index(names, name)] = value
    ax = _axes(ax)
    (left, right), (bottom, top) = ranges or (_range(plotted, i, traces), _range(plotted, j, traces))
    edges = [
        sorted({low, high, *_inside(plotted, k, low, high)})
        for k, low, high in ((i, left, right), (j, bottom, top))
    ]
    for west, east in zip(edges[0], edges[0][1:], strict=False):
        for south, north in zip(edges[1], edges[1][1:], strict=False):
            point[i], point[j] = (west + east) / 2, (south + north) / 2
            colour = _colour(plotted.action(point))
            ax.fill([west, east, east, west], [south, south, north, north], color=colour, alpha=0.35, lw=0)
    for run in traces:
        columns = list(zip(*run.observations, strict=True))
        ax.plot(columns[i], columns[j], color="black", lw=1)
        ax.plot(columns[i][0], columns[j][0], "o", color="black", ms=4)
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=x, ylabel=y)
    _legend(ax, plotted.actions)
    return ax


def anytime(outcome: Outcome, ax: Axes | None = None) -> Axes:
    """Draw value and bound against queries."""
    ax = _axes(ax)
    history = [(p.queries, p.value, p.bound) for p in outcome.history]
    history.append((outcome.statistics.queries, outcome.value, outcome.bound))
    for label, colour, points in (
        ("value", COLOURS[0], [(queries, value) for queries, value, _ in history if value is not None]),
        ("bound", COLOURS[1], [(queries, bound) for queries, _, bound in history if bound is not None]),
    ):
        ax.step([x for x, _ in points], [y for _, y in points], where="post", label=label, color=colour)
    ax.set(xlabel="queries", ylabel="steps")
    ax.legend()
    return ax


def _draw(node: dict[str, Any], depth: int, next_leaf: list[int], ax: Axes) -> float:
    """Draw a subtree, its leaves side by side, and return where its root is."""
    if "action" in node:
        place: float = next_leaf[0]
        next_leaf[0] += 1
        text, style = node["name"], {"boxstyle": "square", "fc": _colour(node["action"]), "alpha": 0.35}
    else:
        children = [_draw(node[key], depth + 1, next_leaf, ax) for key in ("true", "false")]
        place = sum(children) / 2
        for child, word in zip(children, ("yes", "no"), strict=True):
            ax.plot([place, child], [-depth, -depth - 1], color="grey", lw=1, zorder=0)
            ax.text((place + child) / 2, -depth - 0.5, word, ha="center", va="center", fontsize="small")
        text, style = f"{node['name']} >= {node['threshold']:g}", {"boxstyle": "round", "fc": "white"}
    ax.text(place, -depth, text, ha="center", va="center", bbox=style)
    ax.plot(place, -depth, alpha=0)
    return place


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _colour(action: int) -> str:
    return COLOURS[action % len(COLOURS)]


def _legend(ax: Axes, names: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    ax.legend(
        handles=[Patch(color=_colour(i), alpha=0.35, label=name) for i, name in enumerate(names)],
        loc="upper right",
    )


def _index(names: Sequence[str], name: str) -> int:
    if name not in names:
        msg = f"there is no dimension {name!r}; there are: {', '.join(names)}"
        raise ValueError(msg)
    return list(names).index(name)


def _thresholds(node: dict[str, Any], dimension: int) -> list[float]:
    if "action" in node:
        return []
    own = [node["threshold"]] if node["feature"] == dimension else []
    return own + _thresholds(node["true"], dimension) + _thresholds(node["false"], dimension)


def _inside(tree: Tree, dimension: int, low: float, high: float) -> list[float]:
    return [t for t in _thresholds(json.loads(tree.to_json()), dimension) if low < t < high]


def _range(tree: Tree, dimension: int, traces: Sequence[Trace]) -> tuple[float, float]:
    seen = [observation[dimension] for run in traces for observation in run.observations]
    values = seen + _thresholds(json.loads(tree.to_json()), dimension)
    low, high = min(values, default=-1.0), max(values, default=1.0)
    margin = 0.1 * (high - low) or 1.0
    return low - margin, high + margin
