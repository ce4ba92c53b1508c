"""Optimal decision-tree policies for any simulator, with a proof that no better one exists.

>>> import broccoli
>>> outcome = broccoli.synthesize("mountain-car")
>>> outcome.status, outcome.value
('optimal', 104)
>>> outcome.policy([-0.5, 0.02])
2
"""

from broccoli._broccoli import Tree, environments, sample
from broccoli.outcome import (
    Evaluation,
    Improvement,
    Outcome,
    Part,
    Point,
    Query,
    RunError,
    Statistics,
    Trace,
    Verification,
)
from broccoli.policy import Policy
from broccoli.predicates import Predicates
from broccoli.problem import Problem, synthesize, verify
from broccoli.searching import Search
from broccoli.systems import BatchSystem, FunctionSystem, StatefulSystem, Verdict

__all__ = [
    "BatchSystem",
    "Evaluation",
    "FunctionSystem",
    "Improvement",
    "Outcome",
    "Part",
    "Point",
    "Policy",
    "Predicates",
    "Problem",
    "Query",
    "RunError",
    "Search",
    "StatefulSystem",
    "Statistics",
    "Trace",
    "Tree",
    "Verdict",
    "Verification",
    "environments",
    "sample",
    "synthesize",
    "verify",
]
