"""Trees: genomes, what they stand for, and their neighbours."""

from __future__ import annotations

import random

import broccoli
import numpy as np
import pytest

from alternatives.instances import Instance, read
from alternatives.methods.annealing import move
from alternatives.methods.cma_es import Encoding
from alternatives.trees import Genome, Space, size

LISTED = read()


def act(space: Space, genome: Genome, observation: list[float]) -> int:
    """Return the action of a genome, read literally."""
    node = 0
    while node < space.nodes:
        dimension, threshold = space.predicates[genome[node]]
        node = 2 * node + (1 if observation[dimension] >= threshold else 2)
    return genome[node]


@pytest.mark.parametrize("name", ["mountain-car", "cartpole-deep"])
def test_what_is_simplified_acts_the_same(name: str) -> None:
    """On random observations, thresholds included; and it is within the limits."""
    problem = LISTED[name].problem()
    space = Space(problem)
    generator = np.random.default_rng(0)
    for genome in space.random(generator, 200):
        tree = problem.tree(space.nested(genome))
        assert tree.size == size(space.nested(genome)) <= space.nodes
        for _ in range(20):
            seen = [float(generator.choice([*t, t[0] - 1, t[-1] + 1])) for t in space.thresholds]
            assert tree.action(seen) == act(space, genome, seen)


def test_nodes_that_decide_nothing_are_left_out() -> None:
    """A predicate decided above, and a node with equal sides."""
    space = Space(LISTED["mountain-car"].problem())
    (_, low), (_, high) = space.predicates[:2]
    # x >= high ? (x >= low ? 1 : 0) : (x >= low ? 0 : 0)
    assert space.nested([1, 0, 0, 1, 0, 0, 0]) == (0, high, 1, 0)
    assert space.nested([0, 1, 1, 0, 0, 0, 1]) == (0, low, 0, 1)
    assert space.nested([0, 1, 2, 1, 1, 1, 1]) == 1


def test_neighbours_are_trees_and_reach_everything() -> None:
    """A move changes something most of the time, and stays among predicates and actions."""
    space = Space(LISTED["cartpole"].problem())
    chance = random.Random(0)
    genome = space.random(np.random.default_rng(0), 1)[0]
    seen: list[set[int]] = [set() for _ in genome]
    for _ in range(20_000):
        genome = move(space, genome, chance)
        for place, gene in zip(seen, genome, strict=True):
            place.add(gene)
    assert seen == [set(range(len(space.predicates)))] * 3 + [{0, 1}] * 4


def test_the_encoding_reaches_every_predicate_and_action() -> None:
    """Its vectors are as long as it says, and all ends of the range are legal."""
    space = Space(LISTED["mountain-car"].problem())
    encoding = Encoding(space)
    generator = np.random.default_rng(0)
    genomes = [encoding.genome(generator.uniform(-1.2, 1.2, encoding.length)) for _ in range(5000)]
    assert {gene for genome in genomes for gene in genome[:3]} == set(range(len(space.predicates)))
    assert {gene for genome in genomes for gene in genome[3:]} == {0, 1}
    for end in (-1e300, 1e300):
        space.nested(encoding.genome(np.full(encoding.length, end)))


def test_ranks_are_those_of_predicates() -> None:
    """A value at a threshold is above it."""
    space = Space(LISTED["mountain-car"].problem())
    first = [t[0] for t in space.thresholds]
    assert space.ranks(np.array([first, [t - 1e-9 for t in first]])).tolist() == [[1, 1], [0, 0]]


def test_fewer_nodes_than_a_complete_tree_are_refused() -> None:
    """Rather than ignored."""
    with pytest.raises(ValueError, match="not covered"):
        Space(broccoli.Problem("mountain-car", depth=2, nodes=2))


def test_the_listed_problems_are_those_of_the_documents() -> None:
    """Names say what they are."""
    assert str(LISTED["pendulum-deep"]) == "pendulum, depth 3, steps 0.2/1.6, one initial state"
    assert len(LISTED["mountain-car-100"].problem().initial) == 100
    assert Instance("x", "cartpole", 2).problem(horizon=7).horizon == 7
