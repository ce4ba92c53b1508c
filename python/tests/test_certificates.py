"""Proofs in files: written by a search, checked by code of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from systems import CART, Cart, SnapshotCart, StatefulCart

import broccoli

CLI = os.environ.get("BROCCOLI_CLI", "broccoli")

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("mountain-car", {}, "optimal"),
    ("cartpole", {"thresholds": 5}, "optimal"),
    ("pendulum", {"horizon": 5}, "infeasible"),
    ("mountain-car", {"thresholds": 5, "actions": ["left", "coast", "right"]}, "optimal"),
    ("mountain-car", {"thresholds": 5, "initial": broccoli.sample("mountain-car", 3, 1)}, "optimal"),
]


@pytest.mark.parametrize("form", ["light", "full"])
@pytest.mark.parametrize(("name", "given", "claim"), CASES)
def test_what_a_search_proves_is_verified(
    name: str, given: dict[str, Any], claim: str, form: Any, tmp_path: Path
) -> None:
    """By the package, with and without the problem, and by the command line."""
    problem = broccoli.Problem(name, **given)
    file = tmp_path / "proof"
    outcome = problem.solve(certificate=file, certificate_form=form)
    for checked in (broccoli.verify(file), problem.verify(file)):
        assert checked
        assert (checked.claim, checked.value, checked.bound) == (claim, outcome.value, outcome.bound)
        assert checked.tree == outcome.tree
        assert checked.is_full == (form == "full")
        assert checked.status == "verified"
        assert checked.queries == checked.transitions
        assert checked.behaviours > 0
        assert bool(checked.choices) == bool(given)
    if form == "full":
        half = broccoli.verify(file, replay=0.5)
        assert 0 < half.queries < half.transitions
        alone = broccoli.verify(file, record_only=True)
        assert alone.queries == 0
        for checked in (half, alone):
            assert (checked.status, checked.is_verified, bool(checked)) == ("recorded", False, False)
            assert checked.refutation is None
            assert "recorded answers only" in repr(checked)
    ran = subprocess.run([CLI, "verify", str(file), "--json"], capture_output=True, text=True, check=False)
    assert json.loads(ran.stdout)["status"] == "verified", ran.stderr


def test_a_search_that_was_stopped_proves_a_bound(tmp_path: Path) -> None:
    """The claim says so."""
    file = tmp_path / "proof"
    outcome = broccoli.synthesize("pendulum", query_limit=20_000, certificate=file)
    checked = broccoli.verify(file)
    assert checked
    assert (checked.claim, checked.bound) == ("bound", outcome.bound)


@pytest.mark.parametrize("system", [Cart, StatefulCart, SnapshotCart])
@pytest.mark.parametrize("form", ["light", "full"])
def test_systems_in_python(system: type, form: Any, tmp_path: Path) -> None:
    """They are run only if they are given."""
    problem = broccoli.Problem(system, **CART)
    file = tmp_path / "proof"
    outcome = problem.solve(certificate=file, certificate_form=form)
    checked = problem.verify(file)
    assert checked
    assert (checked.value, checked.tree) == (outcome.value, outcome.tree)
    command = [CLI, "verify", str(file), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if form == "full":
        assert broccoli.verify(file).status == "recorded"
        assert (json.loads(ran.stdout)["status"], ran.returncode) == ("recorded", 4)
        assert problem.verify(file, record_only=True).status == "recorded"
        with pytest.raises(ValueError, match=r"call problem.verify\(path\)"):
            broccoli.verify(file, replay=0.5)
    else:
        with pytest.raises(ValueError, match=r"call problem.verify\(path\)"):
            broccoli.verify(file)
        assert ran.returncode == 2
        assert "which is run only if you name it" in ran.stderr


def test_another_system_refutes_it(tmp_path: Path) -> None:
    """A light certificate does not hold for a system that acts otherwise."""

    class Slower(Cart):
        def step(self, state: Any, action: float) -> Any:
            return super().step(state, action * 0.7)

    Slower.__name__ = "Cart"
    file = tmp_path / "proof"
    broccoli.Problem(Cart, **CART).solve(certificate=file)
    checked = broccoli.Problem(Slower, **CART).verify(file)
    assert not checked
    assert checked.refutation
    assert "refuted" in repr(checked)


def test_exceptions_of_a_system_come_through(tmp_path: Path) -> None:
    """Also when it is run for a check."""

    class Faulty(Cart):
        def step(self, state: Any, action: float) -> Any:
            raise ArithmeticError(action)

    Faulty.__name__ = "Cart"
    file = tmp_path / "proof"
    broccoli.Problem(Cart, **CART).solve(certificate=file)
    with pytest.raises(ArithmeticError):
        broccoli.Problem(Faulty, **CART).verify(file)


class AlarmError(Exception):
    """What a signal handler raises."""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another thing there")
def test_signals_end_a_check(tmp_path: Path) -> None:
    """What a handler raises comes through, as Ctrl-C does, although no Python runs."""

    def ring(*_: object) -> None:
        raise AlarmError

    file = tmp_path / "proof"
    broccoli.synthesize("pendulum", certificate=file)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        with pytest.raises(AlarmError):
            broccoli.verify(file)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_what_is_not_the_certificate_of_a_problem(tmp_path: Path) -> None:
    """Other problems, other files, damaged files, and what is missing."""
    file = tmp_path / "proof"
    broccoli.synthesize("mountain-car", thresholds=5, certificate=file)
    with pytest.raises(ValueError, match="another problem"):
        broccoli.Problem("mountain-car", thresholds=6).verify(file)
    with pytest.raises(ValueError, match="another problem"):
        broccoli.Problem("cartpole", thresholds=5).verify(file)
    with pytest.raises(ValueError, match="full certificates only"):
        broccoli.verify(file, replay=0.1)
    with pytest.raises(ValueError, match="full certificates only"):
        broccoli.verify(file, record_only=True)
    with pytest.raises(ValueError, match="replay is 2"):
        broccoli.verify(file, replay=2)
    with pytest.raises(ValueError, match="give one of them"):
        broccoli.verify(file, replay=1, record_only=True)
    with pytest.raises(ValueError, match="work_limit is -1"):
        broccoli.verify(file, work_limit=-1)
    with pytest.raises(ValueError, match="more than 1000 units of work"):
        broccoli.verify(file, work_limit=1000)
    with pytest.raises(ValueError, match="more than 1000 bytes of memory"):
        broccoli.verify(file, memory_limit=1000)
    whole = file.read_bytes()
    for content, message in (
        (b"tree", "it is not a certificate"),
        (whole[:-30], "it is cut short"),
        (whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], "it is damaged"),
    ):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            broccoli.verify(file)
    with pytest.raises(FileNotFoundError):
        broccoli.verify(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"engine": "backtracking"}, "written by the engine behaviour"),
        ({"checkpoint": "search.json"}, "not together with a checkpoint"),
        ({"certificate_form": "heavy"}, 'it must be "light" or "full"'),
    ],
)
def test_wrong_options(option: dict[str, Any], message: str, tmp_path: Path) -> None:
    """They are refused before the search."""
    with pytest.raises(ValueError, match=message):
        broccoli.synthesize("mountain-car", certificate=tmp_path / "proof", **option)


def test_what_a_certificate_cannot_be_about(tmp_path: Path) -> None:
    """It is refused before the search, and no file is left behind."""
    file = tmp_path / "proof"
    for given in ({"objective": "return"}, {"over": "mean", "initial": [[0.0] * 4, [0.01] * 4]}):
        with pytest.raises(ValueError, match="certificates for reach and survive from the worst"):
            broccoli.synthesize("cartpole", **given, certificate=file)
        assert not file.exists()


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    """A certificate is: it was made to be."""
    file = tmp_path / "notes.txt"
    for content in (b"Dear diary", b"broccoli certificate\n\x01\0\0\0Dear diary"):
        file.write_bytes(content)
        with pytest.raises(OSError, match="is not a certificate, so it is not overwritten"):
            broccoli.synthesize("mountain-car", depth=1, certificate=file)
        assert file.read_bytes() == content
    proof = tmp_path / "proof"
    for _ in range(2):
        broccoli.synthesize("mountain-car", depth=1, certificate=proof)
        assert broccoli.verify(proof).is_verified


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    """It is said before the search, or, if the disk is full, at its end and with the outcome."""
    with pytest.raises(FileNotFoundError, match="certificate: there is no folder"):
        broccoli.synthesize("mountain-car", certificate=tmp_path / "no" / "proof")
    with pytest.raises(OSError, match="cannot be written"):
        broccoli.synthesize("mountain-car", certificate=tmp_path)
    if Path("/dev/full").exists():
        with pytest.raises(OSError, match="No space left"):
            broccoli.synthesize("mountain-car", certificate="/dev/full")


def test_little_memory() -> None:
    """The answer is the same, with more queries."""
    given: dict[str, Any] = {"depth": 3, "thresholds": 9}
    much = broccoli.synthesize("mountain-car", **given)
    little = broccoli.synthesize("mountain-car", **given, memory_limit=1000)
    assert (little.status, little.value, little.tree) == ("optimal", much.value, much.tree)
    assert little.statistics.queries > much.statistics.queries
    with pytest.raises(ValueError, match="memory_limit is -1"):
        broccoli.synthesize("mountain-car", memory_limit=-1)
