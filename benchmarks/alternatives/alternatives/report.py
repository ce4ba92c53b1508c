"""The report in Markdown."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from alternatives.measure import Measured, median

NOTES = """\
Broccoli's queries are those of its proof; every method has that many (1x), and then more.
Values are steps: the median of the seeds, the best and the worst in parentheses; a dash means no tree that
reaches the goal. *optimum*: how many seeds have the optimal value, and in parentheses how many a tree that
is optimal in size, too. An asterisk: some runs were ended by time before they had made their queries. No
method but Broccoli can say that its tree is the best, or how far from it.
"""

DASH = "\N{EN DASH}"


def header(command: str, limit: float) -> list[str]:
    """Return what the figures depend on; to be asked for before they are measured."""
    return [
        "# Alternatives",
        "",
        f"- machine: {_processor()}, {os.cpu_count()} cores, one thread",
        f"- date: {datetime.now(UTC).date()}",
        f"- command: `{command}`",
        f"- commit: {_commit()}",
        f"- limit: {limit:g} s of processor time a run",
    ]


def report(header: Sequence[str], measured: Sequence[Measured], factors: Sequence[float]) -> str:
    """Return the whole report."""
    lines = [
        *header,
        f"- seeds: {len(next(iter(measured[0].runs.values())))}",
        "",
        NOTES,
        "## Seeds with the optimal value",
        "",
        f"With {', '.join(f'{factor:g}' for factor in factors)} times the queries of the proof.",
        "",
        *_summary(measured, factors),
    ]
    for one in measured:
        lines += ["", *_section(one, factors)]
    return "\n".join(lines) + "\n"


def _summary(measured: Sequence[Measured], factors: Sequence[float]) -> list[str]:
    methods = list(measured[0].runs)
    lines = [
        f"| problem | optimum | queries of the proof | {' | '.join(methods)} |",
        f"|---|--:|--:|{'--:|' * len(methods)}",
    ]
    for one in measured:
        cells = [", ".join(_hits(one, method, factor) for factor in factors) for method in methods]
        proof = one.proof
        lines.append(f"| {one.instance.name} | {proof.value} | {proof.queries:,} | {' | '.join(cells)} |")
    return lines


def _hits(one: Measured, method: str, factor: float) -> str:
    return f"{one.hits(method, factor)}{'*' if one.is_cut(method, factor) else ''}"


def _section(one: Measured, factors: Sequence[float]) -> list[str]:
    proof = one.proof
    wanted = "fewest steps" if one.is_reach else "most steps"
    heads = [cell for factor in factors for cell in (f"{factor:g}x", "optimum")]
    lines = [
        f"## {one.instance.name}",
        "",
        f"{str(one.instance).capitalize()}; {wanted}. Broccoli: {proof.value} steps, {proof.size} nodes, "
        f"found after {proof.found:,} queries, proved after {proof.queries:,} ({proof.seconds:.2f} s).",
        "",
        f"| method | {' | '.join(heads)} | trees tried | seconds |",
        f"|---|{'--:|' * (len(heads) + 2)}",
    ]
    for method, runs in one.runs.items():
        cells = []
        for factor in factors:
            cells += [_spread(one.values(method, factor)), _both(one, method, factor)]
        trees = sorted(run.trees for run in runs)[len(runs) // 2]
        seconds = sorted(run.seconds for run in runs)[len(runs) // 2]
        lines.append(f"| {method} | {' | '.join(cells)} | {trees:,} | {seconds:.1f} |")
    return lines


def _spread(values: Sequence[int | None]) -> str:
    middle, best, worst = (
        DASH if value is None else str(value) for value in (median(values), values[0], values[-1])
    )
    return middle if best == worst else f"{middle} ({best} to {worst})"


def _both(one: Measured, method: str, factor: float) -> str:
    return f"{_hits(one, method, factor)} ({one.hits(method, factor, smallest=True)})"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _commit() -> str:
    folder = Path(__file__).parent

    def git(*words: str) -> str:
        ran = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=False)
        return ran.stdout.strip()

    commit = git("rev-parse", "--short", "HEAD") or "unknown"
    return f"{commit} with changes" if git("status", "--porcelain") else commit
