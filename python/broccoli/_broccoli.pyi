"""The native half: data, and searches that run without the interpreter's lock. `broccoli` wraps it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, final, type_check_only

from broccoli.searching import Options

__all__ = [
    "ProblemData",
    "PythonSystem",
    "Stopper",
    "Tree",
    "environment",
    "environments",
    "evaluate",
    "explain",
    "sample",
    "search",
    "thresholds",
    "trace",
    "tree",
    "verify",
]

@final
class ProblemData:
    """A checked problem: everything but the system."""

    def __new__(
        cls,
        dimensions: Sequence[tuple[str, Sequence[float] | Literal["all"]]],
        actions: Sequence[tuple[str, float]],
        initial: Sequence[Sequence[float]],
        goal: tuple[str, int],
        limits: tuple[int, int | None],
        prices: Sequence[tuple[str, float]] = ...,
        across: tuple[str, float, Sequence[float]] | None = None,
        rewards: tuple[float, bool, float | None, float | None] | None = None,
    ) -> ProblemData: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__ = None  # type: ignore[assignment]
    @property
    def dimensions(self) -> list[tuple[str, list[float] | Literal["all"]]]: ...
    @property
    def actions(self) -> list[str]: ...
    @property
    def initial(self) -> list[list[float]]: ...
    @property
    def objective(self) -> str: ...
    @property
    def horizon(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def prices(self) -> list[tuple[str, float]]: ...
    @property
    def across(self) -> tuple[str, float, list[float]]: ...
    @property
    def rewards(self) -> tuple[float, bool, float | None, float | None]: ...

@final
class Tree:
    """A decision tree with the names of its dimensions and actions.

    Made by a search, or from JSON: `Tree(text, dimensions, actions)`. `str(tree)` draws it.
    """

    def __new__(cls, json: str, dimensions: Sequence[str], actions: Sequence[str]) -> Tree: ...
    def __getnewargs__(self) -> tuple[str, list[str], list[str]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _repr_html_(self) -> str: ...
    @property
    def dimensions(self) -> list[str]:
        """The names of the dimensions of an observation."""

    @property
    def actions(self) -> list[str]:
        """The names of the actions."""

    @property
    def size(self) -> int:
        """The number of predicate nodes."""

    @property
    def depth(self) -> int:
        """The longest path, in predicate nodes."""

    def to_json(self) -> str:
        """Return the JSON that the constructor and the command line read; numbers come back bit for bit."""

    def to_svg(self) -> str:
        """Return a picture, in light or dark as the viewer prefers."""

    def action(self, observation: Any) -> int:
        """Return the index of the action for an observation."""

@final
class PythonSystem:
    """How to make systems in Python, and what they are given."""

    def __new__(
        cls,
        make: Callable[[], Any],
        kind: str,
        actions: Sequence[Any],
        initial: Sequence[Any],
        verdicts: tuple[Any, Any, Any],
    ) -> PythonSystem: ...

@final
class Stopper:
    """Ends a search from outside, from any thread."""

    def __new__(cls) -> Stopper: ...
    def stop(self) -> None:
        """End the search before its next query."""

@type_check_only
class FailureData(TypedDict):
    """Why a system failed, and where."""

    exception: BaseException | None
    message: str
    initial: int | None
    step: int | None
    state: Any
    actions: list[Any]

@type_check_only
class StatisticsData(TypedDict):
    """What a search did."""

    queries: int
    queries_replayed: int
    queries_confirming: int
    necessary_queries: int | None
    traces: int
    trees: int

@type_check_only
class PartData(TypedDict):
    """A part of a front."""

    sizes: tuple[int, int]
    status: str
    value: float | None
    bound: float | None
    tree: Tree | None

@type_check_only
class Found(TypedDict):
    """What a search has to say at its end."""

    status: str
    value: float | None
    bound: float | None
    tree: Tree | None
    intervals: list[tuple[float, float] | None]
    stopped_by: str | None
    text: str
    seconds: float
    statistics: StatisticsData
    history: list[tuple[int, float, float | None, float | None]]
    checkpoint_error: str | None
    certificate_error: str | None
    failure: FailureData | None
    price: float | None
    front: list[PartData]
    optimal_trees: list[Tree]
    is_complete: bool | None
    estimate: float | None

@type_check_only
class VerificationData(TypedDict):
    """What came of checking a certificate."""

    status: str
    refutation: str | None
    claim: str
    value: float | None
    bound: float | None
    tree: Tree | None
    choices: list[str]
    is_full: bool
    behaviours: int
    transitions: int
    queries: int
    work: int

@type_check_only
class HowToVerify(TypedDict):
    """How to check a certificate."""

    replay: float | None
    record_only: bool
    memory_limit: int | None
    work_limit: int | None

@type_check_only
class EvaluationData(TypedDict):
    """What a tree is worth, and what it took to find out."""

    value: float | None
    queries: int
    failure: FailureData | None

@type_check_only
class TraceData(TypedDict):
    """One run of a tree."""

    observations: list[list[float]]
    actions: list[int]
    end: str
    value: float | None
    failure: FailureData | None

@type_check_only
class Facts(TypedDict):
    """What is known of a built-in environment; a dimension is its name, low, high and default step."""

    title: str
    dimensions: list[tuple[str, float, float, float]]
    actions: list[tuple[str, float]]
    is_discrete: bool
    initial: list[float]
    objective: str
    horizon: int
    depth: int
    rewards: tuple[float, float, int] | None

_OnEvent = Callable[
    [int, float | None, int | None, float | None, Tree | None, tuple[int, int] | None], object
]

def environments() -> list[str]:
    """Return the names of the built-in environments."""

def environment(name: str, actions: list[str] | None = None) -> Facts:
    """Return what is known of a built-in environment, with its actions or those chosen by name or value."""

def sample(name: str, count: int, seed: int) -> list[list[float]]:
    """Sample initial states of a built-in environment, as the command line does."""

def thresholds(
    low: float, high: float, *, count: int | None = None, step: float | None = None
) -> list[float]:
    """Return evenly spaced thresholds strictly inside (low, high)."""

def search(
    problem: ProblemData,
    system: str | PythonSystem,
    options: Options,
    stopper: Stopper,
    on_event: _OnEvent | None,
) -> Found:
    """Search; `on_event(queries, value, size, bound, tree, queries_to_come)` is called now and then."""

def tree(problem: ProblemData, nested: Any) -> Tree:
    """Make a tree of nested tuples."""

def evaluate(
    problem: ProblemData, system: str | PythonSystem, tree: Tree, horizon: int | None = None
) -> EvaluationData:
    """Run a tree from all initial states, no longer than it matters."""

def trace(problem: ProblemData, system: str | PythonSystem, tree: Tree, initial: int) -> TraceData:
    """Run a tree from the initial state with this index."""

def explain(
    problem: ProblemData, system: str | PythonSystem, queries: int, stopper: Stopper
) -> tuple[list[int], list[int], bool]:
    """Find the initial states to blame: alone, together, and whether the search for them was cut short."""

def verify(
    path: Path,
    given: tuple[ProblemData, str | PythonSystem, str] | None,
    how: HowToVerify,
) -> VerificationData:
    """Check the certificate in a file, of a given problem or of the environment that it names."""
