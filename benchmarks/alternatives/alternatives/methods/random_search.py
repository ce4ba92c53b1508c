"""Random search: tree after tree, each drawn anew. A run that cannot be as good as the best is given up."""

from __future__ import annotations

import numpy as np

from alternatives.arena import Arena

BATCH = 1024


def search(arena: Arena, seed: int) -> None:
    """Try random trees until nothing is left to spend."""
    generator = np.random.default_rng(seed)
    while True:
        for genome in arena.space.random(generator, BATCH):
            arena.evaluate(arena.space.nested(genome), arena.horizon(cut=1))
