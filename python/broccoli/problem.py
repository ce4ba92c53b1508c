"""Problems: a system, what a tree may ask of it, and what is wanted."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from broccoli import _broccoli, _gymnasium, systems
from broccoli.outcome import Evaluation, Improvement, Outcome, Trace, Verification
from broccoli.policy import Policy
from broccoli.predicates import Thresholds, resolve
from broccoli.searching import Options, Search, failed
from broccoli.systems import Actions, Dimensions, Source

Objective = Literal["reach", "survive", "return"]
Over = Literal["worst", "mean", "sum"]
Engine = Literal["behaviour", "backtracking", "exhaustive"]
CertificateForm = Literal["light", "full"]
Nested: TypeAlias = "int | str | tuple[int | str, float, Nested, Nested]"


class Problem:
    """A system, the thresholds a tree may compare with, initial states, an objective and limits.

    `system` is the name of a built-in environment (`broccoli.environments()`), the id of a Gymnasium
    environment, such an environment or a function that makes one, or a system of your own (see
    `FunctionSystem`, `StatefulSystem` and `BatchSystem`).

    - `thresholds`: `"all"` numbers (no grid is needed), how many, `Predicates`, or a list of thresholds; for
      all dimensions, or one per dimension in a sequence or by name or index in a dict (others then get
      none). By default built-in environments have grids, and of other systems all numbers are thresholds.
    - `objective`: `"reach"` (fewest steps until satisfied), `"survive"` (most steps until violated) or
      `"return"` (the sum of the rewards; with `minimise` the least).
    - `over`: how several initial states count, `"worst"`, `"mean"` or `"sum"`; or `weights`, one for each; or
      `share`, the share of them that has to reach the goal.
    - `discount`: what a reward counts for one step later. `rewards`: the least and the largest reward of a
      step, by which the search prunes; those of built-in environments are known.
    - `horizon`: the most steps of a run.
    - `depth`, `nodes`: limits on the tree.
    - `initial` or `seeds`: initial states, or seeds for Gymnasium's `reset`.
    - `actions`: those to use, in a list, or by name in a dict. For continuous actions, a list of values, or
      how many evenly spaced ones per dimension. Those of a built-in environment in a list of names or values.
    - `dimensions`: names of the observation's dimensions, or a dict of names and ranges.
    - `features`: a function of the observation, whose result the tree sees instead (Gymnasium).
    - `verdict`: a function `(observation, reward, terminated, truncated, info) -> Verdict` (Gymnasium). By
      default a run that is terminated is satisfied (`reach`) or violated (`survive`), and one that is
      truncated the other way round.
    - `prices`: what a tree pays that asks a dimension, by name: among the smallest of the best trees the
      cheapest is wanted.

    >>> Problem("cartpole", depth=1)
    Problem(CartPole: survive 10000, depth 1, 4 dimensions, 93 thresholds, 2 actions, 1 initial state)
    >>> Problem("mountain-car", thresholds={"position": 20, "velocity": "all"}).thresholds["velocity"]
    'all'
    """

    def __init__(
        self,
        system: Any,
        *,
        thresholds: Thresholds = None,
        objective: Objective | None = None,
        horizon: int | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        initial: Sequence[Any] | None = None,
        seeds: Iterable[int] | None = None,
        actions: Actions | int | None = None,
        dimensions: Dimensions | None = None,
        features: Callable[[Any], Any] | None = None,
        verdict: Callable[..., Any] | None = None,
        prices: Mapping[str, float] | None = None,
        over: Over | None = None,
        weights: Collection[float] | None = None,
        share: float | None = None,
        discount: float | None = None,
        minimise: bool | None = None,
        rewards: tuple[float, float] | None = None,
    ) -> None:
        self._arguments: dict[str, Any] = {
            "thresholds": thresholds,
            "objective": objective,
            "horizon": horizon,
            "depth": depth,
            "nodes": nodes,
            "initial": initial,
            "seeds": None if seeds is None else tuple(seeds),
            "actions": actions,
            "dimensions": dimensions,
            "features": features,
            "verdict": verdict,
            "prices": prices,
            "over": over,
            "weights": None if weights is None else tuple(weights),
            "share": share,
            "discount": discount,
            "minimise": minimise,
            "rewards": rewards,
        }
        self._system = system
        self._source = source = self._find()
        goal = (objective or source.objective, horizon if horizon is not None else source.horizon)
        if goal[0] is None or goal[1] is None:
            msg = 'give objective="reach", "survive" or "return", and horizon, the most steps of a run'
            raise ValueError(msg)
        if goal[0] != "return":
            _only(self._arguments, f"the objective {goal[0]!r}", "discount", "minimise", "rewards")
        low, high = rewards or source.rewards
        is_built_in = isinstance(source.native, str)
        self._data = _broccoli.ProblemData(
            resolve(thresholds, source.dimensions, source.observed),
            [(name, float(i)) for i, name in enumerate(source.actions)],
            [list(state) for state in source.initial]
            if is_built_in
            else [[i] for i in range(len(source.initial))],
            (goal[0], _at_least(1, "horizon", goal[1])),
            (
                source.depth if depth is None else _at_least(0, "depth", depth),
                None if nodes is None else _at_least(0, "nodes", nodes),
            ),
            list((prices or {}).items()),
            _across(over, weights, share),
            (1.0 if discount is None else discount, bool(minimise), low, high),
        )

    def _find(self) -> Source:
        """Find out what kind of system it is."""
        given = self._arguments
        system = self._system
        if isinstance(system, str) and not re.search(r"-v\d+$|[/:]", system):
            _only(
                given,
                f"the built-in environment {system!r}",
                "seeds",
                "dimensions",
                "features",
                "verdict",
            )
            return systems.built_in(system, given["initial"], given["actions"], given["objective"])
        if isinstance(system, str) or _gymnasium.is_made_by(system):
            keys = (
                "objective",
                "horizon",
                "initial",
                "seeds",
                "actions",
                "dimensions",
                "features",
                "verdict",
            )
            return _gymnasium.source(system, **{key: given[key] for key in keys})
        _only(given, "a system of your own", "seeds", "features", "verdict")
        return systems.written_in_python(
            systems.maker(system), given["dimensions"], given["actions"], given["initial"]
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self._system, self._arguments)

    @property
    def thresholds(self) -> dict[str, list[float] | Literal["all"]]:
        """The thresholds of every dimension, by name: a list, or the word `"all"`."""
        return dict(self._data.dimensions)

    @property
    def actions(self) -> dict[str, Any]:
        """What the system is given, by name."""
        return dict(self._source.actions)

    @property
    def initial(self) -> tuple[Any, ...]:
        """The initial states or seeds."""
        return self._source.initial

    @property
    def objective(self) -> str:
        """`"reach"`, `"survive"` or `"return"`."""
        return self._data.objective

    @property
    def horizon(self) -> int:
        """The most steps of a run."""
        return self._data.horizon

    @property
    def depth(self) -> int:
        """The limit on the depth of the tree."""
        return self._data.depth

    @property
    def nodes(self) -> int:
        """The limit on its predicate nodes."""
        return self._data.nodes

    @property
    def prices(self) -> dict[str, float]:
        """What a tree pays that asks a dimension, by name."""
        return dict(self._data.prices)

    def solve(
        self,
        *,
        engine: Engine = "behaviour",
        time_limit: float | None = None,
        query_limit: int | None = None,
        gap: float = 0.0,
        first: bool = False,
        start: _broccoli.Tree | Policy | None = None,
        threads: int = 1,
        batch_size: int = 128,
        checkpoint: str | os.PathLike[str] | None = None,
        pareto: bool = False,
        all_optimal: int | None = None,
        memory_limit: int | None = None,
        certificate: str | os.PathLike[str] | None = None,
        certificate_form: CertificateForm = "light",
        progress: bool = False,
        on_improvement: Callable[[Improvement], object] | None = None,
    ) -> Outcome:
        """Search for the best tree; see `synthesize` for the options."""
        return self.search(
            engine=engine,
            time_limit=time_limit,
            query_limit=query_limit,
            gap=gap,
            first=first,
            start=start,
            threads=threads,
            batch_size=batch_size,
            checkpoint=checkpoint,
            pareto=pareto,
            all_optimal=all_optimal,
            memory_limit=memory_limit,
            certificate=certificate,
            certificate_form=certificate_form,
        ).run(on_improvement, progress)

    def search(
        self,
        *,
        engine: Engine = "behaviour",
        time_limit: float | None = None,
        query_limit: int | None = None,
        gap: float = 0.0,
        first: bool = False,
        start: _broccoli.Tree | Policy | None = None,
        threads: int = 1,
        batch_size: int = 128,
        checkpoint: str | os.PathLike[str] | None = None,
        pareto: bool = False,
        all_optimal: int | None = None,
        memory_limit: int | None = None,
        certificate: str | os.PathLike[str] | None = None,
        certificate_form: CertificateForm = "light",
    ) -> Search:
        """Return a search to iterate over: it yields each improvement, and has an `outcome` at its end."""
        if not gap >= 0:
            msg = f"gap is {gap}: it must be at least 0; 0.05 is 5 %"
            raise ValueError(msg)
        if _at_least(1, "threads", threads) > 1 and self._source.is_single:
            msg = "several threads cannot share one environment: give its id, or a function that makes one"
            raise ValueError(msg)
        if all_optimal is not None:
            _at_least(1, "all_optimal", all_optimal)
        if pareto or all_optimal is not None or self._data.prices:
            others = {
                "pareto and all_optimal": pareto and all_optimal is not None,
                "gap": gap > 0,
                "first": first,
                "checkpoint": checkpoint is not None,
            }
            for name in (name for name, is_given in others.items() if is_given):
                msg = f"{name} cannot be given together with pareto, all_optimal or prices (docs/choices.md)"
                raise ValueError(msg)
        if certificate is not None and (engine != "behaviour" or checkpoint is not None):
            msg = "a certificate is written by the engine behaviour, and not together with a checkpoint"
            raise ValueError(msg)
        options: Options = {
            "engine": engine,
            "time_limit": time_limit,
            "query_limit": query_limit,
            "gap": gap,
            "first": first,
            "start": start.tree if isinstance(start, Policy) else start,
            "threads": threads,
            "batch_size": _at_least(1, "batch_size", batch_size),
            "pareto": pareto,
            "all_optimal": all_optimal,
            "checkpoint": None if checkpoint is None else (_file("checkpoint", checkpoint), self._identity()),
            "memory_limit": None if memory_limit is None else _at_least(0, "memory_limit", memory_limit),
            "certificate": None
            if certificate is None
            else (_file("certificate", certificate), certificate_form, self._identity()),
        }
        return Search(self._data, self._source.native, self.policy, options, self._source.initial)

    def _identity(self) -> str:
        """Tell systems and initial states apart, as far as they look different."""
        about = (self._source.about, list(self._source.actions.items()), list(self._source.initial))
        return f"{about[0]} with actions {about[1]} from {about[2]}"

    def policy(self, tree: _broccoli.Tree) -> Policy:
        """Return a tree as a policy that gives this system's actions."""
        return Policy(
            tree, tuple(self._source.actions.values()), self._source.features, ndim=self._source.ndim
        )

    def tree(self, nested: Nested) -> _broccoli.Tree:
        """Make a tree: an action, or `(dimension, threshold, tree if x >= threshold, tree if not)`.

        Dimensions and actions are given by name or index.

        >>> print(Problem("mountain-car").tree(("velocity", 0, "right", "left")))
        velocity >= 0
        ├─ yes: right
        └─ no:  left
        """
        return _broccoli.tree(self._data, nested)

    def evaluate(self, policy: Policy | _broccoli.Tree, *, horizon: int | None = None) -> Evaluation:
        """Run a policy from all initial states and return its value, and the queries that took.

        It may be beyond the limits of the problem. Each run ends after `horizon` steps, if that is less than
        the problem's, or when it no longer matters: after a run that fails, or when it has survived as long
        as the worst one before it. For returns, means, sums and shares every run is whole.

        >>> car = Problem("mountain-car")
        >>> car.evaluate(car.tree(("velocity", 0, "right", "left")))
        Evaluation(value=125, queries=125)
        """
        tree = policy.tree if isinstance(policy, Policy) else policy
        limit = None if horizon is None else _at_least(1, "horizon", horizon)
        ran = _broccoli.evaluate(self._data, self._source.native, tree, limit)
        if ran["failure"]:
            raise failed(ran["failure"], self._source.initial, None)
        return Evaluation(ran["value"], ran["queries"])

    def trace(self, policy: Policy | _broccoli.Tree, initial: int = 0) -> Trace:
        """Run a policy from the initial state with this index."""
        tree = policy.tree if isinstance(policy, Policy) else policy
        ran = _broccoli.trace(self._data, self._source.native, tree, initial)
        if ran["failure"]:
            raise failed(ran["failure"], self._source.initial, None)
        return Trace(
            names=tuple(name for name, _ in self._data.dimensions),
            action_names=tuple(self._data.actions),
            observations=tuple(tuple(observation) for observation in ran["observations"]),
            actions=tuple(ran["actions"]),
            end=ran["end"],
            value=ran["value"],
        )

    def verify(
        self,
        certificate: str | os.PathLike[str],
        *,
        replay: float | None = None,
        record_only: bool = False,
        memory_limit: int | None = None,
        work_limit: int | None = None,
    ) -> Verification:
        """Check a certificate of this problem; see `verify`."""
        how = _how_to_verify(replay, memory_limit, work_limit, record_only=record_only)
        given = (self._data, self._source.native, self._identity())
        return Verification(**_broccoli.verify(Path(certificate), given, how))

    def infeasible_states(self, queries: int = 100_000) -> tuple[list[int], list[int]]:
        """Find which initial states are to blame if no tree exists, with so many queries at most.

        The indices of those for which no tree exists even alone; and if there are none, of a few for which
        none exists together.
        """
        alone, together, _ = _broccoli.explain(self._data, self._source.native, queries, _broccoli.Stopper())
        return alone, together

    def __repr__(self) -> str:
        dimensions = self._data.dimensions
        states = len(self.initial)
        return (
            f"Problem({self._source.about}: {self.objective} {self.horizon}, depth {self.depth}, "
            f"{len(dimensions)} dimensions, {self._told_thresholds()}, {len(self.actions)} actions, "
            f"{states} initial state{'s' if states > 1 else ''})"
        )

    def _told_thresholds(self) -> str:
        """Say how many thresholds there are."""
        dimensions = self._data.dimensions
        count = sum(len(thresholds) for _, thresholds in dimensions if thresholds != "all")
        free = [name for name, thresholds in dimensions if thresholds == "all"]
        if len(free) == len(dimensions):
            return "all thresholds"
        if not free:
            return f"{count} thresholds"
        return (f"{count} thresholds and all" if count else "all thresholds") + f" of {', '.join(free)}"


def synthesize(
    system: Any,
    *,
    thresholds: Thresholds = None,
    objective: Objective | None = None,
    horizon: int | None = None,
    depth: int | None = None,
    nodes: int | None = None,
    initial: Sequence[Any] | None = None,
    seeds: Iterable[int] | None = None,
    actions: Actions | int | None = None,
    dimensions: Dimensions | None = None,
    features: Callable[[Any], Any] | None = None,
    verdict: Callable[..., Any] | None = None,
    prices: Mapping[str, float] | None = None,
    over: Over | None = None,
    weights: Collection[float] | None = None,
    share: float | None = None,
    discount: float | None = None,
    minimise: bool | None = None,
    rewards: tuple[float, float] | None = None,
    engine: Engine = "behaviour",
    time_limit: float | None = None,
    query_limit: int | None = None,
    gap: float = 0.0,
    first: bool = False,
    start: _broccoli.Tree | Policy | None = None,
    threads: int = 1,
    batch_size: int = 128,
    checkpoint: str | os.PathLike[str] | None = None,
    pareto: bool = False,
    all_optimal: int | None = None,
    memory_limit: int | None = None,
    certificate: str | os.PathLike[str] | None = None,
    certificate_form: CertificateForm = "light",
    progress: bool = False,
    on_improvement: Callable[[Improvement], object] | None = None,
) -> Outcome:
    """Find the best decision tree for a system, and prove that it is.

    The arguments up to `rewards` say what the problem is; see `Problem`. The others say how to search:

    - `engine`: `"behaviour"`, or another that gives the same answer with more queries.
    - `time_limit` (seconds), `query_limit`, `gap` (0.05 is 5 %), `first` (the first tree that reaches the
      goal or survives the whole horizon): when to stop, with status `"stopped"` and the best so far. So does
      Ctrl-C.
    - `start`: a tree to start from. If it is optimal itself it is the answer.
    - `threads`: how many to use at most; the answer is the same for any number. Systems in Python take turns,
      unless they release the interpreter's lock.
    - `batch_size`: how many steps a system with `step_batch` makes at a time, at most.
    - `checkpoint`: a file to keep what is left of the search in, every minute and when it is stopped. If it
      is there already, the search goes on from it, unless problem or system have changed; it is removed when
      there is nothing left to do.
    - `pareto`: the best tree of every size up to the limit, in `outcome.front`.
    - `all_optimal`: how many optimal trees to list, in `outcome.optimal`.
    - `memory_limit` (bytes): for what the search keeps, the system not counted. When it is used up the search
      goes on depth first, which takes none, but often more queries. Value and size stay the same; of several
      best trees another one may be found.
    - `certificate`: a file to write a proof to, which `verify` checks; of what is there only a certificate is
      overwritten. Its `certificate_form` is `"light"` (what was decided; it is checked by running the system)
      or `"full"` (also what the system answered).
    - `progress`: show progress with tqdm, if it is installed; else log it.
    - `on_improvement`: is called with each `Improvement`.

    An exception raised by the system comes through as it is, with attributes `query` (where it happened) and
    `outcome` (the best so far).

    >>> synthesize("mountain-car")  # doctest: +ELLIPSIS
    Outcome(optimal, value=104, bound=104, size=3, queries=...)
    """
    problem = Problem(
        system,
        thresholds=thresholds,
        objective=objective,
        horizon=horizon,
        depth=depth,
        nodes=nodes,
        initial=initial,
        seeds=seeds,
        actions=actions,
        dimensions=dimensions,
        features=features,
        verdict=verdict,
        prices=prices,
        over=over,
        weights=weights,
        share=share,
        discount=discount,
        minimise=minimise,
        rewards=rewards,
    )
    return problem.solve(
        engine=engine,
        time_limit=time_limit,
        query_limit=query_limit,
        gap=gap,
        first=first,
        start=start,
        threads=threads,
        batch_size=batch_size,
        checkpoint=checkpoint,
        pareto=pareto,
        all_optimal=all_optimal,
        memory_limit=memory_limit,
        certificate=certificate,
        certificate_form=certificate_form,
        progress=progress,
        on_improvement=on_improvement,
    )


def verify(
    certificate: str | os.PathLike[str],
    *,
    replay: float | None = None,
    record_only: bool = False,
    memory_limit: int | None = None,
    work_limit: int | None = None,
) -> Verification:
    """Check a certificate that a search has written, by code that shares nothing with the search.

    Its system is run if it is a built-in environment; for other systems there is `Problem.verify`. A full
    certificate also holds all that the system answered, which is compared. With `replay` the system is run
    for the tree's own traces and for this share of the rest; with `record_only`, or if its system is not
    built in, not at all. Then the `status` is `"recorded"`, and the result is false: the claim follows from
    the answers in the file, and whose they are is not known.

    A check may take 128 MiB of memory and 128 times the file, at most 8 GiB, unless there is a `memory_limit`
    (bytes); and 5 billion units of work and 50,000 for each byte of the file, unless there is a `work_limit`.

    What is no certificate, or a damaged one, or takes more than that raises `ValueError`.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "car.proof"
    >>> _ = synthesize("mountain-car", certificate=file)
    >>> verify(file)  # doctest: +ELLIPSIS
    Verification(verified: optimal, value=104, bound=104, size=3, behaviours=..., queries=...)
    """
    how = _how_to_verify(replay, memory_limit, work_limit, record_only=record_only)
    return Verification(**_broccoli.verify(Path(certificate), None, how))


def _how_to_verify(
    replay: float | None, memory_limit: int | None, work_limit: int | None, *, record_only: bool
) -> _broccoli.HowToVerify:
    if replay is not None and not 0 < replay <= 1:
        msg = f"replay is {replay}: it must be more than 0 and at most 1, which is everything"
        raise ValueError(msg)
    if replay is not None and record_only:
        msg = "replay runs the system, and record_only does not: give one of them"
        raise ValueError(msg)
    for name, limit in (("memory_limit", memory_limit), ("work_limit", work_limit)):
        if limit is not None and not 0 <= limit < 1 << 63:
            msg = f"{name} is {limit}: it must be a whole number of at least 0"
            raise ValueError(msg)
    return {
        "replay": replay,
        "record_only": record_only,
        "memory_limit": memory_limit,
        "work_limit": work_limit,
    }


def _rebuilt(system: Any, arguments: dict[str, Any]) -> Problem:
    return Problem(system, **arguments)


def _file(what: str, path: str | os.PathLike[str]) -> Path:
    if not Path(path).parent.is_dir():
        msg = f"{what}: there is no folder {Path(path).parent}"
        raise FileNotFoundError(msg)
    return Path(path)


def _across(
    over: str | None, weights: Collection[float] | None, share: float | None
) -> tuple[str, float, list[float]]:
    """Return how initial states count: in a word, the share of them, and their weights."""
    if sum(given is not None for given in (over, weights, share)) > 1:
        msg = "give one of over, weights and share"
        raise ValueError(msg)
    word = "weights" if weights is not None else "share" if share is not None else over or "worst"
    each = [] if weights is None else [float(weight) for weight in weights]
    return word, 1.0 if share is None else float(share), each


def _at_least(least: int, name: str, number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        msg = f"{name} is {number!r}: it must be a whole number of at least {least}"
        raise ValueError(msg)
    return number


def _only(arguments: dict[str, Any], about: str, *unused: str) -> None:
    for name in unused:
        if arguments[name] is not None:
            hint = "; give initial=[...], for instance from broccoli.sample" if name == "seeds" else ""
            msg = f"{name} has no meaning for {about}{hint}"
            raise ValueError(msg)
