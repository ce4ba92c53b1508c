"""The chart: the best value so far against queries, a panel for each problem."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from alternatives.measure import Measured, median

COLOURS = {
    "random": "#999999",
    "annealing": "#e69f00",
    "cma-es": "#56b4e9",
    "tpe": "#cc79a7",
    "imitation": "#009e73",
}
"""Colours that the colour-blind can tell apart."""
BROCCOLI = "#000000"
COLUMNS = 3
POINTS = 60


def chart(measured: Sequence[Measured], factor: float, files: Sequence[Path]) -> None:
    """Draw the median of the seeds, the best dotted and down to the worst shaded, up to a number of queries.

    The number is `factor` times that of the proof.
    """
    mpl.rcParams.update({"svg.hashsalt": "alternatives", "svg.fonttype": "none"})
    rows = -(-(len(measured) + 1) // COLUMNS)
    figure = Figure(figsize=(4 * COLUMNS, 3 * rows), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for axes, one in zip(panels, measured, strict=False):
        _panel(axes, one, factor)
    for axes in panels[len(measured) :]:
        axes.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    panels[-1].legend(handles, labels, loc="center")
    for file in files:
        metadata = {"Date": None} if file.suffix == ".svg" else None
        figure.savefig(file, metadata=metadata, dpi=120)


def _panel(axes: Axes, one: Measured, factor: float) -> None:
    axes.axvline(1, color=BROCCOLI, lw=0.8, ls=":")
    axes.axhline(one.proof.value, color=BROCCOLI, lw=0.8, ls="--", label="optimum, proved at 1")
    factors = np.geomspace(1e-3, factor, POINTS)
    for method in one.runs:
        ranges = [one.values(method, at) for at in factors]
        nan = float("nan")
        middle, best = (
            [nan if v is None else v for v in listed]
            for listed in ([median(values) for values in ranges], [values[0] for values in ranges])
        )
        worst = [nan if values[-1] is None else values[-1] for values in ranges]
        colour = COLOURS.get(method)
        axes.plot(factors, middle, color=colour, label=method, drawstyle="steps-post")
        axes.plot(factors, best, color=colour, lw=0.6, ls=":", drawstyle="steps-post")
        axes.fill_between(factors, middle, worst, color=colour, alpha=0.12, lw=0, step="post")
    points = one.proof.points
    axes.plot(
        [*(point.queries / one.proof.queries for point in points), 1],
        [*(point.value for point in points), one.proof.value],
        color=BROCCOLI,
        label="Broccoli",
        drawstyle="steps-post",
    )
    axes.set(xscale="log", yscale="log", xlim=(1e-3, factor))
    axes.set_title(f"{one.instance.name} ({'fewest' if one.is_reach else 'most'} steps)", fontsize=10)
    axes.set_xlabel("queries / queries of the proof", fontsize=8)
