"""Optuna's TPE: a node's dimension and a leaf's action are categories, a threshold is a whole number."""

from __future__ import annotations

import optuna

from alternatives.arena import Arena
from alternatives.trees import Genome, Space

RANDOM_FIRST = 100
"""Trees drawn at random before the model is used."""


def search(arena: Arena, seed: int, random_first: int = RANDOM_FIRST) -> None:
    """Let Optuna suggest trees until nothing is left to spend."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=random_first)
    study = optuna.create_study(sampler=sampler)
    while True:
        trial = study.ask()
        study.tell(trial, arena.score(_genome(arena.space, trial)))


def _genome(space: Space, trial: optuna.Trial) -> Genome:
    predicates = []
    for node in range(space.nodes):
        dimension = trial.suggest_categorical(f"dimension {node}", range(len(space.thresholds)))
        low, high = space.starts[dimension], space.starts[dimension + 1] - 1
        predicates.append(trial.suggest_int(f"threshold {node} {dimension}", low, high))
    leaves = [
        trial.suggest_categorical(f"action {leaf}", range(space.actions)) for leaf in range(space.leaves)
    ]
    return [*predicates, *leaves]
