"""The methods: each tries trees in an arena, from a seed, until nothing is left to spend."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from alternatives.arena import Arena
from alternatives.methods import annealing, cma_es, imitation, random_search, tpe

Method: TypeAlias = Callable[[Arena, int], None]

METHODS: dict[str, Method] = {
    "random": random_search.search,
    "annealing": annealing.search,
    "cma-es": cma_es.search,
    "tpe": tpe.search,
    "imitation": imitation.search,
}
