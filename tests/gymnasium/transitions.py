"""What is asked of the program `transitions`, which steps our environments, and what it answers."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

State = tuple[float, ...]


class Query(NamedTuple):
    """One step that is asked for: where, with which of which actions, from which state."""

    environment: str
    actions: tuple[str, ...]
    action: int
    state: State


class Answer(NamedTuple):
    """What one step led to."""

    verdict: str
    state: State


class Transitions:
    """The program, one process for every batch of queries."""

    def __init__(self, program: Path) -> None:
        """Use this program."""
        self.program = program

    def step(self, queries: Sequence[Query]) -> list[Answer]:
        """Answer every query."""
        # repr and Rust's formatting both write the shortest text that reads back as the same float.
        lines = [
            " ".join([q.environment, ",".join(q.actions), str(q.action), *map(repr, q.state)])
            for q in queries
        ]
        done = subprocess.run(
            [self.program], input="\n".join(lines), text=True, check=True, stdout=subprocess.PIPE
        )
        answers = [parse(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(queries)
        return answers


def parse(line: str) -> Answer:
    """Read a line of the program."""
    verdict, *values = line.split()
    return Answer(verdict, tuple(map(float, values)))
