"""Good manners: exceptions, Ctrl-C, threads, progress, logging, silence."""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from systems import CART, Cart, SnapshotCart, StatefulCart

import broccoli

SLOW: dict[str, Any] = {"depth": 4, "thresholds": 40}
"""A problem that nobody waits for."""


class CliffError(Exception):
    """What a system raises."""


def repeated(system: Any, query: broccoli.Query) -> CliffError:
    """Go where the exception was raised, as the query says, and return the one that is raised there."""
    try:
        if isinstance(system, Cart):
            system.step(query.state, query.actions[-1])
        else:
            system.reset(query.initial)
            if query.state is not None:
                system.restore(query.state)
            for action in query.actions:
                system.step(action)
    except CliffError as error:
        return error
    pytest.fail("nothing is raised there")


@pytest.mark.parametrize("system", [Cart, StatefulCart, SnapshotCart])
def test_exceptions_come_through_with_the_way_to_them(system: type) -> None:
    """The same exception, with what it takes to see it again, and the best so far."""

    def check(answer: Any) -> Any:
        if answer[-2][0] > 9.5:
            raise CliffError(answer[-2])
        return answer

    class Faulty(system):  # type: ignore[misc]
        if system is Cart:

            def step(self, state: Any, action: float) -> Any:
                return check(super().step(state, action))
        else:

            def step(self, action: float) -> Any:  # type: ignore[misc]
                return check(super().step(action))

    with pytest.raises(CliffError) as caught:
        broccoli.synthesize(Faulty, **CART)
    assert caught.traceback[-1].name == "check"
    error: Any = caught.value
    assert error.outcome.status == "error"
    assert error.query.initial in (0.0, 9.0)
    assert set(error.query.actions) <= {-0.1, 0.1}
    assert repeated(Faulty(), error.query).args == error.args
    if sys.version_info >= (3, 11):
        assert "broccoli: raised at Query(" in error.__notes__[0]


def test_exceptions_at_the_start() -> None:
    """From the factory and from reset."""

    class Shy(Cart):
        def reset(self, initial: float) -> Any:
            raise CliffError(initial)

    with pytest.raises(CliffError) as caught:
        broccoli.synthesize(Shy, **CART)
    assert caught.value.query.step == 0  # type: ignore[attr-defined]
    made = iter([Cart()])
    with pytest.raises(StopIteration):
        broccoli.synthesize(lambda: next(made), **CART)


def test_callbacks() -> None:
    """Every improvement is told, each better than the one before; an exception in there stops the search."""
    told: list[broccoli.Improvement] = []
    outcome = broccoli.synthesize("mountain-car", on_improvement=told.append)
    assert told
    assert told[-1].value == outcome.value
    ranks = [(improvement.value, improvement.size) for improvement in told]
    assert ranks == sorted(ranks, reverse=True)
    assert outcome.history[-1].value == outcome.value
    assert outcome.history[-1].bound is not None

    def fail(improvement: broccoli.Improvement) -> None:
        raise CliffError(improvement.value)

    with pytest.raises(CliffError):
        broccoli.synthesize("mountain-car", on_improvement=fail)


def test_iteration() -> None:
    """A search yields improvements, and has its outcome at the end; leaving it stops it."""
    search = broccoli.Problem("mountain-car").search()
    values = [improvement.value for improvement in search]
    assert values[-1] == search.outcome.value == 104
    assert broccoli.Problem("mountain-car").search().outcome.value == 104  # without a loop
    with broccoli.Problem("mountain-car", **SLOW).search() as slow:
        for improvement in slow:
            assert improvement.policy((0.0, 0.0)) in (0, 2)
            break
    assert (slow.outcome.status, slow.outcome.stopped_by) == ("stopped", "interrupted")

    class Faulty(Cart):
        def step(self, state: Any, action: float) -> Any:
            raise CliffError

    with pytest.raises(CliffError):
        list(broccoli.Problem(Faulty, **CART).search())


def test_time_limit_and_the_interpreter_lock() -> None:
    """A native search runs for as long as it may, and another thread of Python runs beside it."""
    turns = 0
    done = threading.Event()

    def turn() -> None:
        nonlocal turns
        while not done.wait(0.01):
            turns += 1

    thread = threading.Thread(target=turn)
    thread.start()
    began = time.monotonic()
    outcome = broccoli.synthesize("mountain-car", **SLOW, time_limit=0.5)
    took = time.monotonic() - began
    done.set()
    thread.join()
    assert (outcome.status, outcome.stopped_by) == ("stopped", "time limit")
    assert 0.5 <= took < 5
    assert turns >= 5


SCRIPT = """
import signal, sys, time
import broccoli
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where this runs in the background
sys.path.insert(0, {folder!r})
from systems import CART, Cart
class Slow(Cart):
    def step(self, state, action):
        time.sleep(0.001)
        return super().step(state, action)
print("ready", flush=True)
if {native}:
    outcome = broccoli.synthesize("mountain-car", depth=4, thresholds=40)
else:
    outcome = broccoli.synthesize(Slow, **CART | {{"thresholds": 100, "depth": 4}})
try:
    print(outcome.status, outcome.stopped_by, outcome.bound is not None, flush=True)
    time.sleep(30)
except KeyboardInterrupt:
    print("interrupted as ever")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another thing there")
@pytest.mark.parametrize("native", [True, False])
def test_ctrl_c_returns_the_best_so_far(native: bool, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The search stops cleanly, and Ctrl-C afterwards is what it always was."""
    script = SCRIPT.format(folder=str(request.path.parent), native=native)
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        watchdog = threading.Timer(60, process.kill)
        watchdog.daemon = True
        watchdog.start()
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped interrupted True\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted as ever\n"
        watchdog.cancel()
    assert process.returncode == 0


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    """Logging says what happens, to those who listen."""
    with caplog.at_level(logging.DEBUG, logger="broccoli"):
        broccoli.synthesize(Cart, **CART)
    assert capfd.readouterr() == ("", "")
    assert any("search ends" in message for message in caplog.messages)


def test_progress(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With tqdm a bar on standard error, without it a log."""
    broccoli.synthesize("mountain-car", progress=True)
    assert "value=104" in capfd.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with caplog.at_level(logging.INFO, logger="broccoli"):
        broccoli.synthesize("mountain-car", progress=True)
    assert any("value 104" in message for message in caplog.messages)
    assert capfd.readouterr() == ("", "")


def test_without_gymnasium(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest works, and the message says what is missing."""
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    assert broccoli.synthesize("mountain-car").value == 104
    assert broccoli.synthesize(Cart, **CART).status == "optimal"
    with pytest.raises(ImportError, match=r"install gymnasium, or choose one of .*cartpole"):
        broccoli.Problem("CartPole-v1", thresholds=3, objective="survive", horizon=9, seeds=[0])


@pytest.mark.parametrize("system", [Cart, StatefulCart, SnapshotCart])
def test_checkpoints(system: type, tmp_path: Path) -> None:
    """A search that is stopped again and again gives the answer of one that is not."""
    given = CART | {"thresholds": 9}
    expected = broccoli.synthesize(system, **given)
    file = tmp_path / "search.json"
    stops = 0
    while True:
        outcome = broccoli.synthesize(system, **given, checkpoint=file, query_limit=400)
        if outcome.status != "stopped":
            break
        stops += 1
        assert file.exists()
    assert stops > 1
    assert (outcome.status, outcome.value, outcome.tree) == ("optimal", expected.value, expected.tree)
    assert list(tmp_path.iterdir()) == []


class HeavyCart(Cart):
    """A cart that can be pushed less."""

    push = 1.0

    def step(self, state: Any, action: float) -> Any:
        """Accelerate, more or less."""
        return super().step(state, action * self.push)


class HeavyStatefulCart(StatefulCart):
    """The same, but it can only be reset."""

    push = 1.0

    def step(self, action: float) -> Any:
        """Accelerate, more or less."""
        return super().step(action * self.push)


@pytest.mark.parametrize("system", [HeavyCart, HeavyStatefulCart])
@pytest.mark.parametrize("push", [1.0 - 2**-40, 0.99, 1.5])
def test_a_system_that_has_changed(
    system: type[HeavyCart | HeavyStatefulCart], push: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that goes on asks again for what it was told, and does not believe another system."""
    file = tmp_path / "search.json"
    given: dict[str, Any] = CART | {"thresholds": 9, "checkpoint": file}
    assert broccoli.synthesize(system, **given, query_limit=400).status == "stopped"
    kept = file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(system, "push", push)
        with pytest.raises(broccoli.RunError, match="has changed since the checkpoint was made: at step"):
            broccoli.synthesize(system, **given)
    assert file.read_bytes() == kept
    expected = broccoli.synthesize(Cart, **CART | {"thresholds": 9})
    assert broccoli.synthesize(system, **given).tree == expected.tree


def test_wrong_checkpoints(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Those of other problems and systems are refused; one that cannot be written is told."""
    file = tmp_path / "search.json"
    limited: dict[str, Any] = {"checkpoint": file, "query_limit": 100}
    broccoli.synthesize(Cart, **CART, **limited)
    for change, message in (
        ({"initial": [1.0]}, "of another system"),
        ({"horizon": 999}, r"search.json: .* of another problem: `horizon` was \d+, and now it is 999"),
        ({"depth": 3}, "of another problem: `depth` was 2, and now it is 3"),
        ({"thresholds": 3}, r"of another problem: `dimensions\[0\].thresholds"),
    ):
        with pytest.raises(ValueError, match=message):
            broccoli.synthesize(Cart, **CART | change, **limited)
    with pytest.raises(ValueError, match="of another system"):
        broccoli.synthesize(StatefulCart, **CART, **limited)
    kept = json.loads(file.read_text())
    file.write_text(json.dumps(kept | {"version": 99}))
    with pytest.raises(ValueError, match="of version 99, and this package reads"):
        broccoli.synthesize(Cart, **CART, **limited)
    file.write_text("{}")
    with pytest.raises(ValueError, match="this is no checkpoint"):
        broccoli.synthesize(Cart, **CART, **limited)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        broccoli.synthesize(Cart, **CART, checkpoint=tmp_path / "nowhere" / "search.json")
    file.unlink()
    broccoli.synthesize(Cart, **CART, **limited | {"checkpoint": "/proc/search.json"})
    assert any("the checkpoint could not be written" in message for message in caplog.messages)
