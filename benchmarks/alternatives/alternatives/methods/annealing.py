"""Simulated annealing over trees, with restarts that take longer and longer.

A move changes one thing: a threshold by a few ranks, a predicate, the action of a leaf, or the two sides of a
node. Scores are logarithms of values, so that a temperature of 0.1 means about 10 % worse. Every second
restart begins with the best tree so far instead of a random one that does not fail.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from alternatives.arena import Arena
from alternatives.trees import Genome, Space

Scored: TypeAlias = tuple[float, Genome]
BATCH = 64


@dataclass(frozen=True)
class Settings:
    """How to cool, and for how long."""

    hot: float = 0.3
    cold: float = 0.003
    first_length: int = 500
    """Trees tried until the first restart."""
    growth: float = 1.5
    """How much longer the next takes."""


def search(arena: Arena, seed: int, settings: Settings | None = None) -> None:
    """Anneal until nothing is left to spend."""
    chosen = settings or Settings()
    generator = np.random.default_rng(seed)
    chance = random.Random(seed)
    length: float = chosen.first_length
    best: Scored = (math.inf, [])
    restarts = 0
    while True:
        from_best = restarts % 2 == 1
        start = best if from_best else _random_start(arena, generator)
        best = min(best, _cycle(arena, chance, start, int(length), chosen))
        length *= chosen.growth
        restarts += 1


def _random_start(arena: Arena, generator: np.random.Generator) -> Scored:
    """Draw trees until one does not fail: among those that do, no move is better than another."""
    while True:
        for genome in arena.space.random(generator, BATCH):
            score = arena.score(genome)
            if score < arena.worst:
                return score, genome


def _cycle(arena: Arena, chance: random.Random, start: Scored, length: int, settings: Settings) -> Scored:
    """Cool down once and return the best."""
    now = best = start
    cooling = (settings.cold / settings.hot) ** (1 / length)
    temperature = settings.hot
    for _ in range(length):
        temperature *= cooling
        # What will be accepted is drawn first, so that a run that is too long already can be given up.
        limit = now[0] - temperature * math.log(1 - chance.random())
        genome = move(arena.space, now[1], chance)
        then = (arena.score(genome, limit), genome)
        if then[0] <= limit:
            now = then
            best = min(best, now)
    return best


def move(space: Space, genome: Genome, chance: random.Random) -> Genome:
    """Return a neighbour of a tree."""
    moved = list(genome)
    kind = chance.random()
    node = chance.randrange(space.nodes)
    if kind < 0.4:
        dimension = space.dimension(moved[node])
        low, high = space.starts[dimension], space.starts[dimension + 1] - 1
        far = min(1 + int(chance.expovariate(0.5)), high - low)
        moved[node] = min(max(moved[node] + chance.choice((-far, far)), low), high)
    elif kind < 0.65:
        dimension = chance.randrange(len(space.thresholds))
        moved[node] = chance.randrange(space.starts[dimension], space.starts[dimension + 1])
    elif kind < 0.9:
        leaf = space.nodes + chance.randrange(space.leaves)
        moved[leaf] = (moved[leaf] + chance.randrange(1, space.actions)) % space.actions
    else:
        _swap(moved, 2 * node + 1, 2 * node + 2)
    return moved


def _swap(genome: Genome, left: int, right: int) -> None:
    if left < len(genome):
        genome[left], genome[right] = genome[right], genome[left]
        _swap(genome, 2 * left + 1, 2 * right + 1)
        _swap(genome, 2 * left + 2, 2 * right + 2)
