"""What a search returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from broccoli._broccoli import Tree
from broccoli.policy import Policy


class Point(NamedTuple):
    """A moment of a search when its value or its bound changed."""

    queries: int
    seconds: float
    value: float | None
    bound: float | None


@dataclass(frozen=True)
class Statistics:
    """What a search did. A query is one step of the system."""

    queries: int
    """Queries, but those that come back to a state or confirm the answer."""
    queries_replayed: int
    """Queries made again only to come back to a state."""
    queries_confirming: int
    """Queries made at the end to see whether the system does again what it did."""
    necessary_queries: int | None
    """How many queries any proof of this answer needs, where that is known."""
    traces: int
    """Traces run, completely or in part."""
    trees: int
    """Trees considered; the engine `behaviour` considers none."""


@dataclass(frozen=True, eq=False, repr=False)
class Improvement:
    """A better tree than the best before, found by a search that goes on."""

    value: float
    """Its value."""
    bound: float | None
    """No tree has a better value than this."""
    size: int
    """The number of its predicate nodes."""
    queries: int
    """The queries it took, about."""
    policy: Policy
    """The policy."""
    queries_to_come: tuple[int, int] | None = None
    """How many queries the search will still make, at least and at most: right nine times of ten."""

    def __repr__(self) -> str:
        return (
            f"Improvement(value={self.value}, size={self.size}, bound={self.bound}, queries={self.queries})"
        )


@dataclass(frozen=True)
class Part:
    """What is known about trees of limited size: a part of a front."""

    sizes: range
    """The limits on predicate nodes that this is about; the tree has the first of them."""
    status: str
    """What is proved for each of them: `"optimal"`, `"infeasible"` or `"stopped"`."""
    value: float | None
    """The value of the best tree within these limits."""
    bound: float | None
    """No tree within these limits has a better value."""
    policy: Policy | None
    """The best policy within these limits."""


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """The answer of a search. `str(outcome)` is what the command line prints."""

    status: str
    """`"optimal"`, `"infeasible"` (no tree exists), `"stopped"`, or `"error"` in an exception's `outcome`."""
    value: float | None
    """The value of the tree, or `None` if there is none: a whole number of steps, or a float for returns,
    means and sums."""
    bound: float | None
    """It is proved that no tree has a better value than this; `None` if infeasible."""
    policy: Policy | None
    """The best policy."""
    statistics: Statistics
    """What it took."""
    seconds: float
    """How long it took."""
    stopped_by: str | None = None
    """Why the search was stopped: a limit, `"interrupted"`, `"gap"` or `"first"`."""
    history: tuple[Point, ...] = field(default=())
    """When value and bound changed."""
    text: str = ""
    """The answer in words."""
    price: float | None = None
    """The price of the dimensions that the tree asks, if there are prices."""
    front: tuple[Part, ...] = ()
    """With `pareto`: the best trees for all sizes, the smallest first."""
    optimal: tuple[Policy, ...] = ()
    """With `all_optimal`: optimal policies, this one first."""
    is_complete: bool | None = None
    """With `all_optimal`: whether these are all."""
    intervals: tuple[tuple[float, float] | None, ...] = ()
    """For each predicate of the tree in preorder (a predicate, then what comes where it is true, then the
    rest): `(low, high)` if all numbers are thresholds of its dimension, and `None` if they are listed.

    With each t for which low < t <= high all runs of the tree stay as they are; the tree has the shortest
    decimal near the middle. Where the predicate was never false, or never true, an end is infinite.

    >>> import broccoli
    >>> outcome = broccoli.synthesize("mountain-car", thresholds="all", depth=1)
    >>> print(outcome.tree)
    velocity >= -0.001
    ├─ yes: right
    └─ no:  left
    >>> [(low, high)] = outcome.intervals
    >>> print(f"{low:.4f} < t <= {high:.4f}")
    -0.0013 < t <= -0.0007
    """
    estimate: float | None = None
    """By the rewards seen no tree has a better value than this: an estimate, never a proof.

    Only for returns whose rewards have no bound, if the search was stopped."""

    @property
    def tree(self) -> Tree | None:
        """The best tree."""
        return self.policy.tree if self.policy else None

    @property
    def size(self) -> int | None:
        """The number of predicate nodes of the tree."""
        return self.tree.size if self.tree else None

    @property
    def gap(self) -> float | None:
        """How far the value can be from the optimum: |value - bound| / max(|value|, 1)."""
        if self.value is None or self.bound is None:
            return None
        return abs(self.value - self.bound) / max(abs(self.value), 1)

    def __repr__(self) -> str:
        return (
            f"Outcome({self.status}, value={self.value}, bound={self.bound}, size={self.size}, "
            f"queries={self.statistics.queries})"
        )

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        tree = self.tree._repr_html_() if self.tree else ""
        gap = "" if not self.gap else f", within {self.gap:.1%} of the optimum"
        value = "no tree" if self.value is None else f"value {self.value}, {self.size} predicates"
        return f"{tree}<p><b>{self.status}</b>: {value}{gap}; {self.statistics.queries:,} queries</p>"


class Evaluation(NamedTuple):
    """What a policy is worth."""

    value: float | None
    """Its value; `None` if it has none, because a run does not reach the goal."""
    queries: int
    """The steps that it took to find out."""


@dataclass(frozen=True, repr=False)
class Verification:
    """What came of checking a certificate. It is true if what is claimed was proved of the system itself."""

    status: str
    """`"verified"`: the claim follows, and the system was asked for every answer that it rests on.
    `"recorded"`: it follows from answers in the file that the system was not asked for. `"refuted"`."""
    refutation: str | None
    """The first step that is wrong, if the claim does not follow."""
    claim: str
    """`"optimal"`, `"infeasible"`, or `"bound"` if the search was stopped."""
    value: float | None
    """The value of the tree, as claimed."""
    bound: float | None
    """No tree has a better value than this, as claimed."""
    tree: Tree | None
    """The tree that the claim is about."""
    choices: list[str]
    """Where the problem of a built-in environment is not the default one, in words."""
    is_full: bool
    """Whether the certificate holds what the system answered."""
    behaviours: int
    """Behaviours that were checked to their end."""
    transitions: int
    """Transitions that were looked at."""
    queries: int
    """Those of them that the system was asked for."""
    work: int
    """Units of work that the check took."""

    @property
    def is_verified(self) -> bool:
        """Whether the claim follows from what the system itself answered in this check."""
        return self.status == "verified"

    def __bool__(self) -> bool:
        return self.is_verified

    def __repr__(self) -> str:
        size = self.tree.size if self.tree else None
        about = f"value={self.value}, bound={self.bound}, size={size}"
        if self.refutation is not None:
            return f"Verification(refuted: {self.claim}, {about}, refutation={self.refutation!r})"
        counts = f"behaviours={self.behaviours}, queries={self.queries}"
        verified = "verified" if self.is_verified else "the recorded answers only"
        return f"Verification({verified}: {self.claim}, {about}, {counts})"


@dataclass(frozen=True)
class Trace:
    """One run of a tree: an observation more than actions."""

    names: tuple[str, ...]
    """The names of the dimensions."""
    action_names: tuple[str, ...]
    """The names of the actions."""
    observations: tuple[tuple[float, ...], ...]
    """What the tree saw, from the reset to the end."""
    actions: tuple[int, ...]
    """The indices of the actions that were applied."""
    end: str
    """`"satisfied"`, `"violated"` or `"horizon"`."""
    value: float | None
    """The value of this trace alone; `None` if it fails."""

    def __repr__(self) -> str:
        return f"Trace({len(self.actions)} steps, {self.end}, value={self.value})"


class RunError(RuntimeError):
    """A system that gave NaN, or did not do again what it did before; or a proof that could not be written.

    What was found until then is in `outcome`.
    """

    outcome: Outcome | None = None


@dataclass(frozen=True)
class Query:
    """The query at which a system raised an exception; the exception has it as its attribute `query`.

    Reset to `initial`, or restore `state` if it is not `None`, then apply `actions`.
    """

    initial: Any
    """The seed or initial state."""
    step: int | None
    """Which step of the run, counted from 1; 0 is the reset."""
    state: Any
    """A state to start from; `None` for the initial one."""
    actions: tuple[Any, ...]
    """The actions from there on, the one that failed being the last."""
