"""Runs searches: signals, progress, improvements as they come, and exceptions as they are."""

from __future__ import annotations

import contextlib
import logging
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypedDict

from broccoli import _broccoli
from broccoli.outcome import Improvement, Outcome, Part, Point, Query, RunError, Statistics
from broccoli.policy import Policy

logger = logging.getLogger("broccoli")

MakePolicy = Callable[[_broccoli.Tree], Policy]
OnEvent = Callable[
    [int, float | None, int | None, float | None, _broccoli.Tree | None, tuple[int, int] | None], object
]


class Options(TypedDict):
    """How to search, and when to stop."""

    engine: str
    time_limit: float | None
    query_limit: int | None
    gap: float
    first: bool
    start: _broccoli.Tree | None
    threads: int
    batch_size: int
    checkpoint: tuple[Path, str] | None
    pareto: bool
    all_optimal: int | None
    memory_limit: int | None
    certificate: tuple[Path, str, str] | None


class Search:
    """A search that runs in a thread of its own and yields each improvement.

    At its end, or after `stop`, `outcome` is there. Leaving the loop, or a `with` block, stops it.

    >>> import broccoli
    >>> search = broccoli.Problem("mountain-car").search()
    >>> [improvement.value for improvement in search][-1]
    104
    >>> search.outcome.status
    'optimal'
    """

    def __init__(
        self,
        problem: _broccoli.ProblemData,
        system: str | _broccoli.PythonSystem,
        policy: MakePolicy,
        options: Options,
        initial: Sequence[Any],
    ) -> None:
        self._problem = problem
        self._system = system
        self._policy = policy
        self._options = options
        self._initial = initial
        self._stopper = _broccoli.Stopper()
        self._thread: threading.Thread | None = None
        self._queue: queue.SimpleQueue[Improvement | None] = queue.SimpleQueue()
        self._outcome: Outcome | None = None
        self._error: BaseException | None = None

    @property
    def outcome(self) -> Outcome:
        """The outcome; waits for the end of the search."""
        for _ in self:
            pass
        if self._outcome is None:
            raise self._error or RuntimeError("the search has not been run")
        return self._outcome

    def stop(self) -> None:
        """End the search before its next query."""
        self._stopper.stop()

    def run(self, on_improvement: Callable[[Improvement], object] | None, progress: bool) -> Outcome:
        """Run in this thread. Ctrl-C stops the search, a second one does not wait for it."""
        with _progress(progress) as show, _interruptible(self._stopper):
            return self._run(_listener(self._policy, on_improvement, show))

    def __iter__(self) -> Iterator[Improvement]:
        if self._thread is None and self._outcome is None:
            self._thread = threading.Thread(target=self._work, name="broccoli", daemon=True)
            self._thread.start()
        try:
            while self._outcome is None and self._error is None:
                with contextlib.suppress(queue.Empty):
                    improvement = self._queue.get(timeout=0.1)
                    if improvement is not None:
                        yield improvement
            while not self._queue.empty():
                improvement = self._queue.get()
                if improvement is not None:
                    yield improvement
        except KeyboardInterrupt:
            self.stop()
        except GeneratorExit:
            self.stop()
            raise
        finally:
            self._join()
        if self._error is not None:
            raise self._error

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._join()

    def _join(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        try:
            self._run(_listener(self._policy, self._queue.put, None))
        except BaseException as error:
            self._error = error
        self._queue.put(None)

    def _run(self, on_event: OnEvent | None) -> Outcome:
        logger.debug("search begins: %s", self._options)
        found = _broccoli.search(self._problem, self._system, self._options, self._stopper, on_event)
        outcome = Outcome(
            status=found["status"],
            value=found["value"],
            bound=found["bound"],
            policy=self._policy(found["tree"]) if found["tree"] else None,
            statistics=Statistics(**found["statistics"]),
            seconds=found["seconds"],
            stopped_by=found["stopped_by"],
            history=tuple(Point(*point) for point in found["history"]),
            text=found["text"],
            price=found["price"],
            front=tuple(
                Part(
                    range(part["sizes"][0], part["sizes"][1] + 1),
                    part["status"],
                    part["value"],
                    part["bound"],
                    self._policy(part["tree"]) if part["tree"] else None,
                )
                for part in found["front"]
            ),
            optimal=tuple(self._policy(tree) for tree in found["optimal_trees"]),
            is_complete=found["is_complete"],
            intervals=tuple(found["intervals"]),
            estimate=found["estimate"],
        )
        logger.debug("search ends after %.3f s: %r", outcome.seconds, outcome)
        if found["checkpoint_error"]:
            logger.warning("the checkpoint could not be written: %s", found["checkpoint_error"])
        if found["failure"]:
            raise failed(found["failure"], self._initial, outcome)
        if found["certificate_error"]:
            error = RunError(found["certificate_error"])
            error.outcome = outcome
            raise error
        self._outcome = outcome
        return outcome


def failed(failure: _broccoli.FailureData, initial: Sequence[Any], outcome: Outcome | None) -> BaseException:
    """Return the exception for a failure: the user's own, or a `RunError`, with what is known about it."""
    index, error = failure["initial"], failure["exception"]
    if error is None:
        error = RunError(failure["message"])
    else:
        start = None if index is None else initial[index]
        query = Query(start, failure["step"], failure["state"], tuple(failure["actions"]))
        with contextlib.suppress(AttributeError):  # an exception with slots
            error.query = query  # type: ignore[attr-defined]
        add_note = getattr(error, "add_note", None)  # from Python 3.11 on
        if add_note is not None:
            add_note(f"broccoli: raised at {query}")
    with contextlib.suppress(AttributeError):
        error.outcome = outcome  # type: ignore[attr-defined]
    return error


def _listener(
    policy: MakePolicy,
    on_improvement: Callable[[Improvement], object] | None,
    show: OnEvent | None,
) -> OnEvent | None:
    if on_improvement is None and show is None:
        return None

    def on_event(
        queries: int,
        value: float | None,
        size: int | None,
        bound: float | None,
        tree: _broccoli.Tree | None,
        to_come: tuple[int, int] | None,
    ) -> None:
        if show is not None:
            show(queries, value, size, bound, tree, to_come)
        if tree is not None and value is not None and size is not None and on_improvement is not None:
            on_improvement(Improvement(value, bound, size, queries, policy(tree), to_come))

    return on_event


@contextlib.contextmanager
def _interruptible(stopper: _broccoli.Stopper) -> Iterator[None]:
    """Make Ctrl-C stop the search, unless somebody else has plans for it; the next is Python's own."""
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )

    def stop(*_: object) -> None:
        stopper.stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if is_ours:
        signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _range(to_come: tuple[int, int] | None) -> str:
    """Write the queries still to come with two digits, for the others of a forecast mean nothing."""
    return "?" if to_come is None else f"{to_come[0]:.2g} to {to_come[1]:.2g}"


@contextlib.contextmanager
def _progress(wanted: bool) -> Iterator[OnEvent | None]:
    """Show progress with tqdm, also in notebooks; without tqdm, log it."""
    if not wanted:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        logger.info("progress is only logged, because tqdm is not installed")
        yield lambda queries, value, size, bound, _, to_come: logger.info(
            "%d queries, %s more, value %s, bound %s, size %s", queries, _range(to_come), value, bound, size
        )
        return
    with tqdm(unit=" queries", unit_scale=True) as bar:

        def show(
            queries: int,
            value: float | None,
            size: int | None,
            bound: float | None,
            _: object,
            to_come: tuple[int, int] | None,
        ) -> None:
            more = _range(to_come)
            bar.set_postfix(value=value, bound=bound, size=size, more=more, refresh=False)
            bar.update(max(queries - bar.n, 0))

        yield show
