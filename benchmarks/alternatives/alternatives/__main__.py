"""`cargo xtask bench alternatives`: writes `alternatives.md`, `.json`, `.svg` and `.png`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from alternatives import charts, instances, measure
from alternatives.methods import METHODS
from alternatives.report import header, report

NAME = "cargo xtask bench alternatives"


def main(words: Sequence[str]) -> None:
    """Run what the command line says."""
    listed = instances.read()
    parser = argparse.ArgumentParser(
        prog=NAME, description="Other ways to find a tree, with Broccoli's queries."
    )
    parser.add_argument("--seeds", type=_count, default=10, metavar="N", help="runs of every method [10]")
    parser.add_argument(
        "--factor",
        type=_factors,
        default=[1.0, 10.0, 100.0],
        metavar="F,F",
        help="how many times the queries of the proof [1,10,100]",
    )
    parser.add_argument(
        "--time-limit", type=float, default=10.0, metavar="SECONDS", help="processor time of a run [10]"
    )
    for name, known in (("problems", list(listed)), ("methods", list(METHODS))):
        parser.add_argument(
            f"--{name}",
            type=partial(_some, known=known),
            default=known,
            metavar="A,B",
            help=f"only these of {', '.join(known)}",
        )
    parser.add_argument("--jobs", type=_count, default=1, metavar="N", help="runs at a time [1]")
    parser.add_argument("--output", type=Path, default=Path("target/bench"), metavar="DIR")
    arguments = parser.parse_args(words)
    folder: Path = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    most = max(arguments.factor)
    about = header(_command(words), arguments.time_limit)
    limits = measure.Limits(most, arguments.time_limit)
    problems = [listed[name] for name in arguments.problems]
    for measured in measure.measure(problems, arguments.methods, arguments.seeds, limits, arguments.jobs):
        _write(folder, report(about, measured, arguments.factor), measured, most)
    sys.stderr.write(f"written: alternatives.md, .json, .svg, .png in {folder.resolve()}\n")


def _write(folder: Path, text: str, measured: Sequence[measure.Measured], factor: float) -> None:
    """Write all files; after every seed, so that a run that is ended was not for nothing."""
    (folder / "alternatives.md").write_text(text)
    measure.write_json(measured, folder / "alternatives.json")
    charts.chart(measured, factor, [folder / f"alternatives.{suffix}" for suffix in ("svg", "png")])


def _command(words: Sequence[str]) -> str:
    """Return the command without the folder that it writes to."""
    kept = []
    rest = iter(words)
    for word in rest:
        if word == "--output":
            next(rest, None)
        elif not word.startswith("--output="):
            kept.append(word)
    return " ".join([NAME, *kept])


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        msg = "must be at least 1"
        raise argparse.ArgumentTypeError(msg)
    return count


def _factors(text: str) -> list[float]:
    factors = sorted(float(word) for word in text.split(","))
    if factors[0] <= 0:
        msg = "a factor must be more than 0"
        raise argparse.ArgumentTypeError(msg)
    return factors


def _some(text: str, known: Sequence[str]) -> list[str]:
    chosen = text.split(",")
    for name in chosen:
        if name not in known:
            msg = f"there is no {name!r}; there are: {', '.join(known)}"
            raise argparse.ArgumentTypeError(msg)
    return chosen


if __name__ == "__main__":
    main(sys.argv[1:])
